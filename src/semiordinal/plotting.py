"""Pictures of fitted models."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import gaussian_kde

from .labels import known_codes


def plot_thresholds(estimator: Any, X: Any, y: Any, ax: Any = None) -> Any:
    """Densities of the latent score by class, with the thresholds between them.

    Parameters
    ----------
    estimator : fitted ordinal classifier
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        Labels; rows without one are drawn as a line for all of them together.
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib axes
    """
    import matplotlib.pyplot as plt

    if ax is None:
        _, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
    latent = estimator.predict_latent(X)
    codes = known_codes(y, estimator.classes_, estimator.missing_label)
    classes = estimator.classes_
    colors = plt.get_cmap("viridis")(np.linspace(0.05, 0.9, len(classes)))
    low, high = np.quantile(latent, [0.002, 0.998])
    grid = np.linspace(low - 0.1 * (high - low), high + 0.1 * (high - low), 400)
    for code, (label, color) in enumerate(zip(classes, colors, strict=True)):
        own = latent[codes == code]
        if len(own) < 2 or np.ptp(own) == 0:
            continue
        density = gaussian_kde(own)(grid) * len(own) / (codes >= 0).sum()
        ax.fill_between(grid, density, color=color, alpha=0.25, linewidth=0)
        ax.plot(grid, density, color=color, linewidth=1.8, label=_name(label))
    unlabeled = latent[codes < 0]
    if len(unlabeled) > 1:
        density = gaussian_kde(unlabeled)(grid)
        ax.plot(grid, density, color="0.4", linewidth=1.2, linestyle=":", label="unlabelled")
    for i, threshold in enumerate(estimator.thresholds_):
        ax.axvline(threshold, color="0.15", linewidth=1, linestyle="--")
        ax.annotate(
            f"$\\theta_{{{i + 1}}}$",
            (threshold, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(0, 3),
            textcoords="offset points",
            ha="center",
        )
    ax.set_xlabel("latent score f(x)")
    ax.set_ylabel("density, by share of class")
    ax.set_ylim(bottom=0)
    ax.margins(x=0)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(title="class", frameon=False)
    return ax


def _name(label: Any) -> str:
    """A class as text; whole numbers without a decimal point."""
    return f"{label:g}" if isinstance(label, float | np.floating) else str(label)
