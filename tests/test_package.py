"""What the package promises about itself: its layers and its imports."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import semiordinal

ROOT = Path(semiordinal.__file__).parent

# Each part may import those before it, and others of its own group.
LAYERS = [
    {"_typing"},
    {"_checks", "_computing", "_files", "_progress", "_text"},
    {"margins"},
    {"losses"},
    {"risks", "priors"},
    {"theory"},
    {"labels", "metrics"},
    {"model_selection"},
    {"held_out"},
    {"_rows"},
    {"_decide"},
    {"empirical_risk", "latent_risk", "thresholds"},
    {"objective"},
    {"scale"},
    {"solvers"},
    {"tuning"},
    {"estimators"},
    {"baselines"},
    {"methods"},
    {"datasets", "plotting"},
    {"diagnosis"},
    {"nn"},
    {"model_files", "tables", "experiments", "report"},
    {"cli"},
]
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}
ONLY_IN = {"torch": "nn", "dask": "_rows", "distributed": "_rows", "matplotlib": "plotting"}


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
    assert part in LEVEL, f"{part} has no place in LAYERS"
    for other in imported_parts(path) - {part}:
        if other in LEVEL:
            assert LEVEL[other] < LEVEL[part], f"{part} imports {other}"


def test_the_design_page_has_this_order():
    page = (Path(__file__).parents[1] / "docs" / "design.md").read_text()
    public = {name for name in LEVEL if not name.startswith("_")}
    diagram = re.search(r"^    margins →.*?\n\n", page, re.DOTALL | re.MULTILINE)
    shown = re.findall(r"\w+", diagram[0])
    assert sorted(shown) == sorted(public)
    assert [LEVEL[name] for name in shown] == sorted(LEVEL[name] for name in shown)
    described = re.findall(r"`(\w+)`", "".join(re.findall(r"^\| (`.*?) \|", page, re.MULTILINE)))
    assert public <= set(described)


def test_the_walk_sees_imports():
    assert "losses" in imported_parts(ROOT / "risks.py")
    assert "objective" in imported_parts(ROOT / "solvers" / "newton.py")


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_heavy_packages_stay_in_their_corner(path):
    for node in ast.walk(ast.parse(path.read_text())):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names = [node.module or ""]
        for name in names:
            corner = ONLY_IN.get(name.split(".")[0])
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
print(semiordinal.LinearOrdinalClassifier().fit(X, y).n_unlabeled_)
"""
    command = [sys.executable, "-c", code]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.stdout.strip() == "40", result.stderr


def test_the_package_names_what_it_offers():
    assert set(dir(semiordinal)) >= {"LinearOrdinalClassifier", "KernelOrdinalClassifier"}
    assert {"ClassOrderWarning", "ClassPriorWarning"} <= set(semiordinal.__all__)
    for name in semiordinal.__all__:
        if name == "NeuralOrdinalClassifier" and find_spec("skorch") is None:
            continue  # the extra torch is not installed
        assert getattr(semiordinal, name)
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        semiordinal.Nothing  # noqa: B018
