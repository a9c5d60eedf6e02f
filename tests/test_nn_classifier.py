"""The neural classifier: it minimises what it says, the same way each time, and can go on."""

from __future__ import annotations

import pickle
import signal
import subprocess
import sys
from functools import partial

import numpy as np
import pandas as pd
import pytest
import torch
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from problems import ARGMAX, assert_passes_checks, make_problem
from semiordinal import (
    CalibratedOrdinalClassifier,
    LinearOrdinalClassifier,
    NeuralOrdinalClassifier,
)
from semiordinal.datasets import load_diabetes_stages, mask_labels
from semiordinal.model_selection import LabeledKFold, OrdinalScorer
from semiordinal.nn import HiddenLayerNetwork

PROBLEM = make_problem(seed=1, n_labeled=60, n_unlabeled=90)
X, Y = PROBLEM.X, PROBLEM.y
QUICK = {"max_epochs": 15, "random_state": 0, "module_params": {"n_hidden": 16}}


def linear_double(n_features):
    return torch.nn.Linear(n_features, 1, bias=False).double()


def with_dropout(n_features):
    return torch.nn.Sequential(
        torch.nn.Linear(n_features, 16),
        torch.nn.ReLU(),
        torch.nn.Dropout(0.3),
        torch.nn.Linear(16, 1),
    )


def state(model):
    return {name: tensor.numpy() for name, tensor in model.module_.state_dict().items()}


def assert_same(one, other):
    first, second = state(one), state(other)
    assert first.keys() == second.keys()
    for name, values in first.items():
        np.testing.assert_array_equal(values, second[name])


@pytest.mark.parametrize("weight", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("loss", ["at", "ls", "cl"])
def test_a_linear_module_reaches_the_optimum(loss, weight):
    """L-BFGS on float64 against the exact solvers, to 1e-4 of the objective (CL: supervised)."""
    if loss == "cl" and weight:
        pytest.skip("CL with unlabelled rows is not convex, so there is no one optimum")
    settings = {"l2": 0.01, "class_prior": PROBLEM.prior, "correction": "none"}
    settings |= {"loss": loss, "unlabeled_weight": weight}
    exact = LinearOrdinalClassifier(**settings).fit(X, Y)
    network = NeuralOrdinalClassifier(
        module=linear_double,
        optimizer="LBFGS",
        optimizer_params={"line_search_fn": "strong_wolfe"},
        lr=1.0,
        max_epochs=30,
        random_state=0,
        **settings,
    ).fit(X, Y)
    assert network.objective_value_ == pytest.approx(exact.objective_value_, rel=1e-4)
    assert network.objective_value_ > exact.objective_value_ - 1e-9
    assert (network.predict(X) == exact.predict(X)).mean() > 0.98


def test_order_penalty_reaches_the_optimum():
    settings = {"l2": 0.01, "class_prior": PROBLEM.prior, "correction": "none"}
    settings |= {"order_penalty": 10.0}
    exact = LinearOrdinalClassifier(**settings).fit(X, Y)
    network = NeuralOrdinalClassifier(
        module=linear_double, max_epochs=1500, lr=0.02, random_state=0, **settings
    ).fit(X, Y)
    assert network.objective_value_ == pytest.approx(exact.objective_value_, rel=1e-3)


SINGLE_PRECISION = {
    "check_sample_weight_equivalence_on_dense_data": "sums of 32-bit floats differ in their last "
    "digits between a weight of two and two rows, and training magnifies it",
    "check_sample_weight_equivalence_on_sparse_data": "the same for sparse rows",
    "check_methods_subset_invariance": "products of 32-bit floats differ in their last digit with "
    "the number of rows, and the check asks for 1e-7",
}


def hidden_double(n_features):
    return HiddenLayerNetwork(n_features, 32).double()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"loss": "at"}, ARGMAX | SINGLE_PRECISION),
        ({"loss": "at", "module": hidden_double}, ARGMAX),
        ({"loss": "it", "module": hidden_double}, {}),
    ],
    ids=["defaults", "64 bits", "64 bits without probabilities"],
)
def test_check_estimator(settings, expected):
    """A network of 64 bits shows that rounding is all that is behind the failures of 32."""
    assert_passes_checks(NeuralOrdinalClassifier(max_epochs=30, lr=0.02, **settings), expected)


@pytest.mark.parametrize("batch_size", ["full", 40])
def test_the_same_seed_gives_the_same_model(batch_size):
    settings = {**QUICK, "batch_size": batch_size, "module": with_dropout, "module_params": None}
    before = torch.get_rng_state()
    models = [NeuralOrdinalClassifier(**settings).fit(X, Y) for _ in range(2)]
    assert_same(*models)
    assert torch.equal(torch.get_rng_state(), before), "the user's own generator is left alone"
    other = NeuralOrdinalClassifier(**{**settings, "random_state": 1}).fit(X, Y)
    assert (other.predict_latent(X) != models[0].predict_latent(X)).any()


@pytest.mark.parametrize("early_stopping", [False, True])
@pytest.mark.parametrize("batch_size", ["full", 40])
def test_a_resumed_run_is_an_unbroken_one(tmp_path, batch_size, early_stopping):
    settings = {
        **QUICK,
        "module": with_dropout,
        "module_params": None,
        "batch_size": batch_size,
        "early_stopping": early_stopping,
        "patience": 6,
        "lr": 0.05,
        "max_epochs": 40,
    }
    unbroken = NeuralOrdinalClassifier(**settings).fit(X, Y)
    resumable = {**settings, "checkpoint_dir": tmp_path / "run", "checkpoint_every": 4}
    calls, last_call = iter(range(10_000)), 9 if batch_size == "full" else 25

    class PowerCut(torch.nn.Sequential):
        def forward(self, rows):
            if self.training and next(calls) == last_call:
                raise OSError("power cut")
            return super().forward(rows)

    def fragile(n_features):
        return PowerCut(*with_dropout(n_features))

    with pytest.raises(OSError, match="power cut"):
        NeuralOrdinalClassifier(**{**resumable, "module": fragile}).fit(X, Y)
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["checkpoint.pt"]
    resumed = NeuralOrdinalClassifier(**resumable, resume=True).fit(X, Y)
    assert_same(unbroken, resumed)
    assert unbroken.n_iter_ == resumed.n_iter_
    losses = [[row["train_loss"] for row in model.history_] for model in (unbroken, resumed)]
    assert losses[0] == losses[1]
    assert_same(resumed, NeuralOrdinalClassifier(**resumable, resume=True).fit(X, Y))


@pytest.mark.slow
def test_a_killed_process_can_be_resumed(tmp_path):
    code = f"""
import numpy as np, os, signal, sys
from semiordinal import NeuralOrdinalClassifier
from semiordinal.nn import _checkpoint
written = _checkpoint.write_tensors
def dying(content, path):
    if len(content["history"]) == 12:
        open(path, "wb").write(b"half a file")
        os.kill(os.getpid(), signal.SIGKILL)
    written(content, path)
_checkpoint.write_tensors = dying
X, y = np.load(sys.argv[1])["X"], np.load(sys.argv[1])["y"]
NeuralOrdinalClassifier(checkpoint_dir={str(tmp_path)!r}, checkpoint_every=4, **{QUICK!r}).fit(X, y)
"""
    np.savez(tmp_path / "rows.npz", X=X, y=Y)
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path / "rows.npz")], check=False)
    assert done.returncode == -signal.SIGKILL
    resumed = NeuralOrdinalClassifier(checkpoint_dir=tmp_path, resume=True, **QUICK).fit(X, Y)
    assert_same(resumed, NeuralOrdinalClassifier(**QUICK).fit(X, Y))


def test_ctrl_c_keeps_what_was_learnt():
    class Interrupted(HiddenLayerNetwork):
        calls = 0

        def forward(self, rows):
            self.calls += self.training
            if self.training and self.calls == 8:
                raise KeyboardInterrupt
            return super().forward(rows)

    model = NeuralOrdinalClassifier(**QUICK, module=Interrupted).fit(X, Y)
    assert model.n_iter_ == 7
    assert_same(model, NeuralOrdinalClassifier(**{**QUICK, "max_epochs": 7}).fit(X, Y))


def test_more_epochs_go_on_from_the_last(tmp_path):
    short = NeuralOrdinalClassifier(**{**QUICK, "max_epochs": 7}, checkpoint_dir=tmp_path)
    short.fit(X, Y)
    longer = NeuralOrdinalClassifier(**QUICK, checkpoint_dir=tmp_path, resume=True).fit(X, Y)
    assert_same(longer, NeuralOrdinalClassifier(**QUICK).fit(X, Y))


def test_resume_refuses_the_checkpoint_of_another_run(tmp_path):
    NeuralOrdinalClassifier(**QUICK, checkpoint_dir=tmp_path).fit(X, Y)
    again = NeuralOrdinalClassifier(**QUICK, checkpoint_dir=tmp_path, resume=True)
    with pytest.raises(ValueError, match=r"written by a run with lr=0.005.*another checkpoint_dir"):
        clone(again).set_params(lr=0.1).fit(X, Y)
    with pytest.raises(ValueError, match="column_sums"):
        clone(again).fit(X + 1, Y)
    with pytest.raises(ValueError, match="seed"):
        clone(again).set_params(random_state=1).fit(X, Y)
    with pytest.raises(ValueError, match="do not fit the module"):
        clone(again).set_params(module_params={"n_hidden": 9}).fit(X, Y)


def test_a_damaged_checkpoint_is_not_resumed_from(tmp_path):
    """A flipped bit is refused, or is where it changes nothing."""
    settings = {**QUICK, "checkpoint_dir": tmp_path}
    NeuralOrdinalClassifier(**{**settings, "max_epochs": 4}).fit(X, Y)
    path = tmp_path / "checkpoint.pt"
    whole = path.read_bytes()
    expected = NeuralOrdinalClassifier(**settings, resume=True).fit(X, Y)
    rng = np.random.default_rng(0)
    n_refused = 0
    for place in rng.integers(len(whole), size=60):
        flipped = bytearray(whole)
        flipped[place] ^= 1 << rng.integers(8)
        path.write_bytes(flipped)
        try:
            resumed = NeuralOrdinalClassifier(**settings, resume=True).fit(X, Y)
        except ValueError as error:
            assert "checkpoint.pt' is damaged" in str(error)  # noqa: PT017
            n_refused += 1
        else:
            assert_same(resumed, expected)
    assert n_refused > 50
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match=r"is damaged. Remove it"):
        NeuralOrdinalClassifier(**settings, resume=True).fit(X, Y)


def test_resume_without_a_seed_takes_that_of_the_checkpoint(tmp_path):
    settings = {**QUICK, "random_state": None, "checkpoint_dir": tmp_path, "batch_size": 40}
    first = NeuralOrdinalClassifier(**settings).fit(X, Y)
    assert_same(first, NeuralOrdinalClassifier(**settings, resume=True).fit(X, Y))


def test_early_stopping_keeps_the_best_held_out_epoch():
    model = NeuralOrdinalClassifier(
        early_stopping=True, patience=5, max_epochs=400, lr=0.05, random_state=0
    ).fit(X, Y)
    held_out = [row["valid_loss"] for row in model.history_]
    assert model.n_iter_ < 400
    assert np.argmin(held_out) >= len(held_out) - 6
    # Stopped there, the run ends in the state that was kept.
    best = int(np.argmin(held_out)) + 1
    shorter = clone(model).set_params(max_epochs=best).fit(X, Y)
    assert_same(model, shorter)


def test_mini_batches_learn_what_full_batches_learn():
    rows, truth = load_diabetes_stages()
    y = mask_labels(truth, 100, random_state=0)
    errors = [
        -NeuralOrdinalClassifier(
            class_prior="uniform", batch_size=size, max_epochs=40, l2=0.01, random_state=0
        )
        .fit(rows, y)
        .score(rows, truth)
        for size in ("full", 64)
    ]
    assert max(errors) < 1.0, "guessing the middle stage errs by 1.2"


def test_unlabelled_rows_beside_apart_or_not_used():
    labeled = PROBLEM.labeled
    together = NeuralOrdinalClassifier(**QUICK).fit(
        np.r_[X[labeled], X[~labeled]], np.r_[Y[labeled], Y[~labeled]]
    )
    apart = NeuralOrdinalClassifier(**QUICK).fit(X[labeled], Y[labeled], X_unlabeled=X[~labeled])
    assert_same(together, apart)
    settings = {**QUICK, "standardize": False}
    zero = NeuralOrdinalClassifier(unlabeled_weight=0.0, **settings).fit(X, Y)
    alone = NeuralOrdinalClassifier(**settings).fit(X[labeled], Y[labeled])
    assert_same(zero, alone)
    assert (zero.n_labeled_, zero.n_unlabeled_) == (60, 90)


def test_a_class_without_labels_is_learnt_as_the_removed_one():
    y = np.where(Y == 3, np.nan, Y)
    settings = {**QUICK, "unlabeled_weight": 1.0, "correction": "non_negative"}
    model = NeuralOrdinalClassifier(
        classes=[1, 2, 3, 4], removed_class=3, class_prior=PROBLEM.prior, **settings
    )
    model.set_params(max_epochs=100, lr=0.02).fit(X, y)
    assert 0.1 < (model.predict(X) == 3).mean() < 0.6
    assert model.removed_class_ == 3


def test_frames_sparse_rows_and_far_columns():
    model = NeuralOrdinalClassifier(**QUICK).fit(X, Y)
    frame = NeuralOrdinalClassifier(**QUICK).fit(pd.DataFrame(X, columns=list("abc")), pd.Series(Y))
    assert_same(model, frame)
    thin = sparse.csr_matrix(X)
    from_sparse = NeuralOrdinalClassifier(**QUICK).fit(thin, Y)
    np.testing.assert_allclose(from_sparse.predict_latent(thin), model.predict_latent(X), rtol=1e-4)
    far = X * 1e-3 + 1e5
    np.testing.assert_array_equal(
        NeuralOrdinalClassifier(**QUICK).fit(far, Y).predict(far), model.predict(X)
    )


@pytest.mark.parametrize("loss", ["at", "it", "ls", "cl", "lad"])
def test_prediction_and_attributes(loss):
    model = NeuralOrdinalClassifier(loss=loss, **QUICK).fit(X, Y)
    assert (np.diff(model.thresholds_) > 0).all()
    assert model.thresholds_.shape == (3,)
    decision = model.decision_function(X)
    np.testing.assert_array_equal(model.classes_[decision.argmax(axis=1)], model.predict(X))
    assert model.history_[-1]["train_loss"] < model.history_[0]["train_loss"]
    assert hasattr(model, "predict_proba") == (loss in ("at", "cl"))
    assert model.n_iter_ == 15
    assert model.is_convex_ is False


@pytest.mark.parametrize("step", ["gradient", "descent_ascent"])
def test_corrections_train(step):
    """Where the unlabelled part would fall below zero, both steps hold it up."""
    settings = {"unlabeled_weight": 1.0, "removed_class": 1.0, "l2": 0.0, "random_state": 0}
    wild = NeuralOrdinalClassifier(max_epochs=150, lr=0.02, correction="none", **settings).fit(X, Y)
    held = NeuralOrdinalClassifier(
        max_epochs=150, lr=0.02, correction="leaky", correction_step=step, **settings
    ).fit(X, Y)
    assert wild.objective_value_ < -0.5
    assert held.objective_value_ > -0.1


def test_modules_of_every_kind():
    network = HiddenLayerNetwork(3, 8)
    before = {name: tensor.clone() for name, tensor in network.state_dict().items()}
    NeuralOrdinalClassifier(module=network, max_epochs=3).fit(X, Y)
    assert all(torch.equal(tensor, before[name]) for name, tensor in network.state_dict().items())
    for module in (
        partial(HiddenLayerNetwork, n_hidden=8),
        lambda: torch.nn.Sequential(torch.nn.LazyLinear(1), torch.nn.Flatten(0)),
    ):
        model = NeuralOrdinalClassifier(module=module, max_epochs=3, random_state=0).fit(X, Y)
        assert model.predict(X).shape == Y.shape
    for optimizer in ("SGD", torch.optim.AdamW, "LBFGS", "Rprop"):
        NeuralOrdinalClassifier(**{**QUICK, "max_epochs": 3}, optimizer=optimizer).fit(X, Y)


def test_weight_decay_of_an_optimizer_spares_the_thresholds():
    """With a huge decay of AdamW's own, weights vanish and thresholds stay."""
    model = NeuralOrdinalClassifier(
        optimizer="AdamW", optimizer_params={"weight_decay": 100.0}, max_epochs=200, random_state=0
    ).fit(X, Y)
    assert np.abs(model.predict_latent(X)).max() < 0.2
    assert np.ptp(model.thresholds_) > 0.5


def test_grid_search_and_pickle():
    search = GridSearchCV(
        NeuralOrdinalClassifier(**{**QUICK, "max_epochs": 5}),
        {"lr": [0.01, 0.05], "module_params": [{"n_hidden": 8}]},
        cv=LabeledKFold(2),
        scoring=OrdinalScorer("mae"),
    ).fit(X, Y)
    assert search.best_params_["lr"] in (0.01, 0.05)
    model = search.best_estimator_
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_latent(X), model.predict_latent(X))


def test_progress_is_shown_where_asked(capsys):
    NeuralOrdinalClassifier(**QUICK, verbose=True).fit(X, Y)
    shown = capsys.readouterr().err
    assert "15/15" in shown
    assert "train_loss" in shown
    NeuralOrdinalClassifier(**QUICK).fit(X, Y)
    quiet = capsys.readouterr()
    assert quiet.out + quiet.err == ""


def test_callbacks_go_to_skorch(tmp_path):
    from skorch.callbacks import Callback, LRScheduler

    class Rates(Callback):
        seen: list = []  # noqa: RUF012 (of all copies together)

        def on_epoch_end(self, net, **_):
            self.seen.append(net.optimizer_.param_groups[0]["lr"])

    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    schedule = [LRScheduler("StepLR", step_size=1, gamma=0.5), Rates()]
    model = NeuralOrdinalClassifier(
        unlabeled_weight=0.0, max_epochs=3, lr=0.1, callbacks=schedule, random_state=0
    ).fit(X, y)
    np.testing.assert_allclose(Rates.seen, [0.05, 0.025, 0.0125])
    model.save(tmp_path / "network.pt")
    again = NeuralOrdinalClassifier.load(tmp_path / "network.pt")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    with pytest.raises(ValueError, match="callbacks and resume=True exclude each other"):
        model.set_params(resume=True, checkpoint_dir=tmp_path).fit(X, y)
    with pytest.raises(ValueError, match=r"callbacks=.* must be a list"):
        model.set_params(resume=False, callbacks=schedule[0]).fit(X, y)


def test_thresholds_at_known_shares():
    """The decision layer takes networks: predictions of unlabelled rows have the shares given."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = np.where(np.arange(300) < 60, np.digitize(X[:, 0], [-0.5, 0.5]), np.nan)
    network = NeuralOrdinalClassifier(unlabeled_weight=0.0, max_epochs=20, random_state=0)
    shares = [0.3, 0.4, 0.3]
    model = CalibratedOrdinalClassifier(
        network, class_prior=shares, thresholds="prior", cv=2, random_state=0
    ).fit(X, y)
    found = np.bincount(model.predict(X[60:]).astype(int)) / 240
    np.testing.assert_allclose(found, shares, atol=0.02)
