"""A fitted network as one array of bytes, for model files that hold arrays."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ._classifier import NeuralOrdinalClassifier
from ._files import model_content, read_model


class StoredNetwork:
    """What stands for a `NeuralOrdinalClassifier` in a model file."""

    def __init__(self, content: NDArray[np.uint8], classes: NDArray[Any]):
        self.content = content
        self.classes_ = classes


def pack(model: NeuralOrdinalClassifier) -> StoredNetwork:
    """The content of a fitted classifier of the default network."""
    if model.module is not None:
        raise ValueError(
            "A network of your own cannot be put in a model file, which holds no code. Write its "
            "weights by model.save(path) of the NeuralOrdinalClassifier, and read them by "
            "NeuralOrdinalClassifier.load."
        )
    buffer = io.BytesIO()
    torch.save(model_content(model), buffer)
    return StoredNetwork(
        np.frombuffer(buffer.getvalue(), dtype=np.uint8).copy(), model.class_order_
    )


def unpack(stored: StoredNetwork) -> NeuralOrdinalClassifier:
    """The classifier; tensors and plain values are all that is read."""
    return read_model(NeuralOrdinalClassifier, io.BytesIO(stored.content.tobytes()))
