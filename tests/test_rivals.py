"""The benchmark against other models: its search, its records, and its tables."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Ridge
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from benchmark_scripts import load_script

rivals, fits, tables = load_script("rivals"), load_script("rival_fits"), load_script("rival_tables")
pytestmark = pytest.mark.filterwarnings("ignore:The least populated class")
METHODS = ["constant", "linear", "ridge"]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 4))
    y = np.digitize(X[:, 0] + X[:, 1] + 0.4 * rng.logistic(size=1000), [-2.0, 0.5, 1.5]) + 1
    pd.DataFrame(X).assign(y=y).to_csv(folder / "made.csv.gz", index=False)
    return folder


@pytest.fixture
def problem(data):
    return fits.Problem.of(rivals.draw(data, "made", 50, 0))


def call(monkeypatch, *arguments):
    monkeypatch.setattr("sys.argv", ["rivals.py", *(str(each) for each in arguments)])
    rivals.main()


def run(monkeypatch, data, out, *more):
    common = ("--labels", "20", "--draws", "1", "--tasks", "absolute")
    call(monkeypatch, "run", "--data", data, "--out", out, "--methods", *METHODS, *common, *more)


def test_an_interrupted_run_goes_on_and_gives_the_same_tables(data, tmp_path, monkeypatch, capsys):
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    run(monkeypatch, data, whole)
    assert "6 of 6 records to make" in capsys.readouterr().out
    once, calls = rivals.run_cell, []

    def interrupted(*arguments):
        calls.append(1)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return once(*arguments)

    monkeypatch.setattr(rivals, "run_cell", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(monkeypatch, data, parts)
    first = {path: path.stat().st_mtime_ns for path in parts.rglob("*.json")}
    assert len(first) == 3
    capsys.readouterr()
    run(monkeypatch, data, parts)
    assert "3 of 6 records to make" in capsys.readouterr().out
    assert all(path.stat().st_mtime_ns == then for path, then in first.items())

    printed = []
    for folder in (whole, parts):
        call(monkeypatch, "table", "--out", folder, "--csv", folder / "errors.csv")
        printed.append(capsys.readouterr().out)
    call(monkeypatch, "table", "--out", whole / "errors.csv")
    assert printed[0] == printed[1]
    assert "ridge regression, half-way quotas" in printed[0]
    lines = pd.read_csv(whole / "errors.csv")
    # Shares unknown, ridge with our layer, shares known to us, known to ridge in two ways.
    assert len(lines) == 3 + 1 + 2 + 2

    # A task that was not asked for before is added; the others stay.
    (record,) = parts.glob("ridge/unknown-20-0-*")
    before = record.read_text()
    run(monkeypatch, data, parts, "--tasks", "absolute", "zero_one", "--shares", "unknown")
    found, earlier = rivals.json.loads(record.read_text()), rivals.json.loads(before)
    assert set(found["errors"]["own"]) == {"absolute", "zero_one"}
    assert earlier["errors"]["own"].items() <= found["errors"]["own"].items()


def test_the_search_is_that_of_scikit_learn(problem):
    X, codes = problem.labels()
    rounded = make_scorer(lambda y, f: -np.abs(np.clip(np.rint(f), 0, 3) - y).mean())
    model, grid = Ridge(), {"alpha": [300, 30, 3, 0.1]}
    folds = list(StratifiedKFold(5, shuffle=True, random_state=0).split(X, codes))
    expected = GridSearchCV(model, grid, scoring=rounded, cv=folds).fit(X, codes.astype(float))
    candidates = list(fits.ParameterGrid(grid))
    errors = -expected.cv_results_["mean_test_score"]  # folds are of equal size
    assert len(np.unique(errors.round(9))) > 1
    found = fits.search(model, candidates, problem, ["absolute"])["absolute"]
    assert errors[found] == pytest.approx(errors.min())


def test_thresholds_are_half_way_to_the_quotas(problem):
    model = Ridge(1.0)
    X, codes = problem.labels()
    fitted = Ridge(1.0).fit(X, codes)
    unlabeled = np.sort(fitted.predict(problem.unlabeled()))
    thresholds = [
        (i + 0.5 + np.quantile(unlabeled, problem.prior[: i + 1].sum())) / 2 for i in range(3)
    ]
    predicted = np.array([sum(f > t for t in thresholds) for f in fitted.predict(problem.X_test)])
    expected = np.abs(predicted - problem.y_test).mean()
    found = fits.quota_errors({"absolute": model}, problem)
    assert found == {"absolute": pytest.approx(expected)}


def test_test_labels_change_nothing_but_the_error(data, tmp_path, monkeypatch):
    cell = rivals.Cell("knn", "known", 20, 0, "made")
    rows = rivals.draw(data, "made", 20, 0, rivals.MOST_UNLABELED, rivals.MOST_TEST)
    clean = rivals.run_cell(cell, ["absolute"], data, tmp_path)
    poisoned = {**rows, "y_test": np.random.default_rng(1).permutation(rows["y_test"])}
    monkeypatch.setattr(rivals, "draw", lambda *_: poisoned)
    dirty = rivals.run_cell(cell, ["absolute"], data, tmp_path)
    assert dirty["choices"] == clean["choices"]
    assert dirty["errors"]["layer"]["absolute"] > clean["errors"]["layer"]["absolute"] + 0.1


def test_what_is_not_installed_is_left_out_with_the_reason(data, tmp_path, monkeypatch, capsys):
    absent = rivals.RIVALS["ridge"].__class__("absent", None, package="no_such_package")
    monkeypatch.setitem(rivals.RIVALS, "ridge", absent)
    run(monkeypatch, data, tmp_path / "out", "--shares", "unknown")
    printed = capsys.readouterr().out
    assert "ridge is left out: the package no_such_package is not installed." in printed
    assert "2 of 2 records" in printed


def test_means_are_geometric_over_sets_of_means_over_draws(capsys):
    common = {"shares": "unknown", "use": "own", "n_test": 100, "n_labeled": 20}
    values = {  # set, draw: linear, ridge
        ("a", 0): (0.2, 0.4),
        ("a", 1): (0.4, 0.2),
        ("b", 0): (0.5, 1.0),
        ("b", 1): (0.5, np.nan),  # linear only: its draw does not count
    }
    errors = pd.DataFrame(
        {**common, "set": name, "draw": draw, "method": method, "absolute": error}
        for (name, draw), pair in values.items()
        for method, error in zip(("linear", "ridge"), pair, strict=True)
    )
    found = tables.Comparisons(errors, "absolute").means(tables.Row("ridge")).loc[20]
    logs = np.log([1.0, 2.0])
    assert found["mean"] == pytest.approx(np.exp(logs.mean()))
    assert found["error"] == pytest.approx(np.exp(logs.mean()) * logs.std(ddof=1) / np.sqrt(2))
    assert (found["sets"], found["fewest"], found["most"]) == (2, 1, 2)
