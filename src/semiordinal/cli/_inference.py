"""Standard errors of the linear model in a model file, from the table that it was fitted to."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import TYPE_CHECKING

from . import _console as console

if TYPE_CHECKING:
    from ..inference import InferenceSummary
    from ._table_models import TableModel


def summarize_table(loaded: TableModel, data: Path) -> InferenceSummary:
    """Coefficients with standard errors; raises where the model is of another kind.

    Parameters
    ----------
    loaded : TableModel
    data : Path
        The table that it was fitted to.
    """
    import numpy as np
    import pandas as pd

    from .. import LinearOrdinalClassifier
    from .._rows import as_dense
    from .._tables.encoding import encoded_names
    from .._tables.reading import check_column, open_table
    from ..inference import summarize

    estimator = copy.copy(loaded.pipeline[-1])
    target = loaded.manifest.get("target")
    if not isinstance(estimator, LinearOrdinalClassifier) or target is None:
        raise console.UsageError(
            f"--inference is for linear models with fixed settings, and this is a "
            f"{type(estimator).__name__}. Fit one with --model linear --no-tune --loss cl --l2 0."
        )
    file = open_table(data, "utf-8", None)
    check_column(target, file.columns(), "--inference")
    names = encoded_names(loaded.pipeline)
    rows, labels = [], []
    for batch in loaded.batches(file, [target], "Reading"):
        codes, _ = loaded.read_codes(batch[target])
        rows.append(as_dense(loaded.pipeline[:-1].transform(batch)))
        labels += [None if code < 0 else loaded.classes[code] for code in codes]
    estimator.feature_names_in_ = np.array(names, dtype=object)
    X = pd.DataFrame(np.vstack(rows), columns=names)
    return summarize(estimator, X, pd.Series(labels, dtype=object))
