"""Splitters that know of unlabelled rows, which go where scikit-learn takes a ``cv``."""

from __future__ import annotations

import math
import warnings
from abc import abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import (
    BaseCrossValidator,
    KFold,
    PredefinedSplit,
    ShuffleSplit,
    StratifiedGroupKFold,
    StratifiedKFold,
    StratifiedShuffleSplit,
)
from sklearn.utils import check_random_state

from .._rows.labels import encode_labels
from .._utils.typing import Codes
from .._utils.warning import warn_caller

Split = tuple[NDArray[np.intp], NDArray[np.intp]]


class _LabeledSplitter(BaseCrossValidator):
    """Splits the labelled rows, stratified; unlabelled rows go to every training part."""

    n_splits: int
    split_unlabeled: bool
    missing_label: Any

    @abstractmethod
    def _splitter(self, stratified: bool) -> Any:
        """scikit-learn's splitter of the kind, with the same settings."""

    def _stratified_splits(self, codes: Codes) -> list[Split]:
        """Of labelled rows."""
        return list(self._splitter(stratified=True).split(codes, codes))

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """The number of splits."""
        return self.n_splits

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[Split]:
        """Yield training and test rows, by ascending index.

        Parameters
        ----------
        X : array-like with n_samples rows
        y : array-like of shape (n_samples,)
            Labels, missing where a row has none.
        groups : ignored
            With a warning; `LabeledGroupKFold` keeps them together.
        """
        if groups is not None:
            warn_caller(
                f"{type(self).__name__} ignores groups. Use LabeledGroupKFold to keep the rows of "
                "a group together.",
                UserWarning,
            )
        codes = encode_labels(y, None, self.missing_label, order_matters=False).codes
        labeled, unlabeled = np.flatnonzero(codes >= 0), np.flatnonzero(codes < 0)
        # The only row of a class is always trained on: without it the class is not known.
        lonely = np.bincount(codes[labeled])[codes[labeled]] < 2
        always, labeled = labeled[lonely], labeled[~lonely]
        if not len(labeled):
            raise ValueError(
                "No class has two labelled rows in y, so none can be held out. Label more rows."
            )
        with warnings.catch_warnings():
            # A class with fewer rows than folds is in no test part of some: no harm here.
            warnings.filterwarnings("ignore", message="The least populated class")
            labeled_splits = self._stratified_splits(codes[labeled])
        everything = np.arange(len(unlabeled))
        unlabeled_splits = [(everything, everything[:0])] * self.n_splits
        if self.split_unlabeled and len(unlabeled):
            unlabeled_splits = list(self._splitter(stratified=False).split(unlabeled))
        for (train, test), (more_train, more_test) in zip(
            labeled_splits, unlabeled_splits, strict=True
        ):
            yield (
                np.sort(np.concatenate([labeled[train], always, unlabeled[more_train]])),
                np.sort(np.concatenate([labeled[test], unlabeled[more_test]])),
            )


class LabeledKFold(_LabeledSplitter):
    """K folds of the labelled rows, stratified; unlabelled rows are in every training part.

    Unlabelled rows are in no test part, so ``cross_val_predict``, which wants every row in
    one, does not take it; ``cross_val_score`` and the searches do.

    Parameters
    ----------
    n_splits : int, default=5
        It may exceed the rows of each class, which are then all in different test parts.
    shuffle : bool, default=False
    random_state : int, RandomState or None
    split_unlabeled : bool, default=False
        Split the unlabelled rows too, for a scorer that uses them.
    missing_label : scalar, default=nan
        Marks rows without a label, beside NaN, None and pd.NA.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array([1, 1, 2, 2, np.nan, np.nan])
    >>> for train, test in LabeledKFold(n_splits=2).split(y[:, None], y):
    ...     print(train, test)
    [1 3 4 5] [0 2]
    [0 2 4 5] [1 3]
    """

    def __init__(
        self,
        n_splits: int = 5,
        *,
        shuffle: bool = False,
        random_state: Any = None,
        split_unlabeled: bool = False,
        missing_label: Any = math.nan,
    ):
        self.n_splits = n_splits
        self.shuffle = shuffle
        self.random_state = random_state
        self.split_unlabeled = split_unlabeled
        self.missing_label = missing_label

    def _splitter(self, stratified: bool) -> Any:
        kind = StratifiedKFold if stratified else KFold
        return kind(self.n_splits, shuffle=self.shuffle, random_state=self.random_state)

    def _stratified_splits(self, codes: Codes) -> list[Split]:
        if not np.bincount(codes).max() < self.n_splits <= len(codes):
            return super()._stratified_splits(codes)
        # scikit-learn wants a class with as many rows as folds, though it deals out the rows
        # of all classes in turn too.
        order = np.arange(len(codes))
        if self.shuffle:
            order = check_random_state(self.random_state).permutation(order)
        fold = np.empty(len(codes), dtype=np.intp)
        fold[order[np.argsort(codes[order], kind="stable")]] = np.arange(len(codes)) % self.n_splits
        return list(PredefinedSplit(fold).split())


def most_folds(counts: Iterable[int]) -> int:
    """Into how many folds the labelled rows of classes can be dealt: as many as can be held out.

    The only row of a class cannot.

    Examples
    --------
    >>> most_folds([2, 3, 1])
    5
    """
    return int(sum(count for count in counts if count > 1))


class LabeledGroupKFold(BaseCrossValidator):
    """K folds of the labelled rows, in which the rows of a group are never apart.

    Classes have about the same shares in all folds, as far as groups allow. Unlabelled rows are
    in every training part but those of the groups that are held out: they would tell of them.

    Parameters
    ----------
    n_splits : int, default=5
    shuffle : bool, default=False
    random_state : int, RandomState or None
    split_unlabeled : bool, default=False
        Hold out the unlabelled rows of these groups too, for a scorer that uses them; else they
        are in neither part.
    missing_label : scalar, default=nan
        Marks rows without a label, beside NaN, None and pd.NA.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array([1, 1, 2, 2, 1, np.nan])
    >>> patient = np.array(["a", "b", "a", "b", "a", "c"])
    >>> for train, test in LabeledGroupKFold(n_splits=2).split(y[:, None], y, patient):
    ...     print(train, test)
    [1 3 5] [0 2 4]
    [0 2 4 5] [1 3]
    """

    def __init__(
        self,
        n_splits: int = 5,
        *,
        shuffle: bool = False,
        random_state: Any = None,
        split_unlabeled: bool = False,
        missing_label: Any = math.nan,
    ):
        self.n_splits = n_splits
        self.shuffle = shuffle
        self.random_state = random_state
        self.split_unlabeled = split_unlabeled
        self.missing_label = missing_label

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """The number of splits."""
        return self.n_splits

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[Split]:
        """Yield training and test rows, by ascending index.

        Parameters
        ----------
        X : array-like with n_samples rows
        y : array-like of shape (n_samples,)
            Labels, missing where a row has none.
        groups : array-like of shape (n_samples,)
            The group of each row.
        """
        codes = encode_labels(y, None, self.missing_label, order_matters=False).codes
        if groups is None or len(groups) != len(codes):
            raise ValueError("LabeledGroupKFold needs groups, one for each row.")
        of_row = np.unique(np.asarray(groups), return_inverse=True)[1]
        labeled = np.flatnonzero(codes >= 0)
        folds = StratifiedGroupKFold(
            self.n_splits, shuffle=self.shuffle, random_state=self.random_state
        )
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="The least populated class")
            splits = list(folds.split(labeled, codes[labeled], of_row[labeled]))
        for _, test in splits:
            held_out = np.isin(of_row, of_row[labeled[test]])
            tested = held_out if self.split_unlabeled else held_out & (codes >= 0)
            yield np.flatnonzero(~held_out), np.flatnonzero(tested)


class LabeledShuffleSplit(_LabeledSplitter):
    """Random splits of the labelled rows, stratified; unlabelled rows are all trained on.

    Parameters
    ----------
    n_splits : int, default=10
    test_size : float or int, default=0.25
        Share or number of the labelled rows to hold out.
    random_state : int, RandomState or None
    split_unlabeled : bool, default=False
        Hold out such a share of the unlabelled rows too, for a scorer that uses them.
    missing_label : scalar, default=nan
        Marks rows without a label, beside NaN, None and pd.NA.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.r_[np.repeat([1.0, 2.0], 4), np.full(10, np.nan)]
    >>> train, test = next(LabeledShuffleSplit(random_state=0).split(y[:, None], y))
    >>> len(train), len(test), bool(np.isnan(y[test]).any())
    (16, 2, False)
    """

    def __init__(
        self,
        n_splits: int = 10,
        *,
        test_size: float = 0.25,
        random_state: Any = None,
        split_unlabeled: bool = False,
        missing_label: Any = math.nan,
    ):
        self.n_splits = n_splits
        self.test_size = test_size
        self.random_state = random_state
        self.split_unlabeled = split_unlabeled
        self.missing_label = missing_label

    def _splitter(self, stratified: bool) -> Any:
        kind = StratifiedShuffleSplit if stratified else ShuffleSplit
        return kind(self.n_splits, test_size=self.test_size, random_state=self.random_state)
