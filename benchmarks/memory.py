"""Peak memory of fits on a million unlabelled rows, above what the input takes.

Each fit runs in a process of its own, so that its peak is its own.
"""

from __future__ import annotations

import multiprocessing
import resource
import sys

import numpy as np

N_ROWS, N_COLUMNS, N_LABELED = 1_000_000, 20, 200


def make_rows(dtype: str) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N_ROWS, N_COLUMNS), dtype=np.dtype(dtype))
    y = np.full(N_ROWS, np.nan)
    latent = X[:N_LABELED] @ rng.normal(size=N_COLUMNS) + rng.logistic(size=N_LABELED)
    y[rng.permutation(N_ROWS)[:N_LABELED]] = np.digitize(latent, [-2, 0, 2])
    return X, y


def peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(settings: dict, dtype: str, queue) -> None:
    from semiordinal import LinearOrdinalClassifier

    # A first small fit brings in all code and buffers of the libraries.
    rng = np.random.default_rng(1)
    small = rng.normal(size=(400, N_COLUMNS))
    LinearOrdinalClassifier(**settings).fit(small, np.digitize(small[:, 0], [-1, 0, 1]))
    X, y = make_rows(dtype)
    before = peak_megabytes()
    model = LinearOrdinalClassifier(**settings).fit(X, y)
    queue.put((peak_megabytes() - before, X.nbytes / 2**20, model.n_iter_))


def main() -> None:
    context = multiprocessing.get_context("spawn")
    print(f"{N_ROWS:,} x {N_COLUMNS} rows, {N_LABELED} labelled")
    for dtype in ("float64", "float32"):
        for settings in ({"loss": "at"}, {"loss": "ls"}, {"loss": "it", "max_iter": 20}):
            queue = context.Queue()
            process = context.Process(target=measure, args=(settings, dtype, queue))
            process.start()
            extra, size, n_iter = queue.get()
            process.join()
            print(
                f"  {dtype} {settings!s:32s} peak {extra:6.1f} MB above an input of "
                f"{size:6.1f} MB: {extra / size:5.2f} x ({n_iter} iterations)"
            )


if __name__ == "__main__":
    sys.exit(main())
