"""Standard errors on the command line: those of the library, with the names of the columns."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from cli_problems import done, refused
from semiordinal import LinearOrdinalClassifier
from semiordinal.inference import summarize

FIXED = ("--model", "linear", "--no-tune", "--loss", "cl", "--l2", "0", "--unlabeled-weight", "0")


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.normal(50, 10, 300), "dose": rng.integers(0, 9, 300)})
    latent = 0.05 * (frame["age"] - 50) - 0.2 * frame["dose"] + rng.logistic(size=300)
    stage = np.array(["mild", "moderate", "severe"])[np.searchsorted([-1.5, 0.0], latent)]
    frame["stage"] = np.where(np.arange(300) < 250, stage, "")
    frame.to_csv(tmp_path / "table.csv", index=False)
    return tmp_path / "table.csv"


def test_standard_errors_of_a_model_file_are_those_of_the_library(table):
    model = table.with_name("stage.semiordinal")
    target = ("--target", "stage", "--order", "mild,moderate,severe")
    done("fit", table, *target, *FIXED, "--out", model)
    found = done("inspect", model, "--inference", table, "--json").json["inference"]
    rows = pd.read_csv(table)
    X = rows[["age", "dose"]].astype(float)
    order = ["mild", "moderate", "severe"]
    expected = LinearOrdinalClassifier(loss="cl", l2=0, unlabeled_weight=0, classes=order)
    frame = summarize(expected.fit(X, rows["stage"]), X, rows["stage"]).to_frame()
    assert list(found) == list(frame.index)
    for name, line in found.items():
        assert line["estimate"] == pytest.approx(frame.loc[name, "estimate"], rel=1e-4)
        assert line["std_error"] == pytest.approx(frame.loc[name, "std_error"], rel=1e-4)
    shown = done("inspect", model, "--inference", table).out
    assert "std_error" in shown
    assert "mild|moderate" in shown


def test_other_models_and_other_tables_are_refused(table):
    model = table.with_name("stage.semiordinal")
    target = ("--target", "stage", "--order", "mild,moderate,severe")
    done("fit", table, *target, "--model", "linear", "--out", model)
    told = refused(2, "inspect", model, "--inference", table)
    assert "--model linear --no-tune --loss cl --l2 0" in told
    done("fit", table, *target, *FIXED, "--out", model, "--force")
    other = table.with_name("other.csv")
    pd.read_csv(table).head(120).to_csv(other, index=False)
    assert "the model was fitted to" in refused(1, "inspect", model, "--inference", other)
