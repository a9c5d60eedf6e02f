"""Whether unlabelled rows come from where the labelled rows come from.

What unlabelled rows tell rests on one identity: for every function h of x, the mean of h over
unlabelled rows is ``Σ_y π_y E_y[h]``. Both checks put it to the test with an h that was learnt
on other rows: the latent score, on which a shift of the class shares shows; and a classifier's
guess whether a row is labelled, on which every shift may show.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from scipy.stats import chi2, norm, rankdata
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold

from .._score import LinearOrdinalClassifier
from .._utils.typing import Array
from ._problem import DiagnosisProblem, Rows
from ._shares import ScoreMoments, estimated_shares

_FOLDS = 5
_FEWEST_ROWS = 10
_DRAWS = 9999
_SHRINKAGE = 5.0
_MOST_ROWS = 2000  # of each kind, for the classifier
_TREES = 50


@dataclass(frozen=True)
class PriorShift:
    """Whether the unlabelled rows hold the class shares that the risk takes for granted.

    Parameters
    ----------
    assumed : array of shape (K,)
        Shares that the risk uses: of the labels, or as given.
    estimated, low, high : arrays of shape (K,)
        Shares estimated for the unlabelled rows, with a 90 % bootstrap interval; NaN where
        there are fewer than ten labelled or unlabelled rows.
    p_value : float
        Of a chi-squared test with two degrees of freedom, for the location and the spread of
        latent scores; NaN where the rows are too few.
    labels_p_value : float
        Where the shares are given: of the hypothesis that the labels were drawn at random from
        rows with these shares, by a chi-squared test with simulated draws. Else NaN.
    """

    assumed: Array
    estimated: Array
    low: Array
    high: Array
    p_value: float
    labels_p_value: float = float("nan")

    @property
    def distance(self) -> float:
        """Total variation between the assumed and the estimated shares."""
        return float(np.abs(self.assumed - self.estimated).sum() / 2)


@dataclass(frozen=True)
class CovariateShift:
    """Whether a classifier can tell labelled from unlabelled rows.

    Parameters
    ----------
    auc : float
        Probability that it ranks a labelled row above an unlabelled one; 0.5 is guessing.
    p_value : float
        One-sided, of the hypothesis that it is guessing.
    """

    auc: float
    p_value: float


def check_prior_shift(problem: DiagnosisProblem) -> PriorShift:
    """Compare the class shares of unlabelled rows with those that the risk uses."""
    of_labels = _labels_p_value(problem) if problem.prior_is_given else float("nan")
    if _too_few(problem):
        unknown = np.full(len(problem.classes), np.nan)
        return PriorShift(problem.class_prior, unknown, unknown, unknown, float("nan"), of_labels)
    ranks = _score_ranks(problem)
    h = np.column_stack([ranks, np.abs(ranks - 0.5)])
    difference, covariance = _imbalance(problem, h, np.arange(len(problem.codes)))
    statistic = float(difference @ np.linalg.pinv(covariance) @ difference)
    p_value = float(chi2.sf(statistic, h.shape[1]))
    shares = estimated_shares(
        ScoreMoments(h, problem.codes, len(problem.classes)),
        problem.class_prior,
        covariance,
        np.random.default_rng(problem.seed + 2),
    )
    return PriorShift(problem.class_prior, *shares, p_value, of_labels)


def _labels_p_value(problem: DiagnosisProblem) -> float:
    """How often labels drawn at random would be as far from the given shares."""
    expected = problem.class_prior * len(problem.labeled)
    possible = expected > 0
    if problem.counts[~possible].any():
        return 0.0

    def distance(counts: Array) -> Array:
        of_class = (counts - expected)[..., possible] ** 2 / expected[possible]
        return np.asarray(of_class.sum(axis=-1))

    random = np.random.default_rng(problem.seed + 6)
    draws = random.multinomial(len(problem.labeled), problem.class_prior, size=_DRAWS)
    # A little less, so that draws with the very same counts are not lost by rounding.
    as_far = distance(draws.astype(float)) >= distance(problem.counts) * (1 - 1e-9)
    return float((1 + as_far.sum()) / (1 + _DRAWS))


def check_covariate_shift(problem: DiagnosisProblem) -> CovariateShift:
    """Train a forest to tell labelled from unlabelled rows, and see how it does on others."""
    if _too_few(problem):
        return CovariateShift(float("nan"), float("nan"))
    random = np.random.default_rng(problem.seed)
    rows = np.concatenate(
        [
            part if len(part) <= _MOST_ROWS else np.sort(random.permutation(part)[:_MOST_ROWS])
            for part in (problem.labeled, problem.unlabeled)
        ]
    )
    is_labeled = problem.codes[rows] >= 0
    X, weights = problem.X[rows], problem.row_weights[rows]
    ranks = np.empty(len(rows))
    splitter = StratifiedKFold(_FOLDS, shuffle=True, random_state=problem.seed)
    for train, test in splitter.split(rows, is_labeled):
        forest = ExtraTreesClassifier(
            _TREES, min_samples_leaf=5, class_weight="balanced", random_state=problem.seed
        )
        forest.fit(X[train], is_labeled[train], sample_weight=weights[train])
        ranks[test] = _uniform_ranks(forest.predict_proba(X[test])[:, 1])
    difference, covariance = _imbalance(problem, ranks[:, None], rows)
    # The mean ranks of the two parts differ by AUC − 1/2, whatever the parts' sizes.
    auc = float(np.clip(0.5 - difference[0], 0, 1))
    return CovariateShift(auc, float(norm.sf(-difference[0] / np.sqrt(covariance[0, 0]))))


def _too_few(problem: DiagnosisProblem) -> bool:
    """Whether there is too little of either kind for the tests' large-sample approximation."""
    return min(len(problem.labeled), len(problem.unlabeled)) < _FEWEST_ROWS


def _uniform_ranks(values: Array) -> Array:
    """Ranks from 0 to 1, ties in the middle."""
    ranks: Array = (rankdata(values) - 0.5) / len(values)
    return ranks


def _imbalance(problem: DiagnosisProblem, h: Array, rows: Rows) -> tuple[Array, Array]:
    """``mean_U[h] − Σ_y π_y mean_y[h]`` and its covariance if the identity holds."""
    codes = problem.codes[rows]
    unlabeled, labeled = h[codes < 0], h[codes >= 0]
    own = codes[codes >= 0]
    counts = np.bincount(own, minlength=len(problem.classes))
    if problem.prior_is_given:
        seen = np.flatnonzero(counts)
        prior = problem.class_prior[seen] / problem.class_prior[seen].sum()
        means = np.array([labeled[own == y].mean(axis=0) for y in seen])
        residual = labeled - means[np.searchsorted(seen, own)]
        within = residual.T @ residual / max(1, len(labeled) - len(seen))
        expected = prior @ means
        spread = np.atleast_2d(np.cov(unlabeled, rowvar=False)) / len(unlabeled)
        for share, y in zip(prior, seen, strict=True):
            part = residual[own == y]
            # That of a class with few rows is drawn towards that of all classes.
            mixed = (part.T @ part + _SHRINKAGE * within) / (counts[y] - 1 + _SHRINKAGE)
            spread = spread + share**2 / counts[y] * mixed
    else:
        expected = labeled.mean(axis=0)
        # If the identity holds, both parts have the same distribution.
        pooled = np.atleast_2d(np.cov(h, rowvar=False))
        spread = pooled * (1 / len(labeled) + 1 / len(unlabeled))
    return unlabeled.mean(axis=0) - expected, spread


def _score_ranks(problem: DiagnosisProblem) -> Array:
    """Ranks of latent scores by models that did not see the rows."""
    random = np.random.default_rng(problem.seed + 1)
    fold = np.empty(len(problem.codes), dtype=int)
    # Every class is spread evenly over the folds, whose models differ a little.
    order = random.permutation(len(fold))
    order = order[np.argsort(problem.codes[order], kind="stable")]
    fold[order] = np.arange(len(order)) % _FOLDS
    ranks = np.empty(len(problem.codes))
    for number in range(_FOLDS):
        test = np.flatnonzero(fold == number)
        train = problem.labeled[fold[problem.labeled] != number]
        if len(np.unique(problem.codes[train])) < 2:
            train = problem.labeled
        model = _fit_scores(problem, train)
        ranks[test] = _uniform_ranks(model.predict_latent(problem.X[test]))
    return ranks


def _fit_scores(problem: DiagnosisProblem, rows: Rows) -> LinearOrdinalClassifier:
    """A supervised fit with probabilities, whose scores bear on the class."""
    model = LinearOrdinalClassifier(unlabeled_weight=0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(problem.X[rows], problem.codes[rows])
