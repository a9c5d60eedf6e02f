"""Fits whose results are kept in ``tests/golden``: every estimator, in every way of fitting it.

All of them learn from the diabetes stages with 60 labels, or a variation of these rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from semiordinal import (
    KernelOrdinalClassifier,
    KernelOrdinalClassifierCV,
    LinearOrdinalClassifier,
    LinearOrdinalClassifierCV,
    ManifoldOrdinalClassifier,
    OrdinalSelfTraining,
    TransductiveOrdinalClassifier,
)
from semiordinal.baselines import METHODS
from semiordinal.datasets import load_diabetes_stages, mask_labels

X, TRUTH = load_diabetes_stages()
Y = mask_labels(TRUTH, 60, random_state=0)
HAS_LABEL = ~np.isnan(Y)
WEIGHTS = np.random.default_rng(0).uniform(0.5, 2.0, len(Y))
PRIOR = [0.3, 0.25, 0.2, 0.15, 0.1]
FRAME = pd.DataFrame(X, columns=[f"column {number}" for number in range(X.shape[1])])

# A way of fitting takes the estimator and an empty folder, and gives the rows to predict.
Way = Callable[[Any, Path], Any]


def all_rows(model: Any, folder: Path) -> Any:
    model.fit(X, Y)
    return X


def labels_alone(model: Any, folder: Path) -> Any:
    model.fit(X[HAS_LABEL], Y[HAS_LABEL])
    return X


def more_labels(model: Any, folder: Path) -> Any:
    """So many that they contradict the prior in part."""
    model.fit(X, mask_labels(TRUTH, 150, random_state=0))
    return X


def weighted(model: Any, folder: Path) -> Any:
    model.fit(X, Y, WEIGHTS)
    return X


def unlabeled_apart(model: Any, folder: Path) -> Any:
    model.fit(X[HAS_LABEL], Y[HAS_LABEL], X_unlabeled=X[~HAS_LABEL])
    return X


def sparse_rows(model: Any, folder: Path) -> Any:
    rows = sparse.csr_matrix(np.where(np.median(X, axis=0) < X, X, 0.0))
    model.fit(rows, Y)
    return rows


def float32_rows(model: Any, folder: Path) -> Any:
    rows = X.astype(np.float32)
    model.fit(rows, Y)
    return rows


def parquet_files(model: Any, folder: Path) -> Any:
    """Two files, several groups of rows in each."""
    for number, part in enumerate(np.array_split(np.flatnonzero(~HAS_LABEL), 2)):
        path = folder / f"part-{number}.parquet"
        FRAME.iloc[part].to_parquet(path, row_group_size=50, index=False)
    model.fit(FRAME[HAS_LABEL], Y[HAS_LABEL], X_unlabeled=folder)
    return FRAME


def function_of_blocks(model: Any, folder: Path) -> Any:
    def blocks() -> Any:
        return iter(np.array_split(X[~HAS_LABEL], 7))

    model.fit(X[HAS_LABEL], Y[HAS_LABEL], X_unlabeled=blocks)
    return X


def weighted_blocks(model: Any, folder: Path) -> Any:
    """Weighted rows in memory, some without labels, beside the blocks."""
    first = np.arange(len(X)) < 200
    model.fit(X[first], Y[first], WEIGHTS[first], X_unlabeled=lambda: iter([X[~first]]))
    return X


@dataclass(frozen=True)
class Case:
    """How to make an estimator, how to fit it, and how near its results must come."""

    make: Callable[[], Any]
    way: Way = all_rows
    packages: tuple[str, ...] = ()
    rtol: float = 1e-5


def _case(kind: Callable[..., Any], way: Way = all_rows, **settings: Any) -> Case:
    common = {"class_prior": "uniform", "random_state": 0}
    if kind in (KernelOrdinalClassifier, KernelOrdinalClassifierCV):
        common["penalty"] = "coef"
    # L-BFGS at a smoothed kink: on another kind of processor 1.5e-5 away, at the same value.
    rtol = 1e-4 if settings.get("correction") == "absolute" else 1e-5
    return Case(partial(kind, **common | settings), way, rtol=rtol)


_LINEAR, _KERNEL = partial(_case, LinearOrdinalClassifier), partial(_case, KernelOrdinalClassifier)

# The unlabelled part of the risk falls below zero, so that a correction makes a difference.
_BELOW_ZERO = {"unlabeled_weight": 1.0, "removed_class": "smallest", "class_prior": PRIOR}

PLAIN = {
    **{f"linear {loss}": _LINEAR(loss=loss) for loss in ("at", "it", "ls", "cl")},
    "linear lad, supervised": _LINEAR(loss="lad", unlabeled_weight=0.0),
    "linear at, double hinge": _LINEAR(margin="double_hinge"),
    "linear at, squared": _LINEAR(margin="squared"),
    "linear at, hinge, supervised": _LINEAR(margin="hinge", unlabeled_weight=0.0),
    "linear at, exponential, supervised": _LINEAR(margin="exponential", unlabeled_weight=0.0),
    "linear it, squared": _LINEAR(loss="it", margin="squared"),
    "linear at, paper": _LINEAR(
        unlabeled_weight=0.5, removed_class="smallest", correction="leaky", order_penalty=10.0
    ),
    **{
        f"linear {loss}, {correction}": _LINEAR(loss=loss, correction=correction, **_BELOW_ZERO)
        for loss, correction in (
            ("at", "none"),
            ("at", "non_negative"),
            ("at", "absolute"),
            ("ls", "none"),
            ("ls", "non_negative"),
            ("ls", "leaky"),
            ("ls", "absolute"),
        )
    },
    "linear at, all unlabelled": _LINEAR(unlabeled_weight=1.0),
    "linear at, labels' prior": _LINEAR(class_prior="labels", removed_class="largest"),
    "linear at, prior weights": _LINEAR(supervised_weights="prior", class_prior=PRIOR),
    "linear ls, prior weights": _LINEAR(loss="ls", supervised_weights="prior", class_prior=PRIOR),
    "linear at, labels alone": _LINEAR(labels_alone, unlabeled_weight=0.0),
    "linear at, not standardized": _LINEAR(standardize=False, l2=0.1),
    "linear at, lbfgs": _LINEAR(solver="lbfgs"),
    **{
        f"linear {loss}, {way.__name__}": _LINEAR(way, loss=loss)
        for loss in ("at", "ls", "cl")
        for way in (weighted, unlabeled_apart, sparse_rows, float32_rows)
    },
    **{f"kernel {loss}": _KERNEL(loss=loss) for loss in ("at", "it", "ls", "cl")},
    "kernel at, function": _KERNEL(penalty="function"),
    "kernel ls, function, weighted": _KERNEL(weighted, loss="ls", penalty="function"),
    "kernel at, double hinge": _KERNEL(margin="double_hinge"),
    "kernel ls, absolute": _KERNEL(loss="ls", correction="absolute", **_BELOW_ZERO),
    "kernel at, prior weights": _KERNEL(supervised_weights="prior", class_prior=PRIOR),
    "kernel at, all centers": _KERNEL(centers="all", bandwidth=2.0),
    "kernel at, 40 centers": _KERNEL(centers=40, bandwidth=0.5),
    **{
        f"kernel at, {way.__name__}": _KERNEL(way)
        for way in (weighted, unlabeled_apart, sparse_rows, float32_rows)
    },
}

_SMALL_SEARCH = {
    "l2s": (1.0, 0.1, 0.01),
    "unlabeled_weights": (0.1, 0.5),
    "cv": 3,
    "n_repeats": 1,
}
_TUNED = {
    "linear": partial(_case, LinearOrdinalClassifierCV, **_SMALL_SEARCH),
    "kernel": partial(
        _case, KernelOrdinalClassifierCV, **_SMALL_SEARCH | {"bandwidths": (0.5, 2.0)}
    ),
}
_SEARCHES: dict[str, dict[str, Any]] = {
    **{f"{loss}, uniform prior": {"loss": loss} for loss in ("at", "it", "ls", "cl")},
    **{
        f"{loss}, given prior": {"loss": loss, "class_prior": PRIOR, "way": more_labels}
        for loss in ("at", "it", "ls", "cl")
    },
    **{
        f"{loss}, labels' prior": {"loss": loss, "class_prior": "labels"}
        for loss in ("at", "it", "ls", "cl")
    },
    **{
        f"{loss}, estimated prior": {"loss": loss, "class_prior": "estimate"}
        for loss in ("at", "ls")
    },
    # One Newton step for each row, one exact formula, and one fit for each row.
    "at, leave one out": {"cv": "loo"},
    "at squared, leave one out": {"cv": "loo", "margin": "squared"},
    "ls, leave one out": {"cv": "loo", "loss": "ls"},
    "it, leave one out": {
        "cv": "loo",
        "loss": "it",
        "l2s": (0.1,),
        "bandwidths": (1.0,),
        "unlabeled_weights": (),
    },
    **{
        f"{loss}, {thresholds} thresholds": {"loss": loss, "thresholds": thresholds}
        for loss in ("at", "ls")
        for thresholds in ("risk", "calibrated", "prior")
    },
    **{
        f"{loss}, {criterion} criterion": {"loss": loss, "criterion": criterion, "safety": 0.0}
        for loss in ("at", "it")
        for criterion in ("surrogate", "task", "semi", "plug_in")
    },
    "at, removed classes, leaky": {
        "removed_classes": ("smallest", "median", 5),
        "correction": "leaky",
        "safety": 0.0,
    },
    "at, prior weights": {"supervised_weights": "prior", "class_prior": PRIOR},
    "at, weighted": {"way": weighted, "safety": 0.0},
    "ls, weighted, leave one out": {"way": weighted, "loss": "ls", "cv": "loo"},
    "at, unlabeled_apart": {"way": unlabeled_apart},
    "at, labels_alone": {"way": labels_alone},
    "at, sparse_rows": {"way": sparse_rows},
    "at, float32_rows": {"way": float32_rows},
}


def _searches(model: str) -> dict[str, Case]:
    usable = {
        name: {k: v for k, v in search.items() if k != "bandwidths" or model == "kernel"}
        for name, search in _SEARCHES.items()
    }
    return {f"{model} {name}": _TUNED[model](**search) for name, search in usable.items()}


TUNED = {
    **_searches("linear"),
    "linear at, default search": _case(LinearOrdinalClassifierCV),
    **_searches("kernel"),
    "kernel at, default search": _case(KernelOrdinalClassifierCV),
    "kernel at, function": _TUNED["kernel"](penalty="function"),
    "kernel ls, function, given prior": _TUNED["kernel"](
        penalty="function", loss="ls", class_prior=PRIOR
    ),
}

STREAMS = {
    **{
        f"{name} {loss}, {way.__name__}, {most} rows": case(way, loss=loss, max_unlabeled=most)
        for name, case in (("linear", _LINEAR), ("kernel", _KERNEL))
        for loss in ("at", "ls")
        for way in (parquet_files, function_of_blocks)
        for most in (None, 150)
    },
    "linear at, weighted_blocks": _LINEAR(weighted_blocks),
    "linear ls, weighted_blocks": _LINEAR(weighted_blocks, loss="ls"),
    "linear cl, parquet_files": _LINEAR(parquet_files, loss="cl"),
    "kernel at, function, parquet_files": _KERNEL(parquet_files, penalty="function"),
    "linear ls, absolute, parquet_files": _LINEAR(
        parquet_files, loss="ls", correction="absolute", **_BELOW_ZERO
    ),
    "linear at, unlabeled_apart, 150 rows": _LINEAR(unlabeled_apart, max_unlabeled=150),
}


def _network(**settings: Any) -> Any:
    from semiordinal import NeuralOrdinalClassifier

    shared = {"max_epochs": 15, "class_prior": "uniform", "random_state": 0}
    return NeuralOrdinalClassifier(**shared | settings)


def _network_case(way: Way = all_rows, **settings: Any) -> Case:
    return Case(partial(_network, **settings), way, ("torch", "skorch"), 1e-3)


NETWORKS = {
    **{loss: _network_case(loss=loss) for loss in ("at", "it", "ls", "cl", "lad")},
    "at, paper": _network_case(
        unlabeled_weight=0.5, removed_class="smallest", order_penalty=10.0, max_epochs=30
    ),
    "at, batches": _network_case(batch_size=64),
    "at, early stopping": _network_case(early_stopping=True, patience=3, max_epochs=30, lr=0.05),
    "at, descent-ascent": _network_case(
        correction="non_negative", correction_step="descent_ascent", unlabeled_weight=1.0, lr=0.05
    ),
    "at, weighted": _network_case(weighted),
    "at, SGD, unlabeled_apart": _network_case(
        unlabeled_apart, optimizer="SGD", module_params={"n_hidden": 16}
    ),
}

BASELINES = {
    **{
        f"transductive {model} {loss}": _case(
            TransductiveOrdinalClassifier, model=model, loss=loss, class_prior=PRIOR
        )
        for model in ("linear", "kernel")
        for loss in ("at", "ls")
    },
    "transductive, unlabeled_apart": _case(TransductiveOrdinalClassifier, unlabeled_apart),
    "manifold": Case(ManifoldOrdinalClassifier),
    "manifold, given prior": Case(
        partial(ManifoldOrdinalClassifier, class_prior=PRIOR, n_neighbors=5), unlabeled_apart
    ),
    "self-training": Case(
        lambda: OrdinalSelfTraining(LinearOrdinalClassifier(unlabeled_weight=0.0))
    ),
    "self-training, semi-supervised kernel": Case(
        lambda: OrdinalSelfTraining(KernelOrdinalClassifier(loss="ls", penalty="coef"), n_rounds=4)
    ),
}

_CHEAP = {"l2s": (1.0, 0.01), "cv": 3, "n_repeats": 1}


def _method_case(name: str, model: str) -> Case:
    method = METHODS[name]
    is_tuned = name.endswith("-CV") or name in ("SV-calibrated", "tuned")
    settings = {"model": model, "class_prior": PRIOR, "random_state": 0}
    if model == "kernel" and name != "TOR":
        settings["penalty"] = "coef"
    make = partial(method.build, **settings, **_CHEAP if is_tuned else {})
    return Case(make, packages=(method.package,) if method.package else ())


BY_METHOD = {
    f"{name} {model}": _method_case(name, model)
    for name, method in METHODS.items()
    for model in method.models
}

CASES = {
    "plain": PLAIN,
    "tuned": TUNED,
    "streams": STREAMS,
    "networks": NETWORKS,
    "baselines": BASELINES,
    "methods": BY_METHOD,
}
