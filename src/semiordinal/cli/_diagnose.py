"""``semiordinal diagnose``: whether a model is better for the unlabelled rows."""

from __future__ import annotations

from dataclasses import asdict

from .._tables.options import TableOptions
from . import _console as console
from . import _options as options


@console.command("diagnose")
@options.takes_table_options
def diagnose(
    source: options.SourceArgument,
    reading: TableOptions,
    target: options.OptionalTargetOption = None,
    model: options.ModelOption = None,
    task: options.TaskOption = None,
    loss: options.LossOption = None,
    class_prior: options.OptionalClassPriorOption = None,
    seed: options.SeedOption = 0,
    as_json: options.JsonOption = False,
) -> None:
    """Find out whether unlabelled rows make a model better, and say so.

    The model in the file, or the one that fit would save, is compared with its equal without
    unlabelled rows and class shares, on labelled rows that neither has seen. Columns in which
    labelled and unlabelled rows differ are named.

    Examples:

      semiordinal diagnose wine.semiordinal
      semiordinal diagnose wine.csv --target quality --class-prior 0.2,0.5,0.3
      semiordinal diagnose patients.csv --target stage --order mild,moderate,severe --json
    """
    from ..diagnosis._model_verdict import gain_of_model, judge_model
    from . import _summary
    from ._subjects import ModelRequest, read_subject

    request = ModelRequest(target, model, task, loss, class_prior, seed, as_json)
    found = read_subject(source, None, reading, request)
    assessment, summary = found.subject.assessment, found.subject.summary
    verdict = judge_model(assessment, summary, found.subject.estimator)
    differ = summary.get("unlabeled_differ")
    if as_json:
        gain = gain_of_model(assessment)
        known = ("target", "labeled", "unlabeled", "class_counts", "model", "class_shares")
        console.print_json(
            {
                **{key: summary.get(key) for key in known},
                "verdict": asdict(verdict),
                "gain": None if gain is None else asdict(gain),
                "cross_validation": None if assessment is None else assessment.figures(),
                "unlabeled_differ": differ,
                "notes": found.notes,
            }
        )
        return
    console.print_line(verdict.sentence)
    _summary.print_errors(assessment)
    for text in (summary.get("class_shares") or {}).values():
        if text:
            console.print_line(text)
    if differ:
        console.print_line("The unlabelled rows differ from the labelled ones:")
        for text in differ:
            console.print_line(f"  {text}")
    elif differ is not None:
        console.print_line("Column by column, the unlabelled rows look like the labelled ones.")
    console.print_notes(found.notes)
