"""Docstrings of public names say what their signatures do."""

from __future__ import annotations

import inspect
from importlib import import_module
from importlib.util import find_spec

import pytest

numpydoc = pytest.importorskip("numpydoc.validate", reason="numpydoc is not installed")
ClassDoc = pytest.importorskip("numpydoc.docscrape").ClassDoc

MODULES = (
    *("baselines", "datasets", "diagnosis", "experiments", "inference", "metrics"),
    *("labeling", "model_files", "model_selection", "nn", "plotting", "report", "scale", "theory"),
)
# No docstring; parameters that are unknown, or not in the order of the signature.
FAULTS = {"GL08", "PR02", "PR03"}
# Parameters that are not documented; no summary; no example.
FAULTS_OF_ESTIMATORS = FAULTS | {"PR01", "SS01", "EX01"}


def public_names() -> list[str]:
    names = []
    for module in ("semiordinal", *(f"semiordinal.{name}" for name in MODULES)):
        if module == "semiordinal.nn" and find_spec("skorch") is None:
            continue
        listed = import_module(module).__all__
        names += [f"{module}.{name}" for name in listed if callable(find(f"{module}.{name}"))]
    return names


def find(name: str):
    module, _, attribute = name.rpartition(".")
    return getattr(import_module(module), attribute)


@pytest.mark.parametrize("name", public_names())
def test_docstrings_agree_with_signatures(name):
    found = find(name)
    is_estimator = inspect.isclass(found) and hasattr(found, "fit")
    expected = FAULTS_OF_ESTIMATORS if is_estimator else FAULTS
    errors = numpydoc.validate(name)["errors"]
    assert [error for error in errors if error[0] in expected] == []


@pytest.mark.parametrize("name", ["LinearOrdinalClassifierCV", "KernelOrdinalClassifierCV"])
def test_the_first_group_of_parameters_is_short(name):
    documented = ClassDoc(find(f"semiordinal.{name}"))["Parameters"]
    assert 1 < sum(len(entry.name.split(", ")) for entry in documented) <= 12
