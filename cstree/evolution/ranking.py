"""Which points survive and which become parents: the rules of NSGA-II and of SPEA2.

Points are float64 (n, m), all objectives minimised and finite; answers are indices.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cstree.pareto._kernels import crowding_distance, nondominated

__all__ = [
    "crowding_by_rank",
    "nondominated_ranks",
    "spea2_fitness",
    "survivors_nsga2",
    "survivors_spea2",
    "tournament",
]

Points = NDArray[np.float64]
Indices = NDArray[np.intp]


def nondominated_ranks(points: Points) -> Indices:
    """Front of each point: 0 for the nondominated, 1 for those nondominated without them, and so on.

    Equal points are on the same front (Deb et al. 2002, section III A).
    """
    unique, copies = np.unique(points, axis=0, return_inverse=True)
    rank = np.empty(len(unique), dtype=np.intp)
    rest = np.arange(len(unique))
    front = 0
    while len(rest):
        best = nondominated(unique[rest])
        rank[rest[best]] = front
        rest = rest[~best]
        front += 1
    return rank[copies.reshape(-1)]


def crowding_by_rank(points: Points, rank: Indices) -> NDArray[np.float64]:
    """Crowding distance of each point among those of its rank (Deb et al. 2002, section III B)."""
    distance = np.empty(len(points))
    for front in range(int(rank.max(initial=-1)) + 1):
        members = np.flatnonzero(rank == front)
        distance[members] = crowding_distance(np.ascontiguousarray(points[members]))
    return distance


def survivors_nsga2(rank: Indices, crowding: NDArray[np.float64], k: int) -> Indices:
    """Choose the ``k`` best by rank, then by crowding distance, greatest first; ties by index."""
    return np.lexsort((-crowding, rank))[:k]


def spea2_fitness(points: Points) -> NDArray[np.float64]:
    """Fitness of SPEA2, less is better: raw fitness plus density (Zitzler et al. 2001, section 3.1).

    A point's strength is the number of points it dominates; its raw fitness the sum of the strengths of those
    that dominate it, so below 1 in all means nondominated. The density is ``1 / (d + 2)`` with the distance
    ``d`` to the ``floor(sqrt(n))``-th nearest other point, each objective divided by its range.
    """
    n = len(points)
    no_worse = (points[:, None, :] <= points[None, :, :]).all(axis=2)
    dominates = no_worse & ~no_worse.T
    raw = dominates.sum(axis=1) @ dominates
    nearest = min(int(np.sqrt(n)), n - 1)
    squared = np.partition(_squared_distances(points), nearest, axis=1)[:, nearest]
    fitness: NDArray[np.float64] = raw + 1.0 / (np.sqrt(squared) + 2.0)
    return fitness


def survivors_spea2(points: Points, fitness: NDArray[np.float64], k: int) -> Indices:
    """Choose as environmental selection does (Zitzler et al. 2001, section 3.2).

    The nondominated points; if they are fewer than ``k``, the fittest others too; if they are more, the one
    nearest to another is taken out again and again, ties broken by the second nearest, and so on.
    """
    best = np.flatnonzero(fitness < 1)
    if len(best) <= k:
        return np.argsort(fitness, kind="stable")[:k]
    return best[_truncate(_squared_distances(points[best]), k)]


def _squared_distances(points: Points) -> Points:
    """Squared distances between all points, each objective divided by its range; (n, n)."""
    extent = np.ptp(points, axis=0)
    scaled = points / np.where(extent > 0, extent, 1.0)
    squared: Points = ((scaled[:, None, :] - scaled[None, :, :]) ** 2).sum(axis=2)
    return squared


def _truncate(distance: Points, k: int) -> Indices:
    """Choose the ``k`` points that are left; ``distance`` (n, n) is used up."""
    np.fill_diagonal(distance, np.inf)
    left = np.ones(len(distance), dtype=np.bool_)
    for _ in range(len(distance) - k):
        nearest = np.where(left, distance.min(axis=1), np.inf)
        tied = np.flatnonzero(nearest == nearest.min())
        out = tied[0] if len(tied) == 1 else min(tied, key=lambda i: np.sort(distance[i]).tolist())
        left[out] = False
        distance[out], distance[:, out] = np.inf, np.inf
    return np.flatnonzero(left)


def tournament(
    keys: tuple[NDArray[np.floating | np.integer], ...], k: int, rng: np.random.Generator
) -> Indices:
    """Draw the winners of ``k`` binary tournaments.

    The entrants are shuffled again whenever all have fought, so each takes part about equally often. Of two
    the one that is less in the first key wins, then in the next; at last the toss.
    """
    n = len(keys[0])
    rounds = [rng.permutation(n) for _ in range(-(-2 * k // n))]
    pairs = np.concatenate(rounds)[: 2 * k].reshape(k, 2)
    order = np.lexsort((rng.random(n), *keys[::-1]))
    place = np.empty(n, dtype=np.intp)
    place[order] = np.arange(n)
    return np.where(place[pairs[:, 0]] <= place[pairs[:, 1]], pairs[:, 0], pairs[:, 1])
