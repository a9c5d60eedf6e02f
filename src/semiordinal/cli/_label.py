"""``semiordinal label``: type labels in the terminal, one row at a time."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .._utils.text import class_names, join_names, pluralize, visible
from . import _console as console
from . import _options as options

if TYPE_CHECKING:
    from .._tables.label_file import LabelFile

_KEYS = ("s", "u", "q")
# What next adds to rows; predictions would lead whoever labels.
_HIDDEN = ("row", "chosen", "prediction", "lowest", "highest", "reason")


@console.command("label")
def label(
    file: Annotated[
        Path, typer.Argument(callback=options.check_file, help="CSV file, such as next writes.")
    ],
    target: Annotated[
        str | None, typer.Option(help="Column that labels go to; by default that of --model.")
    ] = None,
    order: Annotated[
        str | None,
        typer.Option(help="Classes from the lowest: low,mid,high; by default those of --model."),
    ] = None,
    model: Annotated[
        Path | None,
        typer.Option(exists=True, dir_okay=False, help="Model file, for classes and target."),
    ] = None,
    show_prediction: Annotated[
        bool, typer.Option("--show-prediction", help="Show what next says of each row, too.")
    ] = False,
    encoding: options.EncodingOption = "utf-8",
) -> None:
    """Label the rows of a CSV file in the terminal, one at a time.

    Rows that have a label are passed over. Type a class, or its number, and Enter; 2..3 or 3..
    where it is one of several; s skips a row, u takes the last answer back, q ends (S, U, Q where
    a class is called s, u or q). The file is saved after each answer, so nothing is lost if the
    window is closed; start again to go on.

    Examples:

      semiordinal label to-label.csv --model wine.semiordinal
      semiordinal label to-label.csv --target severity --order mild,moderate,severe
    """
    from .._tables.label_file import LabelFile

    target, classes = _target_and_classes(target, options.split_list(order), model)
    if str(file) == "-":
        raise console.UsageError("Labels are written to the file that is read: name one.")
    labels = LabelFile(file, target, encoding, classes)
    hidden = () if show_prediction else _HIDDEN
    n_labeled = _Session(labels, classes, hidden).run()
    left = len(labels.unlabeled())
    console.print_line(
        f"{pluralize(n_labeled, 'label')} given, {pluralize(left, 'row')} left without one. "
        f"Saved: {file}"
    )


def _target_and_classes(
    target: str | None, order: list[str] | None, model: Path | None
) -> tuple[str, list[str]]:
    """What the options say, and the model where they say nothing."""
    if model is not None:
        from ._table_models import TableModel

        loaded = TableModel(model)
        target = target or loaded.manifest.get("target")
        order = order or class_names(loaded.classes)
    if target is None or order is None:
        raise console.UsageError(
            "Say which column labels go to and which classes there are: --model MODEL, or --target "
            "COLUMN and --order low,mid,high"
        )
    if len(set(order)) < 2 or len(set(order)) < len(order):
        raise console.UsageError("--order: name two different classes or more, as in low,mid,high.")
    if any(key in order and key.upper() in order for key in _KEYS):
        raise console.UsageError("--order: s, u and q have a meaning here. Rename that class.")
    return target, order


class _Session:
    """Questions and answers about the rows of a file without a label."""

    def __init__(self, labels: LabelFile, classes: list[str], hidden: tuple[str, ...]):
        self._labels = labels
        self._classes = classes
        self._hidden = hidden
        self._waiting = labels.unlabeled()
        self._answered: list[tuple[int, str | None]] = []  # row, and its cell before; skipped: None
        self._n_rows = len(self._waiting)

    def run(self) -> int:
        """Ask until there is nothing left, or the user ends; returns the number of labels."""
        console.print_line(f"{pluralize(self._n_rows, 'row')} without a label. {self._help()}")
        is_new = True
        while self._n_rows:
            if is_new and self._waiting:
                self._show(self._waiting[0])
            try:
                answer = input(self._prompt()).strip()
            except (EOFError, KeyboardInterrupt):
                console.print_line()
                break
            if self._key(answer) == "q" or (not self._waiting and self._key(answer) != "u"):
                break
            is_new = self._take(answer)
        return sum(before is not None for _, before in self._answered)

    def _take(self, answer: str) -> bool:
        """Do what the answer says; whether another row comes next."""
        if self._key(answer) == "u":
            return self._undo()
        row = self._waiting[0]
        if self._key(answer) == "s":
            self._answered.append((row, None))
        else:
            chosen = self._class(answer) or self._interval(answer)
            if chosen is None:
                number = ", or its number" if self._has_numbers() else ""
                known = f"{join_names(self._classes, 50)}{number}"
                several = "2..3 or 3.. stands for several, from the lower to the higher"
                console.print_line(
                    f"{answer!r} is not a class. Type one of {known}; {several}. {self._help()}"
                )
                return False
            self._answered.append((row, self._labels.set_label(row, chosen)))
        self._waiting.pop(0)
        return True

    def _undo(self) -> bool:
        if not self._answered:
            console.print_line("There is no answer to take back.")
            return False
        row, before = self._answered[-1]
        if before is not None:
            self._labels.set_label(row, before)
        self._answered.pop()
        self._waiting.insert(0, row)
        return True

    def _key(self, answer: str) -> str:
        """The key that was typed, if any: in the other case where a class has its name."""
        return answer.lower() if answer.lower() in _KEYS and answer not in self._classes else ""

    def _keys(self) -> list[str]:
        return [key.upper() if key in self._classes else key for key in _KEYS]

    def _help(self) -> str:
        skip, undo, end = self._keys()
        return (
            f"{skip} skips the row, {undo} takes the last answer back, {end} ends; all labels so "
            "far are saved."
        )

    def _class(self, answer: str) -> str | None:
        """The class of that name, or of that number where no class is a number."""
        for exact in (str, str.casefold):
            same = [name for name in self._classes if exact(name) == exact(answer)]
            if len(same) == 1:
                return same[0]
        if self._has_numbers() and answer.isdecimal() and 1 <= int(answer) <= len(self._classes):
            return self._classes[int(answer) - 1]
        return None

    def _interval(self, answer: str) -> str | None:
        """The interval of classes, whose ends may be typed as classes are."""
        from .._tables.interval_cells import split_interval

        ends = split_interval(answer)
        if ends is None:
            return None
        named = ["" if end is None else self._class(end) for end in ends]
        places = [self._classes.index(name) for name in named if name]
        if None in named or places != sorted(places):
            return None
        return "..".join(map(str, named))

    def _has_numbers(self) -> bool:
        """Whether classes can be typed as numbers from 1: not where they are numbers."""
        return not any(_is_number(name) for name in self._classes)

    def _show(self, row: int) -> None:
        console.print_line()
        console.print_line(f"Row {len(self._answered) + 1} of {self._n_rows}")
        for name, cell in self._labels.cells(row).items():
            if name not in self._hidden:
                console.print_line(f"  {name}: {cell}")

    def _prompt(self) -> str:
        if not self._waiting:
            return f"No row is left ({', '.join(self._keys()[1:])})> "
        names = self._classes
        if self._has_numbers():
            names = [f"{number} {name}" for number, name in enumerate(names, start=1)]
        return visible(f"{' | '.join(names)} ({', '.join(self._keys())})> ")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
