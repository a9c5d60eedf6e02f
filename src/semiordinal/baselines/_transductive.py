"""Transductive ordinal regression: labels of the unlabelled rows as variables of the fit."""

from __future__ import annotations

import math
import warnings
from typing import Any, Literal, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .._decide import BaseOrdinalClassifier
from .._risk.losses import get_loss
from .._risk.risks import Risk
from .._rows.class_shares import resolve_prior
from .._rows.training import check_every_class_labeled, fit_context, training_rows
from .._score import KernelOrdinalClassifier, LinearOrdinalClassifier
from .._score.base import BaseRiskClassifier, warn_if_short
from .._utils.checks import check_count, check_number
from .._utils.computing import blas_threads_for
from .._utils.text import as_written
from .._utils.typing import Array, Loss, Margin
from ._pseudo_labels import Descent, PseudoLabeling
from ._quotas import class_quotas

_FIRST_WEIGHT = 1e-5


class TransductiveOrdinalClassifier(BaseOrdinalClassifier):
    """Ordinal classifier that guesses the unlabelled rows' labels, in known numbers (TOR-style).

    It minimises ``(l2/2)‖w‖² + mean loss of the labelled rows + pseudo_label_weight · mean loss
    of the unlabelled rows`` over coefficients, thresholds and the labels of the unlabelled
    rows, where each class gets as many of those as its prior says. The fit starts from the
    labelled rows alone, and takes turns: label the unlabelled rows by the rank of their
    scores, refit, until no label changes; then the unlabelled rows' weight doubles, from
    1e-5 to its final value. It suits data in which classes are clusters.

    Parameters
    ----------
    model : {"linear", "kernel"}, default="linear"
        The scores: those of `LinearOrdinalClassifier` or `KernelOrdinalClassifier`.
    loss : {"at", "it", "ls", "cl", "lad"}, default="at"
        As in `LinearOrdinalClassifier`.
    margin : {"logistic", "double_hinge", "squared", "hinge", "exponential"}, default="logistic"
        As in `LinearOrdinalClassifier`.
    pseudo_label_weight : float, at least 0, default=1.0
        Final weight of the unlabelled rows' mean loss, next to 1 for the labelled rows'.
    l2 : float, default=0.01
        Weight of half the squared norm of the coefficients.
    bandwidth, centers : float and {"labeled", "all"} or int
        As in `KernelOrdinalClassifier`, for ``model="kernel"``.
    standardize : bool, default=True
        Centre and scale the columns of X by their mean and deviation over all rows first.
    class_prior : "labels", "uniform" or array-like of shape (n_classes,), default="labels"
        Class probabilities, in class order: the shares of the unlabelled rows that the
        classes get. "labels" takes the labelled rows' shares.
    classes, missing_label : as in `LinearOrdinalClassifier`
        Every class must have a labelled row.
    max_rounds : int, default=100
        Most refits at one weight of the unlabelled rows.
    max_iter : int, default=1000
        Most iterations of the solver in one refit.
    tol : float, default=1e-8
        Largest entry of the gradient to stop a refit at.
    random_state : int, RandomState or None, default=None
        For centres that are drawn at random.

    Attributes
    ----------
    transduction_ : array of shape (n_samples,)
        Labels of all training rows, those of ``X_unlabeled`` last: their own for labelled
        rows, the ones given for the others.
    coef_ : array of shape (n_features,) or (n_centers,)
    thresholds_ : array of shape (n_classes - 1,)
    learner_ : LinearOrdinalClassifier or KernelOrdinalClassifier
        The model that predicts.
    objective_value_ : float
        The value reached at the final weight.
    objective_history_ : list of arrays
        Values of the objective at each weight of the unlabelled rows: at the start, then
        after every refit and every change of labels. None is above the one before.
    pseudo_label_weights_ : array
        Those weights.
    classes_, class_order_, class_prior_ : arrays of shape (n_classes,)
        Classes sorted, as scikit-learn takes them, and from the lowest to the highest; shares in
        class order.
    n_iter_ : int
        Iterations of the solver, in all refits.
    n_labeled_, n_unlabeled_ : int
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features_in_,)
        Where X had names.

    Notes
    -----
    The idea is that of transductive ordinal regression [1]_. This is a version of our own
    from its published outline, with quotas for the classes and the labels of all rows
    found at once by sorting, and not a reimplementation of the authors' program.

    The objective has many minima; the growing weight leads to a good one, not surely to
    the best.

    References
    ----------
    .. [1] C.-W. Seah, I. W. Tsang, Y.-S. Ong, "Transductive Ordinal Regression", IEEE
       Transactions on Neural Networks and Learning Systems, 2012, arXiv:1102.2808.

    Examples
    --------
    >>> import numpy as np
    >>> from semiordinal import TransductiveOrdinalClassifier
    >>> rng = np.random.default_rng(0)
    >>> y_true = np.repeat([1, 2, 3], 50)
    >>> X = rng.normal(size=(150, 2)) + 8 * y_true[:, None] * [1, 0]
    >>> y = np.full(150, np.nan)
    >>> y[[0, 1, 50, 51, 100, 101]] = [1, 1, 2, 2, 3, 3]
    >>> model = TransductiveOrdinalClassifier(class_prior="uniform").fit(X, y)
    >>> bool((model.transduction_ == y_true).all())
    True
    """

    def __init__(
        self,
        *,
        model: Literal["linear", "kernel"] = "linear",
        loss: Loss = "at",
        margin: Margin = "logistic",
        pseudo_label_weight: float = 1.0,
        l2: float = 0.01,
        bandwidth: float = 1.0,
        centers: Any = "labeled",
        standardize: bool = True,
        class_prior: Any = "labels",
        classes: Any = None,
        missing_label: Any = math.nan,
        max_rounds: int = 100,
        max_iter: int = 1000,
        tol: float = 1e-8,
        random_state: Any = None,
    ):
        self.model = model
        self.loss = loss
        self.margin = margin
        self.pseudo_label_weight = pseudo_label_weight
        self.l2 = l2
        self.bandwidth = bandwidth
        self.centers = centers
        self.standardize = standardize
        self.class_prior = class_prior
        self.classes = classes
        self.missing_label = missing_label
        self.max_rounds = max_rounds
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

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
        loss = get_loss(self.loss, self.margin)
        learner = self._learner()
        learner._check_parameters()
        check_number("pseudo_label_weight", self.pseudo_label_weight, 0)
        check_count("max_rounds", self.max_rounds)
        with fit_context(self):
            rows = training_rows(self, X, y, None, X_unlabeled, self.classes, self.missing_label)
            prior = resolve_prior(self.class_prior, rows.totals[0], rows.classes)
            check_every_class_labeled(rows.labels, rows.classes)
            quotas = class_quotas(prior, rows.n_unlabeled)
            weights = self._weights(rows.n_unlabeled)
            problem = learner._problem(rows, loss, Risk(), prior)
            with blas_threads_for(problem.design.n_columns):
                labeling = PseudoLabeling(
                    problem.objective,
                    problem.design.head.materialize(),
                    rows.labels.codes,
                    quotas,
                    int(self.max_iter),
                    float(self.tol),
                )
                descents = labeling.anneal(weights, int(self.max_rounds))
            last = descents[-1]
            warn_if_short(last.solution, self.max_iter)
            _warn_if_unsettled(last, self.max_rounds)
            learner._store_model(problem, last.solution.variables)
            self.learner_ = learner
            self.coef_, self.thresholds_ = learner.coef_, learner.thresholds_
            self.transduction_ = rows.classes[labeling.fill(last.pseudo_codes)]
            self.pseudo_label_weights_ = weights
            self.objective_history_ = [descent.values for descent in descents[1:]]
            self.objective_value_ = float(last.values[-1])
            self.n_iter_ = sum(descent.n_iter for descent in descents)
            self.class_order_ = rows.classes
            self.class_prior_ = prior
            self.n_labeled_, self.n_unlabeled_ = rows.n_labeled, rows.n_unlabeled
        return self

    def _learner(self) -> BaseRiskClassifier:
        shared = {
            name: getattr(self, name)
            for name in ("loss", "margin", "l2", "standardize", "max_iter", "tol", "random_state")
        }
        if self.model == "linear":
            return LinearOrdinalClassifier(**shared)
        if self.model == "kernel":
            return KernelOrdinalClassifier(
                bandwidth=self.bandwidth, centers=self.centers, penalty="coef", **shared
            )
        raise ValueError(
            f"model={as_written(self.model)} is not known; choose 'linear' or 'kernel'."
        )

    def _weights(self, n_unlabeled: int) -> Array:
        """Weights of the unlabelled rows' loss: doubling, and the last as asked for."""
        last = float(self.pseudo_label_weight)
        if not n_unlabeled or last == 0:
            return np.empty(0)
        n_doublings = max(0, math.ceil(math.log2(last / _FIRST_WEIGHT)))
        return np.append(_FIRST_WEIGHT * 2.0 ** np.arange(n_doublings), last)

    def _latent(self, X: Any) -> Array:
        return self.learner_._latent(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # One direction cannot tell three clusters in no order apart, which the tag asks for.
        tags.classifier_tags.poor_score = self.model == "linear"
        return tags


def _warn_if_unsettled(descent: Descent, max_rounds: int) -> None:
    if not descent.settled:
        warnings.warn(
            f"Labels of unlabelled rows still changed after {max_rounds} rounds at the final "
            "pseudo_label_weight. Raise max_rounds, or lower pseudo_label_weight.",
            ConvergenceWarning,
            stacklevel=3,
        )
