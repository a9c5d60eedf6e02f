"""Self-training: labels given a share at a time, the surest first, and kept."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.utils import get_tags

from .._decide import BaseOrdinalClassifier
from .._rows.training import fit_context, training_rows
from .._utils.checks import check_count
from .._utils.typing import Array, Codes


class OrdinalSelfTraining(MetaEstimatorMixin, BaseOrdinalClassifier):
    """Self-training around an ordinal classifier, by how deep scores lie inside a class.

    The estimator is fitted to the rows as they are. Then, round by round, some of the
    unlabelled rows get the class predicted for them and are trained on as if labelled: in
    each predicted class the rows whose scores lie farthest from the nearest threshold, the
    same share of every class, so that after the last round each row has a label.

    Parameters
    ----------
    estimator : classifier of this package
        Fitted again in every round, to all rows, those without a label so far as unlabelled
        ones (with ``unlabeled_weight=0`` it is a supervised one). Its ``classes`` and
        ``missing_label`` say how labels are read.
    n_rounds : int, default=10
        Rounds until all rows are labelled.

    Attributes
    ----------
    estimator_ : classifier
        Fitted to all rows, in the last round.
    transduction_ : array of shape (n_samples,)
        Labels of the training rows: their own for labelled rows, the ones given for others.
    labeled_round_ : array of shape (n_samples,)
        The round in which each row got its label; 0 for labelled rows.
    classes_, class_order_ : arrays of shape (n_classes,)
        Classes sorted, as scikit-learn takes them, and from the lowest to the highest.
    thresholds_ : array of shape (n_classes - 1,)
    n_labeled_, n_unlabeled_ : int
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features_in_,)
        Where X had names.

    Notes
    -----
    scikit-learn's ``SelfTrainingClassifier`` marks missing labels by −1 alone, needs
    ``predict_proba``, and takes the rows of highest probability first: those of the outer
    classes, since a class between two thresholds is never sure. It may so end with no row
    of a middle class labelled.

    Examples
    --------
    >>> import numpy as np
    >>> from semiordinal import LinearOrdinalClassifier, OrdinalSelfTraining
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2))
    >>> y = np.digitize(X @ [1.0, -1.0], [-0.5, 0.5]).astype(float)
    >>> y[30:] = np.nan
    >>> supervised = LinearOrdinalClassifier(loss="ls", unlabeled_weight=0.0)
    >>> model = OrdinalSelfTraining(supervised).fit(X, y)
    >>> model.predict([[2.0, -2.0], [-2.0, 2.0]])
    array([2., 0.])
    """

    def __init__(self, estimator: Any, *, n_rounds: int = 10):
        self.estimator = estimator
        self.n_rounds = n_rounds

    @property
    def missing_label(self) -> Any:
        """The estimator's marker of missing labels."""
        return self.estimator.missing_label

    def fit(self, X: Any, y: Any) -> Self:
        """Fit to labelled and unlabelled rows.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels; NaN, None, pd.NA or the estimator's ``missing_label`` where there is none.

        Returns
        -------
        self
        """
        check_count("n_rounds", self.n_rounds)
        with fit_context(self):
            rows = training_rows(self, X, y, None, None, self.estimator.classes, self.missing_label)
            matrix, codes = rows.in_memory.parts[0], rows.labels.codes.copy()
            self.labeled_round_ = np.where(codes < 0, -1, 0)
            self.estimator_ = self._fit_codes(matrix, codes, rows.classes)
            for current in range(1, self.n_rounds + 1):
                left = np.flatnonzero(codes < 0)
                if not len(left):
                    break
                latent = self.estimator_._latent(matrix[left])
                predicted = self.estimator_._codes(latent)
                depth = np.abs(latent[:, None] - self.estimator_.thresholds_).min(axis=1)
                sure = deepest_of_each(predicted, depth, 1 / (self.n_rounds - current + 1))
                codes[left[sure]] = predicted[sure]
                self.labeled_round_[left[sure]] = current
                self.estimator_ = self._fit_codes(matrix, codes, rows.classes)
            self.transduction_ = rows.classes[codes]
            self.class_order_ = rows.classes
            self.thresholds_ = self.estimator_.thresholds_
            self.n_labeled_, self.n_unlabeled_ = rows.n_labeled, rows.n_unlabeled
        return self

    def _fit_codes(self, matrix: Any, codes: Codes, classes: NDArray[Any]) -> Any:
        labels = classes[codes].astype(object)
        labels[codes < 0] = None
        return clone(self.estimator).set_params(classes=classes.tolist()).fit(matrix, labels)

    def _latent(self, X: Any) -> Array:
        return self.estimator_._latent(X)

    @property
    def _task(self) -> str:
        return self.estimator._task

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags = get_tags(self.estimator).classifier_tags
        return tags


def deepest_of_each(predicted: Codes, depth: Array, share: float) -> Codes:
    """Positions of the given share, rounded up, of every predicted class: the deepest first.

    Examples
    --------
    >>> deepest_of_each(np.array([0, 0, 1, 0]), np.array([0.1, 0.9, 0.2, 0.5]), 0.5)
    array([1, 2, 3])
    """
    chosen = []
    for code in np.unique(predicted):
        members = np.flatnonzero(predicted == code)
        n_chosen = int(np.ceil(share * len(members) - 1e-9))
        chosen.append(members[np.argsort(-depth[members], kind="stable")[:n_chosen]])
    return np.sort(np.concatenate(chosen))
