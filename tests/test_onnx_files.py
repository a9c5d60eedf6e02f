"""ONNX graphs of classifiers predict what the classifiers do."""

from __future__ import annotations

import json
import os

import numpy as np
import pytest
from sklearn.ensemble import (
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import (
    OneHotEncoder,
    PolynomialFeatures,
    QuantileTransformer,
    StandardScaler,
)
from sklearn.tree import DecisionTreeRegressor

from semiordinal import (
    AutoOrdinalClassifier,
    BoostingOrdinalClassifier,
    CalibratedOrdinalClassifier,
    KernelOrdinalClassifier,
    KernelOrdinalClassifierCV,
    LinearOrdinalClassifier,
    LinearOrdinalClassifierCV,
    TreeOrdinalClassifier,
)
from semiordinal.datasets import load, mask_labels

onnx = pytest.importorskip("onnx", reason="the extra onnx is not installed")
onnxruntime = pytest.importorskip("onnxruntime", reason="the extra onnx is not installed")

from semiordinal._utils.files import OutputError  # noqa: E402
from semiordinal.onnx_files import to_onnx  # noqa: E402

SEARCH = {"l2s": (0.1, 0.01), "cv": 3, "n_repeats": 1, "random_state": 0}
NAMES = ["poor", "fair", "good"]
SMALL = {"n_estimators": 7, "random_state": 0}
BOOSTING = {"max_iter": 5, "min_samples_leaf": 5, "random_state": 0}


def calibrated(estimator):
    return CalibratedOrdinalClassifier(estimator, cv=2, random_state=0)


MODELS = [
    LinearOrdinalClassifier(),
    LinearOrdinalClassifier(loss="ls"),
    LinearOrdinalClassifierCV(class_prior="uniform", **SEARCH),
    KernelOrdinalClassifier(penalty="coef"),
    KernelOrdinalClassifier(kernel="laplace", column_weights=[1.0, 2.0, 0.5]),
    KernelOrdinalClassifierCV(bandwidths=(1.0,), **SEARCH),
    TreeOrdinalClassifier(n_estimators=10, random_state=0),
    TreeOrdinalClassifier(min_samples_leaf=60, **SMALL),  # a leaf alone
    BoostingOrdinalClassifier(n_estimators=5, task="squared", random_state=0),
    AutoOrdinalClassifier(cv=2, class_prior="uniform", random_state=0),
    AutoOrdinalClassifier(
        members=[RandomForestClassifier(**SMALL), HistGradientBoostingClassifier(**BOOSTING)],
        task="zero_one",
        cv=2,
        random_state=0,
    ),
    calibrated(RandomForestRegressor(**SMALL)),
    calibrated(DecisionTreeRegressor(random_state=0)),
    calibrated(ExtraTreesClassifier(**SMALL)),
    calibrated(HistGradientBoostingClassifier(**BOOSTING)),
    calibrated(HistGradientBoostingRegressor(loss="poisson", **BOOSTING)),
    calibrated(make_pipeline(StandardScaler(), LinearOrdinalClassifier())),
    calibrated(TreeOrdinalClassifier(**SMALL)),
]


def rows(seed, n_rows):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3)) * [0.1, 1.0, 30.0] + [5.0, 0.0, -300.0]
    score = (X - [5.0, 0.0, -300.0]) @ [10.0, -1.0, 0.02] + rng.logistic(size=n_rows)
    return X, np.array(NAMES)[np.digitize(score, [-1.0, 1.0])]


def run(path, new):
    session = onnxruntime.InferenceSession(path)
    names = [each.name for each in session.get_outputs()]
    return dict(zip(names, session.run(None, {"rows": new}), strict=True)), session


def check_same(model, new, path):
    to_onnx(model, path)
    found, session = run(path, new)
    final = model[-1] if hasattr(model, "steps") else model
    np.testing.assert_array_equal(final.class_order_[found["position"]], model.predict(new))
    if final is model:
        np.testing.assert_allclose(found["latent"], model.predict_latent(new), rtol=1e-8, atol=1e-8)
    assert ("cumulative" in found) == hasattr(final, "predict_cumulative")
    if "cumulative" in found:
        in_order = np.searchsorted(final.classes_, final.class_order_)
        expected = np.cumsum(model.predict_proba(new)[:, in_order], axis=1)[:, :-1]
        np.testing.assert_allclose(found["cumulative"], expected, rtol=1e-8, atol=1e-10)
    return session


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_predictions_are_the_same(model, tmp_path):
    X, y = rows(0, 80)
    model.set_params(classes=NAMES).fit(X, y)
    session = check_same(model, rows(1, 1000)[0], tmp_path / "model.onnx")
    stored = session.get_modelmeta().custom_metadata_map["class_order"]
    assert json.loads(stored) == NAMES


def test_files_are_overwritten_only_by_force(tmp_path):
    X, y = rows(0, 40)
    model = LinearOrdinalClassifier(classes=NAMES).fit(X, y)
    to_onnx(model, tmp_path / "model.onnx")
    with pytest.raises(OutputError):
        to_onnx(model, tmp_path / "model.onnx")
    to_onnx(model, tmp_path / "model.onnx", force=True)


@pytest.mark.parametrize(
    "model",
    [
        TreeOrdinalClassifier(**SMALL),
        BoostingOrdinalClassifier(n_estimators=5, random_state=0),
        AutoOrdinalClassifier(members=["linear_ranks", "trees"], cv=2, random_state=0),
        make_pipeline(
            SimpleImputer(add_indicator=True, keep_empty_features=True),
            make_union(StandardScaler(), QuantileTransformer(n_quantiles=9)),
            LinearOrdinalClassifier(),
        ),
    ],
    ids=lambda model: type(model).__name__,
)
def test_gaps_and_repeated_values(model, tmp_path):
    """Quantiles that are equal, rows on them and beyond the outer ones, and NaN."""

    def with_gaps(X, seed):
        X = np.column_stack([X, X[:, 0].round(1), np.where(X[:, 1] > -1, 0.0, X[:, 1])])
        X[np.random.default_rng(seed).random(X.shape) < 0.1] = np.nan
        return X

    X, y = rows(0, 80)
    last = "linearordinalclassifier__classes" if hasattr(model, "steps") else "classes"
    model.set_params(**{last: NAMES}).fit(with_gaps(X, 0), y)
    new = np.concatenate(
        [with_gaps(rows(1, 500)[0], 1), with_gaps(X, 2), [[9.0] * 5, [-999.0] * 5]]
    )
    check_same(model, new, tmp_path / "model.onnx")


def test_rows_at_a_split_go_the_same_way(tmp_path):
    """Forests round rows to 32 bits and compare these with splits of 64."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 1))
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    for model in (
        calibrated(RandomForestRegressor(**SMALL)),
        calibrated(HistGradientBoostingRegressor(**BOOSTING)),
    ):
        model.fit(X, y)
        if hasattr(model.estimator_, "estimators_"):
            splits = np.concatenate([each.tree_.threshold for each in model.estimator_.estimators_])
        else:
            splits = np.concatenate(
                [
                    each.nodes["num_threshold"]
                    for row in model.estimator_._predictors
                    for each in row
                ]
            )
        new = np.concatenate([np.nextafter(splits, -np.inf), splits, np.nextafter(splits, np.inf)])
        check_same(model, new[:, None], tmp_path / f"{type(model.estimator_).__name__}.onnx")


def test_no_root_looks_like_a_leaf_to_older_runtimes(tmp_path):
    """onnxruntime before 1.24 takes a root for a leaf where both children have one number."""
    X = np.random.default_rng(0).normal(size=(60, 1))
    model = calibrated(HistGradientBoostingRegressor(**BOOSTING))
    to_onnx(model.fit(X, np.digitize(X[:, 0], [-0.5, 0.5])), tmp_path / "model.onnx")
    nodes = onnx.load(tmp_path / "model.onnx").graph.node
    (trees,) = (node for node in nodes if node.op_type == "TreeEnsemble")
    found = {each.name: np.array(each.ints) for each in trees.attribute if each.ints}
    roots = found["tree_roots"]
    mixed = (found["nodes_trueleafs"] != found["nodes_falseleafs"])[roots]
    same = (found["nodes_truenodeids"] == found["nodes_falsenodeids"])[roots]
    assert mixed.any()
    assert not (mixed & same).any()


def test_two_classes(tmp_path):
    X, y = rows(0, 60)
    for model in (
        TreeOrdinalClassifier(**SMALL),
        calibrated(HistGradientBoostingClassifier(**BOOSTING)),
        calibrated(LinearOrdinalClassifier()),
    ):
        model.fit(X, y == "good")
        name = f"{type(getattr(model, 'estimator', model)).__name__}.onnx"
        check_same(model, rows(1, 300)[0], tmp_path / name)


def test_classes_placed_by_their_shares(tmp_path):
    X, y = rows(0, 200)
    some = np.where((np.arange(200) < 80) & (y != "fair"), y, None)
    model = AutoOrdinalClassifier(
        members=["linear", "trees"], classes=NAMES, class_prior=[0.3, 0.4, 0.3], random_state=0
    ).fit(X, some)
    check_same(model, X, tmp_path / "model.onnx")


@pytest.mark.skipif("SEMIORDINAL_DATA" not in os.environ, reason="SEMIORDINAL_DATA names no folder")
@pytest.mark.parametrize("name", ["swd", "stock-5", "cement-strength"])
def test_a_thousand_rows_of_real_sets(name, tmp_path):
    X, y = load(name)
    masked = mask_labels(y, n_labeled=60, random_state=0)
    trees = TreeOrdinalClassifier(random_state=0)
    boosting = BoostingOrdinalClassifier(random_state=0)
    auto = AutoOrdinalClassifier(cv=2, random_state=0)
    new = np.concatenate([X, X[:50] + 1e-9])[:1000]
    for model in (trees, boosting, auto):
        check_same(model.fit(X, masked), new, tmp_path / f"{type(model).__name__}.onnx")


def test_models_that_cannot_be_graphs(tmp_path):
    X, y = rows(0, 60)
    path = tmp_path / "model.onnx"
    probit = LinearOrdinalClassifier(loss="cl", link="probit", classes=NAMES).fit(X, y)
    bayes = GaussianNB().fit(X, y)
    member = AutoOrdinalClassifier(members=["linear", ("other", bayes)], classes=NAMES, cv=2)
    polynomial = make_pipeline(PolynomialFeatures(), LinearOrdinalClassifier(classes=NAMES))
    categorical = HistGradientBoostingRegressor(categorical_features=[0], **BOOSTING)
    codes = np.column_stack([np.arange(60) % 4, X[:, 1]])
    for model, message in (
        (probit, "link='probit' cannot"),
        (bayes, "GaussianNB cannot be made an ONNX graph. Use Linear"),
        (calibrated(GaussianNB()).set_params(classes=NAMES).fit(X, y), "GaussianNB"),
        (member.fit(X, y), "members: 'other' is the reason. GaussianNB cannot"),
        (polynomial.fit(X, y), "PolynomialFeatures with these settings cannot be made part"),
        (calibrated(categorical).set_params(classes=NAMES).fit(codes, y), "OneHotEncoder"),
    ):
        with pytest.raises(ValueError, match=message):
            to_onnx(model, path)
    assert not path.exists()


def test_an_average_that_weighs_classes(tmp_path):
    X, y = rows(0, 60)
    weights = dict(zip(NAMES, [5.0, 1.0, 2.0, 0.5, 1.5], strict=False))
    settings = {"members": ["linear"], "classes": NAMES, "cv": 2, "class_weight": weights}
    check_same(AutoOrdinalClassifier(**settings).fit(X, y), X, tmp_path / "model.onnx")


def test_frames_with_categories_are_to_be_encoded(tmp_path):
    pd = pytest.importorskip("pandas")
    X, y = rows(0, 60)
    frame = pd.DataFrame({"kind": np.tile(["a", "b", "c"], 20), "size": X[:, 1]})
    model = AutoOrdinalClassifier(members=["linear"], classes=NAMES, cv=2).fit(frame, y)
    with pytest.raises(ValueError, match="Encode the categories before fitting"):
        to_onnx(model, tmp_path / "model.onnx")
    kinds = OneHotEncoder(sparse_output=False).fit_transform(frame[["kind"]])
    encoded = np.column_stack([kinds, frame["size"]])
    check_same(model.fit(encoded, y), encoded, tmp_path / "model.onnx")
