"""The site and the release: every public name has a page, and versions agree."""

from __future__ import annotations

import ast
import importlib.util
import json
import re
import tomllib
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import semiordinal

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("plot_*.py"))


def script(path: str) -> ModuleType:
    """A script that is no part of the package."""
    spec = importlib.util.spec_from_file_location(Path(path).stem, ROOT / path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


reference = script("docs/reference.py")


def test_every_public_module_is_in_the_reference():
    assert set(reference.MODULES) == reference.public_modules()


@pytest.mark.parametrize("module", reference.MODULES)
def test_every_public_name_has_a_page(module):
    pytest.importorskip("skorch", reason="the extra torch is not installed")
    listed = set(import_module(module).__all__) - {"__version__"}
    assert listed <= set(reference.public_names(module))
    assert listed
    for name in listed:
        page = reference.page_of(module, name)
        home = reference.module_page(page.rpartition(".")[0])
        made = [block for block in home.split(".. autosummary::") if ":toctree:" in block]
        assert any(f"\n   ~{page}\n" in block for block in made), page
        assert f"\n   ~{page}\n" in reference.module_page(module)


def test_every_page_is_in_a_table_of_contents():
    pages = list((ROOT / "docs").glob("*.md"))
    contents = [
        block
        for page in pages
        for block in re.findall(r"```\{toctree\}\n(.*?)```", page.read_text(), re.DOTALL)
    ]
    listed = {line for block in contents for line in block.split()}
    for page in pages:
        assert page.stem in {*listed, "index"}, f"{page.name} is in no table of contents"


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_have_a_title_and_use_public_names(path):
    tree = ast.parse(path.read_text())
    title, line = (ast.get_docstring(tree) or "").splitlines()[:2]
    assert len(line) == len(title)
    assert set(line) == {"="}
    modules = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("semiordinal"):
            modules.add(node.module)
            for each in node.names:
                public = semiordinal.__all__ + reference.public_names(node.module)
                assert each.name in {*public, *(m.rpartition(".")[2] for m in reference.MODULES)}
    assert modules


def test_there_are_examples_enough():
    assert len(EXAMPLES) >= 12


def test_versions_agree():
    version = semiordinal.__version__
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text()
    newest = re.findall(r"^## \[(\d.*?)\]", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)[0]
    assert newest == version
    switcher = json.loads((ROOT / "docs" / "_static" / "switcher.json").read_text())
    assert [each["version"] for each in switcher if each.get("preferred")] == [version]


def test_extras_are_for_users():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    tools = {"pytest", "ruff", "mypy", "hypothesis", "sphinx", "build", "twine"}
    for name, packages in settings["project"]["optional-dependencies"].items():
        named = {re.split(r"[\[>=<]", package)[0] for package in packages}
        assert not named & tools, name
    assert {"test", "dev", "docs", "oldest", "release"} == set(settings["dependency-groups"])


def test_broken_links_are_found(tmp_path):
    (tmp_path / "a.html").write_text(
        '<a href="b.html#here">1</a> <a href="b.html#there">2</a> <a href="c.html">3</a>'
        '<a href="#x">4</a> <a href="https://example.org">5</a>'
        '<script src="https://example.org/x.js"></script> <img src="p.png">'
    )
    (tmp_path / "b.html").write_text('<h1 id="here">B</h1> <a href="a.html">A</a>')
    found = script("docs/check_links.py").broken_links(tmp_path)
    assert [line.split(": ")[1].split(" ")[0] for line in found] == [
        *("b.html#there", "c.html", "#x"),
        *("https://example.org/x.js", "p.png"),
    ]
