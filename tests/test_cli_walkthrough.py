"""The command line from a table to predictions, on real files; what it writes is checked."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from cli_problems import (
    ORDER,
    SEVERITIES,
    done,
    needs_data,
    patients,
    refused,
    semiordinal,
    wine,
    with_few_labels,
)
from semiordinal import __version__
from semiordinal.cli import app
from semiordinal.model_files import load, read


def mae(truth, predicted, classes):
    position = {label: i for i, label in enumerate(classes)}
    return np.mean([abs(position[a] - position[b]) for a, b in zip(truth, predicted, strict=True)])


@needs_data
@pytest.mark.slow
def test_wine(tmp_path):
    truth = wine(tmp_path / "wine.csv")
    truth.to_csv(tmp_path / "truth.csv", index=False)
    model = tmp_path / "wine.semiordinal"
    blanked = pd.read_csv(tmp_path / "wine.csv")["y"]
    n_labeled = int(blanked.notna().sum())
    assert 0.08 < n_labeled / len(truth) < 0.12

    fitted = done("fit", tmp_path / "wine.csv", "--target", "y", "--out", model, "--json").json
    assert (fitted["labeled"], fitted["unlabeled"]) == (n_labeled, len(truth) - n_labeled)
    assert fitted["class_counts"] == {
        str(int(label)): count for label, count in blanked.value_counts().sort_index().items()
    }
    assert fitted["features"]["numbers"] == list(truth.columns[:-1])
    scores = fitted["cross_validation"]["scores"]
    for method in ("linear", "auto"):
        assert 0.3 < scores[method]["MAE"] < 0.6
        assert scores[method]["MZE"] <= scores[method]["MAE"] <= scores[method]["MSE"]
        assert 0.3 < scores[method]["QWK"] < 0.8

    out = tmp_path / "predictions.csv"
    told = done(
        "predict",
        model,
        tmp_path / "truth.csv",
        "--out",
        out,
        "--id",
        "alcohol",
        "--proba",
        "--json",
    ).json
    written = pd.read_csv(out)
    assert list(written.columns[:2]) == ["alcohol", "prediction"]
    np.testing.assert_allclose(written["alcohol"], truth["alcohol"])
    np.testing.assert_allclose(written.iloc[:, 2:].sum(axis=1), 1.0)
    assert told["rows"] == len(written) == len(truth)
    counts = written["prediction"].value_counts()
    assert {k: v for k, v in told["counts"].items() if v} == {str(k): v for k, v in counts.items()}

    found = done("evaluate", model, tmp_path / "truth.csv", "--target", "y", "--json").json
    expected = mae(truth["y"], written["prediction"], range(1, 7))
    assert found["scores"]["MAE"] == pytest.approx(expected)
    assert expected < 0.5, "always guessing the middle class errs by more"
    assert np.sum(found["confusion"]) == len(truth)

    arguments = ("fit", tmp_path / "wine.csv", "--target", "y", "--model", "linear")
    done(*arguments, "--out", model, "--force")
    done("predict", model, tmp_path / "truth.csv", "--out", out, "--force")
    written = pd.read_csv(out)
    inspected = done("inspect", model, "--json").json
    coefficients = inspected["coefficients"]
    assert list(coefficients) == list(truth.columns[:-1])
    latent = truth.iloc[:, :-1].to_numpy() @ list(coefficients.values())
    by_hand = np.searchsorted(inspected["thresholds"], latent) + 1
    np.testing.assert_array_equal(by_hand, written["prediction"])


@needs_data
@pytest.mark.slow
def test_compare_on_wine(tmp_path):
    wine(tmp_path / "wine.csv")
    arguments = ("compare", tmp_path / "wine.csv", "--target", "y", "--repeats", "6")
    found = done(*arguments, "--methods", "SV,SEMI-median,TOR,multinomial", "--json").json
    rows = {row["method"]: row for row in found["methods"]}
    assert set(rows) == {"SV", "SEMI-median", "TOR", "multinomial"}
    means = [row["MAE"]["mean"] for row in found["methods"]]
    assert means == sorted(means)
    assert all(0.3 < mean < 0.6 for mean in means)
    for name in ("SEMI-median", "TOR", "multinomial"):
        assert rows[name]["against"] == "SV"
        assert 0 < rows[name]["p_value"] <= 1
        assert rows[name]["better"] + rows[name]["worse"] <= 6
    assert "p_value" not in rows["SV"]
    shown = done(*arguments, "--methods", "SEMI1,SV").out
    assert "SEMI1" in shown
    assert "Wilcoxon" in shown
    assert "take p as a guide" in shown


@pytest.mark.usefixtures("few_folds")
def test_a_table_of_mixed_types(tmp_path):
    truth = patients()
    few = with_few_labels(truth)
    few.to_csv(tmp_path / "few.csv", index=False)
    later = patients(200, seed=5)
    later.to_csv(tmp_path / "later.csv", index=False)
    model = tmp_path / "patients.semiordinal"
    arguments = ("fit", tmp_path / "few.csv", "--target", "severity", "--order", ORDER)
    arguments += ("--model", "linear")

    fitted = done(*arguments, "--out", model, "--json").json
    assert fitted["features"] == {
        "numbers": ["age"],
        "dates": ["visit", "born"],
        "ordered": [],
        "categories": ["city", "smoker", "ward"],
    }
    assert "id" in fitted["dropped"]["patient"]
    assert any("day first: born" in note for note in fitted["notes"])
    assert "never changes" in fitted["dropped"]["site"]
    assert any("visit" in note for note in fitted["notes"])
    assert fitted["class_counts"] == few["severity"].value_counts()[SEVERITIES].to_dict()
    assert sum(fitted["class_prior"].values()) == pytest.approx(1)

    out = tmp_path / "predictions.csv"
    done("predict", model, tmp_path / "later.csv", "--out", out, "--id", "patient")
    written = pd.read_csv(out)
    assert written["patient"].tolist() == later["patient"].tolist()
    error = mae(later["severity"], written["prediction"], SEVERITIES)
    assert error < 0.3
    found = done("evaluate", model, tmp_path / "later.csv", "--json").json
    assert found["scores"]["MAE"] == pytest.approx(error)

    inspected = done("inspect", model, "--json").json
    coefficients = inspected["coefficients"]
    assert coefficients["age"] > 0
    assert coefficients["visit"] > 0
    assert coefficients["city = York"] > coefficients["city = Leeds"] > coefficients["city = Hull"]
    # A day and a year of age were made to count 0.002 and 0.1.
    assert coefficients["age"] / coefficients["visit"] == pytest.approx(50, rel=0.5)
    assert {"ward = 01", "ward = 1"} <= set(coefficients), "01 is not the number 1"
    assert inspected["manifest"]["data"]["rows"] == len(few)
    assert inspected["classes"] == SEVERITIES

    found = done(
        "compare",
        tmp_path / "few.csv",
        *("--target", "severity", "--order", ORDER, "--repeats", "3"),
        *("--methods", "SV,SEMI2,SSMOR,label-spreading", "--json"),
    ).json
    assert [row["method"] for row in found["methods"]][-1] in ("SSMOR", "label-spreading")
    assert len(found["methods"]) == 4


@pytest.mark.usefixtures("few_folds")
def test_the_text_output_says_what_matters(tmp_path):
    with_few_labels(patients()).to_csv(tmp_path / "few.csv", index=False)
    model = tmp_path / "few.semiordinal"
    fit = ("fit", tmp_path / "few.csv", "--target", "severity", "--order", ORDER, "--out", model)
    told = done(*fit).out
    for text in (
        "Model: an average of",
        "On labelled rows that were held out, the model is",
        "Always predicting the median class (moderate) would give",
        "Of 100 rows like these,",
        "exactly right",
        "compared with its linear model alone",
        f"Model file: {model}",
    ):
        assert text in told, text
    for word in ("SV", "l2", "prior", "risk", "threshold", "MZE"):
        assert word not in told.split("Model file")[0], word
    told = done("inspect", model).out
    assert "AutoOrdinalClassifier" in told
    assert "An average of" in told
    told = done(*fit, "--force", "--model", "linear", "--details").out
    for text in (
        "unlabelled rows, target 'severity'",
        "moderate",
        "Left out: patient (",
        "Chosen from the data",
        "penalty, l2",
        "share of the thresholds that class priors set",
        "Why: The risk is that of the labelled rows",
        "SV-CV, the same kind of model without the unlabelled rows",
        "tuned, the model that is saved",
        "QWK",
        "compared with the same kind of model without the unlabelled rows",
        "days since 1970",
        f"Model file: {model}",
    ):
        assert text in told, text
    told = done("inspect", model).out
    for text in ("sha256", "city = York", "threshold", "date, in days", "scikit-learn", "Why: "):
        assert text in told, text
    told = done(*fit, "--force", "--no-tune", "--details").out
    for text in (
        "l2=0.01, unlabeled_weight=0.25, removed_class=median",
        "SV, the same model without the unlabelled rows",
        "SEMI, the model that is saved",
        "compared with the same model without the unlabelled rows",
    ):
        assert text in told, text
    assert "Chosen from the data" not in told
    told = done("evaluate", model, tmp_path / "few.csv").out
    assert "without, ignored" in told


@pytest.mark.usefixtures("few_folds")
def test_parquet_in_and_out(tmp_path):
    truth = patients()
    truth["visit"] = pd.to_datetime(truth["visit"])
    truth["smoker"] = truth["smoker"] == "true"
    truth["patient"] = np.arange(10**17, 10**17 + len(truth))
    few = with_few_labels(truth).assign(scans=[[1, 2]] * len(truth))
    few["severity"] = pd.Categorical(few["severity"], SEVERITIES, ordered=True)
    few.to_parquet(tmp_path / "few.parquet")
    truth.to_parquet(tmp_path / "truth.parquet")
    model = tmp_path / "patients.semiordinal"
    # An ordered categorical brings its order along.
    asked = ("fit", tmp_path / "few.parquet", "--target", "severity", "--model", "linear")
    fitted = done(*asked, "--out", model, "--json")
    assert fitted.json["features"]["dates"] == ["visit", "born"]
    assert fitted.json["features"]["categories"] == ["city", "smoker", "ward"]
    assert "lists" in fitted.json["dropped"]["scans"]
    assert "counts the rows" in fitted.json["dropped"]["patient"]
    out = tmp_path / "predictions.parquet"
    arguments = ("predict", model, tmp_path / "truth.parquet", "--out", out, "--id", "patient")
    done(*arguments, "--proba")
    written = pd.read_parquet(out)
    assert written["patient"].tolist() == truth["patient"].tolist()
    assert mae(truth["severity"], written["prediction"], SEVERITIES) < 0.3
    probabilities = written[[f"probability_{name}" for name in SEVERITIES]].to_numpy()
    expected = load(model).predict_proba(truth)
    np.testing.assert_allclose(probabilities, expected)
    found = done("evaluate", model, tmp_path / "truth.parquet", "--json").json
    assert found["rows"] == len(truth)


@pytest.mark.usefixtures("few_folds")
def test_batches_change_no_prediction(tmp_path, monkeypatch):
    """Cells that look like numbers in one batch and like texts in another are read alike."""
    truth = patients(300)
    with_few_labels(truth).to_csv(tmp_path / "few.csv", index=False)
    model = tmp_path / "few.semiordinal"
    asked = ("fit", tmp_path / "few.csv", "--target", "severity", "--order", ORDER)
    done(*asked, "--no-tune", "--out", model)
    rows = truth.sort_values("ward")
    rows.to_csv(tmp_path / "rows.csv", index=False)
    rows.to_parquet(tmp_path / "rows.parquet")
    whole = load(model).predict(pd.read_csv(tmp_path / "rows.csv", dtype=str))
    monkeypatch.setattr("semiordinal._tables.reading._BATCH_ROWS", 7)
    for name in ("rows.csv", "rows.parquet"):
        out = tmp_path / f"of-{name}"
        done("predict", model, tmp_path / name, "--out", out, "--json")
        read_back = pd.read_csv if name.endswith("csv") else pd.read_parquet
        assert read_back(out)["prediction"].tolist() == whole.tolist()


@pytest.mark.usefixtures("few_folds")
@pytest.mark.parametrize("model", ["linear", "kernel"])
@pytest.mark.parametrize("loss", ["at", "it", "ls"])
def test_every_model_and_loss(tmp_path, model, loss):
    with_few_labels(patients()).to_csv(tmp_path / "few.csv", index=False)
    path = tmp_path / "few.semiordinal"
    fitted = done(
        *("fit", tmp_path / "few.csv", "--target", "severity", "--order", ORDER, "--out", path),
        *("--model", model, "--loss", loss, "--json"),
    ).json
    assert fitted["cross_validation"]["scores"]["tuned"]["MAE"] < 0.4
    metric = {"at": "MAE", "it": "MZE", "ls": "MSE"}[loss]
    assert fitted["cross_validation"]["change"]["metric"] == metric
    assert fitted["chosen"]["gain"]["metric"] == metric
    inspected = done("inspect", path, "--json").json
    assert inspected["parameters"]["loss"] == loss
    assert inspected["chosen"] == fitted["chosen"] == read(path).manifest["chosen"]
    assert ("n_centers" in inspected) == (model == "kernel")
    assert (fitted["chosen"]["bandwidth"] is not None) == (model == "kernel")
    assert done("inspect", path).out


@pytest.mark.usefixtures("few_folds")
def test_settings_reach_the_model(tmp_path):
    with_few_labels(patients()).to_csv(tmp_path / "few.csv", index=False)
    path = tmp_path / "few.semiordinal"
    done(
        *("fit", tmp_path / "few.csv", "--target", "severity", "--order", ORDER, "--out", path),
        *("--unlabeled-weight", "0.5", "--removed-class", "mild", "--l2", "0.1"),
        *(
            "--class-prior",
            "0.2,0.5,0.3",
            "--margin",
            "squared",
            "--drop",
            "ward",
            "--keep",
            "site",
        ),
    )
    file = read(path)
    final = file.model[-1]
    assert type(final).__name__ == "LinearOrdinalClassifier"
    assert file.manifest["chosen"] is None
    assert (final.unlabeled_weight, final.removed_class_, final.l2) == (0.5, "mild", 0.1)
    np.testing.assert_allclose(final.class_prior_, [0.2, 0.5, 0.3])
    assert final.margin == "squared"
    assert file.manifest["dropped"]["ward"] == "as requested"
    assert "site" in file.manifest["features"]["categories"]


@pytest.mark.slow
def test_the_command_itself(tmp_path):
    """In a process of its own: exit codes, output when piped, errors on standard error."""
    data, model = tmp_path / "few.csv", tmp_path / "few.semiordinal"
    with_few_labels(patients(150)).to_csv(data, index=False)

    def run(*arguments):
        command = [sys.executable, "-W", "error", "-m", "semiordinal.cli", *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    fit = ("fit", data, "--target", "severity", "--order", ORDER, "--out", model)
    assert semiordinal("fit", data).exit_code == 2, "no --target"
    fitted = run(*fit, "--no-tune", "--json")
    assert (fitted.returncode, fitted.stderr) == (0, "")
    assert json.loads(fitted.stdout)["model_file"] == str(model)
    shown = run("inspect", model)
    assert shown.returncode == 0
    assert "\x1b" not in shown.stdout, "no colours where piped"
    model.write_bytes(b"\x80\x04K\x01.")
    broken = run("inspect", model)
    assert broken.returncode == 1
    assert "pickle" in broken.stderr
    assert "Traceback" not in broken.stderr


@pytest.mark.parametrize("name", [command.name for command in app.registered_commands])
def test_help_has_examples(name):
    told = semiordinal(name, "--help")
    assert told.exit_code == 0
    assert f"semiordinal {name}" in told.out.split("Examples:")[1]


def test_the_first_run_of_the_documentation(tmp_path, monkeypatch):
    page = Path(__file__).parent.parent / "docs" / "command-line.md"
    block = page.read_text().split("## A first run")[1].split("```sh\n")[1].split("```")[0]
    monkeypatch.chdir(tmp_path)
    for line in block.splitlines():
        program, *arguments = shlex.split(line, comments=True)
        assert program == "semiordinal"
        done(*arguments)
    assert len(pd.read_csv("predictions.csv")) == 442


def test_version():
    assert done("--version").out.strip() == __version__


@pytest.mark.usefixtures("few_folds")
def test_datasets(tmp_path):
    assert "diabetes-stages" in done("datasets", "--json").json["datasets"]
    assert "diabetes-stages" in done("datasets").out
    for name in ("diabetes.csv", "diabetes.parquet"):
        path = tmp_path / name
        done("datasets", "diabetes-stages", "--labels", "40", "--out", path)
        fitted = done(
            *("fit", path, "--target", "target", "--no-tune"),
            *("--out", tmp_path / "m", "--json", "--force"),
        )
        assert fitted.json["labeled"] == 40
        assert len(fitted.json["features"]["numbers"]) == 10


@pytest.mark.slow
def test_quickstart(tmp_path, monkeypatch):
    """As the Makefile runs it, a second time too, but for the number of draws."""
    monkeypatch.chdir(tmp_path)
    makefile = (Path(__file__).parents[1] / "Makefile").read_text()
    line = next(line for line in makefile.splitlines() if "/semiordinal quickstart" in line)
    words = shlex.split(line)[1:]
    told = done(*words, "--draws", "2").out
    assert Path("quickstart.png").read_bytes().startswith(b"\x89PNG")
    assert [path.name for path in tmp_path.iterdir()] == ["quickstart.png"]
    found = done(*words, "--draws", "2", "--json").json
    assert list(found["methods"]) == ["constant", "forest", "SV-CV", "tuned", "auto"]
    for name, row in found["methods"].items():
        assert name == "constant" or 0.6 < row["MAE"]["mean"] < 1.2
        assert name == "constant" or 0.3 < row["QWK"]["mean"] < 0.9
        assert f"{row['MAE']['mean']:.3f} ±{row['MAE']['standard_error']:.3f}" in told
    lower, higher = (found[key]["forest"] for key in ("lower_mae", "higher_mae"))
    assert 0 <= lower + higher <= 2
    shown = " ".join(told.split())
    assert f"the random forest on the labelled rows in {lower}, a higher one in {higher}." in shown
    words.remove("--force")
    assert "exists already" in refused(2, *words)


def test_models_saved_from_python_predict_on_tables(tmp_path):
    from semiordinal import LinearOrdinalClassifier
    from semiordinal.model_files import save

    rows = pd.DataFrame({"a": [0.0, 1.0, 2.0, 3.0], "b": [1.0, 0.0, 1.0, 0.0]})
    model = LinearOrdinalClassifier().fit(rows, [1, None, 2, 3])
    save(model, tmp_path / "m.semiordinal")
    rows.assign(grade=[1, 2, 2, 3]).to_csv(tmp_path / "rows.csv", index=False)
    done("predict", tmp_path / "m.semiordinal", tmp_path / "rows.csv", "--out", tmp_path / "p.csv")
    assert pd.read_csv(tmp_path / "p.csv")["prediction"].tolist() == model.predict(rows).tolist()
    assert list(done("inspect", tmp_path / "m.semiordinal", "--json").json["coefficients"]) == [
        "a",
        "b",
    ]
    assert done("inspect", tmp_path / "m.semiordinal").out
