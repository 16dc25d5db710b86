"""Both prunings of section 5, literally: replace one node, start again, until nothing changes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from .costs import PlainCosts, case_costs, case_weights, plain_costs
from .tree import PlainLeaf, PlainNode, PlainSplit, answered, branch_of, evaluate, plain_tree

__all__ = ["ROUNDING", "cost_prune", "fold", "prune", "support_prune"]

ROUNDING = 1e-12
"""Differences below this share of the quantities compared count as rounding."""

Address = tuple[int, ...]


def _addresses(tree: PlainNode, here: Address = ()) -> list[Address]:
    """Branches to follow from the root to every inner node, in preorder."""
    if isinstance(tree, PlainLeaf):
        return []
    below = [a for b, child in enumerate(tree.children) for a in _addresses(child, (*here, b))]
    return [here, *below]


def _replaced(tree: PlainNode, address: Address, change: Callable[[PlainSplit], PlainNode]) -> PlainNode:
    """The tree with the inner node at ``address`` changed."""
    assert isinstance(tree, PlainSplit)
    if not address:
        return change(tree)
    children = list(tree.children)
    children[address[0]] = _replaced(children[address[0]], address[1:], change)
    return replace(tree, children=tuple(children))


def _branch_cases(
    tree: PlainNode, address: Address, rows: Sequence[Sequence[Any]], w: Sequence[float]
) -> list[list[int]]:
    """Cases of positive weight in each branch of the inner node at ``address``, routed from the root."""
    members = [i for i in range(len(rows)) if w[i] > 0]
    node = tree
    for branch in address:
        assert isinstance(node, PlainSplit)
        split = node
        members = [i for i in members if branch_of(split, rows[i]) == branch]
        node = split.children[branch]
    assert isinstance(node, PlainSplit)
    last = node
    return [[i for i in members if branch_of(last, rows[i]) == b] for b in range(len(last.children))]


def fold(split: PlainSplit, cases: Sequence[Sequence[int]], w: Sequence[float], minimum: int) -> PlainNode:
    """Section 5 at one inner node whose branches hold ``cases``; the same node when nothing is too small.

    Branches with fewer than ``minimum`` cases go into the missing branch. When that one is too small itself,
    the branch of greatest weight (ties to the lowest) takes its part. No branch large enough: a leaf; one:
    its subtree. With two branches this is the rule for binary nodes.
    """
    kept = [b for b, members in enumerate(cases) if len(members) >= minimum]
    if not kept:
        return PlainLeaf()
    if len(kept) == 1:
        return split.children[kept[0]]
    if len(kept) == len(cases):
        return split
    heaviest = max(kept, key=lambda b: (math.fsum(w[i] for i in cases[b]), -b))
    target = split.missing_branch if split.missing_branch in kept else heaviest
    number = {b: kept.index(b if b in kept else target) for b in range(len(cases))}
    return replace(
        split,
        table={code: number[b] for code, b in split.table.items()},
        missing_branch=kept.index(target),
        children=tuple(split.children[b] for b in kept),
    )


def support_prune(
    tree: Any,
    rows: Sequence[Sequence[Any]],
    y: Sequence[int],
    costs: Any,
    minimum: int,
    weights: Any = None,
    example_cost: Any = None,
) -> PlainNode:
    """Replace from the top until every branch holds ``minimum`` cases; the leaves are answered anew."""
    tree = plain_tree(tree)
    w = case_weights(y, weights)
    changed = True
    while changed:
        changed = False
        for address in _addresses(tree):
            cases = _branch_cases(tree, address, rows, w)
            if any(len(members) < minimum for members in cases):
                tree = _replaced(tree, address, lambda split, c=cases: fold(split, c, w, minimum))  # type: ignore[misc]
                changed = True
                break
    return answered(tree, rows, y, plain_costs(costs), weights, example_cost)


def cost_prune(
    tree: Any,
    rows: Sequence[Sequence[Any]],
    y: Sequence[int],
    costs: Any,
    weights: Any = None,
    example_cost: Any = None,
) -> PlainNode:
    """From the top, turn inner nodes into leaves where that does not raise ``f1``; leaves are answered."""
    costs = plain_costs(costs)
    case = (rows, y, costs, weights, example_cost)
    tree = answered(plain_tree(tree), *case)
    slack = ROUNDING * _largest_f1(y, costs, weights, example_cost)
    changed = True
    while changed:
        changed = False
        now = evaluate(tree, *case).f1
        for address in _addresses(tree):
            candidate = answered(_replaced(tree, address, lambda _: PlainLeaf()), *case)
            if evaluate(candidate, *case).f1 <= now + slack:
                tree = candidate
                changed = True
                break
    return tree


def _largest_f1(y: Sequence[int], costs: PlainCosts, weights: Any, example_cost: Any) -> float:
    """The scale of ``f1``: every case at its largest absolute cost."""
    w = case_weights(y, weights)
    rows = case_costs(y, costs, example_cost)
    return math.fsum(w[i] * max(abs(c) for c in row) for i, row in enumerate(rows)) / math.fsum(w)


def prune(
    tree: Any,
    rows: Sequence[Sequence[Any]],
    y: Sequence[int],
    costs: Any,
    minimum: int,
    weights: Any = None,
    example_cost: Any = None,
) -> PlainNode:
    """Step 7 of section 4: support pruning, then cost pruning."""
    tree = support_prune(tree, rows, y, costs, minimum, weights, example_cost)
    return cost_prune(tree, rows, y, costs, weights, example_cost)
