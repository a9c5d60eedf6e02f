"""Variance of SV, LU and SEMI: formulas, resampling, and simulations written out plainly."""

from __future__ import annotations

import math

import numpy as np
import pytest

from semiordinal._risk.losses import get_loss
from semiordinal._risk.risks import Risk
from semiordinal.theory import (
    ClassMoments,
    RiskVariance,
    class_moments,
    resample_risks,
    risk_variance,
)

CASES = [(loss, n_classes) for loss in ("at", "it", "ls") for n_classes in range(2, 7)]


class World:
    """A discrete distribution of (x, y), so that every moment is a finite sum."""

    def __init__(self, loss, n_classes, seed=0, n_points=12, scale=1.0):
        rng = np.random.default_rng(seed + 100 * n_classes)
        latent = np.linspace(-2, 2, n_points)
        thresholds = np.linspace(-1.5, 1.5, n_classes - 1) if n_classes > 2 else np.zeros(1)
        if loss == "ls":
            thresholds = -(n_classes - 2) / 2 + np.arange(n_classes - 1.0)
        # A scale above 1 makes the model overconfident, and its risk more variable.
        self.values = get_loss(loss).values(thresholds - scale * latent[:, None])  # (points, K)
        centers = np.linspace(-1.5, 1.5, n_classes)
        joint = np.exp(-np.square(latent[:, None] - centers)) + 0.1
        self.joint = joint * rng.uniform(0.7, 1.3, joint.shape)
        self.joint /= self.joint.sum()
        self.prior = self.joint.sum(axis=0)
        self.n_classes, self.rng = n_classes, rng

    def moments(self):
        given = self.joint / self.prior  # p(x | y)
        mean = given.T @ self.values
        second = given.T @ self.values**2
        cross = np.array(
            [given[:, y] @ (self.values[:, [y]] * self.values) for y in range(self.n_classes)]
        )
        marginal = self.joint.sum(axis=1)
        spread = marginal @ self.values**2 - (marginal @ self.values) ** 2
        own = np.diag(mean)
        return ClassMoments(mean[:, :, None], second - mean**2, cross - own[:, None] * mean, spread)

    def simulate(self, counts, n_unlabeled, sampling, n_draws):
        """SV (draws,) and LU without each k (draws, K), from their definitions."""
        n_points, k_all = len(self.joint), range(self.n_classes)
        if sampling == "joint":
            flat = self.rng.multinomial(int(sum(counts)), self.joint.ravel(), size=n_draws)
            labeled = flat.reshape(n_draws, n_points, self.n_classes)
            labeled = labeled[(labeled.sum(axis=1) > 0).all(axis=1)]
        else:
            by_class = [
                self.rng.multinomial(n, p / p.sum(), size=n_draws)
                for n, p in zip(counts, self.joint.T, strict=True)
            ]
            labeled = np.stack(by_class, axis=2)
        unlabeled = self.rng.multinomial(n_unlabeled, self.joint.sum(axis=1), size=len(labeled))
        n_y = labeled.sum(axis=1)
        supervised = np.einsum("ixy,xy->i", labeled, self.values) / n_y.sum(axis=1)
        lu = np.zeros((len(labeled), self.n_classes))
        for k in k_all:
            lu[:, k] = unlabeled @ self.values[:, k] / n_unlabeled
            for y in k_all:
                if y != k:
                    difference = self.values[:, y] - self.values[:, k]
                    lu[:, k] += self.prior[y] * (labeled[:, :, y] @ difference) / n_y[:, y]
        return supervised, lu


def counts_near(prior, n_labeled):
    counts = np.maximum(np.round(prior * n_labeled), 2).astype(int)
    counts[0] += 3  # so that counts and priors are not in proportion
    return counts


def assert_within_error(found, products, errors=4.5):
    """A variance within so many standard errors of the mean of centred products."""
    error = products.std(axis=0) / math.sqrt(len(products))
    assert (np.abs(found - products.mean(axis=0)) <= errors * error + 1e-12).all()


@pytest.mark.parametrize("sampling", ["joint", "stratified"])
@pytest.mark.parametrize(("loss", "n_classes"), CASES)
def test_formula_agrees_with_simulation(loss, n_classes, sampling):
    world = World(loss, n_classes)
    counts = counts_near(world.prior, 40 * n_classes)
    found = risk_variance(world.moments(), counts, 150, world.prior, sampling)
    supervised, lu = world.simulate(counts, 150, sampling, n_draws=8_000)
    supervised, lu = supervised - supervised.mean(), lu - lu.mean(axis=0)
    assert_within_error(found.supervised, supervised**2)
    assert_within_error(found.lu, lu**2)
    assert_within_error(found.covariance, supervised[:, None] * lu)
    for gamma in (0.2, 0.7):
        semi = gamma * lu + (1 - gamma) * supervised[:, None]
        assert_within_error(found.semi(gamma)[0], semi**2)


@pytest.mark.parametrize("sampling", ["joint", "stratified"])
@pytest.mark.parametrize(("loss", "n_classes"), CASES)
def test_plug_in_agrees_with_resampling(loss, n_classes, sampling):
    """On the same rows, for every k at once."""
    world = World(loss, n_classes, seed=1)
    rows = world.rng.choice(world.joint.size, p=world.joint.ravel(), size=3000)
    point, codes = np.divmod(rows, n_classes)
    codes[:1000] = -1
    values = world.values[point]
    counts = counts_near(world.prior, 30 * n_classes)
    found = risk_variance(class_moments(values, codes), counts, 200, world.prior, sampling)
    draws = resample_risks(
        values, codes, counts, 200, world.prior, sampling, n_draws=800, random_state=2
    )
    again, error = draws.variance(), draws.standard_error()
    # Resampled variances are those of the rows, a factor 1 − 1/n below the unbiased ones.
    slack = 1.5 / np.bincount(codes[codes >= 0]).min()
    for part in ("supervised", "lu", "covariance"):
        gap = np.abs(getattr(found, part) - getattr(again, part))
        allowed = 4.5 * getattr(error, part) + slack * np.abs(getattr(found, part))
        assert (gap <= allowed).all(), part


def test_plug_in_moments_recover_known_ones():
    world = World("at", 4)
    rows = world.rng.choice(world.joint.size, p=world.joint.ravel(), size=200_000)
    point, codes = np.divmod(rows, 4)
    codes[:100_000] = -1
    found, known = class_moments(world.values[point], codes), world.moments()
    np.testing.assert_allclose(found.mean, known.mean, atol=0.03)
    np.testing.assert_allclose(found.variance, known.variance, rtol=0.05)
    np.testing.assert_allclose(found.covariance, known.covariance, atol=0.05)
    np.testing.assert_allclose(found.unlabeled_variance, known.unlabeled_variance, rtol=0.03)


def test_random_counts_take_the_mean_of_one_over_n():
    """A few labels: the mean of 1/n_y is well above 1 over the mean of n_y."""
    one = ClassMoments(np.zeros((2, 2, 1)), np.ones((2, 2)), np.array([[1, 0.5], [0.5, 1]]))
    prior, n = np.array([0.3, 0.7]), 12
    found = risk_variance(one, [4, 8], math.inf, prior)
    for k, y in ((0, 1), (1, 0)):
        mass = [math.comb(n, m) * prior[y] ** m * (1 - prior[y]) ** (n - m) for m in range(n + 1)]
        mean = sum(p / m for m, p in enumerate(mass) if m) / (1 - mass[0])
        assert found.lu[k] == pytest.approx(prior[y] ** 2 * mean)
        assert mean > 1.03 / (n * prior[y])


def test_without_unlabelled_rows_the_classes_stand_for_them():
    world = World("at", 3, seed=4)
    rows = world.rng.choice(world.joint.size, p=world.joint.ravel(), size=4000)
    point, codes = np.divmod(rows, 3)
    values, counts = world.values[point], np.array([40, 40, 40])
    found = risk_variance(class_moments(values, codes), counts, 60, world.prior)
    draws = resample_risks(values, codes, counts, 60, world.prior, n_draws=1500, random_state=0)
    allowed = 4.5 * draws.standard_error().lu + 1e-3 * found.lu
    assert (np.abs(found.lu - draws.variance().lu) <= allowed).all()


def test_moments_equal_naive_loops_and_mixture():
    rng = np.random.default_rng(0)
    values, codes = rng.normal(50.0, 0.01, size=(60, 3)), rng.integers(-1, 3, 60)
    found = class_moments(values, codes)
    for y in range(3):
        own = values[codes == y]
        table = np.cov(own.T)
        np.testing.assert_allclose(found.mean[y, :, 0], own.mean(axis=0))
        np.testing.assert_allclose(found.variance[y], np.diag(table), rtol=1e-9)
        np.testing.assert_allclose(found.covariance[y], table[y], rtol=1e-8, atol=1e-14)
    np.testing.assert_allclose(found.unlabeled_variance, values[codes < 0].var(axis=0, ddof=1))
    world = World("it", 3)
    known = world.moments()
    mixture = ClassMoments(known.mean, known.variance, known.covariance)
    np.testing.assert_allclose(mixture.marginal_variance(world.prior), known.unlabeled_variance)


def test_label_weights_of_the_risk_give_the_same_variance():
    """Fixed counts: the risk is a sum over independent rows by the library's own weights."""
    world = World("at", 4)
    counts, n_u, k, gamma = np.array([7, 11, 5, 9]), 30, 2, 0.6
    table = Risk(gamma, k).label_weights(counts.astype(float), float(n_u), world.prior).main
    given = np.column_stack([world.joint / world.prior, world.joint.sum(axis=1)])
    total = 0.0
    for code, n in enumerate([*counts, n_u]):
        row = world.values @ table[code]
        total += n * (given[:, code] @ row**2 - (given[:, code] @ row) ** 2)
    found = risk_variance(world.moments(), counts, n_u, world.prior, "stratified")
    assert found.semi(gamma)[0, k] == pytest.approx(total)


def mean_and_error(products):
    return products.mean(), products.std() / math.sqrt(len(products))


@pytest.mark.parametrize("sampling", ["joint", "stratified"])
@pytest.mark.parametrize("loss", ["at", "it", "ls"])
def test_interval_of_reduced_variance_in_simulation(loss, sampling):
    """Below the supervised variance inside, equal at the far end, above beyond it."""
    inside = ends = 0
    for n_classes in (2, 3, 5):
        world = World(loss, n_classes, seed=3, scale=3.0)
        counts = np.maximum(np.round(world.prior * 25 * n_classes), 2).astype(int)
        n_unlabeled = 100 * n_classes
        found = risk_variance(world.moments(), counts, n_unlabeled, world.prior, sampling)
        supervised, lu = world.simulate(counts, n_unlabeled, sampling, n_draws=25_000)
        supervised, lu = supervised - supervised.mean(), lu - lu.mean(axis=0)
        for k, end in enumerate(found.interval_end):
            difference = lu[:, k] - supervised
            below, at_end, beyond = (
                mean_and_error((supervised + gamma * difference) ** 2 - supervised**2)
                for gamma in (min(end / 2, 1.0), end, 1.3 * end + 0.2)
            )
            if end > 0.15:
                inside += 1
                assert below[0] < -3 * below[1]
            # Far ends beyond 1 are no weights of a risk, but the algebra is the same.
            ends += 0.15 < end < 0.8
            assert abs(at_end[0]) < 4.5 * at_end[1] + 1e-15
            assert beyond[0] > 3 * beyond[1]
    assert inside >= 3
    assert ends >= 1


def test_best_weight_is_the_minimum_over_a_grid():
    world = World("at", 5)
    found = risk_variance(world.moments(), [9, 8, 7, 9, 9], 500, world.prior)
    grid = np.linspace(0, 1, 2001)
    surface = found.semi(grid)
    assert surface.shape == (2001, 5)
    np.testing.assert_allclose(grid[surface.argmin(axis=0)], found.best_weight, atol=5e-4)
    np.testing.assert_allclose(surface.min(axis=0) / found.supervised, found.best_ratio, atol=1e-6)
    np.testing.assert_allclose(surface[0], found.supervised)
    np.testing.assert_allclose(surface[-1], found.lu)


def test_interval_algebra_by_hand():
    # A = 4, B = 2, C = 1: (B − C)/(A + B − 2C) = 1/4. Then C > B: nothing to gain. Then A < B.
    found = RiskVariance(2.0, np.array([4.0, 9.0, 0.5]), np.array([1.0, 3.0, 0.25]))
    np.testing.assert_allclose(found.best_weight, [0.25, 0.0, 0.875])
    np.testing.assert_allclose(found.interval_end, [0.5, 0.0, 1.75])
    np.testing.assert_allclose(found.best_ratio[0], (4 / 16 + 2 * 9 / 16 + 2 * 3 / 16) / 2)
    same = RiskVariance(2.0, np.array([2.0]), np.array([2.0]))
    assert same.best_weight[0] == same.interval_end[0] == 0


@pytest.mark.parametrize("part", ["labelled", "unlabelled"])
def test_variance_falls_in_each_number_of_rows(part):
    world = World("at", 3)
    sizes = np.array([1, 4, 16, 64])
    base = np.array([20, 30, 25])
    for sampling in ("joint", "stratified"):
        if part == "labelled":
            found = [
                risk_variance(world.moments(), base * s, 1e12, world.prior, sampling) for s in sizes
            ]
            curves = [[f.supervised for f in found], [f.lu[0] for f in found]]
        else:
            found = [
                risk_variance(world.moments(), base, 100 * s, world.prior, sampling) for s in sizes
            ]
            rest = risk_variance(world.moments(), base, math.inf, world.prior, sampling).lu[0]
            curves = [[f.lu[0] - rest for f in found]]
        for curve in curves:
            assert (np.diff(curve) < 0).all()
            slope = np.polyfit(np.log(sizes), np.log(curve), 1)[0]
            assert slope == pytest.approx(-1.0, abs=0.03)  # a standard deviation of order 1/√n


def test_infinite_where_that_is_the_truth():
    world = World("at", 3)
    none = risk_variance(world.moments(), [5, 5, 5], 0, world.prior)
    assert np.isinf(none.lu).all()
    np.testing.assert_array_equal(none.best_weight, 0)
    np.testing.assert_array_equal(none.interval_end, 0)
    np.testing.assert_allclose(none.semi([0.0, 0.5])[0], none.supervised)
    assert np.isinf(none.semi(0.5)).all()
    missing = risk_variance(world.moments(), [5, 0, 5], 50, world.prior, "stratified")
    np.testing.assert_array_equal(np.isinf(missing.lu), [True, False, True])
    # A class that never occurs needs no labels.
    never = risk_variance(world.moments(), [5, 0, 5], 50, [0.5, 0.0, 0.5], "stratified")
    assert np.isfinite(never.lu).all()


def test_assumptions_are_named():
    world = World("at", 3)
    values = np.random.default_rng(0).uniform(size=(9, 3))
    with pytest.raises(ValueError, match=r"'labelled rows of every class'.*\[1\]"):
        class_moments(values, [0, 0, 0, 2, 2, 2, -1, -1, 1])
    with pytest.raises(ValueError, match=r"'labelled rows of every class'.*\[1\]"):
        resample_risks(values, [0, 0, 0, 2, 2, 2, -1, -1, 2], [3, 3, 3], 5, world.prior)
    codes = [0, 0, 1, 1, 2, 2, 2, -1, -1]
    with pytest.raises(ValueError, match=r"'labelled rows of every class'.*\[2\]"):
        resample_risks(values, codes, [3, 3, 0], 5, world.prior, "stratified")
    with pytest.raises(ValueError, match="n_unlabeled"):
        resample_risks(values, codes, [3, 3, 3], 0, world.prior)
    with pytest.raises(ValueError, match="whole numbers"):
        resample_risks(values, codes, [3, 3, 2.5], 5, world.prior)
    with pytest.raises(ValueError, match="'finite variance'"):
        class_moments(np.full((4, 2), np.inf), [0, 0, 1, 1])


def test_input_is_checked():
    moments, prior = World("at", 3).moments(), np.full(3, 1 / 3)
    with pytest.raises(ValueError, match="sampling='bootstrap'"):
        risk_variance(moments, [5, 5, 5], 10, prior, "bootstrap")
    with pytest.raises(ValueError, match="class_prior has 2"):
        risk_variance(moments, [5, 5], 10, [0.5, 0.5])
    with pytest.raises(ValueError, match="unlabeled_weight"):
        risk_variance(moments, [5, 5, 5], 10, prior).semi([0.5, 1.1])
    with pytest.raises(ValueError, match="codes"):
        class_moments(np.zeros((4, 2)), [0, 0, 1, 2])
    with pytest.raises(ValueError, match="codes must be integers"):
        class_moments(np.zeros((2, 2)), [0.0, np.nan])
    with pytest.raises(ValueError, match="values"):
        class_moments(np.zeros(4), [0, 0, 1, 1])
