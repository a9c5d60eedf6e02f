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

from .columns import ColumnChoice, mark_missing, to_days, to_numbers, to_texts

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

    Examples
    --------
    >>> frame = pd.DataFrame({"x": ["1", "NA"], "when": ["1970-01-02", ""], "other": [0, 0]})
    >>> TypedColumns(["x"], ["when"], []).fit_transform(frame)
         x  when
    0  1.0   1.0
    1  NaN   NaN
    """

    def __init__(self, numbers: list[str], dates: list[str], categories: list[str]):
        self.numbers = numbers
        self.dates = dates
        self.categories = categories

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
        columns = {name: _checked(X[name], to_numbers, "numbers") for name in self.numbers}
        columns |= {name: _checked(X[name], to_days, "dates") for name in self.dates}
        columns |= {name: to_texts(X[name]) for name in self.categories}
        return pd.DataFrame(columns, index=X.index)

    def get_feature_names_out(self, input_features: Any = None) -> list[str]:
        """Names of the columns, in order."""
        return [*self.numbers, *self.dates, *self.categories]

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "n_features_in_")


def _checked(column: pd.Series, convert: Any, kind: str) -> pd.Series:
    """The column converted; an error where a cell that is there is of another kind."""
    values = convert(column)
    unread = mark_missing(column[values.isna()]).dropna()
    if len(unread):
        example = str(unread.iloc[0])
        raise ValueError(
            f"Column {column.name!r} holds {example!r} where the model expects {kind}. Correct "
            "the cell, or leave it empty."
        )
    if np.isinf(values).any():
        raise ValueError(f"Column {column.name!r} holds infinity. Leave such cells empty.")
    return values


def table_pipeline(choice: ColumnChoice, estimator: Any) -> Pipeline:
    """A pipeline from a table to the estimator: gaps filled, categories one-hot encoded.

    Numbers and dates that are missing become their median; a missing category is a
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
        ("numbers", filled, [*choice.numbers, *choice.dates]),
        ("categories", encoded, choice.categories),
    ]
    encoder = ColumnTransformer([step for step in steps if step[2]])
    typed = TypedColumns(choice.numbers, choice.dates, choice.categories)
    return Pipeline([("typed", typed), ("encoded", encoder), ("model", estimator)])


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
    names = [*typed.numbers, *typed.dates]
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
    if not typed.categories:
        return {}
    one_hot = _one_hot(pipeline)
    unknown = {}
    for column, known in zip(typed.categories, one_hot.categories_, strict=True):
        values = to_texts(frame[column]).dropna().unique()
        new = values[~np.isin(values.astype(str), known.astype(str))]
        if len(new):
            unknown[column] = new
    return unknown
