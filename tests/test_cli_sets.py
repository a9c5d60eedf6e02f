"""Prediction sets on the command line: ``predict --coverage``, for files and for folders."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from cli_problems import ORDER, SEVERITIES, done, fit, patients, refused, with_few_labels
from semiordinal import LinearOrdinalClassifierCV
from semiordinal.model_files import load
from semiordinal.scale import predict_parquet

pytestmark = pytest.mark.usefixtures("few_folds_throughout")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A table of patients, a linear model of it, and new patients."""
    folder = tmp_path_factory.mktemp("patients")
    with_few_labels(patients()).to_csv(folder / "few.csv", index=False)
    model = folder / "linear.semiordinal"
    done(*fit(folder / "few.csv", model), "--order", ORDER, "--model", "linear")
    patients(300, seed=5).to_csv(folder / "new.csv", index=False)
    return folder


def positions(column: pd.Series) -> np.ndarray:
    return pd.Categorical(column, SEVERITIES, ordered=True).codes


def test_sets_are_those_of_the_model_and_cover(folder, tmp_path):
    truth, out = pd.read_csv(folder / "new.csv"), tmp_path / "p.csv"
    model = folder / "linear.semiordinal"
    arguments = ("predict", model, folder / "new.csv", "--out", out, "--id", "patient")
    told = done(*arguments, "--coverage", 0.9)
    assert "In 90 % of rows, if they are like the labelled ones, the true class lies" in told.out
    found = pd.read_csv(out)
    assert list(found) == ["patient", "prediction", "lowest", "highest"]
    low, middle, high = (positions(found[name]) for name in ("lowest", "prediction", "highest"))
    assert ((low <= middle) & (middle <= high)).all()
    actual = positions(truth["severity"])
    assert np.mean((low <= actual) & (actual <= high)) > 0.8  # 100 labels: 0.03 a deviation
    pipeline = load(model)
    typed = pipeline[:-1].transform(pd.read_csv(folder / "new.csv", dtype=str))
    expected = pipeline[-1].predict_set(typed, 0.9)
    np.testing.assert_array_equal(found[["lowest", "highest"]].to_numpy(), expected)


def test_more_coverage_means_larger_sets(folder, tmp_path):
    sizes = []
    for number, words in enumerate([("0.5",), ("0.9",), ("0.9", "--per-class")]):
        out = tmp_path / f"{number}.parquet"
        model = folder / "linear.semiordinal"
        done("predict", model, folder / "new.csv", "--out", out, "--coverage", *words, "--json")
        found = pd.read_parquet(out)
        sizes.append(positions(found["highest"]) - positions(found["lowest"]) + 1)
    assert (sizes[0] <= sizes[1]).all()
    assert sizes[0].mean() < sizes[1].mean() <= sizes[2].mean()


def test_too_few_labels_are_a_note(folder, tmp_path):
    words = ("predict", folder / "linear.semiordinal", folder / "new.csv", "--coverage", "0.999")
    found = done(*words, "--out", tmp_path / "p.csv", "--json").json
    assert any(
        "needs 999 labelled rows" in note and "all classes" in note for note in found["notes"]
    )
    sets = pd.read_csv(tmp_path / "p.csv")
    assert set(sets["lowest"]) == {"mild"}
    assert set(sets["highest"]) == {"severe"}


def test_parts_of_a_folder_are_of_one_coverage(folder, tmp_path):
    rows = tmp_path / "rows"
    rows.mkdir()
    pd.read_csv(folder / "new.csv").to_parquet(rows / "a.parquet")
    words = ("predict", folder / "linear.semiordinal", rows, "--out", tmp_path / "out")
    done(*words, "--coverage", "0.9")
    first = pd.read_parquet(tmp_path / "out" / "a.parquet")
    assert {"lowest", "highest"} <= set(first)
    done(*words, "--coverage", "0.9")
    assert "other predictions" in refused(2, *words, "--coverage", "0.5")
    done(*words, "--coverage", "0.5", "--force")
    second = pd.read_parquet(tmp_path / "out" / "a.parquet")
    assert (positions(second["highest"]) <= positions(first["highest"])).all()


@pytest.mark.parametrize("coverage", ["0", "1", "-0.2", "90", "nan"])
def test_coverage_is_between_zero_and_one(folder, tmp_path, coverage):
    words = ("predict", folder / "linear.semiordinal", folder / "new.csv")
    told = refused(2, *words, "--out", tmp_path / "p.csv", "--coverage", coverage)
    assert "must be between 0 and 1, such as --coverage 0.9" in told
    assert not (tmp_path / "p.csv").exists()


def test_other_mistakes(folder, tmp_path):
    out = tmp_path / "p.csv"
    words = ("predict", folder / "linear.semiordinal", folder / "new.csv", "--out", out)
    assert "--per-class needs --coverage" in refused(2, *words, "--per-class")
    plain = tmp_path / "plain.semiordinal"
    settings = ("--order", ORDER, "--model", "linear", "--no-tune")
    done(*fit(folder / "few.csv", plain), *settings)
    told = refused(2, "predict", plain, folder / "new.csv", "--out", out, "--coverage", 0.9)
    assert "LinearOrdinalClassifier, which holds no labelled rows out" in told
    assert "--model auto" in told
    renamed = tmp_path / "renamed.csv"
    pd.read_csv(folder / "new.csv").rename(columns={"patient": "lowest"}).to_csv(
        renamed, index=False
    )
    words = ("predict", folder / "linear.semiordinal", renamed, "--out", out, "--id", "lowest")
    assert "name of a column of the predictions" in refused(2, *words, "--coverage", 0.9)
    assert not out.exists()


def test_sets_for_parquet_files(tmp_path):
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.normal(size=(400, 2)), columns=["a", "b"])
    y = np.digitize(rows["a"] + rng.logistic(size=400) / 3, [-0.5, 0.5]).astype(float)
    y[80:] = np.nan
    model = LinearOrdinalClassifierCV(random_state=0).fit(rows, y)
    rows.to_parquet(tmp_path / "rows.parquet")
    (part,) = predict_parquet(model, tmp_path / "rows.parquet", tmp_path / "out", coverage=0.8)
    found = pd.read_parquet(part)[["lowest", "highest"]].to_numpy()
    np.testing.assert_array_equal(found, model.predict_set(rows, 0.8))
    with pytest.raises(ValueError, match="per_class=True needs a coverage"):
        predict_parquet(model, tmp_path / "rows.parquet", tmp_path / "more", per_class=True)
    with pytest.raises(ValueError, match="coverage=2 must be a number from"):
        predict_parquet(model, tmp_path / "rows.parquet", tmp_path / "more", coverage=2)
