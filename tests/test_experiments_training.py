"""What a cell computes, against the same worked out plainly."""

from __future__ import annotations

import numpy as np
import pytest

from experiment_problems import only_toy
from semiordinal._risk.losses import get_loss
from semiordinal.experiments import cells_of, get_experiment
from semiordinal.experiments._data import draw_data, load_rows
from semiordinal.experiments._specs import Column, Training
from semiordinal.experiments._training import _build, _choose, _prior_weights, _validation_error
from semiordinal.experiments._variances import WEIGHTS, run_variance
from semiordinal.model_selection import LabeledShuffleSplit
from semiordinal.theory import class_moments, risk_variance

GRID = (1.0, 0.1, 0.01, 0.001)
TRAINING = Training("solver", "linear", {}, {"l2": GRID}, "hold-out")
SEMI = Column("SEMI2", "SEMI2", "linear", {"unlabeled_weight": 0.5})
SUPERVISED = Column("SV", "SV", "linear")


@pytest.fixture(autouse=True)
def toy_folder(tmp_path, monkeypatch):
    return only_toy(tmp_path, monkeypatch)


@pytest.mark.parametrize("loss", ["at", "it"])
def test_variance_ratios_are_those_of_a_random_model_and_the_removed_class(loss):
    experiment = get_experiment("variance")
    (cell,) = cells_of(experiment, None, 1, 0, ["toy"], [loss])
    X, y = load_rows("toy", True)[:2]
    codes = y.astype(int) - 1
    rng = np.random.default_rng(cell.own_seed)
    standard = (X - X.mean(axis=0)) / X.std(axis=0)
    latent = standard @ rng.normal(size=X.shape[1]) / np.sqrt(X.shape[1])
    values = get_loss(loss).values(np.sort(rng.normal(size=2)) - latent[:, None])
    # Of 20 labelled rows the mean loss, and 57 unlabelled ones.
    supervised = values[np.arange(len(y)), codes].var() / 20
    moments = class_moments(values, codes)
    found = risk_variance(moments, [5, 10, 5], 57, np.bincount(codes) / len(y))
    counts = np.unique(draw_data(experiment, cell).y[:20], return_counts=True)[1]
    result = run_variance(experiment, cell)
    for name, removed in {"SEMI1": counts.argmin(), "SEMI2": counts.argmax()}.items():
        assert result[name]["removed"] == removed + 1
        for weight, ratio in zip(WEIGHTS, result[name]["ratios"], strict=True):
            semi = weight**2 * found.lu[removed] + (1 - weight) ** 2 * supervised
            semi += 2 * weight * (1 - weight) * found.covariance[removed]
            assert ratio == pytest.approx(semi / supervised, rel=0.02)
    assert result["SEMI1"]["removed"] != result["SEMI2"]["removed"]


def test_prior_weights_by_hand():
    """Of six labels three, two and one are of the classes; the priors are other shares."""
    y = np.array([1.0, 1.0, 2.0, np.nan, 3.0, 2.0, 1.0])
    weights = _prior_weights(y, np.array([0.4, 0.3, 0.3]))
    np.testing.assert_allclose(weights, [0.8, 0.8, 0.9, 1.0, 1.8, 0.9, 0.8])


def semi_supervised_error(model, X, y, prior):
    """Half the labelled mean of |g - y|, and half its estimate from all but the removed class."""
    predicted, removed = model.predict(X), model.removed_class_
    unlabeled = np.isnan(y)
    total = np.abs(predicted - removed)[unlabeled].mean()
    for code, share in enumerate(prior):
        own = y == code + 1
        if code + 1 != removed:
            gaps = np.abs(predicted - y)[own] - np.abs(predicted - removed)[own]
            total += share * gaps.mean()
    return 0.5 * np.abs(predicted - y)[~unlabeled].mean() + 0.5 * total


@pytest.fixture
def held_out():
    """A repetition where both estimates can be formed and choose different values."""
    experiment = get_experiment("small")
    for cell in cells_of(experiment, "exact", 30, 0, ["toy"], ["at"], ["SV"]):
        problem = draw_data(experiment, cell)
        splitter = LabeledShuffleSplit(
            1, test_size=1 / 3, random_state=cell.split_seed, split_unlabeled=True
        )
        ((train, valid),) = splitter.split(problem.X, problem.y)
        y = problem.y[valid]
        models = [
            _build(SEMI, TRAINING, cell, problem.prior, {"l2": l2}).fit(
                problem.X[train], problem.y[train]
            )
            for l2 in GRID
        ]
        if len(np.unique(y[~np.isnan(y)])) < 3:
            continue
        rows = (problem.X[valid], y)
        semi = [semi_supervised_error(model, *rows, problem.prior) for model in models]
        labels = ~np.isnan(y)
        plain = [np.abs(m.predict(rows[0][labels]) - y[labels]).mean() for m in models]
        if np.argmin(semi) != np.argmin(plain):
            return cell, problem, models, rows, semi, plain
    raise AssertionError("No such repetition.")


def test_held_out_rows_without_a_label_count_for_semi_and_only_for_it(held_out):
    cell, problem, models, (X, y), semi, plain = held_out
    for model, all_rows, labeled_rows in zip(models, semi, plain, strict=True):
        found = _validation_error(model, X, y, "absolute", by_unlabeled=True)
        assert found == pytest.approx(all_rows)
        found = _validation_error(model, X, y, "absolute", by_unlabeled=False)
        assert found == pytest.approx(labeled_rows)
    # Without a label of a class that is needed, labels are all there is.
    fewer = np.where(y == models[0].classes_[0], np.nan, y)
    assert models[0].removed_class_ != models[0].classes_[0]
    one, other = (_validation_error(models[0], X, fewer, "absolute", b) for b in (True, False))
    assert one == other

    def build(values):
        return _build(SEMI, TRAINING, cell, problem.prior, values)

    chosen = [_choose(build, column, TRAINING, problem, cell)[0] for column in (SEMI, SUPERVISED)]
    assert chosen[0] == {"l2": GRID[np.argmin(semi)]}
    assert chosen[1] == {"l2": GRID[np.argmin(plain)]}
