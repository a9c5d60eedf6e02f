"""What users get wrong with a model at hand: other columns, other files, and cells that bite."""

from __future__ import annotations

import csv
import pickle

import numpy as np
import pandas as pd
import pytest

from cli_problems import ORDER, done, fit, make_fitted, patients, refused
from problems import LeavesAMark

pytestmark = pytest.mark.usefixtures("few_folds_throughout")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_fitted(tmp_path_factory.mktemp("patients"))


def test_unknown_categories_are_named(folder, tmp_path):
    frame = patients(50).assign(city="Atlantis", ward="99")
    frame.to_csv(tmp_path / "new.csv", index=False)
    arguments = ("predict", folder / "model.semiordinal", tmp_path / "new.csv")
    found = done(*arguments, "--out", tmp_path / "p.csv", "--json").json
    assert any("'city'" in note and "Atlantis" in note for note in found["notes"])
    assert any("'ward'" in note and "99" in note for note in found["notes"])
    assert found["rows"] == 50


def test_other_columns(folder, tmp_path):
    frame = patients(50)
    model, out = folder / "model.semiordinal", tmp_path / "p.csv"
    frame.drop(columns=["age", "visit"]).to_csv(tmp_path / "less.csv", index=False)
    told = refused(1, "predict", model, tmp_path / "less.csv", "--out", out)
    assert "lacks columns that the model was fitted with: age, visit" in told
    assert not out.exists()
    more = frame.assign(extra=1)[["extra", *frame.columns[::-1]]]
    more.to_csv(tmp_path / "more.csv", index=False)
    frame.to_csv(tmp_path / "same.csv", index=False)
    found = done("predict", model, tmp_path / "more.csv", "--out", out, "--json").json
    assert found["notes"] == ["Columns that the model does not know: extra."]
    done("predict", model, tmp_path / "same.csv", "--out", tmp_path / "q.csv")
    assert out.read_text() == (tmp_path / "q.csv").read_text(), "their order does not matter"


def test_cells_of_another_kind(folder, tmp_path):
    for column, cell, kind in (("age", "old", "numbers"), ("visit", "soon", "dates")):
        frame = patients(50)
        frame[column] = frame[column].astype(object)
        frame.loc[7, column] = cell
        frame.to_csv(tmp_path / "odd.csv", index=False)
        out = tmp_path / "p.csv"
        told = refused(
            1, "predict", folder / "model.semiordinal", tmp_path / "odd.csv", "--out", out
        )
        assert f"Column {column!r} holds {cell!r} where the model expects {kind}" in told
        assert not out.exists()


def test_probabilities_where_the_loss_gives_none(folder, tmp_path):
    model = tmp_path / "m"
    plain = "--loss", "ls", "--model", "linear", "--no-tune"
    done(*fit(folder / "few.csv", model), "--order", ORDER, *plain)
    told = refused(2, "predict", model, folder / "few.csv", "--out", tmp_path / "p.csv", "--proba")
    assert "no honest probabilities" in told
    assert "loss='at'" in told


def test_labels_that_the_model_does_not_know(folder, tmp_path):
    patients(20).assign(severity="fatal").to_csv(tmp_path / "fatal.csv", index=False)
    told = refused(1, "evaluate", folder / "model.semiordinal", tmp_path / "fatal.csv")
    assert "does not know: fatal" in told
    patients(20).assign(severity="").to_csv(tmp_path / "none.csv", index=False)
    told = refused(1, "evaluate", folder / "model.semiordinal", tmp_path / "none.csv")
    assert "no label at all" in told


def test_files_that_are_no_models(folder, tmp_path):
    mark = tmp_path / "mark"
    bad = tmp_path / "bad.semiordinal"
    good = (folder / "model.semiordinal").read_bytes()
    changed = bytearray(good)
    changed[len(good) // 2] ^= 1
    for content, reason in (
        (pickle.dumps(LeavesAMark(mark)), "is a pickle"),
        (bytes(changed), "hash"),
        (good[:-1000], "cut short"),
        (b"", "not a model file"),
        (b"a,b\n1,2\n", "not a model file"),
    ):
        bad.write_bytes(content)
        for arguments in (
            ("inspect", bad),
            ("predict", bad, folder / "few.csv", "--out", tmp_path / "p.csv"),
            ("evaluate", bad, folder / "few.csv"),
        ):
            assert reason in refused(1, *arguments)
    assert not mark.exists()


FORMULAS = ["=cmd()", "+cmd()", "-cmd()", "@cmd()", "\tcmd()", "\rcmd()", '=HYPERLINK("http://x")']


def test_formulas_do_no_harm_in_csv(folder, tmp_path):
    ids = [*FORMULAS, "-5", "+3.5e1", "plain", "a=b"]
    frame = patients(len(ids)).assign(**{"=name": ids})
    frame.to_csv(tmp_path / "f.csv", index=False, quoting=csv.QUOTE_ALL)
    frame.to_parquet(tmp_path / "f.parquet")
    model = folder / "model.semiordinal"
    for data in ("f.csv", "f.parquet"):
        out = tmp_path / f"of-{data}.csv"
        done("predict", model, tmp_path / data, "--out", out, "--id", "=name", "--proba")
        written = pd.read_csv(out, dtype=str, keep_default_na=False)
        assert written.columns[0] == "'=name"
        cells = [f"'{formula}" for formula in FORMULAS] + ["-5", "+3.5e1", "plain", "a=b"]
        assert written["'=name"].tolist() == cells
    out = tmp_path / "p.parquet"
    done("predict", model, tmp_path / "f.parquet", "--out", out, "--id", "=name")
    assert pd.read_parquet(out)["=name"].tolist() == ids, "Parquet is not run by spreadsheets"


def test_classes_like_formulas_do_no_harm_in_csv(tmp_path):
    frame = pd.DataFrame({"x": np.arange(60) % 6 * 1.5, "y": (["@low", "=high", ""] * 20)})
    frame["x"] += (frame["y"] == "=high") * 9
    frame.to_csv(tmp_path / "f.csv", index=False)
    model, out = tmp_path / "m", tmp_path / "p.csv"
    asked = ("fit", tmp_path / "f.csv", "--target", "y", "--order", "@low,=high", "--out", model)
    done(*asked, "--no-tune")
    done("predict", model, tmp_path / "f.csv", "--out", out)
    assert set(pd.read_csv(out)["prediction"]) == {"'@low", "'=high"}
    # The apostrophe is in the text for people alone; the model knows its classes as they are.
    assert done("evaluate", model, tmp_path / "f.csv", "--json").json["classes"] == [
        "@low",
        "=high",
    ]
