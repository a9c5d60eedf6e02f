"""Decision trees and forests of them."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
)
from sklearn.tree._tree import NODE_DTYPE, Tree

from .._utils.typing import Array
from .estimators import StoredTrees, new_estimator
from .nodes import Nodes, pack_nodes, read_array, read_values

_TREES = (DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier, ExtraTreeRegressor)
_FORESTS = (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
_KINDS = {kind.__name__: kind for kind in (*_TREES, *_FORESTS)}
_LEAF_FEATURE, _LEAF_THRESHOLD = -2, -2.0  # of scikit-learn
_SHARE_ERROR = 1e-6


class StoredForest(StoredTrees):
    """What stands for a decision tree or a forest in a model file."""


def pack(model: Any) -> StoredForest:
    """The parameters of the estimator, and the nodes of its trees if it is fitted."""
    stored = StoredForest(model)
    if stored.n_features is None:
        return stored
    if stored.classes is not None and model.n_outputs_ > 1:
        raise ValueError(f"A {stored.kind} of several targets cannot be put in a model file.")
    trees = [each.tree_ for each in getattr(model, "estimators_", [model])]
    stored.arrays = pack_nodes(
        [tree.children_left for tree in trees],
        [tree.children_right for tree in trees],
        [tree.feature for tree in trees],
        [tree.threshold for tree in trees],
        [tree.missing_go_to_left for tree in trees],
    ) | {
        "impurity": np.concatenate([tree.impurity for tree in trees]),
        "n_samples": np.concatenate([tree.n_node_samples for tree in trees]).astype(np.int64),
        "weight": np.concatenate([tree.weighted_n_node_samples for tree in trees]),
        "values": np.concatenate([tree.value for tree in trees]),
    }
    unpack(stored)  # what could not be loaded is not saved
    return stored


def unpack(stored: StoredForest) -> Any:
    """The estimator, once its nodes are known to be trees."""
    model = new_estimator(stored, _KINDS)
    if stored.n_features is None:
        return model
    nodes = Nodes.read(stored.arrays, model.n_features_in_)
    is_forest = isinstance(model, _FORESTS)
    n_trees = model.n_estimators if is_forest else 1
    if len(nodes.counts) != n_trees:
        raise ValueError(f"There are {len(nodes.counts)} trees in place of {n_trees}.")
    values = _read_values(stored, model, len(nodes.left))
    trees = _trees(nodes, _records(stored, nodes), values, model.n_features_in_)
    model.n_outputs_ = values.shape[1]
    if hasattr(model, "classes_"):
        model.n_classes_ = len(model.classes_)
    if is_forest:
        model._validate_estimator()  # sets the kind of its trees
        model.estimators_ = list(_members(model, trees))
    else:
        (model.tree_,) = trees
    return model


def _read_values(stored: StoredForest, model: Any, n_nodes: int) -> Array:
    """Predictions of nodes, of shape (n_nodes, n_outputs, n_classes)."""
    values = read_values(stored.arrays, "values", (n_nodes, None, None))
    n_outputs, n_classes = values.shape[1:]
    if not hasattr(model, "classes_"):
        if n_outputs < 1 or n_classes != 1:
            raise ValueError(f"'values' has the shape {values.shape}, which fits no regressor.")
    elif (n_outputs, n_classes) != (1, len(model.classes_)):
        raise ValueError(f"'values' has the shape {values.shape}, which does not fit the classes.")
    elif np.any(values < 0.0) or np.any(np.abs(values.sum(axis=2) - 1.0) > _SHARE_ERROR):
        raise ValueError("'values' are no class shares.")
    return values


def _records(stored: StoredForest, nodes: Nodes) -> NDArray[Any]:
    """The nodes as scikit-learn keeps them."""
    shape = nodes.left.shape
    records = np.zeros(shape, dtype=NODE_DTYPE)
    records["left_child"], records["right_child"] = nodes.left, nodes.right
    records["feature"] = np.where(nodes.is_leaf, _LEAF_FEATURE, nodes.feature)
    records["threshold"] = np.where(nodes.is_leaf, _LEAF_THRESHOLD, nodes.threshold)
    records["missing_go_to_left"] = nodes.missing_left
    # Of no use to predictions, and infinite at times.
    records["impurity"] = read_array(stored.arrays, "impurity", np.float64, shape)
    records["n_node_samples"] = read_array(stored.arrays, "n_samples", np.int64, shape)
    records["weighted_n_node_samples"] = read_values(stored.arrays, "weight", shape)
    return records


def _trees(nodes: Nodes, records: NDArray[Any], values: Array, n_features: int) -> Iterator[Tree]:
    n_outputs, n_classes = values.shape[1:]
    depths = np.maximum.reduceat(nodes.depth, nodes.starts).tolist()
    for part, depth in zip(nodes.slices(), depths, strict=True):
        tree = Tree(n_features, np.full(n_outputs, n_classes, dtype=np.intp), n_outputs)
        tree.__setstate__(
            {
                "max_depth": depth,
                "node_count": part.stop - part.start,
                "nodes": records[part],
                "values": values[part],
            }
        )
        yield tree


def _members(forest: Any, trees: Iterator[Tree]) -> Iterator[Any]:
    """The trees of a forest as estimators; their classes are positions in the forest's."""
    member = forest._make_estimator(append=False)
    member.n_features_in_, member.n_outputs_ = forest.n_features_in_, forest.n_outputs_
    if hasattr(forest, "classes_"):
        member.n_classes_ = forest.n_classes_
        member.classes_ = np.arange(forest.n_classes_, dtype=np.float64)
    for tree in trees:
        member = copy.copy(member)
        member.tree_ = tree
        yield member
