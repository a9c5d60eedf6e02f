"""What the page on theory shows is what its snippets print."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import semiordinal.theory

PAGE = Path(__file__).parent.parent / "docs" / "theory.md"


def shown(name):
    """The snippet that calls a function, and the indented output on the page."""
    text = PAGE.read_text(encoding="utf-8")
    snippet = next(
        s for s in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if f"{name}(" in s
    )
    return snippet, text


def test_bound_snippet_prints_what_the_page_shows():
    snippet, text = shown("estimation_error_bound")
    body = ast.parse(snippet)
    last = body.body.pop()
    names: dict = {}
    exec(compile(body, str(PAGE), "exec"), names)
    found = eval(compile(ast.Expression(last.value), str(PAGE), "eval"), names)
    page = re.search(r"estimation error <= ([\d.]+)(?:.*\n\s+\w+\s+([\d.]+)){3}", text)
    # The page prints the script's numbers, the snippet rounds the three norms.
    assert found.total == pytest.approx(float(page.group(1)), rel=5e-3)


def test_convexity_snippet_prints_what_the_page_shows(capsys):
    snippet, text = shown("convexity")
    exec(snippet, {})
    for line in capsys.readouterr().out.splitlines():
        assert line in text


def test_the_page_names_only_what_is_there():
    text = PAGE.read_text(encoding="utf-8")
    imported = re.findall(r"from semiordinal\.theory import \(?([^)]*?)(?:\)|\n\n|\n`)", text)
    names = {name for part in imported for name in re.findall(r"\w+", part)}
    assert len(names) > 8
    assert names <= set(semiordinal.theory.__all__)
    for name in semiordinal.theory.__all__:
        assert hasattr(semiordinal.theory, name)
