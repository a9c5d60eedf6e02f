"""The paper's tables and figures, declared: what is compared, on what, and how it is trained.

``mode="paper"`` trains as the paper did: Adam, the leaky correction, the order penalty and the
paper's grids, of which one value is chosen on a third of the training rows; `PaperSettings` has
what the paper leaves open. ``mode="exact"`` takes the library's solvers, no correction and no
order penalty, and tunes l2 for every method alike. Grids are listed from the smoothest fit on,
since ties go to the first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..datasets import get_facts

MODES = ("exact", "paper")
LOSS_METRICS = {"at": "mae", "it": "mze", "ls": "mse"}
METRIC_NAMES = {
    "mae": "mean absolute error",
    "mze": "mean zero-one error",
    "mse": "mean squared error",
}
# Weight of the unlabelled part: the paper's γ.
_GAMMA = 0.5


@dataclass(frozen=True)
class Column:
    """A column of a table: a method with a model, trained as its family is."""

    name: str
    method: str
    family: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    in_paper: bool = True
    modes: tuple[str, ...] = MODES

    @property
    def uses_unlabeled(self) -> bool:
        return "unlabeled_weight" in self.settings


@dataclass(frozen=True)
class Training:
    """How columns of a family are trained: fixed settings, and a grid to choose from.

    Parameters
    ----------
    trainer : {"solver", "adam", "network"}
    model : str or None
        As `semiordinal.baselines._methods` names it.
    settings : mapping
    grid : mapping of str to tuple
    selection : {"hold-out", "cross-validation"}
        On a third of the training rows, by the unbiased estimate of the task error; or on
        labelled rows in five folds, by their mean task error.
    """

    trainer: str
    model: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    grid: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    selection: str = "hold-out"


@dataclass(frozen=True)
class Sizes:
    """Rows of each kind; without fixed numbers, shares of the data set as in the paper."""

    labeled: int
    unlabeled: int | None = None
    test: int | None = None

    def of(self, n_rows: int) -> tuple[int, int, int]:
        """Labelled, unlabelled and test rows of a data set of so many rows.

        Examples
        --------
        >>> Sizes(20).of(4177), Sizes(20).of(22784)
        ((20, 871, 1253), (20, 2000, 2000))
        """
        test = min(2000, 3 * n_rows // 10) if self.test is None else self.test
        unlabeled = self.unlabeled
        if unlabeled is None:
            unlabeled = min(2000, 3 * (n_rows - test - self.labeled) // 10)
        return self.labeled, unlabeled, test


@dataclass(frozen=True)
class Experiment:
    """A table or a figure.

    Parameters
    ----------
    name, title : str
    kind : {"table", "curve", "variance"}
        A table of errors, errors against the number of unlabelled rows, or variances.
    sets, losses : tuples of str
    sizes : Sizes
    three_classes : bool
        Whether classes are merged to three.
    columns : tuple of Column
    trainings : mapping
        For each mode the `Training` of every family; without modes, nothing is trained.
    unlabeled_counts : tuple of int
        For a curve: numbers of unlabelled rows, those that a set has, and all of them.
    """

    name: str
    title: str
    kind: str
    sets: tuple[str, ...]
    losses: tuple[str, ...]
    sizes: Sizes
    three_classes: bool
    columns: tuple[Column, ...] = ()
    trainings: Mapping[str, Mapping[str, Training]] = field(default_factory=dict)
    unlabeled_counts: tuple[int, ...] = ()

    @property
    def modes(self) -> tuple[str, ...]:
        return tuple(self.trainings)

    def columns_in(self, mode: str | None) -> tuple[Column, ...]:
        """Columns that the mode knows how to train."""
        if mode is None:
            return ()
        known = self.trainings[mode]
        return tuple(c for c in self.columns if c.family in known and mode in c.modes)

    def prior_of(self, name: str) -> Any:
        """Class priors of a set in this experiment: those of all its rows."""
        facts = get_facts(name)
        return facts.merged_prior if self.three_classes else facts.class_prior

    def unlabeled_counts_of(self, name: str) -> tuple[int | None, ...]:
        """Numbers of unlabelled rows to run a set with; None stands for all."""
        if not self.unlabeled_counts:
            return (None,)
        most = self.sizes.of(get_facts(name).n_rows)[1]
        return (*(n for n in self.unlabeled_counts if n < most), None)


# The column that curves divide the others by.
SUPERVISED = "SV"
_SV = Column(SUPERVISED, "SV", "linear")
_SV_PRIOR = Column("SV-prior", "SV-prior", "linear", in_paper=False)
_SEMI = {"unlabeled_weight": _GAMMA}
_SEMI1 = Column("SEMI1", "SEMI1", "linear", _SEMI)
_SEMI2 = Column("SEMI2", "SEMI2", "linear", _SEMI)
_SEMI_MEDIAN = Column(
    "SEMI-median", "SEMI-median", "linear", _SEMI, in_paper=False, modes=("exact",)
)
# The floor: the best single class for the labelled rows.
CONSTANT = "constant"
_CONSTANT = Column(CONSTANT, "constant", "constant", in_paper=False)
_LARGE_COLUMNS = (
    Column("SSMOR", "SSMOR", "graph"),
    Column("TOR", "TOR", "transductive"),
    Column("SV-Ker", "SV", "kernel"),
    Column("SEMI1-Ker", "SEMI1", "kernel", _SEMI),
    Column("SEMI2-Ker", "SEMI2", "kernel", _SEMI),
    Column("SV-NN", "SV", "network"),
    Column("SEMI1-NN", "SEMI1", "network", _SEMI),
    Column("SEMI2-NN", "SEMI2", "network", _SEMI),
    Column("SV-prior-Ker", "SV-prior", "kernel", in_paper=False),
    Column("SV-prior-NN", "SV-prior", "network", in_paper=False),
    _CONSTANT,
)

_PAPER = {"order_penalty": 10.0, "correction": "leaky", "leak": -0.2}
_PAPER_EPOCHS = {**_PAPER, "max_iter": 1000}
_PAPER_PENALTY = {"penalty": "coef"}  # of kernels: the squared norm of the coefficients
_BANDWIDTHS = (2.0, 1.0, 0.5)
_SMALL_TRAININGS = {
    "exact": {
        "linear": Training(
            "solver", "linear", {}, {"l2": (1.0, 0.3, 0.1, 0.03, 0.01)}, "cross-validation"
        ),
        "constant": Training("solver"),
    },
    "paper": {
        "linear": Training("adam", "linear", _PAPER_EPOCHS, {"l2": (1e-2, 1e-4, 1e-6)}),
        "constant": Training("solver"),
    },
}
_EXACT_KERNEL_GRID = {"bandwidth": _BANDWIDTHS, "l2": (1e-3, 1e-4, 1e-5)}
# Far below what the error on 2000 test rows can show, and three times as fast for IT.
_EXACT_KERNEL = {"tol": 1e-5, "max_iter": 300}
_LARGE_TRAININGS = {
    "exact": {
        "graph": Training("solver"),
        "transductive": Training("solver", "kernel", _EXACT_KERNEL, _EXACT_KERNEL_GRID),
        "kernel": Training(
            "solver", "kernel", {**_EXACT_KERNEL, **_PAPER_PENALTY}, _EXACT_KERNEL_GRID
        ),
        "constant": Training("solver"),
    },
    "paper": {
        "graph": Training("solver"),
        "transductive": Training("solver", "kernel", {"l2": 1e-4}, {"bandwidth": _BANDWIDTHS}),
        "kernel": Training(
            "adam",
            "kernel",
            {**_PAPER_EPOCHS, **_PAPER_PENALTY, "l2": 1e-4},
            {"bandwidth": _BANDWIDTHS},
        ),
        "network": Training(
            "network", None, {**_PAPER, "l2": 1e-4, "lr": 0.005, "max_epochs": 1000}
        ),
        "constant": Training("solver"),
    },
}

SMALL_SETS = (
    "abalone",
    "bank1-5",
    "bank2-5",
    "census1-5",
    "census2-5",
    "computer1-5",
    "computer2-5",
    "fireman-example",
    "kinematics",
    "lev",
    "swd",
    "toy",
)
LARGE_SETS = SMALL_SETS[1:9]


def _large(loss: str) -> Experiment:
    metric = METRIC_NAMES[LOSS_METRICS[loss]].capitalize()
    return Experiment(
        f"large-{loss}",
        f"{metric}, 500 labelled rows",
        "table",
        LARGE_SETS,
        (loss,),
        Sizes(500, 2000, 2000),
        three_classes=False,
        columns=_LARGE_COLUMNS,
        trainings=_LARGE_TRAININGS,
    )


EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        Experiment(
            "small",
            "Errors with three classes and 20 labelled rows, linear model",
            "table",
            SMALL_SETS,
            tuple(LOSS_METRICS),
            Sizes(20),
            three_classes=True,
            columns=(_SV, _SEMI1, _SEMI2, _SV_PRIOR, _SEMI_MEDIAN, _CONSTANT),
            trainings=_SMALL_TRAININGS,
        ),
        _large("at"),
        _large("it"),
        _large("ls"),
        Experiment(
            "variance",
            "Variance of the semi-supervised over that of the supervised risk",
            "variance",
            SMALL_SETS,
            tuple(LOSS_METRICS),
            Sizes(20),
            three_classes=True,
        ),
        Experiment(
            "unlabeled-count",
            "Error with unlabelled rows over that without, against their number",
            "curve",
            SMALL_SETS[:-1],
            tuple(LOSS_METRICS),
            Sizes(20),
            three_classes=True,
            columns=(_SV, _SEMI1, _SEMI2, _SV_PRIOR, _CONSTANT),
            trainings=_SMALL_TRAININGS,
            unlabeled_counts=(30, 100, 300, 1000),
        ),
    )
}


def get_experiment(name: str) -> Experiment:
    """The experiment of that name.

    Examples
    --------
    >>> get_experiment("large-it").losses
    ('it',)
    """
    if name not in EXPERIMENTS:
        raise ValueError(f"There is no experiment {name!r}; choose from {list(EXPERIMENTS)}.")
    return EXPERIMENTS[name]
