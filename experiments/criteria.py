"""Criteria that only studies use."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from cstree.greedy.alpha import heuristic_alpha
from cstree.greedy.candidates import Candidates
from cstree.greedy.criteria import ROUNDING, Criterion, SecsdtMc

__all__ = ["HarmonicSecsdtMc", "PayingSecsdtMc", "UnstoppedSecsdtMc", "harmonic_cost", "split_measure"]

Array = NDArray[np.float64]


def harmonic_cost(regret: Array) -> Array:
    """``E(S) = sum_p P[p] L[p]`` with ``P[p]`` in proportion to ``1 / L[p]``: the harmonic mean of ``L``.

    A class that costs nothing takes all of the probability: E is 0. For two classes this is equation (10)
    with equation (9) as it stands.

    Parameters
    ----------
    regret : ndarray of shape (n, n_classes)

    Returns
    -------
    ndarray of shape (n,)
    """
    inverse = np.divide(1, regret, out=np.full_like(regret, np.inf), where=regret > 0).sum(axis=1)
    return np.divide(regret.shape[1], inverse, out=np.zeros(len(regret)), where=np.isfinite(inverse))


def split_measure(candidates: Candidates, measure: Callable[[Array], Array]) -> Array:
    """``sum_v measure(L_{S_v})`` over the branches ``v`` of each candidate.

    Parameters
    ----------
    candidates : Candidates
    measure : callable
        Takes regrets of shape (n, n_classes), returns numbers of shape (n,).

    Returns
    -------
    ndarray of shape (n_candidates,)
    """
    c = candidates
    K = c.n_classes
    channels = c._left[:, : len(c)].T
    left = channels[:, K:] if channels.shape[1] > K else c._regrets_of(channels)
    right = np.maximum(np.repeat(c.regret, np.diff(c.start), axis=0) - left, 0.0)
    largest = c.spread(c.regret.max(axis=1))[:, None]
    right[right <= ROUNDING * largest] = 0.0
    result = measure(left) + measure(right)
    if c._multiway.size:
        result[c._multiway] = c._add_branches(measure(c._wide_regret))
    return result


class UnstoppedSecsdtMc(SecsdtMc):
    """SECSDT_MC whose splits need not pay for their tests: nodes grow as long as information is gained."""

    stop = "gain"


class PayingSecsdtMc(SecsdtMc):
    """SECSDT_MC that chooses among the splits that pay for their tests.

    SECSDT_MC chooses among all splits and stops if the chosen one does not pay, even if others would.
    """

    def __call__(self, candidates: Candidates) -> Array:
        """Equation (4); splits that do not reduce expected cost by more than the test costs are excluded."""
        c = candidates
        pays = c.cost_reduction > ROUNDING * c.spread(c.expected_cost)
        return np.where(pays, super().__call__(c), -np.inf)


class HarmonicSecsdtMc(Criterion):
    """SECSDT_MC with the other reading of equation (9), ``P[p]`` in proportion to ``1 / L[p]``.

    The stop is SECSDT_MC's, with this expected cost: a node whose chosen split does not reduce it by more
    than the test costs stays a leaf.
    """

    stop = "never"
    many_nodes = True

    def __call__(self, candidates: Candidates) -> Array:
        """Equation (4); every candidate of a node that is to stay a leaf is excluded."""
        c = candidates
        expected = c.spread(harmonic_cost(c.regret))
        reduction = expected - split_measure(c, harmonic_cost) - c.test_cost
        alpha = c.spread(heuristic_alpha(c.regret))
        accuracy = _share_of_largest(c, c.gain / c.n_branches, np.full(len(c), ROUNDING))
        score = alpha * accuracy + (1 - alpha) * _share_of_largest(c, reduction, ROUNDING * expected)
        best = c.largest(score)
        chosen = score >= best - ROUNDING * np.abs(best)
        first = np.zeros(len(c), dtype=np.bool_)
        positions = np.flatnonzero(chosen)
        node = np.repeat(np.arange(c.n_nodes), np.diff(c.start))
        first[positions[np.unique(node[positions], return_index=True)[1]]] = True
        pays = c.largest((first & (reduction > ROUNDING * expected)).astype(np.float64)) > 0
        return np.where(pays, score, -np.inf)


def _share_of_largest(candidates: Candidates, values: Array, floor: Array) -> Array:
    largest = candidates.largest(values)
    return np.divide(values, largest, out=np.zeros_like(values), where=largest > floor)
