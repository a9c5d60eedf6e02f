"""Results of each estimator on a small set, kept as JSON: a change must be meant.

``python tests/test_golden.py`` writes them anew.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

from semiordinal import KernelOrdinalClassifier, LinearOrdinalClassifier
from semiordinal.datasets import load_diabetes_stages, mask_labels

GOLDEN = Path(__file__).parent / "golden" / "diabetes.json"

PAPER = {
    "unlabeled_weight": 0.5,
    "removed_class": "smallest",
    "correction": "leaky",
    "order_penalty": 10.0,
}
MODELS = {
    **{f"linear {loss}": LinearOrdinalClassifier(loss=loss) for loss in ("at", "it", "ls", "cl")},
    "linear lad, supervised": LinearOrdinalClassifier(loss="lad", unlabeled_weight=0.0),
    "linear at, double hinge": LinearOrdinalClassifier(margin="double_hinge"),
    "linear at, paper": LinearOrdinalClassifier(**PAPER),
    "kernel at": KernelOrdinalClassifier(),
    "kernel ls": KernelOrdinalClassifier(loss="ls"),
}


def fit(model):
    X, truth = load_diabetes_stages()
    y = mask_labels(truth, 60, random_state=0)
    model = clone(model).set_params(random_state=0, class_prior="uniform").fit(X, y)
    predicted = model.predict(X)
    return {
        "objective_value": model.objective_value_,
        "thresholds": model.thresholds_.tolist(),
        "coef_norm": float(np.linalg.norm(model.coef_)),
        "mae": float(np.abs(predicted - truth).mean()),
        "class_counts": [int((predicted == c).sum()) for c in model.classes_],
    }


@pytest.mark.parametrize("name", MODELS)
def test_as_before(name):
    expected = json.loads(GOLDEN.read_text())[name]
    got = fit(MODELS[name])
    assert got["class_counts"] == expected["class_counts"]
    for key in ("objective_value", "thresholds", "coef_norm", "mae"):
        np.testing.assert_allclose(got[key], expected[key], rtol=1e-5, err_msg=key)


if __name__ == "__main__":
    GOLDEN.parent.mkdir(exist_ok=True)
    results = {name: fit(model) for name, model in MODELS.items()}
    GOLDEN.write_text(json.dumps(results, indent=1) + "\n")
