"""The signed-rank test against SciPy, and against all signs tried one by one."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.stats import rankdata, wilcoxon

from semiordinal.experiments._statistics import signed_rank_p_value


def by_all_signs(differences):
    """The share of signs whose rank sum is as far from its mean as the one found."""
    kept = np.array([d for d in differences if d != 0])
    ranks = rankdata(np.abs(kept))
    found = abs(ranks @ np.sign(kept))
    sums = [abs(ranks @ np.array(signs)) for signs in product((-1, 1), repeat=len(kept))]
    return np.mean(np.array(sums) >= found)


@pytest.mark.parametrize("seed", range(6))
def test_ties_and_zeros_are_tested_exactly(seed):
    """Errors on a few rows differ by whole numbers of them, so ties are the rule."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(-2, 5, size=10)
    assert signed_rank_p_value(rows / 90) == pytest.approx(by_all_signs(rows), rel=1e-12)


@pytest.mark.parametrize("n_pairs", [1, 5, 12, 30, 50])
def test_without_ties_it_is_scipys_exact_test(n_pairs):
    differences = np.random.default_rng(n_pairs).normal(0.3, 1.0, size=n_pairs)
    expected = wilcoxon(differences, method="exact").pvalue
    assert signed_rank_p_value(differences) == pytest.approx(expected, rel=1e-10)
    assert signed_rank_p_value(-differences) == pytest.approx(expected, rel=1e-10)


def test_many_pairs_are_tested_by_scipys_approximation():
    rows = np.random.default_rng(0).integers(-4, 6, size=200)
    kept = rows[rows != 0]
    expected = wilcoxon(kept).pvalue  # of ties, the approximation
    assert signed_rank_p_value(rows / 90) == pytest.approx(expected, rel=1e-10)
    # Where the one takes over from the other, they agree.
    normal = np.random.default_rng(1).normal(0.3, 1.0, size=51)
    exact = wilcoxon(normal, method="exact").pvalue
    assert signed_rank_p_value(normal) == pytest.approx(exact, rel=0.1)


def test_a_few_better_repetitions_among_equal_ones_are_no_proof():
    differences = np.zeros(20)
    differences[:4] = 1 / 90
    assert signed_rank_p_value(differences) == 0.125
    differences[4] = 1 / 90
    assert signed_rank_p_value(differences) == 0.0625
    differences[5] = 1 / 90
    assert signed_rank_p_value(differences) == 0.03125
