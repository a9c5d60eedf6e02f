"""Options that several commands have, declared once."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from .._tables.options import TableOptions

REMOVED_CLASS_HELP = (
    "Class whose loss the unlabelled rows replace: smallest, largest, median, or its name."
)


def check_file(path: Path | None) -> Path | None:
    """Raise unless there is such a file; ``-`` is standard input."""
    if path is not None and str(path) != "-" and not path.is_file():
        what = "is a folder" if path.is_dir() else "does not exist"
        raise typer.BadParameter(f"file {str(path)!r} {what}.")
    return path


ModelArgument = Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="Model file.")]
DataArgument = Annotated[
    Path,
    typer.Argument(
        callback=check_file,
        help="CSV, Parquet or Excel; - for standard input.",
    ),
]
SourceArgument = Annotated[
    Path,
    typer.Argument(
        callback=check_file, help="Model file, or a table to fit a model to as fit does."
    ),
]
MoreDataArgument = Annotated[
    Path | None,
    typer.Argument(callback=check_file, help="With a model file: a table to show it on."),
]
OptionalTargetOption = Annotated[
    str | None,
    typer.Option(help="With a table: column of ordered classes, empty where unknown."),
]
TargetOption = Annotated[str, typer.Option(help="Column of ordered classes, empty where unknown.")]
MODEL_HELP = "auto, linear, kernel, trees or network."
ModelOption = Annotated[str | None, typer.Option(help=MODEL_HELP, show_default="auto")]
TaskOption = Annotated[
    str | None,
    typer.Option(
        help="What predictions are for: mae (few classes off: the median class), accuracy (often "
        "exactly right: the most probable class) or mse (few far off: the class nearest to the "
        "mean).",
        show_default="mae",
    ),
]
LossOption = Annotated[
    str | None,
    typer.Option(
        help="The loss itself: at, cl, lad (mae), it (accuracy), ls (mse).",
        show_default="that of the task",
    ),
]
_CLASS_PRIOR_HELP = (
    "Class shares: labels, uniform, estimate, 20%,50%,30% in class order, counts, "
    "poor=20%,fair=80%, or a CSV table of class and share."
)
ClassPriorOption = Annotated[str, typer.Option(help=_CLASS_PRIOR_HELP)]
OptionalClassPriorOption = Annotated[
    str | None, typer.Option(help=_CLASS_PRIOR_HELP, show_default="labels")
]
_PANEL = "Reading the table"
MissingLabelOption = Annotated[
    str | None,
    typer.Option(help="What marks a missing label, beside an empty cell.", rich_help_panel=_PANEL),
]
EncodingOption = Annotated[str, typer.Option(help="Encoding of CSV files.", rich_help_panel=_PANEL)]
_FOUND = "found from the cells"
DecimalOption = Annotated[
    str | None,
    typer.Option(help="Decimal mark, . or ,", show_default=_FOUND, rich_help_panel=_PANEL),
]
ThousandsOption = Annotated[
    str | None,
    typer.Option(
        help="Mark between thousands, or none.", show_default=_FOUND, rich_help_panel=_PANEL
    ),
]
SheetOption = Annotated[
    str | None,
    typer.Option(help="Sheet of Excel files.", show_default="the first", rich_help_panel=_PANEL),
]
StrictOption = Annotated[
    bool,
    typer.Option("--strict", help="Fail where the rows differ from the training table."),
]
SeedOption = Annotated[int, typer.Option(help="Seed of everything that is drawn at random.")]
ForceOption = Annotated[bool, typer.Option("--force", help="Overwrite a file that is there.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, for machines.")]


def _of_table(**settings: Any) -> Any:
    return typer.Option(rich_help_panel=_PANEL, **settings)


def _table_options(
    order: Annotated[
        str | None, typer.Option(help="Classes from the lowest to the highest: low,mid,high.")
    ] = None,
    missing_label: MissingLabelOption = None,
    keep: Annotated[
        list[str] | None, _of_table(help="Use a column even if it looks like an id.")
    ] = None,
    drop: Annotated[list[str] | None, _of_table(help="Leave a column out.")] = None,
    category: Annotated[
        list[str] | None, _of_table(help="Column whose cells are names, even if they are numbers.")
    ] = None,
    ordered: Annotated[
        list[str] | None,
        _of_table(help="Column of ordered names, with its levels from the lowest: size=S,M,L."),
    ] = None,
    na_values: Annotated[
        list[str] | None,
        _of_table(help="More words for missing, with commas; for one column: age=99."),
    ] = None,
    keep_na: Annotated[
        list[str] | None,
        _of_table(help="Words such as NA, ? or unknown that are values; for one column: land=NA."),
    ] = None,
    decimal: DecimalOption = None,
    thousands: ThousandsOption = None,
    day_first: Annotated[
        bool | None,
        typer.Option(
            "--day-first/--month-first",
            help="What dates such as 3/2/2024 begin with.",
            show_default=_FOUND,
            rich_help_panel=_PANEL,
        ),
    ] = None,
    weight: Annotated[
        str | None, _of_table(help="Column that says how many rows a row counts as.")
    ] = None,
    chosen: Annotated[
        str | None,
        _of_table(
            help="Column that marks rows whose label was chosen, as by next, and not drawn at "
            "random: the model learns from them, and is judged by the others."
        ),
    ] = None,
    unlabeled: Annotated[
        list[str] | None,
        _of_table(help="More rows without labels: files, folders or globs of tables."),
    ] = None,
    encoding: EncodingOption = "utf-8",
    sheet: SheetOption = None,
) -> TableOptions:
    """What the options of a table to learn from say; declared here for all commands."""
    return TableOptions(
        order=split_list(order),
        missing_label=missing_label,
        keep=tuple(keep or ()),
        drop=tuple(drop or ()),
        category=tuple(category or ()),
        ordered=tuple(ordered or ()),
        na_values=tuple(na_values or ()),
        keep_na=tuple(keep_na or ()),
        decimal=decimal,
        thousands=thousands,
        day_first=day_first,
        weight=weight,
        chosen=chosen,
        unlabeled=tuple(unlabeled or ()),
        sheet=sheet,
        encoding=encoding,
    )


def split_list(text: str | None) -> list[str] | None:
    """Items separated by commas; None for None."""
    return None if text is None else [item.strip() for item in text.split(",") if item.strip()]


def takes_table_options(body: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of a table to learn from, as one argument ``reading``."""
    own = inspect.signature(body, eval_str=True).parameters
    shared = inspect.signature(_table_options, eval_str=True).parameters
    in_place = [
        each
        for parameter in own.values()
        for each in (shared.values() if parameter.name == "reading" else [parameter])
    ]
    keywords = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in in_place]

    @functools.wraps(body)
    def run(**given: Any) -> None:
        reading = _table_options(**{name: given.pop(name) for name in shared})
        body(**given, reading=reading)

    run.__signature__ = inspect.Signature(keywords)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in keywords}
    return run
