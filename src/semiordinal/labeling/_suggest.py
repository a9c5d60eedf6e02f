"""Rows to label next, chosen for ordered classes."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing, check_random_state

from .._utils.checks import check_count, check_number
from .._utils.text import class_names
from .._utils.typing import Array, Codes
from ._models import ModelRows, cumulative_or_none, label_codes, model_rows
from ._places import standardized, with_positions
from ._reasons import explain
from ._uncertainty import Uncertainty

_MOST_CANDIDATES, _MOST_LABELED, _MOST_TARGETS = 5000, 1000, 2000
_LEVEL = 0.9  # of prediction sets
DRAWN = "drawn at random"
_NEAREST = 1 / 3  # of the unlabelled rows, those nearest to a border between classes


@dataclass(frozen=True)
class Suggestions:
    """Rows to label, the most useful first.

    Parameters
    ----------
    positions : array of int of shape (n,)
        Rows of X, from 0.
    predicted : array of shape (n,)
        The class that the model predicts for each.
    lowest, highest : arrays of shape (n,) or None
        Between which classes the true one lies in 90 % of all rows; of chosen ones, which are
        harder, in fewer. None where the model holds no labelled rows out, by which that is known.
    is_random : array of bool of shape (n,)
        Which of them were drawn at random from all rows without a label.
    reasons : list of str
        Why each row is asked for.
    """

    positions: Codes
    predicted: NDArray[Any]
    lowest: NDArray[Any] | None
    highest: NDArray[Any] | None
    is_random: NDArray[np.bool_]
    reasons: list[str]


def suggest(
    model: Any,
    X: Any,
    n: int = 20,
    *,
    y: Any = None,
    random_share: float = 0.25,
    random_state: Any = 0,
) -> Suggestions:
    """Choose rows near borders between classes whose labels would tell most of all rows.

    Only the third of the unlabelled rows that is nearest to a border between classes is chosen
    from, since labels change predictions there. Each row is the one of them whose label would leave
    the least uncertainty about all rows, where a label tells the more of a row, the more alike the
    two are in the columns and in the class that the model expects, which count equally. So rows of
    a batch differ from each other and from what is labelled, but are no outliers, and all classes
    that the model expects have their share.

    Labels of rows so chosen are no random draw, and errors on them are not those on all rows. So
    some of the batch, by default every fourth row, are drawn at random from all rows without a
    label: each is as likely to be drawn, but they are spread over the classes that are expected.

    Parameters
    ----------
    model : fitted classifier, or Pipeline that ends in one
        Of this package; others can be wrapped in `CalibratedOrdinalClassifier`.
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
        Rows to choose from; of more than 5,000 without a label, 5,000 drawn at random.
    n : int, default=20
        Rows to choose.
    y : array-like of shape (n_samples,) or (n_samples, 2), optional
        Labels of the rows that have one, and NaN, None or pd.NA for others, as in ``fit``. Rows
        with a label, or an interval of classes, are not chosen, and what they stand for counts as
        known. Without it, no row has a label.
    random_share : float, default=0.25
        Share of the batch that is drawn at random, between 0 and 1.
    random_state : int, RandomState or None, default=0
        For what is drawn at random.

    Returns
    -------
    Suggestions

    Examples
    --------
    >>> import numpy as np
    >>> from semiordinal import LinearOrdinalClassifierCV
    >>> from semiordinal.labeling import suggest
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2))
    >>> y = np.digitize(X @ [1.0, -1.0] + 0.3 * rng.normal(size=300), [-0.5, 0.5]).astype(float)
    >>> y[20:] = np.nan
    >>> model = LinearOrdinalClassifierCV(random_state=0).fit(X, y)
    >>> found = suggest(model, X, 3, y=y)
    >>> len(found.positions), bool((found.positions >= 20).all())
    (3, True)
    """
    check_count("n", n)
    check_number("random_share", random_share, 0.0, 1.0)
    rows = model_rows(model, X)
    n_rows = rows.X.shape[0]
    codes = np.full(n_rows, -1) if y is None else label_codes(rows.classes, y, n_rows)
    random = check_random_state(random_state)
    unlabeled = np.flatnonzero(codes == -1)
    if len(unlabeled) < n:
        raise ValueError(
            f"n={n} must be at most the number of rows of X without a label, {len(unlabeled)}."
        )
    considered = _draw(random, unlabeled, max(_MOST_CANDIDATES, n))
    labeled = np.flatnonzero(codes != -1)
    labeled_places, free_places = np.split(
        standardized(_safe_indexing(rows.X, np.r_[labeled, considered])), [len(labeled)]
    )
    known = _draw(random, np.arange(len(labeled)), _MOST_LABELED)
    used, places = (
        np.r_[labeled[known], considered],
        np.vstack([labeled_places[known], free_places]),
    )
    rows = ModelRows(rows.model, _safe_indexing(rows.X, used))
    n_labeled = len(known)
    free = np.arange(n_labeled, len(used))
    cumulative = cumulative_or_none(rows)
    targets = _draw(random, np.arange(len(used)), _MOST_TARGETS)
    drawn = _spread_draw(random, free, cumulative, _n_random(n, random_share))
    candidates = _near_borders(free, drawn, cumulative, n)
    uncertainty = Uncertainty(with_positions(places, cumulative), candidates, targets)
    uncertainty.add(np.r_[np.arange(n_labeled), drawn])
    chosen = _choose(uncertainty, candidates, drawn, n)
    is_random = np.isin(chosen, drawn)
    picked = ModelRows(rows.model, _safe_indexing(rows.X, chosen))
    names, of_chosen, usual = class_names(picked.classes), None, 0.0
    if cumulative is not None:
        of_chosen, usual = cumulative[chosen], float(np.median(_to_border(cumulative[free])))
    reasons = explain(names, places[chosen], labeled_places, free_places, of_chosen, usual)
    lowest, highest = _sets(picked)
    return Suggestions(
        used[chosen],
        picked.model.predict(picked.X),
        lowest,
        highest,
        is_random,
        [
            DRAWN if at_random else reason
            for at_random, reason in zip(is_random, reasons, strict=True)
        ],
    )


def _n_random(n: int, share: float) -> int:
    return int(n * share + 0.5)


def _spread_draw(random: Any, free: Codes, cumulative: Array | None, n: int) -> Codes:
    """Rows at equal steps of the expected class, from a random start: a systematic sample.

    Each row is as likely to be drawn as in a simple draw, so what is estimated by them has no bias.
    """
    shuffled = random.permutation(free)
    if cumulative is not None:
        shuffled = shuffled[np.argsort(-cumulative[shuffled].sum(axis=1), kind="stable")]
    places = (random.uniform() + np.arange(n)) * len(free) / max(n, 1)
    return np.asarray(shuffled[places.astype(int)])


def _near_borders(free: Codes, drawn: Codes, cumulative: Array | None, n: int) -> Codes:
    """Rows to choose from: those that are nearest to a border between two classes."""
    rest = np.setdiff1d(free, drawn)
    if cumulative is None:
        return rest
    distances = _to_border(cumulative[rest])
    n_nearest = max(int(_NEAREST * len(rest)), n - len(drawn))
    return rest[np.argsort(distances, kind="stable")[:n_nearest]]


def _to_border(cumulative: Array) -> Array:
    """How far rows are from the nearest border between two classes, in probability."""
    return np.asarray(np.abs(cumulative - 0.5).min(axis=1))


def _choose(uncertainty: Uncertainty, candidates: Codes, drawn: Codes, n: int) -> NDArray[np.intp]:
    """Rows that were drawn, and those candidates that are best beside them, in turn."""
    batch = np.empty(n, dtype=np.intp)
    # The last of each n / n_random rows, so that a batch that is cut short has its share.
    at_random = np.ceil(np.arange(1, len(drawn) + 1) * n / max(len(drawn), 1)).astype(int) - 1
    batch[at_random] = drawn
    is_free = np.ones(len(candidates), dtype=bool)
    for place in np.setdiff1d(np.arange(n), at_random):
        best = np.where(is_free, uncertainty.gains(), -np.inf).argmax()
        is_free[best] = False
        batch[place] = candidates[best]
        uncertainty.add(candidates[[best]])
    return batch


def _draw(random: Any, rows: Codes, most: int) -> Codes:
    """The rows, or so many drawn at random, in their order."""
    if len(rows) <= most:
        return rows
    return np.sort(random.choice(rows, most, replace=False))


def _sets(rows: ModelRows) -> tuple[NDArray[Any] | None, NDArray[Any] | None]:
    if not hasattr(rows.model, "held_out_cumulative_"):
        return None, None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # with few labels sets are all classes
        ends = rows.model.predict_set(rows.X, _LEVEL)
    return ends[:, 0], ends[:, 1]
