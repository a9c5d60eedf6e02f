"""``semiordinal report``: one page about a model, for those who know the data best."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .._tables.options import TableOptions
from . import _console as console
from . import _options as options


@console.command("report")
@options.takes_table_options
def report(
    source: options.SourceArgument,
    out: Annotated[Path, typer.Option(help="HTML file to write.")],
    reading: TableOptions,
    data: options.MoreDataArgument = None,
    target: options.OptionalTargetOption = None,
    model: options.ModelOption = None,
    task: options.TaskOption = None,
    loss: options.LossOption = None,
    class_prior: options.OptionalClassPriorOption = None,
    title: Annotated[str | None, typer.Option(help="Title; by default target and file.")] = None,
    seed: options.SeedOption = 0,
    force: options.ForceOption = False,
    as_json: options.JsonOption = False,
) -> None:
    """Write a page about a model: how good, which classes it misses, what drives it, and why.

    The page is one HTML file that needs no network, about the very model in the file. Without
    DATA it shows what fit kept: errors of held-out rows, and none of the rows. With DATA also what
    drives predictions, single rows explained, and what has moved since the fit. Of a table alone
    it fits the model that fit would, and shows all of that.

    Examples:

      semiordinal report wine.semiordinal --out wine.html
      semiordinal report wine.semiordinal new.csv --out new.html
      semiordinal report patients.csv --target stage --order mild,severe --out page.html --force
    """
    from .._utils.files import check_not_input, check_output

    check_not_input(out, source, *([] if data is None else [data]))
    check_output(out, force)
    console.require_packages("The report needs", "report", "jinja2", "matplotlib")
    from ..report import write_report
    from ..report._build import render_findings
    from ..report._findings import find
    from ._subjects import ModelRequest, read_subject

    request = ModelRequest(target, model, task, loss, class_prior, seed, as_json)
    found = read_subject(source, data, reading, request)
    with console.collect_warnings(found.notes):
        findings = find(found.subject, seed)
        html = render_findings(findings, title or found.name, found.notes, found.origin)
    write_report(html, out, force)
    if as_json:
        assessment = found.subject.assessment
        figures = None if assessment is None else assessment.figures()
        console.print_json(
            {
                **{key: found.subject.summary.get(key) for key in ("target", "model", "features")},
                "labeled": found.subject.summary.get("labeled"),
                "unlabeled": found.subject.summary.get("unlabeled"),
                "cross_validation": figures,
                **findings.as_dict(),
                "notes": found.notes,
                "report": str(out),
                "bytes": out.stat().st_size,
            }
        )
        return
    from . import _summary

    _summary.print_errors(found.subject.assessment)
    console.print_notes(found.notes)
    console.print_line(f"Report: {out} ({out.stat().st_size / 1e6:.1f} MB)")
