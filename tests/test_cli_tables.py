"""Real tables through the real command: a hospital's files, rows in files of their own, orders."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from cli_problems import ORDER, SEVERITIES, done, patients, refused, with_few_labels
from command_runner import CommandRunner
from semiordinal._tables import unlabeled
from semiordinal.cli import app

pytestmark = pytest.mark.usefixtures("few_folds_throughout")


@pytest.fixture(scope="module")
def hospital(tmp_path_factory) -> Path:
    """A clean table in one file, and the same rows as a hospital writes them, in two."""
    folder = tmp_path_factory.mktemp("hospital")
    rng = np.random.default_rng(0)
    frame = with_few_labels(patients(300), 0.4)
    frame["bmi"] = rng.normal(25, 4, len(frame)).round(2)
    frame["cost"] = rng.uniform(100, 9000, len(frame)).round(1)
    is_labeled = frame["severity"].notna()
    frame = pd.concat([frame[is_labeled], frame[~is_labeled]], ignore_index=True)
    frame.to_csv(folder / "clean.csv", index=False)
    dirty = frame.copy()
    for name in ("age", "bmi"):
        dirty[name] = ["?" if pd.isna(x) else str(x).replace(".", ",") for x in frame[name]]
    swapped = str.maketrans(",.", ".,")
    dirty["cost"] = [f"{x:,.1f} €".translate(swapped) for x in frame["cost"]]
    visits = pd.to_datetime(frame["visit"])
    dirty["visit"] = visits.dt.strftime("%d.%m.%Y").fillna("unbekannt")
    dirty["city"] = frame["city"].fillna("n/a")
    n_labeled = int(is_labeled.sum())
    dirty[:n_labeled].to_csv(folder / "labelled.csv", sep=";", index=False)
    others = dirty[n_labeled:].drop(columns="severity")
    others[others.columns[::-1]].to_csv(folder / "others.csv", sep=";", index=False)
    return folder


def _fit(data: Path, out: Path, *more: object) -> tuple[object, ...]:
    fit = ("fit", data, "--target", "severity", "--order", ORDER, "--model", "linear")
    return (*fit, "--out", out, *more)


def test_a_hospital_gets_the_predictions_of_the_clean_file(hospital, tmp_path):
    clean = done(*_fit(hospital / "clean.csv", tmp_path / "clean.m", "--json")).json
    dirty = done(
        *_fit(hospital / "labelled.csv", tmp_path / "dirty.m", "--json"),
        *("--unlabeled", hospital / "others.csv"),
    ).json
    for key in ("labeled", "unlabeled", "class_counts", "chosen", "cross_validation"):
        assert dirty[key] == clean[key], key
    assert {k: sorted(v) for k, v in dirty["features"].items()} == {
        k: sorted(v) for k, v in clean["features"].items()
    }
    told = "\n".join(dirty["notes"])
    for said in (
        f"{clean['unlabeled']} unlabelled rows from 1 file",
        "'?'",
        "'unbekannt'",
        "'n/a'",
        "Decimal commas in age, bmi, cost",
        "Thousands separators in cost",
        "€ in cost",
        "day first",
    ):
        assert said in told, said
    predicted = []
    for model, data in (("clean.m", "clean.csv"), ("dirty.m", "labelled.csv")):
        out = tmp_path / f"{data}.predicted.csv"
        done(
            *("predict", tmp_path / model, hospital / data, "--out", out, "--proba"),
            *("--id", "patient", "--id", "city"),
        )
        predicted.append(pd.read_csv(out).head(clean["labeled"]))
    assert predicted[0].columns[:2].tolist() == ["patient", "city"]
    assert predicted[0]["prediction"].tolist() == predicted[1]["prediction"].tolist()
    numbers = predicted[0].select_dtypes("number").columns
    np.testing.assert_allclose(predicted[0][numbers], predicted[1][numbers], atol=1e-9)
    found = done("evaluate", tmp_path / "dirty.m", hospital / "labelled.csv", "--json").json
    assert found["rows"] == clean["labeled"]


def test_numbers_written_otherwise_than_in_the_fit_are_refused_with_the_option(hospital, tmp_path):
    done(*_fit(hospital / "labelled.csv", tmp_path / "m", "--no-tune"))
    predict = ("predict", tmp_path / "m", hospital / "clean.csv", "--out", tmp_path / "p.csv")
    clean = pd.read_csv(hospital / "clean.csv")
    told = refused(1, *predict)
    assert "--decimal ." in told
    assert not (tmp_path / "p.csv").exists()
    assert "--decimal ;" in refused(2, *predict, "--decimal", ";").replace("'", "")
    done(*predict, "--decimal", ".")
    assert len(pd.read_csv(tmp_path / "p.csv")) == len(clean)


def test_rows_in_files_of_their_own(hospital, tmp_path, monkeypatch):
    """Files, folders and globs; differences of columns are told, labels there are not used."""
    frame = pd.read_csv(hospital / "clean.csv", dtype=object)
    n_labeled = int(frame["severity"].notna().sum())
    frame[:n_labeled].to_csv(tmp_path / "labelled.csv", index=False)
    folder = tmp_path / "more"
    folder.mkdir()
    others = frame[n_labeled:].drop(columns="severity")
    others[:50].drop(columns="bmi").assign(extra=1).to_csv(folder / "a.csv", index=False)
    others[50:100].to_parquet(folder / "b.parquet")
    frame[:30].to_csv(folder / "c.csv.gz", index=False)
    fit = _fit(tmp_path / "labelled.csv", tmp_path / "m", "--no-tune", "--json", "--force")
    whole = done(*fit, "--unlabeled", folder).json
    assert whole["unlabeled"] == 130
    told = "\n".join(whole["notes"])
    assert "lacks columns, which count as missing in its rows: bmi" in told
    assert "has columns that the table with labels lacks: extra" in told
    assert "30 rows of --unlabeled with a label in 'severity'" in told
    files = ("--unlabeled", folder / "a.csv", folder / "b.parquet", "--unlabeled")
    same = done(*fit, *files, folder / "*.gz").json
    assert same["cross_validation"] == whole["cross_validation"]
    assert "'bmi'" not in "".join(whole["suspected_leaks"])
    monkeypatch.setattr(unlabeled, "MOST_ROWS", 40)
    some = done(*fit, "--unlabeled", folder).json
    assert some["unlabeled"] == 40
    assert "of which 40 drawn at random are used" in some["notes"][0]
    assert "no file matches" in refused(2, *fit, "--unlabeled", folder / "*.tsv")
    (tmp_path / "none.csv").write_text("p,q\n1,2\n")
    assert "has no column of" in refused(2, *fit, "--unlabeled", tmp_path / "none.csv")
    assert "no file but the table" in refused(2, *fit, "--unlabeled", tmp_path / "labelled.csv")


@pytest.mark.parametrize("command", ["compare", "diagnose", "report"])
def test_other_commands_take_them_too(hospital, tmp_path, command):
    more = {
        "compare": ("--methods", "SV,SEMI2", "--repeats", "2"),
        "diagnose": (),
        "report": ("--out", tmp_path / "page.html"),
    }[command]
    asked = (command, hospital / "labelled.csv", "--target", "severity", "--order", ORDER, *more)
    told = refused(2, *asked, "--unlabeled", hospital / "nowhere.csv")
    assert "there is no file or folder" in told


def test_drawn_rows_are_a_fair_sample(tmp_path):
    """Each row of three files is as likely to be drawn as any other, and in its place."""
    names = [tmp_path / f"{i}.csv" for i in range(3)]
    for i, path in enumerate(names):
        pd.DataFrame({"x": np.arange(1000) + 1000 * i}).to_csv(path, index=False)
    counts = np.zeros(3)
    for seed in range(20):
        parts, n_rows, _ = unlabeled._draw(
            [unlabeled.TableFile(path) for path in names], ["x"], "y", 300, seed
        )
        drawn = np.concatenate([f["x"].astype(int) for part in parts for f in part.frames])
        assert n_rows == 3000
        assert len(drawn) == 300
        assert (np.diff(drawn) > 0).all()
        counts += np.bincount(drawn // 1000, minlength=3)
    # Of 6000 draws, a third each, with a standard deviation of at most 37.
    assert abs(counts - 2000).max() < 150


def test_standard_input(hospital, tmp_path):
    cells = (hospital / "labelled.csv").read_bytes()
    for arguments in (
        _fit(Path("-"), tmp_path / "m", "--no-tune"),
        ("predict", tmp_path / "m", "-", "--out", tmp_path / "p.csv"),
        ("evaluate", tmp_path / "m", "-"),
    ):
        answer = CommandRunner().invoke(app, [str(argument) for argument in arguments], input=cells)
        assert answer.exit_code == 0, answer.stderr
    assert len(pd.read_csv(tmp_path / "p.csv")) == cells.count(b"\n") - 1
    told = refused(2, "fit", "-", "--target", "severity")
    assert "--out" in told


def test_weights_count_rows(tmp_path):
    """A row of weight two counts as two rows, in the fit and in errors; zero as none."""
    frame = (
        patients(200).dropna()[["age", "severity"]].assign(times=lambda f: np.arange(len(f)) % 3)
    )
    frame.to_csv(tmp_path / "t.csv", index=False)
    repeated = frame.loc[frame.index.repeat(frame["times"])].drop(columns="times")
    repeated.to_csv(tmp_path / "repeated.csv", index=False)
    found = []
    for name, more in (("t.csv", ("--weight", "times")), ("repeated.csv", ())):
        model = tmp_path / f"{name}.m"
        done(*_fit(tmp_path / name, model, "--no-tune", *more))
        found.append(done("inspect", model, "--json").json["coefficients"]["age"])
    assert found[0] == pytest.approx(found[1], rel=1e-4)
    frame["times"] = -1
    frame.to_csv(tmp_path / "t.csv", index=False)
    fit = _fit(tmp_path / "t.csv", tmp_path / "m", "--weight", "times")
    assert "numbers from zero" in refused(2, *fit)


def test_orders(tmp_path):
    """Known orders are suggested; unknown ones are asked for; slips are mended."""
    fit = ("fit", tmp_path / "t.csv", "--target", "cut", "--out", tmp_path / "m")

    def told(classes, *more):
        frame = pd.DataFrame({"x": np.arange(60.0) ** 1.5, "cut": np.resize(classes, 60)})
        frame.to_csv(tmp_path / "t.csv", index=False)
        return refused(2, *fit, *more)

    cuts = ["Fair", "Ideal", "Premium", "Good", "Very Good"]
    asked = told(cuts)
    assert "perhaps" not in asked
    assert all(repr(cut) in asked for cut in cuts)
    assert "--order poor,fair,good,excellent" in told(["good", "poor", "?", "excellent", "fair"])
    assert f"Did you mean: --order {ORDER}" in told(SEVERITIES, "--order", "Mild,modrate,severe")
    assert "Add them" in told(SEVERITIES, "--order", "mild,severe")


def test_five_ordered_categories_are_not_two_names(tmp_path):
    names = ["a", "b", "c", "d", "e"]
    frame = pd.DataFrame({"x": np.arange(100.0) ** 1.5, "y": np.resize(names, 100)})
    frame["y"] = pd.Categorical(frame["y"], names[::-1], ordered=True)
    frame.to_parquet(tmp_path / "t.parquet")
    fit = ("fit", tmp_path / "t.parquet", "--target", "y", "--out", tmp_path / "m", "--no-tune")
    found = done(*fit, "--json").json
    assert list(found["class_counts"]) == names[::-1]
    assert not any("Two names" in note for note in found["notes"])


def test_two_names_are_ordered_as_everyone_would(tmp_path):
    frame = pd.DataFrame({"x": np.arange(60.0) ** 1.5, "y": np.resize(["high", "low"], 60)})
    frame.to_csv(tmp_path / "t.csv", index=False)
    fit = ("fit", tmp_path / "t.csv", "--target", "y", "--out", tmp_path / "m", "--no-tune")
    assert list(done(*fit, "--json").json["class_counts"]) == ["low", "high"]


def test_excel_in_the_command(hospital, tmp_path):
    pytest.importorskip("openpyxl", reason="of the extra excel")
    frame = pd.read_csv(hospital / "clean.csv")
    frame.to_excel(tmp_path / "t.xlsx", index=False)
    found = done(*_fit(tmp_path / "t.xlsx", tmp_path / "m", "--no-tune"), "--json").json
    assert found["labeled"] == frame["severity"].notna().sum()
    predict = ("predict", tmp_path / "m", tmp_path / "t.xlsx", "--id", "patient", "--out")
    done(*predict, tmp_path / "p.csv")
    assert pd.read_csv(tmp_path / "p.csv")["patient"].tolist() == frame["patient"].tolist()
    (tmp_path / "bad.xlsx").write_bytes(b"PK\x03\x04 and no more")
    assert "no Excel file" in refused(1, *_fit(tmp_path / "bad.xlsx", tmp_path / "n"))
