"""``semiordinal doubt``: labels that were made wrong are found in a table."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from cli_problems import ORDER, SEVERITIES, done, fit, patients, refused, with_few_labels
from semiordinal.labeling import doubt
from semiordinal.model_files import load


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Patients with 160 labels, ten of them at the wrong end, and a linear model."""
    folder = tmp_path_factory.mktemp("patients")
    frame = with_few_labels(patients(), 0.4)
    ends = np.flatnonzero(frame["severity"].isin(["mild", "severe"]))[:10]
    swapped = frame["severity"].iloc[ends].map({"mild": "severe", "severe": "mild"})
    frame.loc[ends, "severity"] = swapped
    frame.to_csv(folder / "wrong.csv", index=False)
    np.save(folder / "ends.npy", ends)
    out = folder / "linear.semiordinal"
    done(*fit(folder / "wrong.csv", out), "--order", ORDER, "--model", "linear")
    return folder


def test_wrong_labels_are_found_and_written(folder, tmp_path):
    out = tmp_path / "doubtful.csv"
    words = ("doubt", folder / "linear.semiordinal", folder / "wrong.csv", "-n", 10, "--out", out)
    told = done(*words, "--json").json
    rows = [row["row"] - 1 for row in told["rows"]]
    assert len(set(rows) & set(np.load(folder / "ends.npy").tolist())) >= 8
    assert 1 <= told["low"] <= told["wrong"] <= told["high"] <= 40
    frame = pd.read_csv(folder / "wrong.csv", dtype=str, keep_default_na=False)
    assert told["labels"] == (frame["severity"] != "").sum()
    found = pd.read_csv(out, dtype=str, keep_default_na=False)
    assert found["row"].astype(int).tolist() == [row + 1 for row in rows]
    assert found["given"].tolist() == frame["severity"].iloc[rows].tolist()
    assert found[frame.columns].to_numpy().tolist() == frame.iloc[rows].to_numpy().tolist()
    assert set(found["likely"]) <= set(SEVERITIES)
    pipeline = load(folder / "linear.semiordinal")
    X = pipeline[:-1].transform(frame)
    expected = doubt(pipeline[-1], X, [label or None for label in frame["severity"]], 10)
    assert rows == expected.positions.tolist()


def test_it_says_how_many(folder):
    told = done("doubt", folder / "linear.semiordinal", folder / "wrong.csv").out
    assert "seem wrong (90 % interval: " in told
    assert "The 20 labels most likely to be wrong" in told


def test_other_tables_and_models_are_refused(folder, tmp_path):
    model, table = folder / "linear.semiordinal", folder / "wrong.csv"
    frame = pd.read_csv(table)
    frame.iloc[::-1].to_csv(tmp_path / "other.csv", index=False)
    assert "not those that the model was fitted to" in refused(
        1, "doubt", model, tmp_path / "other.csv"
    )
    frame.assign(row=1).to_csv(tmp_path / "row.csv", index=False)
    out = tmp_path / "out.csv"
    assert "column 'row'" in refused(2, "doubt", model, tmp_path / "row.csv", "--out", out)
    fixed = tmp_path / "fixed.semiordinal"
    done(*fit(table, fixed), "--order", ORDER, "--no-tune")
    assert "held no labelled rows out" in refused(2, "doubt", fixed, table)
    assert not out.exists()
