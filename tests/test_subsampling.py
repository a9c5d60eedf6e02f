"""Some of the unlabelled rows: which are drawn, and what it costs not to use all."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from scale_problems import assert_same_fit, labeled, parameters, unlabeled, write_parts
from semiordinal import LinearOrdinalClassifier
from semiordinal._rows import BlockSum, DrawPartial, drawn_rows
from semiordinal.scale import ParquetSource

X, Y = labeled()
ROWS = unlabeled()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_parts(tmp_path_factory.mktemp("rows") / "parts", ROWS)


def test_max_unlabeled_draws_the_same_rows_from_any_source(folder):
    settings = {"max_unlabeled": 2000, "random_state": 7}
    models = [
        LinearOrdinalClassifier(**settings).fit(X, Y, X_unlabeled=source)
        for source in (ROWS, folder, ParquetSource(folder, chunk_rows=999))
    ]
    for model in models:
        assert model.n_unlabeled_ == 2000
        assert_same_fit(model, models[0])
    other = LinearOrdinalClassifier(max_unlabeled=2000, random_state=8)
    other.fit(X, Y, X_unlabeled=folder)
    assert np.abs(other.coef_ / models[0].coef_ - 1).max() > 1e-6
    everything = LinearOrdinalClassifier(max_unlabeled=30_000).fit(X, Y, X_unlabeled=folder)
    assert_same_fit(everything, LinearOrdinalClassifier().fit(X, Y, X_unlabeled=ROWS))


def test_the_cost_is_printed_where_it_is_asked_for(folder, capsys):
    for verbose, n_printed in ((False, 0), (True, 1)):
        model = LinearOrdinalClassifier(max_unlabeled=2000, random_state=7, verbose=verbose)
        model.fit(X, Y, X_unlabeled=folder)
        assert "2,000 of 30,000 unlabelled rows" in str(model.subsampling_)
        assert capsys.readouterr().out == n_printed * f"{model.subsampling_}\n"
    LinearOrdinalClassifier(max_unlabeled=30_000, verbose=True).fit(X, Y, X_unlabeled=folder)
    assert capsys.readouterr().out == ""


def test_a_fit_to_rows_in_memory_tells_nothing_of_an_earlier_draw(folder):
    model = LinearOrdinalClassifier(max_unlabeled=2000, random_state=7)
    model.fit(X, Y, X_unlabeled=folder).set_params(max_unlabeled=None).fit(X, Y)
    assert not hasattr(model, "subsampling_")
    assert not hasattr(model, "n_passes_")


@pytest.mark.parametrize("loss", ["at", "ls"])
def test_the_cost_of_drawing_is_what_draws_show(loss):
    """Parameters of some draws are as far from those of all rows as one draw says."""
    whole = LinearOrdinalClassifier(loss=loss, unlabeled_weight=0.8).fit(X, Y, X_unlabeled=ROWS)
    distances, estimates = [], []
    for seed in range(40):
        model = LinearOrdinalClassifier(
            loss=loss, unlabeled_weight=0.8, max_unlabeled=500, random_state=seed
        ).fit(X, Y, X_unlabeled=ROWS)
        size = np.linalg.norm(parameters(whole))
        distances.append(np.linalg.norm(parameters(model) - parameters(whole)) / size)
        estimates.append(model.subsampling_.by_draw)
    assert np.mean(estimates) == pytest.approx(np.sqrt(np.mean(np.square(distances))), rel=0.35)
    assert model.subsampling_.n_drawn == 500
    assert model.subsampling_.n_rows == len(ROWS)
    assert "labels" in str(model.subsampling_)


def test_unlabelled_rows_beside_the_labels_are_learnt_from_and_count(folder):
    """Of 3000 rows at hand and 30,000 to draw 500 from, one in ten is learnt from."""
    X_more, y_more = pd.concat([X, ROWS[:3000]]), np.append(Y, np.full(3000, np.nan))
    for source in (ROWS, folder):
        model = LinearOrdinalClassifier(max_unlabeled=500, random_state=0)
        cost = model.fit(X_more, y_more, X_unlabeled=source).subsampling_
        assert (cost.n_drawn, cost.n_rows) == (3500, 33_000)
        few = LinearOrdinalClassifier(max_unlabeled=500, random_state=0)
        alone = few.fit(X, Y, X_unlabeled=source).subsampling_
        # The spread of a mean of rows is that of one row by the root of their number.
        expected = np.sqrt((1 / 3500 - 1 / 33_000) / (1 / 500 - 1 / 30_000))
        assert cost.by_draw / alone.by_draw == pytest.approx(expected, rel=0.1)


def test_labels_cost_what_other_labels_show():
    """Fits to other labelled rows differ as the estimate from one of them says."""
    some = unlabeled(3000, seed=9)
    found, estimates = [], []
    for seed in range(40):
        X_other, y_other = labeled(seed=100 + seed)
        model = LinearOrdinalClassifier(class_prior="uniform", max_unlabeled=1000)
        model.set_params(random_state=0).fit(X_other, y_other, X_unlabeled=some)
        found.append(parameters(model))
        estimates.append(model.subsampling_.by_labels)
    size = np.linalg.norm(np.mean(found, axis=0))
    spread = np.sqrt(np.var(found, axis=0, ddof=1).sum()) / size
    assert np.mean(estimates) == pytest.approx(spread, rel=0.35)


def test_the_cost_is_the_same_in_32_bits():
    """In 32 bits all blocks of rows lie in the same memory, one after another."""
    rng = np.random.default_rng(0)
    few, more = (rng.normal(size=(n, 200)).astype(np.float32) for n in (400, 9000))
    y = np.digitize(few[:, 0], [-0.5, 0.5])
    costs = [
        LinearOrdinalClassifier(max_unlabeled=4500, random_state=0)
        .fit(few.astype(dtype), y, X_unlabeled=more.astype(dtype))
        .subsampling_
        for dtype in (np.float64, np.float32)
    ]
    assert costs[1].by_draw == pytest.approx(costs[0].by_draw, rel=1e-6)
    assert costs[1].by_labels == pytest.approx(costs[0].by_labels, rel=1e-6)


def test_draws_are_fair():
    """Every row is drawn equally often, to within chance, and no row twice."""
    counts = np.zeros(300)
    for seed in range(400):
        drawn = drawn_rows(300, 60, seed)
        assert len(np.unique(drawn)) == 60
        counts[drawn] += 1
    # Binomial with mean 80 and deviation 8: all within five deviations.
    assert np.abs(counts - 80).max() < 40
    assert abs(counts.std() - 8) < 1.5


def test_a_draw_in_chunks_is_the_draw_of_all():
    table = np.arange(5000.0)[:, None]
    for n_rows in (None, 5000):
        draw = BlockSum(DrawPartial(40, 3, n_rows))
        whole = draw(table)
        parts = draw(table[:700])
        for start in range(700, 5000, 700):
            parts.add(draw(table[start : start + 700], start=start))
        np.testing.assert_array_equal(whole.matrix()[:, 0], drawn_rows(5000, 40, 3))
        np.testing.assert_array_equal(parts.matrix(), whole.matrix())
        assert parts.n == whole.n == 5000
