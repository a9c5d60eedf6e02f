"""From what a model gives to what a classifier predicts."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from ..metrics import task_losses
from .graph import DOUBLE, INT64, Graph
from .models import (
    WITH_CUMULATIVE,
    WITH_THRESHOLDS,
    cumulative_probabilities,
    expected_position,
    latent_score,
    log_odds,
    no_graph,
)
from .steps import transformed


def classifier_graph(model: Any) -> Any:
    """The graph of a fitted classifier, or a pipeline that ends in one, with its class order."""
    final = model[-1] if isinstance(model, Pipeline) else model
    if not isinstance(final, (*WITH_THRESHOLDS, *WITH_CUMULATIVE)):
        raise no_graph(final)
    check_is_fitted(model)
    graph = Graph()
    rows = transformed(graph, model[:-1], "rows") if isinstance(model, Pipeline) else "rows"
    outputs = _by_thresholds if isinstance(final, WITH_THRESHOLDS) else _by_cumulative
    outputs(graph, final, rows)
    order = json.dumps(final.class_order_.tolist(), ensure_ascii=False, default=str)
    return graph.model(type(final).__name__, int(model.n_features_in_), {"class_order": order})


def _by_thresholds(graph: Graph, model: Any, rows: str) -> None:
    """The class of the interval that the score falls in."""
    column = latent_score(graph, model, rows)
    above = graph.node("Greater", column, model.thresholds_)
    position = graph.sum(graph.node("Cast", above, to=INT64), 1)
    graph.output("latent", graph.node("Squeeze", column, np.array([1])), DOUBLE, ["n"])
    graph.output("position", position, INT64, ["n"])
    if hasattr(model, "predict_cumulative"):
        cumulative = graph.node("Sigmoid", log_odds(graph, model, column))
        graph.output("cumulative", cumulative, DOUBLE, ["n", len(model.thresholds_)])


def _by_cumulative(graph: Graph, model: Any, rows: str) -> None:
    """The class of the least expected loss."""
    cumulative = cumulative_probabilities(graph, model, rows)
    n_classes = len(model.class_order_)
    edge = graph.node("Mul", graph.columns(cumulative, 0, 1), np.array(0.0))
    below = graph.beside([edge, cumulative])
    up_to = graph.beside([cumulative, graph.node("Add", edge, np.array(1.0))])
    probabilities = graph.node("Sub", up_to, below)
    losses = task_losses(model.task, np.arange(n_classes), n_classes)
    expected = graph.node("MatMul", probabilities, losses.T)
    position = graph.node("ArgMin", expected, axis=1, keepdims=0)
    graph.output("latent", expected_position(graph, cumulative), DOUBLE, ["n"])
    graph.output("position", position, INT64, ["n"])
    graph.output("cumulative", cumulative, DOUBLE, ["n", n_classes - 1])
