"""Cells without a value: the words and signs that people write for them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from .._utils.text import join_names, pluralize

# What pandas takes for missing in CSV files.
MISSING_WORDS = frozenset(
    [
        *("", "NA", "N/A", "n/a", "<NA>", "#NA", "#N/A", "#N/A N/A", "None", "null", "NULL"),
        *("nan", "NaN", "-nan", "-NaN", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"),
    ]
)
# What else marks a gap, whatever its case. "none" may be an answer.
MARKERS = frozenset(
    [
        *("?", "??", "???", "-", "--", "---", "–", "—", ".", "..", "...", "*", "na", "n.a.", "n.a"),
        *("n/a", "n / a", "n.d.", "k.a.", "k. a.", "unknown", "unk", "missing", "(missing)"),
        *("not available", "not known", "not recorded", "no data", "undefined", "null", "nan"),
        *("unbekannt", "keine angabe", "inconnu", "inconnue", "desconocido", "sconosciuto"),
        *("#n/a", "#value!", "#div/0!", "#ref!", "#name?", "#null!", "#num!"),
    ]
)
# Signs that are answers beside "+".
_SIGNS = frozenset(["-", "--", "---", "–", "—", "+", "++", "+++"])
# Not worth a word: nobody means anything else by them.
_PLAIN_GAPS = frozenset(["", "nan", "-nan", "<na>"])


def is_gap(text: str, words: Collection[str]) -> bool:
    """Whether a cell is one of the words for missing; those of `MARKERS` in any case.

    Examples
    --------
    >>> is_gap("Unknown", {"unknown"}), is_gap("none", {"None"})
    (True, False)
    """
    return text in words or (text.casefold() in words and text.casefold() in MARKERS)


@dataclass(frozen=True)
class GapWords:
    """Words for missing: the usual ones, with those that the user adds or takes for values.

    ``more`` and ``values`` hold words by column; those under None are for all columns.
    """

    more: Mapping[Any, Collection[str]] = field(default_factory=dict)
    values: Mapping[Any, Collection[str]] = field(default_factory=dict)

    def of_column(self, name: Any, texts: Iterable[str] = ()) -> set[str]:
        """The words for a column, among whose texts may be signs that are answers."""
        words = set(MISSING_WORDS | MARKERS)
        if any("+" in text and text in _SIGNS for text in texts):
            words -= _SIGNS
        words |= {*self.more.get(None, ()), *self.more.get(name, ())}
        kept = {*self.values.get(None, ()), *self.values.get(name, ())}
        lower = {word.casefold() for word in kept}
        return {word for word in words if word not in kept and word.casefold() not in lower}


USUAL = GapWords()


def mark_missing(cells: pd.Series, words: Collection[str] = MISSING_WORDS) -> pd.Series:
    """Strip blanks around texts, and make words such as ``NA`` missing.

    Cells that are not texts, such as numbers of a Parquet file, are left as they are.

    Examples
    --------
    >>> mark_missing(pd.Series([" a", "NA", ""])).tolist()
    ['a', nan, nan]
    """
    if not is_text(cells):
        return cells
    # Texts repeat, so each distinct one is handled once.
    codes, distinct = pd.factorize(cells.astype(object))
    tidy = [str(text).strip() for text in distinct]
    # Code −1, of missing cells, takes the last entry.
    values = np.array([np.nan if is_gap(text, words) else text for text in [*tidy, ""]], object)
    return pd.Series(values[codes], index=cells.index, name=cells.name, dtype=object)


def is_text(cells: pd.Series) -> bool:
    """Whether cells are texts or mixed objects, rather than numbers, dates or truth values."""
    return (
        pd.api.types.is_object_dtype(cells.dtype)
        or pd.api.types.is_string_dtype(cells.dtype)
        or isinstance(cells.dtype, pd.CategoricalDtype)
    )


def count_texts(cells: pd.Series) -> dict[str, int]:
    """How many cells hold each text, without blanks around it; gaps of pandas are left out."""
    codes, distinct = pd.factorize(cells.astype(object))
    counts: dict[str, int] = {}
    for text, n in zip(
        distinct, np.bincount(codes[codes >= 0], minlength=len(distinct)), strict=True
    ):
        tidy = str(text).strip()
        counts[tidy] = counts.get(tidy, 0) + int(n)
    return counts


def worth_a_note(word: str) -> bool:
    """Whether someone may mean a value by a word that is taken as missing."""
    return word.casefold() not in _PLAIN_GAPS


def gaps_note(found: Mapping[str, Mapping[Any, int]]) -> str:
    """What was taken as missing: for each word, how many cells of which columns.

    Examples
    --------
    >>> print(gaps_note({"?": {"age": 3, "pulse": 1}}))
    Taken as missing: '?' (4 cells: age, pulse). If one of these is a value, say so: --keep-na '?'
    """
    parts = [
        f"{word!r} ({pluralize(sum(cells.values()), 'cell')}: {join_names(list(cells), 6)})"
        for word, cells in found.items()
    ]
    example = next(iter(found))
    return (
        f"Taken as missing: {join_names(parts, 12)}. If one of these is a value, say so: "
        f"--keep-na {example!r}"
    )
