"""Columns by a formula, as users of R and statsmodels write them."""

from __future__ import annotations

import pandas as pd

_INTERCEPT = "Intercept"


def design_matrices(formula: str, data: pd.DataFrame) -> tuple[pd.DataFrame, pd.Series]:
    """X and y of a formula such as ``"rating ~ temp + contact"``, for ``fit`` and `summarize`.

    Categories become columns less a reference category. There is no column for an intercept, since
    thresholds take its part. Needs the package formulaic: ``pip install 'semiordinal[formula]'``.

    Parameters
    ----------
    formula : str
        ``label ~ terms``, in the grammar of formulaic: ``+``, ``:``, ``*``, ``C(x)``.
    data : DataFrame
        Where the label is missing, the row is unlabelled.

    Returns
    -------
    X : DataFrame
    y : Series

    Examples
    --------
    >>> import pandas as pd
    >>> wine = pd.DataFrame({"rating": [1, 2, 3], "temp": ["cold", "warm", "warm"], "age": 5})
    >>> X, y = design_matrices("rating ~ temp + age", wine)
    >>> list(X.columns), y.tolist()
    (['temp[T.warm]', 'age'], [1, 2, 3])
    """
    try:
        from formulaic import Formula
    except ImportError:
        raise ImportError(
            "Formulas need the package formulaic: pip install 'semiordinal[formula]'."
        ) from None
    label, tilde, terms = formula.partition("~")
    label = label.strip()
    if not tilde or not terms.strip() or label not in data.columns:
        raise ValueError(
            f"formula={formula!r} must be 'label ~ terms', where the label is one of the columns "
            f"of data: {', '.join(map(str, data.columns))}."
        )
    matrix = Formula(terms).get_model_matrix(data, na_action="ignore")
    X = pd.DataFrame(matrix).drop(columns=_INTERCEPT, errors="ignore").astype(float)
    gaps = [str(name) for name in X.columns[X.isna().any()]]
    if gaps:
        raise ValueError(
            f"formula={formula!r} has terms with missing cells: {', '.join(gaps)}. Fill them, or "
            "leave those rows out."
        )
    if _INTERCEPT not in matrix.columns:
        raise ValueError(
            f"formula={formula!r} leaves the intercept out, whose part the thresholds take. Remove "
            "'- 1' or '+ 0'."
        )
    return X, data[label]
