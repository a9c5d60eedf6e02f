"""A distribution that is known, for bounds to hold on."""

from __future__ import annotations

import numpy as np

from semiordinal._risk.losses import get_loss
from semiordinal.theory import LinearClass, feature_bound

SMALLEST_GAP = 0.3


class World:
    """A discrete distribution of (x, y), and many models of a linear class on its support.

    With ``kernel`` the models are functions of the Gaussian kernel's space, in a ball.
    """

    def __init__(self, loss, rng, n_classes=3, n_points=6, n_models=3000, kernel=False):
        self.loss, self.n_classes = get_loss(loss), n_classes
        points = np.column_stack([np.linspace(-1, 1, n_points), np.ones(n_points)])
        self.joint = rng.dirichlet(np.full(n_points * n_classes, 2.0)).reshape(n_points, -1)
        self.models = LinearClass(1.5, feature_bound(points), 1.0, first_threshold=-0.5)
        if kernel:  # the columns of a root of the kernel matrix span the space on these points
            gram = np.exp(-((points[:, None] - points) ** 2).sum(axis=2))
            values, vectors = np.linalg.eigh(gram)
            points = vectors * np.sqrt(np.maximum(values, 0))
            self.models = LinearClass.kernel_ball(1.5, 1.0, first_threshold=-0.5)
        coef = _in_ball(rng, n_models, points.shape[1]) * self.models.coef_bound
        thresholds = np.sort(_in_ball(rng, n_models, n_classes - 1), axis=1)
        if self.loss.unit_gaps:
            thresholds = np.tile(-0.5 + np.arange(n_classes - 1), (n_models, 1))
        if loss == "cl":  # no gap below SMALLEST_GAP, within the ball
            middle = thresholds.mean(axis=1, keepdims=True) / 2
            thresholds = middle + rng.uniform(SMALLEST_GAP / 2, 0.5, (n_models, 1)) * [-1, 1]
        scores = thresholds[:, None, :] - (coef @ points.T)[:, :, None]
        values = self.loss.values(scores.reshape(-1, n_classes - 1))
        self.values = values.reshape(n_models, n_points, n_classes)
        self.risks = np.einsum("xy,gxy->g", self.joint, self.values)

    def semi_risks(self, rng, n_labeled, n_unlabeled, gamma, k, n_draws):
        """SEMI of every model in every draw, from its definition; and the counts."""
        prior, shape = self.joint.sum(axis=0), (n_draws, *self.joint.shape)
        labeled = rng.multinomial(n_labeled, self.joint.ravel(), size=n_draws).reshape(shape)
        unlabeled = rng.multinomial(n_unlabeled, self.joint.sum(axis=1), size=n_draws)
        counts = labeled.sum(axis=1)
        assert counts.min() > 0
        per_class = labeled * (prior / counts)[:, None, :]
        per_class[:, :, k] = 0
        weights = gamma * per_class + (1 - gamma) * labeled / n_labeled
        weights[:, :, k] += gamma * (unlabeled / n_unlabeled - per_class.sum(axis=2))
        return weights.reshape(n_draws, -1) @ self.values.reshape(len(self.values), -1).T, counts


def _in_ball(rng, n, d):
    direction = rng.standard_normal((n, d))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    return direction * rng.uniform(0, 1, (n, 1)) ** (1 / d)
