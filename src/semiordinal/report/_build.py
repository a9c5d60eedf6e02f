"""From rows and labels to the page."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..plotting import Table
from . import _sections as sections
from ._findings import find
from ._page import Page
from ._render import render
from ._verdict import diagnosis_section


def build_report(
    X: Any,
    y: Any,
    estimator: Any,
    *,
    title: str = "Ordinal classes",
    feature_names: list[str] | None = None,
    columns: list[Table] | None = None,
    notes: list[str] | None = None,
    details: dict[str, str] | None = None,
    random_state: int = 0,
) -> str:
    """A report on a classifier and its data, as one HTML page that needs nothing else.

    Parameters
    ----------
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        Labels; NaN, None or pd.NA where a row has none.
    estimator : LinearOrdinalClassifier or KernelOrdinalClassifier, fitted or not
        The report is about its settings as they are, which are not tuned; its
        ``unlabeled_weight`` must be above zero.
    title : str
    feature_names : list of str, optional
        By default those of a data frame, or x0, x1, ...
    columns : list of Table, optional
        More about the columns, for the overview of the data.
    notes : list of str, optional
        What readers should know about the data.
    details : dict of str, optional
        How the report came about; shown at its end.
    random_state : int, default=0
        The same rows and seed give the same page, byte for byte.

    Returns
    -------
    str

    Examples
    --------
    >>> from semiordinal import LinearOrdinalClassifier
    >>> from semiordinal.datasets import load_diabetes_stages
    >>> X, stages = load_diabetes_stages()
    >>> html = build_report(X, stages, LinearOrdinalClassifier(), title="Diabetes stages")
    >>> "nothing to judge" in html
    True
    """
    if feature_names is None:
        known = getattr(X, "columns", None)
        n_features = np.shape(X)[1]
        feature_names = [f"x{j}" for j in range(n_features)] if known is None else list(known)
    findings = find(X, y, estimator, random_state)
    page = Page(
        title,
        sections.facts(findings),
        sections.model_note(findings),
        findings.diagnosis.verdict.sentence,
        findings.diagnosis.verdict.answer,
        [
            sections.errors_section(findings),
            diagnosis_section(findings.diagnosis),
            sections.comparison_section(findings),
            sections.scores_section(findings),
            sections.calibration_section(findings),
            sections.coefficients_section(findings, [str(name) for name in feature_names]),
            sections.data_section(findings, columns or [], notes or []),
        ],
        len(findings.problem.classes),
    )
    settings = {name: str(value) for name, value in findings.problem.estimator.get_params().items()}
    return render(page, {**(details or {}), "seed": str(random_state), **settings})
