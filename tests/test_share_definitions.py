"""Evidence on class shares, number for number, against its definition written out in loops."""

from __future__ import annotations

from math import comb, exp, inf, lgamma, log, pi

import numpy as np
import pytest
from numpy.polynomial import Legendre
from scipy.optimize import brentq, root
from scipy.special import expit, logit
from scipy.stats import norm

from semiordinal._decide import offsets_by_evidence, weigh_shares
from semiordinal._decide.offsets import offsets_at_shares, trust_in_shares
from semiordinal._decide.share_evidence import ShareEvidence
from semiordinal._decide.share_moments import ShareEstimate, most_likely_shares


def offsets(odds, shares, weights):
    """By a search for each class: the mean probability of it and those below is their share."""
    found = []
    for j in range(odds.shape[1]):
        target = min(max(sum(shares[: j + 1]), 1e-4), 1 - 1e-4)

        def excess(offset, j=j, target=target):
            return sum(w * expit(row[j] + offset) for w, row in zip(weights, odds, strict=True)) - (
                target * sum(weights)
            )

        found.append(brentq(excess, -12, 12, xtol=1e-13))
    return np.array(found)


def log_t(x, center, spread, freedom):
    """Density of Student's t in several dimensions."""
    d = len(x)
    distance = (x - center) @ np.linalg.solve(spread, x - center)
    return (
        lgamma((freedom + d) / 2)
        - lgamma(freedom / 2)
        - d / 2 * log(freedom * pi)
        - log(np.linalg.det(spread)) / 2
        - (freedom + d) / 2 * log(1 + distance / freedom)
    )


class ByDefinition:
    """All that is observed of rows, and what each case says of it."""

    def __init__(self, labeled, codes, unlabeled, weights):
        self.K = K = labeled.shape[1] + 1
        self.counts = [sum(weights[codes == y]) for y in range(K)]
        n = sum(self.counts)
        add = offsets(labeled, np.array(self.counts) / n, weights)
        P, Q = expit(labeled + add), expit(unlabeled + add)
        center = (weights @ P / n + sum(Q) / len(Q)) / 2
        # Singular vectors of all rows, each part with a weight of one.
        of_rows = np.sqrt(weights / n)[:, None]
        stacked = np.vstack([of_rows * (P - center), (Q - center) / len(Q) ** 0.5])
        _, singular, vectors = np.linalg.svd(stacked, full_matrices=False)
        kept = [i for i in range(min(3, K - 1)) if singular[i] ** 2 >= 0.01 * sum(singular**2)]
        h, g = ((each - center) @ vectors[kept].T / singular[kept] for each in (P, Q))
        self.d = d = len(kept)
        # Means and scatters of classes by themselves.
        own = np.zeros((K, d))
        scatters = np.zeros((K, d, d))
        for y in range(K):
            of_class = np.flatnonzero(codes == y)
            if len(of_class):
                own[y] = sum(weights[i] * h[i] for i in of_class) / self.counts[y]
            for i in of_class:
                scatters[y] += weights[i] * np.outer(h[i] - own[y], h[i] - own[y])
        freedom = max(n - sum(count > 0 for count in self.counts), 1)
        pooled = sum(scatters) / freedom + 1e-9 * np.eye(d)
        # Parabolas whose coefficients are normal: least squares with three more rows.
        powers = np.vander(np.linspace(-1, 1, K), 3, increasing=True)
        smooth, variance = np.zeros((K, d)), np.zeros((K, d))
        for j in range(d):
            by_noise = np.sqrt(weights / pooled[j, j])
            rows_and_three = np.vstack([by_noise[:, None] * powers[codes], np.eye(3)])
            targets = np.append(by_noise * h[:, j], np.zeros(3))
            coefficients = np.linalg.lstsq(rows_and_three, targets, rcond=None)[0]
            inverse = np.linalg.inv(rows_and_three.T @ rows_and_three)
            for y in range(K):
                smooth[y, j] = powers[y] @ coefficients
                variance[y, j] = powers[y] @ inverse @ powers[y]
        self.means = np.zeros((K, d))
        self.covariances = np.zeros((K, d, d))
        for y, count in enumerate(self.counts):
            self.means[y] = (count * own[y] + smooth[y]) / (count + 1)
            within = (scatters[y] + 5 * pooled) / (max(count - 1, 0) + 5)
            of_smooth = np.diag(variance[y]) / (count + 1) ** 2
            self.covariances[y] = (within / max(count, 1) + of_smooth) * (1 + 10 / n)
        self.mean = sum(g) / len(g)
        around = [np.outer(row - self.mean, row - self.mean) for row in g]
        self.covariance = sum(around) / (len(g) - 1) / len(g)
        self.freedom = max(freedom / 3, 3)

    def spread(self, shares):
        return self.covariance + sum(
            share**2 * each for share, each in zip(shares, self.covariances, strict=True)
        )

    def log_density(self, shares, error=None):
        spread = self.spread(shares)
        if error is not None:
            spread = spread + self.means.T @ error @ self.means
        return log_t(self.mean, shares @ self.means, spread, self.freedom)

    def of_counts(self, counts, given):
        """Log-probabilities of the counts: any shares, classes collected alike, given shares."""
        n, K = int(sum(counts)), self.K
        is_full = min(counts) >= 1
        flat = -log(comb(n - 1, K - 1) if is_full else comb(n + K - 1, K - 1))
        quota = max(counts)
        full = [count for count in counts if count >= quota - 1]
        equal = -inf
        if len(full) >= 2 and len(full) >= K / 2:
            ways = comb(len(full), sum(count == quota for count in counts))
            equal = len(full) * log(0.75) + (K - len(full)) * log(0.25 / quota) - log(ways)
        by_class = log(0.85 * exp(equal) + 0.15 * exp(flat))
        drawn = None
        if given is not None:
            drawn = lgamma(n + 1) + sum(
                c * log(p) - lgamma(c + 1) for c, p in zip(counts, given, strict=True) if c
            )
            if is_full:
                drawn -= sum(log(1 - (1 - p) ** n) for p in given)
        return flat, by_class, drawn

    def cases(self, counts, given):
        """Log-probabilities of all cases, and that of the labels' shares in one of them."""
        n, K = sum(counts), self.K
        flat, by_class, drawn = self.of_counts(counts, given)
        # A Dirichlet distribution: of any shares, with the labels seen and without.
        alphas = np.array(counts) + 1.0, np.ones(K)
        means = [alpha / sum(alpha) for alpha in alphas]
        errors = [
            np.array(
                [
                    [(m[a] * (a == b) - m[a] * m[b]) / (sum(alpha) + 1) for b in range(K)]
                    for a in range(K)
                ]
            )
            for alpha, m in zip(alphas, means, strict=True)
        ]
        same = 0.25 * exp(self.log_density(np.array(counts) / n))
        other = 0.75 * exp(self.log_density(means[1], errors[1]))
        found = {
            (True, False): flat + self.log_density(means[0], errors[0]) + log(0.7 * 0.1),
            (False, False): by_class + log(same + other) + log(0.3 * 0.1),
        }
        if given is not None:
            at_given = self.log_density(given)
            found[True, True] = drawn + at_given + log(0.7 * 0.9)
            found[False, True] = by_class + at_given + log(0.3 * 0.9)
        return found, same / (same + other)

    def standard_errors(self, shares, start):
        """Of shares at which the gradient is zero, which is checked first."""
        K = self.K
        place = np.linspace(-1, 1, K)
        degrees = range(1, K)
        basis = np.column_stack([Legendre.basis(k)(place) for k in degrees])
        tilt = np.linalg.solve(np.column_stack([np.ones(K), basis]), np.log(shares / start))[1:]

        def tilted(tilt):
            raw = start * np.exp(basis @ tilt)
            return raw / sum(raw)

        np.testing.assert_allclose(tilted(tilt), shares)
        steps = 1e-6 * np.eye(K - 1)
        slopes = np.array([(tilted(tilt + e) - tilted(tilt - e)) / 2e-6 for e in steps])
        precision = np.array([(k / 1.5) ** 2 for k in degrees])
        inverse = np.linalg.inv(self.spread(shares))
        by_mean = slopes @ self.means
        information = by_mean @ inverse @ by_mean.T + np.diag(precision)
        gradient = by_mean @ inverse @ (self.mean - shares @ self.means) - precision * tilt
        np.testing.assert_allclose(np.linalg.solve(information, gradient), 0.0, atol=1e-5)
        return np.sqrt(np.diag(slopes.T @ np.linalg.inv(information) @ slopes))


def rows(counts, n_unlabeled, weighted, seed):
    """Log-odds that tell the classes, and are not calibrated."""
    rng = np.random.default_rng(seed)
    K = len(counts)
    codes = rng.permutation(np.repeat(np.arange(K), counts))
    others = rng.choice(K, n_unlabeled, p=np.arange(K, 0, -1) / (K * (K + 1) / 2))
    cuts = 1.3 * np.arange(K - 1) + 0.4
    x, z = (1.5 * each + rng.normal(size=len(each)) for each in (codes, others))
    # A column of odds for each cut, with a slope of its own.
    slopes = 1 + 0.2 * np.arange(K - 1)
    odds = [(cuts - each[:, None]) * slopes + 0.3 for each in (x, z)]
    weights = rng.integers(1, 4, len(codes)).astype(float) if weighted else np.ones(len(codes))
    return odds[0], codes, odds[1], weights


PROBLEMS = {
    "two classes": ([9, 14], 40, False, [0.7, 0.3]),
    "equal counts": ([8, 8, 8], 60, False, [0.5, 0.3, 0.2]),
    "nearly equal": ([8, 7, 8, 8], 60, False, [0.4, 0.3, 0.2, 0.1]),
    "half short": ([9, 9, 3, 2], 50, False, [0.4, 0.3, 0.2, 0.1]),
    "one short": ([9, 9, 3, 9], 50, False, [0.4, 0.3, 0.2, 0.1]),
    "no label of a class": ([9, 6, 0, 4], 50, False, [0.4, 0.3, 0.2, 0.1]),
    "weights": ([9, 5, 4], 60, True, [0.5, 0.3, 0.2]),
    "no shares given": ([12, 5, 4, 2, 3], 80, False, None),
    "few rows": ([1, 1, 1], 4, False, [0.5, 0.3, 0.2]),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_evidence_is_that_of_the_definition(name):
    counts, n_unlabeled, weighted, given = PROBLEMS[name]
    given = None if given is None else np.array(given)
    labeled, codes, unlabeled, weights = rows(counts, n_unlabeled, weighted, len(name))
    found = weigh_shares(labeled, codes, unlabeled, given, weights if weighted else None)
    expected = ByDefinition(labeled, codes, unlabeled, weights)
    cases, same = expected.cases(expected.counts, given)
    assert found.log_evidence == pytest.approx(cases, abs=1e-6)
    assert found.same_by_class == pytest.approx(same, rel=1e-6)
    total = np.array(expected.counts)
    np.testing.assert_allclose(found.of_labels, total / total.sum())
    start = (total + 1) / (total.sum() + len(counts))
    errors = expected.standard_errors(found.estimate.shares, start)
    np.testing.assert_allclose(found.estimate.standard_error, errors, rtol=1e-4)


@pytest.mark.parametrize("seed", [11, 37, 113, 195, 211, 214, 233, 297])
def test_estimates_come_to_rest(seed):
    """Of problems in which full steps go to and fro for ever, by up to a quarter."""
    rng = np.random.default_rng(seed)
    counts, n_unlabeled = rng.integers(1, 20, rng.integers(2, 8)), int(rng.integers(2, 300))
    labeled, codes, unlabeled, weights = rows(counts, n_unlabeled, False, seed)
    found = weigh_shares(labeled, codes, unlabeled).estimate
    expected = ByDefinition(labeled, codes, unlabeled, weights)
    start = (counts + 1) / (counts.sum() + len(counts))
    errors = expected.standard_errors(found.shares, start)
    np.testing.assert_allclose(found.standard_error, errors, rtol=1e-3)


def test_no_more_than_three_functions_of_the_odds_count():
    labeled, codes, unlabeled, weights = rows([9, 8, 7, 9, 6], 60, False, 1)
    rng = np.random.default_rng(0)
    labeled, unlabeled = (each + 3 * rng.normal(size=each.shape) for each in (labeled, unlabeled))
    found = weigh_shares(labeled, codes, unlabeled)
    expected = ByDefinition(labeled, codes, unlabeled, weights)
    assert expected.d == 3
    assert found.log_evidence == pytest.approx(expected.cases(expected.counts, None)[0], abs=1e-6)


def test_labels_that_were_not_held_out_count():
    labeled, codes, unlabeled, weights = rows([6, 7, 5], 40, False, 0)
    counts, given = np.array([16.0, 7.0, 5.0]), np.array([0.5, 0.3, 0.2])
    found = weigh_shares(labeled, codes, unlabeled, given, class_counts=counts)
    expected = ByDefinition(labeled, codes, unlabeled, weights).cases(counts, given)[0]
    assert found.log_evidence == pytest.approx(expected, abs=1e-6)
    np.testing.assert_allclose(found.of_labels, counts / 28)


def evidence_with(probabilities, given=(0.2, 0.8), same=0.0):
    """With such probabilities of the cases: random and right, not random and right, and so on."""
    cases = [(True, True), (False, True), (True, False), (False, False)]
    logs = {case: log(p) - 5.0 for case, p in zip(cases, probabilities, strict=True) if p}
    estimate = ShareEstimate(np.array([0.6, 0.4]), np.array([0.05, 0.05]))
    given = None if given is None else np.array(given)
    return ShareEvidence(given, np.array([0.5, 0.5]), estimate, logs, same)


def test_what_follows_from_the_probabilities_of_the_cases():
    found = evidence_with([0.3, 0.2, 0.1, 0.4], same=0.25)
    assert found.trust == pytest.approx(0.5)
    assert found.labels_are_random == pytest.approx(0.4)
    assert found.random_if_right == pytest.approx(0.6)
    assert found.random_if_wrong == pytest.approx(0.2)
    assert found.same_if_wrong == pytest.approx(0.2 + 0.8 * 0.25)
    np.testing.assert_allclose(found.fallback, 0.4 * np.array([0.5, 0.5]) + [0.36, 0.24])
    np.testing.assert_allclose(found.shares, 0.5 * (np.array([0.2, 0.8]) + found.fallback))
    assert evidence_with([0.5, 0.1, 0.1, 0.3]).case == (True, True)
    assert evidence_with([0.1, 0.5, 0.3, 0.1]).case == (False, True)
    assert evidence_with([0.1, 0.3, 0.5, 0.1]).case == (True, False)
    assert evidence_with([0.3, 0.1, 0.1, 0.5]).case == (False, False)


@pytest.mark.parametrize(("p", "counts_as"), [(0.96, 1.0), (0.94, 0.94), (0.06, 0.06), (0.04, 0.0)])
def test_what_is_nearly_certain_counts_as_certain(p, counts_as):
    assert evidence_with([p, 0, 1 - p, 0]).trust == pytest.approx(counts_as)
    assert evidence_with([p, 0, 0, 1 - p]).labels_are_random == pytest.approx(counts_as)
    assert evidence_with([p / 2, (1 - p) / 2, 0.5, 0]).random_if_right == pytest.approx(counts_as)
    assert evidence_with([0.5, 0, p / 2, (1 - p) / 2]).random_if_wrong == pytest.approx(counts_as)


def test_cases_that_are_impossible():
    without = evidence_with([0, 0, 0.5, 0.5], given=None)
    assert (without.trust, without.random_if_right) == (0, 1)
    np.testing.assert_allclose(without.shares, [0.55, 0.45])
    assert evidence_with([0.5, 0.5, 0, 0]).random_if_wrong == 1
    np.testing.assert_allclose(evidence_with([0.5, 0.5, 0, 0]).shares, [0.2, 0.8])
    np.testing.assert_allclose(evidence_with([0.001, 0, 0.999, 0]).shares, [0.5, 0.5])


def test_what_is_said_of_doubt():
    classes = np.array(["low", "top"])
    doubted = evidence_with([0.2, 0.1, 0.4, 0.3], given=(0.1, 0.8)).sentence(classes)
    assert "look like 60% (52% to 68%) class low, 10% was given, and 50% of the labels" in doubted
    assert "look like a random draw" in doubted
    assert doubted.endswith("The given shares are not ruled out, and count for 30%.")
    refuted = evidence_with([0, 0.01, 0.1, 0.89]).sentence(classes)
    assert "not drawn at random either. So the estimated shares are used instead." in refuted
    kept = evidence_with([0, 0.01, 0.6, 0.39]).sentence(classes)
    assert kept.endswith("random draw of the rows. So the shares of the labels are used instead.")
    agreed = evidence_with([0.6, 0.1, 0.2, 0.1]).sentence(classes)
    assert agreed.endswith("so few labels can tell: the given shares count for 70%.")
    assert "few" not in evidence_with([1, 0, 0, 0]).sentence(classes)
    assert evidence_with([0, 0, 0.6, 0.4], given=None).sentence(classes) == ""
    others = evidence_with([0, 0, 0.4, 0.6], given=None).sentence(classes)
    assert "50% of them are class low, and about 60% (52% to 68%) of the unlabelled" in others


def test_intervals_are_symmetric_in_the_log_odds():
    estimate = ShareEstimate(np.array([0.3, 0.7, 0.0]), np.array([0.02, 0.1, 0.0]))
    low, high = estimate.interval(0.8)
    reach = norm.ppf(0.9) * 0.02 / 0.21
    np.testing.assert_allclose(logit([low[0], high[0]]), [logit(0.3) - reach, logit(0.3) + reach])
    assert low[2] == high[2] == pytest.approx(1e-9, rel=1e-3)
    reach = norm.ppf(0.95) * 0.02 / 0.21
    assert estimate.interval()[1][0] == pytest.approx(expit(logit(0.3) + reach))


def test_the_likelihood_of_shares_by_a_search():
    rng = np.random.default_rng(0)
    start = np.array([0.5, 0.3, 0.2])
    ratios = rng.dirichlet(np.ones(3), 60) / start
    found = most_likely_shares(ratios, start, looseness=0.7)
    place = np.array([-1.0, 0.0, 1.0])

    def tilted(tilt):
        raw = start * np.exp(tilt[0] * place + tilt[1] * (3 * place**2 - 1) / 2)
        return raw / raw.sum()

    def gradient(tilt):
        def value(tilt):
            prior = sum((a / (0.7 / k)) ** 2 for k, a in enumerate(tilt, start=1)) / 2
            return np.log(ratios @ tilted(tilt)).sum() - prior

        return [(value(tilt + e) - value(tilt - e)) / 2e-5 for e in 1e-5 * np.eye(2)]

    np.testing.assert_allclose(found.shares, tilted(root(gradient, np.zeros(2)).x), atol=1e-5)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shares", [[0.5, 0.3, 0.2], [0.0, 0.1, 0.9], [0.7, 0.3, 0.0]])
def test_offsets_are_those_of_a_search(weighted, shares):
    odds = rows([20, 20, 20], 5, False, 3)[0]
    weights = np.random.default_rng(0).dirichlet(np.ones(60)) if weighted else None
    found = offsets_at_shares(odds, np.array(shares), weights)
    expected = offsets(odds, shares, np.full(60, 1 / 60) if weights is None else weights)
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_offsets_end_somewhere():
    odds = np.array([[-50.0, 50.0]] * 3)
    np.testing.assert_allclose(offsets_at_shares(odds, np.array([0.5, 0.3, 0.2])), [12, -12])


@pytest.mark.parametrize("counts", [[6, 1, 4], [9, 0, 7], [120, 60, 40]])
@pytest.mark.parametrize("shares", [[0.5, 0.3, 0.2], [0.1, 0.2, 0.7], [0.1, 0.9, 0.0]])
def test_trust_in_shares_by_loops(counts, shares):
    held_out, codes, odds, _ = rows(counts, 30, False, 4)
    at_shares = offsets_at_shares(odds, np.array(shares))
    found = trust_in_shares(odds, at_shares, held_out, codes, np.array(shares))
    present = np.where(np.array(counts) > 0, shares, 0.0)
    weights = np.array([present[y] / counts[y] for y in codes])
    asked = offsets(held_out, present / present.sum(), weights)
    distance = 0.0
    for j in range(2):
        p = expit(odds[:, j] + at_shares[j])
        step = min(max(asked[j] - at_shares[j], -5), 5)
        distance += len(codes) * np.mean(p * (1 - p)) * step**2 / 2
    expected = min(1, 3 / distance) * min(1, 100 / len(codes))
    assert found == pytest.approx(expected, rel=1e-6)


def test_no_trust_in_shares_of_classes_without_labels():
    held_out, codes, odds, _ = rows([5, 6, 0], 10, False, 0)
    assert trust_in_shares(odds, np.zeros(2), held_out, codes, np.array([0.0, 0.0, 1.0])) == 0


def test_offsets_are_blended_by_the_probabilities():
    held_out, codes, odds, _ = rows([6, 8], 30, False, 5)
    found = evidence_with([0.3, 0.2, 0.1, 0.4], same=0.25)
    at_given = offsets_at_shares(odds, found.given)
    of_random = trust_in_shares(odds, at_given, held_out, codes, found.given)
    share = 0.5 * (0.6 * of_random + 0.4)
    expected = share * at_given + 0.5 * 0.6 * offsets_at_shares(odds, np.array([0.6, 0.4]))
    blended = offsets_by_evidence(odds, held_out, codes, found)
    np.testing.assert_allclose(blended[0], expected)
    assert blended[1] == pytest.approx(share)
    none = offsets_by_evidence(odds, held_out, codes, evidence_with([0, 0, 1, 0], given=None))
    np.testing.assert_array_equal(none[0], [0.0])
    assert none[1] == 0
