"""Mode "paper": what its settings change, and how its results stand beside the paper's."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import pytest

from cli_problems import refused
from experiment_problems import made_up, only_toy
from semiordinal._risk.losses import get_loss
from semiordinal.datasets import get_facts, make_ordinal
from semiordinal.experiments import PaperSettings, cells_of, get_experiment
from semiordinal.experiments._adam import AdamLinear
from semiordinal.experiments._comparison import paper_comparison
from semiordinal.experiments._data import draw_data
from semiordinal.experiments._results import rewrite_results, write_results
from semiordinal.experiments._settings import CHOICES
from semiordinal.experiments._statistics import contests
from semiordinal.experiments._tables import ErrorTable, printed_results
from semiordinal.experiments._training import _build, run_fit
from semiordinal.metrics import task_error
from semiordinal.model_selection import LabeledShuffleSplit

# The key and the seed that this cell of mode "exact" had before mode "paper" had settings.
EXACT_BEFORE = ("it-SV-000-4b66c728ea", 3020302834)


def cell_of(name="small", column="SV", loss="ls", of="toy", words=(), mode="paper", repeat=0):
    paper = PaperSettings.parse(words) if mode == "paper" else None
    return cells_of(get_experiment(name), mode, repeat + 1, 0, [of], [loss], [column], paper)[-1]


@pytest.mark.parametrize(("words", "n_labeled"), [((), 13), (("refit=true",), 20)])
def test_without_refit_the_model_is_that_of_the_rows_not_held_out(
    tmp_path, monkeypatch, words, n_labeled
):
    only_toy(tmp_path, monkeypatch)
    experiment, cell = get_experiment("small"), cell_of(words=words)
    training = experiment.trainings["paper"]["linear"]
    column = next(c for c in experiment.columns if c.name == "SV")
    data = draw_data(experiment, cell)
    splitter = LabeledShuffleSplit(
        1, test_size=1 / 3, random_state=cell.split_seed, split_unlabeled=True
    )
    ((train, valid),) = splitter.split(data.X, data.y)
    held_out = valid[~np.isnan(data.y[valid])]
    rows = train if n_labeled == 13 else np.arange(len(data.y))
    assert (~np.isnan(data.y[rows])).sum() == n_labeled
    errors = []
    for l2 in training.grid["l2"]:
        model = _build(column, training, cell, data.prior, {"l2": l2})
        model.fit(data.X[train], data.y[train])
        errors.append(task_error("squared", *codes(data.y[held_out], model, data.X[held_out])))
    best = {"l2": training.grid["l2"][int(np.argmin(np.round(errors, 9)))]}
    model = _build(column, training, cell, data.prior, best).fit(data.X[rows], data.y[rows])
    expected = task_error("squared", *codes(data.y_test, model, data.X_test))
    found = run_fit(experiment, cell)
    assert found["chosen"] == best
    assert found["mse"] == pytest.approx(expected)


def codes(y, model, X):
    return y.astype(int) - 1, model.predict(X).astype(int) - 1


def test_fixed_thresholds_are_an_intercept_that_starts_at_zero():
    """Torch learns w and b of (y − w·x − b)²; the first threshold here is 3/2 − b."""
    torch = pytest.importorskip("torch")
    X, y, _ = make_ordinal(30, 3, class_prior=[0.2, 0.6, 0.2], random_state=1)
    X, y = X - X.mean(axis=0), y.astype(float)
    model = AdamLinear(
        loss="ls", unlabeled_weight=0.0, l2=0.01, standardize=False, max_iter=60, random_state=5
    )
    model.lecun_start = model.fixed_ls_thresholds = True
    model.fit(X, y)
    classes = torch.tensor(np.searchsorted(np.unique(y), y) + 1.0)
    start = np.random.RandomState(5).normal(scale=3**-0.5, size=3)
    coef = torch.tensor(start, requires_grad=True)
    intercept = torch.zeros(1, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.Adam([coef, intercept], lr=0.05)
    for _ in range(60):
        optimizer.zero_grad()
        latent = torch.tensor(X) @ coef + intercept
        ((classes - latent).square().mean() + 0.005 * coef.square().sum()).backward()
        optimizer.step()
    np.testing.assert_allclose(model.coef_, coef.detach().numpy(), rtol=1e-7)
    first = 1.5 - intercept.detach().numpy()
    np.testing.assert_allclose(model.thresholds_, first + np.arange(2), rtol=1e-7)


def test_a_network_starts_as_in_chainer_and_with_fixed_thresholds():
    pytest.importorskip("skorch")
    from semiordinal.experiments._network import LeCunNetwork, PaperNetwork

    hidden, _, last = LeCunNetwork(n_features=50)
    weights = hidden.weight.detach().numpy()
    assert weights.std() == pytest.approx(50**-0.5, rel=0.03)
    assert np.abs(weights).max() > 3 * 50**-0.5  # normal, not uniform
    assert not hidden.bias.any()
    assert last.weight.detach().numpy().std() == pytest.approx(1 / 16, rel=0.15)
    X, y, _ = make_ordinal(60, 2, random_state=0)
    y = y.astype(float)
    firsts = []
    for fixed in (False, True):
        network = PaperNetwork(loss="ls", max_epochs=1, lr=1e-9, random_state=0)
        network.fixed_ls_thresholds = fixed
        firsts.append(network.fit(X, y).thresholds_[0])
    assert firsts[1] == pytest.approx(1.5, abs=1e-6)
    assert firsts[0] != pytest.approx(1.5, abs=0.2)


@pytest.mark.parametrize("loss", ["at", "it"])
@pytest.mark.parametrize("column", ["SV-Ker", "SV-NN"])
def test_thresholds_start_halfway_between_classes_or_where_shares_put_them(loss, column):
    """One step of Adam moves each by its rate at most, or a gap of a network by twice that."""
    if column == "SV-NN":
        pytest.importorskip("skorch")
    shares = np.array([0.1, 0.4, 0.4, 0.1])
    X, y, _ = make_ordinal(60, 2, class_prior=shares, random_state=0)
    experiment = get_experiment(f"large-{loss}")
    own = next(c for c in experiment.columns if c.name == column)
    training = experiment.trainings["paper"][own.family]
    one_step = {"max_epochs": 1} if column == "SV-NN" else {"max_iter": 1}
    starts = []
    for word in ("classes", "shares"):
        cell = cell_of(experiment.name, column, loss, "bank1-5", [f"threshold_start={word}"])
        model = _build(own, training, cell, shares, one_step)
        starts.append(model.fit(X, y.astype(float)).thresholds_)
    np.testing.assert_allclose(starts[0], [1.5, 2.5, 3.5], atol=0.025)
    assert np.diff(starts[1]).min() > 1.98
    assert abs(starts[1].mean()) < 1  # equal shares above and below the middle


def test_the_last_column_of_two_sets_is_lost(tmp_path, monkeypatch):
    folder = made_up(tmp_path / "data", "kinematics", "toy")
    monkeypatch.setenv("SEMIORDINAL_DATA", str(folder))
    experiment = get_experiment("small")
    whole = draw_data(experiment, cell_of(of="kinematics", words=["columns=all"])).X
    exact = draw_data(experiment, cell_of(of="kinematics", mode="exact")).X
    lost = draw_data(experiment, cell_of(of="kinematics")).X
    np.testing.assert_array_equal(whole, exact)
    np.testing.assert_array_equal(lost, whole[:, :-1])
    assert lost.shape[1] == 7
    assert draw_data(experiment, cell_of(of="toy")).X.shape[1] == 2


def removed_class(name, column, of, words=()):
    cell = cell_of(name, column, "at", of, words)
    experiment = get_experiment(name)
    own = next(c for c in experiment.columns if c.name == column)
    training = experiment.trainings["paper"][own.family]
    return _build(own, training, cell, experiment.prior_of(of), {}).removed_class


def test_the_large_tables_remove_classes_by_counts_of_the_whole_set():
    counts = get_facts("fireman-example").class_counts
    assert removed_class("large-at", "SEMI1-Ker", "fireman-example") == 1 + np.argmin(counts)
    assert removed_class("large-at", "SEMI2-Ker", "fireman-example") == 1 + np.argmax(counts)
    # Equal classes: both rules take the first, and the paper prints the same numbers for both.
    assert len(set(get_facts("kinematics").class_counts)) == 1
    assert removed_class("large-at", "SEMI1-Ker", "kinematics") == 1
    assert removed_class("large-at", "SEMI2-Ker", "kinematics") == 1
    printed = printed_results()
    for loss in ("at", "it", "ls"):
        for model in ("Ker", "NN"):
            one, other = (
                printed[f"large-{loss}", "kinematics", loss, f"SEMI{i}-{model}"] for i in (1, 2)
            )
            assert (one.mean, one.spread) == (other.mean, other.spread)
    by_labels = ["removed_class=labels"]
    assert removed_class("large-at", "SEMI1-Ker", "kinematics", by_labels) == "smallest"
    assert removed_class("small", "SEMI2", "kinematics") == "largest"


def test_all_methods_start_alike_in_mode_paper_and_not_in_mode_exact():
    for mode, alike in (("paper", True), ("exact", False)):
        seeds = [cell_of(column=c, mode=mode).start_seed for c in ("SV", "SEMI1")]
        assert (seeds[0] == seeds[1]) is alike
    assert cell_of(repeat=1).start_seed != cell_of(repeat=0).start_seed


def test_each_setting_makes_other_records_and_mode_exact_has_those_of_before():
    switched = [[f"{name}={values[1]}"] for name, values in CHOICES.items()]
    keys = {cell_of(words=words).key for words in ([], *switched)}
    assert len(keys) == 1 + len(CHOICES)
    cell = cell_of(column="SV", loss="it", of="bank1-5", mode="exact")
    assert (cell.key, cell.own_seed) == EXACT_BEFORE
    assert "paper" not in cell.identity
    assert json.loads(json.dumps(cell_of().identity)) == cell_of().identity


def test_settings_that_are_not_known_are_refused(tmp_path, monkeypatch):
    only_toy(tmp_path, monkeypatch)
    out = ("--out", tmp_path / "out", "--jobs", "1")
    paper = ("reproduce", "small", "--mode", "paper", *out)
    assert "there is no setting 'fit'; choose from ['refit'" in refused(2, *paper, "--set", "fit=1")
    told = refused(2, *paper, "--set", "refit=yes")
    assert "--set: refit is one of ['false', 'true'], not 'yes'." in told
    twice = ("--set", "refit=true", "--set", "refit=false")
    assert "given twice" in refused(2, *paper, *twice)
    told = refused(2, "reproduce", "small", "--set", "refit=true", *out)
    assert "--set is for --mode paper" in told
    with pytest.raises(ValueError, match="is for mode 'paper'"):
        cells_of(get_experiment("small"), "exact", 1, 0, paper=PaperSettings())


def papers_table(change=0.0):
    """The paper's own numbers as ours, with means that are right and spreads of twenty runs."""
    rng = np.random.default_rng(0)
    frames = []
    for (of, name, loss, column), printed in printed_results().items():
        if of != "small" or name not in ("toy", "lev", "swd"):
            continue
        noise = rng.normal(size=20)
        noise = (noise - noise.mean()) / noise.std(ddof=1)
        off = change if (name, loss, column) == ("toy", "at", "SV") else 0.0
        error = printed.mean + printed.spread * (noise + off)
        frames.append(
            pd.DataFrame({"set": name, "loss": loss, "method": column, "repeat": range(20)}).assign(
                error=error
            )
        )
    runs = pd.concat(frames)
    return ErrorTable(get_experiment("small"), ["SV", "SEMI1", "SEMI2"], contests(runs))


def test_the_papers_own_numbers_differ_nowhere():
    told = "\n".join(paper_comparison(papers_table(), 20))
    for method in ("SV", "SEMI1", "SEMI2"):
        assert f"| {method} | 1.000 | 1.00 | 1.00 | 1.000 | 0 | 0 |" in told
    assert told.count("the paper's: none.") == 2
    assert "standard deviations: median 1.00 of 27 cells" in told


def test_a_cell_that_differs_by_two_standard_errors_is_listed():
    """Both means have a standard error of a spread over √20, their difference √2 times that."""
    limit = 2 * np.sqrt(2 / 20)
    just_within = "\n".join(paper_comparison(papers_table(0.99 * limit), 20))
    assert "Cells above the paper's: none." in just_within
    beyond = "\n".join(paper_comparison(papers_table(1.01 * limit), 20))
    assert re.search(r"above the paper's: toy AT SV \(0\.311, paper 0\.266\)\.", beyond)
    below = "\n".join(paper_comparison(papers_table(-1.01 * limit), 20))
    assert "Cells below the paper's: toy AT SV (0.221, paper 0.266)." in below


def test_results_are_the_same_from_their_csv(tmp_path):
    experiment = get_experiment("small")
    words = ["refit=true", "columns=all"]
    sets = ["toy", "lev"]
    cells = cells_of(
        experiment, "paper", 7, 3, sets, ["at", "it"], paper=PaperSettings.parse(words)
    )
    rng = np.random.default_rng(0)
    results = [
        dict.fromkeys(("mae", "mze", "mse"), rng.integers(20, 60) / 90) | {"chosen": {"l2": 0.01}}
        for _ in cells
    ]
    folder = tmp_path / "one"
    files = write_results(experiment, cells, results, folder)
    before = {path.name: path.read_bytes() for path in files}
    assert "mode paper, refit=true, columns=all, seed 3)" in before["summary.md"].decode()
    assert "| all of these |" in before["summary.md"].decode()
    for path in files:
        if path.name not in ("run.json", "runs.csv"):
            path.unlink()
    assert {path.name: path.read_bytes() for path in rewrite_results(folder)} == before
    (folder / "run.json").unlink()
    with pytest.raises(ValueError, match="is no folder of results"):
        rewrite_results(folder)


@pytest.mark.parametrize("loss", ["at", "it", "ls"])
def test_the_constant_class_is_the_best_for_the_labelled_rows(tmp_path, monkeypatch, loss):
    only_toy(tmp_path, monkeypatch)
    experiment = get_experiment("small")
    cell = cell_of(column="constant", loss=loss)
    data = draw_data(experiment, cell)
    labels, task = data.y[:20].astype(int) - 1, get_loss(loss).task
    by_class = [task_error(task, labels, np.full(20, code)) for code in range(3)]
    test = data.y_test.astype(int) - 1
    expected = task_error(task, test, np.full(len(test), int(np.argmin(by_class))))
    metric = {"at": "mae", "it": "mze", "ls": "mse"}[loss]
    assert run_fit(experiment, cell)[metric] == pytest.approx(expected)
