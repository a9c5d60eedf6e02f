"""Against R's MASS::polr and ordinal::clm, by numbers that tests/r_fixtures/make.R stored."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from semiordinal import LinearOrdinalClassifier
from semiordinal.inference import (
    design_matrices,
    likelihood_ratio_test,
    partial_proportional_odds,
    predict_probabilities,
    proportional_odds_test,
    summarize,
)

pd = pytest.importorskip("pandas")

FOLDER = Path(__file__).parent / "r_fixtures"
R = json.loads((FOLDER / "fixtures.json").read_text())
COEF, ERROR, LIKELIHOOD, STATISTIC = 1e-5, 1e-4, 1e-6, 1e-4


def fitted(data, columns, label, link="logit", weights=None):
    rows = pd.read_csv(FOLDER / f"{data}.csv")
    X, y = rows[columns].astype(float), rows[label]
    sample_weight = None if weights is None else rows[weights]
    model = LinearOrdinalClassifier(loss="cl", link=link, l2=0, tol=1e-10, random_state=0)
    return model.fit(X, y, sample_weight), X, y, sample_weight, rows


@pytest.mark.parametrize(
    "case",
    R["models"],
    ids=lambda c: "-".join([c["data"], c["link"], *c["columns"][:1], c["weights"] or "equal"]),
)
def test_clm(case):
    names = ("data", "columns", "label", "link", "weights")
    model, X, y, weights, _ = fitted(**{name: case[name] for name in names})
    found = summarize(model, X, y, weights, covariance="information")
    np.testing.assert_allclose(found.estimates, case["estimates"], atol=COEF)
    np.testing.assert_allclose(found.std_errors, case["std_errors"], atol=ERROR, rtol=ERROR)
    assert found.log_likelihood == pytest.approx(case["log_likelihood"], abs=LIKELIHOOD)
    if "aic" in case:
        assert found.aic == pytest.approx(case["aic"], abs=10 * LIKELIHOOD)
    if "bic" in case and case["weights"] is None:  # R counts rows, and not their weights
        assert found.bic == pytest.approx(case["bic"], abs=10 * LIKELIHOOD)


def test_polr_with_sandwich_and_groups():
    model, X, y, _, rows = fitted("grades", ["age", "dose", "treated"], "grade")
    case = R["polr"]
    information = summarize(model, X, y, covariance="information")
    np.testing.assert_allclose(information.estimates, case["estimates"], atol=COEF)
    np.testing.assert_allclose(information.std_errors, case["std_errors"], atol=ERROR)
    n, d = len(y), len(information.estimates)
    robust = summarize(model, X, y).std_errors / np.sqrt(n / (n - d))
    np.testing.assert_allclose(robust, case["sandwich"], atol=ERROR)
    groups = rows["group"]
    n_groups = groups.nunique()
    clustered = summarize(model, X, y, groups=groups).std_errors
    clustered /= np.sqrt(n_groups / (n_groups - 1) * (n - 1) / (n - d))
    np.testing.assert_allclose(clustered, case["clustered"], atol=ERROR)


def test_anova_of_nested_models():
    summaries = []
    for columns in (["age"], ["age", "dose", "treated"]):
        model, X, y, _, _ = fitted("grades", columns, "grade")
        summaries.append(summarize(model, X, y))
    found = likelihood_ratio_test(*summaries)
    case = R["nested"]
    assert found.statistic == pytest.approx(case["statistic"], abs=STATISTIC)
    assert (found.df, found.p_value) == (case["df"], pytest.approx(case["p_value"], rel=1e-4))
    assert "without dose, treated is enough" in str(found)


@pytest.mark.parametrize("case", R["nominal"], ids=lambda c: f"{c['data']}-{c['link']}")
def test_nominal_tests(case):
    model, X, y, _, _ = fitted(*(case[name] for name in ("data", "columns", "label", "link")))
    found = proportional_odds_test(model, X, y, method="likelihood_ratio")
    statistics = [test.statistic for test in found.columns.values()]
    np.testing.assert_allclose(statistics, case["statistic"], atol=STATISTIC)
    assert found.whole.statistic == pytest.approx(case["whole_statistic"], abs=STATISTIC)
    assert found.method == "likelihood_ratio"


def test_predicted_probabilities():
    model, X, y, _, _ = fitted("grades", ["age", "dose", "treated"], "grade")
    summary = summarize(model, X, y, covariance="information")
    found, case = predict_probabilities(summary, X[:5]), R["predicted"]
    np.testing.assert_allclose(found.probabilities, case["fit"], atol=COEF)
    np.testing.assert_allclose(found.std_errors, case["se"], atol=ERROR)
    np.testing.assert_allclose(found.lower, case["lower"], atol=ERROR)
    np.testing.assert_allclose(found.upper, case["upper"], atol=ERROR)


def test_partial_proportional_odds():
    model, X, y, _, _ = fitted("ratings", ["temp", "contact"], "rating")
    found = partial_proportional_odds(model, X, y, ["contact"], covariance="information")
    case = R["partial"]
    thresholds, slopes = np.split(np.array(case["alpha"]), 2)
    # R adds slopes by threshold to the thresholds; we take them away.
    expected = np.r_[case["beta"], -slopes, thresholds]
    np.testing.assert_allclose(found.estimates, expected, atol=COEF)
    errors = np.array(case["std_errors"])
    np.testing.assert_allclose(
        found.std_errors, np.r_[errors[0], errors[5:], errors[1:5]], atol=ERROR
    )
    assert found.log_likelihood == pytest.approx(case["log_likelihood"], abs=LIKELIHOOD)
    assert found.test.statistic == pytest.approx(R["nominal"][1]["statistic"][1], abs=STATISTIC)
    assert found.names[:3] == ["temp", "contact at 1|2", "contact at 2|3"]


@pytest.mark.parametrize("distribution", ["logit", "probit"])
def test_statsmodels(distribution):
    module = pytest.importorskip("statsmodels.miscmodels.ordinal_model")
    model, X, y, _, _ = fitted("grades", ["age", "dose", "treated"], "grade", distribution)
    case = next(c for c in R["models"] if (c["data"], c["link"]) == ("grades", distribution))
    # Its optimiser wants columns near one, and starts from our estimates.
    scale = np.array([10.0, 1.0, 1.0])
    ordered = module.OrderedModel(y.to_numpy(), X.to_numpy() / scale, distr=distribution)
    gaps = np.r_[model.thresholds_[0], np.log(np.diff(model.thresholds_))]
    start = np.r_[model.coef_ * scale, gaps]
    result = ordered.fit(method="bfgs", disp=False, start_params=start, gtol=1e-8)
    np.testing.assert_allclose(result.params[:3] / scale, model.coef_, atol=COEF)
    found = summarize(model, X, y, covariance="information")
    np.testing.assert_allclose(result.bse[:3] / scale, found.std_errors[:3], rtol=1e-3)
    assert found.log_likelihood == pytest.approx(result.llf, abs=LIKELIHOOD)
    assert case["log_likelihood"] == pytest.approx(result.llf, abs=LIKELIHOOD)


def test_formulas_name_the_same_columns():
    pytest.importorskip("formulaic")
    rows = pd.read_csv(FOLDER / "grades.csv")
    rows = rows.assign(arm=np.where(rows["treated"] == 1, "treated", "control"))
    by_formula, labels = design_matrices("grade ~ age + dose + C(arm)", rows)
    assert list(by_formula.columns) == ["age", "dose", "C(arm)[T.treated]"]
    other = LinearOrdinalClassifier(loss="cl", l2=0, tol=1e-10).fit(by_formula, labels)
    np.testing.assert_allclose(
        summarize(other, by_formula, labels, covariance="information").estimates,
        R["polr"]["estimates"],
        atol=COEF,
    )


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("grade", "label ~ terms"),
        ("nothing ~ age", "one of the columns of data: "),
        ("grade ~ age - 1", "leaves the intercept out"),
        ("grade ~ gap", "missing cells: gap"),
    ],
)
def test_bad_formulas_are_refused(formula, message):
    pytest.importorskip("formulaic")
    rows = pd.read_csv(FOLDER / "grades.csv").assign(gap=np.nan)
    with pytest.raises(ValueError, match=message):
        design_matrices(formula, rows)
