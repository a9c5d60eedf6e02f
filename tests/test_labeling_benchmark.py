"""The benchmark of rows to label: its strategies, its records, and its table."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from benchmark_scripts import load_script
from semiordinal import LinearOrdinalClassifier

labeling, strategies, chosen_labels, doubts, intervals, plans = (
    load_script(n)
    for n in ("labeling", "strategies", "chosen_labels", "doubts", "intervals", "plan")
)


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    y = np.where(np.arange(80) < 30, np.digitize(X[:, 0], [-0.5, 0.5]), np.nan)
    return LinearOrdinalClassifier(unlabeled_weight=0).fit(X, y), X, y


@pytest.mark.parametrize("name", strategies.STRATEGIES)
def test_each_strategy_gives_different_unlabelled_rows(fitted, name):
    model, X, y = fitted
    chosen = strategies.STRATEGIES[name](model, X, y, 12, np.random.default_rng(0))
    assert len(set(np.asarray(chosen).tolist())) == 12
    assert np.isnan(y[chosen]).all()


def test_margin_and_entropy_take_the_least_certain_row(fitted):
    model, X, y = fitted
    p = model.predict_proba(X[30:])
    first, second = np.sort(p, axis=1)[:, -1], np.sort(p, axis=1)[:, -2]
    random = np.random.default_rng(0)
    assert strategies.margin(model, X, y, 1, random)[0] == 30 + np.argmin(first - second)
    entropies = [-sum(q * np.log(q) for q in row) for row in p]
    assert strategies.entropy(model, X, y, 1, random)[0] == 30 + np.argmax(entropies)


def test_the_table_compares_equal_draws(tmp_path, capsys):
    errors = {"random": [0.8, 0.6, 0.5, 0.45, 0.4], "ours": [0.8, 0.5, 0.4, 0.4, 0.3]}
    for strategy, curve in errors.items():
        (tmp_path / strategy).mkdir()
        record = dict(zip(range(20, 101, 20), curve, strict=True))
        (tmp_path / strategy / "linear-0-a-set.json").write_text(json.dumps(record))
    (tmp_path / "random" / "linear-1-a-set.json").write_text(json.dumps({"20": 9, "100": 9}))
    paired = labeling.pairs(labeling.read_lines(tmp_path, labeling.errors_of), "ours")
    assert paired.loc[("a-set", 100)].to_dict("list") == {"random": [0.4], "ours": [0.3]}
    curve = paired["ours"].droplevel(["set", "draw"])
    assert labeling.labels_needed(curve, 0.4) == 60.0
    assert labeling.labels_needed(curve, 0.2) == np.inf
    file = tmp_path / "errors.csv"
    labeling.table(type("Arguments", (), {"out": tmp_path, "csv": file}))
    printed = capsys.readouterr().out
    line = "| ours | 1 | 0.833 | 0.800 | 0.889 | 0.750 | 0.818 ± nan | 100% | 0.889 | 0.818 | 40% |"
    assert line in printed
    labeling.table(type("Arguments", (), {"out": file, "csv": None}))
    assert capsys.readouterr().out == printed
    labeling.restore(pd.read_csv(file), tmp_path / "restored")
    restored = labeling.read_lines(tmp_path / "restored", labeling.errors_of)
    pd.testing.assert_frame_equal(restored, pd.read_csv(file))


def test_the_mean_and_its_standard_error():
    """Three sets, many draws: against the scatter of means computed anew."""
    rng = np.random.default_rng(0)
    index = pd.MultiIndex.from_product(
        [["a", "b", "c"], [40, 60], range(400)], names=["set", "labels", "draw"]
    )
    of_draw = {name: 0.1 * rng.normal(size=(3, 1, 400)) for name in ("random", "ours")}
    errors = {name: (1 + each + np.zeros((3, 2, 400))).ravel() for name, each in of_draw.items()}
    errors["ours"] *= 0.9
    paired = pd.DataFrame(errors, index=index)
    mean, error = labeling.mean_difference(paired, "ours")
    assert mean == pytest.approx(-0.1, abs=4 * error)
    few = [
        labeling.mean_difference(paired[index.get_level_values("draw") // 10 == part], "ours")[0]
        for part in range(40)
    ]
    assert error * np.sqrt(40) == pytest.approx(np.std(few), rel=0.3)


def test_planted_errors_are_as_many_and_as_far_as_said():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 5, 1000)
    moved = np.abs(doubts.plant(truth, 5, 1.0, rng) - truth)
    assert (moved == 1).sum() == 100
    assert (moved >= 2).sum() == 50
    assert (doubts.plant(truth, 5, 0.0, rng) == truth).all()
    two = rng.integers(0, 2, 100)
    assert set(doubts.plant(two, 2, 1.0, rng)) == {0, 1}
    assert pd.Series(moved).max() <= 4


def test_the_table_of_planted_errors(tmp_path, capsys):
    record = {"labels": 100, "wrong": 20, "estimate": [0, 10, 30]}
    record |= {"stated": [0.15, 0.5, 0.9], "precision": {"doubt": 0.8}}
    (tmp_path / "linear-1-0-a-set.json").write_text(json.dumps(record))
    file = tmp_path / "csv" / "records.csv"
    doubts.table(type("Arguments", (), {"out": tmp_path, "csv": file}))
    printed = capsys.readouterr().out
    assert "| a-set | 4.00 | 0.20 | 0.10 | 0.15 | 0.80 | 0.50 |" in printed
    assert "in the 90 % interval in 100% of fits" in printed
    assert "at zero in 100% of fits; in these the most doubtful label is wrong with a" in printed
    doubts.table(type("Arguments", (), {"out": file, "csv": None}))
    assert capsys.readouterr().out == printed


@pytest.mark.parametrize("kind", intervals.KINDS)
def test_planted_intervals_hold_the_class_and_leave_two_rows_of_each(kind):
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 5, 1000)
    low, high = intervals.make_intervals(truth, kind, 5, rng).T
    assert ((low <= truth) & (truth <= high)).all()
    is_wide = low < high
    assert (np.bincount(truth[~is_wide]) >= 2).all()
    if kind == "at_least":
        assert set(zip(low[is_wide].tolist(), high[is_wide].tolist(), strict=True)) == {(2, 4)}
        assert is_wide[truth >= 2].mean() == pytest.approx(0.6, abs=0.06)
    else:
        assert set((high - low)[is_wide].tolist()) == {1}
        for k, share in enumerate([0.3, 0.6, 0.6, 0.6, 0.3]):
            assert is_wide[truth == k].mean() == pytest.approx(share, abs=0.1)


def test_the_table_of_intervals(tmp_path, capsys):
    errors = dict.fromkeys((f"{a}, {b}" for a in ("at", "cl") for b in intervals.METHODS), 0.5)
    errors |= {"at, left out": 0.8, "at, intervals": 0.6, intervals.CONSTANT: 1.0}
    record = {"classes": 5, "intervals": 15, "errors": errors}
    (tmp_path / "either-60-0-a-set.json").write_text(json.dumps(record))
    intervals.table(type("Arguments", (), {"out": tmp_path}))
    printed = capsys.readouterr().out
    assert "either, 60 labels, 25% intervals: 1 draws" in printed
    assert "| at | 0.800 | 0.500 | 0.600 | 0.500 | 1 of 1 sets | 0 of 1 sets |" in printed


def test_forecasts_are_compared_with_what_was_measured(tmp_path, monkeypatch, capsys):
    rng = np.random.default_rng(0)
    losses = (rng.random((2, 80, 3)) < [0.5, 0.45, 0.4]).astype(float)
    true = {"1": [0.4, 0.4], "2": [0.38, 0.38], "4": [0.9, 0.9]}
    arrays = {"sizes": [16, 32, 64], "losses": losses, "constant": np.ones((2, 80))}
    np.savez(tmp_path / "linear-80-0-a-set.npz", n=80, true=json.dumps(true), **arrays)
    lines = plans.forecasts(tmp_path / "linear-80-0-a-set.npz")
    assert [line["times"] for line in lines] == [1, 2, 4]
    assert [line["inside"] for line in lines] == [True, True, False]
    assert lines[2]["above"]
    assert lines[1]["low"] < 1 < lines[1]["high"]
    monkeypatch.setattr(plans, "set_names", lambda *_: ["w", "x", "y", "a-set"])
    plans.table(type("Arguments", (), {"out": tmp_path, "data": tmp_path, "figure": None}))
    printed = capsys.readouterr().out
    assert "### linear, 2 times the labels: 1 cases (limit 70% inside)" in printed
    assert "| all of sets kept back | 1 | 100% |" in printed


def test_a_case_of_the_plan_benchmark_is_run(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    table = pd.DataFrame(X).assign(y=np.digitize(X[:, 0] + 0.5 * rng.normal(size=400), [-0.5, 0.5]))
    table.to_csv(tmp_path / "made.csv.gz", index=False)
    monkeypatch.setitem(plans.MODELS, "linear", (plans.LinearOrdinalClassifierCV, 1))
    found = plans.record(tmp_path, "made", 40, 0, "linear")
    np.savez(tmp_path / "linear-40-0-made.npz", **found)
    lines = plans.forecasts(tmp_path / "linear-40-0-made.npz")
    assert [line["times"] for line in lines] == [1, 2, 4]
    assert all(0.5 < line["ratio"] < 2 for line in lines)


def test_labels_of_chosen_rows_have_larger_errors_than_random_ones(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1200, 3))
    table = pd.DataFrame(X).assign(y=np.digitize(X[:, 0] + 0.1 * rng.normal(size=1200), [-1, 0, 1]))
    table.to_csv(tmp_path / "made.csv.gz", index=False)
    of_all, of_random, of_test, inside = np.mean(
        [chosen_labels.figures(tmp_path, "made", draw) for draw in range(3)], axis=0
    )
    assert of_all > 1.2 * of_test
    assert of_random < of_all
    assert 0.5 < inside < 1
