"""Selection of NSGA-II and SPEA2 as the papers print it, point by point."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tests.reference.pareto import crowding_distance, dominates

__all__ = ["nondominated_ranks", "select_nsga2", "select_spea2", "spea2_fitness"]

Point = Sequence[float]


def nondominated_ranks(points: Sequence[Point]) -> list[int]:
    """Front of each point: those that nobody left dominates are taken away, and so on."""
    rank: dict[int, int] = {}
    front = 0
    while len(rank) < len(points):
        left = [i for i in range(len(points)) if i not in rank]
        best = [i for i in left if not any(dominates(points[j], points[i]) for j in left)]
        rank |= dict.fromkeys(best, front)
        front += 1
    return [rank[i] for i in range(len(points))]


def select_nsga2(points: Sequence[Point], k: int) -> list[int]:
    """Whole fronts as long as they fit, then the least crowded of the next one."""
    rank = nondominated_ranks(points)
    chosen: list[int] = []
    for front in range(max(rank) + 1):
        members = [i for i in range(len(points)) if rank[i] == front]
        distance = crowding_distance([points[i] for i in members])
        order = sorted(range(len(members)), key=lambda a: (-distance[a], a))
        chosen += [members[a] for a in order[: k - len(chosen)]]
    return chosen


def _distances(points: Sequence[Point]) -> list[list[float]]:
    """Distances between all points, each objective divided by its range."""
    extent = [max(column) - min(column) or 1.0 for column in zip(*points, strict=True)]
    scaled = [[value / width for value, width in zip(point, extent, strict=True)] for point in points]
    return [[math.sqrt(sum((x - z) ** 2 for x, z in zip(a, b, strict=True))) for b in scaled] for a in scaled]


def spea2_fitness(points: Sequence[Point]) -> list[float]:
    """Strengths of a point's dominators plus 1 / (distance to its k-th neighbour + 2)."""
    n = len(points)
    strength = [sum(dominates(a, b) for b in points) for a in points]
    raw = [sum(s for s, a in zip(strength, points, strict=True) if dominates(a, b)) for b in points]
    distance = _distances(points)
    k = min(math.isqrt(n), n - 1)
    others = [[0.0, *sorted(distance[i][:i] + distance[i][i + 1 :])] for i in range(n)]
    return [raw[i] + 1 / (others[i][k] + 2) for i in range(n)]


def select_spea2(points: Sequence[Point], k: int) -> list[int]:
    """The nondominated; filled up by fitness, or thinned out one by one where neighbours are nearest."""
    fitness = spea2_fitness(points)
    chosen = [i for i in range(len(points)) if fitness[i] < 1]
    if len(chosen) <= k:
        return sorted(range(len(points)), key=lambda i: (fitness[i], i))[:k]
    distance = _distances([points[i] for i in chosen])
    left = list(range(len(chosen)))
    while len(left) > k:
        left.remove(min(left, key=lambda i: (sorted(distance[i][j] for j in left if j != i), i)))
    return [chosen[i] for i in left]
