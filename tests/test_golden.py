"""Results of each estimator on a small set, kept as JSON: a change must be meant.

``python tests/test_golden.py`` writes them again. ``python tests/test_golden.py --check 1e-10``
names every result that differs by more than that, for changes that should change nothing: on
one machine, the results are the same to the last few digits (set ``OMP_NUM_THREADS=1``).
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from golden_cases import CASES, TRUTH, Case

GOLDEN = Path(__file__).parent / "golden"
NAMES = [(group, name) for group, cases in CASES.items() for name in cases]

_FITTED = (
    *("objective_value_", "thresholds_", "coef_", "class_prior_", "removed_class_", "is_convex_"),
    *("l2_", "unlabeled_weight_", "prior_share_", "gain_", "gain_se_", "bandwidth_"),
    *("n_labeled_", "n_unlabeled_"),
)
_MOST_NUMBERS = 12
_NOT_ROUNDING = 1e-6  # smaller numbers, such as a gain of 1e-17, are nothing but rounding


def records(group: str) -> dict[str, Any]:
    return json.loads((GOLDEN / f"{group}.json").read_text())


def missing_packages(case: Case) -> list[str]:
    return [package for package in case.packages if find_spec(package) is None]


def run(case: Case, folder: Path) -> dict[str, Any]:
    """What is worth keeping of a fit."""
    model = case.make()
    rows = case.way(model, folder)
    found = {name: getattr(model, name) for name in _FITTED if hasattr(model, name)}
    if hasattr(model, "cv_results_"):
        found["cv_losses"] = model.cv_results_["loss"]
    if getattr(model, "subsampling_", None) is not None:
        found["subsampling_"] = [model.subsampling_.by_draw, model.subsampling_.by_labels]
    if hasattr(model, "transduction_"):
        found["transduction_counts"] = _counts(model.transduction_, model.classes_)
    predicted = model.predict(rows)
    found["class_counts"] = _counts(predicted, model.classes_)
    found["mae"] = np.abs(predicted - TRUTH).mean()
    if hasattr(model, "predict_latent"):
        latent = model.predict_latent(rows)
        found["latent_mean_and_deviation"] = [latent.mean(), latent.std()]
    if hasattr(model, "predict_cumulative"):
        found["cumulative_sums"] = model.predict_cumulative(rows).sum(axis=0)
    return {name: _plain(value) for name, value in found.items()}


def _counts(labels: Any, classes: Any) -> list[int]:
    return [int((labels == label).sum()) for label in classes]


def _plain(value: Any) -> Any:
    """A number or a list of numbers; sum and norm of a long one."""
    array = np.asarray(value)
    if array.size > _MOST_NUMBERS:
        array = np.array([array.sum(), np.linalg.norm(array)])
    return array.tolist()


def differences(found: dict[str, Any], expected: dict[str, Any]) -> dict[str, float]:
    """Of each entry, relative to its largest number; infinite where it has no counterpart."""
    return {
        name: _difference(found.get(name), expected.get(name)) for name in found.keys() | expected
    }


def _difference(found: Any, expected: Any) -> float:
    if found is None or expected is None or np.shape(found) != np.shape(expected):
        return np.inf
    one, other = np.asarray(found, dtype=float), np.asarray(expected, dtype=float)
    change = np.abs(one - other).max(initial=0.0)
    return float(change / np.abs(other).max(initial=_NOT_ROUNDING))


@pytest.mark.filterwarnings("ignore:scipy.optimize. The `disp`:DeprecationWarning")  # by mord
@pytest.mark.parametrize(("group", "name"), NAMES, ids=[": ".join(pair) for pair in NAMES])
def test_as_before(group, name, tmp_path):
    case = CASES[group][name]
    if missing := missing_packages(case):
        pytest.skip(f"not installed: {missing}")
    changes = differences(run(case, tmp_path), records(group)[name])
    assert {entry: change for entry, change in changes.items() if not change <= case.rtol} == {}


def test_each_record_has_its_case():
    assert [(group, name) for group in CASES for name in records(group)] == NAMES


def _run_all() -> dict[str, dict[str, Any]]:
    """Results by group and name, without those whose packages are not installed."""
    results: dict[str, dict[str, Any]] = {group: {} for group in CASES}
    for group, name in NAMES:
        case = CASES[group][name]
        if missing := missing_packages(case):
            print(f"{group}: {name}: left out, not installed: {missing}")
            continue
        with tempfile.TemporaryDirectory() as folder:
            results[group][name] = run(case, Path(folder))
    return results


def _write() -> None:
    for group, results in _run_all().items():
        path = GOLDEN / f"{group}.json"
        before = records(group) if path.exists() else {}
        both = before | results
        ordered = {name: both[name] for name in CASES[group] if name in both}
        lines = [f"{json.dumps(name)}: {json.dumps(both[name])}" for name in ordered]
        path.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def _check(tolerance: float) -> int:
    n_changed = 0
    for group, results in _run_all().items():
        expected = records(group)
        for name, found in results.items():
            changes = differences(found, expected.get(name, {}))
            changed = {entry: d for entry, d in sorted(changes.items()) if not d <= tolerance}
            n_changed += bool(changed)
            for entry, change in changed.items():
                print(f"{group}: {name}: {entry} differs by {change:.2g}")
    print(f"{n_changed} of {len(NAMES)} results differ by more than {tolerance:g}.")
    return int(n_changed > 0)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", type=float, metavar="TOLERANCE", help="write nothing, compare")
    tolerance = parser.parse_args().check
    sys.exit(_write() if tolerance is None else _check(tolerance))
