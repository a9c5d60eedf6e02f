"""Labels that held-out predictions speak against."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.utils import _safe_indexing

from .._utils.checks import check_count
from .._utils.text import class_names
from .._utils.typing import Array, Codes
from ._label_noise import estimate_label_noise
from ._models import held_out_rows, label_codes, model_rows
from ._unknown import standardized

_LEVEL = 0.9
_NEIGHBORS = 10
_MOST_NEIGHBORS_OF = 5000  # labelled rows among which like ones are looked for
_MANY = 0.8  # of like rows, to be worth a word


@dataclass(frozen=True)
class DoubtfulLabels:
    """Labels that may be wrong, the most doubtful first.

    Parameters
    ----------
    positions : array of int of shape (n,)
        Rows of X, from 0.
    labels : array of shape (n,)
        As they were given.
    likely : array of shape (n,)
        The most probable class by models that have not seen the label.
    is_wrong : array of shape (n,)
        The probability that the label is wrong.
    reasons : list of str
        What speaks against each label.
    n_wrong, low, high : int
        How many of all labels seem wrong, with a 90 % interval. It tends to be too low: where
        classes are hard to tell apart, wrong labels look like right ones.
    n_labels : int
        Labels that were judged.
    """

    positions: Codes
    labels: NDArray[Any]
    likely: NDArray[Any]
    is_wrong: Array
    reasons: list[str]
    n_wrong: int
    low: int
    high: int
    n_labels: int


def doubt(model: Any, X: Any, y: Any, n: int = 20) -> DoubtfulLabels:
    """Find the labels that are most likely to be wrong.

    Each label is compared with the class probabilities of models that were fitted without it. How
    many labels are wrong is estimated too, and with it the probability that each of them is.

    Parameters
    ----------
    model : fitted classifier, or Pipeline that ends in one
        One that holds labelled rows out: `AutoOrdinalClassifier`, `LinearOrdinalClassifierCV`,
        `KernelOrdinalClassifierCV` or `CalibratedOrdinalClassifier`.
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
        The rows that it was fitted to.
    y : array-like of shape (n_samples,)
        Their labels, and NaN, None or pd.NA for none.
    n : int, default=20
        How many labels to give; fewer if there are not so many.

    Returns
    -------
    DoubtfulLabels

    Examples
    --------
    >>> import numpy as np
    >>> from semiordinal import LinearOrdinalClassifierCV
    >>> from semiordinal.labeling import doubt
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> y = np.digitize(X[:, 0], [-0.5, 0.5])
    >>> row = int(X[:, 0].argmax())
    >>> y[row] = 0  # the highest row gets the lowest class
    >>> model = LinearOrdinalClassifierCV(random_state=0).fit(X, y)
    >>> found = doubt(model, X, y, n=1)
    >>> found.positions[0] == row, found.labels[0], found.likely[0]
    (np.True_, np.int64(0), np.int64(2))
    """
    check_count("n", n)
    rows = model_rows(model, X)
    codes = label_codes(rows.classes, y, rows.X.shape[0])
    judged = held_out_rows(rows.model, codes)
    own = codes[judged]
    noise = estimate_label_noise(_probabilities(rows.model, own), own, _LEVEL)
    order = np.argsort(-noise.is_wrong, kind="stable")[:n]
    first = judged[order]
    likely = noise.probabilities[order].argmax(axis=1)
    reasons = _reasons(
        class_names(rows.classes),
        noise.probabilities[order],
        codes[first],
        _neighbors(rows.X, first, judged, codes),
    )
    n_labels = len(own)
    return DoubtfulLabels(
        first,
        rows.classes[codes[first]],
        rows.classes[likely],
        noise.is_wrong[order],
        reasons,
        round(noise.rate * n_labels),
        round(noise.low * n_labels),
        round(noise.high * n_labels),
        n_labels,
    )


def _probabilities(model: Any, codes: Codes) -> Array:
    """Of the classes of held-out rows, at the shares that the labels have."""
    cumulative = np.maximum.accumulate(model.held_out_cumulative_, axis=1)
    probabilities = np.diff(cumulative, axis=1, prepend=0.0, append=1.0)
    n_classes = probabilities.shape[1]
    counts = np.bincount(codes, minlength=n_classes)
    weighted = np.bincount(codes, model.held_out_weights_, n_classes)
    odds = np.divide(counts, weighted, out=np.ones(n_classes), where=weighted > 0)
    by_labels = probabilities * odds + 1e-12
    return np.asarray(by_labels / by_labels.sum(axis=1, keepdims=True))


def _neighbors(X: Any, rows: Codes, judged: Codes, codes: Codes) -> NDArray[Any]:
    """Codes of the labelled rows that are nearest to each of some."""
    few = judged[np.linspace(0, len(judged) - 1, min(len(judged), _MOST_NEIGHBORS_OF)).astype(int)]
    places = standardized(_safe_indexing(X, np.r_[rows, few]))
    distances = cdist(places[: len(rows)], places[len(rows) :])
    distances[rows[:, None] == few] = np.inf
    nearest = np.argsort(distances, axis=1, kind="stable")[:, : min(_NEIGHBORS, len(few) - 1)]
    return codes[few[nearest]]


def _reasons(
    names: list[str], probabilities: Array, codes: Codes, neighbors: NDArray[Any]
) -> list[str]:
    """What models and like rows say of each label."""
    reasons = []
    for row, code, others in zip(probabilities, codes, neighbors, strict=True):
        likely = int(row.argmax())
        if likely == code:
            parts = [f"{names[code]} itself is the most probable class, at {row[code]:.0%}"]
        else:
            parts = [f"{names[likely]} is more probable: {row[likely]:.0%} to {row[code]:.0%}"]
        for which, is_so in (("higher", others > code), ("lower", others < code)):
            if is_so.mean() >= _MANY:
                parts.append(f"{is_so.sum()} of the {len(others)} rows most like it are {which}")
        reasons.append("; ".join(parts))
    return reasons
