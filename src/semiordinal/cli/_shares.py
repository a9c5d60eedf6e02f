"""``semiordinal shares``: how large the classes are in a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._utils.text import pluralize
from . import _console as console
from . import _options as options

if TYPE_CHECKING:
    from ..shares import ClassShares


@console.command("shares")
def shares(
    model: options.ModelArgument,
    data: options.DataArgument,
    method: Annotated[
        str, typer.Option(help="moments, em, or prediction_powered for random labels.")
    ] = "moments",
    level: Annotated[
        float, typer.Option(min=0.5, max=0.999, help="How sure intervals are to be.")
    ] = 0.9,
    encoding: options.EncodingOption = "utf-8",
    sheet: options.SheetOption = None,
    decimal: options.DecimalOption = None,
    thousands: options.ThousandsOption = None,
    seed: options.SeedOption = 0,
    as_json: options.JsonOption = False,
) -> None:
    """Estimate the class shares of a table without labels, with intervals.

    The model must be one that held labelled rows out, as those of fit do unless settings are
    fixed. Rows of a class must look alike in both tables; their shares may differ.

    Examples:

      semiordinal shares wine.semiordinal new.csv
      semiordinal shares wine.semiordinal new.parquet --level 0.95 --json
    """
    import pandas as pd

    from .._tables.reading import open_table
    from ..shares import METHODS, estimate_class_shares
    from . import _settings
    from ._labeled_rows import check_held_out
    from ._table_models import TableModel

    _settings.check_choice("--method", method, METHODS)
    loaded = TableModel(model, decimal, thousands)
    check_held_out(loaded)
    batches = list(loaded.batches(open_table(data, encoding, sheet), [], "Reading"))
    frame = pd.concat(batches, ignore_index=True)
    loaded.count(frame)
    X = loaded.pipeline[:-1].transform(frame)
    settings: dict[str, Any] = {"method": method, "level": level, "random_state": seed}
    found = estimate_class_shares(loaded.pipeline[-1], X, **settings)
    columns = zip(found.classes.tolist(), found.shares, found.low, found.high, strict=True)
    if as_json:
        rows = [dict(zip(("class", "share", "low", "high"), row, strict=True)) for row in columns]
        result = {
            "rows": found.n_rows,
            "method": found.method,
            "level": level,
            "labels_are_random": found.labels_are_random,
        }
        console.print_json({**result, "shares": rows, "notes": loaded.all_notes()})
        return
    console.print_table(
        f"Class shares of {pluralize(found.n_rows, 'row')}, with {level:.0%} intervals",
        ["class", "share", "from", "to"],
        [[str(label), *(f"{value:.1%}" for value in values)] for label, *values in columns],
    )
    console.print_line(_sentence(found))
    console.print_notes(loaded.all_notes())


def _sentence(found: ClassShares) -> str:
    """Whether labels may be a random draw, and what that means for the intervals."""
    is_powered = found.method == "prediction_powered"
    if not found.labels_are_random:
        text = "The labels of the fit do not look like a random draw of such rows: shares differ."
        return (
            f"{text} So these intervals do not hold; use --method moments." if is_powered else text
        )
    text = "By their scores, the labels of the fit may be a random draw of such rows."
    if is_powered:
        return f"{text} If they are not, these intervals do not hold; use --method moments."
    return f"{text} If you know that they are, --method prediction_powered has shorter intervals."
