"""Newton steps on a sum over rows without each of the rows, from one factorisation."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from ..._utils.typing import Array


def steps_without_rows(
    gradient: Array,
    hessian: Array,
    columns: Array,
    matrix: Array,
    slopes: Array,
    curvatures: Array,
) -> Array:
    """What to add to the variables to minimise the sum without each row, to second order.

    Row j is a function of m scores, whose derivatives in the variables are ``columns[j]``, which
    all scores share, followed by the rows of ``matrix``. Its Hessian thus has a rank of at most m,
    and the Woodbury identity turns the inverse with all rows into that without it.

    Parameters
    ----------
    gradient, hessian : arrays of shape (v,) and (v, v)
        Of the sum over all rows. The Hessian is overwritten.
    columns : array of shape (n, p)
    matrix : array of shape (m, v − p)
    slopes, curvatures : arrays of shape (n, m)
        First and second derivatives of each row in its scores.

    Returns
    -------
    array of shape (n, v)

    Examples
    --------
    The mean of the numbers other than each, from the sum of half their squared distances to 2:

    >>> numbers = np.array([1.0, 2.0, 3.0])
    >>> steps = steps_without_rows(
    ...     np.array([0.0]), np.array([[3.0]]), np.empty((3, 0)), np.eye(1),
    ...     2 - numbers[:, None], np.ones((3, 1)),
    ... )
    >>> 2 + steps[:, 0]
    array([2.5, 2. , 1.5])
    """
    (n, p), m = columns.shape, len(matrix)
    right = np.zeros((1 + m + n, len(gradient)))
    right[0], right[1 : 1 + m, p:], right[1 + m :, :p] = gradient, matrix, columns
    # LAPACK works on columns: by transposes nothing is copied.
    factor = linalg.cho_factor(hessian.T, lower=True, overwrite_a=True, check_finite=False)
    solved = linalg.cho_solve(factor, right.T, overwrite_b=True, check_finite=False).T
    common, by_matrix, by_columns = solved[0], solved[1 : 1 + m], solved[1 + m :]
    # Products of the scores' derivatives by the inverse Hessian: (n, m, m).
    mixed = columns @ by_matrix[:, :p].T
    inner = matrix @ by_matrix[:, p:].T + mixed[:, :, None] + mixed[:, None, :]
    inner += np.einsum("jv,jv->j", columns, by_columns[:, :p])[:, None, None]
    # How far the step without a row would move its scores, were its curvature still there.
    moved = (columns @ common[:p])[:, None] + matrix @ common[p:]
    moved -= np.einsum("jmk,jk->jm", inner, slopes)
    left = np.eye(m) - curvatures[:, :, None] * inner
    pull = slopes - np.linalg.solve(left, (curvatures * moved)[:, :, None])[:, :, 0]
    steps = by_columns
    steps *= pull.sum(axis=1, keepdims=True)
    steps += pull @ by_matrix
    steps -= common
    return steps
