"""Ways to choose rows to label: ours, random draws, and what is done for classes without order.

Each takes a fitted classifier, rows, labels with NaN where there are none, a number and a random
generator, and gives positions of unlabelled rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from semiordinal import LinearOrdinalClassifier
from semiordinal.labeling import suggest

MEMBERS = 7  # of a committee


def ours(model: Any, X: np.ndarray, y: np.ndarray, n: int, random: Any) -> np.ndarray:
    return suggest(model, X, n, y=y, random_state=int(random.integers(2**31))).positions


def ours_alone(model: Any, X: np.ndarray, y: np.ndarray, n: int, random: Any) -> np.ndarray:
    """Ours, with no row drawn at random."""
    return suggest(model, X, n, y=y, random_share=0.0).positions


def by_chance(model: Any, X: np.ndarray, y: np.ndarray, n: int, random: Any) -> np.ndarray:
    return random.choice(np.flatnonzero(np.isnan(y)), n, replace=False)


def _highest(scores: np.ndarray, y: np.ndarray, n: int) -> np.ndarray:
    return np.argsort(-np.where(np.isnan(y), scores, -np.inf), kind="stable")[:n]


def margin(model: Any, X: np.ndarray, y: np.ndarray, n: int, random: Any) -> np.ndarray:
    """The least difference between the two most probable classes."""
    probabilities = np.sort(model.predict_proba(X), axis=1)
    return _highest(probabilities[:, -2] - probabilities[:, -1], y, n)


def entropy(model: Any, X: np.ndarray, y: np.ndarray, n: int, random: Any) -> np.ndarray:
    """The largest entropy of the class probabilities."""
    return _highest(_entropies(model.predict_proba(X)), y, n)


def committee(model: Any, X: np.ndarray, y: np.ndarray, n: int, random: Any) -> np.ndarray:
    """Where models of bootstrap draws differ most: the mean divergence from their mean."""
    labeled, classes = np.flatnonzero(~np.isnan(y)), np.unique(y[~np.isnan(y)])
    l2 = getattr(model, "l2_", 0.01)
    found = []
    while len(found) < MEMBERS:
        drawn = random.choice(labeled, len(labeled))
        if len(np.unique(y[drawn])) == len(classes):
            member = LinearOrdinalClassifier(unlabeled_weight=0, l2=l2)
            found.append(member.fit(X[drawn], y[drawn]).predict_proba(X))
    each = np.array(found)
    return _highest(_entropies(each.mean(axis=0)) - _entropies(each).mean(axis=0), y, n)


def diversity(model: Any, X: np.ndarray, y: np.ndarray, n: int, random: Any) -> np.ndarray:
    """Each time the row that is furthest from all that are labelled or chosen."""
    scale = X.std(axis=0)
    rows = (X[:, scale > 0] - X[:, scale > 0].mean(axis=0)) / scale[scale > 0]
    distances = cdist(rows, rows[~np.isnan(y)]).min(axis=1)
    chosen: list[int] = []
    for _ in range(n):
        distances[chosen] = -1
        chosen.append(int(distances.argmax()))
        distances = np.minimum(distances, np.linalg.norm(rows - rows[chosen[-1]], axis=1))
    return np.array(chosen)


def _entropies(probabilities: np.ndarray) -> np.ndarray:
    return -(probabilities * np.log(np.maximum(probabilities, 1e-300))).sum(axis=-1)


STRATEGIES = {
    "random": by_chance,
    "ours": ours,
    "ours-alone": ours_alone,
    "margin": margin,
    "entropy": entropy,
    "committee": committee,
    "diversity": diversity,
}
