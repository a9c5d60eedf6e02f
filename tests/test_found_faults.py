"""Faults that were found by trying to break things, which fit in no other file."""

from __future__ import annotations

import re
import time
import tomllib
from pathlib import Path

import numpy as np
import pytest

from cli_problems import ORDER, done, fit, patients, with_few_labels
from semiordinal import (
    AutoOrdinalClassifier,
    KernelOrdinalClassifier,
    LinearOrdinalClassifier,
    LinearOrdinalClassifierCV,
)

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("seed", range(4))
def test_a_corrected_objective_has_one_minimum_in_any_order_and_unit(seed):
    """Two classes, a kernel, a correction that may bind, few labels, and a row far out."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(28, 3))
    X[7] *= 1e3
    y = np.full(28, np.nan)
    y[:5] = [0, 1, 0, 1, 1]

    def value(X, y):
        model = KernelOrdinalClassifier(
            loss="cl", correction="non_negative", unlabeled_weight=0.5, l2=1.0, random_state=0
        )
        return model.fit(X, y).objective_value_

    first = value(X, y)
    for _ in range(3):
        order = rng.permutation(28)
        assert value(X[order], y[order]) == pytest.approx(first, rel=1e-6)
    assert value(X * [1.0, 1e3, 1e-3], y) == pytest.approx(first, rel=1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_many_thresholds_are_in_order_to_the_last_digit(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(90, 3)) * [1, 50, 0.01]
    y = rng.permutation(np.repeat(np.arange(15), 6))
    model = LinearOrdinalClassifier(loss="it", margin="exponential", l2=0.1).fit(X, y)
    assert (np.diff(model.thresholds_) >= 0).all()
    predicted = (model.predict_latent(X)[:, None] > model.thresholds_).sum(axis=1)
    np.testing.assert_array_equal(model.predict(X), predicted)


@pytest.mark.parametrize("n_labeled", [2, 3, 30])
@pytest.mark.parametrize("class_prior", ["labels", "estimate", [0.5, 0.5]], ids=str)
def test_one_row_without_a_label_is_enough(n_labeled, class_prior):
    """It has no variance of its own, by which evidence on class shares divides."""
    X = np.linspace(-1, 1, n_labeled + 1)[:, None] ** 3
    y = np.r_[np.arange(n_labeled) % 2, np.nan]
    for model in (
        LinearOrdinalClassifierCV(class_prior=class_prior, cv=2, random_state=0),
        AutoOrdinalClassifier(members=["linear"], class_prior=class_prior, cv=2, random_state=0),
    ):
        probabilities = model.fit(X, y).predict_proba(X)
        assert np.isfinite(probabilities).all()
        np.testing.assert_allclose(probabilities.sum(axis=1), 1)


def test_no_version_with_a_known_hole_is_allowed():
    """That loading runs no code is not true of torch before 2.10, nor of skops before 0.14."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    needed = [*project["dependencies"], *project["optional-dependencies"]["torch"]]
    floors = dict(
        match.groups() for each in needed if (match := re.match(r"([\w-]+)>=(\S+)", each))
    )
    for name, safe in (("torch", (2, 10)), ("skops", (0, 14))):
        assert tuple(map(int, floors[name].split(".")[:2])) >= safe


def test_least_absolute_deviations_of_a_small_mixed_table_take_seconds(tmp_path):
    with_few_labels(patients(60), 0.5).to_csv(tmp_path / "t.csv", index=False)
    begun = time.process_time()
    asked = fit(tmp_path / "t.csv", tmp_path / "m.semiordinal")
    done(*asked, "--order", ORDER, "--loss", "lad", "--model", "linear")
    assert time.process_time() - begun < 30
