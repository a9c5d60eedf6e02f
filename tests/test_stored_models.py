"""Model files of earlier versions, which must stay readable for ever.

Each file in ``tests/model_files`` was written by the version that its manifest names, and beside
them ``expected.json`` holds rows and what each model predicted for them when it was written. If
a change of the package makes one of these tests fail, the package is to be mended, not the file:
users have files like it.

``python tests/test_stored_models.py --write`` makes files for models that have none yet. It never
overwrites a file or what is expected of it.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestRegressor

from cli_problems import done
from semiordinal import (
    AutoOrdinalClassifier,
    BoostingOrdinalClassifier,
    CalibratedOrdinalClassifier,
    KernelOrdinalClassifier,
    KernelOrdinalClassifierCV,
    LinearOrdinalClassifier,
    LinearOrdinalClassifierCV,
    OrdinalSelfTraining,
    TransductiveOrdinalClassifier,
    TreeOrdinalClassifier,
)
from semiordinal.model_files import load, save

FOLDER = Path(__file__).parent / "model_files"
EXPECTED = FOLDER / "expected.json"
SIZES = ["small", "medium", "large"]
_NUMBERS = ("predict_latent", "predict_cumulative")


def _numbers() -> tuple[np.ndarray, np.ndarray]:
    """Three columns, three classes, 24 labels."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3)).round(3)
    y = np.digitize(X @ [1.0, -1.0, 0.5] + rng.logistic(size=80), [-1.0, 1.0]).astype(float)
    y[24:] = np.nan
    return X, y


def _table(n_rows: int = 150) -> pd.DataFrame:
    """Numbers, categories, dates and truth values, with gaps, and a target of names."""
    rng = np.random.default_rng(1)
    weight, days = rng.normal(10, 3, n_rows).round(2), rng.integers(0, 900, n_rows)
    kind = rng.choice(["apple", "pear", "quince"], n_rows)
    latent = weight + 2.0 * (kind == "quince") + days / 300 + rng.normal(size=n_rows)
    dates = pd.Timestamp("2021-03-01") + pd.to_timedelta(days, unit="D")
    table = pd.DataFrame(
        {
            "weight": weight,
            "kind": kind.astype(object),
            "picked": dates.strftime("%Y-%m-%d").astype(object),
            "washed": rng.choice(["true", "false"], n_rows).astype(object),
            "size": np.array(SIZES, dtype=object)[np.digitize(latent, [10.5, 14.0])],
        }
    )
    for column in ("weight", "kind", "picked"):
        table.loc[rng.random(n_rows) < 0.1, column] = None
    table.loc[rng.random(n_rows) < 0.6, "size"] = None
    return table


def _fitted(model: Any) -> Callable[[Path], None]:
    """Write the model, fitted to numbers."""
    return lambda path: save(model.fit(*_numbers()), path)


def _with_names(path: Path) -> None:
    """Classes and columns by name."""
    X, y = _numbers()
    names = pd.Series(SIZES).reindex(y).to_numpy(dtype=object)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    save(LinearOrdinalClassifier(classes=SIZES, loss="cl").fit(frame, names), path)


def _with_categories(path: Path) -> None:
    """Boosting that splits the categories of a column itself."""
    table = _table()
    rows = table[["weight", "kind"]].astype({"weight": float, "kind": "category"})
    boosting = HistGradientBoostingClassifier(
        max_iter=3, max_leaf_nodes=5, min_samples_leaf=3, categorical_features=["kind"]
    )
    model = CalibratedOrdinalClassifier(boosting, classes=SIZES, random_state=0)
    grade = np.digitize(
        rows["weight"].fillna(10.0) + 6.0 * (rows["kind"] == "quince"), [10.0, 14.0]
    )
    save(model.fit(rows, np.array(SIZES, dtype=object)[grade]), path)


def _from_table(path: Path) -> None:
    """Write the Pipeline that the command line makes of a table."""
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "fruit.csv"
        _table().to_csv(data, index=False)
        done("fit", data, "--target", "size", "--order", ",".join(SIZES), "--out", path)


def _as_people_write(table: pd.DataFrame) -> pd.DataFrame:
    """The table with decimal commas, a unit, words for gaps, days first and ordered names."""
    weights = [f"{x:.2f} €".replace(".", ",") for x in table["weight"].astype(float)]
    dates = pd.to_datetime(table["picked"]).dt.strftime("%d.%m.%Y")
    return table.assign(
        weight=pd.Series(weights, dtype=object).where(table["weight"].notna(), "?"),
        picked=dates.astype(object).where(dates.notna(), "unknown"),
        ripe=np.resize(["hard", "ripe", "soft", "-"], len(table)),
    )


def _from_written_table(path: Path) -> None:
    """Write the Pipeline that the command line makes of a table as people write them."""
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "fruit.csv"
        _as_people_write(_table()).to_csv(data, index=False, sep=";")
        order = ("--order", ",".join(SIZES), "--ordered", "ripe=hard,ripe,soft")
        done("fit", data, "--target", "size", *order, "--model", "linear", "--out", path)


def _network() -> Any:
    from semiordinal import NeuralOrdinalClassifier

    return NeuralOrdinalClassifier(
        max_epochs=50, lr=0.05, module_params={"n_hidden": 8}, random_state=0
    )


def _tuned_network() -> Any:
    from semiordinal import NeuralOrdinalClassifierCV

    return NeuralOrdinalClassifierCV(
        l2s=(0.1, 0.01), cv=3, max_epochs=50, lr=0.05, module_params={"n_hidden": 8}, random_state=0
    )


_SEARCH: dict[str, Any] = {"l2s": (0.1, 0.01), "cv": 3, "n_repeats": 1, "random_state": 0}
MODELS: dict[str, Callable[[Path], None]] = {
    "linear.semiordinal": _fitted(LinearOrdinalClassifier()),
    "linear-names.semiordinal": _with_names,
    "kernel.semiordinal": _fitted(KernelOrdinalClassifier()),
    "kernel-function.semiordinal": _fitted(KernelOrdinalClassifier(penalty="function", loss="ls")),
    "tuned-linear.semiordinal": _fitted(
        LinearOrdinalClassifierCV(class_prior=[0.3, 0.4, 0.3], **_SEARCH)
    ),
    "tuned-kernel.semiordinal": _fitted(
        KernelOrdinalClassifierCV(class_prior="estimate", **_SEARCH)
    ),
    "transductive.semiordinal": _fitted(TransductiveOrdinalClassifier()),
    "self-training.semiordinal": _fitted(
        OrdinalSelfTraining(LinearOrdinalClassifier(unlabeled_weight=0.0), n_rounds=3)
    ),
    "forest.semiordinal": _fitted(
        CalibratedOrdinalClassifier(
            RandomForestRegressor(4, max_depth=3, random_state=0), class_prior=[0.3, 0.4, 0.3]
        )
    ),
    "boosting.semiordinal": _with_categories,
    "auto.semiordinal": _fitted(
        AutoOrdinalClassifier(
            members=[
                "linear_ranks",
                "kernel",
                TreeOrdinalClassifier(n_estimators=4),
                BoostingOrdinalClassifier(n_estimators=3),
            ],
            class_prior=[0.3, 0.4, 0.3],
            cv=3,
            random_state=0,
        )
    ),
    "table.semiordinal": _from_table,
    "written-table.semiordinal": _from_written_table,
    "network.semiordinal": lambda path: save(_network().fit(*_numbers()), path),
    "network-tuned.semiordinal": lambda path: save(_tuned_network().fit(*_numbers()), path),
    "network.pt": lambda path: _network().fit(*_numbers()).save(path),
}


def is_network(name: str) -> bool:
    return name.startswith("network")


def _load(name: str) -> Any:
    if name.endswith(".pt"):
        from semiordinal import NeuralOrdinalClassifier

        return NeuralOrdinalClassifier.load(FOLDER / name)
    return load(FOLDER / name)


def _rows(name: str) -> Any:
    """New rows to predict: of the table with gaps, and a category that was never seen."""
    if name.startswith("table"):
        rows = _table(12).drop(columns="size").astype({"weight": float})
        rows.loc[0, "kind"] = "medlar"
        return rows.astype(object).where(rows.notna(), None).to_dict("list")
    if name.startswith("written-table"):
        return _as_people_write(_table(12)).drop(columns="size").fillna("").to_dict("list")
    if name.startswith("boosting"):
        return {
            "weight": [6.0, 9.0, 10.5, 14.0] * 2,
            "kind": ["pear"] * 4 + ["quince"] * 3 + [None],
        }
    X = np.random.default_rng(2).normal(scale=2.0, size=(12, 3)).round(3)
    return dict(zip("abc", X.T.tolist(), strict=True)) if "names" in name else X.tolist()


def _as_input(rows: Any) -> Any:
    """Rows from JSON: a list of them, or a table by its columns."""
    return pd.DataFrame(rows) if isinstance(rows, dict) else np.array(rows)


def _predictions(model: Any, rows: Any) -> dict[str, Any]:
    """Classes, and the numbers behind them as far as the model gives any."""
    methods = [name for name in _NUMBERS if hasattr(_final(model), name)]
    numbers = {name: _call(model, name, rows).tolist() for name in methods}
    return {"predict": model.predict(rows).tolist(), **numbers}


def _final(model: Any) -> Any:
    return model[-1] if hasattr(model, "steps") else model


def _call(model: Any, method: str, rows: Any) -> Any:
    """A method of the classifier; in a Pipeline, of rows that the steps before it made."""
    rows = model[:-1].transform(rows) if hasattr(model, "steps") else rows
    return getattr(_final(model), method)(rows)


# Of parts of scikit-learn itself, in a file by another version of it.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.InconsistentVersionWarning")
@pytest.mark.parametrize("name", MODELS)
def test_predictions_stay(name):
    if is_network(name):
        pytest.importorskip("torch", reason="the extra torch is not installed")
        pytest.importorskip("skorch", reason="the extra torch is not installed")
    stored = json.loads(EXPECTED.read_text())[name]
    expected = stored["predictions"]
    found = _predictions(_load(name), _as_input(stored["rows"]))
    assert found["predict"] == expected["predict"]
    assert found.keys() == expected.keys()
    for method in expected.keys() - {"predict"}:
        rtol = 1e-5 if is_network(name) else 1e-9
        np.testing.assert_allclose(
            found[method], expected[method], rtol=rtol, atol=rtol, err_msg=method
        )


def test_each_file_is_tested():
    files = {path.name for path in FOLDER.iterdir()} - {EXPECTED.name}
    assert files == MODELS.keys() == json.loads(EXPECTED.read_text()).keys()


def write_missing() -> None:
    """Make the files that are not there, and say what they predict."""
    FOLDER.mkdir(exist_ok=True)
    expected = json.loads(EXPECTED.read_text()) if EXPECTED.exists() else {}
    for name, write in MODELS.items():
        path = FOLDER / name
        if path.exists() or name in expected:
            continue
        if is_network(name) and not (find_spec("torch") and find_spec("skorch")):
            print(f"{name}: left out, since torch or skorch is not installed")
            continue
        write(path)
        rows = _rows(name)
        expected[name] = {"rows": rows, "predictions": _predictions(_load(name), _as_input(rows))}
        print(f"{name}: {path.stat().st_size} bytes")
        lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in expected.items()]
        EXPECTED.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Model files for the tests.")
    parser.add_argument("--write", action="store_true", help="make those that are missing")
    if parser.parse_args().write:
        write_missing()
