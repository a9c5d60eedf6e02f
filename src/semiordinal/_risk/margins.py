"""Binary margin losses ℓ(z): convex functions of one number, with ℓ'(0) < 0.

Each margin gives its value, first and second derivative, and says what an
objective built on it may rely on:

``linear_odd``
    The constant C in ``ℓ(z) − ℓ(−z) = −C z``, or None where no C exists. With it,
    the negative label weights of a semi-supervised risk turn into a linear term.
``lipschitz``
    The Lipschitz constant on the whole line, infinite where there is none.
``smooth``
    Whether the derivative exists everywhere. A margin that is not smooth offers
    ``smoothed(width)``, which is.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from scipy.special import expit

from .._utils.checks import check_choice
from .._utils.computing import Allocate, fresh
from .._utils.typing import Array

# Largest exponent whose exponential, times a few others of ordinary size, is finite.
LARGEST_EXPONENT = 700.0


class Margin(ABC):
    """A convex binary loss on margins z."""

    name: ClassVar[str]
    linear_odd: float | None = None
    lipschitz: float = math.inf
    smooth: bool = True
    quadratic: tuple[float, float] | None = None  # (b, c) where ℓ(z) = z² + b z + c

    @abstractmethod
    def value(self, z: Array) -> Array:
        """ℓ(z)."""

    @abstractmethod
    def derivative(self, z: Array) -> Array:
        """ℓ'(z); at a kink, the mean of the two one-sided slopes."""

    @abstractmethod
    def curvature(self, z: Array) -> Array:
        """ℓ''(z), zero at a kink."""

    def contract(
        self,
        latent: Array,
        thresholds: Array,
        weights: Array,
        order: int,
        allocate: Allocate = fresh,
    ) -> tuple[float, Array, Array | None]:
        """Weighted sum of ℓ over the scores ``thresholds − latent``, and its derivatives.

        Parameters
        ----------
        latent : array of shape (n,)
        thresholds : array of shape (m,)
        weights : array that broadcasts to (n, m)
        order : 1 for value and gradient, 2 for the curvature as well
        allocate : callable
            Gives memory for the arrays of shape (n, m).

        Returns
        -------
        value : float
            ``Σ weights ∘ ℓ(scores)``.
        gradient, curvature : arrays of shape (n, m), Fortran order
            ``weights ∘ ℓ'(scores)`` and ``weights ∘ ℓ''(scores)`` (None for order 1).
        """
        scores = allocate((len(latent), len(thresholds)))
        np.subtract(thresholds, latent[:, None], out=scores)
        value = weighted_sum(weights, self.value(scores))
        gradient = self.derivative(scores)
        gradient *= weights
        if order < 2:
            return value, gradient, None
        curvature = self.curvature(scores)
        curvature *= weights
        return value, gradient, curvature

    def smoothed(self, width: float) -> Margin:
        """A smooth margin within ``width`` of this one; itself where it is smooth already."""
        return self


def weighted_sum(weights: Array, values: Array) -> float:
    """``Σ weights ∘ values`` where the weights broadcast to the values."""
    if weights.size == 1:
        return float(weights.ravel()[0] * values.sum())
    if weights.shape == values.shape:
        return float(np.vdot(weights.T, values.T))
    if weights.shape[1] == 1:
        return float(weights[:, 0] @ values.sum(axis=1))
    return float(values.sum(axis=0) @ weights[0])


class Logistic(Margin):
    """``log(1 + exp(−z))``."""

    name = "logistic"
    linear_odd = 1.0
    lipschitz = 1.0

    def value(self, z: Array) -> Array:
        return np.log1p(np.exp(-np.abs(z))) - np.minimum(z, 0)

    def derivative(self, z: Array) -> Array:
        return -expit(-z)

    def curvature(self, z: Array) -> Array:
        return expit(z) * expit(-z)

    def contract(
        self,
        latent: Array,
        thresholds: Array,
        weights: Array,
        order: int,
        allocate: Allocate = fresh,
    ) -> tuple[float, Array, Array | None]:
        # One exp a row: exp(−score) factors into exp(latent − c) · exp(c − threshold);
        # and, where a row has one weight, one log a row: Σ log(1+e_i) = log Π(1+e_i).
        center = 0.5 * (thresholds[0] + thresholds[-1])
        spread = 0.5 * abs(thresholds[-1] - thresholds[0])
        reach = max(latent.max() - center, center - latent.min(), 0.0) + spread
        if not reach * len(thresholds) < LARGEST_EXPONENT:
            return super().contract(latent, thresholds, weights, order, allocate)
        odds = allocate((len(latent), len(thresholds)))
        shifted = allocate((len(latent), 1))
        np.exp(np.subtract(latent[:, None], center, out=shifted), out=shifted)
        np.multiply(shifted, np.exp(center - thresholds), out=odds)
        odds += 1
        if weights.shape[1] == 1:
            product = np.prod(odds, axis=1, keepdims=True, out=shifted)
            value = weighted_sum(weights, np.log(product, out=product))
        else:
            value = weighted_sum(weights, np.log(odds, out=allocate(odds.shape)))
        sigmoid = np.reciprocal(odds, out=odds)
        gradient = np.subtract(sigmoid, 1, out=allocate(odds.shape))
        curvature = None
        if order >= 2:
            curvature = np.multiply(gradient, sigmoid, out=sigmoid)
            curvature *= -weights
        gradient *= weights
        return value, gradient, curvature


class SquaredDistanceToOne(Margin):
    """``(1 − z)²``."""

    name = "squared"
    linear_odd = 4.0
    quadratic = (-2.0, 1.0)

    def value(self, z: Array) -> Array:
        return np.square(1 - z)

    def derivative(self, z: Array) -> Array:
        return 2 * (z - 1)

    def curvature(self, z: Array) -> Array:
        return np.full_like(z, 2.0)


class Exponential(Margin):
    """``exp(−z)``, limited to finite numbers so that its product with a zero weight is zero."""

    name = "exponential"

    def value(self, z: Array) -> Array:
        return np.exp(np.minimum(-z, LARGEST_EXPONENT))

    def derivative(self, z: Array) -> Array:
        return -self.value(z)

    def curvature(self, z: Array) -> Array:
        return self.value(z)


class PiecewiseLinear(Margin):
    """``slope · z + Σ weight · max(0, kink − z)``: hinges, and their smooth neighbours.

    ``smoothed(width)`` puts ``(t + √(t² + 4 width²)) / 2`` in place of ``max(0, t)``.
    It lies above by at most ``width`` and keeps ``linear_odd``.
    """

    hinges: tuple[tuple[float, float], ...] = ()  # (weight, kink)
    slope: float = 0.0
    smooth = False
    width: float = 0.0

    def smoothed(self, width: float) -> Margin:
        copy = type(self)()
        copy.width = width
        copy.smooth = True
        return copy

    def value(self, z: Array) -> Array:
        total = self.slope * z
        for weight, kink in self.hinges:
            t = kink - z
            total = total + weight * 0.5 * (t + np.hypot(t, 2 * self.width))
        return total

    def derivative(self, z: Array) -> Array:
        total = np.full_like(z, self.slope)
        for weight, kink in self.hinges:
            t = kink - z
            ratio = t / np.hypot(t, 2 * self.width) if self.width else np.sign(t)
            total -= weight * 0.5 * (1 + ratio)
        return total

    def curvature(self, z: Array) -> Array:
        total = np.zeros_like(z)
        if self.width:
            for weight, kink in self.hinges:
                total += weight * 2 * self.width**2 / np.hypot(kink - z, 2 * self.width) ** 3
        return total


class Hinge(PiecewiseLinear):
    """``max(0, 1 − z)``."""

    name = "hinge"
    hinges = ((1.0, 1.0),)
    lipschitz = 1.0


class DoubleHinge(PiecewiseLinear):
    """``max(−z, max(0, (1 − z)/2))``, which is half a hinge at 1 and half a hinge at −1."""

    name = "double_hinge"
    hinges = ((0.5, 1.0), (0.5, -1.0))
    linear_odd = 1.0
    lipschitz = 1.0


class Square(Margin):
    """``z²``, to which every quadratic loss reduces; not a margin for users."""

    name = "square"
    linear_odd = 0.0
    quadratic = (0.0, 0.0)

    def value(self, z: Array) -> Array:
        return np.square(z)

    def derivative(self, z: Array) -> Array:
        return 2 * z

    def curvature(self, z: Array) -> Array:
        return np.full_like(z, 2.0)


class GapLoss(Margin):
    """``−log(1 − exp(−z))``, infinite at z ≤ 0: a term of the cumulative link loss in the gap z
    between two thresholds; not a margin for users."""

    name = "gap"

    def value(self, z: Array) -> Array:
        with np.errstate(divide="ignore"):
            return -np.log(-np.expm1(-np.maximum(z, 0)))

    def derivative(self, z: Array) -> Array:
        return -1 / np.expm1(np.minimum(z, LARGEST_EXPONENT))

    def curvature(self, z: Array) -> Array:
        slope = self.derivative(z)
        return slope * (slope - 1)


class Absolute(PiecewiseLinear):
    """``|z|``, of which the least-absolute-deviation loss consists; not a margin for users."""

    name = "absolute"
    hinges = ((2.0, 0.0),)
    slope = 1.0
    linear_odd = 0.0
    lipschitz = 1.0


MARGINS: dict[str, Margin] = {
    margin.name: margin
    for margin in (Logistic(), DoubleHinge(), SquaredDistanceToOne(), Hinge(), Exponential())
}


def get_margin(name: str) -> Margin:
    """The margin of that name.

    Examples
    --------
    >>> get_margin("double_hinge").linear_odd
    1.0
    """
    check_choice("margin", name, sorted(MARGINS))
    return MARGINS[name]
