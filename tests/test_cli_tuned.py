"""``fit`` with settings chosen from the data: what is chosen, judged and written."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from cli_problems import ORDER, done, patients, semiordinal, with_few_labels
from semiordinal import KernelOrdinalClassifierCV, LinearOrdinalClassifierCV
from semiordinal.baselines import get_method
from semiordinal.datasets import load_diabetes_stages, mask_labels
from semiordinal.model_files import load, read
from semiordinal.model_selection import LabeledKFold

TUNED = {"linear": LinearOrdinalClassifierCV, "kernel": KernelOrdinalClassifierCV}


@pytest.fixture
def diabetes(tmp_path):
    """Rows, labels with gaps, and the table of both."""
    X, stages = load_diabetes_stages()
    y = mask_labels(stages, 40, random_state=0)
    table = pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])])
    table.assign(stage=pd.array(y, dtype="Float64").astype("Int64")).to_csv(
        tmp_path / "diabetes.csv", index=False
    )
    return X, y, tmp_path / "diabetes.csv"


def fit(table, model, *options):
    return ("fit", table, "--target", "stage", "--out", model, "--json", *options)


@pytest.mark.parametrize(
    ("model", "option", "prior"),
    [
        ("linear", "labels", "labels"),
        ("linear", "estimate", "estimate"),
        ("kernel", "0.2,0.2,0.2,0.2,0.2", "uniform"),
    ],
    ids=["labels", "estimated", "known"],
)
def test_the_tuned_classifier_is_what_users_get(diabetes, tmp_path, model, option, prior):
    """As fitted in Python, through the file and back; errors as of the methods by name."""
    X, y, table = diabetes
    path = tmp_path / "m.semiordinal"
    told = done(*fit(table, path, "--model", model, "--class-prior", option)).json
    expected = TUNED[model](class_prior=prior, random_state=0).fit(X, y)
    rows = pd.read_csv(table)
    loaded = load(path)
    np.testing.assert_array_equal(loaded.predict(rows), expected.predict(X))
    np.testing.assert_allclose(loaded[-1].thresholds_, expected.thresholds_, rtol=1e-5)
    assert loaded[-1].reason_ == expected.reason_ == told["chosen"]["reason"]
    assert told["chosen"]["l2"] == expected.l2_
    assert told["chosen"]["unlabeled_weight"] == expected.unlabeled_weight_
    assert told["chosen"]["prior_share"] == pytest.approx(expected.prior_share_, rel=1e-5)
    gain = told["chosen"]["gain"]
    assert gain["mean"] == pytest.approx(expected.gain_)
    assert gain["standard_error"] == pytest.approx(expected.gain_se_)

    splits = list(LabeledKFold(10, shuffle=True, random_state=0).split(X, y))
    validation = told["cross_validation"]
    errors = {}
    for name in ("SV-CV", "tuned"):
        method = get_method(name).build(
            model=model, class_prior=prior, random_state=0, classes=[1, 2, 3, 4, 5]
        )
        predicted = [method.fit(X[train], y[train]).predict(X[test]) for train, test in splits]
        truth = np.concatenate([y[test] for _, test in splits])
        errors[name] = np.abs(np.concatenate(predicted) - truth)
        # By the shares of the population, unless these are the labels'.
        means = [errors[name][truth == label].mean() for label in (1, 2, 3, 4, 5)]
        counts = np.bincount(truth.astype(int))[1:]
        shares = counts / counts.sum() if prior == "labels" else expected.class_prior_
        assert validation["scores"][name]["MAE"] == pytest.approx(shares @ means)
    change = errors["tuned"] - errors["SV-CV"]
    weights = (shares / counts)[truth.astype(int) - 1]
    mean = weights @ change
    found = validation["change"]
    assert found["held_out"]["mean"] == pytest.approx(mean)
    n = len(change)
    standard_error = np.sqrt(weights**2 @ (change - mean) ** 2 * n / (n - 1))
    assert found["held_out"]["standard_error"] == pytest.approx(standard_error)
    if prior == "labels":
        assert found["expected"] is None
        assert found["mean"] == pytest.approx(mean)
        return
    # Class shares count by the probabilities of the unlabelled rows too.
    unlabeled = X[np.isnan(y)]
    alone = get_method("SV-CV").build(model=model, random_state=0, classes=[1, 2, 3, 4, 5])
    distances = [
        np.abs(fitted.predict(unlabeled)[:, None] - np.arange(1, 6))
        for fitted in (expected, alone.fit(X, y))
    ]
    probabilities = expected.predict_proba(unlabeled)
    by_row = (probabilities * (distances[0] - distances[1])).sum(axis=1)
    expected = found["expected"]["mean"]
    assert expected == pytest.approx(by_row.mean(), abs=0.01)
    low, high = sorted([expected, mean])
    assert low <= found["mean"] <= high
    assert found["standard_error"] < standard_error


@pytest.mark.usefixtures("few_folds")
@pytest.mark.parametrize(
    "given",
    [
        ("--no-tune",),
        ("--l2", "0.01"),
        ("--unlabeled-weight", "0.25"),
        ("--removed-class", "median"),
    ],
    ids=lambda given: given[0],
)
def test_any_setting_given_fixes_all(diabetes, tmp_path, given):
    _, _, table = diabetes
    path = tmp_path / "m.semiordinal"
    told = done(*fit(table, path, *given)).json
    final = read(path).model[-1]
    assert type(final).__name__ == "LinearOrdinalClassifier"
    assert (final.l2, final.unlabeled_weight, final.removed_class) == (0.01, 0.25, "median")
    assert told["chosen"] is None
    assert list(told["cross_validation"]["scores"]) == ["SEMI", "SV", "constant"]


@pytest.mark.usefixtures("few_folds")
def test_a_prior_that_labels_contradict_is_told(diabetes, tmp_path):
    _, _, table = diabetes
    arguments = fit(table, tmp_path / "m", "--class-prior", "0.92,0.02,0.02,0.02,0.02")
    told = done(*(item for item in arguments if item != "--json")).out
    told = " ".join(told.split())
    assert "The class shares given are in doubt" in told
    assert "92% was given" in told
    assert "clearly worse" not in told


def test_help_states_the_rule():
    told = " ".join(semiordinal("fit", "--help").out.replace("│", " ").split())
    assert "chosen from the data unless you give --l2, --unlabeled-weight" in told
    assert "auto, linear, kernel, trees or network" in told


@pytest.mark.usefixtures("few_folds")
@pytest.mark.parametrize("margin", ["squared", "exponential"])
def test_margins_are_tuned_too(diabetes, tmp_path, margin):
    _, _, table = diabetes
    told = done(*fit(table, tmp_path / "m", "--margin", margin)).json
    assert load(tmp_path / "m")[-1].margin == margin
    assert told["cross_validation"]["scores"]["tuned"]["MAE"] < 1.3


def test_compare_runs_a_short_list_and_all_where_asked(tmp_path):
    with_few_labels(patients(120)).to_csv(tmp_path / "few.csv", index=False)
    arguments = ("compare", tmp_path / "few.csv", "--target", "severity", "--order", ORDER)
    found = done(*arguments, "--repeats", "2", "--json").json["methods"]
    rows = {row["method"]: row for row in found}
    assert set(rows) == {
        *("auto", "tuned", "SV-CV", "SV-prior-CV"),
        *("forest", "boosting", "constant"),
    }
    assert {row["against"] for name, row in rows.items() if name != "SV-CV"} == {"SV-CV"}
    found = done(*arguments, "--repeats", "2", "--methods", "all", "--json").json
    assert {"multinomial", "SSMOR", *rows} < {row["method"] for row in found["methods"]}
