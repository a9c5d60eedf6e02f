"""Whether the rows determine the parameters: columns that depend on others, separable classes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linprog

from .._rows import as_dense
from .._utils.text import join_names
from .._utils.typing import Array
from ._fitted import FittedModel

# Eigenvalues of the Hessian, scaled to a unit diagonal, below which a direction is flat.
_FLAT = 1e-9
# Labels that are predicted almost surely along a direction leave little curvature, and make
# coefficients of standardised columns large, long before a direction is flat.
_NEARLY_FLAT = 1e-4
_LARGE = 8.0
# A unit change of standardised parameters that moves scores by less than this moves none.
_UNMOVED = 1e-6
# Entries of a direction above this, of its largest, say which columns it is about.
_SHARE = 1e-4


def check_identified(fitted: FittedModel) -> None:
    """Raise where some parameters have no finite estimate, naming the columns."""
    diagonal = np.diagonal(fitted.hessian)
    scale = np.sqrt(np.where(diagonal > _FLAT * diagonal.max(), diagonal, 1.0))
    values, vectors = np.linalg.eigh(fitted.hessian / np.outer(scale, scale))
    n_coefs = len(fitted.model.coef_)
    if not fitted.problem.l2:
        large = np.abs(fitted.variables[:n_coefs]).max(initial=0.0) > _LARGE
        if values[0] < _NEARLY_FLAT or large:
            direction = vectors[:, 0] / scale
            if values[0] < _FLAT:
                _check_columns(fitted, direction)
            _check_separation(fitted)
    if values[0] < _FLAT:
        raise ValueError(
            "The objective is flat, or not convex, at the model's parameters, so standard errors "
            f"do not exist (smallest eigenvalue of its scaled Hessian {values[0]:.2g}). Raise l2, "
            "or use a smaller unlabeled_weight."
        )


def _check_columns(fitted: FittedModel, direction: Array) -> None:
    """Raise where a direction changes no score of a labelled row."""
    rows, _ = _labeled_rows(fitted)
    coordinates = fitted.problem.coordinates
    in_columns = direction[: rows.shape[1]]
    coef, thresholds = coordinates.to_rows(direction)
    moved = thresholds - (rows @ coef)[:, None]
    if np.abs(moved).max() > _UNMOVED * np.abs(direction).max():
        return
    largest = np.abs(in_columns).max(initial=0.0)
    named = [repr(fitted.names[j]) for j in np.flatnonzero(np.abs(in_columns) > _SHARE * largest)]
    if len(named) == 1:
        raise ValueError(
            f"Column {named[0]} is constant over the labelled rows, so its coefficient is not "
            "determined. Drop it, or set l2 > 0."
        )
    raise ValueError(
        f"Columns {join_names(named)} are linearly dependent over the labelled rows (with the "
        "thresholds as a constant), so their coefficients are not determined. Drop one of them, "
        "or set l2 > 0."
    )


def _check_separation(fitted: FittedModel) -> None:
    """Raise where a direction fits every label ever better, so that estimates are infinite.

    Along ``(w, θ)`` the loss of a row falls for ever where the scores on the upper side of its
    label do not fall and those on the lower side do not rise. Whether there is such a direction
    is a linear programme (as in Konis 2007, for binary labels).
    """
    rows, codes = _labeled_rows(fitted)
    coordinates = fitted.problem.coordinates
    if coordinates.shift is not None:
        rows = rows - coordinates.shift
    if coordinates.scale is not None:
        rows = rows / coordinates.scale
    n_thresholds = len(fitted.model.thresholds_)
    upper, lower = codes < n_thresholds, codes > 0
    blocks = [_scores(rows[upper], codes[upper], n_thresholds)]
    blocks.append(-_scores(rows[lower], codes[lower] - 1, n_thresholds))
    falls = sparse.vstack(blocks, format="csc")
    n_columns = rows.shape[1]
    direction = _direction_of_fall(falls)
    if direction is None:
        return
    separating = np.flatnonzero(np.abs(direction[:n_columns]) > _SHARE)
    thresholds = np.arange(n_columns, falls.shape[1])
    alone = [j for j in separating if _direction_of_fall(falls[:, [j, *thresholds]]) is not None]
    named = [repr(fitted.names[j]) for j in (alone or separating)]
    what = f"{'column' if len(named) == 1 else 'columns'} {join_names(named)}"
    verb = "separates" if len(named) == 1 else "each separate" if alone else "together separate"
    raise ValueError(
        f"The likelihood has no maximum: {what} {verb} classes of the labelled rows, completely or "
        "but for ties, so that estimates are infinite. Set l2 > 0, merge classes, label more rows, "
        "or drop what separates."
    )


def _direction_of_fall(falls: sparse.csc_matrix) -> Array | None:
    """Parameters within ±1 at which no row of ``falls @ parameters`` is negative and some are not
    zero; None where there are none."""
    totals = np.asarray(falls.sum(axis=0)).ravel()
    found = linprog(-totals, A_ub=-falls, b_ub=np.zeros(falls.shape[0]), bounds=(-1, 1))
    separates = found.status == 0 and -found.fun > 1e-7 * falls.shape[0]
    return found.x if separates else None


def _scores(rows: Array, thresholds: NDArray[np.intp], n_thresholds: int) -> sparse.csr_matrix:
    """The map from coefficients and thresholds to ``θ_i − row · w``."""
    n = len(rows)
    one = sparse.csr_matrix((np.ones(n), (np.arange(n), thresholds)), (n, n_thresholds))
    return sparse.hstack([sparse.csr_matrix(-rows), one], format="csr")


def _labeled_rows(fitted: FittedModel) -> tuple[Array, NDArray[np.intp]]:
    """Labelled rows as the objective has them, and their codes."""
    codes = fitted.problem.labels.codes
    labeled = np.flatnonzero(codes >= 0)
    design = fitted.problem.design.take(labeled)
    rows = np.concatenate([np.array(as_dense(block)) for _, block in design.blocks()])
    return rows, codes[labeled]
