"""Code in the documentation runs, and included code is the code that is."""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [
    ROOT / "README.md",
    *sorted(path for path in (ROOT / "docs").rglob("*.md") if "_build" not in path.parts),
]
INCLUDE = re.compile(r"<!-- include: ([\w.]+) -->\n```python\n(.*?)```", re.DOTALL)
BLOCK = re.compile(r"(?<!-->\n)```python\n(.*?)```", re.DOTALL)


def source_of(name: str) -> str:
    module, _, member = name.rpartition(".")
    return inspect.getsource(getattr(importlib.import_module(module), member))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_code_blocks_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    for code in BLOCK.findall(page.read_text()):
        exec(compile(code, str(page), "exec"), names)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_included_code_is_the_code(page):
    """``python tests/test_docs.py`` writes it again."""
    for name, code in INCLUDE.findall(page.read_text()):
        assert code == source_of(name), f"{page.name} shows an old {name}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_nothing_is_left_to_fill_in(page):
    assert not re.search(r"PLACEHOLDER|TODO|FIXME|XXX", page.read_text())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


if __name__ == "__main__":
    for page in PAGES:
        text = page.read_text()
        for name, _ in INCLUDE.findall(text):
            block = f"<!-- include: {name} -->\n```python\n"
            old = re.compile(re.escape(block) + r".*?```", re.DOTALL)
            text = old.sub(lambda _, b=block, n=name: b + source_of(n) + "```", text)
        page.write_text(text)
