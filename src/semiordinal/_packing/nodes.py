"""Nodes of binary trees in plain arrays, and whether they are trees."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._utils.typing import Array

_LEAF = -1
# No product of two such numbers, or sum of as many as fit in memory, is infinite.
LARGEST_VALUE = 1e100


def read_array(
    arrays: Mapping[str, Any], name: str, dtype: Any, shape: tuple[int | None, ...]
) -> NDArray[Any]:
    """An array from a file, if it is of this type and shape; None stands for any length."""
    array = arrays.get(name)
    if not isinstance(array, np.ndarray) or array.dtype != np.dtype(dtype):
        raise ValueError(f"{name!r} is no array of {np.dtype(dtype)}.")
    fits = [wanted in (None, found) for wanted, found in zip(shape, array.shape, strict=False)]
    if array.ndim != len(shape) or not all(fits):
        raise ValueError(f"{name!r} has the shape {array.shape}, which does not fit the others.")
    return np.ascontiguousarray(array)


def read_values(arrays: Mapping[str, Any], name: str, shape: tuple[int | None, ...]) -> Array:
    """An array of finite numbers from a file."""
    values = read_array(arrays, name, np.float64, shape)
    if not np.all(np.abs(values) <= LARGEST_VALUE):  # false for NaN too
        raise ValueError(f"{name!r} holds NaN, infinity or numbers that are too large.")
    return values


@dataclass(frozen=True)
class Nodes:
    """Nodes of one or more trees, one tree after the other.

    Children are numbered within their tree, in which each comes after its parent; at leaves they
    are −1, and so is the feature.
    """

    counts: NDArray[np.int64]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    feature: NDArray[np.int32]
    threshold: Array
    missing_left: NDArray[np.uint8]

    @classmethod
    def read(cls, arrays: Mapping[str, Any], n_features: int) -> Nodes:
        """Nodes from a file; an error unless they are trees of so many features."""
        counts = read_array(arrays, "node_counts", np.int64, (None,))
        left = read_array(arrays, "left", np.int32, (None,))
        n_nodes = len(left)
        if not len(counts) or np.any((counts < 1) | (counts > n_nodes)) or counts.sum() != n_nodes:
            raise ValueError("'node_counts' does not add up to the number of nodes.")
        nodes = cls(
            counts,
            left,
            read_array(arrays, "right", np.int32, (n_nodes,)),
            read_array(arrays, "feature", np.int32, (n_nodes,)),
            read_array(arrays, "threshold", np.float64, (n_nodes,)),
            read_array(arrays, "missing_left", np.uint8, (n_nodes,)),
        )
        nodes._check_children()
        nodes._check_splits(n_features)
        return nodes

    def _check_children(self) -> None:
        inner = np.flatnonzero(~self.is_leaf)
        if np.any(self.right[self.is_leaf] != _LEAF):
            raise ValueError("A leaf of a tree has a child.")
        first, count = self.starts[self.tree[inner]], self.counts[self.tree[inner]]
        for children in (self.left[inner], self.right[inner]):
            if np.any((children <= inner - first) | (children >= count)):
                raise ValueError("A node of a tree has a child that is not below it.")
        # Each node has one parent, with a lower number, so there are no cycles, and all are
        # below the root.
        parents = np.bincount(self._children(inner).ravel(), minlength=len(self.left))
        is_root = np.zeros(len(self.left), dtype=bool)
        is_root[self.starts] = True
        if np.any(parents != ~is_root):
            raise ValueError("A node of a tree has no parent, or several.")

    def _check_splits(self, n_features: int) -> None:
        is_inner = ~self.is_leaf
        if np.any(self.feature[self.is_leaf] != _LEAF):
            raise ValueError("A leaf of a tree has a feature to split by.")
        feature = self.feature[is_inner]
        if np.any((feature < 0) | (feature >= n_features)):
            raise ValueError(f"A tree splits by a feature that is not one of its {n_features}.")
        # Infinity splits numbers from gaps.
        if not np.all(self.threshold > -np.inf):
            raise ValueError("'threshold' holds NaN or minus infinity.")
        if np.any(self.missing_left > 1):
            raise ValueError("'missing_left' holds other numbers than 0 and 1.")

    @cached_property
    def is_leaf(self) -> NDArray[np.bool_]:
        return self.left == _LEAF

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """Where each tree's root is."""
        return np.cumsum(self.counts) - self.counts

    @cached_property
    def tree(self) -> NDArray[np.int64]:
        """The tree of each node."""
        return np.repeat(np.arange(len(self.counts)), self.counts)

    def _children(self, inner: NDArray[np.int64]) -> NDArray[np.int64]:
        return self.starts[self.tree[inner]] + np.stack([self.left[inner], self.right[inner]])

    @cached_property
    def depth(self) -> NDArray[np.int64]:
        """How far each node is below its root, by ever longer steps up the tree."""
        above = np.arange(len(self.left))
        inner = np.flatnonzero(~self.is_leaf)
        above[self._children(inner)] = inner
        depth = np.ones(len(self.left), dtype=np.int64)
        depth[self.starts] = 0
        while (more := depth[above]).any():
            depth += more
            above = above[above]
        return depth

    def slices(self) -> Iterator[slice]:
        """Where the nodes of each tree are."""
        for start, count in zip(self.starts.tolist(), self.counts.tolist(), strict=True):
            yield slice(start, start + count)


def pack_nodes(
    left: list[Any], right: list[Any], feature: list[Any], threshold: list[Any], missing: list[Any]
) -> dict[str, NDArray[Any]]:
    """Arrays for `Nodes.read`, from those of each tree with −1 for the children of leaves."""
    joined = np.concatenate(left)
    is_leaf = joined == _LEAF
    return {
        "node_counts": np.array([len(each) for each in left], dtype=np.int64),
        "left": joined.astype(np.int32),
        "right": np.concatenate(right).astype(np.int32),
        "feature": np.where(is_leaf, _LEAF, np.concatenate(feature)).astype(np.int32),
        "threshold": np.where(is_leaf, 0.0, np.concatenate(threshold)),
        "missing_left": np.where(is_leaf, 0, np.concatenate(missing)).astype(np.uint8),
    }
