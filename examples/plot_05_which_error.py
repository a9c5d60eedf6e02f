"""
Name the error that you care about
==================================

Being off by few classes, being exactly right, and being never far off are three aims. A model that
is fitted for one of them is not the best one for the others.
"""

import matplotlib.pyplot as plt
import numpy as np

from semiordinal import LinearOrdinalClassifierCV
from semiordinal.datasets import make_ordinal
from semiordinal.plotting import class_colors

SHARES = [0.5, 0.05, 0.05, 0.05, 0.35]
X, truth, _ = make_ordinal(3000, class_prior=SHARES, noise=1.5, random_state=0)
y = np.where(np.arange(3000) < 300, truth, np.nan)
LOSSES = {"at": "absolute", "it": "wrong or not", "ls": "squared"}
predicted = {}
for loss in LOSSES:
    model = LinearOrdinalClassifierCV(loss=loss, class_prior=SHARES, random_state=0).fit(X, y)
    predicted[loss] = model.predict(X[1000:])
    off = np.abs(predicted[loss] - truth[1000:])
    means = {"absolute": off.mean(), "wrong": np.mean(off > 0), "squared": np.mean(off**2)}
    print(f"loss={loss!r}:", ", ".join(f"{name} {mean:.2f}" for name, mean in means.items()))

# %%
# Half of these rows are of the lowest class, a third of the highest. For few wrong classes the
# model all but ignores what lies between; for the squared error it prefers the middle,
# from where no mistake is large.

fig, ax = plt.subplots(figsize=(6, 3), layout="constrained")
left = np.zeros(len(LOSSES))
for label, color in zip(range(1, 6), class_colors(5), strict=True):
    shares = np.array([np.mean(predicted[loss] == label) for loss in LOSSES])
    ax.barh(list(LOSSES.values()), shares, left=left, color=color, label=f"class {label}")
    left += shares
ax.set(xlabel="share of the predictions", xlim=(0, 1))
ax.invert_yaxis()
ax.legend(ncols=5, loc="lower center", bbox_to_anchor=(0.5, 1), frameon=False)
