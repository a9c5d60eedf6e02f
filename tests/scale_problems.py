"""Unlabelled rows in files, and fits to compare."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

NAMES = ["age", "dose", "weight", "height"]
_MEANS, _DEVIATIONS = np.array([50.0, 0.0, -3.0, 1e4]), np.array([5.0, 0.2, 1.0, 3.0])


def unlabeled(n_rows: int = 30_000, seed: int = 0) -> pd.DataFrame:
    """Rows of 32-bit floats, some columns far from zero."""
    rng = np.random.default_rng(seed)
    values = rng.standard_normal((n_rows, len(NAMES))) * _DEVIATIONS + _MEANS
    return pd.DataFrame(values.astype(np.float32), columns=NAMES)


def labeled(n_rows: int = 120, seed: int = 1) -> tuple[pd.DataFrame, np.ndarray]:
    """Labelled rows of the same kind, four classes."""
    X = unlabeled(n_rows, seed)
    standard = (X.to_numpy() - _MEANS) / _DEVIATIONS
    noise = np.random.default_rng(seed + 1).logistic(size=n_rows)
    return X, np.digitize(standard @ [1.0, -0.5, 0.3, 0.8] + noise, [-1.0, 0.0, 1.0]) + 1


def write_parts(folder: Path, frame: pd.DataFrame, n_files: int = 3, row_group: int = 4000) -> Path:
    """Parquet files of the rows, each with its columns in another order."""
    folder.mkdir(exist_ok=True)
    for number, rows in enumerate(np.array_split(np.arange(len(frame)), n_files)):
        columns = NAMES[number % 4 :] + NAMES[: number % 4]
        part = frame.iloc[rows][columns].assign(id=rows)
        part.to_parquet(folder / f"part-{number}.parquet", row_group_size=row_group, index=False)
    return folder


def parameters(model) -> np.ndarray:
    """Coefficients in units of the columns' deviations, and thresholds less the mean score."""
    coef = model.coef_
    if len(coef) != len(NAMES):
        return np.concatenate([coef, model.thresholds_])
    return np.concatenate([coef * _DEVIATIONS, model.thresholds_ - coef @ _MEANS])


def assert_same_fit(model, other, tolerance: float = 1e-8) -> None:
    """The same parameters, relative to the largest."""
    mine, others = parameters(model), parameters(other)
    assert np.abs(mine - others).max() <= tolerance * np.abs(others).max()
    assert model.n_unlabeled_ == other.n_unlabeled_
    assert model.n_labeled_ == other.n_labeled_
