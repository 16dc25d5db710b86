from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from experiments.statistics import friedman, holm, mean_ranks, resampled_t, wilcoxon


def test_ranks_and_friedman_by_hand():
    costs = np.array([[1.0, 2.0, 3.0], [1.0, 3.0, 2.0], [5.0, 5.0, 9.0], [2.0, 4.0, 6.0]])
    assert mean_ranks(costs).tolist() == [1.125, 2.125, 2.75]
    # 12 / (n k (k + 1)) sum R**2 - 3 n (k + 1), divided by 1 - ties / (n k (k**2 - 1))
    sums = np.array([4.5, 8.5, 11.0])
    raw = 12 / (4 * 3 * 4) * (sums**2).sum() - 3 * 4 * 4
    chi, p = friedman(costs)
    assert chi == pytest.approx(raw / (1 - 6 / (4 * 3 * 8)))
    assert p == pytest.approx(math.exp(-chi / 2))  # two degrees of freedom
    assert friedman(np.ones((4, 3))) == (0.0, 1.0)


def test_wilcoxon_leaves_out_sets_without_a_difference():
    first, second = np.arange(8.0), np.arange(8.0) + np.array([0, 0, 0, 1, 2, 3, 4, 5.5])
    assert wilcoxon(first, second) == pytest.approx(2 / 2**5)
    assert wilcoxon(first, first + 1e-12) == 1.0


def test_holm_by_hand():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


def test_resampled_t_is_wider_than_the_plain_one():
    differences = np.array([0.3, 0.1, 0.4, 0.2, 0.5, -0.1, 0.3, 0.2, 0.1, 0.4])
    t = differences.mean() / math.sqrt((1 / 10 + 1 / 9) * differences.var(ddof=1))
    assert resampled_t(differences, 10) == pytest.approx(2 * stats.t.sf(t, 9))
    assert resampled_t(differences, 10) > stats.ttest_1samp(differences, 0).pvalue
    assert resampled_t(np.zeros(10), 10) == 1.0
    assert resampled_t(np.full(10, 0.5), 10) == 0.0
