"""Suspected leaks: found in made cases, and not where there are none."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

from cli_problems import FOLDER, done, needs_data
from semiordinal._tables.leaks import fewest_errors
from semiordinal._tables.options import TableOptions
from semiordinal._tables.reading import TableFile
from semiordinal._tables.training import read_training_table

N_ROWS = 300


pytestmark = pytest.mark.usefixtures("few_folds_throughout")


def honest_table(seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Features that tell something of three to five classes, with gaps; a third has labels."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "score": rng.normal(size=N_ROWS),
            "other": rng.normal(size=N_ROWS),
            "kind": rng.choice(["a", "b", "c"], N_ROWS),
            "town": rng.choice([f"t{i}" for i in range(60)], N_ROWS),
        }
    )
    latent = 2 * frame["score"] + (frame["kind"] == "a") + rng.logistic(size=N_ROWS) / 2
    n_classes = 3 + seed % 3
    classes = np.digitize(latent, np.quantile(latent, np.arange(1, n_classes) / n_classes)) + 1
    is_labeled = rng.random(N_ROWS) < 0.35
    frame["grade"] = pd.Series(classes, dtype=object).where(is_labeled)
    frame.loc[rng.random(N_ROWS) < 0.2, "other"] = np.nan
    return frame, classes


def leaks(frame: pd.DataFrame, path: Path) -> list[str]:
    frame.to_csv(path, index=False)
    return read_training_table(TableFile(path), "grade").leaks


def filled_beside_labels(frame, classes, rng):
    return pd.Series(rng.normal(size=N_ROWS).round(3)).where(frame["grade"].notna())


def sometimes_filled_beside_labels(frame, classes, rng):
    return filled_beside_labels(frame, classes, rng).mask(rng.random(N_ROWS) < 0.5)


def text_beside_labels(frame, classes, rng):
    return pd.Series(rng.choice(["yes", "no"], N_ROWS)).where(frame["grade"].notna())


def a_copy(frame, classes, rng):
    return classes


def a_name_of_the_class(frame, classes, rng):
    return [f"code {'zyxwv'[c - 1]}" for c in classes]


def a_measurement_that_was_cut(frame, classes, rng):
    return (classes + rng.uniform(0.02, 0.98, N_ROWS)).round(3)


def a_copy_in_another_order(frame, classes, rng):
    return np.array([7, 2, 9, 4, 1])[classes - 1]


MADE = [
    filled_beside_labels,
    sometimes_filled_beside_labels,
    text_beside_labels,
    a_copy,
    a_name_of_the_class,
    a_measurement_that_was_cut,
    a_copy_in_another_order,
]


@pytest.mark.parametrize("seed", range(20))
def test_honest_columns_are_not_suspected(tmp_path, seed):
    assert leaks(honest_table(seed)[0], tmp_path / "honest.csv") == []


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("make", MADE)
def test_made_leaks_are_found(tmp_path, make, seed):
    frame, classes = honest_table(seed)
    frame["code"] = make(frame, classes, np.random.default_rng(seed))
    found = leaks(frame, tmp_path / "leaky.csv")
    assert len(found) == 1
    assert "'code'" in found[0]
    assert "--drop code" in found[0]


def test_leaks_are_named_before_all_else(tmp_path):
    frame, classes = honest_table(0)
    frame.assign(code=classes).to_csv(tmp_path / "t.csv", index=False)
    fit = ("fit", tmp_path / "t.csv", "--target", "grade", "--no-tune", "--out", tmp_path / "m")
    assert done(*fit).out.startswith("Suspected leak: 'code' alone tells 100.0% of")
    found = done(*fit, "--json", "--force").json
    assert "'code'" in found["suspected_leaks"][0]
    assert found["suspected_leaks"][0] in found["notes"]
    assert "Suspected" not in done(*fit, "--force", "--drop", "code").out


@needs_data
def test_no_leak_is_suspected_in_tables_that_have_none():
    """At most one in twenty of the data sets; there are 34."""
    suspected = []
    for path in sorted(Path(FOLDER or "").glob("*.csv.gz")):
        table = read_training_table(TableFile(path), "y", TableOptions())
        suspected += [path.name] if table.leaks else []
        reading = [note for note in table.choice.notes if "Dates" not in note]
        assert reading == [], path.name
    assert len(suspected) <= 1


def test_no_tree_has_fewer_errors_than_the_bound():
    bounds = []
    for seed in range(300):
        rng = np.random.default_rng(seed)
        n_rows, n_leaves = int(rng.integers(5, 60)), int(rng.integers(2, 9))
        values = np.round(rng.normal(size=n_rows), int(rng.integers(0, 3)))  # with ties
        codes = rng.integers(0, rng.integers(2, 5), n_rows)
        tree = DecisionTreeClassifier(max_leaf_nodes=n_leaves, random_state=0)
        wrong = tree.fit(values[:, None], codes).predict(values[:, None]) != codes
        bounds.append(fewest_errors(values, codes, n_leaves))
        assert bounds[-1] <= wrong.sum()
    assert np.mean(np.array(bounds) > 0) > 0.5
