"""What comes before a model: standardised columns, ranks, filled gaps."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import QuantileTransformer, StandardScaler

from .._utils.typing import Array
from .graph import DOUBLE, CannotExportError, Graph
from .trees import Tree, leaf_positions

_KNOWN = (StandardScaler, QuantileTransformer, SimpleImputer, FeatureUnion, Pipeline)


def transformed(graph: Graph, step: Any, rows: str) -> str:
    """Rows as a fitted transformer of scikit-learn makes them."""
    if isinstance(step, str) and step == "passthrough":
        return rows
    if isinstance(step, Pipeline):
        for _, each in step.steps:
            rows = transformed(graph, each, rows)
        return rows
    if isinstance(step, StandardScaler):
        return _standardized(graph, step, rows)
    if isinstance(step, QuantileTransformer) and step.output_distribution == "uniform":
        return _ranks(graph, step, rows)
    if isinstance(step, SimpleImputer) and _fills_nan(step):
        return _filled(graph, step, rows)
    if isinstance(step, FeatureUnion) and not step.transformer_weights:
        parts = [each for _, each in step.transformer_list if each != "drop"]
        return graph.beside([transformed(graph, each, rows) for each in parts])
    raise CannotExportError(
        f"{type(step).__name__} with these settings cannot be made part of an ONNX graph: "
        f"{', '.join(each.__name__ for each in _KNOWN)} can. Fit the model to rows that are "
        "transformed before, and give such rows to the graph."
    )


def _standardized(graph: Graph, scaler: StandardScaler, rows: str) -> str:
    if scaler.with_mean:
        rows = graph.node("Sub", rows, scaler.mean_)
    return graph.node("Div", rows, scaler.scale_) if scaler.with_std else rows


def _fills_nan(imputer: SimpleImputer) -> bool:
    numeric = imputer.statistics_.dtype.kind == "f"
    return bool(numeric and np.isnan(imputer.missing_values) and imputer.keep_empty_features)


def _filled(graph: Graph, imputer: SimpleImputer, rows: str) -> str:
    gaps = graph.node("IsNaN", rows)
    filled = graph.node("Where", gaps, imputer.statistics_, rows)
    if imputer.indicator_ is None or not len(imputer.indicator_.features_):
        return filled
    where = graph.node("Gather", gaps, imputer.indicator_.features_.astype(np.int64), axis=1)
    return graph.beside([filled, graph.node("Cast", where, to=DOUBLE)])


def _ranks(graph: Graph, transformer: QuantileTransformer, rows: str) -> str:
    """Lines between quantiles; at those that are equal the mean of their ranks."""
    trees, tables = [], []
    for column, quantiles in enumerate(transformer.quantiles_.T):
        splits, table = _rank_table(quantiles, transformer.references_)
        trees.append(Tree.of_bins(column, splits))
        tables.append(table)
    origins, ranks, slopes = np.concatenate(tables, axis=1)
    positions = leaf_positions(graph, rows, trees)
    distance = graph.node("Sub", rows, graph.node("Gather", origins, positions))
    rise = graph.node("Mul", graph.node("Gather", slopes, positions), distance)
    return graph.node("Add", graph.node("Gather", ranks, positions), rise)


def _rank_table(quantiles: Array, references: Array) -> tuple[Array, Array]:
    """Splits of a column into bins, and for each bin where its line starts, how high, how steep.

    Bins are in turn the numbers below the first quantile, that quantile, the numbers between it
    and the next one that differs, and so on.

    Examples
    --------
    >>> splits, (origins, ranks, slopes) = _rank_table(np.array([0.0, 2.0]), np.array([0.0, 1.0]))
    >>> origins, ranks, slopes
    (array([0., 0., 0., 2., 2.]), array([0., 0., 0., 1., 1.]), array([0. , 0. , 0.5, 0. , 0. ]))
    """
    places, first = np.unique(quantiles, return_index=True)
    last = np.append(first[1:], len(quantiles)) - 1
    at = (references[first] + references[last]) / 2
    at[-1], at[0] = 1.0, 0.0
    n_bins = 2 * len(places) + 1
    origins, ranks, slopes = np.zeros((3, n_bins))
    origins[0], origins[1::2], origins[2::2] = places[0], places, places
    ranks[0], ranks[1::2], ranks[2::2] = references[0], at, references[last]
    slopes[2:-1:2] = (references[first[1:]] - references[last[:-1]]) / np.diff(places)
    splits = np.ravel(np.column_stack([np.nextafter(places, -np.inf), places]))
    return splits, np.stack([origins, ranks, slopes])
