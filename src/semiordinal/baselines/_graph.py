"""A sparse graph of nearest neighbours, and scores that are smooth on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import cg

from .._utils.typing import Array, Codes


def gaussian_weights(squared_distances: Array, width: float) -> Array:
    """``exp(−d² / (2 width²))``."""
    return np.exp(-0.5 / width**2 * squared_distances)


def neighbor_graph(distances: Array, neighbors: Codes, width: float) -> Any:
    """Symmetric weights W (sparse): an edge where either row is a neighbour of the other.

    Parameters
    ----------
    distances, neighbors : arrays of shape (n_rows, n_neighbors)
        Each row's neighbours, itself not among them, and how far they are.
    width : float
        Standard deviation of the Gaussian that makes weights of distances.
    """
    n_rows, n_neighbors = neighbors.shape
    weights = gaussian_weights(distances**2, width)
    starts = np.arange(0, weights.size + 1, n_neighbors)
    directed = sparse.csr_array((weights.ravel(), neighbors.ravel(), starts), (n_rows, n_rows))
    graph = directed.maximum(directed.T).tocsr()
    graph.eliminate_zeros()
    return graph


def normalized(graph: Any) -> Any:
    """``D^{-1/2} W D^{-1/2}`` with the degrees D of the rows; nothing for rows without edges."""
    degrees = np.asarray(graph.sum(axis=1)).ravel()
    inverse = np.zeros(len(degrees))
    np.divide(1.0, np.sqrt(degrees), out=inverse, where=degrees > 0)
    scale = sparse.diags_array(inverse)
    return (scale @ graph @ scale).tocsr()


def reached_from(graph: Any, sources: Codes) -> Any:
    """Which rows are connected to one of the sources, as booleans."""
    n_parts, part = connected_components(graph, directed=False)
    has_source = np.zeros(n_parts, dtype=bool)
    has_source[part[sources]] = True
    return has_source[part]


@dataclass(frozen=True)
class SmoothScores:
    """Scores on a graph and how the solver ended."""

    scores: Array
    n_iter: int
    converged: bool
    residual: float  # relative to the right-hand side


def smooth_scores(
    graph: Any, labeled: Codes, targets: Array, label_weight: float, max_iter: int, tol: float
) -> SmoothScores:
    """Minimise ``½ Σ_ij W_ij (s_i/√D_i − s_j/√D_j)² + label_weight Σ_labelled (s_i − y_i)²``.

    It solves ``(I − D^{-1/2} W D^{-1/2} + ν J) s = ν J y`` by conjugate gradients. Rows
    that no path connects to a labelled one keep a score of zero.

    Examples
    --------
    Two rows joined by an edge, one of them labelled: the other takes its score.

    >>> graph = sparse.csr_array([[0.0, 1.0], [1.0, 0.0]])
    >>> smooth_scores(graph, np.array([0]), np.array([3.0]), 1.0, 100, 1e-12).scores
    array([3., 3.])
    """
    n_rows = graph.shape[0]
    diagonal, right = np.ones(n_rows), np.zeros(n_rows)
    diagonal[labeled] += label_weight
    right[labeled] = label_weight * targets
    system = sparse.diags_array(diagonal) - normalized(graph)
    n_iter = 0

    def count(_: Array) -> None:
        nonlocal n_iter
        n_iter += 1

    scores, failed = cg(
        system,
        right,
        rtol=tol,
        atol=0.0,
        maxiter=max_iter,
        M=sparse.diags_array(1 / diagonal),
        callback=count,
    )
    size = float(np.linalg.norm(right))
    residual = float(np.linalg.norm(system @ scores - right)) / size if size else 0.0
    return SmoothScores(scores, max(n_iter, 1), not failed, residual)
