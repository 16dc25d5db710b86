"""Tables drawn from known distributions have the shares and errors that their notes say."""

from __future__ import annotations

from collections.abc import Callable
from statistics import NormalDist

import numpy as np
import pytest

from cstree.datasets import make_bayes, make_two_clouds


def test_best_answers_of_two_normal_distributions() -> None:
    X, y = make_bayes(200_000, random_state=0)
    assert np.bincount(y).tolist() == [100_000, 100_000]
    assert np.allclose(X[y == 1].mean(axis=0), [1, 0.75], atol=0.02)
    assert np.allclose(np.cov(X[y == 0].T), 1.25**2 * np.eye(2), atol=0.03)
    score = X @ (np.array([2.0, 1.5]) / 1.25**2)
    for gamma, expected in ((0.5, 0.1587), (0.25, 0.1270), (0.75, 0.1270), (0.05, 0.0405), (0.95, 0.0405)):
        k = np.log((1 - gamma) / gamma) / 2
        missed, alarm = NormalDist().cdf(k - 1), NormalDist().cdf(-k - 1)
        assert gamma * missed + (1 - gamma) * alarm == pytest.approx(expected, abs=5e-5)
        positive = score >= np.log((1 - gamma) / gamma)
        assert (~positive)[y == 1].mean() == pytest.approx(missed, abs=0.005)
        assert positive[y == 0].mean() == pytest.approx(alarm, abs=0.005)


def test_overlap_of_the_clouds() -> None:
    X, y = make_two_clouds(200_000, random_state=0)
    from_disc = np.hypot(*X.T)
    from_ring = np.hypot(*(X - [0.5, 0.25]).T)
    assert from_disc[y == 1].max() <= 1
    assert from_ring[y == 0].min() >= 0.6
    assert from_ring[y == 0].max() <= 1.8
    assert ((from_ring >= 0.6) & (from_ring <= 1.8))[y == 1].mean() == pytest.approx(0.6793, abs=0.005)
    assert (from_disc <= 1)[y == 0].mean() == pytest.approx(0.2359, abs=0.005)
    # Uniform by area: half of the disc's cases lie within the radius sqrt(1/2).
    assert (from_disc[y == 1] < 0.5**0.5).mean() == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize("make", [make_bayes, make_two_clouds])
def test_projections_and_seeds(make: Callable[..., tuple[np.ndarray, np.ndarray]]) -> None:
    X, y = make(51, random_state=4)
    assert X.shape == (51, 2)
    assert np.bincount(y).tolist() == [26, 25]
    Z, same = make(51, n_angles=6, random_state=4)
    assert np.array_equal(y, same)
    assert np.allclose(Z[:, 0], X[:, 0])
    assert np.allclose(Z[:, 3], X[:, 1])
    assert np.allclose(Z[:, 1], X @ [np.cos(np.pi / 6), np.sin(np.pi / 6)])
    assert not np.array_equal(make(51, random_state=5)[0], X)
    assert np.array_equal(make(51, random_state=np.random.default_rng(4))[0], X)
    assert make(9, random_state=np.random.RandomState(0))[0].shape == (9, 2)
    with pytest.raises(ValueError, match="n_samples must be an integer of at least 2, got 1"):
        make(1)
    with pytest.raises(ValueError, match="n_angles must be an integer of at least 1, or None; got 0"):
        make(10, n_angles=0)
