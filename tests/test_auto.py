"""The automatic classifier, and the trees in it."""

from __future__ import annotations

import sys
from types import ModuleType

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.special import expit, logit
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from problems import ARGMAX, assert_passes_checks, make_problem
from semiordinal import (
    AutoOrdinalClassifier,
    BoostingOrdinalClassifier,
    KernelOrdinalClassifierCV,
    LinearOrdinalClassifierCV,
    TreeOrdinalClassifier,
    model_files,
)
from semiordinal._decide.offsets import offsets_at_shares, trust_in_shares
from semiordinal._rows import RowLabels
from semiordinal._score.members import MEMBERS, FittedMember, fit_member
from semiordinal._score.stack_fitting import stack_folds
from semiordinal._score.stacking import average_log_odds, stacking_weights
from semiordinal.shares import estimate_class_shares

PROBLEM = make_problem(n_labeled=60, n_unlabeled=200)
X, Y, PRIOR, LABELED = PROBLEM.X, PROBLEM.y, PROBLEM.prior, PROBLEM.labeled
TREES = TreeOrdinalClassifier(n_estimators=20)
QUICK_LINEAR = LinearOrdinalClassifierCV(unlabeled_weights=(), l2s=[0.1])
LEAVES = "the fewest rows of a leaf are counted, whatever they weigh"


def auto(**settings):
    return AutoOrdinalClassifier(**{"members": ["linear", TREES], "random_state": 0, **settings})


class Failing(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        raise RuntimeError("no such\n luck")

    def predict(self, X):
        raise AssertionError


class Unsteady(ClassifierMixin, BaseEstimator):
    """A logistic model of the first column, whose certainty and bias vary from fold to fold."""

    def __init__(self, n_all, spread):
        self.n_all = n_all
        self.spread = spread

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        rng = np.random.default_rng(int(1e6 * abs(X.sum())))
        spread = 0.0 if len(y) == self.n_all else self.spread
        self.slope_, self.bias_ = np.exp(spread * rng.normal()), spread * rng.normal()
        return self

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def predict_proba(self, X):
        odds = self.slope_ * (np.array([-0.5, 0.5]) - X[:, :1]) + self.bias_
        return np.diff(expit(odds), axis=1, prepend=0.0, append=1.0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("estimator", "expected"),
    [
        (TreeOrdinalClassifier(n_estimators=10, random_state=0), {}),
        (
            BoostingOrdinalClassifier(n_estimators=5, random_state=0),
            ARGMAX
            | {f"check_sample_weight_equivalence_on_{k}_data": LEAVES for k in ("dense", "sparse")},
        ),
        (auto(members=[QUICK_LINEAR, TreeOrdinalClassifier(n_estimators=5)], cv=2), {}),
    ],
    ids=["trees", "boosting", "auto"],
)
def test_check_estimator(estimator, expected):
    assert_passes_checks(estimator, expected)


@pytest.mark.parametrize("kind", [TreeOrdinalClassifier, BoostingOrdinalClassifier])
def test_trees_learn_each_indicator(kind):
    """Beside a model of scikit-learn's for each threshold, on rows with gaps."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(300, 2))
    y = np.digitize(rows[:, 0], [-0.5, 0.5]).astype(float)
    rows[rng.random(rows.shape) < 0.1] = np.nan
    y[200:] = np.nan
    model = kind(random_state=0).fit(rows, y)
    cumulative = model.predict_cumulative(rows)
    assert (np.diff(cumulative, axis=1) >= 0).all()
    assert model.n_labeled_ == 200
    np.testing.assert_allclose(model.predict_proba(rows).sum(axis=1), 1)
    known = ~np.isnan(rows[:, 0])
    truth = np.digitize(rows[:, 0], [-0.5, 0.5])
    assert (model.predict(rows) == truth)[known].mean() > 0.9
    np.testing.assert_allclose(
        model.predict_latent(rows), model.predict_proba(rows) @ [0, 1, 2], atol=1e-12
    )
    again = kind(random_state=0).fit(rows[:200] * [1000.0, 1e-3], y[:200])
    assert (again.predict(rows * [1000.0, 1e-3]) == model.predict(rows)).mean() > 0.99


def test_trees_see_small_differences_of_large_numbers():
    """As of seconds since 1970, which 32 bits would take for equal."""
    rows = 1.6e9 + np.arange(40.0)[:, None]
    y = np.repeat([0, 1], 20)
    assert TreeOrdinalClassifier(random_state=0).fit(rows, y).score(rows, y) == 0


def test_weights_are_the_best_convex_ones():
    """Beside a grid over the simplex; with few rows drawn to equal ones."""
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 4, 4000)
    thresholds = np.array([0.5, 1.5, 2.5])
    noise = rng.normal(size=(3, 4000)) * [[0.5], [1.0], [4.0]]
    odds = thresholds - (codes + noise)[:, :, None]
    weights = stacking_weights(odds, codes, np.ones(4000))
    assert weights.sum() == pytest.approx(1)
    assert (weights > 0).all()

    def loss(w):
        z = average_log_odds(odds, np.asarray(w))
        below = codes[:, None] <= np.arange(3)
        return -np.log(np.where(below, expit(z), expit(-z))).sum(axis=1).mean()

    grid = [(a, b, 1 - a - b) for a in np.linspace(0, 1, 21) for b in np.linspace(0, 1 - a, 21)]
    assert loss(weights) < min(map(loss, grid)) + 1e-3
    few = stacking_weights(odds[:, :5], codes[:5], np.ones(5))
    assert np.ptp(few) < np.ptp(weights)
    assert few.min() >= 0.8 / 3
    double = stacking_weights(odds[:, :50].repeat(2, axis=1), codes[:50].repeat(2), np.ones(100))
    heavy = stacking_weights(odds[:, :50], codes[:50], np.full(50, 2.0))
    np.testing.assert_allclose(double, heavy, atol=1e-6)


def test_folds_hold_every_labeled_row_out_once():
    codes = np.array([0, 0, 0, -1, 1, 1, 2, -1, 0, 1])
    labeled = np.flatnonzero(codes >= 0)
    for cv in ("auto", 3, "loo"):
        folds = stack_folds(codes, cv, np.random.RandomState(0))
        assert sorted(np.concatenate([fold.test for fold in folds])) == labeled.tolist()
        for fold in folds:
            assert sorted([*fold.train, *fold.test]) == labeled.tolist()
    sizes = [np.bincount(codes[fold.test], minlength=2)[0] for fold in folds]
    assert max(sizes) == 1
    with pytest.raises(ValueError, match="cv must hold out labelled rows, each of them once"):
        stack_folds(codes, [([0, 1], [2]), ([1, 2], [2])], np.random.RandomState(0))


def test_a_member_without_a_class_gives_it_nothing():
    labels = RowLabels(np.array([0, 0, 2, 2, 4, 4, -1, 1]))
    rows = np.arange(8.0)[:, None]
    member = fit_member(TREES, rows, labels, np.arange(6), 5)
    cumulative = member.predict_cumulative(rows)
    probabilities = np.diff(cumulative, axis=1, prepend=0.0, append=1.0)
    assert cumulative.shape == (8, 4)
    assert (probabilities[:, [1, 3]] == 0).all()
    alone = fit_member(TREES, rows, labels, np.array([2, 3]), 5)
    assert alone.predict_cumulative(rows[:1]).tolist() == [[0, 0, 1, 1]]
    assert isinstance(alone, FittedMember)
    assert alone.model is None


def test_offsets_give_the_unlabeled_rows_the_shares():
    odds = np.random.default_rng(0).normal(size=(500, 1)) + np.array([-1.0, 0.0, 2.0])
    shares = np.array([0.1, 0.2, 0.3, 0.4])
    offsets = offsets_at_shares(odds, shares)
    np.testing.assert_allclose(expit(odds + offsets).mean(axis=0), [0.1, 0.3, 0.6], atol=1e-9)


def test_labels_that_contradict_shares_are_believed():
    rng = np.random.default_rng(0)
    latent = rng.logistic(size=(20_000, 1)) * 2
    odds = np.array([-1.0, 1.0]) - latent
    codes = (latent + rng.logistic(size=(20_000, 1)) > [-1.0, 1.0]).sum(axis=1)
    right = np.bincount(codes) / len(codes)
    trusts = []
    for shares in (right, right[[1, 2, 0]]):
        offsets = offsets_at_shares(odds[1000:], shares)
        trusts.append(trust_in_shares(odds[1000:], offsets, odds[:90], codes[:90], shares))
    assert trusts[0] == 1
    assert trusts[1] < 0.7


def test_known_shares_lower_the_error():
    """Over draws of few labels; the class shares are those that the rows were made with."""
    changes = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        rows = rng.normal(size=(1000, 3))
        truth = np.digitize(rows @ [1.5, 1, 0] + rng.logistic(size=1000), [-3.0, 0.0, 2.0])
        y = np.where(np.arange(1000) < 25, truth, np.nan)
        y[:4] = np.arange(4)  # every class
        shares = np.bincount(truth) / 1000
        scores = []
        for prior in ("labels", shares):
            model = auto(members=["linear"], class_prior=prior, classes=range(4)).fit(rows, y)
            scores.append(-model.score(rows[500:], truth[500:]))
        changes.append(scores[1] / scores[0])
    assert np.exp(np.log(changes).mean()) < 1.0


def test_certainty_of_folds_is_not_taken_for_class_shares():
    """Where folds differ by certainty and bias alone, shares are used as where they do not."""
    rng = np.random.default_rng(0)
    shares = np.array([0.2, 0.5, 0.3])
    codes = np.r_[np.repeat([0, 1, 2], 20), rng.choice(3, 400, p=shares)]
    rows = (codes - 1 + rng.normal(size=460))[:, None].clip(-2, 2)
    y = np.where(np.arange(460) < 60, codes, np.nan)
    steady, unsteady = (
        auto(members=[Unsteady(60, spread)], class_prior=shares).fit(rows, y)
        for spread in (0.0, 0.4)
    )
    assert not np.allclose(steady.held_out_cumulative_, unsteady.held_out_cumulative_, atol=0.05)
    assert steady.prior_trust_ > 0.8
    assert unsteady.prior_trust_ == pytest.approx(steady.prior_trust_)
    np.testing.assert_allclose(unsteady.offsets_, steady.offsets_, atol=1e-9)
    assert unsteady.shares_reason_ == steady.shares_reason_
    found, expected = (estimate_class_shares(m, rows[60:]) for m in (unsteady, steady))
    np.testing.assert_allclose(found.shares, expected.shares, atol=1e-6)


def test_a_model_with_class_shares_is_saved_whole(tmp_path):
    model = auto(class_prior=PRIOR).fit(X, Y)
    model_files.save(model, tmp_path / "m.semiordinal")
    again = model_files.load(tmp_path / "m.semiordinal")
    assert again.expected_changes_ == model.expected_changes_ != {}
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_what_a_fit_tells():
    model = auto(members="auto", class_prior=PRIOR).fit(X, Y)
    board = model.leaderboard_
    assert (
        set(board["model"])
        == {"auto", "constant", *MEMBERS}
        == {*model.members_, "auto", "constant"}
    )
    assert board["error"] == sorted(board["error"])
    assert model.weights_.sum() == pytest.approx(1)
    assert model.held_out_cumulative_.shape == (60, PROBLEM.n_classes - 1)
    assert (model.held_out_codes_ == Y[LABELED] - Y[LABELED].min()).all()
    errors = np.abs((model.held_out_cumulative_ < 0.5).sum(axis=1) - model.held_out_codes_)
    counts = np.bincount(model.held_out_codes_)
    weights = (model.class_prior_ / counts)[model.held_out_codes_]
    expected = np.average(errors, weights=weights)
    assert board["error"][board["model"].index("auto")] == pytest.approx(expected, abs=1e-9)
    assert f"{expected:.3g}" in model.reason_
    assert "always predicting the median" in model.reason_
    assert model.predict(X).shape == (260,)
    latent = model.predict_proba(X) @ np.arange(PROBLEM.n_classes)
    np.testing.assert_allclose(model.predict_latent(X), latent, atol=1e-9)


def test_the_average_is_that_of_the_log_odds():
    model = auto().fit(X, Y)
    by_hand = sum(
        weight * logit(np.clip(each.predict_cumulative(X), 0.01, 0.99))
        for weight, each in zip(model.weights_, model.estimators_, strict=True)
    )
    np.testing.assert_allclose(model.predict_cumulative(X), expit(by_hand), atol=1e-9)
    linear = LinearOrdinalClassifierCV(unlabeled_weights=(), random_state=3)
    assert model.estimators_[0].l2_ == linear.fit(X, Y).l2_


def test_poisoned_test_labels_change_nothing():
    """A row's label does not touch what is predicted for it while it is held out."""
    codes = np.where(LABELED, Y, -1).astype(int)
    folds = stack_folds(codes, 5, np.random.RandomState(0))
    splits, fold = [(each.train, each.test) for each in folds], folds[0]
    poisoned = Y.copy()
    poisoned[fold.test] = np.roll(Y[fold.test], 1)
    clean, dirty = (auto(members=["linear"], cv=splits).fit(X, y) for y in (Y, poisoned))
    position = np.searchsorted(np.flatnonzero(LABELED), fold.test)
    np.testing.assert_allclose(
        clean.held_out_cumulative_[position], dirty.held_out_cumulative_[position], atol=1e-12
    )
    assert not np.allclose(clean.held_out_cumulative_, dirty.held_out_cumulative_)


def test_members_of_any_kind():
    model = auto(
        members=[
            "kernel",
            LogisticRegression(),
            ("forest", RandomForestRegressor(10)),
            ("broken", Failing()),
        ]
    ).fit(X, Y)
    assert model.members_ == ["kernel", "LogisticRegression", "forest"]
    assert model.omitted_ == {"broken": "it failed: no such luck"}
    assert "broken was left out: it failed: no such luck." in model.reason_
    assert isinstance(model.estimators_[0], KernelOrdinalClassifierCV)
    with pytest.raises(ValueError, match=r"No model could be fitted\. Failing: it failed: no such"):
        auto(members=[Failing()]).fit(X, Y)


@pytest.mark.parametrize(("name", "kind"), [("tabicl", "TabICL"), ("tabpfn", "TabPFN")])
def test_foundation_models_by_name(name, kind, monkeypatch):
    """With a package that has the interface of theirs, and without one."""

    class Pretrained(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):
            assert not np.isnan(X).any()
            self.classes_, counts = np.unique(y, return_counts=True)
            self.shares = counts / len(y)
            return self

        def predict_proba(self, X):
            return np.tile(self.shares, (len(X), 1))

        def predict(self, X):
            return self.classes_[self.predict_proba(X).argmax(axis=1)]

    package = ModuleType(name)
    setattr(package, f"{kind}Classifier", Pretrained)
    monkeypatch.setitem(sys.modules, name, package)
    model = auto(members=["linear", name]).fit(X, Y)
    assert model.members_ == ["linear", name]
    assert isinstance(model.estimators_[1], Pretrained)
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=f"members: '{name}' needs the package {name}.*pip"):
        auto(members=["linear", name]).fit(X, Y)


def test_the_same_seed_gives_the_same_fit():
    first, second, other = (auto(random_state=seed).fit(X, Y) for seed in (0, 0, 1))
    assert (first.predict_cumulative(X) == second.predict_cumulative(X)).all()
    assert (first.predict_cumulative(X) != other.predict_cumulative(X)).any()
    parallel = auto(n_jobs=2).fit(X, Y)
    np.testing.assert_allclose(parallel.predict_cumulative(X), first.predict_cumulative(X))


def test_time_limit_leaves_models_out():
    model = auto(time_limit=0.0).fit(X, Y)
    assert model.members_ == ["linear"]
    assert "TreeOrdinalClassifier was left out: it would have gone beyond" in model.reason_


def test_tables_with_categories_and_gaps():
    rng = np.random.default_rng(0)
    kind = rng.choice(["a", "b", "c"], 400)
    size = rng.normal(size=400)
    truth = np.digitize(size + (kind == "b") * 3, [0.0, 2.0])
    frame = pd.DataFrame({"size": size, "kind": kind, "flag": rng.random(400) < 0.5})
    frame.loc[::9, "size"] = np.nan
    frame["kind"] = frame["kind"].astype("category")
    y = np.where(np.arange(400) < 150, truth, np.nan)
    model = auto().fit(frame[:200], y[:200], X_unlabeled=frame[200:])
    assert model.feature_names_in_.tolist() == ["size", "kind", "flag"]
    assert model.n_features_in_ == 3
    assert model.n_unlabeled_ == 250
    known = frame["size"].notna().to_numpy() & (np.arange(400) >= 150)
    assert np.abs(model.predict(frame) - truth)[known].mean() < 0.25
    new = frame[-1:].assign(kind="z")
    assert np.isfinite(model.predict_proba(new)).all()
    with pytest.raises(ValueError, match="X holds categories, and X_unlabeled is a source"):
        auto().fit(frame, y, X_unlabeled="rows.parquet")


def test_unlabeled_rows_from_files(tmp_path):
    names = [f"x{i}" for i in range(X.shape[1])]
    frame = pd.DataFrame(X, columns=names)
    frame[~LABELED].to_parquet(tmp_path / "rows.parquet")
    rows = str(tmp_path / "rows.parquet")
    settings = {"class_prior": PRIOR}
    streamed = auto(**settings).fit(frame[LABELED], Y[LABELED], X_unlabeled=rows)
    memory = auto(**settings).fit(frame[LABELED], Y[LABELED], X_unlabeled=frame[~LABELED])
    np.testing.assert_allclose(
        streamed.predict_cumulative(frame), memory.predict_cumulative(frame), atol=1e-8
    )
    few = auto(max_unlabeled=50).fit(frame[LABELED], Y[LABELED], X_unlabeled=rows)
    assert few.n_unlabeled_ == 50


def test_sparse_rows(monkeypatch):
    """Small ones are made dense; of others, models that would make them dense are left out."""
    rows = sparse.csr_matrix(X)
    dense, small = auto().fit(X, Y), auto().fit(rows, Y)
    np.testing.assert_allclose(small.predict_proba(rows), dense.predict_proba(X), atol=1e-9)
    monkeypatch.setattr("semiordinal._score.auto._MOST_CELLS", 1)
    large = auto(members="auto", time_limit=0.0).fit(rows, Y)
    assert large.is_sparse_
    assert "linear_ranks" in large.omitted_
    assert np.isfinite(large.predict_proba(rows)).all()


def test_few_or_all_labels():
    small = ["linear", "kernel", TREES, BoostingOrdinalClassifier(n_estimators=5)]
    full = auto(class_prior=PRIOR).fit(X[LABELED], Y[LABELED])
    assert full.n_unlabeled_ == 0
    assert "there are no unlabelled rows" in full.reason_
    rows = np.arange(9.0)[:, None]
    for y in ([1, 1, 1, 2, 2, 2, 3, 3, 3], [1, 1, 1, 1, 2, 2, 2, 2, 3], [1, 2] + [None] * 7):
        model = auto(members=small).fit(rows, y)
        assert np.isfinite(model.predict_proba(rows)).all()
        assert model.held_out_rows_.tolist() == list(range(model.n_labeled_))


def test_columns_that_say_nothing():
    """One class for all rows is said; so is an error that is no better than a constant."""
    rng = np.random.default_rng(0)
    y = np.array([1.0] * 3 + [2.0] * 30 + [3.0] * 3 + [np.nan] * 200)
    model = auto(members=["linear"]).fit(rng.normal(size=(236, 2)), y)
    assert len(np.unique(model.predict(rng.normal(size=(100, 2))))) == 1
    assert "It predicts 2.0 for every unlabelled row, as a constant would." in model.reason_


@pytest.mark.parametrize("kind", [LinearOrdinalClassifierCV, KernelOrdinalClassifierCV])
def test_a_single_class_and_an_end_of_the_penalties_are_told(kind):
    rng = np.random.default_rng(0)
    rows, y = rng.normal(size=(236, 2)), np.full(236, np.nan)
    y[:36] = [1.0] * 3 + [2.0] * 30 + [3.0] * 3
    model = kind(l2s=(1e3, 1e2), random_state=0).fit(rows, y)
    assert set(model.predict(rows[36:])) == {2.0}
    assert "It predicts 2.0 for every unlabelled row, as a constant would." in model.reason_
    assert f"The penalty, l2={model.l2_:g}, is the" in model.reason_
    clear = kind(l2s=(10.0, 1e-3, 1e-9), random_state=0).fit(rows, np.digitize(rows[:, 0], [-1, 1]))
    assert clear.l2_ == 1e-3 or "l2=" in clear.reason_
    assert "as a constant" not in clear.reason_


def test_weights_of_rows():
    """Rows of weight zero are as if they were not there."""
    weights = np.ones(len(X))
    weights[::7] = 0
    first = auto(members=["linear"], cv=3).fit(X, Y, sample_weight=weights)
    second = auto(members=["linear"], cv=3).fit(X[weights > 0], Y[weights > 0])
    np.testing.assert_allclose(first.predict_proba(X), second.predict_proba(X), atol=1e-6)
    takes_none = auto(members=["linear", ("neighbors", KNeighborsClassifier())]).fit(X, Y, weights)
    assert "takes no weights of rows" in takes_none.omitted_["neighbors"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"members": "forest"}, "members='forest' must be 'auto' or a list"),
        ({"members": []}, "members=.* must be 'auto', or a list of names"),
        ({"members": ["forest"]}, "'forest' is not known; choose from linear"),
        ({"members": ["linear", "linear"]}, "members holds linear twice"),
        ({"members": [TreeOrdinalClassifier]}, "must be a regressor or a classifier"),
        ({"task": "mae"}, "task='mae'"),
        ({"class_prior": "equal"}, "class_prior='equal' is not known"),
        ({"cv": 1}, "cv=1 must be at least 2 folds"),
        ({"time_limit": -1}, "time_limit=-1"),
        ({"max_unlabeled": 0}, "max_unlabeled=0"),
        ({"verbose": "yes"}, "verbose='yes'"),
    ],
)
def test_bad_parameters(settings, message):
    with pytest.raises(ValueError, match=message):
        auto(**settings).fit(X, Y)


def test_bad_rows():
    for bad in (np.inf, -np.inf):
        rows = X.copy()
        rows[0, 0] = bad
        with pytest.raises(ValueError, match="infinity"):
            auto().fit(rows, Y)
    with pytest.raises(ValueError, match="has no labelled row"):
        auto(classes=[*np.unique(Y[LABELED]), 99]).fit(X, Y)
    before = vars(model := auto().fit(X, Y)).copy()
    with pytest.raises(ValueError, match="features"):
        model.predict(X[:, :2])
    with pytest.raises(ValueError, match="inconsistent"):
        model.fit(X, Y[:-1])
    assert vars(model).keys() == before.keys()
    assert clone(model).get_params().keys() == model.get_params().keys()
