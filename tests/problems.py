"""The parts that the generic tests combine, and small random problems to try them on."""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np
from sklearn.utils.estimator_checks import check_estimator

from semiordinal._risk.losses import LOSSES, get_loss
from semiordinal._risk.margins import MARGINS
from semiordinal._risk.objective import Objective
from semiordinal._rows.class_shares import resolve_prior
from semiordinal._rows.training import training_rows
from semiordinal._score import LinearOrdinalClassifier

# Every loss with every margin it can be built on.
LOSSES_WITH_MARGINS = [
    (loss, margin)
    for loss, cls in LOSSES.items()
    for margin in (MARGINS if cls.uses_margin else ["logistic"])
]

# (name, unlabeled_weight, removed class)
RISKS = [("SV", 0.0, 1), *[("LU", 1.0, k) for k in (1, 2, 3, 4)], ("SEMI", 0.4, 2)]

CORRECTIONS = ["none", "non_negative", "leaky", "absolute"]

# The one of scikit-learn's checks that fails where there are probabilities.
ARGMAX = {
    "check_classifiers_train": "predict goes by the thresholds, which is right for the absolute "
    "loss, and need not be the most probable class"
}
# Of probabilities that are calibrated on held-out rows.
REPEATED = {
    f"check_sample_weight_equivalence_on_{kind}_data": "a row of weight two is one row to hold "
    "out, and two equal rows are two"
    for kind in ("dense", "sparse")
}


def assert_passes_checks(estimator, expected_failures):
    """Run scikit-learn's checks of estimators; all but those expected to fail must pass."""
    results = check_estimator(estimator, expected_failed_checks=expected_failures, on_skip=None)
    assert {r["status"] for r in results} <= {"passed", "xfail", "skipped"}
    assert sum(r["status"] == "passed" for r in results) > 50


@dataclass
class Problem:
    X: np.ndarray
    y: np.ndarray  # NaN where unlabelled
    prior: np.ndarray
    n_classes: int

    @property
    def labeled(self) -> np.ndarray:
        return ~np.isnan(self.y)


def make_problem(seed=0, n_labeled=24, n_unlabeled=40, n_features=3, n_classes=4) -> Problem:
    """Rows with a noisy linear order, every class labelled, and priors that are not the counts."""
    rng = np.random.default_rng(seed)
    n = n_labeled + n_unlabeled
    X = rng.normal(size=(n, n_features))
    latent = X @ rng.normal(size=n_features) + rng.logistic(size=n)
    cuts = np.quantile(latent, np.arange(1, n_classes) / n_classes)
    y = 1.0 + np.searchsorted(cuts, latent)
    y[:n_classes] = np.arange(1, n_classes + 1)
    y[n_labeled:] = np.nan
    shuffled = rng.permutation(n)
    return Problem(X[shuffled], y[shuffled], rng.dirichlet(np.full(n_classes, 8.0)), n_classes)


def build_objective(problem: Problem, sample_weight=None, **settings) -> Objective:
    """The objective that a linear classifier with these settings minimises."""
    model = LinearOrdinalClassifier(**{"class_prior": problem.prior, **settings})
    rows = training_rows(model, problem.X, problem.y, sample_weight, None, None, np.nan)
    prior = resolve_prior(model.class_prior, rows.totals[0], rows.classes)
    loss = get_loss(model.loss, model.margin)
    return model._problem(rows, loss, model._risk(rows, prior), prior).objective


def random_variables(objective: Objective, seed=0) -> np.ndarray:
    """Variables inside the bounds, of ordinary size."""
    rng = np.random.default_rng(seed)
    lower, upper = objective.bounds
    free = rng.normal(size=objective.n_variables)
    bounded = np.isfinite(lower)
    free[bounded] = rng.uniform(0.1, 0.8, size=bounded.sum())
    return np.clip(free, lower, upper)


class LeavesAMark:
    """Makes a file when it is unpickled."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return os.mkdir, (str(self.mark),)


def assert_attributes(estimator, before):
    """The very objects that there were, and no others."""
    now = vars(estimator)
    assert now.keys() == before.keys()
    assert all(now[name] is value for name, value in before.items())


def interrupt_at(attribute, estimator, monkeypatch):
    """Break off the estimator's next fit where it sets an attribute."""

    def set_or_interrupt(self, name, value):
        if name == attribute:
            raise KeyboardInterrupt
        object.__setattr__(self, name, value)

    monkeypatch.setattr(type(estimator), "__setattr__", set_or_interrupt)
