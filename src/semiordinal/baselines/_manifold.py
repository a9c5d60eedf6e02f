"""Manifold ordinal regression: scores that are smooth on a graph of neighbours."""

from __future__ import annotations

import math
import warnings
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import NearestNeighbors

from .._decide import BaseOrdinalClassifier
from .._rows import center_and_scale
from .._rows.class_shares import resolve_prior
from .._rows.training import check_every_class_labeled, fit_context, training_rows
from .._utils.checks import check_count, check_flag, check_number
from .._utils.typing import Array
from ._graph import SmoothScores, gaussian_weights, neighbor_graph, reached_from, smooth_scores
from ._points import scaled_points
from ._quotas import assign_by_rank, class_quotas, cut_points


class ManifoldOrdinalClassifier(BaseOrdinalClassifier):
    """Ordinal classifier with scores that are smooth on a neighbour graph (SSMOR-style).

    All rows, labelled or not, are joined to their nearest neighbours with Gaussian weights
    W. Scores minimise ``½ Σ_ij W_ij (s_i/√D_i − s_j/√D_j)² + label_weight Σ_labelled (s_i −
    y_i)²``, D being the summed weights of a row and y the label's position in the class
    order, less its mean under the priors (scores far from labels tend to zero, which so is
    the middle of the order and not its lower end). The rows, sorted by score, then get classes in
    the proportions of the priors; the scores at which the class changes are the thresholds
    for new rows, whose score is the weighted mean of their neighbours'. It suits data on
    which the label varies slowly along a curved sheet.

    Parameters
    ----------
    n_neighbors : int, default=10
        Neighbours that each row is joined to; all others, where there are fewer.
    bandwidth : float, default=1.0
        Standard deviation of the Gaussian, as a multiple of the median distance between
        neighbours.
    label_weight : float, above 0, default=1.0
        ν: how closely the scores of labelled rows keep to their labels.
    standardize : bool, default=True
        Scale the columns of X by their deviation over all rows before distances are taken.
    class_prior : "labels", "uniform" or array-like of shape (n_classes,), default="labels"
        Class probabilities, in class order: the shares of the rows that the classes get.
        "labels" takes the labelled rows' shares.
    classes, missing_label : as in `LinearOrdinalClassifier`
        Every class must have a labelled row.
    max_iter : int, default=10000
        Most iterations of conjugate gradients.
    tol : float, default=1e-12
        Residual to stop at, relative to the right-hand side.

    Attributes
    ----------
    scores_ : array of shape (n_samples,)
        Scores of all training rows, those of ``X_unlabeled`` last.
    transduction_ : array of shape (n_samples,)
        Labels of the same rows: their own for labelled rows, the ones given for the others.
    thresholds_ : array of shape (n_classes - 1,)
    bandwidth_ : float
        Standard deviation of the Gaussian, in units of the scaled columns.
    column_mean_, column_scale_ : arrays of shape (n_features,)
        What columns are centred and scaled by.
    neighbors_ : sklearn.neighbors.NearestNeighbors
        Training rows that new rows take scores from.
    neighbor_scores_ : array
        Their scores.
    classes_, class_order_, class_prior_ : arrays of shape (n_classes,)
        Classes sorted, as scikit-learn takes them, and from the lowest to the highest; shares in
        class order.
    n_iter_ : int
    n_labeled_, n_unlabeled_ : int
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features_in_,)
        Where X had names.

    Notes
    -----
    The idea is that of semi-supervised manifold ordinal regression [1]_. This is a version
    of our own from its published outline, with classes given in the proportions of the
    priors, and not a reimplementation of the authors' program.

    Rows that no path joins to a labelled row are scored as new rows are, with a warning.

    ``score`` is minus the mean absolute error.

    References
    ----------
    .. [1] Y. Liu, Y. Liu, S. Zhong, K. C. C. Chan, "Semi-Supervised Manifold Ordinal
       Regression for Image Ranking", ACM International Conference on Multimedia, 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from semiordinal import ManifoldOrdinalClassifier
    >>> angle = np.linspace(0, 5, 300)
    >>> X = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> y_true = np.repeat([1, 2, 3], 100)
    >>> y = np.full(300, np.nan)
    >>> y[[50, 150, 250]] = [1, 2, 3]
    >>> model = ManifoldOrdinalClassifier().fit(X, y)
    >>> float((model.transduction_ == y_true).mean()) > 0.9
    True
    """

    def __init__(
        self,
        *,
        n_neighbors: int = 10,
        bandwidth: float = 1.0,
        label_weight: float = 1.0,
        standardize: bool = True,
        class_prior: Any = "labels",
        classes: Any = None,
        missing_label: Any = math.nan,
        max_iter: int = 10_000,
        tol: float = 1e-12,
    ):
        self.n_neighbors = n_neighbors
        self.bandwidth = bandwidth
        self.label_weight = label_weight
        self.standardize = standardize
        self.class_prior = class_prior
        self.classes = classes
        self.missing_label = missing_label
        self.max_iter = max_iter
        self.tol = tol

    def fit(self, X: Any, y: Any, *, X_unlabeled: Any = None) -> Self:
        """Fit to labelled and unlabelled rows.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels; NaN, None, pd.NA or ``missing_label`` where a row has none.
        X_unlabeled : array, sparse matrix or data frame, optional
            More rows without labels.

        Returns
        -------
        self
        """
        check_count("n_neighbors", self.n_neighbors)
        check_flag("standardize", self.standardize)
        check_count("max_iter", self.max_iter)
        check_number("bandwidth", self.bandwidth, 0, open_low=True)
        check_number("label_weight", self.label_weight, 0, open_low=True)
        check_number("tol", self.tol, 0, open_low=True)
        with fit_context(self):
            rows = training_rows(self, X, y, None, X_unlabeled, self.classes, self.missing_label)
            prior = resolve_prior(self.class_prior, rows.totals[0], rows.classes)
            check_every_class_labeled(rows.labels, rows.classes)
            codes = rows.labels.codes
            self.column_mean_, self.column_scale_ = center_and_scale(rows.matrix, self.standardize)
            points = scaled_points(rows.stacked(), self.column_mean_, self.column_scale_)
            self.neighbors_ = self._nearest(points)
            distances, neighbors = self.neighbors_.kneighbors()
            self.bandwidth_ = float(self.bandwidth) * _median_or_one(distances)
            graph = neighbor_graph(distances, neighbors, self.bandwidth_)
            labeled = np.flatnonzero(codes >= 0)
            targets = codes[labeled] - prior @ np.arange(len(prior))
            smooth = smooth_scores(
                graph,
                labeled,
                targets,
                float(self.label_weight),
                int(self.max_iter),
                float(self.tol),
            )
            self._warn_if_short(smooth)
            reached = reached_from(graph, labeled)
            self.neighbor_scores_ = smooth.scores
            if not reached.all():
                self._warn_of_unreached(reached)
                self.neighbors_ = self._nearest(points[reached])
                self.neighbor_scores_ = smooth.scores[reached]
                smooth.scores[~reached] = self._score_points(points[~reached])
            self.scores_ = smooth.scores
            quotas = class_quotas(prior, len(codes))
            given = assign_by_rank(self.scores_, quotas)
            self.thresholds_ = cut_points(self.scores_, quotas)
            self.transduction_ = rows.classes[np.where(codes >= 0, codes, given)]
            self.class_order_ = rows.classes
            self.class_prior_ = prior
            self.n_iter_ = smooth.n_iter
            self.n_labeled_, self.n_unlabeled_ = rows.n_labeled, rows.n_unlabeled
        return self

    def _nearest(self, points: Any) -> NearestNeighbors:
        n_neighbors = min(int(self.n_neighbors), points.shape[0] - 1)
        return NearestNeighbors(n_neighbors=n_neighbors).fit(points)

    def _latent(self, X: Any) -> Array:
        return self._score_points(scaled_points(X, self.column_mean_, self.column_scale_))

    def _score_points(self, points: Any) -> Array:
        """Weighted mean score of the nearest training rows."""
        distances, neighbors = self.neighbors_.kneighbors(points)
        squares = distances**2
        # Weights relative to the nearest row's, so that far from all rows some are left.
        weights = gaussian_weights(squares - squares[:, :1], self.bandwidth_)
        scores: Array = (weights * self.neighbor_scores_[neighbors]).sum(axis=1)
        return scores / weights.sum(axis=1)

    @property
    def _task(self) -> str:
        return "absolute"

    def _warn_if_short(self, smooth: SmoothScores) -> None:
        if not smooth.converged:
            warnings.warn(
                f"Conjugate gradients stopped after {smooth.n_iter} iterations with a relative "
                f"residual of {smooth.residual:.2g}. Raise max_iter (now {self.max_iter}) or tol.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _warn_of_unreached(self, reached: Any) -> None:
        warnings.warn(
            f"{int((~reached).sum())} rows are joined to no labelled row by the graph of "
            f"neighbours, and are scored as new rows are. Raise n_neighbors (now "
            f"{self.n_neighbors}), or label a row of each separate group.",
            UserWarning,
            stacklevel=3,
        )


def _median_or_one(distances: Array) -> float:
    """The median distance; one where most rows coincide with their neighbours."""
    median = float(np.median(distances))
    return median if median > 0 else 1.0
