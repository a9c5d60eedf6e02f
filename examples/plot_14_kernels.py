"""
Lines and curves
================

Two columns whose classes lie in rings. No linear score can follow them; a kernel can, and the
average of several kinds of models finds out by itself.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.inspection import DecisionBoundaryDisplay

from semiordinal import (
    AutoOrdinalClassifier,
    KernelOrdinalClassifierCV,
    LinearOrdinalClassifierCV,
)

rng = np.random.default_rng(0)
X = rng.uniform(-2, 2, size=(600, 2))
truth = np.digitize(np.hypot(*X.T) + rng.normal(scale=0.15, size=600), [0.9, 1.6])
y = np.where(np.arange(600) < 90, truth, np.nan)
models = {
    "linear": LinearOrdinalClassifierCV(random_state=0),
    "kernel": KernelOrdinalClassifierCV(random_state=0),
    "auto": AutoOrdinalClassifier(members=["linear", "kernel", "trees"], random_state=0),
}

fig, axes = plt.subplots(1, 3, figsize=(9, 3.2), sharey=True, layout="constrained")
for ax, (name, model) in zip(axes, models.items(), strict=True):
    model.fit(X, y)
    DecisionBoundaryDisplay.from_estimator(
        model, X, response_method="predict", grid_resolution=80, alpha=0.5, ax=ax
    )
    ax.scatter(*X[:90].T, c=truth[:90], edgecolors="black", s=18)
    ax.set_title(f"{name}: off by {-model.score(X[90:], truth[90:]):.2f} classes")
