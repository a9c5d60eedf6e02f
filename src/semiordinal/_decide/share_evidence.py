"""What labels and unlabelled rows say of class shares: given ones, and how labels were drawn.

Labels may be a random draw of the rows or collected class by class, and given shares right or
wrong. That makes four cases, told apart by two observations:

- the labels' counts. A random draw has the shares of the rows; labels that were collected class
  by class have any counts, often equal ones.
- the mean of functions h of the scores over unlabelled rows, which is ``Σ_y π_y E_y[h]`` for
  their true shares π. Labelled rows estimate E_y[h] however they were drawn.

Each case predicts both, and what it says of shares that it leaves open is averaged over all
shares alike (a flat Dirichlet distribution). So the cases have probabilities, which say how far
given shares can be trusted, and the shares to use instead where they cannot.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, gammaln, logsumexp

from .._rows.class_shares import is_estimated, is_of_labels
from .._utils.typing import Array, Codes
from .offsets import offsets_at_shares, trust_in_shares
from .share_moments import ShareEstimate, class_moments, leading_functions

# How common the cases are thought to be before the rows are looked at. Shares that users know
# are mostly right; where they do not fit, either explanation is about as common.
_RANDOM, _RIGHT = 0.7, 0.9
_CERTAIN = 0.95  # a probability from here on counts as one
_EQUAL = 0.85  # how often as many labels of each class are asked for, if collected class by class
_FULL = 0.75  # how many classes have rows enough, where as many of each are asked for
_SAME = 0.25  # how often the rows have the labels' shares even then, as where classes are quantiles
ASK_FOR_SHARES = "If you know the class shares of all rows, give them (class_prior, --class-prior)"
_WITHOUT_SHARES = (
    f" {ASK_FOR_SHARES}; 'estimate' estimates them. Until then, errors are those of rows with the "
    "labels' shares."
)
WITHOUT_UNLABELED = "The class shares change no prediction, since there are no unlabelled rows."
NOT_ESTIMATED = "The class shares cannot be estimated, since there are no unlabelled rows."
_WITHOUT_HELD_OUT = (
    "The class shares change no prediction, since no labelled row could be held out."
)


@dataclass(frozen=True)
class ShareEvidence:
    """Probabilities of the cases, and the class shares that follow.

    Parameters
    ----------
    given : array of shape (K,) or None
        Class shares that the user gave.
    of_labels : array of shape (K,)
        Those of the labelled rows.
    estimate : ShareEstimate
        Those of the unlabelled rows.
    log_evidence : dict
        For each case, a pair of whether labels are a random draw and whether given shares are
        right: the logarithm of its probability, up to a constant.
    same_by_class : float
        The probability that the rows have the shares of labels that were collected class by
        class, where given shares are wrong, or none are given.
    as_many_of_each : bool
        Whether all classes have as many labels, or one fewer.
    """

    given: Array | None
    of_labels: Array
    estimate: ShareEstimate
    log_evidence: dict[tuple[bool, bool], float]
    same_by_class: float = 0.0
    as_many_of_each: bool = False

    @cached_property
    def probabilities(self) -> dict[tuple[bool, bool], float]:
        total = logsumexp(list(self.log_evidence.values()))
        return {case: float(np.exp(log - total)) for case, log in self.log_evidence.items()}

    @property
    def case(self) -> tuple[bool, bool]:
        """Whether labels are a random draw, and whether given shares are right."""
        is_right = self.trust >= 0.5
        random = self.random_if_right if is_right else self.random_if_wrong
        return random >= 0.5, is_right

    @property
    def trust(self) -> float:
        """The probability that the given shares are right; zero where none are given."""
        return _snapped(self._sum(lambda _, right: right))

    @property
    def labels_are_random(self) -> float:
        """The probability that labels are a random draw of the rows."""
        return _snapped(self._sum(lambda random, _: random))

    @property
    def random_if_right(self) -> float:
        """The same if the given shares are right."""
        random, other = (self.probabilities.get((case, True), 0.0) for case in (True, False))
        return _snapped(random / (random + other)) if random + other > 0 else 1.0

    @property
    def random_if_wrong(self) -> float:
        """The same if the given shares are wrong, or none are given."""
        random, other = (self.probabilities.get((case, False), 0.0) for case in (True, False))
        return _snapped(random / (random + other)) if random + other > 0 else 1.0

    @property
    def same_if_wrong(self) -> float:
        """The probability that the rows have the labels' shares, if given ones are wrong."""
        return _snapped(self.random_if_wrong + (1 - self.random_if_wrong) * self.same_by_class)

    @property
    def fallback(self) -> Array:
        """Shares to use where given ones cannot be trusted."""
        same = self.same_if_wrong
        return same * self.of_labels + (1 - same) * self.estimate.shares

    @property
    def shares(self) -> Array:
        """Shares of the population, as far as all of this tells."""
        if self.given is None or not self.trust:
            return self.fallback
        return self.trust * self.given + (1 - self.trust) * self.fallback

    def sentence(self, classes: NDArray[Any]) -> str:
        """What all of this means for the user; empty where labels are as they should be."""
        is_random, is_right = self.case
        if self.given is None:
            return "" if self.same_if_wrong >= 0.5 else self._sentence_without_shares(classes)
        if not is_right:
            return self._sentence_on_doubt(classes, is_random)
        ending = "."
        if self.trust < 1:
            few = "as far as so few labels can tell: the given shares count for"
            ending = f", {few} {self.trust:.0%}."
        if is_random:
            return f"The labels and the unlabelled rows agree with the class shares given{ending}"
        return (
            "The labelled rows were not drawn at random, which is fine, since the class shares "
            f"are given and the unlabelled rows agree with them{ending}"
        )

    def _sentence_on_doubt(self, classes: NDArray[Any], labels_are_random: bool) -> str:
        assert self.given is not None
        worst = self._least_like(self.given)
        drawn = (
            "The labels look like a random draw of the rows."
            if labels_are_random
            else "The labelled rows were not drawn at random either."
        )
        followed = "shares of the labels" if self.same_if_wrong >= 0.5 else "estimated shares"
        used = f"So the {followed} are used instead."
        if self.trust:
            used = f"The given shares are not ruled out, and count for {self.trust:.0%}."
        return (
            "The class shares given are in doubt: the unlabelled rows look like "
            f"{self._estimate_of(worst)} class {classes[worst]}, {self.given[worst]:.0%} was "
            f"given, and {self.of_labels[worst]:.0%} of the labels are of it. {drawn} {used}"
        )

    def _sentence_without_shares(self, classes: NDArray[Any]) -> str:
        worst = self._least_like(self.of_labels)
        low, high = (end[worst] for end in self.estimate.interval())
        why = (
            f"{self.of_labels[worst]:.0%} of them are class {classes[worst]}, and about "
            f"{self._estimate_of(worst)} of the unlabelled rows"
        )
        if low <= self.of_labels[worst] <= high:
            why = "their classes, taken together, look like others than those of unlabelled rows"
            if self.as_many_of_each:
                why = "there are as many of each class"
        return f"The labelled rows do not look like a random draw of the rows: {why}."

    def sentence_on_estimate(self, classes: NDArray[Any]) -> str:
        """The same where shares that are not known are estimated, and how far they are used."""
        part = 1 - self.same_if_wrong
        rest = f"count for {part:.0%}, and those of the labels for the rest"
        if part > 0.5:
            used = "are used" if part == 1 else rest
            return f"{self._sentence_without_shares(classes)} So the estimated shares {used}."
        used = "so these are used" if not part else f"and estimated shares {rest}"
        return f"The unlabelled rows seem to have the class shares of the labels, {used}."

    def _least_like(self, shares: Array) -> int:
        """The class whose share is furthest from what the unlabelled rows look like.

        One of those beyond their intervals, if there are any.
        """
        low, high = self.estimate.interval()
        is_beyond = (shares < low) | (shares > high)
        distances = np.abs(self.estimate.shares - shares)
        return int(np.where(is_beyond | ~is_beyond.any(), distances, -1.0).argmax())

    def _estimate_of(self, code: int) -> str:
        low, high = self.estimate.interval()
        return f"{self.estimate.shares[code]:.0%} ({low[code]:.0%} to {high[code]:.0%})"

    def _sum(self, belongs: Any) -> float:
        return sum(value for case, value in self.probabilities.items() if belongs(*case))


def _snapped(probability: float) -> float:
    if probability > _CERTAIN:
        return 1.0
    return 0.0 if probability < 1 - _CERTAIN else probability


def shares_reason(
    evidence: ShareEvidence | None, class_prior: Any, n_unlabeled: int, classes: NDArray[Any]
) -> str:
    """What the rows say of class shares, in a sentence or two, if there is anything to say."""
    if evidence is not None:
        if evidence.given is None and not is_of_labels(class_prior):
            return evidence.sentence_on_estimate(classes)
        text = evidence.sentence(classes)
        return text + _WITHOUT_SHARES if evidence.given is None and text else text
    if is_of_labels(class_prior):
        return ""
    if n_unlabeled:
        return _WITHOUT_HELD_OUT
    return NOT_ESTIMATED if is_estimated(class_prior) else WITHOUT_UNLABELED


def offsets_by_evidence(
    unlabeled: Array, held_out: Array, codes: Codes, evidence: ShareEvidence
) -> tuple[Array, float]:
    """What to add to log-odds that fit the labels, and how far that is set by given shares.

    Parameters
    ----------
    unlabeled, held_out : arrays of shape (m, K − 1) and (n, K − 1)
        Log-odds of unlabelled rows, and of labelled rows by models not fitted to them.
    codes : array of shape (n,)
        Of the latter.
    evidence : ShareEvidence
    """
    offsets, share = np.zeros(unlabeled.shape[1]), 0.0
    if evidence.given is not None and evidence.trust:
        at_given = offsets_at_shares(unlabeled, evidence.given)
        of_random = trust_in_shares(unlabeled, at_given, held_out, codes, evidence.given)
        # Log-odds that were learnt from labels of other shares are off by all of the offset.
        random = evidence.random_if_right
        share = evidence.trust * (random * of_random + 1 - random)
        offsets = share * at_given
    estimated = (1 - evidence.trust) * (1 - evidence.same_if_wrong)
    if estimated:
        offsets = offsets + estimated * offsets_at_shares(unlabeled, evidence.estimate.shares)
    return offsets, float(share)


def weigh_shares(
    labeled: Array,
    codes: Codes,
    unlabeled: Array,
    given: Array | None = None,
    weights: Array | None = None,
    class_counts: Array | None = None,
) -> ShareEvidence:
    """Compare given class shares with the labels' counts and with the unlabelled rows.

    Parameters
    ----------
    labeled : array of shape (n, K − 1)
        Log-odds of a class up to each but the last, of labelled rows by models that were
        fitted without them. They need not be well calibrated.
    codes : array of shape (n,)
        Classes of these rows.
    unlabeled : array of shape (n_unlabeled, K − 1)
        The same log-odds of unlabelled rows.
    given : array of shape (K,), optional
        Class shares that are to be judged. Without them, there are two cases only.
    weights : array of shape (n,), optional
        How many labelled rows each stands for; by default one.
    class_counts : array of shape (K,), optional
        Labels of each class, where some of them have no held-out log-odds.

    Returns
    -------
    ShareEvidence

    Examples
    --------
    Of the unlabelled rows two thirds are of the lower class, of the labels one half:

    >>> labeled = np.tile([[2.0], [1.0], [-1.0], [-2.0]], (25, 1))
    >>> codes = np.tile([0, 0, 1, 1], 25)
    >>> unlabeled = np.tile([[2.0], [1.0], [2.0], [1.0], [-1.0], [-2.0]], (100, 1))
    >>> evidence = weigh_shares(labeled, codes, unlabeled, given=np.array([2 / 3, 1 / 3]))
    >>> evidence.case, evidence.trust
    ((False, True), 1.0)
    >>> weigh_shares(labeled, codes, unlabeled, given=np.array([0.2, 0.8])).trust
    0.0
    """
    n_classes = labeled.shape[1] + 1
    weights = np.ones(len(codes)) if weights is None else weights
    counts = class_counts
    if counts is None:
        counts = np.bincount(codes, weights, n_classes).astype(np.float64)
    of_labels = counts / counts.sum()
    offsets = _calibrating_offsets(labeled, codes, weights)
    tables = expit(labeled + offsets), expit(unlabeled + offsets)
    moments = class_moments(*leading_functions(*tables, weights), codes, weights, n_classes)
    random = _log_flat(counts)
    by_class = np.logaddexp(_log_equal(counts) + np.log(_EQUAL), random + np.log(1 - _EQUAL))
    smooth = (counts + 1) / (counts.sum() + n_classes)
    posterior = (np.diag(smooth) - np.outer(smooth, smooth)) / (counts.sum() + n_classes + 1)
    uniform = np.full(n_classes, 1 / n_classes)
    flat = (np.diag(uniform) - np.outer(uniform, uniform)) / (n_classes + 1)
    same = np.log(_SAME) + moments.log_density(of_labels)
    same_or_any = np.logaddexp(same, np.log(1 - _SAME) + moments.log_density(uniform, flat))
    of_cases = {
        (True, False): random + moments.log_density(smooth, posterior),
        (False, False): by_class + same_or_any,
    }
    if given is not None:
        at_given = moments.log_density(given)
        of_cases[True, True] = _log_multinomial(counts, given) + at_given
        of_cases[False, True] = by_class + at_given
    log_evidence = {
        (is_random, is_right): value
        + np.log(_RANDOM if is_random else 1 - _RANDOM)
        + np.log(_RIGHT if is_right else 1 - _RIGHT)
        for (is_random, is_right), value in of_cases.items()
    }
    return ShareEvidence(
        given,
        of_labels,
        moments.estimate(smooth),
        log_evidence,
        float(np.exp(same - same_or_any)),
        bool(np.ptp(np.round(counts)) <= 1),
    )


def _calibrating_offsets(odds: Array, codes: Codes, weights: Array) -> Array:
    """What to add to log-odds so that their mean probabilities are the labels' shares."""
    counts = np.bincount(codes, weights, odds.shape[1] + 1)
    return offsets_at_shares(odds, counts / counts.sum(), weights / weights.sum())


def _log_multinomial(counts: Array, shares: Array) -> float:
    """Of the counts of a random draw from classes with these shares.

    Where every class has a label, of such draws alone: others are not fitted to.
    """
    seen = counts > 0
    if (shares[seen] <= 0).any():
        return -np.inf
    ways = gammaln(counts.sum() + 1) - gammaln(counts + 1).sum()
    log = ways + counts[seen] @ np.log(shares[seen])
    if seen.all():
        log -= np.log1p(-np.power(1 - shares, counts.sum())).sum()
    return float(log)


def _log_flat(counts: Array) -> float:
    """The same, averaged over all shares alike."""
    n_labels, n_classes = counts.sum(), len(counts)
    # The number of ways to fill the classes, with none empty where none is.
    least = 1 if (counts >= 1).all() else 0
    free = n_labels - least * n_classes
    return float(gammaln(free + 1) + gammaln(n_classes) - gammaln(free + n_classes))


def _log_equal(counts: Array) -> float:
    """Of counts where as many rows of each class were asked for, and some classes have fewer."""
    whole = np.round(counts)
    quota = whole.max()
    full = np.count_nonzero(whole >= quota - 1)
    short = len(whole) - full
    if full < max(2, len(whole) / 2):
        return -np.inf
    larger = np.count_nonzero(whole == quota)
    orders = gammaln(larger + 1) + gammaln(full - larger + 1) - gammaln(full + 1)
    return float(full * np.log(_FULL) + short * np.log((1 - _FULL) / quota) + orders)
