"""Covariance of estimated parameters: the sandwich H⁻¹ M H⁻¹ of a semi-supervised risk.

The risk is a sum over rows, so its minimum is off by H⁻¹ times a sum of scores (gradients of
what single rows add). M is the covariance of that sum. What is centred, and how, says what is
random:

- Where labelled rows count alike, they are a sample of the population: scores are centred at
  their mean over all labelled rows.
- Where a class counts by its known share π_y, its rows are a sample of the class, and what is
  estimated is a mean within it: scores are centred at the mean of their class. Shares counted
  in the labels make rows count alike.
- Unlabelled rows are another sample of the population.

Rows of a group may depend on each other, labelled or not: their scores are added up first.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Protocol

import numpy as np
from scipy import linalg, sparse

from .._risk.weighted_loss import WeightedLoss
from .._rows import Block, RowLabels, as_dense
from .._utils.computing import blas_threads_for
from .._utils.typing import Array, Codes
from ._fitted import FittedModel

WEIGHTS = ("sampling", "counts")


@dataclass
class _ScoreSums:
    """Sums over ``n`` rows of scores g, weighted gradients in coefficients and thresholds."""

    n: int
    products: Array  # Σ g gᵀ, of rows that stand alone
    by_group: Array  # Σ g of each group
    group_weights: Array  # summed weights of each group, by label code
    by_label: Array  # Σ g by label code, unlabelled last
    by_share: Array  # the same of the part that known class shares weigh
    weighted: Array  # Σ weight · g by label code
    squares: Array  # Σ weight² by label code

    def add(self, other: _ScoreSums) -> None:
        for each in fields(self):
            setattr(self, each.name, getattr(self, each.name) + getattr(other, each.name))


class RowScores(Protocol):
    """Gradients of what rows add to a weighted loss, in some parameters: (n, d)."""

    def __call__(self, loss: WeightedLoss, rows: Array, labels: RowLabels) -> Array: ...


@dataclass(frozen=True)
class LinearScores:
    """Gradients in coefficients and thresholds."""

    coef: Array
    thresholds: Array

    def __call__(self, loss: WeightedLoss, rows: Array, labels: RowLabels) -> Array:
        return loss.row_gradients(rows, self.coef, self.thresholds, labels.gather)


@dataclass(frozen=True)
class _ScorePartial:
    """What a block of rows adds to the sums."""

    row_scores: RowScores
    loss: WeightedLoss
    by_share: WeightedLoss | None
    are_counts: bool
    groups: Codes | None
    n_groups: int

    def __call__(self, block: Block) -> _ScoreSums:
        labels = block.labels
        values = as_dense(block.values)
        n = len(values)
        codes = np.full(n, -1) if labels.n_more else labels.codes
        n_labels = len(self.loss.main)
        weights = np.ones(n) if labels.weights is None else labels.weights

        def total(rows: Array, row_weights: Array = weights) -> Array:
            position = (codes + n_labels) % n_labels
            one = sparse.csr_matrix((row_weights, (position, np.arange(n))), (n_labels, n))
            return one @ rows

        scores = self.row_scores(self.loss, values, labels)
        size = scores.shape[1]
        ones = np.ones(n)
        by_label = total(scores, ones)
        by_share = np.zeros_like(by_label)
        if self.by_share is not None:
            by_share = total(self.row_scores(self.by_share, values, labels), ones)
        products, by_group = np.zeros((size, size)), np.zeros((self.n_groups, size))
        group_weights = np.zeros((self.n_groups, n_labels))
        weighted, squares = np.zeros_like(by_label), np.zeros(n_labels)
        if self.groups is not None and not labels.n_more:
            at = self.groups[block.start : block.start + n]
            member = sparse.csr_matrix((ones, (at, np.arange(n))), (self.n_groups, n))
            by_group = member @ scores
            np.add.at(group_weights, (at, codes), weights)
        else:
            # A row of weight w stands for w rows of weight one, or for one drawn with chance 1/w.
            if self.are_counts:
                scores /= np.sqrt(weights)[:, None]
                weights = np.sqrt(weights)
            products = scores.T @ scores
            weighted = by_label if labels.weights is None else total(scores, weights)
            squares = total(weights, weights)
        return _ScoreSums(
            n, products, by_group, group_weights, by_label, by_share, weighted, squares
        )


def sandwich(fitted: FittedModel, groups: Any = None, weights: str = "sampling") -> Array:
    """Covariance of coefficients and thresholds, whatever the model gets wrong.

    Parameters
    ----------
    fitted : FittedModel
    groups : array of shape (n_rows,), optional
        Group codes of the rows that the risk is a sum over, in memory.
    weights : {"sampling", "counts"}

    Returns
    -------
    array of shape (p + m, p + m)
    """
    coordinates = fitted.problem.coordinates
    row_scores = LinearScores(*coordinates.to_rows(fitted.variables))
    pull = coordinates.pull_matrix
    middle = pull @ score_covariance(fitted, row_scores, groups, weights)[0] @ pull.T
    return _spread(fitted, linalg.solve(fitted.hessian, middle, assume_a="sym"))


def score_covariance(
    fitted: FittedModel, row_scores: RowScores, groups: Any = None, weights: str = "sampling"
) -> tuple[Array, Array]:
    """Covariance of the summed scores of the rows, and the sum."""
    risk, loss = fitted.problem.empirical_risk, fitted.problem.loss
    table = risk.label_weights.at_slope(1.0).main
    share_weights = fitted.share_weights
    partial = _ScorePartial(
        row_scores,
        loss.weigh(table),
        loss.weigh(share_weights) if share_weights.any() else None,
        weights == "counts",
        groups,
        0 if groups is None else int(groups.max()) + 1,
    )
    with blas_threads_for(risk.design.n_columns):
        sums = risk.design.reduce(partial, risk.labels)
    means = _means(sums, risk.labels.totals(len(table) - 1))
    factor = _small_sample_factor(fitted, partial.n_groups, weights)
    return factor * _centered_products(sums, means), sums.by_label.sum(axis=0)


def _means(sums: _ScoreSums, totals: Array) -> Array:
    """What scores are centred at, by label code."""
    alike = sums.by_label - sums.by_share
    means = np.zeros_like(alike)
    means[:-1] = alike[:-1].sum(axis=0) / totals[:-1].sum()
    present = totals > 0
    means[present] += sums.by_share[present] / totals[present, None]
    if totals[-1]:
        means[-1] = sums.by_label[-1] / totals[-1]
    return means


def _centered_products(sums: _ScoreSums, means: Array) -> Array:
    """``Σ s sᵀ`` of centred scores ``s = g − weight · mean``, or of their sums by group."""
    cross = sums.weighted.T @ means
    alone = sums.products - cross - cross.T + (means.T * sums.squares) @ means
    by_group = sums.by_group - sums.group_weights @ means
    products: Array = alone + by_group.T @ by_group
    return products


def information_covariance(fitted: FittedModel) -> Array:
    """Inverse of the observed information, which holds where the model is right.

    Weights count rows, as in R's polr and clm.
    """
    total = fitted.rows.totals[0].sum()
    return _spread(fitted, np.eye(len(fitted.hessian)) / total)


def _spread(fitted: FittedModel, left: Array) -> Array:
    """``J · left · H⁻¹ · Jᵀ``, symmetric."""
    jacobian = fitted.jacobian
    right = linalg.solve(fitted.hessian, jacobian.T, assume_a="sym")
    covariance = jacobian @ left @ right
    return (covariance + covariance.T) / 2


def _small_sample_factor(fitted: FittedModel, n_groups: int, weights: str) -> float:
    """n/(n − d) for n labelled rows and d parameters, and G/(G − 1) for G groups."""
    n = float(fitted.rows.n_labeled)
    if weights == "counts":
        n = float(fitted.rows.totals[0].sum())
    d = len(fitted.variables)
    if n_groups:
        return n_groups / (n_groups - 1) * (n - 1) / (n - d)
    return n / (n - d)


def given_groups(fitted: FittedModel, groups: Any, sample_weight: Any) -> Codes:
    """Codes of the groups for the rows of X that have a weight."""
    given = np.asarray(groups)
    if given.ndim != 1:
        raise ValueError(f"groups must have one dimension, and has {given.ndim}.")
    if sample_weight is not None and len(given) == len(np.asarray(sample_weight)):
        given = given[np.asarray(sample_weight) > 0]
    if any(value is None or value != value for value in given.tolist()):
        raise ValueError("groups has missing values. Give rows that stand alone a group each.")
    n_rows = fitted.rows.in_memory.parts[0].shape[0]
    if len(given) != n_rows:
        raise ValueError(f"groups has {len(given)} entries, and X has {n_rows} rows.")
    codes = np.unique(given, return_inverse=True)[1]
    if not codes.any():
        raise ValueError("groups has one group only; standard errors need at least two.")
    return codes


def group_codes(fitted: FittedModel, groups: Any, sample_weight: Any) -> Codes | None:
    """Codes of the groups, for the rows that the risk is a sum over.

    Rows of ``X_unlabeled`` are a group each; unlabelled rows are not among them where they are
    not used.
    """
    if groups is None:
        return None
    codes = given_groups(fitted, groups, sample_weight)
    labels = fitted.rows.labels
    n_more = len(labels.codes) - len(codes)
    codes = np.concatenate([codes, int(codes.max()) + 1 + np.arange(n_more)])
    if not fitted.unlabeled_weight:
        codes = np.unique(codes[labels.codes >= 0], return_inverse=True)[1]
    return codes
