"""Frames with categories as numbers, for models that are to see both."""

from __future__ import annotations

from typing import Any

from sklearn.compose import ColumnTransformer
from sklearn.preprocessing import OneHotEncoder

# Rarer categories of a column share one column of the encoding.
_MOST_CATEGORIES = 100


def category_encoder(X: Any) -> ColumnTransformer | None:
    """One-hot encoding of the columns of a pandas frame that hold no numbers; None without such.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"size": [1.0, 2.0], "kind": ["a", "b"]})
    >>> category_encoder(frame).fit_transform(frame)
    array([[1., 0., 1.],
           [0., 1., 2.]])
    """
    if not hasattr(X, "select_dtypes"):
        return None
    names = list(X.select_dtypes(exclude=["number", "bool"]).columns)
    if not names:
        return None
    one_hot = OneHotEncoder(
        handle_unknown="infrequent_if_exist", max_categories=_MOST_CATEGORIES, sparse_output=False
    )
    return ColumnTransformer([("categories", one_hot, names)], remainder="passthrough")
