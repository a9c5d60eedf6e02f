"""A small model file of each kind, and rows to predict, for tests that change the files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import OneHotEncoder, QuantileTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from semiordinal import (
    BoostingOrdinalClassifier,
    CalibratedOrdinalClassifier,
    KernelOrdinalClassifier,
    LinearOrdinalClassifier,
    TreeOrdinalClassifier,
)
from semiordinal.model_files import save

N_ROWS = 90
CATEGORICAL = ("c", "kind")  # names of columns
CATEGORIES = ["low", "high", "none", "odd", "rare"]


def make_frame(names: Any) -> pd.DataFrame:
    """Numbers, and categories in some columns."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(N_ROWS, len(names))), columns=list(names))
    for place, name in enumerate(names):
        if name in CATEGORICAL:
            shares = [0.4, 0.3, 0.2, 0.06, 0.04]
            frame.isetitem(place, rng.choice(CATEGORIES, N_ROWS, p=shares).astype(object))
    return frame


def make_models() -> list[Any]:
    """Small fitted models with each kind of tree, of sparse rows and of categories."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, 4))
    y = np.digitize(X[:, 0] + X[:, 1] ** 2, [0.0, 1.5])
    labels = np.where(rng.random(N_ROWS) < 0.5, y, np.nan)
    gaps = np.where(rng.random(X.shape) < 0.1, np.nan, X)
    frame = make_frame("abcd")
    typed = frame.assign(c=pd.Categorical(frame["c"]))
    boosted = HistGradientBoostingClassifier(max_iter=3, min_samples_leaf=3, random_state=0)
    ranks = make_union(StandardScaler(), QuantileTransformer(n_quantiles=10))
    calibrated = CalibratedOrdinalClassifier
    regressor = HistGradientBoostingRegressor(max_iter=3, min_samples_leaf=3, loss="poisson")
    rare = OneHotEncoder(handle_unknown="infrequent_if_exist", max_categories=3, drop="first")
    return [
        calibrated(RandomForestRegressor(3, random_state=0)).fit(gaps, labels),
        TreeOrdinalClassifier(n_estimators=3, random_state=0).fit(gaps, labels),
        BoostingOrdinalClassifier(n_estimators=3, random_state=0).fit(gaps, labels),
        ExtraTreesClassifier(3, max_depth=4, random_state=0).fit(gaps, y),
        DecisionTreeClassifier(random_state=0).fit(gaps, y),
        boosted.fit(typed, y),
        make_pipeline(ranks, calibrated(regressor, random_state=0)).fit(X, labels),
        KernelOrdinalClassifier(centers=8, random_state=0).fit(sparse.csr_matrix(X), labels),
        make_pipeline(
            make_column_transformer((rare, ["c"]), remainder="passthrough"),
            LinearOrdinalClassifier(),
        ).fit(frame, labels),
    ]


def make_files(folder: Path) -> list[Path]:
    """Files of these models, and those that are kept from earlier versions."""
    files = []
    for number, model in enumerate(make_models()):
        files.append(folder / f"{number}.semiordinal")
        save(model, files[-1])
    kept = Path(__file__).with_name("model_files").glob("*.semiordinal")
    return [*files, *sorted(kept)]


def rows_for(model: Any) -> Any:
    """Rows with as many columns as the model has, and with its names."""
    first = model[0] if hasattr(model, "steps") else model
    if type(first).__name__ == "TypedColumns":
        names = first.get_feature_names_out()
        cells = [1.5, "2020-01-02", "kiwi", "yes", "rare", None, ""]
        return pd.DataFrame({name: pd.Series(cells, dtype=object)[-2:] for name in names})
    names = getattr(first, "feature_names_in_", None)
    if names is None:
        return np.random.default_rng(2).normal(size=(3, first.n_features_in_))
    frame = make_frame(names)
    if "Boosting" in repr(first):
        texts = [name for name in names if name in CATEGORICAL]
        frame = frame.astype(dict.fromkeys(texts, "category"))
    return frame
