"""Standard errors against the definition in loops, other packages' numbers, and simulation."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from semiordinal import ClassPriorWarning, LinearOrdinalClassifier, LinearOrdinalClassifierCV
from semiordinal._risk.losses import get_loss
from semiordinal.inference import summarize
from semiordinal.theory import (
    gradient_moments,
    risk_hessian,
    risk_variance,
    supervised_weights,
)

PRIOR = np.array([0.3, 0.4, 0.3])


def make_rows(n=200, n_labeled=200, seed=0, p=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * np.array([1.0, 3.0, 0.5])[:p] + np.array([0.0, 2.0, 9.0])[:p]
    latent = X[:, 0] - 0.2 * X[:, 1] + rng.logistic(size=n)
    y = np.searchsorted([-1.2, 0.6], latent).astype(float)
    y[n_labeled:] = np.nan
    return X, y


def fit(X, y, sample_weight=None, X_unlabeled=None, **settings):
    model = LinearOrdinalClassifier(**{"loss": "cl", "l2": 0.0, **settings})
    return model.fit(X, y, sample_weight, X_unlabeled)


def row_losses(model, X, parameters):
    """ψ of every row and class, at given coefficients and thresholds."""
    coef, thresholds = np.split(parameters, [X.shape[1]])
    return get_loss(model.loss).values(thresholds - (X @ coef)[:, None])


def naive_sandwich(model, X, y, weights=None, groups=None, known=False):
    """The definition: differences for derivatives, loops over rows, classes and groups."""
    weights = np.ones(len(X)) if weights is None else weights
    at = np.concatenate([model.coef_, model.thresholds_])
    d, k = len(at), int(np.flatnonzero(model.classes_ == model.removed_class_)[0])
    labeled = ~np.isnan(y)
    codes = np.where(labeled, y, -1).astype(int)
    totals = np.array([weights[codes == c].sum() for c in range(3)])
    gamma = model.unlabeled_weight if not labeled.all() else 0.0

    def parts(parameters):
        """What each row adds: by rows alike, by class shares, as unlabelled."""
        psi = row_losses(model, X, parameters)
        alike, share, unlabeled = np.zeros((3, len(X)))
        for j, code in enumerate(codes):
            if code < 0:
                unlabeled[j] = gamma * weights[j] * psi[j, k] / weights[~labeled].sum()
                continue
            alike[j] = (1 - gamma) * weights[j] * psi[j, code] / weights[labeled].sum()
            if code != k:
                by = model.class_prior_[code] / totals[code]
                share[j] = gamma * weights[j] * by * (psi[j, code] - psi[j, k])
        return np.stack([alike, share, unlabeled])

    step = 1e-5
    shifts = np.eye(d) * step
    gradients = np.stack([(parts(at + s) - parts(at - s)) / (2 * step) for s in shifts], axis=-1)
    hessian = np.empty((d, d))
    for a in range(d):
        for b in range(d):
            corners = [
                sign_a
                * sign_b
                * parts(at + sign_a * shifts[a] * 10 + sign_b * shifts[b] * 10).sum()
                for sign_a in (1, -1)
                for sign_b in (1, -1)
            ]
            hessian[a, b] = sum(corners) / (4 * (10 * step) ** 2)
    mean = np.average(X, axis=0, weights=weights)
    scale = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=weights))
    hessian[: len(scale), : len(scale)] += model.l2 * np.diag(scale**2)
    alike, share, unlabeled = gradients
    if not known:
        alike, share = alike + share, 0 * share
    scores = np.zeros((len(X), d))
    for j, code in enumerate(codes):
        if code < 0:
            scores[j] = unlabeled[j] - weights[j] * unlabeled.sum(0) / weights[~labeled].sum()
        else:
            of_class = codes == code
            scores[j] = alike[j] - weights[j] * alike.sum(0) / weights[labeled].sum()
            scores[j] += share[j] - weights[j] * share[of_class].sum(0) / totals[code]
    n = labeled.sum()
    if groups is None:
        factor = n / (n - d)
    else:
        used = np.unique(groups if gamma else groups[labeled])
        scores = np.stack([scores[groups == g].sum(axis=0) for g in used])
        factor = len(used) / (len(used) - 1) * (n - 1) / (n - d)
    inverse = np.linalg.inv(hessian)
    return factor * inverse @ (scores.T @ scores) @ inverse


@pytest.mark.parametrize("loss", ["cl", "at"])
@pytest.mark.parametrize("gamma", [0.0, 0.4])
@pytest.mark.parametrize("prior", ["labels", PRIOR], ids=["counted", "known"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("grouped", [False, True])
def test_sandwich_is_the_definition(loss, gamma, prior, weighted, grouped):
    X, y = make_rows(60, 40)
    rng = np.random.default_rng(1)
    weights = rng.uniform(0.5, 2, size=60) if weighted else None
    groups = rng.integers(0, 20, size=60) if grouped else None
    model = fit(X, y, weights, loss=loss, l2=0.1, unlabeled_weight=gamma, class_prior=prior)
    found = summarize(model, X, y, weights, groups=groups).covariance
    known = not isinstance(prior, str)
    expected = naive_sandwich(model, X, y, weights, groups, known)
    np.testing.assert_allclose(found, expected, rtol=2e-4, atol=1e-6 * np.abs(expected).max())


def test_shares_centre_within_classes_where_the_supervised_part_goes_by_them():
    """With every class by its known share, the variance is that of means within classes."""
    X, y = make_rows(300, 300)
    model = fit(X, y, supervised_weights="prior", class_prior=PRIOR)
    summary = summarize(model, X, y)
    at = np.concatenate([model.coef_, model.thresholds_])
    step = 1e-5 * np.eye(4)
    psi = [
        (row_losses(model, X, at + s) - row_losses(model, X, at - s))[np.arange(300), y.astype(int)]
        for s in step
    ]
    gradients = np.stack(psi, axis=1) / 2e-5
    middle = np.zeros((4, 4))
    for code in range(3):
        of_class = gradients[y == code]
        middle += PRIOR[code] ** 2 * np.cov(of_class.T, bias=True) / len(of_class)
    again = naive_hessian_free(model, X, y, middle)
    np.testing.assert_allclose(summary.covariance, again * 300 / 296, rtol=1e-3)
    assert not summary.is_maximum_likelihood
    assert summary.aic is None


def naive_hessian_free(model, X, y, middle):
    """The sandwich with a Hessian by differences of the class-weighted mean gradient."""
    at = np.concatenate([model.coef_, model.thresholds_])
    codes = y.astype(int)
    by_row = PRIOR[codes] / np.bincount(codes)[codes]

    def risk(parameters):
        return by_row @ row_losses(model, X, parameters)[np.arange(len(X)), codes]

    d, h = len(at), 1e-4
    unit = h * np.eye(d)
    hessian = [
        [
            (
                risk(at + unit[a] + unit[b])
                - risk(at + unit[a] - unit[b])
                - risk(at - unit[a] + unit[b])
                + risk(at - unit[a] - unit[b])
            )
            / (4 * h * h)
            for b in range(d)
        ]
        for a in range(d)
    ]
    inverse = np.linalg.inv(hessian)
    return inverse @ middle @ inverse


def test_two_classes_agree_with_statsmodels():
    sm = pytest.importorskip("statsmodels.api")
    X, y = make_rows()
    y = (y > 0).astype(float)
    model = fit(X, y)
    groups = np.arange(200) // 4
    logit = sm.Logit(y, sm.add_constant(X))
    plain, robust, clustered = (
        logit.fit(disp=0, **options)
        for options in (
            {},
            {"cov_type": "HC0"},
            {"cov_type": "cluster", "cov_kwds": {"groups": groups}},
        )
    )
    order = [1, 2, 0]  # the constant is minus the threshold
    signs = np.array([1, 1, -1])
    information = summarize(model, X, y, covariance="information")
    np.testing.assert_allclose(information.estimates, signs * plain.params[order], rtol=1e-6)
    np.testing.assert_allclose(information.std_errors, plain.bse[order], rtol=1e-6)
    np.testing.assert_allclose(information.log_likelihood, plain.llf, rtol=1e-10)
    np.testing.assert_allclose(information.aic, plain.aic, rtol=1e-10)
    np.testing.assert_allclose(information.bic, plain.bic, rtol=1e-10)
    found = summarize(model, X, y).std_errors
    np.testing.assert_allclose(found, robust.bse[order] * np.sqrt(200 / 197), rtol=1e-5)
    # statsmodels' own factor is the same: G/(G − 1) · (n − 1)/(n − d).
    found = summarize(model, X, y, groups=groups).std_errors
    np.testing.assert_allclose(found, clustered.bse[order], rtol=1e-5)
    frame = information.to_frame()
    np.testing.assert_allclose(frame["p_value"].iloc[:2], plain.pvalues[order[:2]], rtol=1e-5)
    np.testing.assert_allclose(frame["odds_ratio"].iloc[:2], np.exp(plain.params[1:]), rtol=1e-5)
    ends = frame[["lower", "upper"]].iloc[:2]
    np.testing.assert_allclose(ends, plain.conf_int()[1:], rtol=1e-5)


def test_counts_are_repeated_rows():
    X, y = make_rows(80, 50)
    counts = np.random.default_rng(3).integers(1, 4, size=80)
    again = np.repeat(np.arange(80), counts)
    settings = {"loss": "at", "l2": 0.05, "class_prior": PRIOR}
    once = summarize(fit(X, y, counts, **settings), X, y, counts, weights="counts")
    repeated = summarize(fit(X[again], y[again], **settings), X[again], y[again])
    np.testing.assert_allclose(once.covariance, repeated.covariance, rtol=1e-6)
    sampling = summarize(fit(X, y, counts, **settings), X, y, counts)
    assert (sampling.std_errors > once.std_errors).all()


def test_scaling_weights_changes_no_sampling_error():
    X, y = make_rows()
    weights = np.random.default_rng(0).uniform(0.5, 2, size=200)
    first, second = (
        summarize(fit(X, y, factor * weights), X, y, factor * weights).std_errors
        for factor in (1, 10)
    )
    np.testing.assert_allclose(first, second, rtol=1e-6)


def test_units_of_a_column_change_the_scale_alone():
    X, y = make_rows()
    moved = X * [1e-3, 50.0] + [0.0, 1e4]
    first, second = summarize(fit(X, y), X, y), summarize(fit(moved, y), moved, y)
    np.testing.assert_allclose(
        second.std_errors[:2] * [1e-3, 50.0], first.std_errors[:2], rtol=1e-5
    )
    np.testing.assert_allclose(
        first.table.columns["z"][:2], second.table.columns["z"][:2], rtol=1e-5
    )


def test_rows_in_passes_sparse_rows_and_zero_weights_give_the_same(tmp_path):
    X, y = make_rows(300, 60)
    settings = {"loss": "at", "unlabeled_weight": 0.3, "class_prior": PRIOR, "l2": 0.01}
    expected = summarize(fit(X, y, **settings), X, y).covariance
    head, more = X[:60], X[60:]

    def blocks():
        return iter([more[:100], more[100:]])

    for X_unlabeled in (more, blocks):
        model = fit(head, y[:60], X_unlabeled=X_unlabeled, **settings)
        found = summarize(model, head, y[:60], X_unlabeled=X_unlabeled)
        np.testing.assert_allclose(found.covariance, expected, rtol=1e-5)
        assert found.n_unlabeled == 240
    rows = sparse.csr_matrix(X)
    found = summarize(fit(rows, y, **settings), rows, y).covariance
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    # A row of weight zero is as good as none, and neither is its group.
    weights = np.r_[np.ones(300), np.zeros(5)]
    X2, y2 = np.vstack([X, X[:5] + 1]), np.r_[y, y[:5]]
    groups = np.r_[np.arange(300) // 2, np.full(5, 9999)]
    found = summarize(fit(X2, y2, weights, **settings), X2, y2, weights, groups=groups)
    expected = summarize(fit(X, y, **settings), X, y, groups=groups[:300])
    np.testing.assert_allclose(found.covariance, expected.covariance, rtol=1e-6)


def test_groups_count_labelled_rows_alone_where_no_others_are_used():
    X, y = make_rows(100, 60)
    groups = np.arange(100) // 3
    model = fit(X, y, unlabeled_weight=0.0)
    found = summarize(model, X, y, groups=groups)
    expected = summarize(fit(X[:60], y[:60]), X[:60], y[:60], groups=groups[:60])
    np.testing.assert_allclose(found.covariance, expected.covariance, rtol=1e-6)
    assert found.n_groups == 20
    assert found.n_unlabeled == 0


@pytest.mark.parametrize("gamma", [0.0, 0.25])
def test_intervals_hold_the_truth(gamma):
    """A small version of benchmarks/inference.py: 250 draws of a right model."""
    coef, thresholds = np.array([1.0, -0.5]), np.array([-1.0, 1.0])
    target = np.r_[coef, thresholds]
    big = np.random.default_rng(99)
    latent = big.normal(size=(400_000, 2)) @ coef + big.logistic(size=400_000)
    prior = np.bincount(np.searchsorted(thresholds, latent)) / 400_000
    holds = []
    for seed in range(250):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(400, 2))
        y = np.searchsorted(thresholds, X @ coef + rng.logistic(size=400)).astype(float)
        y[150:] = np.nan
        model = fit(X, y, loss="at", unlabeled_weight=gamma, class_prior=prior)
        low, high = summarize(model, X, y).intervals.T
        holds.append((low <= target) & (target <= high))
    # Standard error of a share of 95 % in 250 draws: 1.4 %.
    assert np.abs(np.mean(holds, axis=0) - 0.95).max() < 0.042


def test_the_table_in_every_form():
    pd = pytest.importorskip("pandas")
    X, y = make_rows(p=2)
    X = pd.DataFrame(X, columns=["age", "<b>&_dose"])
    summary = summarize(fit(X, y), X, y, confidence=0.9)
    frame = summary.to_frame()
    assert list(frame.index) == ["age", "<b>&_dose", "0.0|1.0", "1.0|2.0"]
    np.testing.assert_allclose(
        frame["upper"] - frame["estimate"], 1.6448536 * frame["std_error"], rtol=1e-6
    )
    assert frame["p_value"].isna().tolist() == [False, False, True, True]
    text = str(summary)
    assert "90 % intervals" in text
    assert f"Log-likelihood {summary.log_likelihood:.4f}" in text
    html = summary.to_html()
    assert "&lt;b&gt;&amp;_dose" in html
    assert "<b>" not in html
    assert r"<b>\&\_dose" in summary.to_latex()
    assert summary.to_latex().count(r"\\") == 5
    assert "<table>" in summary._repr_html_()


def test_log_likelihood_is_that_of_the_labelled_rows():
    X, y = make_rows(200, 120)
    model = fit(X, y, l2=0.02, class_prior=PRIOR)
    summary = summarize(model, X, y)
    chances = model.predict_proba(X[:120])[np.arange(120), y[:120].astype(int)]
    assert summary.log_likelihood == pytest.approx(np.log(chances).sum(), rel=1e-10)
    assert (summary.aic, summary.bic) == (None, None)
    assert any("penalised" in note for note in summary.notes)


def error_of(match, **changes):
    X, y = make_rows()
    given = {"X": X, "y": y, "model": None, **changes}
    model = given.pop("model") or fit(X, y)
    with pytest.raises(ValueError, match=match):
        summarize(model, **given)


def test_other_rows_than_those_of_the_fit_are_refused():
    X, y = make_rows()
    error_of("standard errors away", X=X + np.eye(200, 2))
    error_of("150 labelled and 0 unlabelled", X=X[:150], y=y[:150])
    error_of("150 labelled and 50 unlabelled", y=np.where(np.arange(200) < 150, y, np.nan))
    error_of("standard errors away", sample_weight=np.linspace(1, 2, 200))
    error_of("2 columns|3 columns", X=np.c_[X, X[:, 0]])
    error_of("classes 0.0, 1.0, 3.0", y=np.where(y == 2, 3.0, y))


def test_models_without_standard_errors_are_refused():
    X, y = make_rows()
    error_of("loss='cl'", model=fit(X, y, loss="ls"))
    error_of("kinks", model=fit(X, y, loss="at", margin="hinge", l2=0.1))
    error_of("order_penalty", model=fit(X, y, order_penalty=1.0))
    tuned = LinearOrdinalClassifierCV(loss="cl", l2s=[0.1], cv=2).fit(X, y)
    error_of("too narrow", model=tuned)
    pipeline = make_pipeline(StandardScaler(), fit(X, y)).fit(X, y)
    error_of(r"pipeline\[-1\]", model=pipeline)
    assert summarize(pipeline[-1], pipeline[:-1].transform(X), y).n_labeled == 200


def test_a_correction_is_refused_where_it_binds_alone():
    X, y = make_rows(60, 12)
    settings = {"loss": "at", "unlabeled_weight": 1.0, "class_prior": [0.8, 0.1, 0.1], "l2": 1e-3}
    error_of("binds", X=X, y=y, model=fit(X, y, correction="non_negative", **settings))
    X, y = make_rows(400, 200)
    plain, corrected = (
        summarize(fit(X, y, loss="at", class_prior=PRIOR, correction=each), X, y)
        for each in ("none", "non_negative")
    )
    np.testing.assert_allclose(plain.covariance, corrected.covariance, rtol=1e-6)


def test_bad_arguments():
    error_of("covariance='hc3' is not known", covariance="hc3")
    error_of("weights='w' is not known", weights="w")
    error_of("confidence=0", confidence=0)
    error_of("groups has 3 entries, and X has 200", groups=[1, 2, 3])
    error_of("one group only", groups=np.zeros(200))
    error_of("missing values", groups=[None] * 200)
    error_of("no groups", groups=np.arange(200) // 2, covariance="information")
    X, y = make_rows()
    error_of("l2=0", covariance="information", model=fit(X, y, l2=0.1))


def test_too_few_rows():
    X, y = make_rows()
    keep = np.r_[np.flatnonzero(y == 0)[:1], np.flatnonzero(y == 1)[:2], np.flatnonzero(y == 2)[:1]]
    error_of("4 labelled rows are too few", X=X[keep], y=y[keep], model=fit(X[keep], y[keep], l2=1))
    few = np.r_[np.flatnonzero(y != 1), np.flatnonzero(y == 1)[:3]]
    notes = summarize(fit(X[few], y[few]), X[few], y[few]).notes
    assert any("fewer than 5 labelled rows of class 1.0" in note for note in notes)


def test_infinite_estimates_name_their_column():
    pd = pytest.importorskip("pandas")
    X, _ = make_rows(300, 300)
    frame = pd.DataFrame(np.c_[X, X[:, 0] > 0], columns=["age", "dose", "treated"])
    y = np.searchsorted([-0.5, 0.5], X[:, 0])
    both = frame[["age", "dose"]]
    error_of("column 'age' separates", X=both, y=y, model=fit(both, y, tol=1e-6))
    error_of("'age', 'treated' each separate", X=frame, y=y, model=fit(frame, y, tol=1e-6))
    # The highest class occurs only with treatment: separable but for ties.
    rng = np.random.default_rng(0)
    y = np.where(X[:, 0] > 0, rng.integers(0, 3, size=300), rng.integers(0, 2, size=300))
    drawn = frame[["dose", "treated"]]
    y = np.where((y == 0) & (drawn["treated"] == 1), 1, y)
    error_of("column 'treated' separates", X=drawn, y=y, model=fit(drawn, y, tol=1e-6))
    # A penalty makes the estimates finite.
    model = fit(frame, y, l2=0.1)
    assert np.isfinite(summarize(model, frame, y).std_errors).all()


def test_dependent_columns_are_named():
    pd = pytest.importorskip("pandas")
    X, y = make_rows()
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(X, columns=["age", "dose"])
    frame["other"] = rng.normal(size=200)
    frame["sum"] = frame["age"] + 2 * frame["dose"]
    error_of("Columns 'age', 'dose', 'sum' are linearly dependent", X=frame, model=fit(frame, y))
    constant = frame[["age"]].assign(one=1.0)
    error_of("Column 'one' is constant", X=constant, model=fit(constant, y))


def test_thresholds_that_coincide_are_refused():
    X, y = make_rows()
    weights = np.where(y == 1, 1e-10, 1.0)
    with pytest.warns(ClassPriorWarning):
        model = fit(X, y, weights, loss="at")
    with pytest.warns(ClassPriorWarning):
        error_of("thresholds of class 1.0 coincide", sample_weight=weights, model=model)


def test_the_model_is_left_as_it_was():
    X, y = make_rows()
    model = fit(X, y)
    before = {name: np.copy(value) for name, value in vars(model).items()}
    summarize(model, X, y)
    assert set(vars(model)) == set(before)
    for name, value in vars(model).items():
        np.testing.assert_array_equal(before[name], value)


@pytest.mark.parametrize("bend", [0.0, 1.0])
def test_unlabelled_rows_shrink_errors_where_theory_says_so(bend):
    """Summed variances of all parameters beside SV's, for every weight of unlabelled rows."""
    rng = np.random.default_rng(0)
    n_labeled, n = 20_000, 60_000
    X = rng.normal(size=(n, 2))
    latent = X[:, 0] + bend * (X[:, 1] ** 2 - 1) + rng.logistic(size=n)
    codes = np.searchsorted([-1.0, 1.0], latent)
    prior = np.bincount(codes) / n
    y = np.where(np.arange(n) < n_labeled, codes, np.nan)
    weights = np.array([0.0, 0.1, 0.5, 1.0])
    found = []
    for weight in weights:
        model = fit(X, y, loss="at", unlabeled_weight=weight, class_prior=prior)
        found.append(np.square(summarize(model, X, y).std_errors).sum())
    loss, counts = get_loss("at"), np.bincount(codes[:n_labeled]).astype(float)
    model = fit(X[:n_labeled], codes[:n_labeled], loss="at")
    at = (model.coef_, model.thresholds_)
    table = supervised_weights(counts)
    hessian = risk_hessian(loss, table, X[:n_labeled], codes[:n_labeled], *at)
    known = np.where(np.arange(n) < n_labeled, codes, -1)
    moments = gradient_moments(loss, X, known, *at, hessian)
    variance = risk_variance(moments, counts, n - n_labeled, prior)
    expected = variance.semi(weights)[:, 1]  # without the median class
    np.testing.assert_allclose(found, expected, rtol=0.06)
    assert ((found < found[0])[1:] == (expected < expected[0])[1:]).all()


def test_the_page_shows_what_is_printed(capsys):
    page = (Path(__file__).parents[1] / "docs" / "inference.md").read_text()
    code = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    exec("\n".join(code), {})
    printed = [line for line in capsys.readouterr().out.splitlines() if line]
    assert len(printed) > 30
    shown = page.splitlines()
    for line in printed:
        assert f"    {line}" in shown
