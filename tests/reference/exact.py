"""Section 6 twice: every tree one by one, and the recursion; in exact rational arithmetic."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

from .costs import PlainCosts, case_costs, case_weights, newly_paid, plain_costs
from .pareto import dominates
from .tree import PlainLeaf, PlainNode, PlainSplit, branch_of, follow, n_nodes

__all__ = ["FrontPoint", "all_trees", "enumerated_front", "exact_front"]


class FrontPoint(NamedTuple):
    """Averages per case, and a tree (without answers) that has them."""

    f1: float
    f2: float
    tree: PlainNode


_Sums = tuple[Fraction, Fraction, PlainNode]


def _exactly(value: Any) -> Fraction:
    """The decimal that was written: 0.1 is one tenth, so that equal sums are equal."""
    return Fraction(repr(float(value)))


class _Problem:
    """Cases of positive weight with exact costs."""

    def __init__(
        self, candidates: Any, rows: Any, y: Any, costs: Any, weights: Any, example_cost: Any
    ) -> None:
        self.candidates: list[PlainSplit] = list(candidates)
        assert all(c.n_branches == 2 for c in self.candidates), "candidates are binary tests"
        self.costs: PlainCosts = plain_costs(costs)
        w = case_weights(y, weights)
        cost_rows = case_costs(y, self.costs, example_cost)
        kept = [i for i in range(len(rows)) if w[i] > 0]
        self.rows = [rows[i] for i in kept]
        self.weights = [_exactly(w[i]) for i in kept]
        self.cost_rows = [[_exactly(w[i]) * _exactly(c) for c in cost_rows[i]] for i in kept]
        self.total = sum(self.weights, Fraction(0))

    def answer_cost(self, members: Sequence[int]) -> Fraction:
        """``min_p L_S[p]``."""
        n_classes = len(self.costs.matrix)
        return min(sum((self.cost_rows[i][p] for i in members), Fraction(0)) for p in range(n_classes))

    def payment(self, feature: int, paid: frozenset[Hashable]) -> tuple[Fraction, frozenset[Hashable]]:
        """``TA(a | D)`` and ``D + a``."""
        new = newly_paid(self.costs, feature, paid)
        return sum((_exactly(p) for _, p in new), Fraction(0)), paid | {step for step, _ in new}

    def points(self, sums: Sequence[_Sums]) -> list[FrontPoint]:
        """Averages."""
        return [FrontPoint(float(a / self.total), float(b / self.total), tree) for a, b, tree in sums]


def _front(found: Sequence[_Sums]) -> list[_Sums]:
    """Nondominated sums, the smallest tree for each.

    A sweep in lexicographic order: a point is dominated exactly if an earlier one has no more of the second.
    """
    best: dict[tuple[Fraction, Fraction], _Sums] = {}
    for entry in found:
        known = best.get(entry[:2])
        if known is None or n_nodes(entry[2]) < n_nodes(known[2]):
            best[entry[:2]] = entry
    kept: list[_Sums] = []
    for point in sorted(best):
        if not kept or point[1] < kept[-1][1]:
            kept.append(best[point])
    return kept


def exact_front(
    candidates: Sequence[PlainSplit],
    rows: Sequence[Sequence[Any]],
    y: Sequence[int],
    costs: Any,
    depth: int,
    weights: Any = None,
    example_cost: Any = None,
) -> list[FrontPoint]:
    """``Front(S, {}, depth)`` by the recursion of section 6, sorted by ``f1``."""
    problem = _Problem(candidates, rows, y, costs, weights, example_cost)

    def front(members: list[int], paid: frozenset[Hashable], level: int) -> list[_Sums]:
        found: list[_Sums] = [(problem.answer_cost(members), Fraction(0), PlainLeaf())]
        for test in problem.candidates if level else []:
            parts = [[i for i in members if branch_of(test, problem.rows[i]) == b] for b in (0, 1)]
            if not all(parts):
                continue
            amount, below = problem.payment(test.feature, paid)
            here = amount * sum((problem.weights[i] for i in members), Fraction(0))
            left, right = (front(part, below, level - 1) for part in parts)
            for a1, a2, a in left:
                for b1, b2, b in right:
                    found.append((a1 + b1, here + a2 + b2, replace(test, children=(a, b))))
        return _front(found)

    return problem.points(front(list(range(len(problem.rows))), frozenset(), depth))


def all_trees(candidates: Sequence[PlainSplit], depth: int) -> Iterator[PlainNode]:
    """Every binary tree of at most this depth: ``t(d) = 1 + C t(d - 1)^2`` of them."""
    yield PlainLeaf()
    if depth:
        below = list(all_trees(candidates, depth - 1))
        for test in candidates:
            for left in below:
                for right in below:
                    yield replace(test, children=(left, right))


def enumerated_front(
    candidates: Sequence[PlainSplit],
    rows: Sequence[Sequence[Any]],
    y: Sequence[int],
    costs: Any,
    depth: int,
    weights: Any = None,
    example_cost: Any = None,
) -> list[FrontPoint]:
    """The same front by brute force: walk every case through every tree, keep what nothing dominates."""
    problem = _Problem(candidates, rows, y, costs, weights, example_cost)
    found: list[_Sums] = []
    for tree in all_trees(problem.candidates, depth):
        reached: dict[tuple[int, ...], list[int]] = {}
        f2 = Fraction(0)
        for i, row in enumerate(problem.rows):
            path, _ = follow(tree, row)
            reached.setdefault(tuple(branch_of(split, row) for split in path), []).append(i)
            paid: frozenset[Hashable] = frozenset()
            for split in path:
                amount, paid = problem.payment(split.feature, paid)
                f2 += problem.weights[i] * amount
        f1 = sum((problem.answer_cost(members) for members in reached.values()), Fraction(0))
        found.append((f1, f2, tree))
    distinct = list({entry[:2]: entry for entry in sorted(found, key=lambda e: -n_nodes(e[2]))}.values())
    front = [e for e in distinct if not any(dominates(other[:2], e[:2]) for other in distinct)]
    return problem.points(sorted(front, key=lambda e: e[:2]))
