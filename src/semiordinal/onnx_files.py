"""Classifiers as ONNX graphs, for programs without Python.

Networks have a method of their own, ``NeuralOrdinalClassifier.to_onnx``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ._utils.files import atomic_write

__all__ = ["to_onnx"]


def to_onnx(model: Any, path: str | Path, force: bool = False) -> None:
    """Write a fitted classifier as an ONNX graph, completely or not at all.

    The graph takes ``rows``, of shape (n, n_features) in 64 bits, on the scale of X; where the
    model takes gaps, NaN is one. It gives ``latent`` (n,), as of ``predict_latent``; ``position``
    (n,), which indexes the class order; and where the model has probabilities, ``cumulative``
    (n, n_classes - 1), as of ``predict_cumulative``. The class order is in the graph's metadata, as
    JSON, by the name ``class_order``. Trees compare in 64 bits, as they do here.

    Parameters
    ----------
    model : classifier
        `LinearOrdinalClassifier`, `KernelOrdinalClassifier` or a tuned one, with the logit link;
        `TreeOrdinalClassifier`, `BoostingOrdinalClassifier`; `AutoOrdinalClassifier` of such
        models, fitted to numbers; `CalibratedOrdinalClassifier` around one of these, or around
        scikit-learn's trees, forests and histogram gradient boosting. Or a pipeline of such a
        classifier after StandardScaler, SimpleImputer, QuantileTransformer or a FeatureUnion of
        these. Other parts, and frames with categories, are an error that says what to do.
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

        from ._onnx import classifier_graph
    except ImportError as error:
        raise ImportError(
            "to_onnx needs onnx. Install the extra that brings it: pip install 'semiordinal[onnx]'"
        ) from error
    made = classifier_graph(model)
    onnx.checker.check_model(made)
    with atomic_write(Path(path), force) as temporary:
        temporary.write_bytes(made.SerializeToString())
