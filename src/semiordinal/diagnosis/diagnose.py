"""All that can be found out about the unlabelled rows of a table."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._typing import Array
from ..metrics import TASKS
from .curves import Curves, learning_curves
from .gain import Gain, cross_validated_gain
from .problem import Problem
from .shift import CovariateShift, PriorShift, check_covariate_shift, check_prior_shift
from .variance import VarianceEstimate, estimate_variance
from .verdict import Verdict, judge

_METRICS = {task: name for name, task in TASKS.items()}


@dataclass(frozen=True)
class Diagnosis:
    """Whether the unlabelled rows are worth using, and what says so.

    Attributes
    ----------
    verdict : Verdict
        ``answer`` is "use", "don't", "can't tell" or "nothing to judge"; ``sentence`` says why.
    metric : str
        The error that the estimator's loss stands for: MAE, MZE or MSE, in classes.
    classes, class_counts, class_prior : arrays of shape (K,)
    n_labeled, n_unlabeled, n_unlabeled_used : int
    gain : Gain or None
    variance : VarianceEstimate, str or None
        A text says why there is no estimate.
    curves : Curves or None
    prior_shift : PriorShift or None
    covariate_shift : CovariateShift or None
        These are None where there is nothing to compute them from, or they were not asked for.
    """

    verdict: Verdict
    metric: str
    classes: NDArray[Any]
    class_counts: Array
    class_prior: Array
    n_labeled: int
    n_unlabeled: int
    n_unlabeled_used: int
    gain: Gain | None = None
    variance: VarianceEstimate | str | None = None
    curves: Curves | None = None
    prior_shift: PriorShift | None = None
    covariate_shift: CovariateShift | None = None

    def __str__(self) -> str:
        return self.verdict.sentence

    def as_dict(self) -> dict[str, Any]:
        """All numbers by name, with dicts in place of objects."""
        found = asdict(self)
        if self.gain is not None:
            found["gain"]["relative"] = self.gain.relative
        if self.curves is not None:
            found["curves"]["equivalent"]["extra"] = self.curves.equivalent.extra
        if self.prior_shift is not None:
            found["prior_shift"]["distance"] = self.prior_shift.distance
        return found


def diagnose(
    X: Any,
    y: Any,
    estimator: Any = None,
    *,
    curves: bool = True,
    most_unlabeled: int = 5000,
    random_state: Any = 0,
) -> Diagnosis:
    """Find out whether the unlabelled rows of a table help, and say so.

    The estimator is fitted to parts of the rows, with and without the unlabelled ones, and
    compared on labelled rows that were held out; nothing is fitted in place. Where the
    estimator has a class prior other than "labels", the supervised fit is given it too, as
    row weights π_y/n_y, and held-out rows count by them.

    Parameters
    ----------
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        Labels; NaN, None, pd.NA or the estimator's ``missing_label`` where a row has none.
    estimator : LinearOrdinalClassifier or KernelOrdinalClassifier, fitted or not, optional
        Judged with its settings as they are, by default those of ``LinearOrdinalClassifier()``.
        Tuned classifiers are refused: they say in ``gain_`` what they found themselves.
    curves : bool, default=True
        Whether to compute the learning curves and the equivalent number of labels, which
        take most of the time.
    most_unlabeled : int, default=5000
        Of more unlabelled rows, so many are drawn at random.
    random_state : int, RandomState or None, default=0

    Returns
    -------
    Diagnosis

    Examples
    --------
    >>> from semiordinal.datasets import load_diabetes_stages, mask_labels
    >>> X, stages = load_diabetes_stages()
    >>> y = mask_labels(stages, 60, random_state=0)
    >>> found = diagnose(X, y, curves=False)
    >>> found.verdict.answer
    "can't tell"
    >>> print(diagnose(X, stages))
    Every row has a label, so there are no unlabelled rows and nothing to judge.
    """
    if int(most_unlabeled) < 1:
        raise ValueError(f"most_unlabeled={most_unlabeled!r} must be at least 1.")
    problem = Problem.of(X, y, estimator, int(most_unlabeled), random_state)
    n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
    n_labeled = len(problem.labeled)
    found: dict[str, Any] = {}
    if len(problem.unlabeled):
        found = {
            "variance": estimate_variance(problem),
            "prior_shift": check_prior_shift(problem),
            "covariate_shift": check_covariate_shift(problem),
        }
        if problem.n_folds > 1:
            splits = problem.splits()
            gain = cross_validated_gain(problem, splits)
            found["gain"] = gain
            found["curves"] = learning_curves(problem, splits, gain) if curves else None
    metric = _METRICS[problem.task]
    verdict = judge(
        found.get("gain"),
        found.get("prior_shift"),
        found.get("covariate_shift"),
        problem.classes,
        problem.prior_is_given,
        metric,
        len(problem.unlabeled),
    )
    return Diagnosis(
        verdict,
        metric,
        problem.classes,
        np.asarray(problem.counts, dtype=int),
        problem.class_prior,
        n_labeled,
        n_rows - n_labeled,
        len(problem.unlabeled),
        **found,
    )
