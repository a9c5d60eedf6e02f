"""How many small faults in the mathematical core the tests find.

``python tests/mutation_testing.py --count 100`` changes one operator, comparison or number at a
time, drawn at random, and runs the tests of that module until one fails. What no test finds is
printed. Each number is one fault, the same whenever it is made from the same source.
"""

from __future__ import annotations

import argparse
import ast
import math
import os
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

TESTS = Path(__file__).parent
SOURCE = TESTS.parent / "src" / "semiordinal"
CPU_SECONDS = 300  # of a fault that makes the tests slow, which is found so

# Modules of the core, and the tests that are theirs, the quickest first.
MODULES = {
    "_risk/margins.py": ["test_margins.py", "test_losses.py"],
    "_risk/links.py": ["test_links.py", "test_losses.py"],
    "_risk/weighted_loss.py": ["test_losses.py", "test_risks.py", "test_objective.py"],
    "_risk/losses.py": ["test_losses.py", "test_risks.py", "test_objective.py"],
    "_risk/risks.py": ["test_risks.py", "test_objective.py"],
    "_risk/empirical_risk.py": ["test_risks.py", "test_objective.py", "test_newton.py"],
    "_risk/latent_risk.py": ["test_risks.py", "test_objective.py"],
    "_risk/objective.py": ["test_objective.py", "test_newton.py", "test_bad_input.py"],
    "_decide/calibration.py": ["test_calibration.py", "test_calibrated.py"],
    "_decide/decision.py": ["test_calibration.py", "test_methods.py", "test_calibrated.py"],
    "_decide/offsets.py": ["test_share_evidence.py", "test_calibration.py"],
    "_decide/prediction_sets.py": ["test_prediction_sets.py"],
    "_decide/share_evidence.py": ["test_share_evidence.py"],
    "_decide/share_moments.py": ["test_share_evidence.py"],
}
_SWAPS: dict[type, type] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.Pow: ast.Mult,
    ast.MatMult: ast.Add,
    ast.FloorDiv: ast.Mult,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.USub: ast.UAdd,
    ast.Not: ast.UAdd,
}


def places(tree: ast.AST) -> list[tuple[ast.AST, str]]:
    """What can be changed; types and texts cannot."""
    found: list[tuple[ast.AST, str]] = []

    def visit(node: ast.AST) -> None:
        for field, part in ast.iter_fields(node):
            if field in ("annotation", "returns", "decorator_list"):
                continue
            for each in part if isinstance(part, list) else [part]:
                if isinstance(each, ast.AST):
                    visit(each)
        if isinstance(node, ast.BinOp | ast.UnaryOp | ast.BoolOp | ast.AugAssign):
            if type(node.op) in _SWAPS:
                found.append((node, "op"))
        elif isinstance(node, ast.Compare) and type(node.ops[0]) in _SWAPS:
            found.append((node, "ops"))
        elif isinstance(node, ast.Constant) and type(node.value) in (int, float, bool):
            found.append((node, "value"))

    visit(tree)
    return found


def change(node: ast.AST, field: str) -> str:
    """Make a fault; gives what it is."""
    before = ast.unparse(node)
    if isinstance(node, ast.Compare):
        node.ops[0] = _SWAPS[type(node.ops[0])]()
    elif isinstance(node, ast.Constant):
        value = node.value
        node.value = not value if isinstance(value, bool) else value + 1  # type: ignore[operator]
    else:
        node.op = _SWAPS[type(node.op)]()  # type: ignore[attr-defined]
    return f"line {getattr(node, 'lineno', 0)}: {before} -> {ast.unparse(node)}"


def is_found(name: str, code: str, tests: list[str]) -> bool:
    """Whether a test fails, in a process of its own, with the changed module."""
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder) / "semiordinal"
        shutil.copytree(SOURCE, package, ignore=shutil.ignore_patterns("__pycache__"))
        (package / name).write_text(code, encoding="utf-8")
        child = os.fork()
        if child == 0:
            code_of_exit = 1
            try:
                resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
                null = os.open(os.devnull, os.O_WRONLY)
                os.dup2(null, 1)
                os.dup2(null, 2)
                sys.path[:0] = [folder, str(TESTS)]
                import pytest

                files = [str(TESTS / test) for test in tests]
                options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
                code_of_exit = int(pytest.main([*files, *options]))
            finally:
                os._exit(code_of_exit)
        return os.waitpid(child, 0)[1] != 0


def faults(numbers: range) -> Iterator[tuple[int, str, str, bool]]:
    """Faults by number: the module, what it is, and whether it was found."""
    trees = {name: (SOURCE / name).read_text(encoding="utf-8") for name in MODULES}
    sizes = {name: len(places(ast.parse(text))) for name, text in trees.items()}
    ends = np.cumsum(list(sizes.values()))
    for number in numbers:
        drawn = int(np.random.default_rng(number).integers(ends[-1]))
        which = int(np.searchsorted(ends, drawn, side="right"))
        name = list(MODULES)[which]
        tree = ast.parse(trees[name])
        node, field = places(tree)[drawn - int(ends[which]) + sizes[name]]
        what = change(node, field)
        yield number, name, what, is_found(name, ast.unparse(tree), MODULES[name])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    arguments = parser.parse_args()
    # Loaded once, for all processes.
    import pandas  # noqa: F401
    import sklearn.ensemble
    import sklearn.metrics
    import sklearn.model_selection  # noqa: F401

    assert "semiordinal" not in sys.modules
    every_test = sorted({test for tests in MODULES.values() for test in tests})
    first = next(iter(MODULES))
    if is_found(first, (SOURCE / first).read_text(encoding="utf-8"), every_test):
        raise SystemExit("The tests fail without any fault.")
    n_found, started = 0, time.perf_counter()
    for n, (number, module, what, found) in enumerate(
        faults(range(arguments.first, arguments.first + arguments.count)), start=1
    ):
        n_found += found
        share = n_found / n
        error = math.sqrt(share * (1 - share) / n)
        print(f"{'found' if found else 'LEFT'} {number} {module} {what}", flush=True)
        print(f"  {n_found} of {n}: {share:.1%} ± {error:.1%}", flush=True)
    print(f"{time.perf_counter() - started:.0f} s")
