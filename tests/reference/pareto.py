"""Dominance, crowding, clone counts, hypervolume and the choice of one point."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = [
    "clone_counts",
    "crowding_distance",
    "dominates",
    "front_indices",
    "hypervolume",
    "hypervolume_2d",
    "nondominated",
    "select",
]

Point = Sequence[Any]


def dominates(a: Point, b: Point) -> bool:
    """Whether ``a`` is nowhere worse than ``b`` and somewhere better (less is better)."""
    pairs = list(zip(a, b, strict=True))
    return all(x <= z for x, z in pairs) and any(x < z for x, z in pairs)


def nondominated(objectives: Sequence[Point]) -> list[bool]:
    """Mark the points which no other dominates; of equal points the first one only."""
    points = [tuple(float(v) for v in point) for point in objectives]
    return [
        not any(dominates(other, point) for other in points) and point not in points[:i]
        for i, point in enumerate(points)
    ]


def front_indices(objectives: Sequence[Point], sizes: Sequence[int] | None = None) -> list[int]:
    """Members of the front, sorted by objectives; of equal points the one of least size, then the first."""
    points = [tuple(float(v) for v in point) for point in objectives]
    sizes = [0] * len(points) if sizes is None else sizes
    best = {
        point: min((sizes[i], i) for i in range(len(points)) if points[i] == point)[1]
        for point in points
        if not any(dominates(other, point) for other in points)
    }
    return [best[point] for point in sorted(best)]


def crowding_distance(objectives: Sequence[Point]) -> list[float]:
    """Crowding distance of section 4: gaps between neighbours, each objective divided by its range, summed.

    The first and last in an objective are at infinity; equal values stand in the order of the next objectives
    (cyclically), then of the index. An objective with no range counts 0; when none has a range (a single
    point, or copies of it) every point is an extreme.
    """
    points = [[float(v) for v in point] for point in objectives]
    distance = [0.0] * len(points)
    any_range = False
    for m in range(len(points[0]) if points else 0):
        order = sorted(range(len(points)), key=lambda i: (points[i][m:] + points[i][:m], i))
        extent = points[order[-1]][m] - points[order[0]][m]
        if extent == 0:
            continue
        any_range = True
        distance[order[0]] = distance[order[-1]] = math.inf
        for before, here, after in zip(order, order[1:], order[2:], strict=False):
            distance[here] += (points[after][m] - points[before][m]) / extent
    return distance if any_range else [math.inf] * len(points)


def clone_counts(distances: Sequence[float], n_clones: int) -> list[int]:
    """``q_i = ceil(N_C d_i / sum_j d_j)``, step 5 of section 4.

    Infinite distances count twice the largest finite one (1 when there is none). Shares that are
    whole numbers up to rounding (1e-9) stay whole.
    """
    finite = [d for d in distances if math.isfinite(d)]
    stand_in = 2 * max(finite, default=0.0)
    if stand_in == 0:
        stand_in = 1.0
    d = [x if math.isfinite(x) else stand_in for x in distances]
    total = math.fsum(d)
    if total == 0:  # copies of one another: nothing to prefer
        d, total = [1.0] * len(d), float(len(d))
    return [0 if x == 0 else max(1, math.ceil(n_clones * x / total - 1e-9)) for x in d]


def hypervolume_2d(objectives: Sequence[Point], reference: Point) -> float:
    """Area dominated by the points and bounded by ``reference``, as a staircase of rectangles."""
    points = sorted((float(a), float(b)) for a, b in objectives if a < reference[0] and b < reference[1])
    pieces = []
    ceiling = float(reference[1])
    for first, second in points:
        if second < ceiling:
            pieces.append((reference[0] - first) * (ceiling - second))
            ceiling = second
    return math.fsum(pieces)


def hypervolume(objectives: Sequence[Point], reference: Point) -> float:
    """Volume dominated within ``reference``, any number of objectives, by inclusion and exclusion."""
    inside = [p for p in objectives if all(v < r for v, r in zip(p, reference, strict=True))]
    points = [p for p, kept in zip(inside, nondominated(inside), strict=True) if kept]
    assert len(points) <= 16, "inclusion and exclusion visits every subset: at most 16 points"
    pieces = []
    for count in range(1, len(points) + 1):
        for group in itertools.combinations(points, count):
            corner = [max(values) for values in zip(*group, strict=True)]
            volume = math.prod(float(r) - float(v) for r, v in zip(reference, corner, strict=True))
            pieces.append(volume if count % 2 else -volume)
    return math.fsum(pieces)


def select(objectives: Sequence[Point], rule: str | Mapping[str, float]) -> int:
    """Index of the point that a rule chooses; ties to the smaller first objective, then the first.

    ``"total_cost"``, ``"knee"`` (farthest from the chord between the extremes, towards the ideal point, both
    objectives scaled to [0, 1]; as total cost when no point is below the chord), ``{"max_test_cost": x}``,
    ``{"max_misclassification_cost": x}``, ``{"exchange_rate": r}``. A bound that no point meets is a
    ValueError.
    """
    points = [(float(p[0]), float(p[1])) for p in objectives]
    name, value = (rule, 0.0) if isinstance(rule, str) else next(iter(rule.items()))
    keys: dict[int, Any]
    if name in ("total_cost", "exchange_rate"):
        rate = 1.0 if name == "total_cost" else value
        keys = {i: a + rate * b for i, (a, b) in enumerate(points)}
    elif name == "knee":
        below = _below_chord(points)
        if max(below) <= 1e-12:
            return select(points, "total_cost")
        keys = {i: -distance for i, distance in enumerate(below)}
    elif name == "max_test_cost":
        keys = {i: (a, b) for i, (a, b) in enumerate(points) if b <= value}
    elif name == "max_misclassification_cost":
        keys = {i: (b, a) for i, (a, b) in enumerate(points) if a <= value}
    else:
        raise ValueError(f"unknown rule {name!r}")
    if not keys:
        raise ValueError(f"no point meets {name} = {value}")
    return min(keys, key=lambda i: (keys[i], points[i][0], i))


def _below_chord(points: Sequence[tuple[float, float]]) -> list[float]:
    """Distance of each point below the chord of the scaled front; negative above it."""
    low = [min(p[m] for p in points) for m in (0, 1)]
    extent = [max(p[m] for p in points) - low[m] for m in (0, 1)]
    if 0 in extent:
        return [0.0] * len(points)
    return [(1 - (p[0] - low[0]) / extent[0] - (p[1] - low[1]) / extent[1]) / math.sqrt(2) for p in points]
