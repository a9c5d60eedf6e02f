"""Model files: tensors and plain values, read without running anything; and ONNX graphs."""

from __future__ import annotations

import copy
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from .._risk.risks import Risk
from .._utils.files import atomic_write
from ._networks import OrdinalNetwork, build_network, load_weights
from ._tensor_files import read_tensors, write_tensors
from ._training import find_device, find_optimizer

if TYPE_CHECKING:
    from ._classifier import NeuralOrdinalClassifier

    M = TypeVar("M", bound=NeuralOrdinalClassifier)

_FORMAT = "semiordinal.nn 1"
_FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
_PLAIN = ("n_labeled_", "n_unlabeled_", "n_iter_", "is_convex_", "objective_value_", "history_")
_ARRAYS = ("class_prior_", "column_mean_", "column_scale_", "thresholds_")
# Parameters that had another name when the first files were written.
_FORMER_NAMES = {"progress": "verbose"}
# Code, or where a run took place: not part of the model.
_LEFT_OUT = (
    *("module", "module_params", "optimizer", "device", "checkpoint_dir", "resume"),
    "callbacks",
)


def write_model(model: NeuralOrdinalClassifier, path: str | Path, force: bool) -> None:
    """Write a fitted classifier."""
    content = model_content(model)
    with atomic_write(Path(path), force) as temporary:
        write_tensors(content, temporary)


def model_content(model: NeuralOrdinalClassifier) -> dict[str, Any]:
    """All of a fitted classifier but its code: tensors and plain values."""
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(model)
    loss = model.module_.loss
    parameters = {k: v for k, v in model.get_params(deep=False).items() if k not in _LEFT_OUT}
    parameters["optimizer"] = find_optimizer(model.optimizer).__name__
    if not isinstance(model.random_state, int):
        parameters["random_state"] = None
    return {
        "format": _FORMAT,
        "parameters": {name: _plain(name, value) for name, value in parameters.items()},
        "default_module": model.module is None,
        "module_params": _plain("module_params", model.module_params) if not model.module else None,
        "classes": _plain("classes", model.class_order_),
        "classes_dtype": model.class_order_.dtype.str,
        "feature_names": _plain("feature names", getattr(model, "feature_names_in_", None)),
        "removed": int(np.flatnonzero(model.class_order_ == model.removed_class_)[0]),
        "unlabeled_weight": loss.unlabeled_weight,
        "class_counts": torch.from_numpy(loss.class_counts),
        "values": {name: getattr(model, name) for name in _PLAIN},
        "arrays": {name: torch.from_numpy(getattr(model, name)) for name in _ARRAYS},
        "state": model.module_.state_dict(),
        "dtype": str(next(model.module_.network.parameters()).dtype).removeprefix("torch."),
    }


def read_model(
    cls: type[M], path: Any, module: Any = None, module_params: Any = None, device: Any = "cpu"
) -> M:
    """Read a classifier from the path, or the open file, that holds its content."""
    place = find_device(device)
    content = read_tensors(path, place)
    if not isinstance(content, dict) or content.get("format") != _FORMAT:
        raise ValueError(f"{path} was not written by NeuralOrdinalClassifier.save.")
    if module is None and content.get("default_module") is not True:
        raise ValueError(
            f"The model in {path} has a network of its own, whose class no file holds. Give it: "
            "NeuralOrdinalClassifier.load(path, module=..., module_params=...)."
        )
    if module is None:
        try:
            _check_default_network(content)
            model = _model(cls, content, None, content["module_params"], device, path)
            model.predict(np.zeros((1, model.n_features_in_)))
        # The content may come from anyone: any error there is one of the file, not of ours.
        except Exception as error:
            raise ValueError(f"{path} holds a model that cannot be read: {error}") from error
        return model
    return _model(cls, content, module, module_params, device, path)


def _check_default_network(content: dict[str, Any]) -> None:
    """Raise unless the weights are finite, and those of the network, before one is made."""
    n_features = len(content["arrays"]["column_mean_"])
    with torch.device("meta"):  # takes no memory
        network = build_network(None, content["module_params"], n_features)
    weights = {f"network.{name}": each.shape for name, each in network.state_dict().items()}
    state = content["state"]
    if any(state[name].shape != shape for name, shape in weights.items()):
        raise ValueError("The weights are not of the size that is given for them.")
    tensors = [*state.values(), *content["arrays"].values(), content["class_counts"]]
    if not all(torch.isfinite(each).all() for each in tensors):
        raise ValueError("It holds NaN or infinity.")


def _model(
    cls: type[M],
    content: dict[str, Any],
    module: Any,
    module_params: Any,
    device: Any,
    path: Any,
) -> M:
    parameters = {_FORMER_NAMES.get(k, k): v for k, v in content["parameters"].items()}
    model = cls(module=module, module_params=module_params, device=device, **parameters)
    for name in _ARRAYS:
        setattr(model, name, content["arrays"][name].cpu().numpy())
    for name in _PLAIN:
        if name in content["values"]:
            setattr(model, name, content["values"][name])
    model.class_order_ = _classes(content["classes"], content["classes_dtype"])
    model.removed_class_ = model.class_order_[content["removed"]]
    model.n_features_in_ = len(model.column_mean_)
    if content["feature_names"] is not None:
        model.feature_names_in_ = np.array(content["feature_names"], dtype=object)
    _check_lengths(model)
    risk = Risk(content["unlabeled_weight"], content["removed"])
    loss = model._make_loss(risk, model.class_prior_, content["class_counts"].cpu().numpy())
    network = build_network(module, module_params, model.n_features_in_)
    dtype = {str(each).removeprefix("torch."): each for each in _FLOATS}[content["dtype"]]
    model.module_ = OrdinalNetwork(network, loss).to(find_device(device), dtype)
    load_weights(model.module_, content["state"], str(path))
    model.module_.eval()
    return model


def _classes(classes: list[Any], dtype_name: str) -> NDArray[Any]:
    dtype, longest = np.dtype(str(dtype_name)), max(len(str(each)) for each in classes)
    if dtype.kind not in "biufUO" or dtype.itemsize > max(8, np.dtype("U1").itemsize * longest):
        raise ValueError(f"Classes are not of the type {dtype}.")
    return np.array(classes, dtype=dtype)


def _check_lengths(model: NeuralOrdinalClassifier) -> None:
    n_classes, n_features = len(model.classes_), model.n_features_in_
    names = getattr(model, "feature_names_in_", np.zeros(n_features))
    found = [model.class_prior_, model.thresholds_, model.column_scale_, names]
    shapes = [(n_classes,), (n_classes - 1,), (n_features,), (n_features,)]
    if model.classes_.ndim != 1 or [each.shape for each in found] != shapes:
        raise ValueError("Its classes, thresholds and columns are not as many as one another.")
    if np.any(np.diff(model.thresholds_) < 0) or np.any(model.column_scale_ <= 0):
        raise ValueError("Its thresholds are out of order, or a column has no scale.")


class _Graph(nn.Module):
    """Standardisation, network and thresholds, from rows on the scale of X to positions."""

    def __init__(self, model: NeuralOrdinalClassifier):
        super().__init__()
        self.network = copy.deepcopy(model.module_.network)  # it may move to another device
        self.dtype = next(self.network.parameters()).dtype
        self.register_buffer("mean", torch.from_numpy(model.column_mean_))
        self.register_buffer("scale", torch.from_numpy(model.column_scale_))
        self.register_buffer("cuts", model.module_.loss.thresholds().detach().clone())

    def forward(self, rows: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        standardized = ((rows - self.get_buffer("mean")) / self.get_buffer("scale")).to(self.dtype)
        latent = self.network(standardized).reshape(-1)
        cuts = self.get_buffer("cuts")
        position = (latent[:, None] > cuts).sum(dim=1)
        return latent, position, cuts.clone()


def export_onnx(model: NeuralOrdinalClassifier, path: str | Path, force: bool) -> None:
    """Write a fitted classifier as an ONNX graph."""
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(model)
    try:
        import onnxscript  # noqa: F401
    except ImportError as error:
        raise ImportError(
            "to_onnx needs onnx and onnxscript. Install the extra that brings them: "
            "pip install 'semiordinal[onnx]'"
        ) from error
    with atomic_write(Path(path), force) as temporary:
        _onnx_program(model).save(temporary)


def _onnx_program(model: NeuralOrdinalClassifier) -> Any:
    graph = _Graph(model).to("cpu").eval()
    rows = torch.zeros((2, model.n_features_in_), dtype=torch.float64)
    with warnings.catch_warnings():
        # Torch warns of deprecated parts of its own that its exporter still uses.
        warnings.simplefilter("ignore", FutureWarning)
        warnings.simplefilter("ignore", DeprecationWarning)
        program = torch.onnx.export(
            graph,
            (rows,),
            dynamo=True,
            input_names=["rows"],
            output_names=["latent", "position", "thresholds"],
            dynamic_shapes={"rows": {0: torch.export.Dim("n")}},
            verbose=False,
        )
    assert program is not None
    return program


def _plain(name: str, value: Any) -> Any:
    """Numbers, names, and lists and dictionaries of them; an error for anything else."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(name, entry) for entry in value]
    if isinstance(value, dict):
        return {str(key): _plain(name, entry) for key, entry in value.items()}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise ValueError(
        f"{name} holds {value!r}, which a file of plain values cannot: only numbers, strings, "
        "lists and dictionaries of them can be saved."
    )
