"""Trees of scikit-learn as nodes of a graph.

Splits and leaves stay in 64 bits; forests compare rows that are rounded to 32, as scikit-learn's
do, so that every row goes the way that it goes there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import numpy_helper
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
)

from .._utils.typing import Array, Codes
from .graph import DOUBLE, FLOAT, INT64, CannotExportError, Graph

FORESTS = (
    *(ExtraTreesClassifier, ExtraTreesRegressor, RandomForestClassifier, RandomForestRegressor),
    *(DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier, ExtraTreeRegressor),
)
BOOSTING = (HistGradientBoostingClassifier, HistGradientBoostingRegressor)
_AT_MOST, _SUM, _AS_IT_IS = 0, 1, 0  # codes of the operator


@dataclass(frozen=True)
class Tree:
    """Nodes of which the first is the root; rows at most at a split go to the left.

    Parameters
    ----------
    left, right : arrays of shape (n,)
        Positions of children; −1 in leaves.
    feature : array of shape (n,)
    split : array of shape (n,)
    missing_left : array of shape (n,)
        Whether missing values go to the left.
    """

    left: Codes
    right: Codes
    feature: Codes
    split: Array
    missing_left: NDArray[np.bool_]

    @property
    def is_leaf(self) -> NDArray[np.bool_]:
        return self.left < 0

    @classmethod
    def of_forest(cls, tree: Any) -> Tree:
        return cls(
            tree.children_left,
            tree.children_right,
            tree.feature,
            tree.threshold,
            tree.missing_go_to_left.astype(bool),
        )

    @classmethod
    def of_boosting(cls, nodes: NDArray[Any]) -> Tree:
        left, right = (nodes[side].astype(np.intp) for side in ("left", "right"))
        is_leaf = nodes["is_leaf"].astype(bool)
        return cls(
            np.where(is_leaf, -1, left),
            np.where(is_leaf, -1, right),
            nodes["feature_idx"].astype(np.intp),
            nodes["num_threshold"],
            nodes["missing_go_to_left"].astype(bool),
        )

    @classmethod
    def of_bins(cls, feature: int, splits: Array) -> Tree:
        """One whose leaves are the bins between increasing splits, in their order."""
        nodes: list[tuple[int, int, int]] = []

        def grow(low: int, high: int) -> int:
            place, middle = len(nodes), (low + high) // 2
            nodes.append((-1, -1, 0))
            if low < high:
                nodes[place] = (grow(low, middle), grow(middle + 1, high), middle)
            return place

        grow(0, len(splits))
        left, right, which = np.array(nodes).T
        return cls(
            left,
            right,
            np.full(len(nodes), feature),
            np.append(splits, 0.0)[which],
            np.zeros(len(nodes), dtype=bool),
        )


def leaf_positions(graph: Graph, rows: str, trees: Sequence[Tree]) -> str:
    """Of the leaf that a row falls in, by each tree, among those of all trees: (n, n_trees)."""
    parts: dict[str, list[Any]] = {
        name: []
        for name in ("splits", "feature", "missing", "true", "false", "true_leaf", "false_leaf")
    }
    roots, leaf_trees = [], []
    n_inner = n_leaves = 0
    for number, tree in enumerate(trees):
        is_leaf = tree.is_leaf
        inner = np.flatnonzero(~is_leaf)
        places = np.where(is_leaf, n_leaves + np.cumsum(is_leaf), n_inner + np.cumsum(~is_leaf)) - 1
        left, right = tree.left[inner], tree.right[inner]
        if not len(inner):  # the operator has no tree of a leaf alone, but both ways may meet
            inner, left, right = np.zeros((3, 1), dtype=np.intp)
        roots.append(n_inner)
        n_inner, n_leaves = n_inner + len(inner), n_leaves + int(is_leaf.sum())
        leaf_trees += [number] * int(is_leaf.sum())
        for name, values in (
            ("splits", tree.split[inner]),
            ("feature", np.maximum(tree.feature[inner], 0)),
            ("missing", tree.missing_left[inner]),
            ("true", places[left]),
            ("false", places[right]),
            ("true_leaf", is_leaf[left]),
            ("false_leaf", is_leaf[right]),
        ):
            parts[name].append(values)
    joined = {name: np.concatenate(values) for name, values in parts.items()}
    splits = joined.pop("splits").astype(np.float64)
    n_unused = _unused_leaves(roots, joined)
    for side in ("true", "false"):
        joined[side] = joined[side] + n_unused * joined[f"{side}_leaf"]
    whole = {name: values.astype(np.int64).tolist() for name, values in joined.items()}
    found = graph.tree_node(
        rows,
        aggregate_function=_SUM,
        post_transform=_AS_IT_IS,
        n_targets=len(trees),
        tree_roots=roots,
        nodes_splits=numpy_helper.from_array(splits),
        nodes_modes=numpy_helper.from_array(np.full(n_inner, _AT_MOST, dtype=np.uint8)),
        nodes_featureids=whole["feature"],
        nodes_missing_value_tracks_true=whole["missing"],
        nodes_truenodeids=whole["true"],
        nodes_falsenodeids=whole["false"],
        nodes_trueleafs=whole["true_leaf"],
        nodes_falseleafs=whole["false_leaf"],
        leaf_targetids=[0] * n_unused + leaf_trees,
        leaf_weights=numpy_helper.from_array(np.r_[np.zeros(n_unused), np.arange(float(n_leaves))]),
    )
    return graph.node("Cast", found, to=INT64)


def _unused_leaves(roots: list[int], joined: dict[str, Any]) -> int:
    """How many leaves to put before the others, to which no node leads.

    Before 1.24, onnxruntime takes a root for a leaf where one child is a leaf, the other is none,
    and both have the same number, each among its kind.
    """
    distance = (joined["false"] - joined["true"])[roots]
    of_leaf = joined["true_leaf"][roots].astype(int) - joined["false_leaf"][roots].astype(int)
    taken = set((distance * of_leaf)[of_leaf != 0].tolist())
    return next(each for each in range(len(taken) + 1) if each not in taken)


def forest_means(graph: Graph, model: Any, rows: str) -> str:
    """Means over trees of what their leaves hold: targets, or shares of classes."""
    members = [each.tree_ for each in getattr(model, "estimators_", [model])]
    trees = [Tree.of_forest(each) for each in members]
    leaves = [each.value[tree.is_leaf] for each, tree in zip(members, trees, strict=True)]
    table = np.concatenate(leaves)
    if hasattr(model, "classes_") and table.shape[1] > 1:
        raise CannotExportError(
            f"{type(model).__name__} of several targets cannot be made an ONNX graph."
        )
    rounded = graph.node("Cast", graph.node("Cast", rows, to=FLOAT), to=DOUBLE)
    positions = leaf_positions(graph, rounded, trees)
    values = graph.node("Gather", table.reshape(len(table), -1), positions, axis=0)
    return graph.node("ReduceMean", values, np.array([1]), keepdims=0)


def boosted_sums(graph: Graph, models: Sequence[Any], rows: str) -> str:
    """Sums of boosted trees, before the link: a column for each output of each model."""
    for model in models:
        if model.is_categorical_ is not None:
            raise CannotExportError(
                f"{type(model).__name__} with categorical columns cannot be made an ONNX graph: "
                "encode them as numbers, by OneHotEncoder, and leave out categorical_features."
            )
    trees, targets, leaves = [], [], []
    n_targets = 0
    for model in models:
        for iteration in model._predictors:
            for output, predictor in enumerate(iteration):
                tree = Tree.of_boosting(predictor.nodes)
                trees.append(tree)
                targets.append(n_targets + output)
                leaves.append(predictor.nodes["value"][tree.is_leaf])
        n_targets += model.n_trees_per_iteration_
    values = graph.node("Gather", np.concatenate(leaves), leaf_positions(graph, rows, trees))
    sums = graph.node("MatMul", values, np.eye(n_targets)[targets])
    baseline = np.concatenate([model._baseline_prediction.ravel() for model in models])
    return graph.node("Add", sums, baseline)
