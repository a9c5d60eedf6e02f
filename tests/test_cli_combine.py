"""One label from those of several annotators, on the command line."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from cli_problems import ORDER, SEVERITIES, done, fit, patients, refused
from semiordinal.labeling import combine_annotators

BIAS, SPREAD = [-0.3, 0.0, 0.3], [0.3, 1.2, 0.4]
ANNOTATORS = ["anna", "ben", "cleo"]


@pytest.fixture(scope="module")
def scans(tmp_path_factory):
    """Patients without a severity, but labels of three annotators, each of six in ten."""
    rng = np.random.default_rng(0)
    frame = patients(400)
    truth = pd.Categorical(frame.pop("severity"), SEVERITIES).codes
    noisy = np.clip(np.rint(truth[:, None] + BIAS + SPREAD * rng.normal(size=(400, 3))), 0, 2)
    for name, codes in zip(ANNOTATORS, noisy.T, strict=True):
        given = np.where(rng.random(400) < 0.6, np.array(SEVERITIES)[codes.astype(int)], "")
        frame[name] = given
    path = tmp_path_factory.mktemp("scans") / "scans.csv"
    frame.to_csv(path, index=False)
    return path, frame, truth


def words(path, out, *more):
    return ("combine", path, "--annotators", ",".join(ANNOTATORS), "--out", out, *more)


def test_labels_are_those_of_the_function_and_a_model_can_be_fitted(scans, tmp_path):
    path, frame, truth = scans
    out = tmp_path / "combined.csv"
    asked = words(path, out, "--target", "severity", "--order", ORDER)
    told = done(*asked, "--json").json
    labels = frame[ANNOTATORS].replace("", None)
    expected = combine_annotators(labels, classes=SEVERITIES)
    table = pd.read_csv(out, dtype=str, keep_default_na=False)
    assert table["severity"].tolist() == [label or "" for label in expected.labels]
    rest = frame.columns.drop(ANNOTATORS)
    assert list(table) == [*rest, "severity"]  # no annotator, whom a model would learn from
    np.testing.assert_allclose([each["bias"] for each in told["annotators"]], expected.bias)
    np.testing.assert_allclose([each["bias"] for each in told["annotators"]], BIAS, atol=0.15)
    np.testing.assert_allclose([each["spread"] for each in told["annotators"]], SPREAD, rtol=0.3)
    counts = labels.notna().sum(axis=1)
    assert told["labeled"] == (counts > 0).sum()
    assert told["by_two_or_more"] == (counts > 1).sum()
    some = counts > 0
    code = {name: position for position, name in enumerate(SEVERITIES)}
    medians = labels.apply(lambda column: column.map(code)).median(axis=1)
    ours = np.abs(table["severity"].map(code) - truth)[some].mean()
    assert ours < np.abs(medians - truth)[some].mean()
    fitted = done(
        *fit(out, tmp_path / "m.semiordinal"), "--order", ORDER, "--model", "linear", "--json"
    )
    assert fitted.json["labeled"] == some.sum()


def test_it_says_how_annotators_differ(scans, tmp_path):
    path, frame, _ = scans
    asked = words(path, tmp_path / "c.parquet", "--target", "severity", "--order", ORDER)
    told = " ".join(done(*asked).out.split())
    expected = combine_annotators(frame[ANNOTATORS].replace("", None), classes=SEVERITIES)
    ben = f"{expected.bias[1]:+.2f} │ {expected.spread[1]:.2f} │ {expected.agreement[1]:.0%}"
    assert f"│ ben │ {expected.n_labels[1]} │ {ben} │" in told
    n_labeled = int((frame[ANNOTATORS] != "").any(axis=1).sum())
    assert f"{n_labeled} rows of 400 labelled" in told
    assert "from the lowest: mild, moderate, severe" in told
    assert pd.read_parquet(tmp_path / "c.parquet")["severity"].notna().sum() == n_labeled


def test_who_always_says_the_same_has_no_figures(tmp_path):
    frame = pd.DataFrame({"x": range(60), "a": [1, 2, 3] * 20, "b": [1, 2, 3] * 20, "c": 2})
    frame.to_csv(tmp_path / "t.csv", index=False)
    asked = ("combine", tmp_path / "t.csv", "--annotators", "a,b,c", "--target", "y", "--out")
    told = " ".join(done(*asked, tmp_path / "1.csv").out.split())
    assert "│ c │ 60 │ – │ – │ 33% │" in told
    assert "are left out: c." in told
    annotators = done(*asked, tmp_path / "2.csv", "--json").json["annotators"]
    assert annotators[2]["bias"] is None
    assert pd.read_csv(tmp_path / "1.csv")["y"].tolist() == frame["a"].tolist()


def test_marks_of_gaps_and_other_scales_are_told(tmp_path):
    frame = pd.DataFrame({"x": range(60), "a": [1, 2, 3] * 20, "b": [1, 2, 3] * 20})
    path = tmp_path / "t.csv"
    asked = ("combine", path, "--annotators", "a,b", "--target", "y", "--out")
    frame.assign(b=frame["b"].where(frame["x"] % 4 > 0, -1)).to_csv(path, index=False)
    told = done(*asked, tmp_path / "1.csv", "--json").json
    assert told["classes"] == [-1, 1, 2, 3]
    assert any("-1 is taken as the lowest class" in note for note in told["notes"])
    frame.assign(b=frame["b"] * 10).to_csv(path, index=False)
    told = done(*asked, tmp_path / "2.csv", "--json").json
    assert any("other annotator gives: 10, 20, 30. Is it" in note for note in told["notes"])


def test_numbers_stay_numbers_and_marks_of_gaps_are_read(tmp_path):
    rng = np.random.default_rng(0)
    truth = rng.integers(1, 5, 80)
    frame = pd.DataFrame({"x": truth, "a": truth, "b": truth}).astype({"a": "Int64", "b": "Int64"})
    frame["b"] = frame["b"].mask(rng.random(80) < 0.5, -1)
    frame.to_parquet(tmp_path / "t.parquet")
    asked = ("combine", tmp_path / "t.parquet", "--annotators", "a,b", "--target", "y")
    done(*asked, "--out", tmp_path / "out.parquet", "--missing-label", "-1")
    found = pd.read_parquet(tmp_path / "out.parquet")
    assert found["y"].tolist() == truth.tolist()
    frame.loc[:2, ["a", "b"]] = pd.NA
    frame.to_csv(tmp_path / "t.csv", index=False)
    asked = ("combine", tmp_path / "t.csv", "--annotators", "a,b", "--target", "y")
    done(*asked, "--out", tmp_path / "out.csv", "--missing-label", "-1")
    found = pd.read_csv(tmp_path / "out.csv", dtype=str, keep_default_na=False)
    assert found["y"].tolist() == ["", "", "", *truth[3:].astype(str)]


def test_annotators_who_share_no_row_are_told(tmp_path):
    frame = pd.DataFrame({"x": range(40), "a": [1, 2, 3, 1] * 10, "b": [1, 2, 3, 2] * 10})
    frame = frame.astype({"a": "Int64", "b": "Int64"})
    frame["eve"] = pd.array([None] * 30 + [1] * 10, dtype="Int64")
    frame.loc[30:, ["a", "b"]] = pd.NA
    frame.to_csv(tmp_path / "t.csv", index=False)
    asked = ("combine", tmp_path / "t.csv", "--annotators", "a,b,eve", "--target", "y")
    told = " ".join(done(*asked, "--out", tmp_path / "out.csv").out.split())
    assert "share fewer than 10 rows with others" in told
    frame.loc[:20, "a"] = pd.NA
    frame.loc[21:, "b"] = pd.NA
    frame.to_csv(tmp_path / "t.csv", index=False)
    told = refused(1, *asked, "--out", tmp_path / "none.csv")
    assert "has labels of two annotators" in told
    assert not (tmp_path / "none.csv").exists()


def test_what_cannot_be_combined_is_refused(scans, tmp_path):
    path, frame, _ = scans
    out, target = tmp_path / "combined.csv", ("--target", "severity")
    assert "their order matters" in refused(2, *words(path, out, *target))
    one = ("combine", path, "--out", out, *target, "--annotators")
    assert "two different columns" in refused(2, *one, "anna")
    assert "two different columns" in refused(2, *one, "anna,anna")
    assert "Did you mean 'ben'" in refused(2, *one, "anna,bem")
    assert "needs a name" in refused(2, *words(path, out, "--target", " "))
    assert "column 'age' already" in refused(2, *words(path, out, "--target", "age"))
    frame.assign(ben="").to_csv(tmp_path / "silent.csv", index=False)
    order = (*target, "--order", ORDER)
    assert "no label in ben" in refused(2, *words(tmp_path / "silent.csv", out, *order))
    frame = frame.assign(ben=frame["ben"].where(frame.index != 3, "mild..moderate"))
    frame.to_csv(tmp_path / "interval.csv", index=False)
    told = refused(1, *words(tmp_path / "interval.csv", out, *order))
    assert "'ben' has an interval of classes in row 4" in told
    assert not out.exists()
    assert "overwrite what is read" in refused(2, *words(path, path, *order), "--force")
