"""Classifiers as ONNX graphs."""

from .classifiers import classifier_graph as classifier_graph
