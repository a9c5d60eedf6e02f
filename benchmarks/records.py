"""Benchmarks whose records are files, one for each case: what is there is not made again."""

from __future__ import annotations

import argparse
import json
import os
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pandas as pd
from threadpoolctl import threadpool_limits

from semiordinal._utils.files import atomic_write

Command = Callable[[argparse.Namespace], None]


def keep(path: Path, make: Callable[[], dict[str, Any]]) -> None:
    """Make a record on one thread and write it, unless it is there."""
    if path.exists():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = make()
    with atomic_write(path) as temporary:
        temporary.write_text(json.dumps(found))
    print(path.stem, found, flush=True)


def read_lines(out: Path, lines_of: Callable[[Path], Iterable[dict[str, Any]]]) -> pd.DataFrame:
    """Those of a CSV file, or of all records in a folder."""
    if out.is_file():
        return pd.read_csv(out)
    lines = [line for path in sorted(out.glob("**/*.json")) for line in lines_of(path)]
    if not lines:
        raise SystemExit(f"There are no records in {str(out)!r}.")
    return pd.DataFrame(lines)


def write_lines(lines: pd.DataFrame, csv: Path | None) -> None:
    """Into a CSV file, if one is named."""
    if csv is not None:
        csv.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(csv, force=True) as temporary:
            lines.round(4).to_csv(temporary, index=False)


def parsers(
    description: str | None, run: Command, table: Command, sets: str, with_csv: bool = False
) -> tuple[argparse.ArgumentParser, argparse.ArgumentParser]:
    """The commands ``run`` and ``table``, and the former by itself, for more options of it.

    With ``with_csv``, tables are printed from a CSV file as well, and can write one.
    """
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True)
    running = commands.add_parser("run", help="make the records that are missing")
    running.set_defaults(command=run, needs_data=True)
    running.add_argument("--data", type=Path, default=os.environ.get("SEMIORDINAL_DATA"))
    running.add_argument("--out", type=Path, required=True, help="folder of records")
    running.add_argument("--sets", nargs="+", help=sets)
    running.add_argument("--draws", type=int, default=5, help="how many")
    printing = commands.add_parser("table", help="print the records as Markdown tables")
    printing.set_defaults(command=table, needs_data=False)
    what = "folder of records" + (", or a CSV file of them" if with_csv else "")
    printing.add_argument("--out", type=Path, required=True, help=what)
    if with_csv:
        printing.add_argument("--csv", type=Path, help="file to write all records to")
    return parser, running


def follow(parser: argparse.ArgumentParser) -> None:
    """Do what the command line says."""
    arguments = parser.parse_args()
    if arguments.needs_data:
        if arguments.data is None:
            parser.error("name the folder of the data sets: --data, or SEMIORDINAL_DATA.")
        arguments.data = Path(arguments.data)
    arguments.command(arguments)
