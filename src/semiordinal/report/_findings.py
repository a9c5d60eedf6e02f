"""All that a page tells of its subject, as numbers and sentences."""

from __future__ import annotations

import warnings
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .._rows.labels import label_values
from .._utils.typing import Array
from ..diagnosis import Verdict, bootstrap_coefficients
from ..diagnosis._coefficients import enough_for_intervals
from ..diagnosis._model_verdict import judge_model
from ..labeling import DoubtfulLabels, doubt
from ..labeling._models import held_out_rows
from ..plotting._importance import EffectDisplay
from ._drivers import (
    Explanation,
    Importance,
    effects,
    explained_rows,
    importances,
    sample_rows,
    unsure_rows,
)
from ._groups import Group, find_groups
from ._subject import ShownRows, Subject

_MOST_UNLABELED = 2000
_MOST_DRAWS, _FEWEST_DRAWS = 100, 30
_ROWS_OF_DRAWS = 200_000  # rows times bootstrap draws, about
_MOST_PREDICTED = 5000
_DOUBTFUL = 10


@dataclass(frozen=True)
class Coefficients:
    """Of a linear model, per standard deviation of the columns, with 90 % intervals if known."""

    names: list[str]
    values: Array
    intervals: Array | None


@dataclass(frozen=True)
class Findings:
    """What a page shows beside the errors, which the subject itself has."""

    subject: Subject
    verdict: Verdict
    importances: list[Importance] = field(default_factory=list)
    effects: list[EffectDisplay] = field(default_factory=list)
    explained: list[Explanation] = field(default_factory=list)
    unsure: list[Explanation] = field(default_factory=list)
    groups: list[Group] = field(default_factory=list)
    coefficients: Coefficients | None = None
    predicted_shares: Array | None = None
    doubtful: DoubtfulLabels | None = None

    def as_dict(self) -> dict[str, Any]:
        """All figures by name, with dicts in place of objects."""
        return {
            "unlabeled_rows": asdict(self.verdict),
            "importance": [asdict(each) for each in self.importances],
            "effects": [
                {
                    "column": each.column,
                    "values": each.labels,
                    "classes": each.classes,
                    "shares": each.shares,
                }
                for each in self.effects
            ],
            "explained_rows": [asdict(each) for each in self.explained],
            "least_sure_rows": [asdict(each) for each in self.unsure],
            "groups": [asdict(each) for each in self.groups],
            "coefficients": None if self.coefficients is None else asdict(self.coefficients),
            "predicted_shares": self.predicted_shares,
            "doubtful_labels": None if self.doubtful is None else asdict(self.doubtful),
            "drift": self.subject.drift,
        }


def find(subject: Subject, seed: int) -> Findings:
    """Ask the model about its rows, if there are any; nothing is fitted but for intervals."""
    verdict = judge_model(subject.assessment, subject.summary, subject.estimator)
    rows = subject.rows
    if rows is None:
        return Findings(subject, verdict)
    sample = sample_rows(rows, seed)
    by_worth = importances(subject, rows, sample, seed)
    columns = [each.column for each in by_worth]
    matter = [each.column for each in by_worth if each.moved > 0]
    groups = [] if subject.assessment is None else find_groups(rows, subject.assessment)
    return Findings(
        subject,
        verdict,
        by_worth,
        effects(subject, rows, sample, matter),
        explained_rows(subject, rows, sample, columns),
        unsure_rows(subject, rows, sample) if subject.has_probabilities else [],
        groups,
        _coefficients(subject, rows, seed),
        _predicted_shares(subject, rows),
        _doubtful(subject, rows),
    )


def _doubtful(subject: Subject, rows: ShownRows) -> DoubtfulLabels | None:
    """Labels that may be wrong; None where the model held none of these very labels out."""
    try:
        held_out_rows(subject.estimator, rows.codes)
    except ValueError:
        return None
    if not rows.is_training:
        return None
    labels = label_values(rows.codes, np.array(subject.classes, dtype=object))
    return doubt(subject.estimator, subject.encoded(rows.frame), labels, _DOUBTFUL)


def _predicted_shares(subject: Subject, rows: ShownRows) -> Array:
    """Shares of the classes that are predicted for the rows without a label, or else for all."""
    unlabeled = np.flatnonzero(rows.codes < 0)
    shown = unlabeled if len(unlabeled) else np.arange(len(rows.codes))
    step = max(1, len(shown) // _MOST_PREDICTED)
    codes = subject.codes(rows.frame.iloc[shown[::step]])
    return np.bincount(codes, minlength=len(subject.classes)) / len(codes)


def _coefficients(subject: Subject, rows: ShownRows, seed: int) -> Coefficients | None:
    """Those of a linear model; None for others."""
    estimator = subject.estimator
    coef = getattr(estimator, "coef_", None)
    if coef is None or len(coef) != getattr(estimator, "n_features_in_", -1):
        return None
    random = np.random.default_rng(seed)
    unlabeled = random.permutation(np.flatnonzero(rows.codes < 0))[:_MOST_UNLABELED]
    used = np.sort(np.concatenate([np.flatnonzero(rows.codes >= 0), unlabeled]))
    frame = rows.frame.iloc[used]
    X = subject.encoded(frame)
    X = X if hasattr(X, "multiply") else np.asarray(X, dtype=float)
    names = subject.summary.get("encoded_names") or [str(name) for name in rows.frame.columns]
    mean = np.asarray(X.mean(axis=0)).ravel()
    square = np.asarray((X.multiply(X) if hasattr(X, "multiply") else X**2).mean(axis=0)).ravel()
    deviation = np.sqrt(np.maximum(square - mean**2, 0.0))
    codes = rows.codes[used]
    plain = getattr(estimator, "estimator_", estimator)
    if not rows.is_training or not enough_for_intervals(codes) or not hasattr(plain, "l2"):
        return Coefficients(names, coef * deviation, None)
    n_draws = int(np.clip(_ROWS_OF_DRAWS // len(codes), _FEWEST_DRAWS, _MOST_DRAWS))
    labels = label_values(codes, np.array(subject.classes, dtype=object))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        X = X.tocsr() if hasattr(X, "tocsr") else X
        ends = bootstrap_coefficients(plain, X, labels, n_draws, random_state=seed)
    return Coefficients(names, coef * deviation, ends * deviation[:, None])
