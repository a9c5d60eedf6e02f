"""CPU time of variances over all weights γ and removed classes k at once."""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import numpy as np
from threadpoolctl import threadpool_limits

from semiordinal._risk.losses import get_loss
from semiordinal._risk.risks import supervised_weights
from semiordinal.theory import class_moments, gradient_moments, risk_hessian, risk_variance

GAMMAS = np.linspace(0, 1, 101)


def ordinal_rows(n, d, n_classes, n_labeled, seed=0):
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((n, d))
    coef = rng.standard_normal(d) / np.sqrt(d)
    latent = rows @ coef + 0.5 * rng.logistic(size=n)
    thresholds = np.quantile(latent, np.arange(1, n_classes) / n_classes)
    codes = np.searchsorted(thresholds, latent)
    codes[n_labeled:] = -1
    return rows, codes, coef, thresholds


def median_cpu(run: Callable[[], object], repeats: int) -> float:
    times = []
    for _ in range(repeats):
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return statistics.median(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--threads", type=int, help="limit BLAS threads")
    arguments = parser.parse_args()
    n, d, n_classes, n_labeled = 100_000, 20, 10, 5_000
    rows, codes, coef, thresholds = ordinal_rows(n, d, n_classes, n_labeled)
    scores = thresholds - (rows @ coef)[:, None]
    counts, prior = np.bincount(codes[:n_labeled]), np.full(n_classes, 1 / n_classes)
    print(f"{n} rows ({n_labeled} labelled), K = {n_classes}, all k, {len(GAMMAS)} weights")

    def surface(moments):
        return risk_variance(moments, counts, n - n_labeled, prior).semi(GAMMAS)

    with threadpool_limits(arguments.threads):
        for name in ("at", "it", "ls"):
            loss = get_loss(name)
            values = loss.values(scores)
            parts = {
                "value, from scores": lambda loss=loss: surface(
                    class_moments(loss.values(scores), codes)
                ),
                "value, from losses": lambda values=values: surface(class_moments(values, codes)),
            }
            hessian = risk_hessian(
                loss, supervised_weights(counts.astype(float)), rows, codes, coef, thresholds, 0.01
            )
            parts[f"gradient, {d} features"] = lambda loss=loss, hessian=hessian: surface(
                gradient_moments(loss, rows, codes, coef, thresholds, hessian)
            )
            for part, run in parts.items():
                print(f"  {name}  {part:24s} {median_cpu(run, arguments.repeats):7.3f} s CPU")


if __name__ == "__main__":
    main()
