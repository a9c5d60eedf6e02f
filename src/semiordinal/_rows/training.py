"""Training rows as every estimator takes them: checked, encoded and weighted."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import _safe_indexing, assert_all_finite
from sklearn.utils.validation import _check_sample_weight, check_consistent_length, validate_data

from .._utils.computing import blas_threads_for
from .._utils.text import as_written
from .._utils.typing import Array
from .class_order import classes_of_codes
from .cluster import DaskSource
from .intervals import NO_INTERVALS, encode_intervals, interval_ends, refuse_intervals
from .labels import encode_labels
from .memory import BlockSum, MatrixRows, column_moments
from .parquet import ParquetSource
from .row_space import RowSpace
from .rows import RowLabels
from .same_columns import SAME_STEPS, columns_by_name, warn_of_other_scale
from .sampling import DrawPartial, drawn_rows
from .sources import BlockSource, Features, RowSource
from .stream import FinitePartial, StreamedRows, read_stream

_DTYPES = [np.float64, np.float32]


@dataclass(frozen=True)
class TrainingRows:
    """Rows of features, with a label code and a weight for each."""

    matrix: MatrixRows | StreamedRows
    labels: RowLabels
    classes: NDArray[Any]
    source: RowSource | None = None  # of more unlabelled rows, in passes
    draw: DrawPartial | None = None  # of some of these
    n_offered: int | None = None  # unlabelled rows that there were, where some were drawn
    row_space: RowSpace | None = None  # that the rows are coordinates of

    @property
    def in_memory(self) -> MatrixRows:
        """The rows in memory, without those that are read in passes."""
        return self.matrix if isinstance(self.matrix, MatrixRows) else self.matrix.matrix

    def stacked(self) -> Any:
        """The rows in memory as one array, or one sparse matrix."""
        parts, is_sparse = self.in_memory.parts, self.in_memory.is_sparse
        return sparse.vstack(parts, format="csr") if is_sparse else np.concatenate(parts)

    @property
    def n_unlabeled(self) -> int:
        return self.labels.n_unlabeled

    @property
    def n_labeled(self) -> int:
        """Rows that have a class; those with an interval of classes are not among them."""
        return self.labels.n_rows - self.n_unlabeled - self.labels.n_interval

    @property
    def totals(self) -> tuple[Array, float]:
        """Summed weights of each class, and of the unlabelled rows."""
        totals = self.labels.totals(len(self.classes))
        return totals[:-1], float(totals[-1])

    @property
    def expected_counts(self) -> Array:
        """Summed weights of each class, with intervals of classes dealt out by class shares."""
        return self.labels.expected_totals(len(self.classes))

    def read(self, take_gram: bool, sample: DrawPartial | None = None) -> TrainingRows:
        """The rows with those of the source: after a first pass over it, or drawn from it.

        ``sample`` says which of its rows `sample` will want, so that one pass does for both.
        """
        if self.source is None:
            return self
        n_known = self.source.n_rows
        with blas_threads_for(self.matrix.n_columns):
            if self.draw is None or (n_known is not None and n_known <= self.draw.size):
                if sample is not None:
                    sample = replace(sample, n_rows=n_known)
                streamed = read_stream(self.in_memory, self.source, take_gram, sample)
                labels = replace(self.labels, n_more=streamed.tail.n_rows)
                return replace(self, matrix=streamed, labels=labels)
            draw = FinitePartial(replace(self.draw, n_rows=n_known))
            drawn = self.source.reduce(BlockSum(draw))
        more = drawn.matrix()
        return replace(
            self,
            matrix=self.in_memory.append(more),
            labels=followed(self.labels.head, len(more)),
            n_offered=self.labels.head.n_unlabeled + drawn.n,
        )

    def in_row_space(self, standardize: bool, with_unlabeled: bool) -> TrainingRows:
        """Standardised rows as coordinates of their span, where that is narrower than they are.

        The span is that of the labelled rows, and of the others if a risk uses these too. Sparse
        rows and those that are read in passes stay as they are.
        """
        if self.source is not None or self.in_memory.is_sparse:
            return self
        matrix = spanning = self.in_memory
        if not with_unlabeled:
            spanning = matrix.take(self.labels.with_label)
        if spanning.n_rows >= matrix.n_columns:
            return self
        check_finite(matrix)
        space = RowSpace.of(spanning, column_moments(matrix, self.labels.weights), standardize)
        return replace(self, matrix=space.narrow(matrix), row_space=space)

    def sample(self, draw: DrawPartial) -> TrainingRows:
        """The labelled rows and at most so many unlabelled ones, all in memory."""
        if isinstance(self.matrix, StreamedRows):
            more = self.matrix.tail.drawn
            labels = followed(self.labels.head, len(more))
            return replace(self, matrix=self.in_memory.append(more), labels=labels)
        if self.n_unlabeled <= draw.size:
            return self
        unlabeled = np.flatnonzero(self.labels.codes == -1)
        drawn = unlabeled[drawn_rows(len(unlabeled), draw.size, draw.seed)]
        rows = np.sort(np.concatenate([self.labels.with_label, drawn]))
        return replace(self, matrix=self.in_memory.take(rows), labels=self.labels.take(rows))


@contextmanager
def fit_context(estimator: Any) -> Iterator[None]:
    """Forget what an earlier fit learnt; where the work in between fails, all is as it was."""
    before = dict(vars(estimator))
    for name in before:
        if name.endswith("_"):
            delattr(estimator, name)
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


def training_rows(
    estimator: BaseEstimator,
    X: Any,
    y: Any,
    sample_weight: Any,
    X_unlabeled: Any,
    classes: Any,
    missing_label: Any,
    finite: bool = True,
    draw: DrawPartial | None = None,
) -> TrainingRows:
    """Check rows and labels; rows of weight zero are left out, as if they were not there.

    With ``finite=False`` it is left to the caller to check that all features are finite. Where
    ``X_unlabeled`` is a source of rows, it is opened, and for `TrainingRows.read` to read;
    ``draw`` says how many rows of ``X_unlabeled`` to use.
    """
    X = feature_rows(estimator, X, reset=True, finite=False)
    X, found, ordered = weighted_labels(estimator, X, y, sample_weight, classes, missing_label)
    if is_source(X_unlabeled):
        return _with_source(estimator, X, found, ordered, X_unlabeled, draw)
    parts, n_offered = [X], None
    if X_unlabeled is not None:
        more = unlabeled_features(estimator, X_unlabeled, X)
        if draw is not None and more.shape[0] > draw.size:
            n_offered = found.n_unlabeled + more.shape[0]
            more = more[drawn_rows(more.shape[0], draw.size, draw.seed)]
        parts.append(more)
        found = followed(found, more.shape[0])
    matrix = MatrixRows(parts)
    if finite:
        with blas_threads_for(matrix.n_columns):
            check_finite(matrix)
    return TrainingRows(matrix, found, ordered, n_offered=n_offered)


def weighted_labels(
    estimator: BaseEstimator, X: Any, y: Any, sample_weight: Any, classes: Any, missing_label: Any
) -> tuple[Any, RowLabels, NDArray[Any]]:
    """The rows of weight above zero, their labels and weights, and the classes in order."""
    if y is not None:
        check_consistent_length(X, y)
    weights = None
    if sample_weight is not None:
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        if not weights.any():
            raise ValueError("sample_weight is zero for every row; give some a weight above zero.")
        if not weights.all():
            positive = np.flatnonzero(weights)
            X, y, weights = _safe_indexing(X, positive), _take(y, positive), weights[positive]
    ends = interval_ends(y)
    if ends is None:
        classes = classes_of_codes(estimator, y, classes)
        labels, intervals = encode_labels(y, classes, missing_label), NO_INTERVALS
    else:
        if not getattr(estimator, "_takes_intervals", False):
            refuse_intervals(type(estimator).__name__)
        labels, intervals = encode_intervals(ends, classes, missing_label)
    if len(labels.classes) < 2:
        raise ValueError(
            f"y holds one class only ({as_written(labels.classes[0])}). Label rows of at least "
            "one more class, or name all classes by classes=[...]."
        )
    return X, RowLabels(labels.codes, weights, intervals=intervals), labels.classes


def followed(labels: RowLabels, n_unlabeled: int) -> RowLabels:
    """The labels, followed by rows without."""
    codes = np.concatenate([labels.codes, np.full(n_unlabeled, -1)])
    weights = labels.weights
    if weights is not None:
        weights = np.concatenate([weights, np.ones(n_unlabeled)])
    return RowLabels(codes, weights, intervals=labels.intervals)


def _with_source(
    estimator: BaseEstimator,
    X: Any,
    labels: RowLabels,
    classes: NDArray[Any],
    X_unlabeled: Any,
    draw: DrawPartial | None,
) -> TrainingRows:
    """Rows to which those of a source are yet to come."""
    if not getattr(estimator, "_takes_sources", False):
        refuse_source(estimator)
    if sparse.issparse(X):
        raise ValueError("X is sparse, and X_unlabeled a source of dense rows. Give a dense X.")
    matrix = MatrixRows([X])
    check_finite(matrix)
    names = getattr(estimator, "feature_names_in_", None)
    source = open_source(X_unlabeled, X.shape[1], names, bool(getattr(estimator, "verbose", False)))
    # At least one row; how many there are is known after the first pass.
    labels = replace(labels, n_more=source.n_rows or 1)
    return TrainingRows(matrix, labels, classes, source, draw)


def refuse_source(estimator: BaseEstimator) -> NoReturn:
    """Raise, since the estimator takes rows in memory alone."""
    raise ValueError(
        f"{type(estimator).__name__} holds all rows in memory: give X_unlabeled as an array or "
        "a data frame. The linear and kernel classifiers take files, iterators and Dask's "
        "collections too."
    )


def feature_rows(
    estimator: BaseEstimator, X: Any, reset: bool, finite: bool | str = True, fewest: int = 1
) -> Any:
    """A dense array or a CSR matrix of numbers, with the features seen in fit."""
    return validate_data(
        estimator,
        X,
        reset=reset,
        accept_sparse="csr",
        dtype=_DTYPES,
        ensure_all_finite=finite,
        ensure_min_samples=fewest,
    )


def unlabeled_features(estimator: BaseEstimator, X_unlabeled: Any, X: Any) -> Any:
    """Unlabelled rows in memory, with the features of the checked rows X."""
    rows = columns_by_name(X_unlabeled, getattr(estimator, "feature_names_in_", None))
    if len(np.shape(rows)) == 2 and np.shape(rows)[1] != X.shape[1]:
        raise ValueError(
            f"X_unlabeled has {np.shape(rows)[1]} columns, and X has {X.shape[1]}. {SAME_STEPS}"
        )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X (has|does not have valid) feature names")
        found = feature_rows(estimator, rows, reset=False, finite=False, fewest=0)
    warn_of_other_scale(X, found)
    return found


def check_every_class_labeled(labels: RowLabels, classes: NDArray[Any]) -> None:
    """Raise where a class has no labelled row to learn it from."""
    empty = np.flatnonzero(labels.totals(len(classes))[:-1] == 0)
    if len(empty):
        raise ValueError(
            f"Class {classes.tolist()[empty[0]]!r} has no labelled row. Label a row of it, or "
            "leave it out of classes (of a categorical, drop the unused category). With known "
            "shares (class_prior) and unlabelled rows, AutoOrdinalClassifier and "
            "LinearOrdinalClassifierCV place such a class."
        )


def check_finite(matrix: MatrixRows | StreamedRows) -> None:
    """Raise where a number in memory is not finite, known by the sums, needed anyhow."""
    if isinstance(matrix, StreamedRows):  # the stream was checked as it was read
        matrix = matrix.matrix
    with np.errstate(over="ignore", invalid="ignore"):
        if not np.isfinite(matrix.sums).all():
            for part in matrix.parts:
                assert_all_finite(part, estimator_name="", input_name="X")


def _take(y: Any, rows: NDArray[np.intp]) -> Any:
    if hasattr(y, "iloc"):
        return y.iloc[rows]
    return y[rows] if hasattr(y, "dtype") else [y[i] for i in rows]


def is_source(X_unlabeled: Any) -> bool:
    """Whether these are rows to be read in passes, rather than rows in memory.

    Examples
    --------
    >>> is_source("rows/*.parquet"), is_source([[1.0, 2.0]])
    (True, False)
    """
    return (
        isinstance(X_unlabeled, RowSource | str | os.PathLike)
        or _are_paths(X_unlabeled)
        or hasattr(X_unlabeled, "get_fragments")
        or is_dask(X_unlabeled)
        or callable(X_unlabeled)
    )


def open_source(
    X_unlabeled: Any, n_columns: int, names: Any = None, show_progress: bool = False
) -> RowSource:
    """The source, with its columns checked.

    Parameters
    ----------
    X_unlabeled : path, glob, folder, list of these, pyarrow dataset, Dask collection, callable or \
RowSource
    n_columns : int
        Columns that its rows must have.
    names : list of str, optional
        Their names, in order.
    show_progress : bool
        Whether to show a bar for each pass, on a terminal.
    """
    source = _source(X_unlabeled)
    source.n_passes = 0
    source.show_progress = show_progress
    return source.open(Features(n_columns, None if names is None else list(names)))


def _source(given: Any) -> RowSource:
    if isinstance(given, RowSource):
        return given
    if is_dask(given):
        return DaskSource(given)
    if isinstance(given, str | os.PathLike) or _are_paths(given) or hasattr(given, "get_fragments"):
        return ParquetSource(given)
    return BlockSource(given)


def is_dask(given: Any) -> bool:
    """Whether this is a Dask collection; known without importing Dask."""
    return hasattr(given, "__dask_graph__") and type(given).__module__.startswith("dask")


def _are_paths(given: Any) -> bool:
    is_list = isinstance(given, list | tuple) and bool(given)
    return is_list and all(isinstance(each, str | os.PathLike) for each in given)
