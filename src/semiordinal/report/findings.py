"""All numbers of a report: fits, held-out predictions, intervals and the diagnosis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import Array
from ..diagnosis import Diagnosis, bootstrap_coefficients, diagnose
from ..diagnosis.coefficients import enough_for_intervals
from ..diagnosis.problem import Problem
from ..held_out import HeldOut, join
from ..labels import known_codes
from ..model_selection import Split

_MOST_UNLABELED = 5000
_MOST_DRAWS, _FEWEST_DRAWS = 100, 30
_ROWS_OF_DRAWS = 500_000  # rows times bootstrap draws, about


@dataclass(frozen=True)
class Findings:
    """What a report shows.

    Attributes
    ----------
    problem : Problem
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

    problem: Problem
    models: dict[str, Any]
    held_out: dict[str, HeldOut]
    n_rounds: int
    coefficients: tuple[Array, Array | None] | None
    diagnosis: Diagnosis

    @property
    def model(self) -> Any:
        """The fit that the report is about: with unlabelled rows, if there are any."""
        return list(self.models.values())[-1]

    @property
    def own_held_out(self) -> HeldOut | None:
        """Predictions of that fit for held-out rows, in all rounds."""
        return self.held_out.get(list(self.models)[-1])

    @property
    def counted(self) -> Array:
        """What each held-out row counts, so that all rounds together count once."""
        own = self.held_out["SV"]
        weights = np.ones(len(own.codes)) if own.weights is None else own.weights
        return weights / self.n_rounds


def find(X: Any, y: Any, estimator: Any, seed: int) -> Findings:
    """Fit, hold out, draw again and diagnose."""
    problem = Problem.of(X, y, estimator, _MOST_UNLABELED, seed)
    weights: dict[str, float | None] = {"SV": 0.0}
    if len(problem.unlabeled):
        weights["SEMI"] = None
    everything = np.arange(len(problem.codes))
    models = {name: problem.fit(everything, weight) for name, weight in weights.items()}
    splits = problem.splits() if problem.n_folds > 1 else []
    return Findings(
        problem,
        models,
        _held_out(problem, weights, splits),
        len(splits) // problem.n_folds,
        _coefficients(problem, list(models.values())[-1]),
        diagnose(X, y, estimator, most_unlabeled=_MOST_UNLABELED, random_state=seed),
    )


def _held_out(
    problem: Problem, weights: dict[str, float | None], splits: list[Split]
) -> dict[str, HeldOut]:
    parts: dict[str, list[HeldOut]] = {name: [] for name in (*weights, "guess")}
    for train, test in splits:
        codes = problem.codes[test]
        row_weights = problem.row_weights[test] if problem.prior_is_given else None
        for name, weight in weights.items():
            model = problem.fit(train, weight)
            predicted = known_codes(model.predict(problem.X[test]), problem.classes)
            cumulative = None
            if hasattr(model, "predict_cumulative"):
                cumulative = model.predict_cumulative(problem.X[test])
            parts[name].append(HeldOut(codes, predicted, cumulative, row_weights))
        known = problem.codes[train]
        of_class = np.bincount(known[known >= 0], problem.row_weights[train][known >= 0])
        median = int(np.argmax(of_class.cumsum() >= of_class.sum() / 2))
        guessed = np.full(len(codes), median)
        parts["guess"].append(HeldOut(codes, guessed, weights=row_weights))
    return {name: join(each) for name, each in parts.items() if each}


def _coefficients(problem: Problem, model: Any) -> tuple[Array, Array | None] | None:
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
