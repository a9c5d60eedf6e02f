"""Labels that held-out predictions speak against."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors
from sklearn.utils import _safe_indexing

from .._utils.checks import check_count
from .._utils.text import class_names, pluralize
from .._utils.typing import Array, Codes
from ._label_noise import HIGHEST_RATE, estimate_label_noise
from ._models import held_out_rows, label_codes, model_rows
from ._places import standardized

_LEVEL = 0.9
_NEIGHBORS = 20
_MOST_NEIGHBORS_OF = 5000  # labelled rows among which like ones are looked for
_WEIGHT_OF_NEIGHBORS = 0.5  # by that of the model, which has seen most of the same rows
_PRIOR_ROWS = 2.0  # of the shares of all labels, beside the like rows
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
        The most probable class by models that have not seen the label, and by like rows.
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

    Each label is compared with the class probabilities of models that were fitted without it, and
    with the labels of the 20 rows most like it. How many labels are wrong is estimated too, and
    with it the probability that each of them is.

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
    >>> [int(each[0]) for each in (found.positions == row, found.labels, found.likely)]
    [1, 0, 2]
    """
    check_count("n", n)
    rows = model_rows(model, X)
    codes = label_codes(rows.classes, y, rows.X.shape[0])
    judged = held_out_rows(rows.model, codes)
    own = codes[judged]
    neighbors = _neighbors(rows.X, judged, codes)
    by_model = _probabilities(rows.model, own)
    noise = estimate_label_noise(by_model, own, _LEVEL, _pooled(by_model, own, neighbors))
    order = np.argsort(-noise.is_wrong, kind="stable")[:n]
    first = judged[order]
    likely = noise.probabilities[order].argmax(axis=1)
    reasons = _reasons(
        class_names(rows.classes), noise.probabilities[order], own[order], neighbors[order]
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


def number_sentence(found: DoubtfulLabels) -> str:
    """How many labels seem wrong.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> number_sentence(SimpleNamespace(n_labels=200, n_wrong=12, low=5, high=21))
    'Of 200 labels about 12 seem wrong (90 % interval: 5 to 21), or more if classes look alike.'
    >>> number_sentence(SimpleNamespace(n_labels=200, n_wrong=0, low=0, high=8))
    'Nothing shows that any of 200 labels is wrong; up to 8 may be (90 % interval).'
    >>> number_sentence(SimpleNamespace(n_labels=200, n_wrong=9, low=0, high=20))
    'Of 200 labels about 9 may be wrong, though none need be (90 % interval: 0 to 20).'
    >>> number_sentence(SimpleNamespace(n_labels=200, n_wrong=0, low=0, high=120))
    'How many of 200 labels are wrong cannot be told: the model says too little of the classes.'
    """
    if not found.low and found.high >= round(HIGHEST_RATE * found.n_labels):
        return (
            f"How many of {pluralize(found.n_labels, 'label')} are wrong cannot be told: the model "
            "says too little of the classes."
        )
    if not found.low and found.n_wrong:
        return (
            f"Of {pluralize(found.n_labels, 'label')} about {found.n_wrong:,} may be wrong, though "
            f"none need be (90 % interval: 0 to {found.high:,})."
        )
    if not found.low:
        return (
            f"Nothing shows that any of {pluralize(found.n_labels, 'label')} is wrong; up to "
            f"{found.high:,} may be (90 % interval)."
        )
    return (
        f"Of {pluralize(found.n_labels, 'label')} about {found.n_wrong:,} seem wrong (90 % "
        f"interval: {found.low:,} to {found.high:,}), or more if classes look alike."
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


def _neighbors(X: Any, judged: Codes, codes: Codes) -> NDArray[Any]:
    """Codes of the labelled rows that are nearest to each, the nearest first; not its own."""
    few = np.linspace(0, len(judged) - 1, min(len(judged), _MOST_NEIGHBORS_OF)).astype(int)
    places = standardized(_safe_indexing(X, judged))
    if not places.shape[1]:  # all rows are alike
        places = np.zeros((len(judged), 1))
    n_nearest = min(_NEIGHBORS, len(few) - 1)
    found = NearestNeighbors(n_neighbors=n_nearest + 1).fit(places[few])
    nearest = few[found.kneighbors(places, return_distance=False)]
    is_own = nearest == np.arange(len(judged))[:, None]
    last = np.argsort(is_own, axis=1, kind="stable")[:, :n_nearest]
    return codes[judged][np.take_along_axis(nearest, last, axis=1)]


def _pooled(probabilities: Array, codes: Codes, neighbors: NDArray[Any]) -> Array:
    """Probabilities by the model and the labels of like rows, whose log-odds count half."""
    n_classes = probabilities.shape[1]
    counts = (neighbors[:, :, None] == np.arange(n_classes)).sum(axis=1)
    shares = np.bincount(codes, minlength=n_classes) / len(codes)
    alike = (counts + _PRIOR_ROWS * shares) / (neighbors.shape[1] + _PRIOR_ROWS)
    pooled = probabilities * np.maximum(alike, 1e-12) ** _WEIGHT_OF_NEIGHBORS
    return np.asarray(pooled / pooled.sum(axis=1, keepdims=True))


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
