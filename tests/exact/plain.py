"""The recursion of complete fronts in plain Python on whole numbers: slow, fit for real tables at depth 3."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from fractions import Fraction
from functools import cache
from math import lcm
from typing import Any

from tests import reference as ref

Points = tuple[tuple[int, int], ...]


class PlainFront:
    """Cases as the bits of Python integers, costs and prices as integers; no bounds, no special cases."""

    def __init__(
        self,
        candidates: Sequence[ref.PlainSplit],
        rows: Sequence[Sequence[Any]],
        y: Sequence[int],
        costs: ref.PlainCosts,
        weights: Sequence[float] | None = None,
        example_cost: Sequence[Sequence[float]] | None = None,
        min_support: int = 1,
    ) -> None:
        self.costs, self.min_support = costs, max(1, min_support)
        w = [_exactly(1.0 if weights is None else weights[i]) for i in range(len(rows))]
        case_costs = [
            tuple(_exactly(c) for c in (costs.matrix[k] if example_cost is None else example_cost[i]))
            for i, k in enumerate(y)
        ]
        self.total = sum(w, Fraction(0))
        weighted = [tuple(w_i * c for c in row) for w_i, row in zip(w, case_costs, strict=True)]
        self.cost_unit = _unit(c for row in weighted for c in row)
        prices = {
            (j, s): _exactly(p) for j in range(costs.n_features) for s, p in ref.newly_paid(costs, j, ())
        }
        self.price_unit, self.weight_unit = _unit(prices.values()), _unit(w)
        groups: dict[tuple[Any, ...], int] = {}
        for i, (row, w_i) in enumerate(zip(weighted, w, strict=True)):
            key = (tuple(int(c / self.cost_unit) for c in row), int(w_i / self.weight_unit))
            groups[key] = groups.get(key, 0) | 1 << i
        self.groups = list(groups.items())
        self.splits = []
        for split in candidates:
            left = sum(1 << i for i, row in enumerate(rows) if ref.branch_of(split, row) == 0)
            self.splits.append((split.feature, left))
        self.everything = (1 << len(rows)) - 1
        self.solve = cache(self._solve)

    def front(self, depth: int) -> list[tuple[float, float]]:
        """Averages per case, sorted by the first."""
        unit = self.price_unit * self.weight_unit
        found = self.solve(self.everything, frozenset(), depth)
        return [(float(a * self.cost_unit / self.total), float(b * unit / self.total)) for a, b in found]

    def _leaf(self, cases: int) -> int:
        n_answers = len(self.groups[0][0][0])
        sums = [0] * n_answers
        for (row, _), members in self.groups:
            if count := (cases & members).bit_count():
                for p in range(n_answers):
                    sums[p] += count * row[p]
        return min(sums)

    def _solve(self, cases: int, paid: frozenset[Hashable], depth: int) -> Points:
        found = {(self._leaf(cases), 0)}
        weight = sum((cases & members).bit_count() * w for (_, w), members in self.groups)
        for feature, left in self.splits if depth else []:
            parts = cases & left, cases & ~left
            if min(part.bit_count() for part in parts) < self.min_support:
                continue
            new = ref.newly_paid(self.costs, feature, paid)
            base = weight * int(sum((_exactly(p) for _, p in new), Fraction(0)) / self.price_unit)
            below = paid | {step for step, _ in new}
            first, second = (self.solve(part, below, depth - 1) for part in parts)
            found |= {(a1 + b1, base + a2 + b2) for a1, a2 in first for b1, b2 in second}
        kept: list[tuple[int, int]] = []
        for point in sorted(found):
            if not kept or point[1] < kept[-1][1]:
                kept.append(point)
        return tuple(kept)


def _exactly(value: float) -> Fraction:
    """The decimal that was written."""
    return Fraction(repr(float(value)))


def _unit(values: Any) -> Fraction:
    """Greatest fraction of 1 of which all are multiples."""
    return Fraction(1, lcm(*(value.denominator for value in values), 1))
