"""What users get wrong: one line that says what and what to do, and an exit code."""

from __future__ import annotations

import gzip
import re
import subprocess
from importlib.util import find_spec

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cli_problems import (
    ORDER,
    done,
    fit,
    make_fitted,
    patients,
    refused,
    semiordinal,
    with_few_labels,
)

pytestmark = pytest.mark.usefixtures("few_folds_throughout")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_fitted(tmp_path_factory.mktemp("patients"))


def test_a_target_that_is_not_there(folder, tmp_path):
    for command in ("fit", "compare"):
        told = refused(2, command, folder / "few.csv", "--target", "Severty")
        assert "Did you mean 'severity'?" in told
    told = refused(
        2, "evaluate", folder / "model.semiordinal", folder / "few.csv", "--target", "sev"
    )
    assert "severity" in told
    told = refused(2, *fit(folder / "few.csv", tmp_path / "m"), "--order", ORDER, "--drop", "cty")
    assert "--drop" in told
    assert "'city'" in told


def test_names_without_an_order_suggest_one(folder, tmp_path):
    told = refused(2, *fit(folder / "few.csv", tmp_path / "m"))
    assert f"--order {ORDER}" in told
    assert not (tmp_path / "m").exists()


def test_the_suggested_order_can_be_pasted_into_a_shell(tmp_path):
    classes = [f"it's $HOME; rm `{i}` *" for i in (2, 3, 10)]
    table = pd.DataFrame({"x": range(30), "y": np.resize([*classes, ""], 30)})
    table["x"] **= 2
    table.to_csv(tmp_path / "t.csv", index=False)
    asked = ("fit", tmp_path / "t.csv", "--target", "y", "--out", tmp_path / "m")
    suggested = refused(2, *asked).split("perhaps: ")[1]
    said = subprocess.run(
        ["sh", "-c", f"printf '%s\\n' {suggested}"], capture_output=True, text=True, check=True
    )
    option, order = said.stdout.splitlines()
    assert option == "--order"
    assert order.split(",") == classes
    found = done(*asked, option, order, "--json").json
    assert set(found["class_counts"]) == set(classes)
    table["y"] = np.resize(["low, or so", "mid", "high", ""], 30)
    table.to_csv(tmp_path / "t.csv", index=False)
    assert "without commas" in refused(2, *asked, "--force")


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet"])
def test_columns_of_the_same_name_are_refused(tmp_path, suffix):
    path = tmp_path / f"t{suffix}"
    if suffix == ".parquet":
        columns = [pa.array([1.0, 2.0, 4.0]), pa.array([3.0, 1.0, 1.0]), pa.array([1, 2, 1])]
        pq.write_table(pa.Table.from_arrays(columns, ["a", "a", "y"]), path)
    else:
        text = 'a,"a",y,,\n1,3,1,0,0\n2,1,2,0,0\n4,1,1,0,0\n'
        opener = gzip.open if suffix.endswith("gz") else open
        with opener(path, "wt", encoding="utf-8-sig") as file:
            file.write(text)
    for command in ("fit", "compare", "diagnose"):
        out = ("--out", tmp_path / "m") if command == "fit" else ()
        told = refused(1, command, path, "--target", "y", *out)
        assert "more than one column of the name a." in told
        assert "a name of its own" in told


def test_a_prior_of_next_to_nothing_for_a_class_with_labels_is_noted(folder, tmp_path):
    asked = (*fit(folder / "few.csv", tmp_path / "m"), "--order", ORDER, "--json", "--no-tune")
    found = done(*asked, "--class-prior", "1e-12,0.5,0.5").json
    (note,) = [note for note in found["notes"] if "next to nothing" in note]
    assert "(mild: 1e-12)" in note
    found = done(*asked, "--force", "--class-prior", "0.01,0.49,0.5").json
    assert not any("next to nothing" in note for note in found["notes"])


def test_an_order_that_does_not_fit(folder, tmp_path):
    arguments = (*fit(folder / "few.csv", tmp_path / "m"), "--order")
    assert "does not name: severe" in refused(2, *arguments, "mild,moderate")
    assert "twice: mild" in refused(2, *arguments, "mild,mild,moderate,severe")


def test_a_target_without_gaps_is_fitted_supervised(tmp_path):
    patients().to_csv(tmp_path / "full.csv", index=False)
    arguments = (*fit(tmp_path / "full.csv", tmp_path / "m"), "--order", ORDER)
    arguments += ("--model", "linear")
    found = done(*arguments, "--json").json
    assert any("supervised" in note for note in found["notes"])
    assert found["unlabeled"] == 0
    assert found["chosen"]["prior_share"] == 0
    arguments = (*arguments, "--no-tune", "--force")
    found = done(*arguments, "--json").json
    assert found["settings"]["unlabeled_weight"] == 0
    assert list(found["cross_validation"]["scores"]) == ["SV", "constant"]
    assert "SV, the model that is saved" in done(*arguments, "--details").out


def test_a_target_of_gaps_alone(tmp_path):
    patients().assign(severity="").to_csv(tmp_path / "none.csv", index=False)
    told = refused(1, *fit(tmp_path / "none.csv", tmp_path / "m"), "--order", ORDER)
    assert "no label at all" in told
    assert "Label rows" in told


def test_one_class_alone(tmp_path):
    patients().assign(severity="mild").to_csv(tmp_path / "one.csv", index=False)
    told = refused(1, *fit(tmp_path / "one.csv", tmp_path / "m"))
    assert "one class only (mild)" in told


def test_a_class_seen_once(tmp_path):
    frame = with_few_labels(patients())
    is_severe = (frame["severity"] == "severe").to_numpy(copy=True)
    is_severe[np.flatnonzero(is_severe)[0]] = False
    frame["severity"] = frame["severity"].mask(is_severe)
    frame.to_csv(tmp_path / "once.csv", index=False)
    arguments = (*fit(tmp_path / "once.csv", tmp_path / "m"), "--order", ORDER, "--force")
    found = done(*arguments, "--json").json
    assert found["class_counts"]["severe"] == 1
    assert any("Seen once only: severe" in note for note in found["notes"])
    assert found["cross_validation"]["rows"] == found["labeled"]
    found = done(*arguments, "--model", "linear", "--json").json
    assert found["cross_validation"]["rows"] == found["labeled"] - 1


def test_every_class_seen_once(tmp_path):
    frame = patients()
    first = ~frame["severity"].duplicated()
    frame.assign(severity=frame["severity"].where(first)).to_csv(tmp_path / "f.csv", index=False)
    arguments = (*fit(tmp_path / "f.csv", tmp_path / "m"), "--order", ORDER, "--model", "linear")
    found = done(*arguments, "--json").json
    assert found["cross_validation"] is None
    assert any("nothing could be cross-validated" in note for note in found["notes"])
    told = refused(1, "compare", tmp_path / "f.csv", "--target", "severity", "--order", ORDER)
    assert "too few" in told


def test_infinity(tmp_path):
    frame = with_few_labels(patients())
    frame.loc[3, "age"] = np.inf
    frame.to_csv(tmp_path / "inf.csv", index=False)
    told = refused(1, *fit(tmp_path / "inf.csv", tmp_path / "m"), "--order", ORDER)
    assert "'age' holds infinity" in told


@pytest.mark.parametrize("command", ["fit", "predict", "evaluate", "compare"])
def test_encodings(folder, tmp_path, command):
    frame = with_few_labels(patients()).replace({"city": {"Leeds": "Malmö"}})
    frame.to_csv(tmp_path / "latin.csv", index=False, encoding="latin-1")
    model, data = folder / "model.semiordinal", tmp_path / "latin.csv"
    arguments = {
        "fit": (*fit(data, tmp_path / "m"), "--order", ORDER, "--no-tune"),
        "predict": ("predict", model, data, "--out", tmp_path / "p.csv"),
        "evaluate": ("evaluate", model, data),
        "compare": (
            *("compare", data, "--target", "severity", "--order", ORDER),
            *("--methods", "SV", "--repeats", "2"),
        ),
    }[command]
    told = refused(1, *arguments)
    assert "not text in the encoding utf-8" in told
    assert "--encoding latin-1" in told
    assert "encoding nonsense" in refused(1, *arguments, "--encoding", "nonsense")
    done(*arguments, "--encoding", "latin-1")


def test_a_mark_in_front_and_other_delimiters(tmp_path):
    frame = with_few_labels(patients())
    for name, options in {
        "mark.csv": {"encoding": "utf-8-sig"},
        "semicolon.csv": {"sep": ";"},
        "tab.tsv": {"sep": "\t"},
        "zipped.csv.gz": {},
    }.items():
        frame.to_csv(tmp_path / name, index=False, **options)
        model = tmp_path / f"{name}.semiordinal"
        arguments = (*fit(tmp_path / name, model), "--order", ORDER, "--no-tune", "--json")
        found = done(*arguments).json
        assert found["features"]["numbers"] == ["age"]
        assert "patient" in found["dropped"]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is empty"),
        (b"\n\n", "is empty"),
        (b"age,severity\n", "has no rows"),
        (b"age,severity\n1,mild\n2,severe,5,6\n", "4 cells in line 3, more than"),
        (b"age,severity\n1,mild,3\n2,severe,4\n", "3 cells in line 2, more than"),
    ],
    ids=["nothing", "blank lines", "names alone", "ragged", "cells without a name"],
)
def test_files_that_are_no_table(folder, tmp_path, content, reason):
    (tmp_path / "bad.csv").write_bytes(content)
    assert re.search(reason, refused(1, *fit(tmp_path / "bad.csv", tmp_path / "m")))
    out = tmp_path / "p.csv"
    told = refused(1, "predict", folder / "model.semiordinal", tmp_path / "bad.csv", "--out", out)
    assert re.search(f"{reason}|lacks columns", told)
    assert not out.exists()


def test_parquet_that_is_none(folder, tmp_path):
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 but not really")
    assert "cannot be read" in refused(1, *fit(tmp_path / "bad.parquet", tmp_path / "m"))
    patients().iloc[:0].to_parquet(tmp_path / "no-rows.parquet")
    assert "no rows" in refused(1, *fit(tmp_path / "no-rows.parquet", tmp_path / "m"))
    out = tmp_path / "p.csv"
    told = refused(
        1, "predict", folder / "model.semiordinal", tmp_path / "no-rows.parquet", "--out", out
    )
    assert "no rows" in told
    assert list(tmp_path.glob(".*")) == []


def test_other_kinds_of_files(folder, tmp_path):
    (tmp_path / "table.ods").write_bytes(b"PK")
    assert "neither CSV" in refused(1, *fit(tmp_path / "table.ods", tmp_path / "m"))
    arguments = ("predict", folder / "model.semiordinal", folder / "few.csv", "--out")
    assert "must end in .csv or .parquet" in refused(1, *arguments, tmp_path / "p.txt")
    missing = semiordinal(*fit(tmp_path / "nowhere.csv", tmp_path / "m"))
    assert missing.exit_code == 2
    assert "does not exist" in " ".join(missing.err.replace("│", " ").split())


def test_where_nothing_can_be_written(folder, tmp_path):
    nowhere = tmp_path / "no folder" / "file.csv"
    fitting = (*fit(folder / "few.csv", nowhere), "--order", ORDER)
    predicting = ("predict", folder / "model.semiordinal", folder / "few.csv", "--out", nowhere)
    for arguments in (fitting, predicting):
        assert "no folder' does not exist. Make it first" in refused(2, *arguments)
    (tmp_path / "p.csv").write_text("mine")
    predicting = (*predicting[:-1], tmp_path / "p.csv")
    assert "--force" in refused(2, *predicting)
    assert (tmp_path / "p.csv").read_text() == "mine"
    done(*predicting, "--force")
    assert "is a folder" in refused(2, *predicting[:-1], tmp_path)
    few = tmp_path / "few.csv"
    few.write_text((folder / "few.csv").read_text())
    (tmp_path / "link.csv").hardlink_to(few)
    for out in (few, tmp_path / "link.csv"):
        for arguments in (
            ("predict", folder / "model.semiordinal", few),
            ("fit", few, "--target", "severity", "--order", ORDER),
            ("report", few, "--target", "severity", "--order", ORDER),
        ):
            told = refused(2, *arguments, "--out", out, "--force")
            assert "overwrite what is read" in told
    assert few.read_text() == (folder / "few.csv").read_text()


def test_settings_that_are_not_known(folder, tmp_path):
    arguments = (*fit(folder / "few.csv", tmp_path / "m"), "--order", ORDER)
    for option, value, known in (
        ("--loss", "huber", "lad"),
        ("--model", "tree", "kernel"),
        ("--margin", "probit", "logistic"),
        ("--removed-class", "extreme", "severe"),
        ("--class-prior", "half", "uniform"),
    ):
        told = refused(2, *arguments, option, value)
        assert option in told
        assert known in told
    assert semiordinal(*arguments, "--unlabeled-weight", "2").exit_code == 2
    for prior, reason in (
        ("0.5,0.5", "3 classes"),
        ("0.5,0.4,0.3", "sums to 1.2"),
        ("0.5,0.7,-0.2", "negative"),
    ):
        told = refused(2, *arguments, "--class-prior", prior)
        assert "--class-prior 34%,33%,33%" in told
        assert reason in told
    assert "--loss ls has none" in refused(2, *arguments, "--loss", "ls", "--margin", "hinge")
    compared = ("compare", folder / "few.csv", "--target", "severity", "--order", ORDER)
    assert "SEMI-median" in refused(2, *compared, "--methods", "SV,magic")
    assert "diabetes-stages" in refused(2, "datasets", "iris")
    assert "--out" in refused(2, "datasets", "diabetes-stages")


def test_networks_name_the_extra_that_they_need(folder, tmp_path):
    if find_spec("skorch") is not None:
        pytest.skip("networks are there")
    told = refused(
        1, *fit(folder / "few.csv", tmp_path / "m"), "--order", ORDER, "--model", "network"
    )
    assert "semiordinal[torch]" in told


def test_nothing_left_to_learn_from(tmp_path):
    frame = pd.DataFrame({"id": range(30), "site": "north", "grade": [1, 2, 3] * 10})
    frame.to_csv(tmp_path / "bare.csv", index=False)
    arguments = ("fit", tmp_path / "bare.csv", "--target", "grade", "--out", tmp_path / "m")
    told = refused(1, *arguments)
    assert "id (it looks like an id" in told
    assert "--keep" in told
    done(*arguments, "--keep", "id", "--no-tune")


def test_words_for_missing_labels(tmp_path):
    """None is a class where the order names it; -1 is a gap where it is said to be."""
    frame = pd.DataFrame({"x": np.arange(60) % 7, "pain": ["None", "some", "", "much"] * 15})
    frame.to_csv(tmp_path / "pain.csv", index=False)
    arguments = ("fit", tmp_path / "pain.csv", "--target", "pain", "--out", tmp_path / "m")
    arguments += ("--no-tune",)
    found = done(*arguments, "--order", "None,some,much", "--json").json
    assert found["class_counts"] == {"None": 15, "some": 15, "much": 15}
    assert found["unlabeled"] == 15
    frame.assign(pain=[0, 1, -1, 2] * 15).to_csv(tmp_path / "pain.csv", index=False)
    found = done(*arguments, "--json", "--force").json
    assert any("--missing-label -1" in note for note in found["notes"])
    found = done(*arguments, "--missing-label", "-1", "--json", "--force").json
    assert found["class_counts"] == {"0": 15, "1": 15, "2": 15}
    assert found["notes"] == []


def test_measurements_are_no_classes(tmp_path):
    frame = pd.DataFrame({"x": np.arange(50) % 7, "y": np.linspace(0.05, 3, 50)})
    frame.to_csv(tmp_path / "m.csv", index=False)
    told = refused(1, "fit", tmp_path / "m.csv", "--target", "y", "--out", tmp_path / "m")
    assert "continuous" in told
