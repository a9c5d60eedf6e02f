"""Small problems for the baselines, and their objectives written out plainly."""

from __future__ import annotations

import itertools

import numpy as np
from scipy.spatial.distance import cdist

from semiordinal._risk.losses import get_loss

N_CLASSES = 3


def noisy_rows(seed=0, n_labeled=15, n_unlabeled=45, n_features=3):
    """Rows with a noisy linear order in classes 1..3, the first ones labelled."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_labeled + n_unlabeled, n_features)) * [1.0, 5.0, 0.2][:n_features]
    latent = X[:, 0] - X[:, 1] / 5 + 0.7 * rng.logistic(size=len(X))
    truth = 1 + np.searchsorted(np.quantile(latent, [0.3, 0.7]), latent)
    truth[:N_CLASSES] = np.arange(1, N_CLASSES + 1)
    y = truth.astype(float)
    y[n_labeled:] = np.nan
    return X, truth, y


def clusters(seed, n_features=4, separation=10.0, n_per_class=100):
    """A cluster a class along the first feature, two labels in each."""
    rng = np.random.default_rng(seed)
    truth = np.repeat(np.arange(1, N_CLASSES + 1), n_per_class)
    X = rng.normal(size=(len(truth), n_features))
    X[:, 0] += separation * truth
    y = np.full(len(truth), np.nan)
    for label in range(1, N_CLASSES + 1):
        y[rng.choice(np.flatnonzero(truth == label), 2, replace=False)] = label
    return X, truth, y


def spiral_strip(seed, n_rows=600, n_classes=5, n_labels=2):
    """A strip that winds, its label the place along it; few labels in each class."""
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, 4 * np.pi, n_rows)
    radius = 1 + 0.25 * angle
    X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    X += 0.05 * rng.normal(size=X.shape)
    truth = 1 + np.digitize(angle, np.linspace(0, 4 * np.pi, n_classes + 1)[1:-1])
    y = np.full(n_rows, np.nan)
    for label in range(1, n_classes + 1):
        y[rng.choice(np.flatnonzero(truth == label), n_labels, replace=False)] = label
    return X, truth, y


def assignments(quotas):
    """Every way to give classes to rows in the numbers of the quotas."""
    rows = range(int(sum(quotas)))

    def extend(code, left):
        if code == len(quotas):
            yield {}
            return
        for chosen in itertools.combinations(left, int(quotas[code])):
            for rest in extend(code + 1, [row for row in left if row not in chosen]):
                yield {**dict.fromkeys(chosen, code), **rest}

    for given in extend(0, list(rows)):
        yield np.array([given[row] for row in rows])


def label_losses(latent, thresholds, loss, margin="logistic"):
    """ψ of each row for each class."""
    return get_loss(loss, margin).values(thresholds - latent[:, None])


def transductive_value(model, X, y, labels):
    """The TOR-style objective of a fitted model at given labels of all rows."""
    losses = label_losses(model.predict_latent(X), model.thresholds_, model.loss, model.margin)
    own = losses[np.arange(len(X)), labels.astype(int) - 1]
    unlabeled = np.isnan(y)
    scale = X.std(axis=0) if model.model == "linear" and model.standardize else 1.0
    return (
        0.5 * model.l2 * np.sum((model.coef_ * scale) ** 2)
        + own[~unlabeled].mean()
        + model.pseudo_label_weight * own[unlabeled].mean()
    )


def dense_graph(X, n_neighbors, standardize=True):
    """Weights between all pairs of rows and the Gaussian's width, by loops."""
    points = (X - X.mean(axis=0)) / X.std(axis=0) if standardize else X
    distances = cdist(points, points)
    np.fill_diagonal(distances, np.inf)
    nearest = np.argsort(distances, axis=1)[:, :n_neighbors]
    width = np.median(np.take_along_axis(distances, nearest, axis=1))
    weights = np.zeros_like(distances)
    for row, others in enumerate(nearest):
        for other in others:
            weight = np.exp(-(distances[row, other] ** 2) / (2 * width**2))
            weights[row, other] = weights[other, row] = weight
    return weights, width


def dense_scores(weights, y, class_prior, label_weight):
    """The minimiser of smoothness and fit, by one dense solve."""
    labeled = ~np.isnan(y)
    centre = np.dot(class_prior, np.arange(1, len(class_prior) + 1))
    root = np.sqrt(weights.sum(axis=1))
    laplacian = np.eye(len(y)) - weights / np.outer(root, root)
    targets = np.where(labeled, y - centre, 0.0)
    system = laplacian + label_weight * np.diag(labeled.astype(float))
    return np.linalg.solve(system, label_weight * targets)
