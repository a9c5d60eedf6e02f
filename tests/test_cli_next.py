"""``semiordinal next``: rows to label, as a table and as tasks for Label Studio."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from cli_problems import ORDER, SEVERITIES, done, fit, patients, refused, with_few_labels
from semiordinal.labeling import suggest
from semiordinal.model_files import load


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("patients")
    with_few_labels(patients()).to_csv(folder / "few.csv", index=False)
    model = folder / "linear.semiordinal"
    done(*fit(folder / "few.csv", model), "--order", ORDER, "--model", "linear")
    return folder


def words(folder, out, *more):
    return ("next", folder / "linear.semiordinal", folder / "few.csv", "--out", out, *more)


def test_rows_are_those_of_suggest_with_all_their_cells(folder, tmp_path):
    out = tmp_path / "to-label.csv"
    told = done(*words(folder, out, "-n", 7)).out
    assert "7 rows to label" in told
    frame = pd.read_csv(folder / "few.csv", dtype=str, keep_default_na=False)
    found = pd.read_csv(out, dtype=str, keep_default_na=False)
    first = ["row", "severity", "prediction", "lowest", "highest", "reason"]
    assert list(found) == [*first, *frame.columns.drop("severity")]
    assert set(found["severity"]) == {""}
    positions = found["row"].astype(int).to_numpy() - 1
    assert (frame["severity"].iloc[positions] == "").all()
    rest = frame.columns.drop("severity")
    pd.testing.assert_frame_equal(
        found[rest], frame[rest].iloc[positions].reset_index(drop=True), check_dtype=False
    )
    pipeline = load(folder / "linear.semiordinal")
    X = pipeline[:-1].transform(frame)
    y = [label or None for label in frame["severity"]]
    expected = suggest(pipeline[-1], X, 7, y=y)
    np.testing.assert_array_equal(positions, expected.positions)
    assert found["reason"].tolist() == expected.reasons
    assert set(found["prediction"]) <= set(SEVERITIES)


def test_label_studio_tasks(folder, tmp_path):
    out = tmp_path / "tasks.json"
    answer = done(*words(folder, out, "-n", 3, "--json")).json
    tasks = json.loads(out.read_text())
    assert [set(task) for task in tasks] == [{"data"}] * 3
    frame = pd.read_csv(folder / "few.csv", dtype=str, keep_default_na=False)
    for task, row in zip(tasks, answer["rows"], strict=True):
        data = task["data"]
        cells = data.pop("cells")
        assert data == row
        assert cells == frame.drop(columns="severity").iloc[row["row"] - 1].to_dict()


def test_a_table_without_the_target_column(folder, tmp_path):
    new = tmp_path / "new.parquet"
    patients(50, seed=3).drop(columns="severity").to_parquet(new)
    out = tmp_path / "to-label.parquet"
    done("next", folder / "linear.semiordinal", new, "--out", out, "-n", 4)
    found = pd.read_parquet(out)
    assert len(found) == 4
    assert found["severity"].tolist() == [""] * 4
    assert "unlike" not in " ".join(found["reason"])  # nothing labelled is known


def test_bad_requests_are_refused_before_anything_is_written(folder, tmp_path):
    out = tmp_path / "to-label.csv"
    assert "must end in .csv or .parquet, or in .json" in refused(
        2, *words(folder, tmp_path / "to-label.txt")
    )
    n_free = int(pd.read_csv(folder / "few.csv")["severity"].isna().sum())
    assert f"-n 1000: the table has {n_free} rows without a label" in refused(
        2, *words(folder, out, "-n", 1000)
    )
    assert "'nothing'" in refused(2, *words(folder, out, "--target", "nothing"))
    frame = pd.read_csv(folder / "few.csv")
    frame.assign(reason=1).to_csv(tmp_path / "reason.csv", index=False)
    model = folder / "linear.semiordinal"
    assert "column 'reason'" in refused(2, "next", model, tmp_path / "reason.csv", "--out", out)
    frame.assign(severity="dire").to_csv(tmp_path / "dire.csv", index=False)
    assert "does not know: dire" in refused(1, "next", model, tmp_path / "dire.csv", "--out", out)
    assert not out.exists()
    out.write_text("mine")
    assert "--force" in refused(2, *words(folder, out))
    assert out.read_text() == "mine"
