"""Networks in model files: the default one as an array, one's own refused."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

pytest.importorskip("torch", reason="the extra torch is not installed")
pytest.importorskip("skorch", reason="the extra torch is not installed")

import torch

from semiordinal import NeuralOrdinalClassifier
from semiordinal.datasets import load_diabetes_stages, mask_labels
from semiordinal.model_files import load, save

X, TRUTH = load_diabetes_stages()
Y = mask_labels(TRUTH, 60, random_state=0)


@pytest.mark.parametrize("piped", [False, True], ids=["alone", "in a pipeline"])
def test_the_default_network_comes_back(piped, tmp_path):
    model = NeuralOrdinalClassifier(max_epochs=5, random_state=0)
    model = make_pipeline(StandardScaler(), model) if piped else model
    model.fit(X, Y)
    save(model, tmp_path / "network.semiordinal")
    again = load(tmp_path / "network.semiordinal")
    assert type(again) is type(model)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    np.testing.assert_allclose(again.predict_proba(X), model.predict_proba(X), rtol=1e-6)


class OwnNetwork(torch.nn.Linear):
    def __init__(self, n_features):
        super().__init__(n_features, 1)


def test_a_network_of_ones_own_is_refused_with_the_way_out(tmp_path):
    model = NeuralOrdinalClassifier(module=OwnNetwork, max_epochs=2, random_state=0)
    model.fit(X, Y)
    with pytest.raises(ValueError, match=r"network of your own.*model\.save"):
        save(model, tmp_path / "network.semiordinal")
    assert not list(tmp_path.iterdir())
