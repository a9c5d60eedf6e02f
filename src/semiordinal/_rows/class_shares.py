"""Class shares in all forms in which people have them, as one array in class order."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._utils.text import join_names, pluralize
from .._utils.typing import Array
from .._utils.warning import warn_caller

CLASS_PRIORS = ("labels", "uniform")
ESTIMATED_PRIOR = "estimate"  # by classifiers that hold rows out
_EXACT = 1e-6
_NEARLY = 0.021  # shares that were rounded to whole percents may be off by that in all
_LEAST_PRIOR = 1e-6  # as near to 0 as the sum of a prior need be to 1


class ClassPriorWarning(UserWarning):
    """The class shares given contradict the labels, or had to be made to sum to one."""


def resolve_prior(
    class_prior: Any, class_counts: Array, classes: NDArray[Any], option: str = "class_prior"
) -> Array:
    """Class shares: of the labelled rows, uniform, or as given.

    Parameters
    ----------
    class_prior : str, path, array-like or mapping
        "labels" or "uniform"; shares, percents or counts in class order, as numbers, as texts such
        as "20%", or in one text between commas; the same by class in a mapping, a pandas Series or
        a text such as "poor=2%,fair=8%"; or a table of two columns, class and share: a data frame,
        or the path of a CSV file.
    class_counts : array of shape (K,)
        Of the labels.
    classes : array of shape (K,)
    option : str
        What the user calls this: the parameter, or the option of the command line.

    Examples
    --------
    >>> classes = np.array(["poor", "fair", "good"])
    >>> resolve_prior("labels", np.array([1.0, 1.0, 2.0]), classes)
    array([0.25, 0.25, 0.5 ])
    >>> resolve_prior("good=70%,poor=10%,fair=20%", np.ones(3), classes)
    array([0.1, 0.2, 0.7])
    >>> resolve_prior([10, 20, 70], np.ones(3), classes)
    array([0.1, 0.2, 0.7])
    """
    if isinstance(class_prior, str) and class_prior in CLASS_PRIORS:
        shares = np.ones(len(classes)) if class_prior == "uniform" else class_counts
        return shares / shares.sum()
    form = _Form(option, classes)
    given = class_prior
    if isinstance(given, str | Path):
        given = form.of_file(Path(given)) if _is_table(given) else form.of_text(str(given))
    elif hasattr(given, "columns"):
        given = form.of_pairs(given.to_numpy().tolist())
    by_class = form.in_order(given)
    are_percents = [str(value).strip().endswith("%") for value in by_class]
    if any(are_percents) and not all(are_percents):
        raise form.error("has some shares in percent and others not.")
    return form.normalized(np.array([form.number(value) for value in by_class]))


def _is_table(value: str | Path) -> bool:
    return isinstance(value, Path) or value.lower().endswith(".csv")


class _Form:
    """Turns what is given into shares, with errors that name the option and show the form."""

    def __init__(self, option: str, classes: NDArray[Any]):
        self.option = option
        self.names = [_text(label) for label in classes.tolist()]
        self.labels = classes.tolist()

    def error(self, problem: str) -> ValueError:
        return ValueError(f"{self.option} {problem} Give {self.example()}.")

    def example(self) -> str:
        """The right form, for these classes."""
        n_classes = len(self.names)
        percents = np.full(n_classes, 100 // n_classes)
        percents[0] += 100 - percents.sum()
        if self.option.startswith("--"):
            in_order = ",".join(f"{percent}%" for percent in percents)
            by_name = ",".join(f"{n}={p}%" for n, p in zip(self.names, percents, strict=True))
            return (
                "'labels', 'uniform', 'estimate', a share or a count for each of the "
                f"{n_classes} classes from the lowest to the highest ({self.option} {in_order}), "
                f"the same by name ({self.option} {by_name}), or a CSV file of both"
            )
        in_order = ", ".join(f"{percent / 100:g}" for percent in percents)
        return (
            f"'labels', 'uniform', one share for each of the {n_classes} classes in order "
            f"({self.option}=[{in_order}]), or a dict by class; the classes are "
            f"{join_names(self.labels)}"
        )

    def of_text(self, text: str) -> Any:
        items = [item.strip() for item in text.split(",")]
        if "" in items and text.strip():
            raise self.error(f"{text!r} has nothing between two commas, or at an end.")
        if any("=" in item for item in items):
            return self.of_pairs([[part.strip() for part in item.split("=", 1)] for item in items])
        if text == ESTIMATED_PRIOR:
            raise self.error(
                "'estimate' is for classifiers that hold rows out, such as "
                "LinearOrdinalClassifierCV; semiordinal.shares.estimate_class_shares estimates "
                "shares for the others."
            )
        if not re.search(r"\d", text):
            raise self.error(f"{text!r} is not known.")
        if len(items) == 1 and re.search(r"[;\s]", text):
            raise self.error(f"{text!r} has no commas between the shares.")
        return items

    def of_file(self, path: Path) -> Any:
        try:
            with path.open(newline="", encoding="utf-8-sig") as file:
                pairs = [[cell.strip() for cell in row] for row in csv.reader(file) if any(row)]
        except OSError as problem:
            raise self.error(f"{str(path)!r} cannot be read: {problem.strerror}.") from None
        if pairs and len(pairs[0]) == 2 and pairs[0][0] not in self.names:
            pairs = pairs[1:]  # a line of column names
        return self.of_pairs(pairs)

    def of_pairs(self, pairs: list[list[Any]]) -> dict[Any, Any]:
        if not pairs or any(len(pair) != 2 for pair in pairs):
            raise self.error("must give each class and its share, two by two.")
        named = [pair[0] for pair in pairs]
        if len(set(named)) < len(named):
            twice = next(name for name in named if named.count(name) > 1)
            raise self.error(f"names the class {twice} twice.")
        return dict(pairs)

    def in_order(self, given: Any) -> list[Any]:
        is_series = hasattr(given, "index") and hasattr(given, "items")
        if not is_series and not isinstance(given, Mapping):
            values = np.asarray(given, dtype=object)
            if values.shape != (len(self.names),):
                has = pluralize(len(values), "share") if values.ndim == 1 else "no list of shares"
                raise self.error(
                    f"has {has}, but there are {len(self.names)} classes "
                    f"({join_names(self.labels)})."
                )
            return list(values)
        by_class = dict(given.items())
        if is_series and list(by_class) == list(range(len(self.names))):
            if set(by_class) != set(self.labels):
                return list(by_class.values())  # a Series without an index of its own
        by_name = {_text(name): value for name, value in by_class.items()}
        unknown = [name for name in by_name if name not in self.names]
        missing = [name for name in self.names if name not in by_name]
        classes = f"the classes are {join_names(self.labels)}."
        if unknown:
            raise self.error(f"names {join_names(unknown)}, but {classes}")
        if missing:
            raise self.error(f"gives no share for {join_names(missing)}; {classes}")
        return [by_name[name] for name in self.names]

    def number(self, value: Any) -> float:
        text = str(value).strip()
        try:
            return float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
        except ValueError:
            raise self.error(f"holds {value!r}, which is not a number.") from None

    def normalized(self, values: Array) -> Array:
        if not (values >= 0).all() or not np.isfinite(values).all():
            raise self.error(f"{values.tolist()} must not be negative, NaN or infinite.")
        total = float(values.sum())
        if total == 0:
            raise self.error("gives no class a share.")
        are_counts = total >= 2 and bool((values == np.round(values)).all())
        scale = 100.0 if abs(total - 100) <= 100 * _NEARLY else 1.0
        off = abs(total / scale - 1)
        if off > _NEARLY and not are_counts:
            raise self.error(f"sums to {total:.6g}, not 1 or 100 %.")
        if _EXACT < off <= _NEARLY:
            warn_caller(
                f"{self.option} sums to {total / scale:.4g}, and is divided by that to sum to 1.",
                ClassPriorWarning,
            )
        return values / total


def _text(name: Any) -> str:
    """A class as text; 3.0, which tables make of 3, as 3."""
    return str(int(name)) if isinstance(name, float) and name.is_integer() else str(name)


def check_form(class_prior: Any, may_estimate: bool = True) -> None:
    """Raise where class shares are a word that is not known, before any rows are looked at."""
    known = (*CLASS_PRIORS, ESTIMATED_PRIOR) if may_estimate else CLASS_PRIORS
    if not isinstance(class_prior, str) or class_prior in known:
        return
    if not _is_table(class_prior) and not re.search(r"\d", class_prior):
        raise ValueError(
            f"class_prior={class_prior!r} is not known; choose one of {list(known)}, or give one "
            "share for each class, in order or by class."
        )


def is_of_labels(class_prior: Any) -> bool:
    """Whether class shares are those of the labelled rows."""
    return isinstance(class_prior, str) and class_prior == "labels"


def is_estimated(class_prior: Any) -> bool:
    """Whether class shares are to be estimated."""
    return isinstance(class_prior, str) and class_prior == ESTIMATED_PRIOR


def is_unknown(class_prior: Any) -> bool:
    """Whether class shares are those of the labels, or to be estimated."""
    return is_of_labels(class_prior) or is_estimated(class_prior)


def given_shares(class_prior: Any, counts: Array, classes: NDArray[Any]) -> Array | None:
    """Class shares that the user knows; None where they are those of labels, or estimated."""
    return None if is_unknown(class_prior) else resolve_prior(class_prior, counts, classes)


def check_prior(class_prior: Any) -> Array:
    """Class priors as an array that sums to one; raise unless they are probabilities."""
    prior = np.asarray(class_prior, dtype=float)
    if prior.ndim != 1 or len(prior) < 2:
        raise ValueError("class_prior must hold one number a class, for at least two classes.")
    if not (prior >= 0).all():
        raise ValueError(f"class_prior={prior.tolist()} must not be negative or NaN.")
    if abs(prior.sum() - 1) > _EXACT:
        raise ValueError(
            f"class_prior sums to {prior.sum():.6g}, not 1. If these are counts, divide them by "
            "their sum."
        )
    return prior / prior.sum()


def warn_of_slight_priors(prior: Array, class_counts: Array, classes: NDArray[Any]) -> None:
    """Warn where a prior says that classes hardly occur, and labels say that they do."""
    slight = (prior < _LEAST_PRIOR) & (class_counts > 0)
    if slight.any():
        pairs = zip(classes[slight], prior[slight], strict=True)
        which = ", ".join(f"{label}: {share:.2g}" for label, share in pairs)
        warn_caller(
            f"class_prior gives next to nothing to classes that have labels ({which}). Check the "
            "prior and its order, or leave these labels out.",
            ClassPriorWarning,
        )
