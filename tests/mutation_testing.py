"""How many small faults in the mathematical core the tests find.

``python tests/mutation_testing.py --every 8`` changes one operator, comparison or number at a time,
every eighth place of each module, and runs the tests of that module until one fails. What no test
finds is printed. ``--record FILE`` keeps what was tried, and goes on from there in another run.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import json
import math
import os
import resource
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TESTS = Path(__file__).parent
SOURCE = TESTS.parent / "src" / "semiordinal"
CPU_SECONDS = 200  # of a fault that makes the tests slow, which is found so

_SUMS = ["test_risks.py", "test_objective.py", "test_newton.py", "test_golden.py::plain"]
_DECISIONS = ["test_decision_definitions.py", "test_calibration.py", "test_golden.py::tuned"]
_SHARES = ["test_share_definitions.py", "test_golden.py::tuned", "test_share_evidence.py"]
# Modules of the core, and the tests that are theirs beside the examples in their docstrings, the
# quickest first. Of golden results, those of one group.
MODULES = {
    "_risk/margins.py": ["test_margins.py", "test_losses.py", "test_golden.py::plain"],
    "_risk/links.py": ["test_links.py", "test_losses.py", "test_inference_r.py"],
    "_risk/weighted_loss.py": ["test_losses.py", "test_links.py", "test_intervals.py", *_SUMS],
    "_risk/losses.py": ["test_losses.py", "test_links.py", "test_intervals.py", *_SUMS],
    "_risk/risks.py": [*_SUMS, "test_intervals.py"],
    "_risk/empirical_risk.py": [*_SUMS, "test_golden.py::streams"],
    "_risk/latent_risk.py": ["test_risks.py", "test_experiments_adam.py", "test_nn_loss.py"],
    "_risk/objective.py": ["test_objective.py", "test_newton.py", "test_golden.py::plain"],
    "_decide/calibration.py": _DECISIONS,
    "_decide/cut_for_task.py": ["test_calibration.py", "test_golden.py::tuned"],
    "_decide/decision.py": _DECISIONS,
    "_decide/held_out_scores.py": _DECISIONS,
    "_decide/offsets.py": [*_SHARES, "test_empty_classes.py"],
    "_decide/prediction_sets.py": ["test_prediction_sets.py"],
    "_decide/sampled_by_class.py": ["test_sampled_by_class.py", *_DECISIONS],
    "_decide/share_evidence.py": _SHARES,
    "_decide/share_moments.py": _SHARES,
}
# Tests of seconds that find nothing that others do not.
_SLOW = "not check_estimator and not file_too and not unbiased and not RandomForest"
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


class _Changed(importlib.machinery.SourceFileLoader):
    """Loads a module from a text in place of its file."""

    def __init__(self, name: str, path: str, code: str):
        super().__init__(name, path)
        self.code = code

    def get_code(self, fullname: str) -> Any:
        return compile(self.code, self.path, "exec")


class _Finder(importlib.abc.MetaPathFinder):
    """Finds the changed module before others do."""

    def __init__(self, module: str, code: str):
        path = str(SOURCE / module)
        self.name = "semiordinal." + module.removesuffix(".py").replace("/", ".")
        self.spec = importlib.util.spec_from_file_location(
            self.name, path, loader=_Changed(self.name, path, code)
        )

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> Any:
        return self.spec if fullname == self.name else None


def is_found(module: str, code: str, tests: list[str]) -> bool:
    """Whether a test fails, in a process of its own, with the changed module."""
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1] != 0
    code_of_exit = 1
    try:
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        finder = _Finder(module, code)
        sys.meta_path.insert(0, finder)
        importlib.import_module(finder.name)  # else pytest loads the file itself, for its examples
        code_of_exit = _first_failure(module, tests)
    finally:
        os._exit(code_of_exit)


def _first_failure(module: str, tests: list[str]) -> int:
    """Run the tests file by file until one fails; zero where none does."""
    import pytest

    options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
    options += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # of what was loaded before
    for test in [str(SOURCE / module), *tests]:
        file, _, group = test.partition("::")
        chosen = f"{_SLOW} and {group}" if group else _SLOW
        found = int(pytest.main([str(TESTS / file), "-k", chosen, *options]))
        if found not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            return found
    return 0


def faults(every: int, offset: int, modules: list[str]) -> Iterator[tuple[str, str, str]]:
    """Module, what the fault is, and the code with it."""
    for name in modules:
        text = (SOURCE / name).read_text(encoding="utf-8")
        for at in range(offset % every, len(places(ast.parse(text))), every):
            tree = ast.parse(text)
            what = change(*places(tree)[at])
            yield name, what, ast.unparse(tree)


def _summary(tried: dict[str, bool]) -> str:
    """Shares of faults that were found, by module and in all."""
    lines = []
    for name in [*MODULES, ""]:
        found = [each for key, each in tried.items() if key.startswith(name)]
        if found:
            share = sum(found) / len(found)
            error = math.sqrt(share * (1 - share) / len(found))
            about = f"{sum(found)} of {len(found)}: {share:.1%} ± {error:.1%}"
            lines.append(f"{name or 'in all'}: {about}")
    return "\n".join(lines)


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=int, default=8)
    parser.add_argument("--offset", type=int, default=0)
    parser.add_argument("--module", action="append", help="only this one, such as _risk/risks.py")
    parser.add_argument("--record", type=Path)
    parser.add_argument("--again", action="store_true", help="try those that were left once more")
    arguments = parser.parse_args()
    # Loaded once, for all processes; our own package is loaded by each.
    import hypothesis  # noqa: F401
    import pandas  # noqa: F401
    import pytest  # noqa: F401
    import sklearn.ensemble
    import sklearn.metrics
    import sklearn.model_selection  # noqa: F401

    if importlib.util.find_spec("torch"):
        import torch  # noqa: F401
    sys.path[:0] = [str(SOURCE.parent), str(TESTS)]
    assert not any(name.startswith("semiordinal._") for name in sys.modules)
    tried: dict[str, bool] = {}
    if arguments.record and arguments.record.exists():
        tried = dict(map(json.loads, arguments.record.read_text().splitlines()))
    modules = arguments.module or list(MODULES)
    started = time.perf_counter()
    if not tried:
        tests = sorted({test for name in modules for test in MODULES[name]})
        if is_found(modules[0], (SOURCE / modules[0]).read_text(encoding="utf-8"), tests):
            raise SystemExit("The tests fail without any fault.")
    for name, what, code in faults(arguments.every, arguments.offset, modules):
        key = f"{name} {what}"
        if key in tried and (tried[key] or not arguments.again):
            continue
        tried[key] = is_found(name, code, MODULES[name])
        print("found" if tried[key] else "LEFT ", key, flush=True)
        _note(arguments.record, key, tried[key])
    print(_summary(tried))
    print("\n".join(["Left:", *(key for key, found in tried.items() if not found)]))
    print(f"{time.perf_counter() - started:.0f} s")


def _note(record: Path | None, key: str, found: bool) -> None:
    if record:
        with record.open("a") as file:
            print(json.dumps([key, found]), file=file)


if __name__ == "__main__":
    _main()
