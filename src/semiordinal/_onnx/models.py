"""Scores and probabilities of fitted models, each by the model's own rule."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.pipeline import Pipeline

from .._score import (
    AutoOrdinalClassifier,
    BoostingOrdinalClassifier,
    CalibratedOrdinalClassifier,
    KernelOrdinalClassifier,
    KernelOrdinalClassifierCV,
    LinearOrdinalClassifier,
    LinearOrdinalClassifierCV,
    TreeOrdinalClassifier,
)
from .._score.stacking import LEAST_PROBABILITY
from .._utils.typing import Array
from .graph import CannotExportError, Graph
from .steps import transformed
from .trees import BOOSTING, FORESTS, boosted_sums, forest_means

_LINEAR = (LinearOrdinalClassifier, LinearOrdinalClassifierCV)
_KERNELS = (KernelOrdinalClassifier, KernelOrdinalClassifierCV)
WITH_THRESHOLDS = (*_LINEAR, *_KERNELS, CalibratedOrdinalClassifier)
WITH_CUMULATIVE = (TreeOrdinalClassifier, BoostingOrdinalClassifier, AutoOrdinalClassifier)
_EXPONENTIAL_LOSSES = ("poisson", "gamma")


def latent_score(graph: Graph, model: Any, rows: str) -> str:
    """What ``predict_latent`` gives, as a column, of a classifier with thresholds."""
    if isinstance(model, CalibratedOrdinalClassifier):
        return _scaled(graph, _score(graph, model.estimator_, rows), np.array([model.log_odds_]))
    fitted = getattr(model, "estimator_", model)
    if isinstance(fitted, KernelOrdinalClassifier):
        return _kernel_score(graph, fitted, rows)
    return graph.node("MatMul", rows, fitted.coef_[:, None])


def log_odds(graph: Graph, model: Any, latent: str) -> str:
    """Of cumulative probabilities, by a column of latent scores, in which they are linear."""
    if getattr(model, "link", "logit") != "logit":
        raise CannotExportError(
            f"link={model.link!r} cannot be made an ONNX graph: link='logit' can."
        )
    ends = model._log_odds(np.array([0.0, 1.0]))
    return graph.node("Add", _scaled(graph, latent, ends[1] - ends[0]), ends[0])


def cumulative_probabilities(graph: Graph, model: Any, rows: str) -> str:
    """P(y ≤ i) for each class but the last, of any classifier: (n, K − 1)."""
    if isinstance(model, TreeOrdinalClassifier):
        scaled = transformed(graph, model.scaler_, rows)
        means = forest_means(graph, model.forest_, scaled)
        return _ordered(graph, means, len(model.class_order_) - 1)
    if isinstance(model, BoostingOrdinalClassifier):
        sums = boosted_sums(graph, model.boosters_, rows)
        return _ordered(graph, graph.node("Sigmoid", sums), len(model.boosters_))
    if isinstance(model, AutoOrdinalClassifier):
        return _averaged(graph, model, rows)
    if isinstance(model, WITH_THRESHOLDS):
        return graph.node("Sigmoid", log_odds(graph, model, latent_score(graph, model, rows)))
    if isinstance(model, Pipeline):
        before = transformed(graph, model[:-1], rows)
        return cumulative_probabilities(graph, model[-1], before)
    probabilities = _class_probabilities(graph, model, rows)
    n_classes = len(model.classes_)
    up_to = np.triu(np.ones((n_classes, n_classes - 1)))
    return graph.node("MatMul", probabilities, up_to)


def expected_position(graph: Graph, cumulative: str) -> str:
    """In the class order, by cumulative probabilities: (n,)."""
    return graph.sum(graph.node("Sub", np.array(1.0), cumulative), 1)


def _scaled(graph: Graph, column: str, factors: Array) -> str:
    """A column times each of some factors.

    By a matrix product: onnxruntime joins a product with a single number to a matrix product
    before it, and rounds the number to 32 bits.
    """
    return graph.node("MatMul", column, factors[None])


def _score(graph: Graph, model: Any, rows: str) -> str:
    """How far up rows are by a model within a `CalibratedOrdinalClassifier`, as a column."""
    if isinstance(model, WITH_THRESHOLDS):
        return latent_score(graph, model, rows)
    if not is_regressor(model):
        cumulative = cumulative_probabilities(graph, model, rows)
        return graph.node("Unsqueeze", expected_position(graph, cumulative), np.array([1]))
    if isinstance(model, Pipeline):
        return _score(graph, model[-1], transformed(graph, model[:-1], rows))
    if isinstance(model, FORESTS):
        return forest_means(graph, model, rows)
    if isinstance(model, BOOSTING):
        sums = boosted_sums(graph, [model], rows)
        return graph.node("Exp", sums) if model.loss in _EXPONENTIAL_LOSSES else sums
    raise no_graph(model)


def _class_probabilities(graph: Graph, model: Any, rows: str) -> str:
    if isinstance(model, FORESTS) and is_classifier(model):
        return forest_means(graph, model, rows)
    if isinstance(model, BOOSTING) and is_classifier(model):
        sums = boosted_sums(graph, [model], rows)
        if model.n_trees_per_iteration_ > 1:
            return graph.node("Softmax", sums, axis=1)
        upper = graph.node("Sigmoid", sums)
        return graph.beside([graph.node("Sub", np.array(1.0), upper), upper])
    raise no_graph(model)


def no_graph(model: Any) -> CannotExportError:
    """What to raise for a model that is none of those that there are graphs of."""
    if hasattr(model, "to_onnx"):
        return CannotExportError(
            f"{type(model).__name__} has a method of its own: model.to_onnx(path)."
        )
    own = (each.__name__ for each in (*WITH_THRESHOLDS, *WITH_CUMULATIVE))
    return CannotExportError(
        f"{type(model).__name__} cannot be made an ONNX graph. Use {', '.join(own)}; or within a "
        "CalibratedOrdinalClassifier or AutoOrdinalClassifier scikit-learn's trees, forests "
        "and histogram gradient boosting."
    )


def _averaged(graph: Graph, model: AutoOrdinalClassifier, rows: str) -> str:
    """Averaged log-odds of the members, moved to class shares."""
    if model.encoder_ is not None:
        raise CannotExportError(
            "This AutoOrdinalClassifier was fitted to a frame with categories, and a graph takes "
            "numbers. Encode the categories before fitting, by OneHotEncoder, and give rows so "
            "encoded to the graph."
        )
    average = ""
    for name, member, weight in zip(model.members_, model.estimators_, model.weights_, strict=True):
        try:
            cumulative = cumulative_probabilities(graph, member, rows)
        except CannotExportError as error:
            raise CannotExportError(f"members: {name!r} is the reason. {error}") from error
        bounds = np.array(LEAST_PROBABILITY), np.array(1 - LEAST_PROBABILITY)
        bounded = graph.node("Clip", cumulative, *bounds)
        odds = graph.node("Div", bounded, graph.node("Sub", np.array(1.0), bounded))
        part = graph.node("Mul", graph.node("Log", odds), np.array(weight))
        average = graph.node("Add", average, part) if average else part
    n_cuts = len(model.class_order_) - 1
    boundaries = getattr(model, "boundaries_", np.arange(n_cuts))  # none in old files
    placed = graph.node("Gather", average, boundaries.astype(np.int64), axis=1)
    probabilities = graph.node("Sigmoid", graph.node("Add", placed, model.offsets_))
    return _weighed(graph, _ordered(graph, probabilities, n_cuts), model.class_weight_)


def _weighed(graph: Graph, cumulative: str, class_weight: Array | None) -> str:
    """Cumulative probabilities of rows of which each class has so many times more."""
    if class_weight is None:
        return cumulative
    # The sum of w_k (C_k − C_{k−1}) over the classes up to each one, as products with C.
    falls = (class_weight[:-1] - class_weight[1:])[:, None]
    n_cuts = len(falls)
    up_to = np.triu(np.broadcast_to(falls, (n_cuts, n_cuts)), 1) + np.diag(class_weight[:-1])
    total = graph.node("Add", graph.node("MatMul", cumulative, falls), class_weight[-1:])
    return graph.node("Div", graph.node("MatMul", cumulative, up_to), total)


def _ordered(graph: Graph, cumulative: str, n_cuts: int) -> str:
    """Each raised to the highest of those before it."""
    if n_cuts == 1:
        return cumulative
    is_before = np.tril(np.ones((n_cuts, n_cuts), dtype=bool))
    each = graph.node("Unsqueeze", cumulative, np.array([1]))
    before = graph.node("Where", is_before, each, np.array(-np.inf))
    return graph.node("ReduceMax", before, np.array([2]), keepdims=0)


def _kernel_score(graph: Graph, model: KernelOrdinalClassifier, rows: str) -> str:
    """Kernel values at the centres, times what these weigh."""
    scale, mean = model.column_scale_, model.column_mean_
    centers = model.centers_
    dense = centers.toarray() if hasattr(centers, "toarray") else centers
    weights = model.coef_ if model.basis_ is None else model.basis_ @ model.coef_
    scaled = graph.node("Div", graph.node("Sub", rows, mean), scale)
    exponent = _gaussian if model.kernel == "gaussian" else _laplace
    values = graph.node("Exp", exponent(graph, scaled, (dense - mean) / scale, model.bandwidth_))
    return graph.node("MatMul", values, weights[:, None])


def _gaussian(graph: Graph, rows: str, centers: Array, width: float) -> str:
    """``−‖row − center‖²/(2 width²)``."""
    norms = graph.node("ReduceSum", graph.node("Mul", rows, rows), np.array([1]), keepdims=1)
    sums = graph.node("Add", norms, graph.node("MatMul", rows, -2 * centers.T))
    squared = graph.node("Add", sums, np.square(centers).sum(axis=1))
    positive = graph.node("Max", squared, np.array(0.0))
    return graph.node("Mul", positive, np.array(-0.5 / width**2))


def _laplace(graph: Graph, rows: str, centers: Array, width: float) -> str:
    """``−Σ_j |row_j − center_j|/width``."""
    apart = graph.node("Sub", graph.node("Unsqueeze", rows, np.array([1])), centers[None])
    return graph.node("Mul", graph.sum(graph.node("Abs", apart), 2), np.array(-1 / width))
