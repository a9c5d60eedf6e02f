"""From a fitted model, and rows if there are any, to the page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._judge.assessment import Assessment
from .._rows.class_order import class_order
from .._rows.labels import known_codes
from .._utils.text import class_names
from ._page import Page
from ._render import render

if TYPE_CHECKING:
    import pandas as pd

    from ._findings import Findings


def build_report(
    model: Any,
    X: Any = None,
    y: Any = None,
    *,
    title: str = "Ordinal classes",
    is_training: bool = True,
    random_state: int = 0,
) -> str:
    """A page about a fitted classifier, as one HTML file that needs nothing else.

    Parameters
    ----------
    model : fitted classifier, or Pipeline that ends in one
        How good it is comes from the rows that it held out when it was fitted, as
        `AutoOrdinalClassifier`, the tuned and the calibrated classifiers do.
    X : array or data frame of shape (n_samples, n_features), optional
        Rows to show what drives predictions, and single rows.
    y : array-like of shape (n_samples,), optional
        Their labels; NaN, None or pd.NA where a row has none.
    title : str
    is_training : bool, default=True
        Whether the model was fitted to these very rows.
    random_state : int, default=0
        The same model, rows and seed give the same page, byte for byte.

    Returns
    -------
    str

    Examples
    --------
    >>> from semiordinal import LinearOrdinalClassifierCV
    >>> from semiordinal.datasets import load_diabetes_stages, mask_labels
    >>> X, stages = load_diabetes_stages()
    >>> y = mask_labels(stages, 60, random_state=0)
    >>> html = build_report(LinearOrdinalClassifierCV(random_state=0).fit(X, y), X, y)
    >>> "Of 100 rows like these" in html
    True
    """
    # These need pandas, which the core does without.
    from ._findings import find
    from ._subject import ShownRows, Subject

    estimator = model[-1] if hasattr(model, "named_steps") else model
    rows = None
    summary: dict[str, Any] = {}
    if X is not None:
        frame = _as_frame(X, estimator)
        codes = np.full(len(frame), -1)
        if y is not None:
            codes = known_codes(
                y, class_order(estimator), getattr(estimator, "missing_label", np.nan)
            )
        rows = ShownRows(frame, codes, is_training)
        if is_training and y is not None:
            counts = np.bincount(codes[codes >= 0], minlength=len(class_order(estimator)))
            names = class_names(class_order(estimator).tolist())
            summary = {
                "labeled": int((codes >= 0).sum()),
                "unlabeled": int((codes < 0).sum()),
                "class_counts": dict(zip(names, counts.tolist(), strict=True)),
            }
    subject = Subject(model, Assessment.from_estimator(estimator), rows, summary)
    findings = find(subject, random_state)
    return render_findings(findings, title, [], {"seed": str(random_state)})


def _as_frame(X: Any, estimator: Any) -> pd.DataFrame:
    import pandas as pd

    if isinstance(X, pd.DataFrame):
        return X
    values = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
    known = getattr(estimator, "feature_names_in_", None)
    names = [f"x{j}" for j in range(values.shape[1])] if known is None else list(known)
    return pd.DataFrame(values, columns=names)


def render_findings(
    findings: Findings,
    title: str,
    notes: list[str],
    details: dict[str, str],
) -> str:
    """The page of what was found, with notes on the data and how it was made."""
    from . import _data_sections as data
    from . import _driver_sections as drivers
    from . import _quality_sections as quality

    page = Page(
        title,
        quality.headline(findings),
        quality.facts(findings),
        quality.model_note(findings),
        [
            quality.errors_section(findings),
            quality.classes_section(findings),
            quality.groups_section(findings),
            drivers.drivers_section(findings),
            drivers.rows_section(findings),
            drivers.unsure_section(findings),
            quality.calibration_section(findings),
            data.unlabeled_section(findings),
            data.doubt_section(findings),
            data.data_section(findings, notes),
            data.drift_section(findings),
            data.statistics_section(findings),
        ],
        len(findings.subject.classes),
    )
    return render(page, details)
