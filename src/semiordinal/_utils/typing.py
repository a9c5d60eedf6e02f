"""Type names shared by the package."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Codes = NDArray[np.signedinteger[Any]]


class _ArrayLike(Protocol):
    """What NumPy makes an array of: arrays, columns of data frames."""

    def __array__(self, *args: Any, **settings: Any) -> Any: ...

    def __iter__(self) -> Iterator[Any]: ...


class _Splitter(Protocol):
    """scikit-learn's splitters, and ours."""

    def split(self, X: Any, y: Any = ..., groups: Any = ...) -> Iterator[Any]: ...


Numbers = Sequence[float] | _ArrayLike

# Options by name, so that type checkers find a name that is not one; tests compare them with
# the names that are accepted.
Centers = Literal["labeled", "all"] | int
ClassWeight = Mapping[Any, float] | Literal["balanced"] | None
ColumnWeights = Literal["equal", "learned"] | Numbers
Correction = Literal["none", "non_negative", "leaky", "absolute"]
Covariance = Literal["sandwich", "information"]
Criterion = Literal["surrogate", "task", "semi", "plug_in"]
CrossValidation = Literal["auto", "loo"] | int | _Splitter | Iterable[tuple[Any, Any]]
Kernel = Literal["gaussian", "laplace"]
Link = Literal["logit", "probit", "cloglog", "loglog", "cauchit"]
Loss = Literal["at", "it", "ls", "cl", "lad"]
Margin = Literal["logistic", "double_hinge", "squared", "hinge", "exponential"]
Members = Literal["auto"] | list[Any] | tuple[Any, ...]
Metric = Literal[
    "mae",
    "mze",
    "mse",
    "macro_mae",
    "max_mae",
    "off_by_one",
    "qwk",
    "kendall_tau_b",
    "somers_d",
    "concordance",
    "rps",
    "log_loss",
    "threshold_auc",
]
Penalty = Literal["coef", "function"]
RowWeighting = Literal["sampling", "counts"]
Sampling = Literal["joint", "stratified"]
Scoring = str | Callable[..., float] | None
SolverName = Literal["auto", "closed_form", "newton", "lbfgs", "interior_point", "smoothing"]
SupervisedWeights = Literal["rows", "prior"]
Task = Literal["absolute", "zero_one", "squared"]
ThresholdRule = Literal["auto", "risk", "calibrated", "prior"]
