"""The diagnosis: all that can be found out about the unlabelled rows of a table."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._judge.held_out import HeldOutPredictions
from .._utils.text import as_written
from .._utils.typing import Array
from ._curves import Curves, learning_curves
from ._gain import UnlabeledGain, gain_from_losses
from ._problem import DiagnosisProblem, cross_validate, row_losses
from ._shift import CovariateShift, PriorShift, check_covariate_shift, check_prior_shift
from ._text import prior_warning, worth_in_labels
from ._variance import VarianceEstimate, estimate_variance
from ._verdict import Verdict, judge


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
    gain : UnlabeledGain or None
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
    gain: UnlabeledGain | None = None
    variance: VarianceEstimate | str | None = None
    curves: Curves | None = None
    prior_shift: PriorShift | None = None
    covariate_shift: CovariateShift | None = None

    def __str__(self) -> str:
        sentences = [self.verdict.sentence, prior_warning(self.prior_shift)]
        if self.curves is not None:
            sentences.append(worth_in_labels(self.curves.equivalent))
        return "\n".join(filter(None, sentences))

    def as_dict(self) -> dict[str, Any]:
        """All numbers by name, with dicts in place of objects."""
        result = asdict(self)
        if self.gain is not None:
            result["gain"]["relative"] = self.gain.relative
        if self.curves is not None:
            result["curves"]["equivalent"]["extra"] = self.curves.equivalent.extra
        if self.prior_shift is not None:
            result["prior_shift"]["distance"] = self.prior_shift.distance
        return result


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
        Tuned classifiers are refused: their ``gain_`` says what the unlabelled rows change.
    curves : bool, default=True
        Whether to compute the learning curves and the equivalent number of labels, which
        take most of the time.
    most_unlabeled : int, default=5000
        If there are more unlabelled rows, so many are drawn at random.
    random_state : int, RandomState or None, default=0

    Returns
    -------
    Diagnosis

    Examples
    --------
    >>> from semiordinal.datasets import load_diabetes_stages, mask_labels
    >>> X, stages = load_diabetes_stages()
    >>> y = mask_labels(stages, 60, random_state=0)
    >>> diagnose(X, y, curves=False).verdict.answer
    "can't tell"
    >>> print(diagnose(X, stages))
    Every row has a label, so there are no unlabelled rows and nothing to judge.
    """
    if int(most_unlabeled) < 1:
        raise ValueError(f"most_unlabeled={as_written(most_unlabeled)} must be at least 1.")
    problem = DiagnosisProblem.from_data(X, y, estimator, int(most_unlabeled), random_state)
    splits = problem.splits() if len(problem.unlabeled) else []
    return diagnose_problem(problem, cross_validate(problem, splits), curves)


def diagnose_problem(
    problem: DiagnosisProblem, held_out: dict[str, HeldOutPredictions], curves: bool = True
) -> Diagnosis:
    """The diagnosis, given predictions for the test rows of the problem's splits."""
    evidence: dict[str, Any] = {}
    if len(problem.unlabeled):
        evidence = {
            "variance": estimate_variance(problem),
            "prior_shift": check_prior_shift(problem),
            "covariate_shift": check_covariate_shift(problem),
        }
    if "SEMI" in held_out:
        splits = problem.splits()
        gain = gain_from_losses(row_losses(problem, splits, held_out), len(splits))
        evidence["gain"] = gain
        evidence["curves"] = learning_curves(problem, splits, gain) if curves else None
    verdict = judge(
        evidence.get("gain"),
        evidence.get("prior_shift"),
        evidence.get("covariate_shift"),
        problem.classes,
        problem.prior_is_given,
        problem.metric,
        len(problem.unlabeled),
    )
    return Diagnosis(
        verdict,
        problem.metric,
        problem.classes,
        np.asarray(problem.counts, dtype=int),
        problem.class_prior,
        len(problem.labeled),
        problem.n_unlabeled,
        len(problem.unlabeled),
        **evidence,
    )
