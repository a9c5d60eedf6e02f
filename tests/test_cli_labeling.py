"""Rows to label, marks of chosen labels, and labels to doubt, on the command line."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from cli_problems import ORDER, SEVERITIES, done, fit, patients, refused, with_few_labels
from semiordinal.labeling import doubt, plan, suggest
from semiordinal.model_files import load

pytestmark = pytest.mark.usefixtures("few_folds_throughout")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Patients with 160 labels, ten of them at the wrong end, and a linear model."""
    folder = tmp_path_factory.mktemp("patients")
    frame = with_few_labels(patients(), 0.4)
    ends = np.flatnonzero(frame["severity"].isin(["mild", "severe"]))[:10]
    swapped = frame["severity"].iloc[ends].map({"mild": "severe", "severe": "mild"})
    frame.loc[ends, "severity"] = swapped
    frame.to_csv(folder / "few.csv", index=False)
    np.save(folder / "ends.npy", ends)
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
    first = ["row", "severity", "chosen", "prediction", "lowest", "highest", "reason"]
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
    assert found["chosen"].tolist() == ["yes", "yes", "yes", "no", "yes", "yes", "no"]
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
    told = done("next", folder / "linear.semiordinal", new, "--out", out, "-n", 4).out
    assert "no column 'severity', so no row counts as labelled" in " ".join(told.split())
    found = pd.read_parquet(out)
    assert len(found) == 4
    assert found["severity"].tolist() == [""] * 4
    assert "further" not in " ".join(found["reason"])  # nothing labelled is known


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
    frame.assign(severity="mild").to_csv(tmp_path / "full.csv", index=False)
    full = ("next", folder / "linear.semiordinal", tmp_path / "full.csv", "--out", out)
    assert "Every row of the table has a label already" in refused(1, *full)
    frame.assign(reason=1).to_csv(tmp_path / "reason.csv", index=False)
    model = folder / "linear.semiordinal"
    assert "column 'reason'" in refused(2, "next", model, tmp_path / "reason.csv", "--out", out)
    frame.assign(severity="dire").to_csv(tmp_path / "dire.csv", index=False)
    assert "does not know: dire" in refused(1, "next", model, tmp_path / "dire.csv", "--out", out)
    assert not out.exists()
    out.write_text("mine")
    assert "--force" in refused(2, *words(folder, out))
    assert out.read_text() == "mine"


def marked(tmp_path, n_random=60):
    """A table in which labels beyond some are those of patients of the middle age."""
    frame = patients(400)
    age = frame["age"].fillna(0)
    is_chosen = (np.arange(400) >= n_random) & (age > 42) & (age < 58)
    is_labeled = (np.arange(400) < n_random) | is_chosen
    frame["severity"] = frame["severity"].where(is_labeled)
    frame["asked"] = np.where(is_chosen, "yes", "")
    path = tmp_path / "marked.csv"
    frame.to_csv(path, index=False)
    return path, int(is_labeled.sum())


@pytest.mark.parametrize("model", ["linear", "trees"])
def test_errors_are_those_on_labels_that_were_not_chosen(tmp_path, model):
    path, n_labeled = marked(tmp_path)
    out = tmp_path / "m.semiordinal"
    more = ("--order", ORDER, "--model", model, "--chosen", "asked", "--json")
    told = done(*fit(path, out), *more).json
    assert told["labeled"] == n_labeled
    assert told["cross_validation"]["rows"] == 60
    assert told["dropped"]["asked"] == "it marks rows whose label was chosen"
    assert any(
        f"learnt from all {n_labeled} labels; errors are those on the 60 labels" in note
        for note in told["notes"]
    )
    assert len(load(out)[-1].held_out_codes_) == 60  # sets and shares go by them too
    notes = done("doubt", out, path, "--json").json["notes"]
    assert any(f"{n_labeled - 60} labels could not be judged" in note for note in notes)


def test_marks_that_cannot_be_read_or_leave_too_few_labels(tmp_path):
    path, _ = marked(tmp_path, n_random=5)
    more = ("--order", ORDER, "--model", "linear", "--chosen")
    out = tmp_path / "m.semiordinal"
    assert "5 labels not marked as chosen" in refused(2, *fit(path, out), *more, "asked")
    assert "row 1 has" in refused(2, *fit(path, out), *more, "city")
    assert "'nothing'" in refused(2, *fit(path, out), *more, "nothing")
    assert not out.exists()


def test_wrong_labels_are_found_and_written(folder, tmp_path):
    out = tmp_path / "doubtful.csv"
    words = ("doubt", folder / "linear.semiordinal", folder / "few.csv", "-n", 10, "--out", out)
    told = done(*words, "--json").json
    rows = [row["row"] - 1 for row in told["rows"]]
    assert len(set(rows) & set(np.load(folder / "ends.npy").tolist())) >= 8
    assert 1 <= told["low"] <= told["wrong"] <= told["high"] <= 40
    frame = pd.read_csv(folder / "few.csv", dtype=str, keep_default_na=False)
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
    told = done("doubt", folder / "linear.semiordinal", folder / "few.csv").out
    assert "seem wrong (90 % interval: " in told
    assert "The 20 labels most likely to be wrong" in told


def test_other_tables_and_models_are_refused(folder, tmp_path):
    model, table = folder / "linear.semiordinal", folder / "few.csv"
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


def test_a_plan_is_that_of_python_in_words(folder, tmp_path):
    fixed = tmp_path / "fixed.semiordinal"
    done(*fit(folder / "few.csv", fixed), "--order", ORDER, "--no-tune")
    words = ("plan", fixed, folder / "few.csv")
    answer = done(*words, "--target-mae", 0.4, "--more", 40, "--more", 160, "--json").json
    frame = pd.read_csv(folder / "few.csv", dtype=str, keep_default_na=False)
    pipeline = load(fixed)
    y = [label or None for label in frame["severity"]]
    expected = plan(pipeline, frame, y, target=0.4, more=[40, 160])
    assert answer["metric"] == "MAE"
    assert answer["more"] == [40, 160]
    for name in ("errors", "low", "forecast", "high", "n_needed_low"):
        wanted = np.asarray(getattr(expected, name), dtype=float)
        found = np.array(answer[name], dtype=float)
        np.testing.assert_allclose(found, np.where(np.isfinite(wanted), wanted, np.nan))
    told = done(*words).out
    n_labels = expected.n_labels
    assert f"With {n_labels} more labels: MAE" in told
    assert "measured on held-out labels" in told
    assert "MZE" in done(*words, "--target-mze", 0.3).out
    assert "Give one of --target-mae and --target-mse" in refused(
        2, *words, "--target-mae", 0.4, "--target-mse", 0.4
    )
    assert "--target-mae -1 must be above 0" in refused(2, *words, "--target-mae", -1)
    frame.sample(frac=1, random_state=0).to_csv(tmp_path / "other.csv", index=False)
    assert "not those that the model was fitted to" in refused(
        1, "plan", folder / "linear.semiordinal", tmp_path / "other.csv"
    )
    frame.assign(severity=[*y[:20], *[""] * (len(y) - 20)]).to_csv(
        tmp_path / "empty.csv", index=False
    )
    assert "Label at least 15 rows" in refused(1, "plan", fixed, tmp_path / "empty.csv")
