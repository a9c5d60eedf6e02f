"""Linear and kernel classifiers as ONNX graphs, for programs without Python.

Networks have a method of their own, ``NeuralOrdinalClassifier.to_onnx``.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ._score import (
    KernelOrdinalClassifier,
    KernelOrdinalClassifierCV,
    LinearOrdinalClassifier,
    LinearOrdinalClassifierCV,
)
from ._utils.files import atomic_write
from ._utils.typing import Array

__all__ = ["to_onnx"]

_OPSET = 17
_IR_VERSION = 9


def to_onnx(model: Any, path: str | Path, force: bool = False) -> None:
    """Write a fitted linear or kernel classifier as an ONNX graph, completely or not at all.

    The graph takes ``rows``, of shape (n, n_features) in 64 bits, on the scale of X. It gives
    ``latent`` (n,), as of ``predict_latent``; ``position`` (n,), which indexes the class order; and
    where the model has probabilities, ``cumulative`` (n, n_classes - 1), as of
    ``predict_cumulative``. The class order is in the graph's metadata, as JSON, by the name
    ``class_order``.

    Parameters
    ----------
    model : LinearOrdinalClassifier, KernelOrdinalClassifier, or a tuned one
    path : str or Path
        By custom with the suffix ``.onnx``.
    force : bool, default=False
        Overwrite a file that is there.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> import onnxruntime
    >>> from semiordinal import LinearOrdinalClassifier
    >>> model = LinearOrdinalClassifier().fit([[0.0], [1.0], [2.0]], ["low", "low", "top"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     to_onnx(model, f"{folder}/model.onnx")
    ...     session = onnxruntime.InferenceSession(f"{folder}/model.onnx")
    >>> position = session.run(["position"], {"rows": np.array([[-1.0], [3.0]])})[0]
    >>> model.class_order_[position].tolist()
    ['low', 'top']
    """
    try:
        import onnx
    except ImportError as error:
        raise ImportError(
            "to_onnx needs onnx. Install the extra that brings it: pip install 'semiordinal[onnx]'"
        ) from error
    graph = _Graph(_checked(model))
    made = graph.model()
    onnx.checker.check_model(made)
    with atomic_write(Path(path), force) as temporary:
        temporary.write_bytes(made.SerializeToString())


def _checked(model: Any) -> Any:
    known = (
        LinearOrdinalClassifier,
        LinearOrdinalClassifierCV,
        KernelOrdinalClassifier,
        KernelOrdinalClassifierCV,
    )
    if not isinstance(model, known):
        raise ValueError(
            f"{type(model).__name__} cannot be made an ONNX graph: "
            f"{', '.join(each.__name__ for each in known)} can. Of a Pipeline, give the last step, "
            "and the rows that the steps before it make."
        )
    check_is_fitted(model)
    if getattr(model, "link", "logit") != "logit":
        raise ValueError(f"link={model.link!r} cannot be made an ONNX graph: link='logit' can.")
    return model


class _Graph:
    """Nodes and constants of a graph, from rows to what a classifier predicts."""

    def __init__(self, model: Any):
        self.classifier = model
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def model(self) -> Any:
        from onnx import TensorProto, helper

        classifier = self.classifier
        fitted = getattr(classifier, "estimator_", classifier)
        is_kernel = isinstance(fitted, KernelOrdinalClassifier)
        score = self._kernel_score(fitted) if is_kernel else self._linear_score(fitted)
        flat = self.constant("flat", np.array([-1]))
        self.node("Reshape", [score, flat], "latent")
        column = self.node("Unsqueeze", ["latent", self.constant("last", np.array([1]))])
        above = self.node("Greater", [column, self.constant("cuts", classifier.thresholds_)])
        counted = self.node("Cast", [above], to=TensorProto.INT64)
        axes = self.constant("axes", np.array([1]))
        self.node("ReduceSum", [counted, axes], "position", keepdims=0)
        outputs = [
            helper.make_tensor_value_info("latent", TensorProto.DOUBLE, ["n"]),
            helper.make_tensor_value_info("position", TensorProto.INT64, ["n"]),
        ]
        n_cuts = len(classifier.thresholds_)
        if hasattr(classifier, "predict_cumulative"):
            # The log-odds are linear in the score.
            ends = classifier._log_odds(np.array([0.0, 1.0]))
            slope = self.node("Mul", [column, self.constant("slopes", ends[1] - ends[0])])
            odds = self.node("Add", [slope, self.constant("odds", ends[0])])
            self.node("Sigmoid", [odds], "cumulative")
            outputs.append(
                helper.make_tensor_value_info("cumulative", TensorProto.DOUBLE, ["n", n_cuts])
            )
        rows = helper.make_tensor_value_info(
            "rows", TensorProto.DOUBLE, ["n", int(classifier.n_features_in_)]
        )
        graph = helper.make_graph(
            self.nodes, type(classifier).__name__, [rows], outputs, self.constants
        )
        made = helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=_IR_VERSION
        )
        order = json.dumps(classifier.class_order_.tolist(), ensure_ascii=False, default=str)
        helper.set_model_props(made, {"class_order": order})
        return made

    def _linear_score(self, fitted: Any) -> str:
        return self.node("MatMul", ["rows", self.constant("coef", fitted.coef_[:, None])])

    def _kernel_score(self, fitted: Any) -> str:
        """Kernel values at the centres, times what these weigh."""
        scale, mean = fitted.column_scale_, fitted.column_mean_
        centers = fitted.centers_
        dense = centers.toarray() if hasattr(centers, "toarray") else centers
        basis = fitted.basis_
        weights = fitted.coef_ if basis is None else basis @ fitted.coef_
        shifted = self.node("Sub", ["rows", self.constant("mean", mean)])
        scaled = self.node("Div", [shifted, self.constant("scale", scale)])
        places = (dense - mean) / scale
        by_kernel = self._gaussian if fitted.kernel == "gaussian" else self._laplace
        values = self.node("Exp", [by_kernel(scaled, places, float(fitted.bandwidth_))])
        return self.node("MatMul", [values, self.constant("weights", weights[:, None])])

    def _gaussian(self, rows: str, centers: Array, width: float) -> str:
        """``−‖row − center‖²/(2 width²)``."""
        axes = self.constant("columns", np.array([1]))
        squares = self.node("Mul", [rows, rows])
        norms = self.node("ReduceSum", [squares, axes], keepdims=1)
        products = self.node("MatMul", [rows, self.constant("centers", -2 * centers.T)])
        sums = self.node("Add", [norms, products])
        own = self.constant("norms", np.square(centers).sum(axis=1))
        squared = self.node("Add", [sums, own])
        positive = self.node("Max", [squared, self.constant("zero", np.array(0.0))])
        return self.node("Mul", [positive, self.constant("width", np.array(-0.5 / width**2))])

    def _laplace(self, rows: str, centers: Array, width: float) -> str:
        """``−Σ_j |row_j − center_j|/width``."""
        each = self.node("Unsqueeze", [rows, self.constant("middle", np.array([1]))])
        apart = self.node("Sub", [each, self.constant("centers", centers[None])])
        sizes = self.node("Abs", [apart])
        axes = self.constant("columns", np.array([2]))
        sums = self.node("ReduceSum", [sizes, axes], keepdims=0)
        return self.node("Mul", [sums, self.constant("width", np.array(-1 / width))])

    def node(self, kind: str, inputs: list[str], name: str | None = None, **settings: Any) -> str:
        from onnx import helper

        output = f"step_{len(self.nodes)}" if name is None else name
        self.nodes.append(helper.make_node(kind, inputs, [output], **settings))
        return output

    def constant(self, name: str, values: Any) -> str:
        from onnx import numpy_helper

        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name
