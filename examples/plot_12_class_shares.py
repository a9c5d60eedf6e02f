"""
How many of each class are in a new table?
==========================================

Counting predictions answers this badly where the new table is unlike the old one.
`estimate_class_shares` gives the shares, with intervals.
"""

import numpy as np

from semiordinal import LinearOrdinalClassifierCV
from semiordinal.plotting import plot_shares
from semiordinal.shares import estimate_class_shares

rng = np.random.default_rng(0)
OLD, NEW = [0.2, 0.6, 0.2], [0.6, 0.3, 0.1]


def draw(n_rows, shares):
    codes = rng.choice(3, n_rows, p=shares)
    return codes[:, None] * [1.2, 0.6] + rng.normal(size=(n_rows, 2)), codes


X, y = draw(150, OLD)
X_new, hidden = draw(2000, NEW)
model = LinearOrdinalClassifierCV(random_state=0).fit(X, y)
found = estimate_class_shares(model, X_new)
counted = np.bincount(model.predict(X_new).astype(int), minlength=3) / 2000
print("estimated", found.shares.round(2), "from", found.low.round(2), "to", found.high.round(2))

# %%
# The labelled rows are mostly of the middle class, and so are the predictions counted.

plot_shares(
    ["low", "middle", "high"],
    {
        "true": np.bincount(hidden) / 2000,
        "estimated, 90 % interval": found.shares,
        "predictions counted": counted,
        "labels": np.bincount(y) / 150,
    },
    {"estimated, 90 % interval": np.array([found.low, found.high])},
)
