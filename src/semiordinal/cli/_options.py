"""Options that several commands have, declared once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

REMOVED_CLASS_HELP = (
    "Class whose loss the unlabelled rows replace: smallest, largest, median, or its name."
)
ModelArgument = Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="Model file.")]
DataArgument = Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="CSV or Parquet.")]
TargetOption = Annotated[str, typer.Option(help="Column of ordered classes, empty where unknown.")]
OrderOption = Annotated[
    str | None, typer.Option(help="Classes from the lowest to the highest: low,mid,high.")
]
ModelOption = Annotated[str, typer.Option(help="linear or kernel.")]
LossOption = Annotated[
    str, typer.Option(help="at, cl, lad (absolute error), it (zero-one), ls (squared).")
]
UnlabeledWeightOption = Annotated[
    float, typer.Option(min=0.01, max=1.0, help="Share of the unlabelled rows' part to judge.")
]
RemovedClassOption = Annotated[str, typer.Option(help=REMOVED_CLASS_HELP)]
ClassPriorOption = Annotated[
    str, typer.Option(help="labels, uniform, or known probabilities: 0.2,0.5,0.3.")
]
L2Option = Annotated[float, typer.Option(min=0.0, help="Weight of the penalty.")]
MissingLabelOption = Annotated[
    str | None, typer.Option(help="What marks a missing label, beside an empty cell.")
]
KeepOption = Annotated[
    list[str] | None, typer.Option(help="Use a column even if it looks like an id.")
]
DropOption = Annotated[list[str] | None, typer.Option(help="Leave a column out.")]
EncodingOption = Annotated[str, typer.Option(help="Encoding of CSV files.")]
SeedOption = Annotated[int, typer.Option(help="Seed of everything that is drawn at random.")]
ForceOption = Annotated[bool, typer.Option("--force", help="Overwrite a file that is there.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, for machines.")]
