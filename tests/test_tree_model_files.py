"""Models with trees in files: they come back to the bit, and what is no tree is refused."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import is_classifier
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import QuantileTransformer, StandardScaler
from sklearn.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
)

from mutated_models import join, split
from semiordinal import (
    AutoOrdinalClassifier,
    BoostingOrdinalClassifier,
    CalibratedOrdinalClassifier,
    LinearOrdinalClassifier,
    TreeOrdinalClassifier,
)
from semiordinal._packing import boosting, forests
from semiordinal._packing.nodes import Nodes
from semiordinal._packing.objects import replace_parts
from semiordinal._tables.columns import choose_columns
from semiordinal._tables.encoding import table_pipeline
from semiordinal.model_files import ModelFileError, load, save

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 4))
CLASSES = np.digitize(X[:, 0] + X[:, 1] ** 2, [0.0, 1.5])
Y = np.where(np.arange(120) < 60, CLASSES, np.nan)
GAPS = np.where(RNG.random(X.shape) < 0.1, np.nan, X)
FRAME = pd.DataFrame(GAPS, columns=list("abcd")).assign(
    c=pd.Categorical(RNG.choice(["low", "high", "none"], 120)),
)
NUMBERED = np.column_stack([GAPS, RNG.integers(0, 5, 120) * 7.0])

PARTS = {
    "tree": DecisionTreeRegressor(random_state=0),
    "tree of classes": DecisionTreeClassifier(max_leaf_nodes=7, random_state=0),
    "extra tree": ExtraTreeRegressor(random_state=0),
    "extra tree of classes": ExtraTreeClassifier(random_state=0),
    "forest": RandomForestRegressor(5, random_state=0),
    "pruned forest": RandomForestRegressor(5, ccp_alpha=0.02, random_state=0),
    "forest of classes": RandomForestClassifier(5, class_weight="balanced", random_state=0),
    "extra trees": ExtraTreesRegressor(5, max_leaf_nodes=9, random_state=0),
    "extra trees of classes": ExtraTreesClassifier(5, oob_score=False, random_state=0),
    "boosting": HistGradientBoostingRegressor(max_iter=4, min_samples_leaf=3),
    "boosting of counts": HistGradientBoostingRegressor(loss="poisson", max_iter=4),
    "boosting of classes": HistGradientBoostingClassifier(max_iter=4, min_samples_leaf=3),
}


def assert_same(again, model, rows):
    for method in ("predict", "predict_proba", "predict_latent", "decision_function"):
        if hasattr(model, method):
            found, expected = getattr(again, method)(rows), getattr(model, method)(rows)
            np.testing.assert_array_equal(found, expected, err_msg=method)


@pytest.mark.parametrize("name", PARTS)
def test_a_calibrated_model_with_trees_comes_back(name, tmp_path):
    model = CalibratedOrdinalClassifier(PARTS[name], random_state=0).fit(GAPS, Y)
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    assert_same(again, model, GAPS)
    assert_same(again.estimator_, model.estimator_, GAPS)
    assert repr(again) == repr(model)
    assert again.estimator_.get_params() == model.estimator_.get_params()


@pytest.mark.parametrize("name", [name for name, part in PARTS.items() if is_classifier(part)])
def test_a_classifier_of_scikit_learn_comes_back_by_itself(name, tmp_path):
    names = np.array(["low", "mid", "top"])[CLASSES]
    model = PARTS[name].fit(GAPS, names)
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    assert type(again) is type(model)
    assert_same(again, model, GAPS)


OWN = {
    "trees": TreeOrdinalClassifier(n_estimators=5, random_state=np.random.RandomState(0)),
    "boosting": BoostingOrdinalClassifier(n_estimators=5, random_state=0),
    "automatic": AutoOrdinalClassifier(
        members=["linear", "linear_ranks", "trees", "boosting"], cv=3, random_state=0
    ),
}


@pytest.mark.parametrize("name", OWN)
def test_our_classifiers_of_trees_come_back(name, tmp_path):
    model = OWN[name].fit(GAPS, Y)
    save(model, tmp_path / "model")
    assert_same(load(tmp_path / "model"), model, GAPS)


def test_the_automatic_classifier_of_a_frame_with_texts_comes_back(tmp_path):
    model = AutoOrdinalClassifier(members=["linear", "boosting"], cv=3, random_state=0)
    model.fit(FRAME, Y)
    save(model, tmp_path / "model")
    assert_same(load(tmp_path / "model"), model, FRAME)


def test_a_pipeline_from_a_table_comes_back(tmp_path):
    table = FRAME.astype({"c": object}).assign(y=CLASSES)
    choice = choose_columns(table.drop(columns="y"))
    forest = CalibratedOrdinalClassifier(ExtraTreesRegressor(5), random_state=0)
    model = table_pipeline(choice, forest).fit(table, Y)
    save(model, tmp_path / "model")
    assert_same(load(tmp_path / "model"), model, table)


def test_steps_that_rank_columns_and_mark_gaps_come_back(tmp_path):
    columns = make_union(StandardScaler(), QuantileTransformer(n_quantiles=20))
    gaps = SimpleImputer(strategy="median", add_indicator=True)
    model = make_pipeline(gaps, columns, LinearOrdinalClassifier()).fit(GAPS, Y)
    save(model, tmp_path / "model")
    assert_same(load(tmp_path / "model"), model, GAPS)


@pytest.mark.parametrize(
    ("rows", "columns"),
    [
        (FRAME, "from_dtype"),
        (FRAME.astype({"c": object}), ["c"]),
        (NUMBERED, [4]),
        (NUMBERED, np.arange(5) == 4),
        (np.column_stack([NUMBERED[:, :2], np.array(FRAME["c"], dtype=object)]), [2]),
    ],
    ids=["by type", "by name", "by number", "by mask", "texts without names"],
)
def test_boosting_of_categories_comes_back(rows, columns, tmp_path):
    """Also for categories that it has not seen."""
    target = CLASSES + 2 * (np.asarray(rows)[:, -1] == np.asarray(rows)[0, -1])
    model = HistGradientBoostingClassifier(
        categorical_features=columns, max_iter=10, min_samples_leaf=3
    ).fit(rows, target)
    splits = [tree.nodes["is_categorical"].sum() for step in model._predictors for tree in step]
    assert sum(splits) > 0
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    assert_same(again, model, rows)
    if isinstance(rows, np.ndarray):
        new = rows.copy()
        new[::2, -1] = 3.0 if rows.dtype == float else "other"
        assert_same(again, model, new)


def test_trees_are_those_of_scikit_learn():
    """Down to what predictions do not need: depths, importances, paths, partial dependence."""
    forest = RandomForestRegressor(5, random_state=0).fit(X, CLASSES)
    again = forests.unpack(forests.pack(forest))
    for new, old in zip(again.estimators_, forest.estimators_, strict=True):
        assert new.tree_.max_depth == old.tree_.max_depth
        for name, state in old.tree_.__getstate__().items():
            np.testing.assert_array_equal(new.tree_.__getstate__()[name], state, err_msg=name)
    np.testing.assert_array_equal(again.feature_importances_, forest.feature_importances_)
    assert (again.decision_path(X)[0] != forest.decision_path(X)[0]).nnz == 0
    boosted = HistGradientBoostingRegressor(max_iter=4).fit(X, CLASSES)
    again = boosting.unpack(boosting.pack(boosted))
    for (new,), (old,) in zip(again._predictors, boosted._predictors, strict=True):
        left_out = {"gain", "bin_threshold"}
        for name in set(old.nodes.dtype.names) - left_out:
            np.testing.assert_array_equal(new.nodes[name], old.nodes[name], err_msg=name)


def test_several_targets_come_back():
    targets = (CLASSES[:, None] <= [0, 1]).astype(float)
    forest = ExtraTreesRegressor(5, random_state=0).fit(X, targets)
    assert_same(forests.unpack(forests.pack(forest)), forest, X)
    both = RandomForestClassifier(2).fit(X, targets)
    with pytest.raises(ValueError, match="several targets"):
        forests.pack(both)


def test_a_model_is_not_changed_by_saving(tmp_path):
    random = np.random.RandomState(0)
    model = CalibratedOrdinalClassifier(RandomForestRegressor(3, random_state=random)).fit(X, Y)
    save(model, tmp_path / "model")
    assert model.estimator.random_state is random
    assert type(model.estimator_) is RandomForestRegressor
    assert load(tmp_path / "model").estimator.random_state is None


def test_parts_are_replaced_wherever_they_are():
    inner = LinearOrdinalClassifier(l2=[1, {"a": (2, 3)}])
    outer = CalibratedOrdinalClassifier(inner, cv=inner)
    new = replace_parts(outer, lambda part: 9 if part == 3 else part)
    assert new.estimator.l2 == [1, {"a": (2, 9)}]
    assert new.cv is new.estimator, "what was one part stays one"
    assert inner.l2 == [1, {"a": (2, 3)}]
    assert replace_parts(outer, lambda part: part) is outer


def naive_depths(left, right):
    """By walking down from the root."""
    depths = {}
    waiting = [(0, 0)]
    while waiting:
        node, depth = waiting.pop()
        depths[node] = depth
        if left[node] != -1:
            waiting += [(left[node], depth + 1), (right[node], depth + 1)]
    return [depths[node] for node in range(len(left))]


def test_depths_are_those_of_a_walk():
    forest = ExtraTreesRegressor(4, random_state=0).fit(X, CLASSES)
    nodes = Nodes.read(forests.pack(forest).arrays, 4)
    expected = [
        naive_depths(tree.tree_.children_left, tree.tree_.children_right)
        for tree in forest.estimators_
    ]
    assert nodes.depth.tolist() == np.concatenate(expected).tolist()


def set_to(name, place, value):
    def change(arrays):
        arrays[name][place] = value

    return change


def as_type(name, dtype):
    return lambda arrays: arrays.update({name: arrays[name].astype(dtype)})


def swap(one, other):
    return lambda arrays: arrays.update({one: arrays[other], other: arrays[one]})


def cut(name):
    return lambda arrays: arrays.update({name: arrays[name][:-1]})


BOTH = {
    "cycle": (set_to("left", 1, 0), "not below"),
    "child of itself": (set_to("right", 0, 0), "not below"),
    "child in no tree": (set_to("right", 0, 2**31 - 1), "not below"),
    "negative child": (set_to("left", 0, -7), "not below"),
    "shared child": (lambda a: set_to("right", 0, a["left"][0])(a), "no parent, or several"),
    "half a leaf": (set_to("left", 0, -1), "leaf of a tree has a child"),
    "feature beyond": (set_to("feature", 0, 4), "not one of its 4"),
    "negative feature": (set_to("feature", 0, -2), "not one of its 4"),
    "feature of a leaf": (set_to("feature", -1, 1), "feature to split by"),
    "NaN threshold": (set_to("threshold", 0, np.nan), "threshold"),
    "infinite threshold": (set_to("threshold", 0, -np.inf), "threshold"),
    "gaps to nowhere": (set_to("missing_left", 0, 2), "missing_left"),
    "other type": (as_type("left", np.int64), "no array of int32"),
    "other byte order": (as_type("threshold", ">f8"), "no array of float64"),
    "numbers for truth": (as_type("missing_left", bool), "no array of uint8"),
    "swapped children": (swap("left", "feature"), r"tree"),
    "cut children": (cut("left"), "node_counts"),
    "cut features": (cut("feature"), "shape"),
    "lost tree": (cut("node_counts"), "node_counts"),
    "no trees": (lambda a: a.update(node_counts=np.zeros(0, np.int64)), "node_counts"),
    "huge tree": (set_to("node_counts", 0, 2**62), "node_counts"),
    "absent": (lambda a: a.pop("right"), "no array"),
}
FOREST_ONLY = {
    "NaN value": (set_to("values", 0, np.nan), "values"),
    "huge value": (set_to("values", 0, 1e308), "values"),
    "other outputs": (lambda a: a.update(values=a["values"][:, :0]), "values"),
    "classes of a regressor": (lambda a: a.update(values=a["values"].repeat(2, 2)), "regressor"),
    "cut weights": (cut("weight"), "shape"),
}
BOOSTING_ONLY = {
    "NaN value": (set_to("value", 0, np.nan), "value"),
    "infinite start": (set_to("baseline", 0, np.inf), "baseline"),
    "two starts": (lambda a: a.update(baseline=np.zeros((1, 2))), "baseline"),
    "sets of nothing": (lambda a: a.update(left_categories=np.zeros((1, 8), np.uint32)), "shape"),
}


@pytest.mark.parametrize("name", BOTH | FOREST_ONLY)
def test_what_is_no_forest_is_refused(name):
    change, reason = (BOTH | FOREST_ONLY)[name]
    stored = forests.pack(ExtraTreesRegressor(3, max_depth=3, random_state=0).fit(X, CLASSES))
    change(stored.arrays)
    with pytest.raises(ValueError, match=reason):
        forests.unpack(stored)


@pytest.mark.parametrize("name", BOTH | BOOSTING_ONLY)
def test_what_is_no_boosting_is_refused(name):
    change, reason = (BOTH | BOOSTING_ONLY)[name]
    stored = boosting.pack(HistGradientBoostingRegressor(max_iter=3).fit(X, CLASSES))
    change(stored.arrays)
    with pytest.raises(ValueError, match=reason):
        boosting.unpack(stored)


@pytest.mark.parametrize(
    ("attribute", "value", "reason"),
    [
        ("kind", "GradientBoostingClassifier", "no estimator"),
        ("kind", "RandomForestRegressor", "criterion"),
        ("n_features", 3, "not one of its 3"),
        ("n_features", 2**40, "no number of features"),
        ("n_features", True, "no number of features"),
        ("feature_names", np.array(["a"]), "one name for each"),
        ("classes", np.arange(2), "classes"),
        ("classes", np.array([0.0, np.nan, 1.0]), "class is NaN"),
        ("params", {"n_estimators": 4}, "3 trees in place of 4"),
        ("params", {"n_estimators": 3, "n_jobs": 10**6}, "n_jobs"),
        ("params", {"n_estimators": 3, "max_depth": "deep"}, "max_depth"),
    ],
)
def test_what_does_not_fit_its_trees_is_refused(attribute, value, reason):
    stored = forests.pack(RandomForestClassifier(3, random_state=0).fit(X, CLASSES))
    setattr(stored, attribute, value)
    with pytest.raises(ValueError, match=reason):
        forests.unpack(stored)


def test_a_split_of_categories_is_by_a_column_that_has_them():
    """Else scikit-learn would look for its categories beyond an array's end."""
    model = HistGradientBoostingClassifier(categorical_features=[4], min_samples_leaf=3, max_iter=9)
    stored = boosting.pack(model.fit(NUMBERED, NUMBERED[:, 4] == 7))
    stored.is_categorical = None
    with pytest.raises(ValueError, match="left_categories"):
        boosting.unpack(stored)


def test_parameters_of_another_version_are_left_out():
    stored = forests.pack(DecisionTreeRegressor().fit(X, CLASSES))
    stored.params = {**stored.params, "not_yet_known": 1}
    stored.params.pop("monotonic_cst")
    assert forests.unpack(stored).get_params() == DecisionTreeRegressor().get_params()


@pytest.mark.parametrize("n_numbers", [10**6, 10**15])
def test_an_array_that_says_it_is_larger_is_refused(n_numbers, tmp_path):
    path = tmp_path / "model"
    save(DecisionTreeClassifier().fit(X, CLASSES), path)
    manifest, payload = split(path)
    file = next(name for name in payload if name.endswith(".npy"))
    array = np.load(io.BytesIO(payload[file]))
    header = {"descr": array.dtype.str, "fortran_order": False, "shape": (n_numbers,)}
    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(buffer, header)
    path.write_bytes(join(manifest, payload | {file: buffer.getvalue() + array.tobytes()}))
    with pytest.raises(ModelFileError, match="not as large as it says"):
        load(path)


def test_an_array_that_is_read_many_times_is_refused(tmp_path):
    path = tmp_path / "model"
    save(DecisionTreeClassifier().fit(X, CLASSES), path)
    manifest, payload = split(path)
    files = [name for name in payload if name.endswith(".npy")]
    schema = payload["schema.json"].replace(files[1].encode(), files[0].encode())
    path.write_bytes(join(manifest, payload | {"schema.json": schema}))
    with pytest.raises(ModelFileError, match="more than once"):
        load(path)


@pytest.mark.slow
def test_mutated_files_are_refused_or_predict():
    """In a process of its own, so that a crash is seen."""
    command = [sys.executable, str(Path(__file__).with_name("mutated_models.py"))]
    result = subprocess.run(
        [*command, "--count", "230"], capture_output=True, text=True, check=False, timeout=300
    )
    assert result.returncode == 0, result.stdout[-500:] + result.stderr[-500:]
    outcomes = json.loads(result.stdout.splitlines()[-2])
    assert outcomes.keys() == {"refused", "finite"}, result.stdout[-2000:]
    assert outcomes["refused"] > outcomes["finite"] > 20
