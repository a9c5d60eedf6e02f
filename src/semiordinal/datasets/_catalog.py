"""What is known of each data set: one table, which loading and fetching check against."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .._utils.typing import Array


@dataclass(frozen=True)
class DatasetFacts:
    """Facts of a data set.

    Parameters
    ----------
    name : str
    n_features : int
    class_counts : tuple of int
        Rows of each class, in the order of the classes 1..K.
    nature : str
        Whether it was measured, rated, simulated, or made by a rule.
    source : str
        Where it comes from.
    three_classes : tuple of int, optional
        The last class of each of the three groups that the small experiments merge classes to.
    openml : int, optional
        Its id at OpenML.
    target_rule : str
        How OpenML's target becomes classes: "frequency" for groups of equal size, ties in row
        order; "quantile" for intervals between quantiles; "levels" for its own values in order.
    """

    name: str
    n_features: int
    class_counts: tuple[int, ...]
    nature: str
    source: str
    three_classes: tuple[int, int, int] | None = None
    openml: int | None = None
    target_rule: str = "frequency"

    @property
    def n_rows(self) -> int:
        return sum(self.class_counts)

    @property
    def n_classes(self) -> int:
        return len(self.class_counts)

    @cached_property
    def class_prior(self) -> Array:
        """Share of each class."""
        return np.array(self.class_counts) / self.n_rows

    @property
    def last_of_three(self) -> NDArray[np.int64]:
        """The last class of each of the three groups; an error where there is no merge."""
        if self.three_classes is None:
            raise ValueError(
                f"Data set {self.name!r} has no merge to three classes; those that have one: "
                f"{', '.join(MERGEABLE)}."
            )
        return np.array(self.three_classes)

    @cached_property
    def merged_prior(self) -> Array:
        """Share of each of the three groups of classes."""
        return np.diff(np.cumsum(self.class_prior)[self.last_of_three - 1], prepend=0.0)


def _equal(n_rows: int, n_classes: int) -> tuple[int, ...]:
    """Sizes of groups that differ by one row at most, the larger first."""
    return tuple(len(part) for part in np.array_split(np.empty(n_rows), n_classes))


_ENDS = (1, 4, 5)  # the lowest class, all between, the highest
# fmt: off
_FIREMAN = (2548, 2549, 2549, 2549, 2545, 2550, 2551, 2543,
            2548, 2551, 2546, 2547, 2550, 2546, 2551, 2545)
# fmt: on
_TORGO = "Torgo's regression sets"
_WEKA = "A. Ben-David, WEKA"

_FACTS = (
    DatasetFacts("abalone", 10, _equal(4177, 5), "measured", "UCI, rings", _ENDS, 183),
    DatasetFacts("bank1-5", 8, _equal(8192, 5), "simulated", "Delve, bank8FM", _ENDS, 572),
    DatasetFacts("bank2-5", 32, _equal(8192, 5), "simulated", "Delve, bank32nh", _ENDS, 558),
    DatasetFacts("census1-5", 8, _equal(22784, 5), "census", "Delve, house_8L", _ENDS, 218),
    DatasetFacts("census2-5", 16, _equal(22784, 5), "census", "Delve, house_16H", _ENDS, 574),
    DatasetFacts("computer1-5", 12, _equal(8192, 5), "measured", "Delve, cpu_small", _ENDS, 562),
    DatasetFacts("computer2-5", 21, _equal(8192, 5), "measured", "Delve, cpu_act", _ENDS, 197),
    DatasetFacts(
        "fireman-example",
        10,
        _FIREMAN,
        "synthetic",
        "Gagolewski; Friedman's function",
        (8, 12, 16),
        564,
        "quantile",
    ),
    DatasetFacts(
        "kinematics", 8, (1024,) * 8, "simulated", "Gagolewski; Delve, kin8nm", (3, 6, 8), 189
    ),
    DatasetFacts("lev", 4, (93, 280, 403, 197, 27), "rated", _WEKA, (1, 3, 5), 1029, "levels"),
    DatasetFacts("swd", 10, (32, 352, 399, 217), "rated", _WEKA, (2, 3, 4), 1028, "levels"),
    DatasetFacts("toy", 2, (35, 87, 79, 68, 31), "synthetic", "ORCA", _ENDS),
    DatasetFacts("diabetes-stages", 10, _equal(442, 5), "measured", "scikit-learn, bundled"),
    DatasetFacts(
        "ailerons", 39, (872, 964, 512, 575, 758, 863, 1030, 933, 647), "simulated", "Gagolewski"
    ),
    DatasetFacts("automobile", 71, (3, 22, 67, 54, 32, 27), "rated", "UCI, by ORCA"),
    DatasetFacts("balance-scale", 4, (288, 49, 288), "rule", "UCI"),
    DatasetFacts("bondrate", 37, (6, 33, 12, 5, 1), "rated", "ORCA"),
    DatasetFacts(
        "calhousing-5", 8, _equal(20640, 5), "census", f"{_TORGO}, California", openml=537
    ),
    DatasetFacts("car", 21, (1210, 384, 69, 65), "rule", "UCI, by ORCA"),
    DatasetFacts("cement-strength", 8, (196, 310, 244, 152, 96), "measured", "Gagolewski"),
    DatasetFacts(
        "era",
        4,
        (92, 142, 181, 172, 158, 118, 88, 31, 18),
        "rated",
        _WEKA,
        openml=1030,
        target_rule="levels",
    ),
    DatasetFacts(
        "esl",
        4,
        (2, 12, 38, 100, 116, 135, 62, 19, 4),
        "rated",
        _WEKA,
        openml=1027,
        target_rule="levels",
    ),
    DatasetFacts("eucalyptus", 91, (180, 107, 130, 214, 105), "rated", "WEKA, by ORCA"),
    DatasetFacts("fetal-health", 21, (1655, 295, 176), "medical", "UCI, cardiotocograms"),
    DatasetFacts("heart-cleveland", 13, (160, 54, 35, 35, 13), "medical", "UCI, heart disease"),
    DatasetFacts("machine-5", 6, _equal(209, 5), "measured", "UCI, machine CPU", openml=230),
    DatasetFacts("newthyroid", 5, (30, 150, 35), "medical", "UCI"),
    DatasetFacts("pasture", 25, (12, 12, 12), "measured", "WEKA, by ORCA"),
    DatasetFacts("skill", 18, (167, 347, 553, 811, 803, 621, 35), "measured", "UCI, SkillCraft1"),
    DatasetFacts("squash-stored", 51, (23, 21, 8), "rated", "WEKA, by ORCA"),
    DatasetFacts("squash-unstored", 52, (24, 24, 4), "rated", "WEKA, by ORCA"),
    DatasetFacts("stock-5", 9, _equal(950, 5), "measured", f"{_TORGO}, stocks", openml=223),
    DatasetFacts("tae", 54, (49, 50, 52), "rated", "UCI, by ORCA"),
    DatasetFacts("winequality-red", 11, (10, 53, 681, 638, 199, 18), "rated", "UCI"),
    DatasetFacts("winequality-white", 11, (20, 163, 1457, 2198, 880, 175, 5), "rated", "UCI"),
)

DATASETS: dict[str, DatasetFacts] = {facts.name: facts for facts in _FACTS}
MERGEABLE = tuple(facts.name for facts in _FACTS if facts.three_classes)
BUNDLED = "diabetes-stages"


def get_facts(name: str) -> DatasetFacts:
    """Facts of the data set of that name.

    Parameters
    ----------
    name : str
        One of `DATASETS`.

    Returns
    -------
    DatasetFacts

    Examples
    --------
    >>> facts = get_facts("swd")
    >>> facts.n_rows, facts.n_features, facts.class_prior, facts.merged_prior.round(3)
    (1000, 10, array([0.032, 0.352, 0.399, 0.217]), array([0.384, 0.399, 0.217]))
    """
    if name not in DATASETS:
        near = get_close_matches(str(name), DATASETS, n=1)
        hint = f"Did you mean {near[0]!r}? " if near else ""
        raise ValueError(f"There is no data set {name!r}. {hint}Choose from {', '.join(DATASETS)}.")
    return DATASETS[name]
