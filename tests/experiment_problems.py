"""A data folder of made-up rows, with the sizes and class counts of real sets."""

from __future__ import annotations

import numpy as np
import pandas as pd

from semiordinal.datasets import get_facts


def made_up(folder, *names, seed=0):
    """Write data sets whose first columns tell the class, with noise."""
    folder.mkdir(exist_ok=True)
    for name in names:
        facts = get_facts(name)
        rng = np.random.default_rng(len(name) + seed)
        y = rng.permutation(np.repeat(np.arange(1, facts.n_classes + 1), facts.class_counts))
        X = rng.normal(size=(len(y), facts.n_features))
        X[:, 0] += 1.5 * y
        frame = pd.DataFrame(X.round(4), columns=[f"x{i + 1}" for i in range(X.shape[1])])
        frame.assign(y=y).to_csv(folder / f"{name}.csv.gz", index=False)
    return folder


def only_toy(tmp_path, monkeypatch):
    """For a fixture: a data folder that has toy and nothing else."""
    folder = made_up(tmp_path / "data", "toy")
    monkeypatch.setenv("SEMIORDINAL_DATA", str(folder))
    return folder
