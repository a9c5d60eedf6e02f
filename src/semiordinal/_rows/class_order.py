"""The order of classes, where scikit-learn knows them sorted.

scikit-learn takes ``classes_`` for sorted, and columns of ``predict_proba`` for theirs. Some of its
tools go further, and pass on not the labels but their positions among the sorted ones. A clone
that such a tool makes of a classifier is told the labels behind the positions, so that it finds
the order of the classes again, or says that it cannot.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._utils.text import as_written, join_names
from .._utils.typing import Array
from .._utils.warning import warn_caller
from .labels import ClassOrderWarning, is_missing, labels_as_column

_OWN = __name__.partition(".")[0] + "."
# Modules of scikit-learn that turn labels into positions among the sorted ones, and where in the
# variables of their functions the sorted ones are.
_ENCODERS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "sklearn.calibration": lambda found: _of_temperature(found["self"]),
    "sklearn.ensemble._bagging": lambda found: found["ensemble"].classes_,
    "sklearn.ensemble._stacking": lambda found: found["self"]._label_encoder.classes_,
    "sklearn.ensemble._voting": lambda found: found["self"].le_.classes_,
    "sklearn.model_selection._validation": lambda found: found["le"].classes_,
}
# Modules that pass labels on as they are, or two at a time, and take each for a class.
_CLASS_LISTS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "sklearn.calibration": lambda found: found["self"].classes_,
    "sklearn.ensemble._weight_boosting": lambda found: np.unique(found["y"]),
    "sklearn.multiclass": lambda found: _of_multiclass(found["self"]),
}


def _of_temperature(tool: Any) -> Any:
    """Of the calibration that encodes names."""
    return tool.classes_ if tool.method == "temperature" else None


def _of_multiclass(tool: Any) -> Any:
    return tool.label_binarizer_.classes_ if hasattr(tool, "label_binarizer_") else tool.classes_


def sorting(classes: NDArray[Any]) -> NDArray[np.intp]:
    """Positions that sort classes; those of several types, which cannot be sorted, stay.

    Examples
    --------
    >>> sorting(np.array(["low", "mid", "high"]))
    array([2, 0, 1])
    """
    try:
        return np.argsort(classes, kind="stable")
    except TypeError:
        return np.arange(len(classes))


def class_order(model: Any) -> NDArray[Any]:
    """The classes of a fitted classifier from the lowest to the highest.

    Those of a search or a pipeline are those of the classifier in it; of classifiers that know
    no order, the sorted ones.
    """
    if hasattr(model, "class_order_"):
        order: NDArray[Any] = model.class_order_
        return order
    inner = getattr(model, "best_estimator_", None)
    if inner is None and hasattr(model, "named_steps"):
        inner = model.steps[-1][1]
    return np.asarray(model.classes_) if inner is None else class_order(inner)


def ordered_probabilities(model: Any, X: Any) -> Array:
    """Class probabilities with columns from the lowest class to the highest."""
    probabilities: Array = model.predict_proba(X)
    position = {label: j for j, label in enumerate(np.asarray(model.classes_).tolist())}
    return probabilities[:, [position[label] for label in class_order(model).tolist()]]


def order_with_unseen(
    y: Any, order: NDArray[Any], given: Any = None, missing_label: Any = math.nan
) -> NDArray[Any]:
    """The classes of a model and of labels to judge it by, from the lowest to the highest.

    Labels that were not there in training have their place by value, if all are numbers, or in
    the order that was given; a warning names them. Where they have none, the order stays.

    Examples
    --------
    >>> order_with_unseen(["low", "high"], np.array(["low", "high"]), ["low", "mid", "high"])
    array(['low', 'high'], dtype='<U4')
    """
    values = labels_as_column(y)
    known = set(order.tolist())
    unseen = set(values[~is_missing(values, missing_label)].tolist()) - known
    if not unseen:
        return order
    if given is not None and unseen <= set(given):
        longer = [label for label in given if label in known | unseen]
    elif given is None and all(isinstance(label, int | float) for label in known | unseen):
        longer = sorted(known | unseen)
    else:
        return order
    warn_caller(
        f"y holds labels that no training row had: {join_names(sorted(unseen, key=str))}. They "
        f"are judged at their place in the order {join_names(longer)}.",
        ClassOrderWarning,
    )
    return np.array(longer, dtype=None if order.dtype.kind in "biuf" else object)


def labels_behind_codes(estimator: Any) -> NDArray[Any] | None:
    """The labels whose positions a tool that clones the estimator is about to pass on, if any.

    Tools may be at work in tools: the labels of the inner are positions of the outer's then.

    Raises
    ------
    ValueError
        Where a tool takes the estimator's ``missing_label`` for a class.
    """
    labels, seen = None, None
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        module = str(frame.f_globals.get("__name__", ""))
        if module.startswith(_OWN):  # codes that this package makes are in class order
            return None
        listed = _labels_of(_CLASS_LISTS, module, frame)
        if listed is not None:
            _check_missing(listed, estimator.missing_label)
        found = _labels_of(_ENCODERS, module, frame)
        if found is not None and found is not seen:
            labels, seen = _behind(labels, found), found
            _check_missing(found, estimator.missing_label)
        frame = frame.f_back
    known = getattr(estimator, "_labels_behind_codes", None)
    labels = known if labels is None else _behind(labels, known)
    if labels is not None:
        _check_missing(labels, estimator.missing_label)
    return labels


def _check_missing(labels: NDArray[Any], missing_label: Any) -> None:
    if is_missing(labels, missing_label).any():
        raise ValueError(
            f"missing_label={as_written(missing_label)} marks rows without a label, but the tool "
            "of scikit-learn that fits this classifier takes it for a class. Give the tool "
            "labelled rows alone, and the others by X_unlabeled, which metadata routing passes on "
            "(sklearn.set_config(enable_metadata_routing=True), set_fit_request(X_unlabeled=True))."
        )


def _labels_of(
    tools: dict[str, Callable[[dict[str, Any]], Any]], module: str, frame: FrameType
) -> NDArray[Any] | None:
    if module not in tools:
        return None
    try:
        found = tools[module](frame.f_locals)
    except (AttributeError, KeyError):  # of a function, or an ensemble, that encodes nothing
        return None
    return found if isinstance(found, np.ndarray) and found.ndim == 1 else None


def _behind(inner: NDArray[Any] | None, outer: NDArray[Any] | None) -> NDArray[Any] | None:
    if inner is None or outer is None:
        return outer if inner is None else inner
    are_codes = inner.dtype.kind in "iu" and inner.min() >= 0 and inner.max() < len(outer)
    return outer[inner] if are_codes else inner


def classes_of_codes(estimator: Any, y: Any, classes: Any) -> Any:
    """What to take for ``classes``: in terms of codes, where a tool passed on codes.

    Raises
    ------
    ValueError
        Where the order of the classes is lost.
    """
    behind: NDArray[Any] | None = getattr(estimator, "_labels_behind_codes", None)
    if behind is None:
        return classes
    values = np.asarray(y)
    if values.dtype.kind not in "iu" or values.ndim != 1:
        return classes
    codes = set(values.tolist())
    if not codes <= set(range(len(behind))):
        return classes
    if classes is None:
        if len(behind) > 2 and behind.dtype.kind not in "biuf":
            raise ValueError(
                f"The tool of scikit-learn that fits this {type(estimator).__name__} passes on "
                f"names in alphabetical order ({join_names(behind)}), so that their own order is "
                "lost, even that of an ordered categorical. Set the classifier's classes=[...], "
                "from the lowest to the highest."
            )
        return None
    code = {label: j for j, label in enumerate(behind.tolist())}
    ordered = [code[label] for label in classes if code.get(label) in codes]
    return ordered if set(ordered) == codes else classes
