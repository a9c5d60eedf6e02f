"""Tables of numbers as text, HTML, LaTeX and data frames."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from .._utils.typing import Array

# Numbers of these columns are probabilities, and shown as such.
_P_VALUES = ("p_value",)
_LATEX = {"&": r"\&", "%": r"\%", "_": r"\_", "#": r"\#", "$": r"\$", "|": r"\textbar{}"}


@dataclass(frozen=True)
class Table:
    """Rows with names, and a column of numbers for each heading; NaN where there is none.

    Parameters
    ----------
    index : list of str
        Names of the rows.
    columns : dict of arrays
        Numbers by heading.
    rules : list of int
        Rows before which a line is drawn.
    """

    index: Sequence[str]
    columns: dict[str, Array]
    rules: Sequence[int] = ()

    def to_frame(self) -> Any:
        """A pandas DataFrame."""
        import pandas as pd

        return pd.DataFrame(self.columns, index=list(self.index))

    def to_text(self) -> str:
        """Lines in a font of equal widths."""
        cells = self._cells()
        heads = ["", *self.columns]
        widths = [max(len(row[j]) for row in [heads, *cells]) for j in range(len(heads))]
        line = "-" * (sum(widths) + 2 * (len(widths) - 1))

        def join(row: Sequence[str]) -> str:
            first = row[0].ljust(widths[0])
            rest = [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
            return "  ".join([first, *rest]).rstrip()

        lines = [join(heads), line]
        for number, row in enumerate(cells):
            lines += [line] if number in self.rules else []
            lines.append(join(row))
        return "\n".join(lines)

    def to_html(self, caption: str = "") -> str:
        """A ``<table>``, with names and headings escaped."""
        head = "".join(f'<th scope="col">{escape(name)}</th>' for name in ["", *self.columns])
        body = "\n".join(
            f'<tr><th scope="row">{escape(name)}</th>'
            + "".join(f"<td>{escape(cell)}</td>" for cell in cells)
            + "</tr>"
            for name, *cells in self._cells()
        )
        title = f"<caption>{escape(caption)}</caption>\n" if caption else ""
        return (
            f"<table>\n{title}<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>"
        )

    def to_latex(self, caption: str = "") -> str:
        """A ``tabular``, in a ``table`` where there is a caption."""
        lines = [r"\begin{tabular}{l" + "r" * len(self.columns) + "}", r"\hline"]
        lines += [" & ".join(_latex(name) for name in ["", *self.columns]) + r" \\", r"\hline"]
        for number, row in enumerate(self._cells()):
            lines += [r"\hline"] if number in self.rules else []
            lines.append(" & ".join(_latex(cell) for cell in row) + r" \\")
        lines += [r"\hline", r"\end{tabular}"]
        if caption:
            lines = [r"\begin{table}", *lines, rf"\caption{{{_latex(caption)}}}", r"\end{table}"]
        return "\n".join(lines)

    def _cells(self) -> list[list[str]]:
        texts = [_formatted(name, values) for name, values in self.columns.items()]
        return [[str(name), *row] for name, *row in zip(self.index, *texts, strict=True)]


def _formatted(name: str, values: Array) -> list[str]:
    """Numbers of a column with as many decimals as give the middle one four digits."""
    if name in _P_VALUES:
        return ["" if np.isnan(v) else "<0.001" if v < 0.001 else f"{v:.3f}" for v in values]
    if np.issubdtype(np.asarray(values).dtype, np.integer):
        return [f"{v:d}" for v in values]
    return ["" if np.isnan(v) else format_number(v) for v in values]


def format_number(value: float) -> str:
    """A number with four digits; more where it is large, an exponent where it is extreme.

    Examples
    --------
    >>> [format_number(v) for v in (12.34567, -0.0123456, 1234.6, 1e-9)]
    ['12.35', '-0.01235', '1235', '1e-09']
    """
    size = abs(value)
    if size and not 1e-4 <= size < 1e7:
        return f"{value:.3g}"
    digits = 3 if not size else max(0, 3 - int(np.floor(np.log10(size))))
    return f"{value:.{digits}f}"


def _latex(text: str) -> str:
    return "".join(_LATEX.get(letter, letter) for letter in text)
