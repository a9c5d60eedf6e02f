"""Intervals of classes in the cells of a target: how they are read, and what commands do."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from cli_problems import ORDER, SEVERITIES, done, fit, patients, refused, with_few_labels
from semiordinal._tables.reading import TableError
from semiordinal._tables.target import OrderError, read_labels, read_target
from semiordinal.model_files import load

pytestmark = pytest.mark.usefixtures("few_folds_throughout")


def read(cells, **options):
    return read_target(pd.Series(cells, name="grade"), **options)


def test_cells_of_numbers():
    target = read(["1", "2", "3", "4", " 2 .. 3", "3..", "..2", "1..4", "..", "", "4..", "2..2"])
    assert target.classes == [1, 2, 3, 4]
    assert target.labels.tolist() == [1, 2, 3, 4, *[None] * 6, 4, 2]
    assert target.intervals[4:7].tolist() == [[2, 3], [3, 4], [1, 2]]
    assert target.has_interval.sum() == 3  # of all classes, or open on both sides, is no label
    assert target.y[:1].tolist() == [[1, 1]]
    assert target.y[4:8].tolist() == [[2, 3], [3, 4], [1, 2], [None, None]]
    assert target.y[10:].tolist() == [[4, 4], [2, 2]]
    assert target.counts == {1: 1, 2: 2, 3: 1, 4: 2}


def test_without_intervals_labels_are_one_column():
    target = read(["1", "2", "..", ""])
    assert target.intervals is None
    assert target.y is target.labels
    assert not target.has_interval.any()
    assert read(["1", "2", "1..2"]).intervals is None


def test_cells_of_names_and_decimal_commas():
    cells = ["mild", "moderate", "severe", "mild..moderate", "moderate..", "severe.."]
    target = read(cells, order=SEVERITIES)
    assert target.y[3:].tolist() == [
        ["mild", "moderate"],
        ["moderate", "severe"],
        ["severe", "severe"],
    ]
    with pytest.raises(OrderError, match=r"mild,moderate,severe$"):  # intervals are no names
        read(cells)
    numbers = read(["1,5", "2,5", "3,5", "1,5..2,5"])
    assert numbers.classes == [1.5, 2.5, 3.5]
    assert numbers.y[3].tolist() == [1.5, 2.5]
    # What --order names is a class.
    named = read(["a", "b..c", "b"], order=["a", "b", "b..c"])
    assert named.labels.tolist() == ["a", "b..c", "b"]
    assert named.intervals is None
    assert read_labels(pd.Series(["1", "2..3", "2"])).tolist() == [1, None, 2]


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        (["1", "2", "2..9"], r"'2\.\.9'.*no row has the label '9' by itself.*classes are 1, 2"),
        (["1", "2", "3", "3..2"], r"'3\.\.2', whose first class is above its second"),
        (["1", "2", "2..x"], "no row has the label 'x' by itself"),
    ],
)
def test_bad_cells(cells, words):
    with pytest.raises(TableError, match=words):
        read(cells)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Patients with 160 labels, of which every third is an interval, and a linear model."""
    folder = tmp_path_factory.mktemp("intervals")
    frame = with_few_labels(patients(), 0.4)
    labeled = np.flatnonzero(frame["severity"].notna())[::3]
    wide = {"mild": "..moderate", "moderate": "moderate..", "severe": "moderate..severe"}
    frame.loc[labeled, "severity"] = frame["severity"].iloc[labeled].map(wide)
    frame.loc[labeled[:2], "severity"] = ["severe..", "mild..mild"]
    frame.to_csv(folder / "few.csv", index=False)
    told = done(
        *fit(folder / "few.csv", folder / "linear.semiordinal"),
        *("--order", ORDER, "--model", "linear", "--json"),
    ).json
    assert told["interval_labels"] == len(labeled) - 2
    assert told["labeled"] + told["interval_labels"] + told["unlabeled"] == 400
    assert sum(told["class_counts"].values()) == told["labeled"]
    assert any("with an interval of classes in 'severity'" in note for note in told["notes"])
    assert (
        "Errors count rows so that the classes have these shares"
        in (told["class_shares"]["errors"])
    )
    return folder


def test_the_model_learnt_from_them(folder):
    model = load(folder / "linear.semiordinal")[-1]
    frame = pd.read_csv(folder / "few.csv", dtype=str, keep_default_na=False)
    is_interval = frame["severity"].str.contains("..", regex=False)
    assert model.n_interval_ == is_interval.sum() - 2
    assert model.n_labeled_ == (~is_interval & (frame["severity"] != "")).sum() + 2
    assert len(model.held_out_codes_) == model.n_labeled_


def test_other_commands_take_rows_with_one_class(folder, tmp_path):
    model, table = folder / "linear.semiordinal", folder / "few.csv"
    n_labeled = load(model)[-1].n_labeled_
    judged = done("evaluate", model, table, "--json").json
    assert judged["rows"] == n_labeled
    assert judged["without_label"] == 400 - n_labeled
    doubtful = done("doubt", model, table, "-n", 5, "--json").json
    assert doubtful["labels"] == n_labeled
    done("report", model, table, "--out", tmp_path / "report.html")
    done("predict", model, table, "--out", tmp_path / "predicted.csv", "--coverage", "0.9")
    assert len(pd.read_csv(tmp_path / "predicted.csv")) == 400
    asked = done("next", model, table, "-n", 3, "--out", tmp_path / "next.csv", "--json").json
    labels = pd.read_csv(table)["severity"]
    assert labels.iloc[[row["row"] - 1 for row in asked["rows"]]].isna().all()
    most = ("-n", int(labels.isna().sum()) + 1, "--out", tmp_path / "all.csv")
    assert "without a label. Ask for fewer." in refused(2, "next", model, table, *most)


def test_a_plan_learns_from_them_and_counts_rows_as_fit_does(folder):
    model, table = folder / "linear.semiordinal", folder / "few.csv"
    told = done("plan", model, table, "--more", 10, "--json").json
    assert any("with an interval of classes in 'severity'. All fits" in x for x in told["notes"])
    final = load(model)[-1]
    assert told["n_labels"] == final.n_labeled_
    constants = np.abs(np.arange(3)[:, None] - np.arange(3)) @ final.class_prior_
    assert told["constant"] == pytest.approx(constants.min())


def test_an_interval_of_all_classes_is_no_label(folder, tmp_path):
    frame = pd.read_csv(folder / "few.csv", dtype=str)
    n_unlabeled = int(frame["severity"].isna().sum())
    frame.loc[frame["severity"].isna(), "severity"] = "mild..severe"
    frame.to_csv(tmp_path / "open.csv", index=False)
    asked = ("-n", n_unlabeled, "--out", tmp_path / "next.csv", "--json")
    told = done("next", folder / "linear.semiordinal", tmp_path / "open.csv", *asked).json
    assert len(told["rows"]) == n_unlabeled


def test_intervals_that_are_none_are_unknown_labels(folder, tmp_path):
    frame = pd.read_csv(folder / "few.csv", dtype=str)
    frame.loc[frame["severity"] == "..moderate", "severity"] = "severe..mild"
    frame.to_csv(tmp_path / "reversed.csv", index=False)
    said = refused(1, "plan", folder / "linear.semiordinal", tmp_path / "reversed.csv")
    assert "does not know: severe..mild" in said


def test_models_without_intervals_are_named_before_any_work(folder, tmp_path):
    asked = (*fit(folder / "few.csv", tmp_path / "m.semiordinal"), "--order", ORDER)
    said = refused(2, *asked, "--model", "linear", "--task", "mse")
    assert "--loss ls does not take. Use --model auto" in said
    assert not (tmp_path / "m.semiordinal").exists()


def test_fixed_settings_and_unknown_ends(folder, tmp_path):
    done(
        *fit(folder / "few.csv", tmp_path / "m.semiordinal"),
        *("--order", ORDER, "--model", "kernel", "--loss", "cl", "--no-tune"),
    )
    assert load(tmp_path / "m.semiordinal")[-1].n_interval_ > 20
    frame = pd.read_csv(folder / "few.csv", dtype=str).iloc[:20]
    frame["severity"] = "mild..dire"
    frame.loc[:9, "severity"] = "mild"
    frame.to_csv(tmp_path / "new.csv", index=False)
    told = done("evaluate", tmp_path / "m.semiordinal", tmp_path / "new.csv", "--json").json
    assert any("does not know: mild..dire" in note for note in told["notes"])
