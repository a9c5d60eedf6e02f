"""Splits that know of unlabelled rows: these are trained on, and labelled rows held out."""

from __future__ import annotations

import math
import warnings
from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import (
    BaseCrossValidator,
    KFold,
    ShuffleSplit,
    StratifiedKFold,
    StratifiedShuffleSplit,
)

from .labels import encode_labels

Split = tuple[NDArray[np.intp], NDArray[np.intp]]


class _LabelledSplitter(BaseCrossValidator):
    """Splits the labelled rows, stratified; unlabelled rows go to every training part."""

    n_splits: int
    hold_out_unlabeled: bool
    missing_label: Any

    @abstractmethod
    def _splitter(self, stratified: bool) -> Any:
        """scikit-learn's splitter of the kind, with the same settings."""

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
        """
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
            stratified = self._splitter(stratified=True)
            labeled_splits = list(stratified.split(labeled, codes[labeled]))
        everything = np.arange(len(unlabeled))
        unlabeled_splits = [(everything, everything[:0])] * self.n_splits
        if self.hold_out_unlabeled and len(unlabeled):
            unlabeled_splits = list(self._splitter(stratified=False).split(unlabeled))
        for (train, test), (more_train, more_test) in zip(
            labeled_splits, unlabeled_splits, strict=True
        ):
            yield (
                np.sort(np.concatenate([labeled[train], always, unlabeled[more_train]])),
                np.sort(np.concatenate([labeled[test], unlabeled[more_test]])),
            )


class LabelledKFold(_LabelledSplitter):
    """K folds of the labelled rows, stratified; unlabelled rows are in every training part.

    Unlabelled rows are in no test part, so ``cross_val_predict``, which wants every row in
    one, does not take it; ``cross_val_score`` and the searches do.

    Parameters
    ----------
    n_splits : int, default=5
    shuffle : bool, default=False
    random_state : int, RandomState or None
    hold_out_unlabeled : bool, default=False
        Split the unlabelled rows too, for a scorer that uses them.
    missing_label : scalar, default=nan
        Marks rows without a label, beside NaN, None and pd.NA.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array([1, 1, 2, 2, np.nan, np.nan])
    >>> for train, test in LabelledKFold(n_splits=2).split(y[:, None], y):
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
        hold_out_unlabeled: bool = False,
        missing_label: Any = math.nan,
    ):
        self.n_splits = n_splits
        self.shuffle = shuffle
        self.random_state = random_state
        self.hold_out_unlabeled = hold_out_unlabeled
        self.missing_label = missing_label

    def _splitter(self, stratified: bool) -> Any:
        kind = StratifiedKFold if stratified else KFold
        return kind(self.n_splits, shuffle=self.shuffle, random_state=self.random_state)


class LabelledShuffleSplit(_LabelledSplitter):
    """Random splits of the labelled rows, stratified; unlabelled rows are all trained on.

    Parameters
    ----------
    n_splits : int, default=10
    test_size : float or int, default=0.25
        Share or number of the labelled rows to hold out.
    random_state : int, RandomState or None
    hold_out_unlabeled : bool, default=False
        Hold out such a share of the unlabelled rows too, for a scorer that uses them.
    missing_label : scalar, default=nan
        Marks rows without a label, beside NaN, None and pd.NA.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.r_[np.repeat([1.0, 2.0], 4), np.full(10, np.nan)]
    >>> train, test = next(LabelledShuffleSplit(random_state=0).split(y[:, None], y))
    >>> len(train), len(test), bool(np.isnan(y[test]).any())
    (16, 2, False)
    """

    def __init__(
        self,
        n_splits: int = 10,
        *,
        test_size: float = 0.25,
        random_state: Any = None,
        hold_out_unlabeled: bool = False,
        missing_label: Any = math.nan,
    ):
        self.n_splits = n_splits
        self.test_size = test_size
        self.random_state = random_state
        self.hold_out_unlabeled = hold_out_unlabeled
        self.missing_label = missing_label

    def _splitter(self, stratified: bool) -> Any:
        kind = StratifiedShuffleSplit if stratified else ShuffleSplit
        return kind(self.n_splits, test_size=self.test_size, random_state=self.random_state)
