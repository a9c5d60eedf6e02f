"""Rows to label next: the rule against a naive computation, and what is said of each row."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from scipy.stats import spearmanr
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from semiordinal import CalibratedOrdinalClassifier, LinearOrdinalClassifier
from semiordinal import LinearOrdinalClassifierCV as Tuned
from semiordinal._judge.assessment import Assessment
from semiordinal._rows.labels import known_codes
from semiordinal.labeling import judge_by_random_rows, suggest
from semiordinal.labeling._models import held_out_rows
from semiordinal.labeling._places import standardized, with_positions
from semiordinal.labeling._uncertainty import Uncertainty
from semiordinal.shares import estimate_class_shares


def problem(n_rows=300, n_labeled=20, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    codes = np.digitize(X @ [1.0, -1.0, 0.0] + 0.3 * rng.logistic(size=n_rows), [-1.0, 0.0, 1.0])
    y = codes.astype(float)
    y[n_labeled:] = np.nan
    return X, y, codes


@pytest.fixture(scope="module")
def fitted():
    X, y, _ = problem()
    return Tuned(random_state=0).fit(X, y), X, y


def left_variance(places, labeled, width):
    """Mean variance of all places by scikit-learn's process, after noisy labels of some."""
    process = GaussianProcessRegressor(RBF(np.sqrt(width / 2)), alpha=1.0, optimizer=None)
    process.fit(places[labeled], np.zeros(len(labeled)))
    return (process.predict(places, return_std=True)[1] ** 2).mean()


def median_distance(places):
    distances = cdist(places, places, "sqeuclidean")
    return np.median(distances[distances > 0])


def test_gains_are_the_falls_of_the_variance_computed_anew():
    places = np.random.default_rng(3).normal(size=(30, 2))
    uncertainty = Uncertainty(places, np.arange(30), np.arange(30))
    uncertainty.add(np.arange(4))
    uncertainty.add(np.array([11]))
    labeled, width = [0, 1, 2, 3, 11], median_distance(places)
    before = left_variance(places, labeled, width)
    falls = [before - left_variance(places, [*labeled, row], width) for row in range(30)]
    np.testing.assert_allclose(uncertainty.gains(), falls, atol=1e-10)


def test_rows_added_in_blocks_are_as_added_at_once(monkeypatch):
    places = np.random.default_rng(4).normal(size=(30, 2))
    gains = []
    for block in (3, 500):
        monkeypatch.setattr("semiordinal.labeling._uncertainty._BLOCK", block)
        uncertainty = Uncertainty(places, np.arange(10, 30), np.arange(0, 30, 2))
        uncertainty.add(np.arange(10))
        gains.append(uncertainty.gains())
    np.testing.assert_allclose(*gains, atol=1e-12)


def test_columns_count_by_their_rank_correlation_with_the_expected_class():
    rng = np.random.default_rng(5)
    Z = standardized(rng.normal(size=(200, 4)))
    cumulative = 1 / (1 + np.exp(Z[:, :1] ** 3 + Z[:, 1:2] + rng.normal(size=(200, 1))))
    squares = [spearmanr(column, -cumulative[:, 0]).statistic ** 2 for column in Z.T]
    weights = np.sqrt([0.5 + 0.5 * square / np.mean(squares) for square in squares])
    found = with_positions(Z, cumulative)
    np.testing.assert_allclose(found[:, :4], Z * weights, atol=1e-9)
    position = -cumulative[:, 0]
    position = (position - position.mean()) / position.std()
    np.testing.assert_allclose(found[:, 4], 2 * np.clip(position, -3, 3), atol=1e-9)
    # Nothing to go by: all columns count the same.
    np.testing.assert_array_equal(with_positions(Z, np.full((200, 2), 0.3)), Z)


def test_rows_are_chosen_as_by_the_naive_rule(fitted):
    model, X, y = fitted
    places = with_positions(standardized(X), model.predict_cumulative(X))
    labeled, width = list(range(20)), median_distance(places)
    below = np.cumsum(model.predict_proba(X[20:]), axis=1)[:, :-1]
    to_border = [min(abs(p - 0.5) for p in row) for row in below]
    near = [20 + int(row) for row in np.argsort(to_border)[: 280 // 3]]
    for _ in range(4):
        free = [row for row in near if row not in labeled]
        left = [left_variance(places, [*labeled, row], width) for row in free]
        labeled.append(free[int(np.argmin(left))])
    found = suggest(model, X, 4, y=y, random_share=0)
    assert found.positions.tolist() == labeled[20:]
    assert not found.is_random.any()


def test_chosen_rows_leave_less_unknown_of_all_rows_than_random_ones(fitted):
    """Though they are near borders, and by the columns alone."""
    model, X, y = fitted
    found = suggest(model, X, 30, y=y).positions
    rng = np.random.default_rng(0)
    drawn = [rng.choice(np.arange(20, 300), 30, replace=False) for _ in range(50)]
    places = standardized(X)

    def left(rows):
        return left_variance(places, [*range(20), *rows], median_distance(places))

    assert left(found) < min(left(rows) for rows in drawn)


def test_rows_at_random_are_spread_and_each_is_as_likely(fitted):
    """Against the frequencies of many batches, and the scatter of a simple draw."""
    model, X, y = fitted
    position = model.predict_proba(X) @ np.arange(4)
    batches = [
        suggest(model, X, 20, y=y, random_share=1, random_state=seed).positions
        for seed in range(300)
    ]
    counts = np.bincount(np.concatenate(batches), minlength=300)
    assert not counts[:20].any()
    assert ((counts[20:] - 300 * 20 / 280) ** 2).mean() < 1.3 * 300 * (20 / 280) * (260 / 280)
    assert counts[20:].min() > 0
    means = [position[batch].mean() for batch in batches]
    rng = np.random.default_rng(0)
    simple = [position[rng.choice(np.arange(20, 300), 20, replace=False)].mean() for _ in batches]
    assert np.std(means) < 0.3 * np.std(simple)
    assert np.mean(means) == pytest.approx(position[20:].mean(), abs=0.2 * np.std(simple))


def test_every_fourth_row_is_drawn_at_random(fitted):
    model, X, y = fitted
    found = suggest(model, X, 20, y=y)
    np.testing.assert_array_equal(found.is_random, np.arange(20) % 4 == 3)
    is_drawn = [reason == "drawn at random" for reason in found.reasons]
    np.testing.assert_array_equal(found.is_random, is_drawn)
    assert suggest(model, X, 10, y=y, random_share=1).is_random.all()
    # Each row is as likely to be drawn: 280 rows, five a batch.
    batches = [suggest(model, X, 20, y=y, random_state=seed) for seed in range(40)]
    drawn = np.concatenate([batch.positions[batch.is_random] for batch in batches])
    assert len(drawn) == 200
    quarters = np.bincount((drawn - 20) // 70, minlength=4)
    assert (np.abs(quarters - 50) < 3.5 * np.sqrt(50 * 0.75)).all()


def test_a_batch_is_spread_and_has_no_labelled_row(fitted):
    model, X, y = fitted
    found = suggest(model, X, 30, y=y)
    assert len(set(found.positions.tolist())) == 30
    assert np.isnan(y[found.positions]).all()
    again = suggest(model, X, 30, y=y)
    np.testing.assert_array_equal(found.positions, again.positions)
    # Ten copies of each row: a second copy tells little.
    many, labels = np.repeat(X, 10, axis=0), np.full(3000, np.nan)
    labels[:200:10] = y[:20]
    chosen = suggest(model, many, 30, y=labels).positions // 10
    assert len(set(chosen.tolist())) > 25


def test_outliers_are_not_what_is_asked_for():
    """Unlike greedy diversity, which takes each of them first."""
    X, y, _ = problem()
    X[290:] += 50 * np.random.default_rng(1).normal(size=(10, 3))
    model = Tuned(random_state=0).fit(X[:290], y[:290])
    assert np.sum(suggest(model, X, 10, y=y).positions >= 290) <= 5


def test_labels_that_are_chosen_beat_random_ones():
    """Twelve columns, rows of unequal length, 20 labels at first; errors of 20 labels more."""
    chosen_errors, random_errors = [], []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(1000, 12)) * rng.gamma(2, 0.5, size=(1000, 1))
        codes = np.digitize(X @ rng.normal(size=12) + rng.logistic(size=1000), [-2.0, 0.0, 2.0])
        pool, test = np.arange(500), np.arange(500, 1000)
        y = np.full(500, np.nan)
        y[:20] = codes[:20]
        y[:4] = codes[:4] = range(4)  # a row of each class
        model = LinearOrdinalClassifier(unlabeled_weight=0, l2=0.1, classes=range(4))
        by_rule = suggest(model.fit(X[pool], y), X[pool], 20, y=y, random_share=0).positions
        by_chance = [rng.choice(np.arange(20, 500), 20, replace=False) for _ in range(3)]
        for draws, errors in (([by_rule], chosen_errors), (by_chance, random_errors)):
            of_draws = []
            for rows in draws:
                more = y.copy()
                more[rows] = codes[rows]
                predicted = model.fit(X[pool], more).predict(X[test])
                of_draws.append(np.abs(predicted - codes[test]).mean())
            errors.append(np.mean(of_draws))
    fall = np.subtract(random_errors, chosen_errors)
    assert fall.mean() > 2 * fall.std() / np.sqrt(len(fall))


def said_of_border(names, probabilities, is_nearer):
    """By the definition: the border where the model is least sure of the side."""
    below = [sum(probabilities[: k + 1]) for k in range(len(names) - 1)]
    border = min(range(len(below)), key=lambda k: abs(below[k] - 0.5))
    pair = probabilities[border : border + 2]
    others = [p for k, p in enumerate(probabilities) if k not in (border, border + 1)]
    if abs(below[border] - 0.5) >= 0.15:
        said = f"nearer than most to the border between {names[border]} and {names[border + 1]}"
        return said if is_nearer else ""
    if min(pair) >= max(probabilities) / 2 and max(others) <= max(probabilities) / 2:
        return f"a close call between {names[border]} and {names[border + 1]}"
    lower = f"{names[border]} or lower" if border else str(names[0])
    higher = f"{names[border + 1]} or higher" if border < len(names) - 2 else str(names[-1])
    return f"about as likely {lower} as {higher}"


def test_reasons_are_true(fitted):
    model, X, y = fitted
    found = suggest(model, X, 40, y=y, random_share=0)
    Z, probabilities = standardized(X), model.predict_proba(X)
    distances = cdist(Z[20:], Z[:20]).min(axis=1)
    nearest = cdist(Z[20:], Z[found.positions]).argmin(axis=1)
    to_border = np.abs(model.predict_cumulative(X[20:]) - 0.5).min(axis=1)
    usual = np.median(to_border)
    for place, (row, reason) in enumerate(zip(found.positions, found.reasons, strict=True)):
        nearer = np.mean(distances < distances[row - 20])
        said = f"further from all labels than {int(100 * nearer)}% of unlabelled rows"
        assert (said in reason) == ("further" in reason) == (nearer > 0.95)
        said = said_of_border(range(4), probabilities[row], to_border[row - 20] < usual)
        assert said in reason
        assert ("nearer than most" in reason) == said.startswith("nearer")
        share = np.mean(nearest == place)
        said = f"nearest row of this batch to {share:.0%} of the unlabelled rows"
        assert (said in reason) == ("nearest row" in reason) == (share >= 0.01)
    everything = suggest(model, X, 280, y=y, random_share=0).reasons
    assert sum("nearer than most" in reason for reason in everything) <= 140
    for words in ("further", "nearer than most", "close call", "nearest row"):
        assert any(words in reason for reason in found.reasons)
    np.testing.assert_array_equal(found.predicted, model.predict(X[found.positions]))
    sets = model.predict_set(X[found.positions], 0.9)
    np.testing.assert_array_equal(np.c_[found.lowest, found.highest], sets)


def test_any_classifier_of_the_package_will_do():
    X, y, _ = problem()
    labels = np.array(["low", "mid", "high", "top"], dtype=object)
    names = np.where(np.isnan(y), None, labels[np.nan_to_num(y).astype(int)])
    order = {"classes": labels.tolist()}
    models = {
        "no probabilities": LinearOrdinalClassifier(margin="hinge", **order).fit(X, names),
        "any model": CalibratedOrdinalClassifier(Ridge(), random_state=0, **order).fit(X, names),
        "pipeline": make_pipeline(StandardScaler(), LinearOrdinalClassifier(**order)).fit(X, names),
    }
    for kind, model in models.items():
        found = suggest(model, X, 5, y=names)
        assert set(found.predicted) <= set(labels), kind
        assert (found.positions >= 20).all(), kind
        assert (found.lowest is None) == (kind != "any model"), kind
    plain = models["pipeline"][-1]
    inside = suggest(plain, models["pipeline"][0].transform(X), 5, y=names)
    np.testing.assert_array_equal(
        suggest(models["pipeline"], X, 5, y=names).positions, inside.positions
    )


def test_sparse_wide_and_constant_columns(fitted):
    model, X, y = fitted
    found = suggest(model, X, 5, y=y).positions
    np.testing.assert_array_equal(suggest(model, sp.csr_matrix(X), 5, y=y).positions, found)
    wide = sp.random(200, 800, 0.05, format="csr", random_state=0)
    y = np.full(200, np.nan)
    y[:30] = np.arange(30) % 3
    wide_model = LinearOrdinalClassifier(unlabeled_weight=0).fit(wide, y)
    assert len(suggest(wide_model, wide, 5, y=y).positions) == 5
    assert standardized(np.ones((4, 2))).shape == (4, 0)


def test_many_rows_are_sampled(fitted, monkeypatch):
    model, X, y = fitted
    monkeypatch.setattr("semiordinal.labeling._suggest._MOST_CANDIDATES", 50)
    found = {tuple(suggest(model, X, 5, y=y, random_state=s).positions) for s in range(3)}
    assert len(found) == 3
    assert len(suggest(model, X, 100, y=y).positions) == 100


def test_copies_of_labelled_rows_are_not_far_from_labels(fitted, monkeypatch):
    """Though only some of the labelled rows are looked at in choosing."""
    monkeypatch.setattr("semiordinal.labeling._suggest._MOST_LABELED", 30)
    model, X, _ = fitted
    y = np.where(np.arange(600) < 300, 1.0, np.nan)
    found = suggest(model, np.vstack([X, X]), 20, y=y)
    assert not any("further" in reason for reason in found.reasons)


def test_what_cannot_be_done_is_said(fitted):
    model, X, y = fitted
    with pytest.raises(ValueError, match="n=0 must be a whole number"):
        suggest(model, X, 0)
    with pytest.raises(ValueError, match=r"n=281 must be at most .* without a label, 280"):
        suggest(model, X, 281, y=y)
    with pytest.raises(ValueError, match="y has 10 entries and X 300 rows"):
        suggest(model, X, 5, y=y[:10])
    with pytest.raises(ValueError, match="does not know: 7"):
        suggest(model, X, 5, y=np.r_[7.0, y[1:]])
    with pytest.raises(ValueError, match="CalibratedOrdinalClassifier"):
        suggest(LogisticRegression().fit(X[:20], y[:20]), X, 5)
    with pytest.raises(ValueError, match="not fitted"):
        suggest(Tuned(), X, 5)
    with pytest.raises(ValueError, match="NaN"):
        suggest(model, np.r_[X[:-1], [[np.nan] * 3]], 5)


def test_a_model_is_judged_by_random_labels_alone():
    """Chosen labels are near the border, where errors are frequent: without marks, too many."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 2))
    codes = np.digitize(2 * X[:, 0] + 0.5 * rng.logistic(size=3000), [-1.5, 1.5])
    is_chosen = np.zeros(3000, dtype=bool)
    is_chosen[150:][np.abs(np.abs(X[150:, 0]) - 0.75) < 0.05] = True
    y = np.where((np.arange(3000) < 150) | is_chosen, codes, np.nan)
    model = Tuned(random_state=0).fit(X, y)
    others = np.isnan(y)
    true_error = np.mean(model.predict(X[others]) != codes[others])
    true_shares = np.bincount(codes[others]) / others.sum()
    predicted = model.predict(X)

    def held_out_error():
        return Assessment.from_estimator(model).error("model").mean

    def shares_error():
        return np.abs(estimate_class_shares(model, X[others]).shares - true_shares).sum()

    biased_error, biased_shares = held_out_error(), shares_error()
    assert judge_by_random_rows(model, y, is_chosen) is model
    assert len(model.held_out_codes_) == 150
    deviation = np.sqrt(true_error * (1 - true_error) / 150)
    assert biased_error > true_error + 4 * deviation
    assert abs(held_out_error() - true_error) < 2 * deviation
    assert shares_error() < 0.12
    assert shares_error() < biased_shares
    np.testing.assert_array_equal(model.predict(X), predicted)
    assert len(judge_by_random_rows(model, y, is_chosen).held_out_codes_) == 150
    with pytest.raises(ValueError, match="y must hold the labels that the model was fitted to"):
        judge_by_random_rows(model, y[::-1], is_chosen)


def test_weights_by_known_shares_are_kept():
    X, y, _ = problem(300, 60)
    shares = [0.1, 0.4, 0.3, 0.2]
    model = Tuned(class_prior=shares, random_state=0).fit(X, y)
    model.held_out_weights_ = np.asarray(shares)[model.held_out_codes_]
    model.held_out_weights_ /= np.bincount(model.held_out_codes_)[model.held_out_codes_]
    judge_by_random_rows(model, y, np.arange(300) % 3 == 0)
    totals = np.bincount(model.held_out_codes_, model.held_out_weights_)
    np.testing.assert_allclose(totals / totals.sum(), shares)


def test_held_out_rows_are_found_where_a_class_has_one_label():
    X, y, _ = problem(300, 60)
    y[7] = 9.0  # the only row of its class, which cannot be held out
    model = Tuned(random_state=0).fit(X, y)
    rows = held_out_rows(model, known_codes(y, model.classes_))
    assert rows[-1] == 7
    np.testing.assert_array_equal(np.sort(rows), np.arange(60))
    assert 7 in rows
    with pytest.raises(ValueError, match="True for every labelled row"):
        judge_by_random_rows(model, y, np.ones(300, dtype=bool))
    with pytest.raises(ValueError, match="is_chosen must be a list of True and False"):
        judge_by_random_rows(model, y, np.zeros(300))
    plain = LinearOrdinalClassifier().fit(X, y)
    with pytest.raises(ValueError, match="keeps no predictions for held-out rows"):
        judge_by_random_rows(plain, y, np.zeros(300, dtype=bool))


def test_rows_with_an_interval_are_not_asked_for_and_stand_for_others(fitted):
    model, X, y = fitted
    ends = np.column_stack([y, y])
    first = suggest(model, X, 10, y=y, random_share=0.0)
    ends[first.positions] = [1, 2]
    found = suggest(model, X, 10, y=ends, random_share=0.0)
    assert not set(found.positions) & set(first.positions)
    as_labels = y.copy()
    as_labels[first.positions] = 1
    same = suggest(model, X, 10, y=as_labels, random_share=0.0)
    assert found.positions.tolist() == same.positions.tolist()
