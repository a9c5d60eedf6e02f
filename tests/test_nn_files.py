"""Saved models predict the same, hold nothing that runs, and go to ONNX with equal predictions."""

from __future__ import annotations

import zipfile

import numpy as np
import onnxruntime
import pandas as pd
import pytest
import torch
from sklearn.exceptions import NotFittedError

from problems import make_problem
from semiordinal import NeuralOrdinalClassifier
from semiordinal._utils.files import OutputError
from semiordinal.nn._files import model_content
from semiordinal.nn._tensor_files import write_tensors

PROBLEM = make_problem(seed=1, n_labeled=60, n_unlabeled=90)
X, Y = PROBLEM.X * [1.0, 50.0, 0.01] + [0.0, 5.0, 400.0], PROBLEM.y
QUICK = {"max_epochs": 10, "random_state": 0}


def convolutional(n_features, channels=4):
    return torch.nn.Sequential(
        torch.nn.Unflatten(1, (1, n_features)),
        torch.nn.Conv1d(1, channels, 2),
        torch.nn.BatchNorm1d(channels),
        torch.nn.ReLU(),
        torch.nn.Flatten(),
        torch.nn.LazyLinear(1),
    )


def fitted(**settings):
    return NeuralOrdinalClassifier(**{**QUICK, **settings}).fit(X, Y)


@pytest.mark.parametrize("loss", ["at", "it", "ls", "cl", "lad"])
def test_a_loaded_model_is_the_saved_one(loss, tmp_path):
    settings = {"loss": loss, "module_params": {"n_hidden": 8}, "class_prior": PROBLEM.prior}
    model = fitted(**settings, order_penalty=1.0, correction="leaky")
    model.save(tmp_path / "model.pt")
    again = NeuralOrdinalClassifier.load(tmp_path / "model.pt")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    np.testing.assert_array_equal(again.predict_latent(X), model.predict_latent(X))
    assert again.score(X, Y) == model.score(X, Y)
    for name in ("classes_", "thresholds_", "class_prior_", "column_mean_", "column_scale_"):
        np.testing.assert_array_equal(getattr(again, name), getattr(model, name))
    for name in ("removed_class_", "n_labeled_", "n_unlabeled_", "n_iter_", "objective_value_"):
        assert getattr(again, name) == getattr(model, name)
    assert again.history_ == model.history_
    assert again.loss == loss
    np.testing.assert_allclose(again.fit(X, Y).thresholds_, model.thresholds_)


def test_names_own_modules_and_frames(tmp_path):
    names = np.array(["none", "mild", "bad", "worst"], dtype=object)
    y = pd.Series([None if np.isnan(v) else names[int(v) - 1] for v in Y])
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    settings = {"module": convolutional, "module_params": {"channels": 3}, "classes": list(names)}
    model = NeuralOrdinalClassifier(**settings, **QUICK).fit(frame, y)
    model.save(tmp_path / "model.pt")
    with pytest.raises(ValueError, match=r"network of its own.*module="):
        NeuralOrdinalClassifier.load(tmp_path / "model.pt")
    with pytest.raises(ValueError, match="do not fit the module"):
        NeuralOrdinalClassifier.load(
            tmp_path / "model.pt",
            module=torch.nn.Linear,
            module_params={"in_features": 3, "out_features": 1},
        )
    again = NeuralOrdinalClassifier.load(
        tmp_path / "model.pt", module=convolutional, module_params={"channels": 3}
    )
    assert list(again.predict(frame)) == list(model.predict(frame))
    with pytest.raises(ValueError, match="feature names"):
        again.predict(frame[["b", "a", "c"]])


def test_a_file_that_is_there_is_overwritten_by_force_alone(tmp_path):
    model, path = fitted(), tmp_path / "model.pt"
    path.write_bytes(b"dear")
    with pytest.raises(ValueError, match=r"exists already.*force=True"):
        model.save(str(path))
    assert path.read_bytes() == b"dear"
    model.save(str(path), force=True)
    assert NeuralOrdinalClassifier.load(path).n_labeled_ == model.n_labeled_
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_would_run_code_is_refused(tmp_path):
    class Harm:
        def __reduce__(self):
            return (open, (str(tmp_path / "harmed"), "w"))

    path = tmp_path / "model.pt"
    torch.save({"format": "semiordinal.nn 1", "state": Harm()}, path)
    with pytest.raises(ValueError, match=r"could run as code.*[Ww]eights.only"):
        NeuralOrdinalClassifier.load(path)
    assert not (tmp_path / "harmed").exists()


@pytest.mark.parametrize("with_digest", [True, False], ids=["digest", "before the digest"])
def test_flipped_bits_are_refused_or_change_nothing(with_digest, tmp_path):
    model, path = fitted(), tmp_path / "model.pt"
    model.save(path)
    if not with_digest:
        torch.save(model_content(model), path)
    whole = path.read_bytes()
    assert (b"sha256" in whole) == with_digest
    rng = np.random.default_rng(0)
    n_refused = 0
    for place in rng.integers(len(whole), size=150):
        flipped = bytearray(whole)
        flipped[place] ^= 1 << rng.integers(8)
        path.write_bytes(flipped)
        try:
            again = NeuralOrdinalClassifier.load(path)
        except ValueError:
            n_refused += 1
        else:
            np.testing.assert_array_equal(again.predict_latent(X), model.predict_latent(X))
    assert n_refused > (140 if with_digest else 40)
    for end in (0, 100, len(whole) // 2, len(whole) - 90):
        path.write_bytes(whole[:end])
        with pytest.raises(ValueError, match="is damaged"):
            NeuralOrdinalClassifier.load(path)


def test_a_file_with_a_digest_is_still_an_archive_that_torch_reads(tmp_path):
    fitted().save(tmp_path / "model.pt")
    with zipfile.ZipFile(tmp_path / "model.pt") as archive:
        assert archive.testzip() is None
        assert archive.comment.startswith(b"semiordinal sha256 ")
    assert torch.load(tmp_path / "model.pt", weights_only=True)["format"] == "semiordinal.nn 1"


@pytest.mark.parametrize("n_hidden", [10**8, 10**18, -1, 0.5, [3]])
def test_a_network_of_another_size_than_its_weights_is_not_made(n_hidden, tmp_path):
    content = model_content(fitted()) | {"module_params": {"n_hidden": n_hidden}}
    write_tensors(content, tmp_path / "model.pt")  # with a digest that fits
    with pytest.raises(ValueError, match="holds a model that cannot be read") as caught:
        NeuralOrdinalClassifier.load(tmp_path / "model.pt")
    assert "\n" not in str(caught.value)


def test_files_that_are_not_models(tmp_path):
    torch.save({"weights": torch.zeros(2)}, tmp_path / "other.pt")
    with pytest.raises(ValueError, match=r"was not written by NeuralOrdinalClassifier\.save"):
        NeuralOrdinalClassifier.load(tmp_path / "other.pt")
    with pytest.raises(NotFittedError):
        NeuralOrdinalClassifier().save(tmp_path / "none.pt")
    assert not (tmp_path / "none.pt").exists()


def test_what_cannot_be_stored_is_said(tmp_path):
    model = fitted()
    model.classes = [object()]
    with pytest.raises(ValueError, match=r"classes holds.*plain values"):
        model.save(tmp_path / "model.pt")
    assert list(tmp_path.iterdir()) == []


def test_a_model_file_holds_no_classes_of_ours(tmp_path):
    fitted().save(tmp_path / "model.pt")
    with zipfile.ZipFile(tmp_path / "model.pt") as archive:
        name = next(n for n in archive.namelist() if n.endswith("data.pkl"))
        assert b"semiordinal.nn.c" not in archive.read(name)


@pytest.mark.parametrize("module", [None, convolutional], ids=["default", "convolutional"])
@pytest.mark.parametrize("loss", ["at", "ls"])
def test_onnx_predicts_the_same(module, loss, tmp_path):
    model = fitted(module=module, loss=loss)
    path = tmp_path / "model.onnx"
    model.to_onnx(path)
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    rng = np.random.default_rng(0)
    for n in (1, 3, 500):
        rows = X[rng.integers(len(X), size=n)] + rng.normal(size=(n, 3)) * [1.0, 50.0, 0.01]
        latent, position, thresholds = session.run(None, {"rows": rows})
        np.testing.assert_allclose(latent, model.predict_latent(rows), rtol=1e-4, atol=1e-5)
        np.testing.assert_array_equal(model.classes_[position], model.predict(rows))
        np.testing.assert_allclose(thresholds, model.thresholds_, rtol=1e-6)


def test_onnx_overwrites_only_where_told(tmp_path):
    path = tmp_path / "model.onnx"
    path.write_text("mine")
    with pytest.raises(OutputError, match=r"model\.onnx"):
        fitted().to_onnx(path)
    assert path.read_text() == "mine"
    fitted().to_onnx(path, force=True)
    assert path.read_bytes() != b"mine"
    assert list(tmp_path.iterdir()) == [path]
