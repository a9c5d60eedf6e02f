"""All numbers of a report: fits, held-out predictions, intervals and the diagnosis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._judge.held_out import HeldOutPredictions
from .._utils.typing import Array
from ..diagnosis import Diagnosis, bootstrap_coefficients
from ..diagnosis._coefficients import enough_for_intervals
from ..diagnosis._diagnose import diagnose_problem
from ..diagnosis._problem import DiagnosisProblem, cross_validate, split_labels
from ..model_selection import Split

_MOST_UNLABELED = 5000
_MOST_DRAWS, _FEWEST_DRAWS = 100, 30
_ROWS_OF_DRAWS = 500_000  # rows times bootstrap draws, about


@dataclass(frozen=True)
class Findings:
    """What a report shows.

    Attributes
    ----------
    problem : DiagnosisProblem
        The rows that were used.
    models : dict
        The fits to all of them by name: ``"SV"``, and ``"SEMI"`` if rows are unlabelled.
    held_out : dict
        By the same names, and ``"guess"``: the median class of the labels for every row;
        empty where nothing can be held out. Rows are held out once in each round.
    n_rounds : int
    coefficients : tuple of arrays or None
        Coefficients per standard deviation of the columns of the last model, (p,), and their
        intervals, (p, 2), or None where the labels are too few.
    diagnosis : Diagnosis
    """

    problem: DiagnosisProblem
    models: dict[str, Any]
    held_out: dict[str, HeldOutPredictions]
    n_rounds: int
    coefficients: tuple[Array, Array | None] | None
    diagnosis: Diagnosis

    @property
    def model(self) -> Any:
        """The fit that the report is about: with unlabelled rows, if there are any."""
        return list(self.models.values())[-1]

    @property
    def model_held_out(self) -> HeldOutPredictions | None:
        """Predictions of that fit for held-out rows, in all rounds."""
        return self.held_out.get(list(self.models)[-1])

    @property
    def row_counts(self) -> Array:
        """How much each held-out row counts, so that all rounds together count once."""
        predictions = self.held_out["SV"]
        weights = predictions.weights
        return (np.ones(len(predictions.codes)) if weights is None else weights) / self.n_rounds


def find(X: Any, y: Any, estimator: Any, seed: int) -> Findings:
    """Fit to all rows and to parts of them, predict the others, and diagnose."""
    problem = DiagnosisProblem.from_data(X, y, estimator, _MOST_UNLABELED, seed)
    models = problem.fit_both(np.arange(len(problem.codes)))
    splits = problem.splits()
    held_out = cross_validate(problem, splits)
    diagnosis = diagnose_problem(problem, held_out)
    if splits:
        held_out["guess"] = _guess_median(problem, splits)
    return Findings(
        problem,
        models,
        held_out,
        len(splits) // problem.n_folds,
        _coefficients(problem, list(models.values())[-1]),
        diagnosis,
    )


def _guess_median(problem: DiagnosisProblem, splits: list[Split]) -> HeldOutPredictions:
    """The median class of the training labels, as the prediction for every test row."""
    parts = []
    for train, test in splits:
        labeled, _ = split_labels(problem, train)
        shares = np.bincount(problem.codes[labeled], problem.row_weights[labeled])
        median = int(np.argmax(shares.cumsum() >= shares.sum() / 2))
        parts.append(problem.held_out(test, np.full(len(test), median)))
    return HeldOutPredictions.concatenate(parts)


def _coefficients(problem: DiagnosisProblem, model: Any) -> tuple[Array, Array | None] | None:
    """Coefficients of a linear model per standard deviation, with 90 % bootstrap intervals."""
    coef = getattr(model, "coef_", None)
    if coef is None or len(coef) != problem.X.shape[1]:
        return None
    X = problem.X
    mean = np.asarray(X.mean(axis=0)).ravel()
    square = np.asarray((X.multiply(X) if hasattr(X, "multiply") else X**2).mean(axis=0)).ravel()
    deviation = np.sqrt(np.maximum(square - mean**2, 0.0))
    if not enough_for_intervals(problem.codes):
        return coef * deviation, None
    n_draws = int(np.clip(_ROWS_OF_DRAWS // X.shape[0], _FEWEST_DRAWS, _MOST_DRAWS))
    rows = np.arange(X.shape[0])
    ends = bootstrap_coefficients(
        model, X, problem.label_values(rows), n_draws, random_state=problem.seed
    )
    return coef * deviation, ends * deviation[:, None]
