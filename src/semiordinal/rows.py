"""Rows as sums see them: blocks of columns, and a label code and a weight for each row."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ._typing import Array, Codes


class Design(Protocol):
    """Rows in blocks: what a model linear in its coefficients multiplies them with."""

    @property
    def n_rows(self) -> int: ...

    @property
    def n_columns(self) -> int: ...

    @property
    def is_sparse(self) -> bool: ...

    @property
    def sums(self) -> Array: ...

    @property
    def gram(self) -> Array: ...

    @property
    def has_gram(self) -> bool: ...

    def take_moments(self, row_weights: Callable[[slice], Array] | None = None) -> Array: ...

    def blocks(self) -> Iterator[tuple[slice, Array]]: ...

    def take(self, rows: Codes) -> Design: ...

    def kept(self) -> Design: ...


@dataclass(frozen=True)
class RowLabels:
    """Label codes of the rows (−1 where unlabelled) and their weights (None for ones)."""

    codes: Codes
    weights: Array | None = None

    def gather(self, table: Array, rows: slice) -> Array:
        """Entries of a table by label, for some rows, times the rows' weights."""
        used = table[self.present]
        if len(used) == 1 or (used == used[0]).all():
            if self.weights is None:
                return used[:1]
            return self.weights[rows, None] * used[:1]
        gathered = np.take(table.T, self.codes[rows], axis=1, mode="wrap").T
        return gathered if self.weights is None else gathered * self.weights[rows, None]

    def gather_column(self, column: Array, rows: slice) -> Array:
        """Entries of one column of a table by label, for some rows, times the rows' weights."""
        gathered = column.take(self.codes[rows], mode="wrap")
        return gathered if self.weights is None else gathered * self.weights[rows]

    @cached_property
    def _counts(self) -> tuple[NDArray[np.intp], Array]:
        """Rows and summed weights by label, unlabelled first."""
        none_missing = self.codes.min(initial=0) >= 0
        bins = self.codes if none_missing else self.codes + 1
        weighted = np.bincount(bins, self.weights).astype(np.float64)
        rows = weighted if self.weights is None else np.bincount(bins)
        if none_missing:
            rows, weighted = np.concatenate([[0], rows]), np.concatenate([[0.0], weighted])
        return rows.astype(np.intp), weighted

    @cached_property
    def present(self) -> Codes:
        """Codes that some row has."""
        return np.flatnonzero(self._counts[0]) - 1

    @property
    def n_unlabeled(self) -> int:
        return int(self._counts[0][0])

    @property
    def most_common(self) -> int:
        """The code that most rows have."""
        return int(np.argmax(self._counts[0])) - 1

    def groups(self) -> list[Codes]:
        """Rows of each label; where every row has a code of its own, all rows in one group."""
        if len(self.present) == len(self.codes):
            return [np.arange(len(self.codes))]
        return [np.flatnonzero(self.codes == code) for code in self.present]

    def totals(self, n_classes: int) -> Array:
        """Summed weights by label, unlabelled last."""
        totals = np.zeros(n_classes + 1)
        counts = self._counts[1]
        totals[: len(counts) - 1], totals[-1] = counts[1:], counts[0]
        return totals

    def take(self, rows: Codes, factors: Array | None = None) -> RowLabels:
        """Some of the rows, with their weights multiplied by factors."""
        weights = None if self.weights is None else self.weights[rows]
        if factors is not None:
            weights = factors if weights is None else weights * factors
        return RowLabels(self.codes[rows], weights)


def latent_scores(design: Design, coef: Array) -> Array:
    """Every row times the coefficients."""
    latent = np.empty(design.n_rows)
    for rows, block in design.blocks():
        latent[rows] = block @ coef
    return latent


def as_dense(block: Any) -> Array:
    """A block as an array, whether it was one or sparse."""
    return block.toarray() if sparse.issparse(block) else block
