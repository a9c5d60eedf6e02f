"""The automatic classifier: several kinds of models, averaged by what they are worth."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import assert_all_finite, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from .._decide import (
    BaseCumulativeClassifier,
    best_classes,
    describe_one_class,
    offsets_by_evidence,
    shares_reason,
    weigh_shares,
)
from .._rows import DrawPartial
from .._rows.class_shares import given_shares, is_of_labels, warn_of_slight_priors
from .._rows.class_weights import check_class_weight, resolve_class_weight
from .._rows.training import (
    TrainingRows,
    feature_rows,
    fit_context,
    is_source,
    training_rows,
)
from .._utils.checks import (
    check_choice,
    check_count,
    check_jobs,
    check_number,
    check_seed,
    check_verbose,
)
from .._utils.seeds import draw_seed
from .._utils.text import join_names, pluralize
from .._utils.typing import Array, ClassWeight, Codes, CrossValidation, Members, Task
from ..metrics import TASKS, expected_difference, population_weights
from .columns import category_encoder
from .empty_classes import EmptyClasses
from .leaderboard import (
    STACK,
    classes_by_odds,
    describe_stack,
    held_out_classes,
    leaderboard,
    ordered_probabilities,
    weigh_classes,
    with_errors,
)
from .members import check_members, cumulative_probabilities
from .model_scores import takes_intervals
from .stack_fitting import FittedStack, fit_stack, stack_folds
from .stacking import average_log_odds, bounded_log_odds
from .tuned import check_decision_parameters
from .tuning import without_zero_weights

_BLOCK = 4096  # rows that are predicted at a time
_MOST_CELLS = 20_000_000  # of sparse rows that are made dense
_GAPS = "allow-nan"
WITHOUT_SHARES = "without_shares"


class AutoOrdinalClassifier(BaseCumulativeClassifier):
    """Linear and kernel models, trees and boosting, averaged by their worth on held-out rows.

    Which kind of model suits a table is not known beforehand, and too few labels are there to
    choose by; an average of all is nearly always better than any one of them. Each model is
    fitted to the labelled rows of all folds but one, and the log-odds of its cumulative
    probabilities for the held-out rows give it a weight. Where class shares are known, the
    unlabelled rows set the thresholds to them.

    Parameters
    ----------
    members : "auto" or list, default="auto"
        Models to average: names of built-in ones ("linear", "linear_ranks", "trees", "kernel",
        "boosting"; "tabicl" and "tabpfn" where these packages are installed), any regressors and
        classifiers of scikit-learn's kind, or pairs (name, model).
    class_prior : "labels", "uniform", "estimate", array-like or mapping, default="labels"
        Class shares of the unlabelled rows, in class order, or by class in a dict or Series: as of
        the labelled rows, equal, estimated from the unlabelled rows, or as given. Given ones are
        used as far as labels and unlabelled rows support them.
    class_weight : None, "balanced" or dict, default=None
        How much classes count in predictions: by one over the number of labelled rows, or as given
        by class (those not named count one). The averaged probabilities of classes are multiplied
        by it; errors of the leaderboard are those of rows as they are.
    task : {"absolute", "zero_one", "squared"}, default="absolute"
        The loss of predicted positions in the class order: ``predict`` gives the median class,
        the most probable one, or that nearest to the mean.
    cv : "auto", "loo", int, splitter or splits, default="auto"
        Which labelled rows are held out when: with "auto" in five folds, and in ten where there
        are 100 to 1,000 labelled rows.
    classes : sequence, optional
        The classes from the lowest to the highest; by default numbers by value, and an ordered
        categorical by its own order.
    missing_label : scalar, default=nan
        Marks rows without a label, beside NaN, None and pd.NA.
    max_unlabeled : int, default=20000
        Unlabelled rows to learn from; of more, so many are drawn at random.
    time_limit : float, optional
        Seconds after which no further model is begun. The first one is always fitted.
    n_jobs : int, optional
        Folds to fit at the same time, in processes.
    verbose : bool, default=False
        Show progress, on a terminal.
    random_state : int, RandomState or None
        For the folds and the models.

    Attributes
    ----------
    estimators_ : list of fitted models
        Fitted to all labelled rows, to positions in the class order.
    members_ : list of str
        Their names.
    weights_ : array of shape (n_members,)
        Their weights, which sum to one.
    offsets_ : array of shape (n_classes - 1,)
        What class shares add to the averaged log-odds; zero where none are given.
    boundaries_ : array of shape (n_classes - 1,)
        For each boundary between classes, whose log-odds it has of those between classes with
        labels: its own, unless there are classes without.
    prior_share_ : float
        How far the offsets are those at the class shares, from 0 to 1.
    prior_trust_ : float
        How probable it is that given class shares are right, from 0 to 1.
    shares_reason_ : str
        What labels and unlabelled rows say of the class shares.
    leaderboard_ : dict of lists
        Of the average ("auto"), each model, and the best constant class ("constant"), the best
        first: held-out error with its standard error, weight, and seconds of fitting. Models
        predict rows that they were not fitted to, and rows of a fold are averaged by weights
        that come from the other folds.
    omitted_ : dict of str
        Models that were left out, and why.
    held_out_rows_ : array of shape (n_held_out,)
        Which of the labelled rows, in their order, were held out: all but with some ``cv``.
    held_out_codes_ : array of shape (n_held_out,)
        Positions of their labels in the class order.
    held_out_weights_ : array of shape (n_held_out,)
        How much they count in errors: by class shares where these are known or estimated.
    held_out_cumulative_ : array of shape (n_held_out, n_classes - 1)
        Their cumulative probabilities, by models that were not fitted to them and weights from
        other folds.
    held_out_scaled_cumulative_ : array of shape (n_held_out, n_classes - 1)
        The same on the scale of the final models, to compare with rows that these predict: each
        fold's log-odds moved and stretched so that unlabelled rows have the same mean and spread.
    held_out_classes_ : dict of arrays of shape (n_held_out,)
        Positions of the classes predicted for them by each entry of ``leaderboard_``, and where
        class shares are used by the average without these ("without_shares").
    expected_changes_ : dict of pairs of floats
        By how much the error of the average exceeds that of another entry of
        ``held_out_classes_`` on the unlabelled rows, if its probabilities for them are true: the
        mean, and the standard deviation of a single row; only for "without_shares".
    reason_ : str
        What was averaged and what to know about it, in words.
    is_sparse_ : bool
        Whether models were given sparse rows; smaller ones are made dense.
    classes_, class_order_, class_prior_ : arrays of shape (n_classes,)
        Classes sorted, as scikit-learn takes them, and from the lowest to the highest; shares in
        class order.
    class_weight_ : array of shape (n_classes,) or None
        Weights of classes, in class order.
    n_labeled_, n_interval_, n_unlabeled_ : int
        Rows that were learned from: with a class, with an interval of classes, without a label.
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features_in_,)
        Where X had names.

    See Also
    --------
    LinearOrdinalClassifierCV : A single model that can be read.
    CalibratedOrdinalClassifier : Any one model, with thresholds at known class shares.

    Examples
    --------
    >>> import numpy as np
    >>> from semiordinal import AutoOrdinalClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 3))
    >>> truth = np.digitize(X[:, 0] ** 2 + X[:, 1] + rng.logistic(size=500) / 4, [0.0, 1.5])
    >>> y = np.where(np.arange(500) < 60, truth, np.nan)
    >>> model = AutoOrdinalClassifier(members=["linear", "kernel"], random_state=0).fit(X, y)
    >>> model.leaderboard_["model"]
    ['auto', 'kernel', 'linear', 'constant']
    >>> bool(model.score(X[60:], truth[60:]) > -0.35)
    True
    """

    _takes_sources = True
    _takes_intervals = True
    _holds_rows_out = True

    offsets_: Array
    boundaries_: Codes
    class_prior_: Array
    held_out_cumulative_: Array
    held_out_scaled_cumulative_: Array
    # Of models in files that were written before these were there.
    class_weight: ClassWeight = None
    class_weight_: Array | None = None

    def __init__(
        self,
        *,
        members: Members = "auto",
        class_prior: Any = "labels",
        class_weight: ClassWeight = None,
        task: Task = "absolute",
        cv: CrossValidation = "auto",
        classes: Any = None,
        missing_label: Any = math.nan,
        max_unlabeled: int = 20_000,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        verbose: bool | int = False,
        random_state: Any = None,
    ):
        self.members = members
        self.class_prior = class_prior
        self.class_weight = class_weight
        self.task = task
        self.cv = cv
        self.classes = classes
        self.missing_label = missing_label
        self.max_unlabeled = max_unlabeled
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None, X_unlabeled: Any = None) -> Self:
        """Fit all models, weigh them, and set thresholds with the help of the unlabelled rows.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Numbers, and in a pandas frame categories. Cells may be missing.
        y : array-like of shape (n_samples,) or (n_samples, 2)
            Labels; NaN, None, pd.NA or ``missing_label`` where a row has none. Intervals of
            classes as `LinearOrdinalClassifier.fit` takes them, which the linear and kernel
            models learn from; trees and boosting learn from rows that have one class, weighted
            so that the classes have the shares that all labels say.
        sample_weight : array-like of shape (n_samples,), optional
            A row of weight two counts as two such rows. Models that take no weights are left out.
        X_unlabeled : array, sparse matrix, data frame or source of rows, optional
            More rows without labels, in any form that `LinearOrdinalClassifier.fit` takes.

        Returns
        -------
        self
        """
        self._check_parameters()
        with fit_context(self):
            random = check_random_state(self.random_state)
            draw = DrawPartial(int(self.max_unlabeled), draw_seed(random))
            rows = self._training_rows(X, y, sample_weight, X_unlabeled, draw)
            empty = EmptyClasses.find(rows.labels, rows.classes, self.class_prior, rows.n_unlabeled)
            if empty is not None:
                resolve_class_weight(self.class_weight, rows.totals[0], rows.classes)
                self._fit_with_empty(empty, rows, X, y, sample_weight, X_unlabeled)
                return self
            matrix = rows.stacked()
            self.is_sparse_ = sparse.issparse(matrix) and math.prod(matrix.shape) > _MOST_CELLS
            folds = stack_folds(
                rows.labels.codes, without_zero_weights(self.cv, sample_weight), random
            )
            seed = None if self.random_state is None else draw_seed(random)
            stack = fit_stack(
                self.members,
                self._as_fitted(matrix),
                rows.labels,
                len(rows.classes),
                folds,
                seed,
                self.n_jobs,
                math.inf if self.time_limit is None else float(self.time_limit),
                bool(self.verbose),
            )
            self._store(rows, stack)
        return self

    def _fit_with_empty(self, empty: EmptyClasses, rows: TrainingRows, *given: Any) -> None:
        """Fit to the classes that have labels, and place the others by their shares."""
        others = empty.fit_others(self, *given)
        unlabeled = rows.stacked()[np.flatnonzero(rows.labels.codes == -1)]
        self.boundaries_ = empty.boundaries
        self.offsets_ = empty.offsets(others._log_odds(unlabeled))
        empty.place(self, self.offsets_)
        self.held_out_scaled_cumulative_ = self.held_out_cumulative_
        self.held_out_classes_: dict[str, Codes] = {
            name: empty.positions[codes] for name, codes in others.held_out_classes_.items()
        }
        probabilities = np.diff(self.held_out_cumulative_, axis=1, prepend=0.0, append=1.0)
        self.held_out_classes_[STACK] = best_classes(probabilities, self.task)
        self.leaderboard_: dict[str, list[Any]] = with_errors(
            others.leaderboard_,
            self.held_out_codes_,
            self.held_out_classes_,
            self.held_out_weights_,
            self.task,
            len(self.class_order_),
        )
        about = describe_stack(self.leaderboard_, self.omitted_, self.task)
        self.reason_ = f"{about} {empty.sentence}"

    def _check_parameters(self) -> None:
        check_members(self.members)
        check_choice("task", self.task, tuple(TASKS.values()))
        check_decision_parameters(self.class_prior, "auto", self.cv, 0.0)
        check_class_weight(self.class_weight)
        check_count("max_unlabeled", self.max_unlabeled)
        if self.time_limit is not None:
            check_number("time_limit", self.time_limit, 0.0)
        check_verbose(self.verbose)
        check_jobs(self.n_jobs)
        check_seed(self.random_state)

    def _training_rows(
        self, X: Any, y: Any, sample_weight: Any, X_unlabeled: Any, draw: DrawPartial
    ) -> TrainingRows:
        """All rows as numbers, in memory."""
        self.encoder_ = category_encoder(X)
        columns: BaseEstimator = self
        if self.encoder_ is not None:
            if is_source(X_unlabeled):
                raise ValueError(
                    "X holds categories, and X_unlabeled is a source of numbers. Give X_unlabeled "
                    "as a data frame, or encode the categories."
                )
            validate_data(self, X, reset=True, skip_check_array=True)
            columns = BaseEstimator()  # the encoded ones are counted apart
            X = self.encoder_.fit_transform(X)
            if X_unlabeled is not None:
                X_unlabeled = self._encoded(X_unlabeled)
        rows = training_rows(
            columns, X, y, sample_weight, X_unlabeled, self.classes, self.missing_label, False, draw
        )
        rows = rows.read(take_gram=False, sample=draw).sample(draw)
        assert_all_finite(rows.stacked(), allow_nan=True, input_name="X")
        return rows

    def _encoded(self, X: Any) -> Any:
        """Rows with categories as numbers."""
        validate_data(self, X, reset=False, skip_check_array=True)
        assert self.encoder_ is not None
        return self.encoder_.transform(X)

    def _store(self, rows: TrainingRows, stack: FittedStack) -> None:
        """Set the fitted attributes."""
        counts = stack.labels.totals(len(rows.classes))[:-1]
        self.class_order_ = rows.classes
        self.class_weight_ = resolve_class_weight(self.class_weight, counts, rows.classes)
        self.n_labeled_, self.n_unlabeled_ = rows.n_labeled, rows.n_unlabeled
        self.n_interval_ = rows.labels.n_interval
        self.members_, self.estimators_ = stack.names, stack.estimators
        self.weights_, self.omitted_ = stack.weights(), stack.omitted
        self.boundaries_ = np.arange(len(rows.classes) - 1)
        X, codes = rows.stacked(), rows.labels.codes
        are_unlabeled = bool((codes == -1).any())
        odds = self._log_odds(X[np.flatnonzero(codes == -1 if are_unlabeled else codes >= 0)])
        scaled = held_out = stack.cross_fitted_odds()
        if are_unlabeled:
            scaled = stack.odds_on_one_scale(self._log_odds(X[stack.sample]))
        shares = self._use_shares(stack, counts, scaled, odds if are_unlabeled else None)
        self._store_held_out(stack, held_out, scaled, shares)
        self.expected_changes_: dict[str, tuple[float, float]] = {}
        if self.offsets_.any():
            self._compare_without_shares(held_out[stack.seen], odds)
        sentences = [
            describe_stack(
                self.leaderboard_, self.omitted_, self.task, self.class_weight_ is not None
            ),
            self.shares_reason_,
            *self._share_sentences(),
            self._interval_sentence(),
            describe_one_class(
                classes_by_odds(odds + self.offsets_, self.task, self.class_weight_),
                self.class_order_,
                are_unlabeled=are_unlabeled,
            ),
        ]
        self.reason_ = " ".join(filter(None, sentences))

    def _use_shares(
        self, stack: FittedStack, counts: Array, scaled: Array, unlabeled: Array | None
    ) -> Array | None:
        """Set what follows from class shares; gives them, if they are not those of the labels.

        Parameters
        ----------
        stack : FittedStack
        counts : array of shape (K,)
            Labels of each class.
        scaled : array of shape (n_labeled, K − 1)
            Log-odds of the labelled rows while held out, on the scale of the final models.
        unlabeled : array of shape (n_unlabeled, K − 1) or None
            Log-odds of the unlabelled rows.
        """
        given = given_shares(self.class_prior, counts, self.class_order_)
        if given is not None:
            warn_of_slight_priors(given, counts, self.class_order_)
        seen, evidence = stack.seen, None
        if unlabeled is not None and len(seen):
            evidence = weigh_shares(
                scaled[seen], stack.codes[seen], unlabeled, given, stack.row_weights[seen], counts
            )
        self.offsets_, self.prior_share_ = np.zeros(len(counts) - 1), 0.0
        self.class_prior_ = counts / counts.sum() if given is None else given
        self.prior_trust_ = 0.0 if evidence is None else evidence.trust
        self.shares_reason_ = shares_reason(
            evidence, self.class_prior, self.n_unlabeled_, self.class_order_
        )
        if unlabeled is None or evidence is None:
            return given  # nothing checks them, and they change errors alone
        if is_of_labels(self.class_prior):
            return None
        self.class_prior_ = evidence.shares
        self.offsets_, self.prior_share_ = offsets_by_evidence(
            unlabeled, scaled[seen], stack.codes[seen], evidence
        )
        return self.class_prior_

    def _store_held_out(
        self, stack: FittedStack, held_out: Array, scaled: Array, shares: Array | None
    ) -> None:
        """Set what is known of the labelled rows while held out."""
        seen = stack.seen
        self.held_out_rows_, self.held_out_codes_ = seen, stack.codes[seen]
        self.held_out_weights_ = population_weights(
            self.held_out_codes_, stack.row_weights[seen], shares
        )
        self.held_out_cumulative_ = self._cumulative((held_out + self.offsets_)[seen])
        self.held_out_scaled_cumulative_ = self._cumulative((scaled + self.offsets_)[seen])
        self.held_out_classes_ = held_out_classes(
            stack, held_out + self.offsets_, self.task, shares, self.class_weight_
        )
        self.leaderboard_ = leaderboard(
            stack, self.held_out_classes_, self.held_out_weights_, self.task
        )

    def _compare_without_shares(self, held_out: Array, odds: Array) -> None:
        """Set what the average would predict without class shares, and how errors would change."""
        self.held_out_classes_[WITHOUT_SHARES] = classes_by_odds(
            held_out, self.task, self.class_weight_
        )
        cumulative = ordered_probabilities(odds + self.offsets_)
        own, other = (
            classes_by_odds(each, self.task, self.class_weight_)
            for each in (odds + self.offsets_, odds)
        )
        probabilities = np.diff(cumulative, axis=1, prepend=0.0, append=1.0)
        mean, deviation = expected_difference(probabilities, own, other, self.task)
        self.expected_changes_[WITHOUT_SHARES] = mean, deviation

    def _share_sentences(self) -> list[str]:
        if not self.prior_share_:
            return []
        return [
            f"Thresholds go {self.prior_share_:.0%} of the way to where the unlabelled rows have "
            "the class shares."
        ]

    def _interval_sentence(self) -> str:
        """Which models learnt from labels that are intervals."""
        if not self.n_interval_:
            return ""
        learnt = [
            name
            for name, model in zip(self.members_, self.estimators_, strict=True)
            if takes_intervals(model)
        ]
        who = f"{join_names(learnt)} learnt from these" if learnt else "no model learnt from these"
        if len(learnt) < len(self.members_):
            who += ", the other models from rows that have one class"
        return (
            f"{pluralize(self.n_interval_, 'row')} with an interval of classes for a label: {who}. "
            "Errors are those of rows that have one class."
        )

    def _as_fitted(self, X: Any) -> Any:
        """Sparse rows as dense ones, which more models take, where there was room for that."""
        return X if self.is_sparse_ or not sparse.issparse(X) else X.toarray()

    def _log_odds(self, X: Any) -> Array:
        """Averaged log-odds of rows as numbers, before class shares: (n, K − 1)."""
        blocks = []
        for start in range(0, X.shape[0], _BLOCK):
            block = self._as_fitted(X[start : start + _BLOCK])
            odds = [bounded_log_odds(cumulative_probabilities(m, block)) for m in self.estimators_]
            blocks.append(average_log_odds(np.stack(odds), self.weights_))
        averages = np.concatenate(blocks)
        return averages[:, self.boundaries_] if hasattr(self, "boundaries_") else averages

    def predict_cumulative(self, X: Any) -> Array:
        """Estimated ``P(y ≤ class)`` for every class but the last.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes - 1)
        """
        check_is_fitted(self)
        if self.encoder_ is None:
            rows = feature_rows(self, X, reset=False, finite=_GAPS)
        else:
            rows = feature_rows(BaseEstimator(), self._encoded(X), reset=True, finite=_GAPS)
        return self._cumulative(self._log_odds(rows) + self.offsets_)

    def _cumulative(self, odds: Array) -> Array:
        """Cumulative probabilities of averaged log-odds with class shares."""
        return weigh_classes(ordered_probabilities(odds), self.class_weight_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags
