"""Tools of scikit-learn that take an estimator, each run on targets of several kinds.

``python tests/scikit_learn_tools.py`` writes what comes out into docs/scikit-learn.md.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import sklearn
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.feature_selection import RFE, RFECV, SelectFromModel, SequentialFeatureSelector
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    KFold,
    RandomizedSearchCV,
    cross_val_predict,
    cross_val_score,
    learning_curve,
    permutation_test_score,
    validation_curve,
)
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from semiordinal import LinearOrdinalClassifier
from semiordinal.model_selection import LabeledKFold, OrdinalScorer

PAGE = Path(__file__).parents[1] / "docs" / "scikit-learn.md"
START, END = "<!-- table: start -->", "<!-- table: end -->"
NAMES = ["poor", "fair", "good"]  # not their alphabetical order
N_ROWS, N_LABELED = 90, 48
KINDS = {
    "names": 'names, with `classes=["poor", "fair", "good"]`',
    "categorical": "an ordered categorical, without `classes`",
    "nan": "numbers, NaN for rows without a label",
    "minus_one": "numbers, −1 for rows without a label, and `missing_label=-1`",
    "x_unlabeled": "numbers, and rows without a label in `X_unlabeled`, by metadata routing",
}


class Watched(LinearOrdinalClassifier):
    """Notes from how many unlabelled rows each fit learned."""

    seen: list[int] = []  # noqa: RUF012 (of all copies together)

    def fit(self, X: Any, y: Any, sample_weight: Any = None, X_unlabeled: Any = None) -> Any:
        found = super().fit(X, y, sample_weight=sample_weight, X_unlabeled=X_unlabeled)
        Watched.seen.append(found.n_unlabeled_)
        return found


@dataclass
class Case:
    """A target, and what goes with it."""

    X: Any
    y: Any
    model: Any
    fit: dict[str, Any] = field(default_factory=dict)  # more arguments of fit
    cv: Any = 2
    scoring: Any = None

    def codes(self, labels: Any) -> Any:
        """Labels, or columns of classes, as positions in the class order."""
        codes = np.array([NAMES.index(x) if isinstance(x, str) else int(x) for x in labels])
        assert (codes >= 0).all(), "a class was made of missing labels"
        return codes

    def predicted(self, fitted: Any) -> Any:
        return self.codes(fitted.predict(self.X))

    def in_order(self, columns: Any, classes: Any) -> Any:
        """Columns from the lowest class to the highest."""
        return columns[:, np.argsort(self.codes(classes))]

    def both(self, fitted: Any) -> Any:
        """Predictions and probabilities."""
        probabilities = self.in_order(fitted.predict_proba(self.X), fitted.classes_)
        return np.column_stack([self.predicted(fitted), probabilities])


def _rows() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, 3))
    return X, np.digitize(X @ [1.5, -1.0, 0.0] + rng.logistic(size=N_ROWS), [-1.0, 1.0])


def case(kind: str) -> Case:
    """A target of a kind; of "numbers", which the others are compared to."""
    X, y = _rows()
    model = Watched(unlabeled_weight=0.3)
    if kind == "numbers":
        return Case(X, y, model)
    if kind == "names":
        return Case(X, np.array(NAMES)[y], model.set_params(classes=NAMES))
    if kind == "categorical":
        return Case(X, pd.Series(pd.Categorical.from_codes(y, NAMES, ordered=True)), model)
    labeled = np.random.default_rng(1).permutation(N_ROWS) < N_LABELED
    scoring = OrdinalScorer("mae")
    if kind == "nan":
        return Case(X, np.where(labeled, y, np.nan), model, cv=LabeledKFold(2), scoring=scoring)
    if kind == "minus_one":
        marked = model.set_params(missing_label=-1)
        folds = LabeledKFold(2, missing_label=-1)
        return Case(X, np.where(labeled, y, -1), marked, cv=folds, scoring=scoring)
    model.set_fit_request(X_unlabeled=True)
    return Case(X[labeled], y[labeled], model, {"X_unlabeled": X[~labeled]}, scoring=scoring)


TOOLS: dict[str, Callable[[Case], Any]] = {}


def tool(name: str) -> Callable[[Callable[[Case], Any]], None]:
    def keep(function: Callable[[Case], Any]) -> None:
        TOOLS[name] = function

    return keep


def _scored(scoring: Any) -> Callable[[Case], Any]:
    return lambda case: cross_val_score(
        case.model,
        case.X,
        case.y,
        cv=case.cv,
        scoring=scoring or case.scoring,
        params=case.fit or None,
        error_score="raise",
    )


TOOLS["`cross_val_score`"] = _scored(None)
for _name in ("accuracy", "roc_auc_ovr", "neg_log_loss"):
    TOOLS[f'`cross_val_score`, `scoring="{_name}"`'] = _scored(_name)
for _name in ("mae", "log_loss", "rps", "threshold_auc"):
    TOOLS[f'`cross_val_score`, `OrdinalScorer("{_name}")`'] = _scored(OrdinalScorer(_name))


@tool("`cross_val_predict`")
def _(case: Case) -> Any:
    cv = KFold(2)
    return case.codes(cross_val_predict(case.model, case.X, case.y, cv=cv, params=case.fit or None))


def _columns(method: str) -> Callable[[Case], Any]:
    def run(case: Case) -> Any:
        found = cross_val_predict(
            case.model, case.X, case.y, cv=KFold(2), method=method, params=case.fit or None
        )
        labels = case.y[~pd.isna(case.y)]
        return case.in_order(found, np.unique(labels[labels != -1]))

    return run


TOOLS['`cross_val_predict`, `method="predict_proba"`'] = _columns("predict_proba")
TOOLS['`cross_val_predict`, `method="decision_function"`'] = _columns("decision_function")


def _searched(search: Any, **settings: Any) -> Callable[[Case], Any]:
    def run(case: Case) -> Any:
        found = search(
            case.model,
            {"l2": [0.001, 10.0]},
            cv=case.cv,
            scoring=case.scoring,
            error_score="raise",
            **settings,
        )
        found.fit(case.X, case.y, **case.fit)
        return [*found.cv_results_["mean_test_score"], *case.both(found).ravel()]

    return run


TOOLS["`GridSearchCV`"] = _searched(GridSearchCV)
TOOLS["`RandomizedSearchCV`"] = _searched(RandomizedSearchCV, n_iter=2, random_state=0)
TOOLS["`HalvingGridSearchCV`"] = _searched(HalvingGridSearchCV, min_resources=40, random_state=0)


@tool("`learning_curve`")
def _(case: Case) -> Any:
    return learning_curve(
        case.model,
        case.X,
        case.y,
        train_sizes=[0.7, 1.0],
        cv=case.cv,
        scoring=case.scoring,
        params=case.fit or None,
        error_score="raise",
    )[2]


@tool("`validation_curve`")
def _(case: Case) -> Any:
    return validation_curve(
        case.model,
        case.X,
        case.y,
        param_name="l2",
        param_range=[0.001, 1.0],
        cv=case.cv,
        scoring=case.scoring,
        params=case.fit or None,
        error_score="raise",
    )[1]


@tool("`permutation_test_score`")
def _(case: Case) -> Any:
    found = permutation_test_score(
        case.model,
        case.X,
        case.y,
        cv=case.cv,
        scoring=case.scoring,
        n_permutations=2,
        params=case.fit or None,
        random_state=0,
    )
    return found[0]


@tool("`Pipeline`")
def _(case: Case) -> Any:
    settings = {"transform_input": ["X_unlabeled"]} if case.fit else {}
    return case.both(
        make_pipeline(StandardScaler(), case.model, **settings).fit(case.X, case.y, **case.fit)
    )


def _fitted(make: Callable[[Case], Any], probabilities: bool = True) -> Callable[[Case], Any]:
    def run(case: Case) -> Any:
        fitted = make(case).fit(case.X, case.y, **case.fit)
        return case.both(fitted) if probabilities else case.predicted(fitted)

    return run


TOOLS["`VotingClassifier`"] = _fitted(
    lambda case: VotingClassifier([("a", case.model), ("b", clone(case.model))]), False
)
TOOLS['`VotingClassifier`, `voting="soft"`'] = _fitted(
    lambda case: VotingClassifier([("a", case.model), ("b", clone(case.model))], voting="soft")
)
TOOLS["`StackingClassifier`"] = _fitted(
    lambda case: StackingClassifier([("a", case.model)], LogisticRegression(), cv=2), False
)
TOOLS["`BaggingClassifier`"] = _fitted(
    lambda case: BaggingClassifier(case.model, n_estimators=3, random_state=0)
)
TOOLS["`AdaBoostClassifier`"] = _fitted(
    lambda case: AdaBoostClassifier(case.model, n_estimators=2, random_state=0)
)
TOOLS["`CalibratedClassifierCV`"] = _fitted(
    lambda case: CalibratedClassifierCV(case.model, cv=case.cv)
)
TOOLS["`OneVsRestClassifier`"] = _fitted(lambda case: OneVsRestClassifier(case.model), False)
TOOLS["`OneVsOneClassifier`"] = _fitted(lambda case: OneVsOneClassifier(case.model), False)


def _selected(make: Callable[[Case], Any]) -> Callable[[Case], Any]:
    return lambda case: make(case).fit(case.X, case.y, **case.fit).get_support()


TOOLS["`RFE`"] = _selected(lambda case: RFE(case.model, n_features_to_select=1))
TOOLS["`RFECV`"] = _selected(lambda case: RFECV(case.model, cv=case.cv, scoring=case.scoring))
TOOLS["`SelectFromModel`"] = _selected(lambda case: SelectFromModel(case.model))
TOOLS["`SequentialFeatureSelector`"] = _selected(
    lambda case: SequentialFeatureSelector(
        case.model, n_features_to_select=1, cv=case.cv, scoring=case.scoring
    )
)


@tool("`permutation_importance`")
def _(case: Case) -> Any:
    fitted = case.model.fit(case.X, case.y, **case.fit)
    found = permutation_importance(fitted, case.X, case.y, n_repeats=1, random_state=0)
    return found["importances"]


@tool("`partial_dependence`")
def _(case: Case) -> Any:
    fitted = case.model.fit(case.X, case.y, **case.fit)
    found = partial_dependence(fitted, case.X, [0], grid_resolution=4)["average"]
    return case.in_order(found.reshape(len(found), -1).T, fitted.classes_)


@dataclass
class Outcome:
    """The result of a tool, or its error; and what was warned of."""

    result: Any = None
    error: Exception | None = None
    warned: tuple[str, ...] = ()
    seen: tuple[int, ...] = ()  # unlabelled rows in each fit


def outcome(name: str, kind: str) -> Outcome:
    """Run a tool on a target."""
    Watched.seen.clear()
    with (
        warnings.catch_warnings(record=True) as caught,
        sklearn.config_context(enable_metadata_routing=kind == "x_unlabeled"),
    ):
        warnings.simplefilter("always")
        try:
            result, error = np.asarray(TOOLS[name](case(kind)), dtype=float), None
        except Exception as problem:
            result, error = None, problem
    told = tuple(str(each.message) for each in caught)
    return Outcome(result, error, told, tuple(Watched.seen))


# What errors and warnings say, and what the page says of them.
NOTES = {
    "Set the classifier's classes=[...]": "error (1)",
    "the others by X_unlabeled": "error (2)",
    "give it numbers in the class order": "error (3)",
    "Rows without a label must go through the same steps": "error (4)",
    "set classes=[...] from the lowest": "warning (5)",
    "Input y contains NaN": "refused (6)",
    "unexpected keyword argument 'X_unlabeled'": "refused (7)",
}


def note(text: str) -> str:
    """The note on an error or a warning; "wrong" where there is none that names a remedy."""
    return next((told for said, told in NOTES.items() if said in text), f"wrong: {text}")


def cell(name: str, kind: str, reference: Any) -> str:
    """What the page says of a tool on a target; something with "wrong" where it must not be."""
    found = outcome(name, kind)
    if found.error is not None:
        return note(str(found.error))
    if not np.isfinite(found.result).all():
        return f"wrong: NaN, {found.warned}"
    if kind in ("names", "categorical"):
        is_same = np.allclose(found.result, reference, atol=1e-9)
        return "same" if is_same else note(" ".join(found.warned))
    expected = {N_ROWS - N_LABELED} if kind == "x_unlabeled" else set(range(1, N_ROWS))
    return "yes" if found.seen and set(found.seen) <= expected else f"wrong: learned {found.seen}"


def row(name: str) -> str:
    """The line of the table for a tool."""
    reference = outcome(name, "numbers")
    if reference.error is not None:
        raise reference.error
    cells = [cell(name, kind, reference.result) for kind in KINDS]
    return f"| {name} | {' | '.join(cells)} |"


def table_on_page() -> list[str]:
    return PAGE.read_text().partition(START)[2].partition(END)[0].strip().splitlines()


HEAD = [f"| | {' | '.join(KINDS.values())} |", f"|---{'|---' * len(KINDS)}|"]


if __name__ == "__main__":
    before, _, rest = PAGE.read_text().partition(START)
    lines = [START, *HEAD, *(row(name) for name in TOOLS), END]
    PAGE.write_text(before + "\n".join(lines) + rest.partition(END)[2])
