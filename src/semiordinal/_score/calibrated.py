"""Any scikit-learn model as an ordinal classifier that learns from unlabelled rows."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np
from scipy import sparse
from scipy.special import expit
from sklearn.base import MetaEstimatorMixin
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.validation import check_is_fitted, validate_data

from .._decide import (
    BaseProbabilisticClassifier,
    Decision,
    Gain,
    decide,
    judge_shares,
    shares_reason,
)
from .._rows.class_shares import given_shares, is_of_labels, warn_of_slight_priors
from .._rows.same_columns import columns_by_name, warn_of_other_scale
from .._rows.sampling import drawn_rows
from .._rows.training import (
    fit_context,
    followed,
    is_source,
    refuse_source,
    weighted_labels,
)
from .._utils.checks import check_choice, check_count, check_seed
from .._utils.seeds import draw_seed
from .._utils.typing import Array, Codes, CrossValidation, Task, ThresholdRule
from ..metrics import TASKS
from .empty_classes import EmptyClasses
from .model_scores import (
    LabeledRows,
    check_wrapped,
    scores_by,
    seeded,
    stacked_rows,
)
from .tuned import check_decision_parameters, check_unlabeled_rows
from .tuning import Fold, training_folds

_MOST_UNLABELED = 20_000  # are scored in fit; thresholds need no more
_WITHOUT_FOLDS = (
    "Thresholds are the model's own: no class has two labelled rows, so nothing could be held out "
    "to calibrate by."
)


class CalibratedOrdinalClassifier(MetaEstimatorMixin, BaseProbabilisticClassifier):
    """Any regressor or classifier, turned into an ordinal classifier by held-out scores.

    The model is fitted to the labelled rows, and on each fold of them to the others, so that
    every labelled row has a score by a model that has not seen it. From these, the scores of the
    unlabelled rows and the class shares come the thresholds between classes and class
    probabilities. Where the shares of the classes are known, that lowers the error of nearly any
    model with few labels.

    Parameters
    ----------
    estimator : regressor or classifier
        Any of scikit-learn's kind, such as a pipeline or a random forest. It is fitted to the
        labelled rows, in the form in which they were given, with positions 0, 1, ... in the
        class order as its target; a classifier of this package to all rows, with class shares of
        its own. The score is a regressor's prediction, the expected position by a classifier's
        probabilities, or ``predict_latent`` of a classifier of this package.
    class_prior : "labels", "uniform", "estimate", array-like or mapping, default="labels"
        Class shares of the unlabelled rows, in class order, or by class in a dict or Series: as of
        the labelled rows, equal, estimated from the unlabelled rows, or as given.
    task : {"absolute", "zero_one", "squared"}, default="absolute"
        The loss of predicted positions in the class order.
    cv : "auto", "loo", int, splitter or splits, default="auto"
        Which labelled rows are held out when: one at a time with "loo", in five folds with "auto".
    thresholds : {"auto", "risk", "calibrated", "prior"}, default="auto"
        Those at the class shares where these were given and there are unlabelled rows, drawn to
        the labelled rows' as far as these contradict them; else calibrated ones if that lowers the
        cross-validated loss for sure, else the model's own. "risk" keeps the model's own: half-way
        between positions for a regressor; for a classifier those that leave as many rows in each
        class as the medians of its probabilities do. "calibrated" takes those of the held-out
        labelled rows; "prior" those at the class shares whatever the labelled rows say.
    classes : sequence, optional
        The classes from the lowest to the highest; by default numbers by value, and an ordered
        categorical by its own order.
    missing_label : scalar, default=nan
        Marks rows without a label, beside NaN, None and pd.NA.
    n_repeats : int, default=1
        How often to split into folds.
    safety : float, default=2.0
        Standard errors by which a cross-validated gain must exceed zero before thresholds depart
        from the model's own, where the class shares are those of the labels.
    random_state : int, RandomState or None
        For the folds, and for what is random in the model, unless it has a seed of its own.

    Attributes
    ----------
    estimator_ : regressor or classifier
        Fitted to all labelled rows.
    thresholds_ : array of shape (n_classes - 1,)
        Where classes change, on the scale of ``predict_latent``.
    median_thresholds_ : array of shape (n_classes - 1,)
        Where the medians of the class probabilities change: ``thresholds_`` for the absolute task.
    log_odds_ : float
        What the score is multiplied by, so that its distance to a threshold is a log-odds.
    classes_, class_order_, class_prior_ : arrays of shape (n_classes,)
        Classes sorted, as scikit-learn takes them, and from the lowest to the highest; shares in
        class order.
    prior_share_ : float
        How far the thresholds are those at the class shares, from 0 to 1.
    prior_trust_ : float
        How probable it is that given class shares are right, from 0 to 1.
    held_out_codes_ : array of shape (n_labeled,)
        Positions in the class order of the labelled rows.
    held_out_weights_ : array of shape (n_labeled,)
        How much they count in errors: by class shares where these are known or estimated.
    held_out_cumulative_ : array of shape (n_labeled, n_classes - 1)
        Their cumulative probabilities, by models and thresholds that do not know their labels.
    shares_reason_ : str
        What labels and unlabelled rows say of the class shares.
    gain_, gain_se_ : float
        How much lower the cross-validated loss is than with the model's own thresholds, and the
        standard error of that.
    reason_ : str
        Why the thresholds are these, in words.
    n_labeled_, n_unlabeled_ : int
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features_in_,)
        Where X had names.

    See Also
    --------
    LinearOrdinalClassifierCV : A linear model that takes the same steps, and tunes itself.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> from semiordinal import CalibratedOrdinalClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 3))
    >>> truth = np.digitize(X @ [1.0, -1.0, 0.0] + rng.logistic(size=500), [-2.0, 1.0])
    >>> y = np.where(np.arange(500) < 30, truth, np.nan)
    >>> prior = np.bincount(truth) / 500
    >>> forest = RandomForestRegressor(30, random_state=0)
    >>> model = CalibratedOrdinalClassifier(forest, class_prior=prior, random_state=0).fit(X, y)
    >>> bool(model.score(X[30:], truth[30:]) > -0.65), model.predict_proba(X).shape
    (True, (500, 3))
    """

    _holds_rows_out = True

    class_prior_: Array
    held_out_codes_: Codes
    held_out_weights_: Array
    held_out_cumulative_: Array

    def __init__(
        self,
        estimator: Any,
        *,
        class_prior: Any = "labels",
        task: Task = "absolute",
        cv: CrossValidation = "auto",
        thresholds: ThresholdRule = "auto",
        classes: Any = None,
        missing_label: Any = math.nan,
        n_repeats: int = 1,
        safety: float = 2.0,
        random_state: Any = None,
    ):
        self.estimator = estimator
        self.class_prior = class_prior
        self.task = task
        self.cv = cv
        self.thresholds = thresholds
        self.classes = classes
        self.missing_label = missing_label
        self.n_repeats = n_repeats
        self.safety = safety
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None, X_unlabeled: Any = None) -> Self:
        """Fit the model to the labelled rows, and set thresholds with the help of all rows.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            In any form that the model takes.
        y : array-like of shape (n_samples,)
            Labels; NaN, None, pd.NA or ``missing_label`` where a row has none.
        sample_weight : array-like of shape (n_samples,), optional
            Of labelled rows, for models that take weights; rows of weight zero are left out.
        X_unlabeled : array, sparse matrix or data frame, optional
            More rows without labels.

        Returns
        -------
        self
        """
        self._check_parameters()
        if is_source(X_unlabeled):
            refuse_source(self)
        with fit_context(self):
            given = X, y, sample_weight, X_unlabeled
            X = self._features(X, reset=True)
            X, labels, classes = weighted_labels(
                self, X, y, sample_weight, self.classes, self.missing_label
            )
            labels_of_X = labels
            if X_unlabeled is not None:
                more = self._unlabeled_features(X_unlabeled, X)
                X, labels = stacked_rows(X, more), followed(labels, more.shape[0])
            unlabeled = np.flatnonzero(labels.codes < 0)
            scored = [_safe_indexing(X, self._some(unlabeled))] if len(unlabeled) else []
            empty = EmptyClasses.find(labels, classes, self.class_prior, len(unlabeled))
            if empty is not None:  # the others are fitted to, and these placed by their shares
                others = empty.fit_others(self, *given)
                odds = [others._log_odds(others._latent(part)) for part in scored]
                offsets = empty.offsets(np.concatenate(odds))
                empty.place_thresholds(self, offsets, 1.0, self.task)
                return self
            labeled = LabeledRows(
                seeded(self.estimator, self.random_state), X, labels, len(classes), self.task
            )
            folds = training_folds(
                labels_of_X.codes, self.cv, int(self.n_repeats), self.random_state, sample_weight
            )
            self.class_order_ = classes
            self.n_labeled_, self.n_unlabeled_ = len(labeled.positions), len(unlabeled)
            check_unlabeled_rows(self.thresholds, self.n_unlabeled_)
            self._fit_and_decide(labeled, scored, folds)
        return self

    def _check_parameters(self) -> None:
        check_wrapped(self.estimator)
        check_choice("task", self.task, tuple(TASKS.values()))
        check_count("n_repeats", self.n_repeats)
        check_seed(self.random_state)
        check_decision_parameters(self.class_prior, self.thresholds, self.cv, self.safety)

    def _features(self, X: Any, reset: bool) -> Any:
        """The rows as they were given, with their columns counted; lists as arrays."""
        rows: Any = X if hasattr(X, "shape") else np.asarray(X)
        if sparse.issparse(rows):
            rows = rows.tocsr()  # not all formats give their rows
        if not reset and hasattr(self, "n_features_in_") and len(rows.shape) == 1:
            raise ValueError(
                "X has one dimension. Reshape your data: X.reshape(1, -1) for one row, or "
                "X.reshape(-1, 1) for one column."
            )
        return validate_data(self, rows, reset=reset, skip_check_array=True)

    def _unlabeled_features(self, X_unlabeled: Any, X: Any) -> Any:
        """More rows without labels, by the names of the checked rows X."""
        rows = columns_by_name(X_unlabeled, getattr(self, "feature_names_in_", None))
        rows = self._features(rows, reset=False)
        if isinstance(X, np.ndarray) and isinstance(rows, np.ndarray):
            warn_of_other_scale(X, rows)
        return rows

    def _some(self, rows: Codes) -> Codes:
        """As many unlabelled rows as are worth scoring."""
        if len(rows) <= _MOST_UNLABELED:
            return rows
        seed = draw_seed(self.random_state)
        return rows[drawn_rows(len(rows), _MOST_UNLABELED, seed)]

    def _fit_and_decide(
        self, labeled: LabeledRows, unlabeled: list[Any], folds: list[Fold]
    ) -> None:
        counts = labeled.labels.totals(labeled.n_classes)[:-1]
        of_labels = counts / counts.sum()
        given = given_shares(self.class_prior, counts, self.class_order_)
        prior = of_labels if given is None else given
        warn_of_slight_priors(prior, counts, self.class_order_)
        self.estimator_ = labeled.fit(labeled.positions)
        final = labeled.final_scores(self.estimator_, unlabeled)
        decision = at_medians = Decision(final.thresholds, "risk", 0.0, Gain(), _WITHOUT_FOLDS)
        evidence = None
        if folds:
            held_out = labeled.held_out_scores(folds, unlabeled)
            evidence = judge_shares(held_out, final, given)
            used = None if is_of_labels(self.class_prior) else evidence
            if used is not None:
                prior = used.shares
                held_out = held_out.for_population(prior)
            shares = of_labels if used is None else prior
            rest = held_out, final, shares, used, float(self.safety)
            decision = at_medians = decide(self.thresholds, self.task, *rest)
            if self.task != "absolute":  # the model's own thresholds are not at medians then
                kind = "auto" if decision.kind == "prior" else "calibrated"
                at_medians = decide(kind, "absolute", *rest)
        self.class_prior_ = prior
        self.log_odds_ = at_medians.log_odds
        self.thresholds_ = decision.thresholds * self.log_odds_
        if at_medians.held_out is not None:
            self.held_out_codes_, self.held_out_weights_, below = at_medians.held_out
            self.held_out_cumulative_ = expit(self.log_odds_ * below)
        self.median_thresholds_ = at_medians.thresholds * self.log_odds_
        self.prior_share_ = decision.prior_share
        self.gain_, self.gain_se_ = decision.gain.mean, decision.gain.se
        self.reason_ = decision.reason
        self.prior_trust_ = 0.0 if evidence is None else evidence.trust
        self.shares_reason_ = shares_reason(
            evidence, self.class_prior, self.n_unlabeled_, self.class_order_
        )

    def predict_latent(self, X: Any) -> Array:
        """The model's score of each row, on the scale of ``thresholds_``.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
        """
        check_is_fitted(self)
        return self._latent(self._features(X, reset=False))

    def _latent(self, X: Any) -> Array:
        return self.log_odds_ * scores_by(self.estimator_, X)

    def _check_probabilities(self) -> None:
        """There are some whatever the model."""

    def _log_odds(self, latent: Array) -> Array:
        return self.median_thresholds_ - latent[:, None]

    @property
    def _task(self) -> str:
        return self.task

    def __sklearn_tags__(self) -> Any:
        tags, wrapped = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.input_tags = wrapped.input_tags
        tags.non_deterministic = wrapped.non_deterministic
        return tags
