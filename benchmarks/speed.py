"""CPU time of fits, side by side with peers on the same data and the same objective."""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from semiordinal import KernelOrdinalClassifier, LinearOrdinalClassifier

Fit = Callable[[], object]

# Seconds after which the threads of BLAS have stopped spinning.
_SPINNING = 0.2


def interleaved(fits: dict[str, Fit], repeats: int, batch: int = 1) -> dict[str, float]:
    """Median CPU seconds of each, measured in turns of ``batch`` calls.

    BLAS threads go on spinning for some tens of milliseconds after a product. A pause lets
    them come to rest within the turn of the call that woke them; short calls are timed many
    at a time, so that this is shared out.
    """
    times: dict[str, list[float]] = {name: [] for name in fits}
    for fit in fits.values():
        fit()
    for _ in range(repeats):
        for name, fit in fits.items():
            start = time.process_time()
            for _ in range(batch):
                fit()
            time.sleep(_SPINNING)
            times[name].append((time.process_time() - start) / batch)
    return {name: statistics.median(values) for name, values in times.items()}


def report(title: str, times: dict[str, float], ours: str = "semiordinal") -> None:
    print(f"\n{title}")
    shown = "ours" if ours == "semiordinal" else ours
    for name, seconds in times.items():
        print(f"  {name:34s} {1e3 * seconds:10.2f} ms CPU   {seconds / times[ours]:8.2f} x {shown}")


def at_objective(X, y, coef, thresholds, l2):
    """The supervised all-threshold objective, written out plainly."""
    scores = thresholds - (X @ coef)[:, None]
    sign = np.where(y[:, None] <= np.arange(len(thresholds)), 1, -1)
    return np.logaddexp(0, -sign * scores).sum(axis=1).mean() + l2 / 2 * coef @ coef


def ordinal_rows(n, d, n_classes, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    latent = X @ rng.standard_normal(d) / np.sqrt(d) * 2 + rng.logistic(size=n)
    cuts = np.quantile(latent, np.arange(1, n_classes) / n_classes)
    return X, np.searchsorted(cuts, latent)


def supervised(repeats: int) -> None:
    import mord
    from skordinal.classifiers import LogisticAT

    X, y = ordinal_rows(100_000, 20, 5)
    alpha = 1.0
    models = {
        "semiordinal": LinearOrdinalClassifier(l2=alpha / len(X), standardize=False),
        "semiordinal, standardize=True": LinearOrdinalClassifier(l2=alpha / len(X)),
        "skordinal LogisticAT": LogisticAT(alpha=alpha),
        "mord LogisticAT": mord.LogisticAT(alpha=alpha),
    }
    fits: dict[str, Fit] = {
        name: (lambda model=model: model.fit(X, y)) for name, model in models.items()
    }
    report("Supervised AT, 100k x 20, K = 5", interleaved(fits, repeats))
    values = {
        name: at_objective(
            X, y, m.coef_, m.theta_ if name.startswith("mord") else m.thresholds_, alpha / len(X)
        )
        for name, m in models.items()
    }
    for name, value in values.items():
        above = value - values["semiordinal"]
        print(f"  objective of {name:34s} {value:.10f}, above ours by {above:.1e}")

    least_squares = LinearOrdinalClassifier(loss="ls")
    fits = {"semiordinal": lambda: least_squares.fit(X, y), "X.T @ X": lambda: X.T @ X}
    times = interleaved(fits, repeats, batch=100)
    report("Least squares, 100k x 20, K = 5", times)
    print(f"  ours / X.T @ X = {times['semiordinal'] / times['X.T @ X']:.2f}")


def adam_epochs(X, y, prior, gamma, removed, l2, epochs=1000):
    """Full-batch Adam on the same semi-supervised objective in PyTorch; its last value."""
    import torch

    def tensor(array):
        return torch.tensor(array, dtype=torch.float64)

    labeled = ~np.isnan(y)
    codes = torch.tensor(y[labeled].astype(int))
    n_classes = len(prior)
    scale, mean = tensor(X.std(axis=0)), tensor(X.mean(axis=0))
    rows = (tensor(X) - mean) / scale
    x_lab, x_unl = rows[torch.tensor(labeled)], rows[torch.tensor(~labeled)]
    per_row = tensor(prior)[codes] / torch.bincount(codes)[codes]
    per_row = torch.where(codes == removed, 0.0, per_row)
    sign = torch.where(codes[:, None] <= torch.arange(n_classes - 1), 1.0, -1.0).double()
    sign_k = torch.where(removed <= torch.arange(n_classes - 1), 1.0, -1.0).double()
    w = torch.zeros(rows.shape[1], dtype=torch.float64, requires_grad=True)
    theta = torch.linspace(-1, 1, n_classes - 1, dtype=torch.float64).requires_grad_()
    optimizer = torch.optim.Adam([w, theta], lr=0.05)
    softplus = torch.nn.functional.softplus
    for _ in range(epochs):
        optimizer.zero_grad()
        scores = theta - (x_lab @ w)[:, None]
        own = softplus(-sign * scores).sum(dim=1)
        as_removed = softplus(-sign_k * scores).sum(dim=1)
        unlabeled = softplus(-sign_k * (theta - (x_unl @ w)[:, None])).sum(dim=1).mean()
        semi = (per_row * (own - as_removed)).sum() + unlabeled
        value = gamma * semi + (1 - gamma) * own.mean() + l2 / 2 * w @ w
        value.backward()
        optimizer.step()
    return value.item()


def semi_supervised(repeats: int) -> None:
    X, codes = ordinal_rows(2020, 10, 3, seed=1)
    y = codes.astype(float)
    y[20:] = np.nan
    prior = np.full(3, 1 / 3)
    model = LinearOrdinalClassifier(unlabeled_weight=0.25, class_prior=prior, l2=0.01)
    values = {}

    def adam():
        values["adam"] = adam_epochs(X, y, prior, 0.25, 1, 0.01)

    fits: dict[str, Fit] = {"semiordinal": lambda: model.fit(X, y), "1000 epochs of Adam": adam}
    times = interleaved({"semiordinal": fits["semiordinal"]}, repeats, batch=20)
    times |= interleaved({"1000 epochs of Adam": adam}, repeats)
    report("SEMI AT, n_L = 20, n_U = 2000, d = 10, K = 3", times)
    print(f"  objective: ours {model.objective_value_:.10f}, Adam {values['adam']:.10f}")

    X, codes = ordinal_rows(2500, 8, 5, seed=2)
    y = codes.astype(float)
    y[500:] = np.nan
    kernel = KernelOrdinalClassifier(l2=1e-4, penalty="coef")
    fits = {"semiordinal": lambda: kernel.fit(X, y)}
    report("Kernel SEMI AT, n_L = 500, n_U = 2000, d = 8, K = 5", interleaved(fits, repeats))


def least_absolute(repeats: int) -> None:
    X, codes = ordinal_rows(53_920, 9, 5, seed=3)
    for n_labeled in (300, 5_392, len(X)):
        y = codes.astype(float)
        y[n_labeled:] = np.nan
        at, lad = (LinearOrdinalClassifier(loss=loss, random_state=0) for loss in ("at", "lad"))
        fits: dict[str, Fit] = {"at": lambda m=at, y=y: m.fit(X, y)}
        fits["lad"] = lambda m=lad, y=y: m.fit(X, y)
        title = f"LAD beside AT, 53,920 x 9, K = 5, {n_labeled:,} labelled (limit 20 x)"
        report(title, interleaved(fits, repeats), ours="at")


def import_time() -> None:
    code = (
        "import time; start = time.perf_counter(); import semiordinal; "
        "print(time.perf_counter() - start)"
    )
    seconds = min(float(subprocess.check_output([sys.executable, "-c", code])) for _ in range(3))
    print(f"\nimport semiordinal: {seconds:.2f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--threads", type=int, help="limit BLAS and OpenMP threads")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    with threadpool_limits(arguments.threads):
        print(f"threads: {arguments.threads or 'as set by the libraries'}")
        supervised(arguments.repeats)
        semi_supervised(arguments.repeats)
        least_absolute(arguments.repeats)
    import_time()


if __name__ == "__main__":
    main()
