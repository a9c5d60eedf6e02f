"""The figure of the page on inference: ``python docs/examples/inference.py``."""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

from semiordinal import LinearOrdinalClassifier
from semiordinal.inference import summarize
from semiordinal.theory import (
    get_loss,
    gradient_moments,
    risk_hessian,
    risk_variance,
    supervised_weights,
)

N_LABELED, N_UNLABELED = 10_000, 90_000
WEIGHTS = np.linspace(0, 1, 11)
THRESHOLDS = np.array([-1.5, 0.0, 1.5])
# How latent scores of rows come about: as the model has it, and not.
WORLDS = {
    "the model is right": lambda x: x @ [1.0, -0.5],
    "a bend that it lacks": lambda x: x @ [1.0, -0.5] + 0.7 * x[:, 0] ** 2 - 0.7,
    "a strong bend": lambda x: x @ [1.0, -0.5] + 2.0 * x[:, 0] ** 2 - 2.0,
}


def draw(world: str, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, all labels, and class shares."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N_LABELED + N_UNLABELED, 2))
    y = np.searchsorted(THRESHOLDS, WORLDS[world](X) + rng.logistic(size=len(X)))
    return X, y, np.bincount(y) / len(y)


def standard_errors(X, y, prior) -> np.ndarray:
    """Of coefficients and thresholds, for each weight of the unlabelled rows."""
    labels = np.where(np.arange(len(y)) < N_LABELED, y, np.nan)
    rows = []
    for weight in WEIGHTS:
        model = LinearOrdinalClassifier(l2=0, unlabeled_weight=weight, class_prior=prior)
        rows.append(summarize(model.fit(X, labels), X, labels).std_errors)
    return np.array(rows)


def by_theory(X, y, prior) -> tuple[np.ndarray, float]:
    """Root of the summed variances of all parameters beside SV, and where the gain ends."""
    loss = get_loss("at")
    labeled = slice(N_LABELED)
    model = LinearOrdinalClassifier(l2=0, unlabeled_weight=0).fit(X[labeled], y[labeled])
    codes = np.where(np.arange(len(y)) < N_LABELED, y, -1)
    counts = np.bincount(y[labeled], minlength=4).astype(float)
    at = (model.coef_, model.thresholds_)
    hessian = risk_hessian(loss, supervised_weights(counts), X[labeled], y[labeled], *at)
    moments = gradient_moments(loss, X, codes, *at, hessian)
    variance = risk_variance(moments, counts, N_UNLABELED, prior)
    removed = 1  # the median class
    ratio = np.sqrt(variance.semi(WEIGHTS)[:, removed] / variance.supervised)
    return ratio, float(variance.interval_end[removed])


def main(out: Path) -> None:
    figure, axes = plt.subplots(
        1, len(WORLDS), figsize=(11, 3.4), sharey=True, layout="constrained"
    )
    for axis, world in zip(axes, WORLDS, strict=True):
        X, y, prior = draw(world)
        errors = standard_errors(X, y, prior)
        ratios = errors / errors[0]
        total = np.sqrt(np.square(errors).sum(axis=1) / np.square(errors[0]).sum())
        theory, end = by_theory(X, y, prior)
        axis.plot(WEIGHTS, ratios[:, :2].mean(axis=1), color="#0072B2", label="coefficients")
        axis.plot(WEIGHTS, ratios[:, 2:].mean(axis=1), color="#D55E00", label="thresholds")
        axis.plot(WEIGHTS, total, color="black", label="all, root of summed squares")
        axis.plot(WEIGHTS, theory, "o", color="black", mfc="none", label="all, semiordinal.theory")
        axis.axhline(1, color="grey", linewidth=0.8)
        axis.set(title=world, xlabel="weight of the unlabelled rows", ylim=(0.15, 1.5))
        print(f"{world}: theory says less than SV below {end:.2f}")
        for name, each in (
            ("coefficients", ratios[:, :2].mean(axis=1)),
            ("thresholds", ratios[:, 2:].mean(axis=1)),
            ("all", total),
            ("theory", theory),
        ):
            print(f"  {name:13s}", " ".join(f"{ratio:.3f}" for ratio in each))
    axes[0].set_ylabel("standard error beside SV's")
    axes[0].legend(fontsize=8, frameon=False)
    figure.savefig(out / "inference-gain.png", dpi=110)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path(__file__).parents[1] / "images")
    main(parser.parse_args().out)
