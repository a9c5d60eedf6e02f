"""A graph in the making: tensors by name, all in 64 bits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from .._utils.typing import Array

INT64, DOUBLE, FLOAT = TensorProto.INT64, TensorProto.DOUBLE, TensorProto.FLOAT
_OPSET, _TREES_OPSET = 18, 5
_TREES_DOMAIN = "ai.onnx.ml"
_IR_VERSION = 10


class CannotExportError(ValueError):
    """A model has a part for which there is no graph; the message names part and remedy."""


class Graph:
    """Nodes and constants, from rows to what a classifier predicts."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.outputs: list[Any] = []

    def constant(self, values: Any) -> str:
        name = f"constant_{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def node(self, kind: str, *inputs: str | Array | float, **settings: Any) -> str:
        """The name of what an operator makes of tensors, by name or as constants."""
        names = [each if isinstance(each, str) else self.constant(each) for each in inputs]
        output = f"step_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, names, [output], **settings))
        return output

    def tree_node(self, rows: str, **settings: Any) -> str:
        return self.node("TreeEnsemble", rows, domain=_TREES_DOMAIN, **settings)

    def sum(self, tensor: str, axis: int) -> str:
        return self.node("ReduceSum", tensor, np.array([axis]), keepdims=0)

    def columns(self, tensor: str, start: int, stop: int) -> str:
        """Columns from one on, up to another."""
        return self.node("Slice", tensor, *(np.array([each]) for each in (start, stop, 1)))

    def beside(self, tensors: Sequence[str]) -> str:
        """Tensors of two dimensions as one."""
        return tensors[0] if len(tensors) == 1 else self.node("Concat", *tensors, axis=1)

    def output(self, name: str, tensor: str, kind: int, shape: list[Any]) -> None:
        self.nodes.append(helper.make_node("Identity", [tensor], [name]))
        self.outputs.append(helper.make_tensor_value_info(name, kind, shape))

    def model(self, name: str, n_features: int, metadata: dict[str, str]) -> Any:
        """The whole, which takes ``rows``."""
        rows = helper.make_tensor_value_info("rows", DOUBLE, ["n", n_features])
        graph = helper.make_graph(self.nodes, name, [rows], self.outputs, self.constants)
        opsets = [helper.make_opsetid("", _OPSET)]
        if any(node.domain == _TREES_DOMAIN for node in self.nodes):
            opsets.append(helper.make_opsetid(_TREES_DOMAIN, _TREES_OPSET))
        made = helper.make_model(graph, opset_imports=opsets, ir_version=_IR_VERSION)
        helper.set_model_props(made, metadata)
        return made
