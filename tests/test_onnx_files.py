"""ONNX graphs of classifiers predict what the classifiers do."""

from __future__ import annotations

import json

import numpy as np
import pytest

from semiordinal import (
    KernelOrdinalClassifier,
    KernelOrdinalClassifierCV,
    LinearOrdinalClassifier,
    LinearOrdinalClassifierCV,
    TreeOrdinalClassifier,
)

pytest.importorskip("onnx", reason="the extra onnx is not installed")
onnxruntime = pytest.importorskip("onnxruntime", reason="the extra onnx is not installed")

from semiordinal._utils.files import OutputError  # noqa: E402
from semiordinal.onnx_files import to_onnx  # noqa: E402

SEARCH = {"l2s": (0.1, 0.01), "cv": 3, "n_repeats": 1, "random_state": 0}
MODELS = [
    LinearOrdinalClassifier(),
    LinearOrdinalClassifier(loss="ls"),
    LinearOrdinalClassifierCV(class_prior="uniform", **SEARCH),
    KernelOrdinalClassifier(penalty="coef"),
    KernelOrdinalClassifier(kernel="laplace", column_weights=[1.0, 2.0, 0.5]),
    KernelOrdinalClassifierCV(bandwidths=(1.0,), **SEARCH),
]
NAMES = ["poor", "fair", "good"]


def rows(seed, n_rows):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3)) * [0.1, 1.0, 30.0] + [5.0, 0.0, -300.0]
    score = (X - [5.0, 0.0, -300.0]) @ [10.0, -1.0, 0.02] + rng.logistic(size=n_rows)
    return X, np.array(NAMES)[np.digitize(score, [-1.0, 1.0])]


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_predictions_are_the_same(model, tmp_path):
    X, y = rows(0, 80)
    model.set_params(classes=NAMES).fit(X, y)
    path = tmp_path / "model.onnx"
    to_onnx(model, path)
    session = onnxruntime.InferenceSession(path)
    new = rows(1, 1000)[0]
    found = dict(
        zip(
            [each.name for each in session.get_outputs()],
            session.run(None, {"rows": new}),
            strict=True,
        )
    )
    np.testing.assert_allclose(found["latent"], model.predict_latent(new), rtol=1e-8, atol=1e-8)
    np.testing.assert_array_equal(model.class_order_[found["position"]], model.predict(new))
    assert ("cumulative" in found) == hasattr(model, "predict_cumulative")
    if "cumulative" in found:
        expected = model.predict_cumulative(new)
        np.testing.assert_allclose(found["cumulative"], expected, rtol=1e-8, atol=1e-10)
    stored = session.get_modelmeta().custom_metadata_map["class_order"]
    assert json.loads(stored) == NAMES
    with pytest.raises(OutputError):
        to_onnx(model, path)
    to_onnx(model, path, force=True)


def test_models_that_cannot_be_graphs(tmp_path):
    X, y = rows(0, 60)
    tree = TreeOrdinalClassifier(n_estimators=2, classes=NAMES).fit(X, y)
    with pytest.raises(ValueError, match="TreeOrdinalClassifier cannot be made an ONNX graph"):
        to_onnx(tree, tmp_path / "model.onnx")
    probit = LinearOrdinalClassifier(loss="cl", link="probit", classes=NAMES).fit(X, y)
    with pytest.raises(ValueError, match="link='probit' cannot"):
        to_onnx(probit, tmp_path / "model.onnx")
    assert not list(tmp_path.iterdir())
