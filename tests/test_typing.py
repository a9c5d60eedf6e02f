"""What type checkers know of the package is so."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import get_args

import pytest

import semiordinal
from semiordinal._decide import THRESHOLDS
from semiordinal._risk.links import LINKS
from semiordinal._risk.losses import LOSSES
from semiordinal._risk.margins import MARGINS
from semiordinal._risk.risks import CORRECTIONS, SUPERVISED_WEIGHTS
from semiordinal._risk.solvers.solve import SOLVERS
from semiordinal._rows.kernel import KERNELS
from semiordinal._score.tuning.criteria import CRITERIA
from semiordinal._utils import typing
from semiordinal.metrics import TASKS
from semiordinal.model_selection._scorers import METRICS

CLASSIFIERS = [name for name in semiordinal.__all__ if name.endswith(("Classifier", "CV"))]


@pytest.mark.parametrize(
    ("known", "accepted"),
    [
        (typing.Correction, CORRECTIONS),
        (typing.Criterion, CRITERIA),
        (typing.Kernel, KERNELS),
        (typing.Link, LINKS),
        (typing.Loss, LOSSES),
        (typing.Margin, MARGINS),
        (typing.Metric, METRICS),
        (typing.SolverName, ["auto", *SOLVERS]),
        (typing.SupervisedWeights, SUPERVISED_WEIGHTS),
        (typing.Task, TASKS.values()),
        (typing.ThresholdRule, THRESHOLDS),
    ],
)
def test_options_are_those_that_are_accepted(known, accepted):
    assert set(get_args(known)) == set(accepted)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_documented_attributes_are_declared_or_set(name):
    classes = [
        each
        for each in getattr(semiordinal, name).__mro__
        if each.__module__.startswith("semiordinal")
    ]
    source = "\n".join(inspect.getsource(each) for each in classes)
    documented = re.search(r"Attributes\n-+\n(.*?)\n\n", inspect.getdoc(classes[0]), re.DOTALL)[1]
    names = re.findall(r"^([\w, ]+?)(?: :|$)", documented, re.MULTILINE)
    attributes = {each.strip() for line in names if line[0] != " " for each in line.split(",")}
    assert len(attributes) > 3
    for attribute in attributes - {"n_features_in_", "feature_names_in_"}:  # by scikit-learn
        known = rf"self\.{attribute}\b[^=\n]*=[^=]|^    {attribute}:|def {attribute}\("
        assert re.search(known, source, re.MULTILINE), attribute


@pytest.mark.skipif(find_spec("mypy") is None, reason="mypy is not installed")
def test_a_user_s_script_is_typed_and_its_slips_are_found():
    """By mypy; pyright says the same, and needs more than a package of Python."""
    script = Path(__file__).parent / "typed_script.py"
    command = [sys.executable, "-m", "mypy", "--no-error-summary", str(script)]
    done = subprocess.run(
        command, cwd=script.parents[1], capture_output=True, text=True, check=False
    )
    lines = script.read_text(encoding="utf-8").splitlines()
    expected = [n for n, line in enumerate(lines, 1) if line.endswith("# wrong")]
    found = re.findall(r"typed_script\.py:(\d+): error", done.stdout)
    assert [int(n) for n in found] == expected, done.stdout + done.stderr
    assert len(expected) > 10
