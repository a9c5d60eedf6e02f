"""The loss module is the NumPy objective, in torch's clothes."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
import torch

from problems import CORRECTIONS, LOSSES_WITH_MARGINS, RISKS, build_objective, make_problem
from semiordinal._risk.losses import get_loss
from semiordinal._risk.objective import starting_thresholds
from semiordinal.nn import SemiOrdinalLoss

PROBLEM = make_problem(seed=4)
CODES = np.where(PROBLEM.labeled, PROBLEM.y - 1, -1).astype(int)
# Some of them make the part of the unlabelled rows negative, where an outer class is removed.
COEFS = np.random.default_rng(4).normal(size=(4, 3)) * [[0.5], [1.0], [6.0], [10.0]]


DEFAULTS = {"class_prior": PROBLEM.prior, "correction": "none"}  # the objective's default


def double(loss):
    return loss.to(torch.float64)


def make_loss(**settings):
    return double(SemiOrdinalLoss(4, **{**DEFAULTS, **settings}))


def shift_thresholds(module, seed):
    """Thresholds of ordinary size that are in order, set through the module's parameters."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in module.thresholds.parameters():
            noise = torch.randn(parameter.shape, generator=generator, dtype=parameter.dtype)
            parameter.add_(0.3 * noise)
    return module


def compare_with_objective(module, objective, coef):
    """Value and gradient of both, in coefficients of plain columns and in thresholds."""
    rows = torch.as_tensor(PROBLEM.X)
    weights = torch.as_tensor(coef, dtype=torch.float64).requires_grad_()
    thresholds = module.thresholds.for_loss().detach().requires_grad_()
    module.thresholds.for_loss = lambda: thresholds
    value = module(rows @ weights, torch.as_tensor(CODES))
    value.backward()
    sums = objective.risk.evaluate(coef, thresholds.detach().numpy())
    assert value.item() == pytest.approx(sums.value, rel=1e-9, abs=1e-9)
    np.testing.assert_allclose(weights.grad, sums.coef_gradient, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(thresholds.grad, sums.threshold_gradient, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("correction", CORRECTIONS)
@pytest.mark.parametrize(("name", "gamma", "k"), RISKS)
@pytest.mark.parametrize(("loss", "margin"), LOSSES_WITH_MARGINS)
def test_value_and_gradient_are_those_of_the_objective(loss, margin, name, gamma, k, correction):
    settings = {
        "loss": loss,
        "margin": margin,
        "unlabeled_weight": gamma,
        "correction": correction,
    }
    objective = build_objective(PROBLEM, removed_class=float(k), standardize=False, **settings)
    for seed, coef in enumerate(COEFS):
        module = shift_thresholds(make_loss(removed_class=k - 1, **settings), seed)
        compare_with_objective(module, objective, coef)


@pytest.mark.parametrize("k", [1, 4])
def test_corrections_are_met_on_both_sides_of_zero(k):
    """So that the test above looks at both slopes."""
    objective = build_objective(
        PROBLEM, unlabeled_weight=1.0, removed_class=float(k), correction="leaky", standardize=False
    )
    thresholds = make_loss().thresholds().detach().numpy()
    signs = {np.sign(objective.risk.corrected_part(coef, thresholds)) for coef in COEFS}
    assert signs == {-1.0, 1.0}


@pytest.mark.parametrize(("loss", "margin"), LOSSES_WITH_MARGINS)
@pytest.mark.parametrize("correction", CORRECTIONS)
def test_gradcheck(loss, margin, correction):
    """Torch's own differences, through thresholds' parameters and the order penalty."""
    module = make_loss(
        loss=loss,
        margin=margin,
        unlabeled_weight=0.4,
        correction=correction,
        order_penalty=2.0,
    )
    latent = torch.as_tensor(PROBLEM.X @ [0.5, -0.7, 0.2]).requires_grad_()
    names = [name for name, _ in module.named_parameters()]
    start = [parameter.detach().clone().requires_grad_() for parameter in module.parameters()]

    def risk(scores, *parameters):
        given = dict(zip(names, parameters, strict=True))
        return torch.func.functional_call(module, given, (scores, torch.as_tensor(CODES)))

    assert torch.autograd.gradcheck(risk, (latent, *start))


@pytest.mark.parametrize("ordered", [True, False])
@pytest.mark.parametrize("loss", ["at", "it", "cl", "ls", "lad"])
def test_order_penalty_and_prediction_thresholds(loss, ordered):
    """Against the objective, which writes its gaps in other variables."""
    module = make_loss(loss=loss, order_penalty=3.0, ordered_thresholds=ordered)
    objective = build_objective(PROBLEM, loss=loss, order_penalty=3.0, l2=0.0, standardize=False)
    coef = np.array([0.4, -0.2, 0.3])
    scored = module.thresholds.for_loss().detach().numpy()
    # The objective's thresholds are those of centred columns.
    shift = objective.coordinates.shift @ coef
    variables = np.r_[coef, objective.coordinates.threshold_map.variables(scored - shift)]
    value = module(torch.as_tensor(PROBLEM.X @ coef), CODES)
    assert value.item() == pytest.approx(objective.value_gradient(variables)[0], rel=1e-9)
    expected = objective.coef_and_thresholds(variables)[1]
    np.testing.assert_allclose(module.thresholds().detach(), expected, rtol=1e-9)
    latent = PROBLEM.X @ coef
    predicted = module.predict(torch.as_tensor(latent))
    np.testing.assert_array_equal(predicted, (latent[:, None] > expected).sum(axis=1))


@pytest.mark.parametrize("loss", ["at", "ls", "lad"])
def test_thresholds_start_where_the_objective_starts(loss):
    module = make_loss(loss=loss)
    start = starting_thresholds(get_loss(loss), PROBLEM.prior)
    np.testing.assert_allclose(module.thresholds.for_loss().detach(), start, rtol=1e-6)


def test_closed_gaps_cost_infinity_and_never_nan():
    module = make_loss(ordered_thresholds=False, order_penalty=10.0)
    with torch.no_grad():
        module.thresholds.values.copy_(torch.tensor([0.0, 0.0, 1.0]))
    value = module(torch.as_tensor(PROBLEM.X[:, 0]), CODES)
    value.backward()
    assert value.item() == np.inf
    assert torch.isfinite(module.thresholds.values.grad).all()


def test_float32_and_columns_of_one():
    latent = torch.as_tensor(PROBLEM.X @ [0.5, -0.7, 0.2])
    expected = make_loss()(latent, CODES)
    single = SemiOrdinalLoss(4, **DEFAULTS)
    scores = latent.float()[:, None].requires_grad_()
    value = single(scores, torch.as_tensor(CODES))
    value.backward()
    assert value.dtype == scores.grad.dtype == torch.float32
    assert value.item() == pytest.approx(expected.item(), rel=1e-5)
    assert scores.grad.shape == (len(CODES), 1)


def test_missing_markers_are_one_thing():
    latent = torch.as_tensor(PROBLEM.X[:, 0])
    expected = make_loss()(latent, CODES)
    with_nan = np.where(CODES < 0, np.nan, CODES)
    assert make_loss(missing_label=np.nan)(latent, torch.as_tensor(with_nan)) == expected
    assert make_loss(missing_label=99)(latent, np.where(CODES < 0, 99, CODES)) == expected


def test_weights_are_repetitions():
    weights = np.random.default_rng(0).integers(1, 4, size=len(CODES))
    rows = np.repeat(np.arange(len(CODES)), weights)
    latent = torch.as_tensor(PROBLEM.X[:, 0])
    weighted = make_loss(correction="leaky")(latent, CODES, torch.as_tensor(weights))
    repeated = make_loss(correction="leaky")(latent[rows], CODES[rows])
    assert weighted.item() == pytest.approx(repeated.item(), rel=1e-12)


def test_a_kept_risk_is_not_used_for_other_rows():
    module = make_loss()
    latent = torch.as_tensor(PROBLEM.X[:, 0])
    codes = CODES.copy()
    first = module(latent, codes)
    codes[np.flatnonzero(codes == 0)[0]] = 3
    second = module(latent, codes)
    assert first != second
    assert second == make_loss()(latent, codes)
    assert module(latent, codes, np.full(len(codes), 2.0)).item() == pytest.approx(second.item())


def latent_with_negative_part():
    """Scores at which U − L2 is negative, with its gradient by the core."""
    settings = {"unlabeled_weight": 0.6, "removed_class": 0, "correction": "leaky"}
    for seed in range(50):
        coef = 6 * np.random.default_rng(seed).normal(size=3)
        latent = PROBLEM.X @ coef
        part = make_loss(**{**settings, "correction": "none"})
        full = part(torch.as_tensor(latent), CODES).item()
        cut = make_loss(**{**settings, "correction": "non_negative"})
        if full < cut(torch.as_tensor(latent), CODES).item() - 1e-3:
            return latent, settings
    raise AssertionError("no such scores found")


def test_descent_ascent_steps_along_minus_the_negative_part_alone():
    latent, settings = latent_with_negative_part()

    def gradient(**more):
        scores = torch.as_tensor(latent).requires_grad_()
        module = make_loss(**{**settings, **more})
        value = module(scores, CODES)
        value.backward()
        return value.item(), scores.grad, module.thresholds.first.grad

    uncorrected = gradient(correction="none")
    cut = gradient(correction="non_negative")
    plain = gradient()
    ascent = gradient(correction_step="descent_ascent")
    assert ascent[0] == plain[0], "the value is the corrected one in both modes"
    for full, without_part, stepped in zip(uncorrected[1:], cut[1:], ascent[1:], strict=True):
        torch.testing.assert_close(stepped, -(full - without_part))
    assert not torch.allclose(plain[1], ascent[1])


def test_descent_ascent_is_the_plain_gradient_where_the_part_is_positive():
    latent = np.zeros(len(CODES))
    grads = []
    for step in ("gradient", "descent_ascent"):
        scores = torch.as_tensor(latent).requires_grad_()
        make_loss(correction="leaky", correction_step=step)(scores, CODES).backward()
        grads.append(scores.grad)
    torch.testing.assert_close(grads[0], grads[1], rtol=0, atol=0)


def test_held_out_estimate_has_no_correction_and_no_penalty():
    latent, settings = latent_with_negative_part()
    scores = torch.as_tensor(latent)
    other = make_loss(**{**settings, "correction": "none"})
    plain = other(scores, CODES)
    module = make_loss(**settings, order_penalty=10.0)
    module.thresholds.load_state_dict(other.thresholds.state_dict())
    assert module.estimate(scores, CODES) == plain
    assert not module.estimate(scores, CODES).requires_grad


@pytest.mark.parametrize("ordered", [True, False])
def test_thresholds_start_where_the_order_penalty_is_zero(ordered):
    module = make_loss(ordered_thresholds=ordered, order_penalty=10.0)
    assert torch.diff(module.thresholds()).min() > 1.5
    latent = torch.as_tensor(PROBLEM.X[:, 0])
    assert module(latent, CODES) == module.estimate(latent, CODES)


def test_it_can_be_copied_and_pickled_after_use():
    module = make_loss()
    latent = torch.as_tensor(PROBLEM.X[:, 0])
    value = module(latent, CODES)
    for other in (copy.deepcopy(module), pickle.loads(pickle.dumps(module))):
        assert other._last is None
        assert other(latent, CODES) == value


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"loss": "huber"}, "loss='huber'.*'at'"),
        ({"margin": "probit"}, "margin='probit'.*'logistic'"),
        ({"unlabeled_weight": 2}, "unlabeled_weight=2 must be a number from 0 to 1"),
        ({"correction": "relu"}, "correction='relu'.*non_negative"),
        ({"correction_step": "ascent"}, "correction_step='ascent'.*descent_ascent"),
        ({"ordered_thresholds": "sorted"}, "ordered_thresholds='sorted'"),
        ({"ordered_thresholds": False}, "order_penalty > 0"),
        ({"order_penalty": -1}, "order_penalty=-1 must be"),
        ({"removed_class": 4}, "removed_class=4 must be a code 0 to 3"),
        ({"removed_class": "smallest"}, "needs class_counts.*'median'"),
        ({"class_counts": [1, 2]}, "class_counts must hold.*4"),
        ({"class_prior": [0.5, 0.5, 0.5, 0.5]}, "sums to 2, not 1"),
    ],
    ids=str,
)
def test_bad_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        make_loss(**settings)


@pytest.mark.parametrize(
    ("shape", "labels", "message"),
    [
        ((64, 3), CODES, r"shape \(64, 3\).*one output"),
        ((64, 1, 1), CODES, r"shape \(64, 1, 1\)"),
        ((64,), CODES[:-1], r"labels has shape \(63,\).*64 scores"),
        ((64,), CODES + 1, "codes 0 to 3"),
        ((64,), np.where(CODES < 0, -1, CODES + 0.5), "codes 0 to 3"),
        ((64,), np.full(64, -1), "no labelled row.*StratifiedBatchSampler"),
        ((64,), np.where(CODES == 3, 0, CODES), "no labelled row of class 3"),
        ((64,), np.where(CODES < 0, 2, CODES), "no unlabelled row.*unlabeled_weight=0.25"),
    ],
    ids=str,
)
def test_bad_batches(shape, labels, message):
    with pytest.raises(ValueError, match=message):
        make_loss()(torch.zeros(shape, dtype=torch.float64), labels)


def test_a_class_that_a_batch_lacks():
    latent = torch.randn(5, requires_grad=True)
    labels = torch.tensor([1, 1, 2, -1, -1])
    with pytest.raises(ValueError, match="no labelled row of class 0"):
        SemiOrdinalLoss(3, class_prior="labels")(latent, labels)
    # A class without a share is no class: the risk is that of the others.
    with_three = SemiOrdinalLoss(3, class_prior=[0.0, 0.5, 0.5])(latent, labels)
    assert torch.isfinite(with_three)
    counted = SemiOrdinalLoss(3, class_counts=[0, 2, 1])(latent, labels)
    assert torch.isfinite(counted)


@pytest.mark.filterwarnings("ignore")  # Torch's own, of its compiler
def test_a_compiled_step_is_the_step():
    def losses(compiled):
        torch.manual_seed(0)
        network, risk = torch.nn.Linear(3, 1), SemiOrdinalLoss(4, class_prior=PROBLEM.prior)
        optimizer = torch.optim.SGD([*network.parameters(), *risk.parameters()], lr=0.1)
        rows, labels = torch.as_tensor(PROBLEM.X, dtype=torch.float32), torch.as_tensor(CODES)

        def step():
            optimizer.zero_grad()
            value = risk(network(rows), labels)
            value.backward()
            optimizer.step()
            return value.item()

        run = torch.compile(step, backend="eager") if compiled else step
        return [run() for _ in range(2)]

    np.testing.assert_allclose(losses(compiled=True), losses(compiled=False), rtol=1e-5)
