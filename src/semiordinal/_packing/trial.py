"""Whether a model from a file predicts, before anyone relies on it."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import numpy as np
from scipy import sparse

from .._utils.pipelines import last_step
from .encoders import check_one_hot
from .estimators import check_n_jobs
from .nodes import LARGEST_VALUE
from .objects import package_of, replace_parts, short_name

_ENCODERS = ("sklearn.OneHotEncoder", "sklearn.OrdinalEncoder")
_MOST_COLUMNS = 10**7
# Numbers of our classifiers that predictions are made of.
_FINITE = {
    "bandwidth_",
    "basis_",
    "centers_",
    "class_prior_",
    "coef_",
    "column_mean_",
    "column_scale_",
    "log_odds_",
    "median_thresholds_",
    "offsets_",
    "thresholds_",
    "weights_",
}


def check_part(part: Any) -> None:
    """Raise if a part of a model would run a function, or predict by numbers that it cannot."""
    if sparse.issparse(part):
        part.check_format(full_check=True)  # so that no index points beyond it
    if short_name(part) == "sklearn.FunctionTransformer":
        for function in (part.func, part.inverse_func):
            if function is not None:
                raise ValueError(f"It has a FunctionTransformer with the function {function}.")
    if short_name(part) == "sklearn.OneHotEncoder":
        check_one_hot(part)
    if short_name(part) == "sklearn.ColumnTransformer":
        _check_steps(part)
    check_n_jobs(part)
    _check_names(part)
    _check_output(part)
    _add_parameters(part)
    if package_of(part) != "semiordinal":
        return
    for name in _FINITE & vars(part).keys():
        value = getattr(part, name)
        if isinstance(value, list | tuple):
            raise ValueError(f"{name!r} is no array.")
        numbers = np.asarray(value.data if sparse.issparse(value) else value)
        if value is not None and numbers.dtype.kind not in "biuf":
            raise ValueError(f"{name!r} is no number, nor an array of numbers.")
        if numbers.dtype.kind == "f" and not np.all(np.abs(numbers) <= LARGEST_VALUE):
            raise ValueError(f"{name!r} holds NaN, infinity or numbers that are too large.")
    thresholds, classes = getattr(part, "thresholds_", None), getattr(part, "classes_", None)
    if thresholds is None or classes is None:
        return
    if np.shape(thresholds) != (len(classes) - 1,):
        raise ValueError("There is not one threshold between each class and the next.")


def _check_steps(columns: Any) -> None:
    names = {name for name, *_ in getattr(columns, "transformers_", ())}
    if names and not names <= columns._transformer_to_input_indices.keys():
        raise ValueError("A ColumnTransformer has a step that it has no columns for.")


def _check_names(part: Any) -> None:
    names = getattr(part, "feature_names_in_", None)
    if (
        names is None
        or isinstance(part, type)
        or package_of(part) not in ("semiordinal", "sklearn")
    ):
        return
    if not isinstance(names, np.ndarray) or names.shape != (part.n_features_in_,):
        raise ValueError("There is not one name for each column.")
    if not all(isinstance(name, str) for name in names):
        raise ValueError("The name of a column is no text.")


def _check_output(part: Any) -> None:
    """Containers that ``set_output`` asked a transformer for have names."""
    asked = getattr(part, "_sklearn_output_config", {})
    if not isinstance(asked, dict) or not all(isinstance(name, str) for name in asked.values()):
        raise ValueError(f"A {type(part).__name__} is asked for no container that there is.")


def _add_parameters(part: Any) -> None:
    """Give an estimator of an older file the parameters that there were not yet, by default."""
    if not hasattr(part, "get_params") or package_of(part) not in ("semiordinal", "sklearn"):
        return
    for name, parameter in inspect.signature(type(part)).parameters.items():
        if not hasattr(part, name):
            if parameter.default is inspect.Parameter.empty:
                raise ValueError(f"A {type(part).__name__} lacks its parameter {name!r}.")
            setattr(part, name, parameter.default)


def check_predictions(model: Any) -> None:
    """Raise unless the model predicts finite numbers for a row of zeros, or of empty cells.

    Parts that do not fit together are found so, whatever they are. Of models of categories the last
    step alone is tried, since only data tell what cells may be.
    """
    row = _row(model)
    if row is None and hasattr(model, "steps"):
        model = model[-1]
        row = _row(model)
    if row is None:
        return
    methods = ("predict_proba", "predict_latent")
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        model, row = last_step(model, row)
        model.predict(row)
        found = [getattr(model, name)(row) for name in methods if hasattr(model, name)]
    if not all(np.isfinite(numbers).all() for numbers in found):
        raise ValueError("It predicts NaN or infinity.")


def _row(model: Any) -> Any:
    steps = [step for _, step in model.steps] if hasattr(model, "steps") else [model]
    steps = [step for step in steps if step is not None and step != "passthrough"]
    if not all(hasattr(step, "transform") for step in steps[:-1]):
        raise ValueError("A step before the last does not transform columns.")
    first = steps[0]
    if short_name(first) == "semiordinal.TypedColumns":
        return _frame(first.get_feature_names_out(), None)
    if not 0 < first.n_features_in_ <= _MOST_COLUMNS:
        raise ValueError(f"{first.n_features_in_} is no number of columns.")
    if _has_categories(model):
        return None
    names = getattr(first, "feature_names_in_", None)
    return np.zeros((1, first.n_features_in_)) if names is None else _frame(names, 0.0)


def _frame(names: Any, cell: Any) -> Any:
    import pandas as pd

    return pd.DataFrame([[cell] * len(names)], columns=list(names))


def _has_categories(model: Any) -> bool:
    found: list[str] = []

    def note(part: Any) -> Any:
        if short_name(part) in _ENCODERS:
            found.append(short_name(part))
        return part

    replace_parts(model, note)
    return bool(found)
