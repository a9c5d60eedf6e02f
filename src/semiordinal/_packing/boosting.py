"""Boosted trees of scikit-learn's histogram kind."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.ensemble._hist_gradient_boosting.binning import _BinMapper
from sklearn.ensemble._hist_gradient_boosting.common import PREDICTOR_RECORD_DTYPE
from sklearn.ensemble._hist_gradient_boosting.predictor import TreePredictor

from .estimators import StoredTrees, new_estimator
from .nodes import Nodes, pack_nodes, read_array, read_values

_KINDS = {
    kind.__name__: kind for kind in (HistGradientBoostingClassifier, HistGradientBoostingRegressor)
}
_BITSET_LENGTH = 8  # a bit for each of 256 categories, in words of 32
_LARGEST_LOGARITHM = 700.0  # whose exponential is finite


class StoredBoosting(StoredTrees):
    """What stands for boosted trees in a model file."""

    def __init__(self, model: Any):
        super().__init__(model)
        self.is_categorical = getattr(model, "is_categorical_", None)
        self.categories: list[NDArray[Any]] = []  # of each column that is categorical


def pack(model: Any) -> StoredBoosting:
    """The parameters of the estimator, and the nodes of its trees if it is fitted."""
    stored = StoredBoosting(model)
    if stored.n_features is None:
        return stored
    if stored.is_categorical is not None:
        stored.categories = list(model._preprocessor.named_transformers_["encoder"].categories_)
    predictors = [each for iteration in model._predictors for each in iteration]
    trees = [each.nodes for each in predictors]
    stored.arrays = pack_nodes(
        [_children(tree, "left") for tree in trees],
        [_children(tree, "right") for tree in trees],
        [tree["feature_idx"] for tree in trees],
        [tree["num_threshold"] for tree in trees],
        [tree["missing_go_to_left"] for tree in trees],
    ) | {
        "value": np.concatenate([tree["value"] for tree in trees]),
        "count": np.concatenate([tree["count"] for tree in trees]),
        "left_categories": np.concatenate([_bitsets(each) for each in predictors]),
        "baseline": model._baseline_prediction,
    }
    unpack(stored)  # what could not be loaded is not saved
    return stored


def _children(nodes: NDArray[Any], side: str) -> NDArray[np.int32]:
    return np.where(nodes["is_leaf"] == 1, np.int32(-1), nodes[side].astype(np.int32))


def _bitsets(predictor: TreePredictor) -> NDArray[np.uint32]:
    """For each node that splits categories, in order, those that go to the left."""
    nodes = predictor.nodes
    return predictor.raw_left_cat_bitsets[nodes["bitset_idx"][nodes["is_categorical"] == 1]]


def unpack(stored: StoredBoosting) -> Any:
    """The estimator, once its nodes are known to be trees."""
    model = new_estimator(stored, _KINDS)
    if stored.n_features is None:
        return model
    n_features = model.n_features_in_
    nodes = Nodes.read(stored.arrays, n_features)
    n_classes = len(model.classes_) if hasattr(model, "classes_") else 1
    n_outputs = 1 if n_classes <= 2 else n_classes
    if len(nodes.counts) % n_outputs:
        raise ValueError(f"{len(nodes.counts)} trees are not as many for each class.")
    _set_categories(model, stored)
    predictors = _predictors(nodes, stored.arrays, model._bin_mapper.is_categorical_ == 1)
    model.n_trees_per_iteration_ = n_outputs
    model._n_features = n_features
    model._predictors = [
        predictors[start : start + n_outputs] for start in range(0, len(predictors), n_outputs)
    ]
    model._baseline_prediction = read_values(stored.arrays, "baseline", (1, n_outputs))
    model._loss = model._get_loss(sample_weight=None)
    _check_sum(model)
    return model


def _set_categories(model: Any, stored: StoredBoosting) -> None:
    """What encodes categorical columns, which come before the others then."""
    mask, n_features = stored.is_categorical, model.n_features_in_
    is_encoded, known = np.zeros(n_features, dtype=bool), None
    model.is_categorical_ = model._preprocessor = model._is_categorical_remapped = None
    if mask is not None:
        mask = read_array({"is_categorical": mask}, "is_categorical", bool, (n_features,))
        _, known = model._preprocess_X(_rows_of_categories(model, stored, mask), reset=True)
        encoder = model._preprocessor.named_transformers_["encoder"]
        found = [each.tolist() for each in encoder.categories_]
        if repr(found) != repr([each.tolist() for each in stored.categories]):  # NaN among them
            raise ValueError("The categories are not in order.")
        if not np.array_equal(model.is_categorical_, mask):
            raise ValueError("Other columns are categorical than the parameters say.")
        if model.n_features_in_ != n_features:
            raise ValueError("The columns are not those that the categories are of.")
        is_encoded = model._is_categorical_remapped
    mapper = _BinMapper(
        n_bins=model.max_bins + 1, is_categorical=is_encoded, known_categories=known
    )
    mapper.is_categorical_ = is_encoded.astype(np.uint8)
    mapper.bin_thresholds_ = known  # all that prediction asks for are those of categories
    mapper.missing_values_bin_idx_ = model.max_bins
    model._bin_mapper = mapper


def _rows_of_categories(model: Any, stored: StoredBoosting, mask: NDArray[np.bool_]) -> Any:
    """Rows in which each category is there, from which scikit-learn makes its encoder."""
    categories = stored.categories
    if len(categories) != mask.sum() or not all(_is_list(each) for each in categories):
        raise ValueError("There is not a list of categories for each categorical column.")
    n_rows = max(len(each) for each in categories)
    given = iter(categories)
    columns = [
        np.resize(next(given), n_rows) if is_categorical else np.zeros(n_rows)
        for is_categorical in mask
    ]
    if stored.feature_names is None:
        is_number = all(column.dtype.kind in "biuf" for column in columns)
        rows = np.empty((n_rows, len(columns)), dtype=np.float64 if is_number else object)
        for place, column in enumerate(columns):
            rows[:, place] = column
        return rows
    import pandas as pd

    frame = pd.DataFrame(dict(zip(model.feature_names_in_, columns, strict=True)))
    if isinstance(model.categorical_features, str):  # by the types of a data frame
        frame = frame.astype(dict.fromkeys(frame.columns[mask], "category"))
    return frame


def _is_list(categories: Any) -> bool:
    return isinstance(categories, np.ndarray) and categories.ndim == 1 and len(categories) > 0


def _predictors(
    nodes: Nodes, arrays: dict[str, Any], is_categorical: NDArray[np.bool_]
) -> list[TreePredictor]:
    """The trees as scikit-learn keeps them."""
    shape = nodes.left.shape
    is_set = ~nodes.is_leaf & is_categorical[nodes.feature]
    records = np.zeros(shape, dtype=PREDICTOR_RECORD_DTYPE)
    records["is_leaf"] = nodes.is_leaf
    records["left"] = np.where(nodes.is_leaf, 0, nodes.left)
    records["right"] = np.where(nodes.is_leaf, 0, nodes.right)
    records["feature_idx"] = np.where(nodes.is_leaf, 0, nodes.feature)
    records["num_threshold"] = nodes.threshold
    records["missing_go_to_left"] = nodes.missing_left
    records["depth"] = nodes.depth
    records["is_categorical"] = is_set
    records["value"] = read_values(arrays, "value", shape)
    records["count"] = read_array(arrays, "count", np.uint32, shape)
    records["gain"] = math.nan  # is not in the file
    sets = read_array(arrays, "left_categories", np.uint32, (int(is_set.sum()), _BITSET_LENGTH))
    before: NDArray[np.int64] = np.cumsum(is_set) - is_set
    predictors = []
    for part in nodes.slices():
        first = int(before[part.start])
        records["bitset_idx"][part] = np.where(is_set[part], before[part] - first, 0)
        own_sets = sets[first : first + int(is_set[part].sum())]
        predictors.append(TreePredictor(records[part], own_sets, own_sets))
    return predictors


def _check_sum(model: Any) -> None:
    """Raise if the exponential of a prediction could be infinite, where it is taken."""
    if model.loss not in ("gamma", "poisson"):
        return
    largest = np.abs(model._baseline_prediction).max() + sum(
        np.abs(tree.nodes["value"]).max() for (tree,) in model._predictors
    )
    if largest > _LARGEST_LOGARITHM:
        raise ValueError("'value' holds numbers that are too large.")
