"""Tuned classifiers learn from rows in files and iterators as from rows in memory."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from scale_problems import NAMES, assert_same_fit, labeled, unlabeled, write_parts
from semiordinal import KernelOrdinalClassifierCV, LinearOrdinalClassifierCV

X, Y = labeled()
ROWS = unlabeled(6000)
PRIOR = [0.3, 0.2, 0.2, 0.3]
SETTINGS = {"class_prior": PRIOR, "random_state": 0}
MODELS = {
    "at": LinearOrdinalClassifierCV(**SETTINGS),
    "ls": LinearOrdinalClassifierCV(loss="ls", **SETTINGS),
    "labels": LinearOrdinalClassifierCV(random_state=0),
    "estimate": LinearOrdinalClassifierCV(class_prior="estimate", random_state=0),
    "kernel": KernelOrdinalClassifierCV(l2s=(0.1, 0.01), bandwidths=(1.0, 2.0), cv=3, **SETTINGS),
    # Without a margin of safety unlabelled rows enter the risk, so the final fit needs them all.
    "with unlabelled rows": LinearOrdinalClassifierCV(safety=0.0, **SETTINGS),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_parts(tmp_path_factory.mktemp("rows") / "parts", ROWS)


@pytest.mark.parametrize("name", MODELS)
def test_files_give_the_fit_of_rows_in_memory(name, folder):
    whole = clone(MODELS[name]).fit(X, Y, X_unlabeled=ROWS)
    streamed = clone(MODELS[name]).fit(X, Y, X_unlabeled=folder)
    assert_same_fit(streamed, whole)
    for attribute in ("l2_", "unlabeled_weight_"):
        assert getattr(streamed, attribute) == getattr(whole, attribute)
    np.testing.assert_allclose(streamed.gain_, whole.gain_, atol=1e-8)
    assert streamed.n_passes_ >= 1
    if name == "with unlabelled rows":
        assert whole.unlabeled_weight_ > 0


def test_an_iterator_gives_the_fit_of_rows_in_memory():
    def blocks():
        for start in range(0, len(ROWS), 1000):
            yield ROWS[NAMES].to_numpy()[start : start + 1000]

    whole = clone(MODELS["at"]).fit(X.to_numpy(), Y, X_unlabeled=ROWS.to_numpy())
    assert_same_fit(clone(MODELS["at"]).fit(X.to_numpy(), Y, X_unlabeled=blocks), whole)


def test_the_search_looks_at_a_draw_and_the_final_fit_at_all_rows(folder):
    few = clone(MODELS["with unlabelled rows"]).set_params(max_unlabeled=500)
    streamed = clone(few).fit(X, Y, X_unlabeled=folder)
    in_memory = clone(few).fit(X, Y, X_unlabeled=ROWS)
    assert streamed.n_unlabeled_ == in_memory.n_unlabeled_ == len(ROWS)
    # The draw goes by row numbers and the seed, so it is the same wherever the rows lie.
    assert_same_fit(streamed, in_memory)
    whole = clone(MODELS["with unlabelled rows"]).fit(X, Y, X_unlabeled=ROWS)
    assert not np.array_equal(streamed.thresholds_, whole.thresholds_)
    # The standardisation is that of all rows: the same penalty gives nearly the same coefficients.
    if streamed.unlabeled_weight_ == whole.unlabeled_weight_ and streamed.l2_ == whole.l2_:
        ratio = streamed.coef_ / whole.coef_
        np.testing.assert_allclose(ratio, ratio[0], rtol=1e-6)


def test_splits_given_by_row_hold_where_unlabelled_rows_are_drawn():
    """Row numbers in splits are those of X, whichever of its unlabelled rows the search sees."""
    rows = np.concatenate([ROWS[NAMES].to_numpy()[:400], X.to_numpy()])
    labels = np.concatenate([np.full(400, np.nan), Y])
    positions = 400 + np.arange(len(Y))
    splits = [(positions[part::2], positions[1 - part :: 2]) for part in (0, 1)]
    # No weight of unlabelled rows and the risk's thresholds: the labelled rows alone decide.
    model = LinearOrdinalClassifierCV(cv=splits, unlabeled_weights=(), thresholds="risk")
    whole = clone(model).fit(rows, labels)
    drawn = clone(model).set_params(max_unlabeled=50).fit(rows, labels)
    np.testing.assert_allclose(drawn.cv_results_["loss"], whole.cv_results_["loss"], rtol=1e-6)
    assert_same_fit(drawn, whole)
