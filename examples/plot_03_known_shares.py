"""
What known class shares are worth
=================================

With few labels, it is the thresholds between classes that are uncertain. Where you know how
frequent the classes are, unlabelled rows tell where the thresholds must lie. Here, errors of the
same model with and without that knowledge, in ten draws of 25 labels.
"""

import matplotlib.pyplot as plt
import numpy as np

from semiordinal import LinearOrdinalClassifierCV
from semiordinal.datasets import make_ordinal, mask_labels

SHARES = [0.45, 0.3, 0.15, 0.1]
errors = {"labels": [], "shares": []}
for seed in range(10):
    X, truth, _ = make_ordinal(1500, class_prior=SHARES, noise=0.7, random_state=seed)
    y = mask_labels(truth, n_labeled=25, random_state=seed)
    others = np.isnan(y)
    for name, prior in (("labels", "labels"), ("shares", SHARES)):
        model = LinearOrdinalClassifierCV(class_prior=prior, random_state=0).fit(X, y)
        errors[name].append(-model.score(X[others], truth[others]))

# %%
# Each line is a draw. Lines that fall are draws in which the shares helped.

fig, ax = plt.subplots(figsize=(5, 4), layout="constrained")
pairs = np.array([errors["labels"], errors["shares"]])
ax.plot([0, 1], pairs, color="#30638e", marker="o", alpha=0.6)
ax.plot([0, 1], pairs.mean(axis=1), color="#d1495b", marker="s", linewidth=3, label="mean")
ax.set_xticks([0, 1], ["shares from\nthe labels", "shares known"])
ax.set_xlim(-0.3, 1.3)
ax.set_ylabel("mean absolute error")
ax.legend()
print(f"Mean change: {100 * (pairs[1].mean() / pairs[0].mean() - 1):.0f} %")
