"""The page of results says what the committed runs do."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent.parent / "docs" / "examples" / "results.py"


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("results_figures", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_figures_over_several_tables_are_those_of_the_runs(script):
    assert script.missing() == []


def test_a_figure_that_is_not_that_of_the_runs_is_found(script, tmp_path, monkeypatch):
    figures = script.figures()
    page = tmp_path / "README.md"
    page.write_text("\n".join(figures[1:]), encoding="utf-8")
    monkeypatch.setattr(script, "PAGE", page)
    assert script.missing() == figures[:1]


@pytest.mark.parametrize("name", ["small-paper", "large-at-paper", "large-ls-paper-networks"])
def test_they_agree_with_the_summaries(script, name):
    """Which other code writes."""
    model = "-NN" if "networks" in name else "-Ker" if "large" in name else ""
    results = script.Results(name, model=model)
    lines = (script.RESULTS / name / "summary.md").read_text(encoding="utf-8").splitlines()
    for method, ratio in zip(script.METHODS, results.by_paper(script.METHODS), strict=True):
        assert any(line.startswith(f"| {method}{model} | {ratio} |") for line in lines)
    for method in script.SEMI:
        counts = f"| {results.n_same_direction(method)} of {len(results.problems)} "
        counts += f"| {results.n_below(method)} | {results.n_below(method, 'paper')} |"
        assert f"| {method}{model} {counts}" in lines
