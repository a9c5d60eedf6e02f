"""What the package promises about itself: its layers and its imports."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

import semiordinal

ROOT = Path(semiordinal.__file__).parent

# Each part may import those of levels before its own.
LEVELS = [
    {"_utils"},
    {"_rows", "metrics", "_packing"},
    {"_risk"},
    {"theory", "_decide", "model_selection"},
    {"_score", "_judge"},
    {
        *("baselines", "nn", "datasets", "plotting", "diagnosis", "scale", "inference", "shares"),
        *("labeling", "_onnx"),
    },
    {"model_files", "onnx_files", "_tables", "experiments", "report"},
    {"cli"},
]
LEVEL = {name: level for level, names in enumerate(LEVELS) for name in names}
# Within the mathematics too, each module imports only those before it.
MATHEMATICS = [
    "margins",
    "links",
    "weighted_loss",
    "losses",
    "risks",
    "empirical_risk",
    "latent_risk",
    "objective",
    "solvers",
]
CORNERS = {"torch": "nn", "dask": "_rows", "distributed": "_rows", "matplotlib": "plotting"}


def part_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imported_parts(path: Path) -> set[str]:
    """Parts of the package that a file imports, wherever in it."""
    depth = len(path.relative_to(ROOT).parts)
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level == depth:
            names = [node.module] if node.module else [alias.name for alias in node.names]
            found |= {name.split(".")[0] for name in names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("semiordinal."):
            found.add(node.module.split(".")[1])
    return found


FILES = sorted(path for path in ROOT.rglob("*.py") if path != ROOT / "__init__.py")


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_to_earlier_parts(path):
    part = part_of(path)
    assert part in LEVEL, f"{part} has no place in LEVELS"
    for other in imported_parts(path) - {part}:
        if other in LEVEL:
            assert LEVEL[other] < LEVEL[part], f"{part} imports {other}"


def test_the_mathematics_goes_one_way():
    folder = ROOT / "_risk"
    for path in folder.rglob("*.py"):
        name = path.relative_to(folder).parts[0].removesuffix(".py")
        depth = len(path.relative_to(folder).parts)
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.level == depth and node.module:
                other = node.module.split(".")[0]
                order = MATHEMATICS.index(other), MATHEMATICS.index(name)
                assert order[0] < order[1], f"{name} imports {other}"


def test_the_design_page_has_these_levels():
    page = (Path(__file__).parents[1] / "docs" / "design.md").read_text()
    rows = re.findall(r"^\| (\d) \| (.*?) \|", page, re.MULTILINE)
    shown = [set(re.findall(r"`(\w+)`", names)) for _, names in rows]
    assert shown == LEVELS
    assert " → ".join(f"`{name}`" for name in MATHEMATICS) in page


def test_all_else_is_private_by_name():
    """Public are the modules right below the package, by what they list, and it is all there."""
    for path in FILES:
        *folders, name = path.relative_to(ROOT).with_suffix("").parts
        is_private = any(part.startswith("_") for part in (*folders, name))
        assert is_private or not folders, f"{path} is public, and not a module of the package"
    for name in sorted(LEVEL):
        if name.startswith("_") or (name == "nn" and find_spec("skorch") is None):
            continue
        module = import_module(f"semiordinal.{name}")
        assert module.__all__, name
        for listed in module.__all__:
            assert getattr(module, listed) is not None


def test_the_walk_sees_imports():
    assert "_risk" in imported_parts(ROOT / "_decide" / "calibration.py")
    assert "_rows" in imported_parts(ROOT / "_risk" / "solvers" / "newton.py") | imported_parts(
        ROOT / "_risk" / "empirical_risk.py"
    )


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_heavy_packages_stay_in_their_corner(path):
    for node in ast.walk(ast.parse(path.read_text())):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names = [node.module or ""]
        for name in names:
            corner = CORNERS.get(name.split(".")[0])
            assert corner in (None, part_of(path))


def test_core_works_without_the_heavy_packages():
    """Import and fit in a fresh interpreter in which they cannot be imported."""
    code = """
import sys
SHELL = ("distributed", "jinja2", "pyarrow", "rich", "skops", "typer")
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("torch", "dask", "matplotlib", "pandas", "polars", *SHELL):
            raise ImportError(name + " is blocked")
sys.meta_path.insert(0, Blocked())
import numpy as np
import semiordinal, semiordinal.model_selection, semiordinal.datasets, semiordinal.plotting
import semiordinal.diagnosis, semiordinal.report
X = np.random.default_rng(0).normal(size=(60, 2))
y = np.where(np.arange(60) < 20, np.digitize(X[:, 0], [-0.5, 0.5]), np.nan)
blocks = lambda: iter([X, X])
semiordinal.LinearOrdinalClassifier().fit(X, y, X_unlabeled=blocks)
from semiordinal import *
print(LinearOrdinalClassifier().fit(X, y).n_unlabeled_)
"""
    command = [sys.executable, "-c", code]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.stdout.strip() == "40", result.stderr


def test_the_package_names_what_it_offers():
    assert set(dir(semiordinal)) >= {"LinearOrdinalClassifier", "NeuralOrdinalClassifier"}
    assert {"ClassOrderWarning", "ClassPriorWarning"} <= set(semiordinal.__all__)
    for name in semiordinal.__all__:
        assert getattr(semiordinal, name)
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        semiordinal.Nothing  # noqa: B018
