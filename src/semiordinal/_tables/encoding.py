"""From a table to numbers, as steps of a scikit-learn pipeline."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder

from .columns import ColumnChoice, ColumnReading, is_nested, to_numbers, to_texts
from .dates import YEAR_FIRST, to_days
from .gaps import MISSING_WORDS, USUAL, is_text, mark_missing
from .numbers import PLAIN, NumberFormat, read_numbers

# Rarer categories of a column share one column of the encoding.
_MOST_CATEGORIES = 100
MISSING_CATEGORY = "(missing)"


class TypedColumns(TransformerMixin, BaseEstimator):
    """The feature columns of a table: floats for numbers and dates, texts for categories.

    What a cell means was decided when the model was fitted, so that batches of a file are
    all read alike. Other columns are ignored.

    Parameters
    ----------
    numbers, dates, categories : lists of column names
    ordered : dict, optional
        Columns of ordered categories, which become numbers, with their levels from the lowest.
    number_formats : dict, optional
        Decimal mark, thousands separator and unit of columns whose numbers are not plain.
    date_orders : dict, optional
        What comes first in dates that do not begin with the year: "day" or "month".
    gap_words : list of str, optional
        Words for missing; by default those of pandas.
    more_gaps, no_gaps : dict, optional
        Words for missing in some columns beside those, and words that are values there.

    Examples
    --------
    >>> frame = pd.DataFrame({"x": ["1", "NA"], "when": ["1970-01-02", ""], "other": [0, 0]})
    >>> TypedColumns(["x"], ["when"], []).fit_transform(frame)
         x  when
    0  1.0   1.0
    1  NaN   NaN
    """

    # Models of older files have no other way of reading.
    ordered: dict[str, list[str]] | None = None
    number_formats: dict[str, list[str]] | None = None
    date_orders: dict[str, str] | None = None
    gap_words: list[str] | None = None
    more_gaps: dict[str, list[str]] | None = None
    no_gaps: dict[str, list[str]] | None = None

    def __init__(
        self,
        numbers: list[str],
        dates: list[str],
        categories: list[str],
        ordered: dict[str, list[str]] | None = None,
        number_formats: dict[str, list[str]] | None = None,
        date_orders: dict[str, str] | None = None,
        gap_words: list[str] | None = None,
        more_gaps: dict[str, list[str]] | None = None,
        no_gaps: dict[str, list[str]] | None = None,
    ):
        self.numbers = numbers
        self.dates = dates
        self.categories = categories
        self.ordered = ordered
        self.number_formats = number_formats
        self.date_orders = date_orders
        self.gap_words = gap_words
        self.more_gaps = more_gaps
        self.no_gaps = no_gaps

    def fit(self, X: pd.DataFrame, y: Any = None) -> Self:
        """Note the names; nothing is learned."""
        self.feature_names_in_ = np.array(self.get_feature_names_out(), dtype=object)
        self.n_features_in_ = len(self.feature_names_in_)
        return self

    def transform(self, X: pd.DataFrame) -> pd.DataFrame:
        """The columns, typed.

        Parameters
        ----------
        X : DataFrame

        Returns
        -------
        DataFrame
        """
        missing = [name for name in self.get_feature_names_out() if name not in X.columns]
        if missing:
            raise ValueError(
                f"The table lacks columns that the model was fitted with: {', '.join(missing)}."
            )
        columns = X[self.get_feature_names_out()]
        nested = [name for name, column in columns.items() if is_nested(column)]
        if nested:
            raise ValueError(
                f"Column {nested[0]!r} holds lists, records or bytes where the model expects one "
                "value in each cell."
            )
        numbers = self._numbers(columns[self.numbers])
        orders = self.date_orders or {}
        dates = {
            name: to_days(columns[name], orders.get(name, YEAR_FIRST), self.words_for(name))
            for name in self.dates
        }
        self._check(columns, numbers, "numbers")
        self._check(columns, pd.DataFrame(dates, index=X.index), "dates")
        self._remove_codes(numbers)
        levels = {name: self._levels(columns[name]) for name in self.ordered or ()}
        texts = {name: to_texts(columns[name], self.words_for(name)) for name in self.categories}
        others = pd.DataFrame({**dates, **levels, **texts}, index=X.index)
        return pd.concat([numbers, others], axis=1)

    def words_for(self, name: str) -> set[str]:
        """Words for missing in a column."""
        words = MISSING_WORDS if self.gap_words is None else set(self.gap_words)
        more, values = ((each or {}).get(name, ()) for each in (self.more_gaps, self.no_gaps))
        return (set(words) | set(more)) - set(values)

    def _numbers(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Columns as floats; plain texts of all are read at once: there may be thousands."""
        formats = self.number_formats or {}
        is_plain = [is_text(column) and name not in formats for name, column in frame.items()]
        texts = frame.loc[:, is_plain].to_numpy(dtype=object)
        values = np.empty(frame.shape)
        read = pd.Series(pd.to_numeric(texts.ravel(), errors="coerce"), dtype="float64")
        values[:, is_plain] = read.to_numpy().reshape(texts.shape)
        for i in np.flatnonzero(is_plain):
            # What pandas does not read, such as the minus sign of typesetters.
            unread = np.isnan(values[:, i])
            if unread.any():
                values[unread, i] = read_numbers(frame.iloc[:, i][unread], PLAIN)
        for i in np.flatnonzero(~np.array(is_plain, dtype=bool)):
            column, how = frame.iloc[:, i], formats.get(frame.columns[i])
            values[:, i] = (
                read_numbers(column, NumberFormat(*how))
                if how and is_text(column)
                else to_numbers(column)
            )
        return pd.DataFrame(values, frame.index, frame.columns)

    def _remove_codes(self, numbers: pd.DataFrame) -> None:
        """Make numbers missing that stand for a missing value, such as 99."""
        for name, words in (self.more_gaps or {}).items():
            codes = [float(word) for word in words if _is_number(word)]
            if codes and name in numbers.columns:
                numbers[name] = numbers[name].mask(numbers[name].isin(codes))

    def _levels(self, cells: pd.Series) -> pd.Series:
        """Positions among the levels of an ordered column; missing for others."""
        position = {level: float(i) for i, level in enumerate((self.ordered or {})[cells.name])}
        return to_texts(cells, self.words_for(cells.name)).map(position).astype("float64")

    def _check(self, cells: pd.DataFrame, values: pd.DataFrame, kind: str) -> None:
        """Raise where a cell that is there was not read as its column is, or is infinite."""
        for name in values.columns[values.isna().to_numpy().any(axis=0)]:
            gaps = cells[name][values[name].isna()]
            unread = mark_missing(gaps, self.words_for(name)).dropna()
            if len(unread):
                text = str(unread.iloc[0])
                hint = _format_hint(text) if kind == "numbers" else ""
                raise ValueError(
                    f"Column {name!r} holds {text!r} where the model expects {kind}. "
                    f"Correct the cell, or leave it empty.{hint}"
                )
        for name in values.columns[np.isinf(values.to_numpy()).any(axis=0)]:
            raise ValueError(f"Column {name!r} holds infinity. Leave such cells empty.")

    def get_feature_names_out(self, input_features: Any = None) -> list[str]:
        """Names of the columns, in order."""
        return [*self.numbers, *self.dates, *(self.ordered or ()), *self.categories]

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "n_features_in_")


def _is_number(word: str) -> bool:
    return bool(np.isfinite(pd.to_numeric(word, errors="coerce")))


def _format_hint(text: str) -> str:
    """Which option would read the text as a number."""
    for decimal, thousands in ((".", ""), (",", ""), (".", ","), (",", ".")):
        if np.isfinite(NumberFormat(decimal, thousands).read(text)):
            option = f"--decimal {decimal}" + (f" --thousands {thousands}" if thousands else "")
            return f" If it is a number, say how numbers are written: {option}"
    return ""


def typed_columns(choice: ColumnChoice) -> TypedColumns:
    """The first step of the pipeline."""
    readings = {name: choice.readings.get(name, ColumnReading()) for name in choice.features}
    formats = {name: how.number_format for name, how in readings.items()}
    return TypedColumns(
        choice.numbers,
        choice.dates,
        choice.categories,
        ordered=choice.ordered,
        number_formats={
            name: [how.decimal, how.thousands, how.unit]
            for name, how in formats.items()
            if how != PLAIN
        },
        date_orders={name: how.date_order for name, how in readings.items() if how.date_order},
        gap_words=sorted(USUAL.of_column(None)),
        more_gaps={name: list(how.gaps) for name, how in readings.items() if how.gaps},
        no_gaps={name: list(how.values) for name, how in readings.items() if how.values},
    )


def table_pipeline(choice: ColumnChoice, estimator: Any) -> Pipeline:
    """A pipeline from a table to the estimator: gaps filled, categories one-hot encoded.

    Numbers, dates and levels that are missing become their median; a missing category is a
    category of its own, and one that was not seen in fitting belongs to none.
    """
    filled = SimpleImputer(strategy="median", keep_empty_features=True)
    encoded = Pipeline(
        [
            ("gaps", SimpleImputer(strategy="constant", fill_value=MISSING_CATEGORY)),
            (
                "one_hot",
                OneHotEncoder(
                    handle_unknown="infrequent_if_exist", max_categories=_MOST_CATEGORIES
                ),
            ),
        ]
    )
    steps = [
        ("numbers", filled, [*choice.numbers, *choice.dates, *choice.ordered]),
        ("categories", encoded, choice.categories),
    ]
    encoder = ColumnTransformer([step for step in steps if step[2]])
    return Pipeline([("typed", typed_columns(choice)), ("encoded", encoder), ("model", estimator)])


def encoded_names(pipeline: Pipeline) -> list[str]:
    """Names of the numbers that the estimator sees: a column's, or ``column = category``.

    Examples
    --------
    >>> from semiordinal import LinearOrdinalClassifier
    >>> choice = ColumnChoice(numbers=["x"], categories=["c"])
    >>> frame = pd.DataFrame({"x": [1, 2], "c": ["a", "b"]})
    >>> encoded_names(table_pipeline(choice, LinearOrdinalClassifier()).fit(frame, [1, 2]))
    ['x', 'c = a', 'c = b']
    """
    typed = pipeline["typed"]
    names = [*typed.numbers, *typed.dates, *(typed.ordered or ())]
    if typed.categories:
        one_hot = _one_hot(pipeline)
        # scikit-learn joins name and category by an underscore, which may be in both.
        for column, outputs in zip(typed.categories, _output_categories(one_hot), strict=True):
            names += [f"{column} = {category}" for category in outputs]
    return names


def _one_hot(pipeline: Pipeline) -> OneHotEncoder:
    return pipeline["encoded"].named_transformers_["categories"]["one_hot"]


def _output_categories(one_hot: OneHotEncoder) -> list[list[str]]:
    """Categories that have a column of their own in the encoding, and one for the rare."""
    rare = one_hot.infrequent_categories_
    outputs = []
    for categories, others in zip(one_hot.categories_, rare, strict=True):
        few = set() if others is None else set(others)
        own = [str(category) for category in categories if category not in few]
        outputs.append([*own, "(rare)"] if few else own)
    return outputs


def unknown_categories(pipeline: Pipeline, frame: pd.DataFrame) -> dict[str, NDArray[Any]]:
    """Texts in categorical columns that were not there in fitting, by column."""
    typed = pipeline["typed"]
    known = {name: np.array(levels) for name, levels in (typed.ordered or {}).items()}
    if typed.categories:
        known |= zip(typed.categories, _one_hot(pipeline).categories_, strict=True)
    unknown = {}
    for column, texts in known.items():
        values = to_texts(frame[column], typed.words_for(column)).dropna().unique()
        new = values[~np.isin(values.astype(str), texts.astype(str))]
        if len(new):
            unknown[column] = new
    return unknown
