"""Models to average: the built-in ones, and any of scikit-learn's kind."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.impute import SimpleImputer
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import QuantileTransformer, StandardScaler
from sklearn.utils import get_tags

from .._rows import RowLabels
from .._utils.text import as_written
from .._utils.typing import Array, Codes
from .calibrated import CalibratedOrdinalClassifier
from .kernel import KernelOrdinalClassifierCV
from .linear import LinearOrdinalClassifierCV
from .model_scores import final_step, learned_from
from .trees import BoostingOrdinalClassifier, TreeOrdinalClassifier

_MOST_QUANTILES = 100


def _with_ranks(X: Any) -> Pipeline:
    """A linear model of columns and of their ranks, which takes bends that are monotone."""
    # At most half of the rows are held out, and there may not be more quantiles than rows.
    n_quantiles = min(_MOST_QUANTILES, max(2, X.shape[0] // 2))
    ranks = QuantileTransformer(n_quantiles=n_quantiles, subsample=None)
    columns = FeatureUnion([("columns", StandardScaler()), ("ranks", ranks)])
    return Pipeline(
        [("union", columns), ("linear", LinearOrdinalClassifierCV(unlabeled_weights=()))]
    )


# In the order in which they are fitted: the quick ones first, in case time runs out.
MEMBERS = {
    "linear": lambda X: LinearOrdinalClassifierCV(unlabeled_weights=()),
    "linear_ranks": _with_ranks,
    "trees": lambda X: TreeOrdinalClassifier(),
    "kernel": lambda X: KernelOrdinalClassifierCV(column_weights="learned", unlabeled_weights=()),
    "boosting": lambda X: BoostingOrdinalClassifier(),
}
# Models that were trained beforehand on many tables: package, class, and how to get it.
_FOUNDATION_MODELS = {
    "tabicl": ("tabicl", "TabICLClassifier", "pip install 'semiordinal[tabicl]'"),
    "tabpfn": (
        "tabpfn",
        "TabPFNClassifier",
        "pip install tabpfn, whose weights have a licence of their own: read it before use",
    ),
}
_MOST_KERNEL_LABELS = 3000  # the time that kernels take grows with their cube
_MOST_BOOSTED_COLUMNS = 5000  # each is sorted again for each class, in each fold


def check_members(members: Any) -> None:
    """Raise unless these are names of built-in models, models, or pairs of a name and a model."""
    if isinstance(members, str):
        if members != "auto":
            raise ValueError(
                f"members={as_written(members)} must be 'auto' or a list, such as "
                f"members=[{as_written(members)}]."
            )
        return
    if not isinstance(members, Iterable) or not (members := list(members)):
        raise ValueError(
            f"members={as_written(members)} must be 'auto', or a list of names "
            f"({', '.join(MEMBERS)}), models, or pairs (name, model)."
        )
    names = [_name_and_model(member)[0] for member in members]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise ValueError(
            f"members holds {', '.join(sorted(twice))} twice; give pairs (name, model)."
        )


def _name_and_model(member: Any) -> tuple[str, Any]:
    """The name of a member, and the model unless it is a built-in one."""
    if isinstance(member, str):
        if member in _FOUNDATION_MODELS:
            return member, _foundation_model(member)
        if member not in MEMBERS:
            known = ", ".join([*MEMBERS, *_FOUNDATION_MODELS])
            raise ValueError(f"members: {as_written(member)} is not known; choose from {known}.")
        return member, None
    name, model = member if isinstance(member, tuple) and len(member) == 2 else (None, member)
    if isinstance(model, type) or not hasattr(model, "fit") or not hasattr(model, "predict"):
        raise ValueError(f"members: {as_written(model)} must be a regressor or a classifier.")
    return str(name or type(final_step(model)).__name__), model


def _foundation_model(name: str) -> Any:
    """A model of another package, loaded by its own code."""
    package, class_name, remedy = _FOUNDATION_MODELS[name]
    try:
        return getattr(import_module(package), class_name)()
    except ImportError:
        raise ImportError(
            f"members: {name!r} needs the package {package}, which is not installed: {remedy}."
        ) from None


def build_members(members: Any, X: Any, n_labeled: int) -> tuple[dict[str, Any], dict[str, str]]:
    """Models by name, not fitted, and why some of the built-in ones are left out.

    Parameters
    ----------
    members : "auto" or list
    X : array or sparse matrix
        All rows, labelled or not.
    n_labeled : int
    """
    omitted = {}
    if isinstance(members, str):
        names = list(MEMBERS)
        if sparse.issparse(X):
            names.remove("linear_ranks")
            omitted["linear_ranks"] = "ranks of sparse columns would not be sparse"
        if n_labeled > _MOST_KERNEL_LABELS:
            names.remove("kernel")
            omitted["kernel"] = (
                f"with more than {_MOST_KERNEL_LABELS:,} labelled rows it takes long; name it in "
                "members to have it"
            )
        if X.shape[1] > _MOST_BOOSTED_COLUMNS:
            names.remove("boosting")
            omitted["boosting"] = (
                f"with more than {_MOST_BOOSTED_COLUMNS:,} columns it takes long; name it in "
                "members to have it"
            )
        members = names
    has_gaps = not sparse.issparse(X) and bool(np.isnan(X).any())
    built = {}
    for name, model in map(_name_and_model, members):
        estimator = MEMBERS[name](X) if model is None else clone(model)
        if is_regressor(estimator):  # held-out scores make probabilities of its predictions
            estimator = CalibratedOrdinalClassifier(estimator)
        if has_gaps and not get_tags(estimator).input_tags.allow_nan:
            estimator = _filling_gaps(estimator)
        built[name] = estimator
    return built, omitted


def _filling_gaps(estimator: Any) -> Pipeline:
    """The model, with gaps at the column's median and columns that say where they were."""
    filled = SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)
    return Pipeline([("gaps", filled), ("model", estimator)])


@dataclass(frozen=True)
class FittedMember:
    """A model of the classes that its training rows had."""

    model: Any  # None where these were of one class
    present: Codes
    n_classes: int

    def predict_cumulative(self, X: Any) -> Array:
        """Probabilities of each class but the last or a lower one: (n, K − 1)."""
        edge = np.zeros((X.shape[0], 1))
        inner = edge[:, :0] if self.model is None else cumulative_probabilities(self.model, X)
        steps = np.hstack([edge, inner, edge + 1])
        return steps[:, np.searchsorted(self.present, np.arange(self.n_classes - 1), "right")]


def fit_member(
    estimator: Any, X: Any, labels: RowLabels, train: Codes, n_classes: int
) -> FittedMember:
    """Fit to some of the labelled rows, and to the unlabelled ones if the model learns from them.

    Parameters
    ----------
    estimator : estimator
    X : array or sparse matrix
        All rows, labelled or not.
    labels : RowLabels
        Of all rows.
    train : array
        Positions of the labelled rows to learn from.
    n_classes : int
    """
    present, codes = np.unique(labels.codes[train], return_inverse=True)
    if len(present) == 1:
        return FittedMember(None, present, n_classes)
    rows, y, weights = learned_from(estimator, labels, train, codes)
    return FittedMember(clone(estimator).fit(X[rows], y, **weights), present, n_classes)


def cumulative_probabilities(model: Any, X: Any) -> Array:
    """P(y ≤ i) for each class but the last, by a classifier of ours or of scikit-learn's kind."""
    if hasattr(model, "predict_cumulative"):
        return model.predict_cumulative(X)
    if not is_classifier(model) or not hasattr(model, "predict_proba"):
        raise ValueError(f"{type(model).__name__} gives no probabilities of classes.")
    cumulative = np.cumsum(model.predict_proba(X), axis=1)[:, :-1]
    if not np.isfinite(cumulative).all():
        raise ValueError(f"{type(model).__name__} predicts numbers that are not finite.")
    return cumulative
