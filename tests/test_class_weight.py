"""Weights of classes, and what else tuned classifiers of scikit-learn take: scoring and n_jobs."""

from __future__ import annotations

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.base import clone
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import cross_val_score
from sklearn.utils.class_weight import compute_sample_weight

from semiordinal import (
    AutoOrdinalClassifier,
    KernelOrdinalClassifier,
    KernelOrdinalClassifierCV,
    LinearOrdinalClassifier,
    LinearOrdinalClassifierCV,
    model_files,
)
from semiordinal.inference import summarize
from semiordinal.metrics import task_losses
from semiordinal.model_selection import LabeledKFold, OrdinalScorer

PLAIN = [LinearOrdinalClassifier, KernelOrdinalClassifier]
TUNED = [LinearOrdinalClassifierCV, KernelOrdinalClassifierCV]
NAMES = np.array(["poor", "fair", "good"])


def rows(n_rows=160, n_unlabeled=0, seed=0):
    """Rows of three classes, of which the middle one is common."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows + n_unlabeled, 3))
    score = X @ [1.0, -1.0, 0.3] + rng.logistic(size=len(X))
    y = np.digitize(score, [-2.0, 2.0]).astype(float)
    y[n_rows:] = np.nan
    return X, y


@pytest.mark.parametrize("given", ["balanced", {0.0: 5.0, 2.0: 0.5}], ids=["balanced", "dict"])
@pytest.mark.parametrize("classifier", [*PLAIN, *TUNED])
def test_weights_of_classes_are_weights_of_their_rows(classifier, given):
    """Weights of rows by scikit-learn, where all rows have labels."""
    X, y = rows()
    by_row = compute_sample_weight(given, y)
    settings = {"standardize": False, "random_state": 0}  # rows' weights count in columns' means
    weighted = classifier(class_weight=given, **settings).fit(X, y)
    expected = classifier(**settings).fit(X, y, sample_weight=by_row / by_row.mean())
    np.testing.assert_allclose(
        weighted.predict_latent(X), expected.predict_latent(X), rtol=1e-5, atol=1e-6
    )
    np.testing.assert_allclose(weighted.thresholds_, expected.thresholds_, rtol=1e-5, atol=1e-6)
    unweighted = classifier(**settings).fit(X, y)
    assert (weighted.predict(X) != unweighted.predict(X)).any()
    if classifier in TUNED:
        assert weighted.l2_ == expected.l2_
        np.testing.assert_allclose(weighted.held_out_weights_, 1 / len(y))


@pytest.mark.parametrize("gamma", [0.0, 0.3])
@pytest.mark.parametrize("weighting", ["rows", "prior"])
def test_unlabelled_rows_and_shares_go_on_standing_for_rows_as_they_are(gamma, weighting):
    """The weighted mean loss, plus γ times an estimate of zero that has no weights of classes."""
    X, y = rows(60, 200)
    weight, prior = np.array([4.0, 1.0, 2.0]), np.array([0.3, 0.5, 0.2])
    model = LinearOrdinalClassifier(
        class_weight=dict(enumerate(weight)),
        class_prior=prior,
        supervised_weights=weighting,
        unlabeled_weight=gamma,
        standardize=False,
        l2=0.1,
    ).fit(X, y)
    labeled = ~np.isnan(y)
    own = y[labeled].astype(int)
    counts = np.bincount(own)
    by_row = np.full(len(own), 1 / len(own)) if weighting == "rows" else (prior / counts)[own]
    removed = int(model.removed_class_)

    def losses(coef, thresholds, codes):
        sign = np.where(codes[:, None] <= np.arange(2), 1, -1)
        return np.logaddexp(0, -sign * (thresholds - (X @ coef)[:, None])).sum(axis=1)

    def value(coef, thresholds):
        all_removed = losses(coef, thresholds, np.full(len(X), removed))
        mine = losses(coef, thresholds, np.where(labeled, y, 0).astype(int))[labeled]
        weighted = (by_row * weight[own]) @ mine / (by_row * weight[own]).sum()
        others = (prior / counts)[own] * (own != removed)
        learned = all_removed[~labeled].mean() + others @ (mine - all_removed[labeled])
        return weighted + gamma * (learned - by_row @ mine) + 0.05 * coef @ coef

    best = value(model.coef_, model.thresholds_)
    assert best == pytest.approx(model.objective_value_, abs=1e-10)
    for step in 1e-3 * np.random.default_rng(0).normal(size=(30, 5)):
        assert value(model.coef_ + step[:3], model.thresholds_ + step[3:]) > best - 1e-12


@pytest.mark.parametrize("classifier", [*PLAIN, *TUNED])
def test_weights_have_no_scale_and_go_by_name(classifier):
    X, y = rows(60, 60)
    labels = np.where(np.isnan(y), None, NAMES[np.nan_to_num(y).astype(int)])
    weights = {"poor": 3.0, "fair": 1.0, "good": 2.0}
    fits = [
        classifier(class_weight=each, classes=NAMES, random_state=0).fit(X, labels)
        for each in (weights, {name: 10 * weight for name, weight in weights.items()})
    ]
    np.testing.assert_allclose(fits[0].coef_, fits[1].coef_, rtol=1e-6, atol=1e-8)
    equal = classifier(class_weight=dict.fromkeys(NAMES, 2.0), classes=NAMES, random_state=0)
    without = classifier(classes=NAMES, random_state=0).fit(X, labels)
    np.testing.assert_allclose(equal.fit(X, labels).coef_, without.coef_, rtol=1e-6, atol=1e-8)


def test_balanced_classes_are_found_evenly():
    X, y = rows(400)
    new, truth = rows(3000, seed=1)
    found = {
        each: LinearOrdinalClassifierCV(loss="it", class_weight=each, random_state=0)
        .fit(X, y)
        .predict(new)
        for each in (None, "balanced")
    }
    scores = {each: balanced_accuracy_score(truth, found[each]) for each in found}
    assert scores["balanced"] > scores[None] + 0.05


@pytest.mark.parametrize("task", ["absolute", "zero_one"])
def test_the_average_weighs_its_probabilities(task):
    X, y = rows(60, 100)
    settings = {"members": ["linear"], "task": task, "random_state": 0}
    plain = AutoOrdinalClassifier(**settings).fit(X, y)
    weighted = AutoOrdinalClassifier(class_weight={0: 3, 1: 1, 2: 2}, **settings).fit(X, y)
    expected = plain.predict_proba(X) * [3, 1, 2]
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(weighted.predict_proba(X), expected, atol=1e-12)
    cost = expected @ task_losses(task, np.arange(3), 3).T
    np.testing.assert_array_equal(weighted.predict(X), cost.argmin(axis=1))
    assert (weighted.predict(X) != plain.predict(X)).any()
    np.testing.assert_array_equal(weighted.held_out_weights_, plain.held_out_weights_)
    np.testing.assert_array_equal(weighted.class_weight_, [3, 1, 2])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"class_weight": "even"}, "class_weight='even' must be None, 'balanced', or a dict"),
        ({"class_weight": {0: -1.0}}, "gives class 0 the weight -1.0, which must be a number"),
        ({"class_weight": {"low": 2.0}}, "class_weight names low, and the classes are 0.0, 1.0"),
        (
            {"class_weight": "balanced", "class_prior": "uniform"},
            "class_prior = 'uniform' counts them by their shares. Set class_prior='labels'",
        ),
        (
            {"class_weight": "balanced", "class_prior": [0.2, 0.6, 0.2]},
            "class_prior counts them by their shares",
        ),
        ({"class_weight": "balanced", "thresholds": "prior"}, "Set thresholds='auto'"),
        ({"class_weight": "balanced", "criterion": "semi"}, "Set criterion='surrogate'"),
        ({"scoring": "auc"}, "scoring='auc' is not known; give a metric of OrdinalScorer .mae"),
        ({"scoring": "qwk", "criterion": "task"}, "scoring and criterion='task' both say"),
        ({"n_jobs": 0}, "n_jobs=0 must be None, a number of jobs, or -1"),
        ({"verbose": -1}, "verbose=-1 must be True, False, or a number from 0"),
    ],
)
def test_errors_name_the_parameter_and_the_remedy(settings, message):
    X, y = rows(40, 20)
    with pytest.raises(ValueError, match=message):
        LinearOrdinalClassifierCV(**settings).fit(X, y)


def test_what_does_not_hold_with_weights_is_refused():
    X, y = rows()
    model = LinearOrdinalClassifier(class_weight="balanced").fit(X, y)
    with pytest.raises(ValueError, match="class_weight makes rows count by their labels"):
        summarize(model, X, y)
    classes = [0.0, 1.0, 2.0, 3.0]
    settings = {"classes": classes, "class_weight": "balanced", "members": ["linear"]}
    with pytest.raises(ValueError, match=r"rows of every class, and 3\.0 has none"):
        AutoOrdinalClassifier(class_prior=[0.2, 0.5, 0.2, 0.1], **settings).fit(
            np.r_[X, X], np.r_[y, np.full(len(y), np.nan)]
        )


@pytest.mark.parametrize(
    ("name", "scorer"),
    [
        ("balanced_accuracy", "balanced_accuracy"),
        ("roc_auc_ovr", "roc_auc_ovr"),
        ("qwk", OrdinalScorer("qwk")),
        ("rps", OrdinalScorer("rps")),
    ],
)
def test_scores_are_those_of_the_plain_classifier_on_the_same_folds(name, scorer):
    X, y = rows(150)
    splits = list(LabeledKFold(3).split(X, y))
    l2s = [1.0, 0.1, 0.001]
    tuned = LinearOrdinalClassifierCV(
        scoring=name, cv=splits, l2s=l2s, standardize=False, unlabeled_weights=()
    ).fit(X, y)
    expected = [
        cross_val_score(
            LinearOrdinalClassifier(l2=l2, standardize=False), X, y, cv=splits, scoring=scorer
        )
        for l2 in l2s
    ]
    np.testing.assert_allclose(-tuned.cv_results_["loss"], np.mean(expected, axis=1), atol=1e-4)
    assert tuned.l2_ == l2s[int(np.argmax(np.mean(expected, axis=1)))]
    error = np.std(expected, axis=1, ddof=1) / np.sqrt(3)
    np.testing.assert_allclose(tuned.cv_results_["loss_se"], error, atol=1e-4)


def test_a_scorer_sees_thresholds_as_they_were_fitted():
    """It counts rows as they are, so thresholds are not moved to the class shares for it."""
    X, y = rows(2000)
    labeled = np.concatenate([np.flatnonzero(y == k)[:30] for k in range(3)])
    train = np.concatenate([np.flatnonzero(y == k)[:20] for k in range(3)])
    test = np.setdiff1d(labeled, train)
    shares = np.bincount(y.astype(int)) / len(y)
    plain = LinearOrdinalClassifier(l2=0.1, standardize=False).fit(X[train], y[train])
    seen = []

    def scorer(estimator, rows_seen, labels):
        seen.append(estimator.predict_proba(rows_seen))
        return 1.0

    unlabeled = np.setdiff1d(np.arange(len(y)), labeled)
    y[unlabeled] = np.nan
    LinearOrdinalClassifierCV(
        class_prior=shares,
        scoring=scorer,
        cv=[(np.r_[train, unlabeled], test)],
        l2s=[0.1],
        standardize=False,
        unlabeled_weights=(),
    ).fit(X, y)
    for probabilities in seen:
        np.testing.assert_allclose(probabilities, plain.predict_proba(X[test]), atol=1e-4)
    assert seen


def test_a_scorer_sees_a_classifier_rows_labels_and_weights():
    X, y = rows(60, 60)
    names = np.where(np.isnan(y), None, NAMES[np.nan_to_num(y).astype(int)])
    seen = []

    def scorer(estimator, rows_seen, labels, sample_weight=None):
        is_row = (rows_seen[:, None] == X + 1e6).all(axis=2)
        place = is_row.argmax(axis=1)
        assert is_row.any(axis=1).all()
        assert labels.tolist() == names[place].tolist()
        assert sample_weight.tolist() == weights[place].tolist()
        seen.append((type(estimator).__name__, estimator.classes_.tolist()))
        return np.mean(estimator.predict(rows_seen) == labels)

    weights = np.random.default_rng(0).integers(1, 3, len(y)).astype(float)
    KernelOrdinalClassifierCV(
        scoring=scorer, classes=NAMES, cv=3, l2s=[0.1, 0.01], bandwidths=[1.0], random_state=0
    ).fit(X + 1e6, names, sample_weight=weights)
    # Three folds of two penalties, and of three weights of unlabelled rows.
    assert seen == [("KernelOrdinalClassifier", sorted(NAMES))] * 15


def test_models_with_weights_and_scores_are_kept_in_files(tmp_path):
    """But for the function, on which no prediction depends."""
    X, y = rows(60)
    path = tmp_path / "model.semiordinal"
    settings = {"class_weight": {0: 2, 1: np.float64(1.0), 2: 3.0}, "random_state": 0}
    for model in (
        LinearOrdinalClassifierCV(scoring=OrdinalScorer("rps"), **settings),
        LinearOrdinalClassifierCV(scoring="rps", n_jobs=1, **settings),
        AutoOrdinalClassifier(members=["linear"], **settings),
    ):
        model_files.save(model.fit(X, y), path, force=True)
        loaded = model_files.load(path)
        np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
        assert loaded.class_weight == model.class_weight
        kept = getattr(model, "scoring", None)
        assert getattr(loaded, "scoring", None) == (kept if isinstance(kept, str) else None)


def test_a_score_that_is_no_number_is_an_error():
    X, y = rows(40)
    model = LinearOrdinalClassifierCV(scoring=lambda *_: np.nan)
    with pytest.raises(ValueError, match="scoring gives no finite number"):
        model.fit(X, y)


@pytest.mark.parametrize(
    ("model", "backend"),
    [
        (LinearOrdinalClassifierCV(loss="cl", random_state=0), "loky"),
        (KernelOrdinalClassifierCV(random_state=0), "loky"),
        (LinearOrdinalClassifierCV(margin="hinge", cv="loo", l2s=[0.1, 0.01]), "threading"),
        (KernelOrdinalClassifierCV(scoring="qwk", cv=3, random_state=0), "threading"),
    ],
    ids=["folds", "widths", "rows one by one", "scores"],
)
def test_jobs_change_nothing(model, backend, capsys):
    X, y = rows(30, 50)
    alone = model.fit(X, y)
    results, coef = alone.cv_results_, alone.coef_
    with parallel_config(backend=backend):
        model.set_params(n_jobs=2, verbose=1).fit(X, y)
    for name, column in results.items():
        np.testing.assert_array_equal(model.cv_results_[name], column)
    np.testing.assert_array_equal(model.coef_, coef)
    chosen = f"l2={model.l2_:g}, unlabeled_weight={model.unlabeled_weight_:g}."
    assert capsys.readouterr().out == f"{chosen} {model.reason_}\n"


@pytest.mark.parametrize("loss", ["at", "cl"])
def test_intervals_count_by_the_weights_of_the_classes_that_they_stand_for(loss):
    """As rows whose weight is the mean over these, by the counts that the labels say."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    codes = np.digitize(X[:, 0] + rng.logistic(size=90), [-1, 1])
    y = np.column_stack([codes, codes]).astype(float)
    y[:30] = np.where(codes[:30, None] > 0, [1, 2], y[:30])
    is_interval = y[:, 0] < y[:, 1]
    counts = np.bincount(codes[~is_interval]).astype(float)
    counts[1:] *= 1 + is_interval.sum() / counts[1:].sum()  # dealt out by their shares
    weights = np.array([1.0, 4.0, 2.0])
    of_interval = counts[1:] @ weights[1:] / counts[1:].sum()
    row_weights = np.where(is_interval, of_interval, weights[codes])
    model = LinearOrdinalClassifier(loss=loss, unlabeled_weight=0, l2=0.1, standardize=False)
    found = clone(model).set_params(class_weight=dict(enumerate(weights))).fit(X, y)
    expected = clone(model).fit(X, y, sample_weight=row_weights)
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-6)
    np.testing.assert_allclose(found.thresholds_, expected.thresholds_, rtol=1e-6)
