"""Section 3, "Greedy trees": candidates, stops and recursion, one node at a time."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from .costs import PlainCosts, case_costs, case_weights, newly_paid, plain_costs, price
from .criteria import (
    COST_BLIND,
    Candidate,
    NodeSummary,
    answer_reduction,
    best_candidate,
    cost_reduction,
    expected_cost,
    gain,
    summarize,
)
from .pruning import ROUNDING
from .tree import PlainLeaf, PlainNode, PlainSplit, branch_of, is_missing, least_costly

__all__ = ["Training", "candidates_at", "grow", "midpoints", "training"]


BY_COST = ("secsdt_mc", "mincost", "pm")
"""Criteria whose splits must reduce cost, eq. (6)."""


@dataclass(frozen=True)
class Training:
    """A training set without its cases of weight 0."""

    rows: Sequence[Sequence[Any]]
    y: Sequence[int]
    costs: PlainCosts
    kinds: Sequence[str]
    """"numeric" or "categorical" for each feature."""
    weights: Sequence[float]
    cost_rows: Sequence[Sequence[float]]
    cuts: Sequence[Sequence[float] | None]
    """Cuts of each numeric feature; None: midpoints of the distinct values at the node."""
    has_missing: Sequence[bool]

    def summary(self, members: Sequence[int]) -> NodeSummary:
        """Sum up some of the cases."""
        return summarize(members, self.y, self.weights, self.cost_rows, len(self.costs.matrix))


def training(
    rows: Sequence[Sequence[Any]],
    y: Sequence[int],
    costs: Any,
    kinds: Sequence[str],
    weights: Any = None,
    example_cost: Any = None,
    cuts: Sequence[Sequence[float] | None] | None = None,
) -> Training:
    """Drop the cases of weight 0; all weights 0 is a ValueError."""
    costs = plain_costs(costs)
    w = case_weights(y, weights)
    c = case_costs(y, costs, example_cost)
    kept = [i for i in range(len(rows)) if w[i] > 0]
    if not kept:
        raise ValueError("all weights are 0")
    return Training(
        rows=[rows[i] for i in kept],
        y=[int(y[i]) for i in kept],
        costs=costs,
        kinds=kinds,
        weights=[w[i] for i in kept],
        cost_rows=[c[i] for i in kept],
        cuts=[None] * len(kinds) if cuts is None else cuts,
        has_missing=[any(is_missing(rows[i][a]) for i in kept) for a in range(len(kinds))],
    )


def midpoints(values: Sequence[Any]) -> list[float]:
    """Midpoints between adjacent distinct values; missing ones are left out."""
    distinct = sorted({float(v) for v in values if not is_missing(v)})
    return [low + (high - low) / 2 for low, high in pairwise(distinct)]


def _heaviest(members: Sequence[Sequence[int]], weights: Sequence[float]) -> int:
    """Branch of greatest training weight, ties to the lowest."""
    return max(range(len(members)), key=lambda b: (math.fsum(weights[i] for i in members[b]), -b))


def _numeric_splits(data: Training, members: Sequence[int], feature: int) -> list[PlainSplit]:
    """Every cut, with missing values left, then right where the training column has some."""
    values = [data.rows[i][feature] for i in members]
    cuts = data.cuts[feature]
    splits = []
    for cut in midpoints(values) if cuts is None else sorted(cuts):
        split = PlainSplit(feature, "numeric", cut=float(cut))
        if data.has_missing[feature]:
            splits += [replace(split, missing_branch=side) for side in (0, 1)]
        else:
            sides = [[i for i in members if branch_of(split, data.rows[i]) == b] for b in (0, 1)]
            splits.append(replace(split, missing_branch=_heaviest(sides, data.weights)))
    return splits


def _multiway_split(data: Training, members: Sequence[int], feature: int) -> list[PlainSplit]:
    """A branch for each category seen at the node; missing values go where most weight is."""
    values = [data.rows[i][feature] for i in members]
    seen = sorted({int(v) for v in values if not is_missing(v)})
    if len(seen) < 2:
        return []
    groups = [
        [i for i, v in zip(members, values, strict=True) if not is_missing(v) and v == code] for code in seen
    ]
    table = {code: branch for branch, code in enumerate(seen)}
    return [PlainSplit(feature, "table", table=table, missing_branch=_heaviest(groups, data.weights))]


def candidates_at(
    data: Training,
    members: Sequence[int],
    paid: Collection[Hashable] = (),
    used_up: Collection[int] = (),
) -> list[Candidate]:
    """All splits with at least two branches that hold cases, in the order in which ties are broken.

    ``paid`` are the steps paid on the path, ``used_up`` its categorical features.
    """
    result = []
    for feature, kind in enumerate(data.kinds):
        if kind == "numeric":
            splits = _numeric_splits(data, members, feature)
        else:
            splits = [] if feature in used_up else _multiway_split(data, members, feature)
        for split in splits:
            parts = _parts(data, members, split)
            if all(parts):
                branches = [data.summary(part) for part in parts]
                result.append(Candidate(split, price(data.costs, feature, paid), branches))
    return result


def _parts(data: Training, members: Sequence[int], split: PlainSplit) -> list[list[int]]:
    return [[i for i in members if branch_of(split, data.rows[i]) == b] for b in range(split.n_branches)]


def grow(
    rows: Sequence[Sequence[Any]],
    y: Sequence[int],
    costs: Any,
    kinds: Sequence[str],
    *,
    criterion: str = "secsdt_mc",
    alpha_value: float | str = "heuristic",
    omega: Any = 1.0,
    weights: Any = None,
    example_cost: Any = None,
    cuts: Sequence[Sequence[float] | None] | None = None,
    min_support: int = 2,
    purity: float = 1.0,
    min_purity_support: int = 1,
    max_depth: int | None = None,
    too_dear: str = "stop",
) -> PlainNode:
    """Grow a tree from the top, without pruning; leaves are answered."""
    data = training(rows, y, costs, kinds, weights, example_cost, cuts)

    def visit(members: list[int], paid: set[Hashable], used_up: set[int], level: int) -> PlainNode:
        node = data.summary(members)
        leaf = PlainLeaf(least_costly(node.label_cost))
        if max_depth is not None and level >= max_depth:
            return leaf
        if _is_pure(node, purity) and len(members) >= min_purity_support:
            return leaf
        if len(members) < min_support:
            return leaf
        candidates = candidates_at(data, members, paid, used_up)
        if not candidates:
            return leaf
        order = best_candidate(criterion, node, candidates, alpha_value, omega)
        best = candidates[order]
        if not _pays(criterion, node, best):
            if too_dear == "stop" or criterion not in BY_COST:
                return leaf
            paying = [i for i, other in enumerate(candidates) if _pays(criterion, node, other)]
            if not paying:
                return leaf
            best = candidates[best_candidate(criterion, node, candidates, alpha_value, omega, among=paying)]
        split = best.split
        below = paid | {step for step, _ in newly_paid(data.costs, split.feature, paid)}
        gone = used_up | ({split.feature} if split.kind == "table" else set())
        children = tuple(visit(part, below, gone, level + 1) for part in _parts(data, members, split))
        return replace(split, children=children)

    return visit(list(range(len(data.rows))), set(), set(), 0)


def _is_pure(node: NodeSummary, purity: float) -> bool:
    """Stop 1, without its support."""
    return max(node.class_weight) >= (purity - ROUNDING) * node.weight


def _pays(criterion: str, node: NodeSummary, best: Candidate) -> bool:
    """Negation of stop 4. ``eg2``, ``cs_id3`` and ``idx`` go by the gain, as the cost-blind ones."""
    if criterion in BY_COST:
        reduction = cost_reduction(node, best.branches, best.price)
        return reduction > ROUNDING * expected_cost(node.regret)
    if criterion == "cost":
        scale = max(abs(c) for c in node.label_cost)
        return answer_reduction(node, best.branches, best.price) > ROUNDING * scale
    assert criterion in (*COST_BLIND, "eg2", "cs_id3", "idx")
    return gain(node, best.branches) > ROUNDING
