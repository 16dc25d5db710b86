"""A tree as nested nodes, and one case at a time walking through it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, NamedTuple

from .costs import PlainCosts, case_costs, case_weights, newly_paid, plain_costs

__all__ = [
    "Evaluation",
    "NodeStatistics",
    "PlainLeaf",
    "PlainNode",
    "PlainSplit",
    "answered",
    "branch_of",
    "case_test_cost",
    "depth",
    "evaluate",
    "flat_tree",
    "follow",
    "is_missing",
    "label_costs",
    "least_costly",
    "n_leaves",
    "n_nodes",
    "node_statistics",
    "plain_rows",
    "plain_tree",
    "predict",
    "preorder",
    "rule_prices",
]


@dataclass(frozen=True)
class PlainLeaf:
    """A leaf; ``answer`` is a class index, or None when it is not decided yet."""

    answer: int | None = None


@dataclass(frozen=True)
class PlainSplit:
    """An inner node; without children it serves as a candidate test.

    ``kind`` "numeric": ``value <= cut`` takes branch 0, else branch 1. ``kind`` "table": ``table[code]`` is
    the branch of a category; a code that the table lacks travels as missing. Missing values take
    ``missing_branch``.
    """

    feature: int
    kind: str
    cut: float | None = None
    table: dict[int, int] = field(default_factory=dict)
    missing_branch: int = 0
    children: tuple[PlainNode, ...] = ()

    @property
    def n_branches(self) -> int:
        """Branches which the test has, whether or not children hang there."""
        return 2 if self.kind == "numeric" else 1 + max([*self.table.values(), self.missing_branch])


PlainNode = PlainLeaf | PlainSplit


class Evaluation(NamedTuple):
    """``f1`` and ``f2`` of section 2, and what each case pays for tests (weight not applied)."""

    f1: float
    f2: float
    case_test_costs: list[float]


class NodeStatistics(NamedTuple):
    """What the training cases say at one node."""

    support: int
    class_weight: list[float]
    label_cost: list[float]
    answer: int


# --- from the package's objects -----------------------------------------------------------------


def plain_tree(tree: Any) -> PlainNode:
    """Rebuild the nested tree from anything shaped like ``Tree``; a plain tree comes back as it is."""
    if isinstance(tree, PlainLeaf | PlainSplit):
        return tree
    starts = sorted({int(s) for s in tree.table_start if s >= 0})
    ends = dict(pairwise([*starts, len(tree.branch_of_category)]))

    def build(i: int) -> PlainNode:
        if int(tree.feature[i]) < 0:
            return PlainLeaf(int(tree.answer[i]))
        children = []
        child = i + 1
        for _ in range(int(tree.n_branches[i])):
            children.append(build(child))
            child += int(tree.size[child])
        assert child == i + int(tree.size[i]), f"the sizes at node {i} do not add up"
        table = {}
        start = int(tree.table_start[i])
        if start >= 0:
            for code, branch in enumerate(tree.branch_of_category[start : ends[start]]):
                if branch >= 0:
                    table[code] = int(branch)
        return PlainSplit(
            feature=int(tree.feature[i]),
            kind="numeric" if start < 0 else "table",
            cut=float(tree.threshold[i]) if start < 0 else None,
            table=table,
            missing_branch=int(tree.missing_branch[i]),
            children=tuple(children),
        )

    return build(0)


def plain_rows(X: Any, schema: Any) -> list[list[float | int | None]]:
    """Turn a DataFrame or 2-D array into raw rows by a ``FeatureSchema``-like object.

    Numeric values become floats (nan: missing), categories their index in ``Feature.categories`` (None:
    missing or unknown).
    """
    import pandas

    columns = []
    for j, feature in enumerate(schema.features):
        values = X.iloc[:, j] if hasattr(X, "iloc") else [row[j] for row in X]
        cells: list[float | int | None] = []
        for value in values:
            missing = bool(pandas.isna(value))
            if feature.kind == "numeric":
                cells.append(math.nan if missing else float(value))
            else:
                known = [code for code, c in enumerate(feature.categories) if not missing and c == value]
                cells.append(known[0] if known else None)
        columns.append(cells)
    return [list(row) for row in zip(*columns, strict=True)]


def flat_tree(
    tree: PlainNode,
    rows: Sequence[Sequence[Any]],
    y: Sequence[int],
    costs: PlainCosts,
    n_categories: Sequence[int],
    weights: Any = None,
    example_cost: Any = None,
) -> dict[str, list[Any]]:
    """List the fields of the flat ``Tree`` (preorder) with the statistics of these training cases.

    Leaf answers are kept where they are set; ``n_categories[a]`` is the length of feature ``a``'s tables.
    """
    statistics = node_statistics(tree, rows, y, costs, weights, example_cost)
    flat: dict[str, list[Any]] = {
        name: []
        for name in (
            "feature threshold n_branches size missing_branch table_start branch_of_category answer".split()
        )
    }
    for node, facts in zip(preorder(tree), statistics, strict=True):
        start, threshold = -1, math.nan
        if isinstance(node, PlainLeaf):
            feature, branches, missing = -1, 0, 0
            answer = facts.answer if node.answer is None else node.answer
        else:
            feature, branches, missing = node.feature, len(node.children), node.missing_branch
            answer = facts.answer
            if node.cut is not None:
                threshold = node.cut
            else:
                start = len(flat["branch_of_category"])
                codes = range(n_categories[feature])
                flat["branch_of_category"].extend(node.table.get(code, -1) for code in codes)
        for name, value in (
            ("feature", feature),
            ("threshold", threshold),
            ("n_branches", branches),
            ("size", n_nodes(node)),
            ("missing_branch", missing),
            ("table_start", start),
            ("answer", answer),
        ):
            flat[name].append(value)
    for name in ("support", "class_weight", "label_cost"):
        flat[name] = [getattr(facts, name) for facts in statistics]
    return flat


# --- shape --------------------------------------------------------------------------------------


def preorder(tree: PlainNode) -> Iterator[PlainNode]:
    """Visit the nodes: a node first, then its branches in order."""
    yield tree
    if isinstance(tree, PlainSplit):
        for child in tree.children:
            yield from preorder(child)


def n_nodes(tree: PlainNode) -> int:
    """Count nodes, leaves included."""
    return sum(1 for _ in preorder(tree))


def n_leaves(tree: PlainNode) -> int:
    """Count leaves."""
    return sum(isinstance(node, PlainLeaf) for node in preorder(tree))


def depth(tree: PlainNode) -> int:
    """Longest number of tests on a path."""
    return 0 if isinstance(tree, PlainLeaf) else 1 + max(depth(child) for child in tree.children)


# --- one case -----------------------------------------------------------------------------------


def is_missing(value: Any) -> bool:
    """Tell a missing raw value: None or nan."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def branch_of(split: PlainSplit, row: Sequence[Any]) -> int:
    """Branch that a case takes."""
    value = row[split.feature]
    if is_missing(value):
        return split.missing_branch
    if split.cut is not None:
        return 0 if value <= split.cut else 1
    return split.table.get(int(value), split.missing_branch)


def follow(tree: PlainNode, row: Sequence[Any]) -> tuple[list[PlainSplit], PlainLeaf]:
    """Walk to the leaf: the splits on the way, and the leaf."""
    path = []
    node = tree
    while isinstance(node, PlainSplit):
        path.append(node)
        node = node.children[branch_of(node, row)]
    return path, node


def _path_price(path: Sequence[PlainSplit], costs: PlainCosts) -> float:
    """Add up what the tests of a path cost, every step paid once."""
    paid: set[Any] = set()
    amounts = []
    for split in path:
        for step, amount in newly_paid(costs, split.feature, paid):
            paid.add(step)
            amounts.append(amount)
    return math.fsum(amounts)


def case_test_cost(tree: PlainNode, row: Sequence[Any], costs: PlainCosts) -> float:
    """What one case pays for its tests."""
    return _path_price(follow(tree, row)[0], plain_costs(costs))


def predict(tree: PlainNode, rows: Sequence[Sequence[Any]]) -> list[int | None]:
    """Answer of every case's leaf."""
    return [follow(tree, row)[1].answer for row in rows]


def rule_prices(tree: PlainNode, costs: PlainCosts) -> list[float]:
    """``TR`` of every leaf, in preorder."""

    def visit(node: PlainNode, path: list[PlainSplit]) -> list[float]:
        if isinstance(node, PlainLeaf):
            return [_path_price(path, plain_costs(costs))]
        return [value for child in node.children for value in visit(child, [*path, node])]

    return visit(tree, [])


# --- all cases ----------------------------------------------------------------------------------


def label_costs(
    members: Sequence[int], cost_rows: Sequence[Sequence[float]], weights: Sequence[float], n_classes: int
) -> list[float]:
    """``L_S[p]`` of the cases ``members``."""
    return [math.fsum(weights[i] * cost_rows[i][p] for i in members) for p in range(n_classes)]


def least_costly(costs_by_class: Sequence[float]) -> int:
    """Class of least cost, ties to the lowest index."""
    return min(range(len(costs_by_class)), key=lambda p: costs_by_class[p])


def node_statistics(
    tree: PlainNode,
    rows: Sequence[Sequence[Any]],
    y: Sequence[int],
    costs: PlainCosts,
    weights: Any = None,
    example_cost: Any = None,
) -> list[NodeStatistics]:
    """Statistics of every node in preorder; a node without cases answers as its nearest reached ancestor."""
    costs = plain_costs(costs)
    n_classes = len(costs.matrix)
    cost_rows = case_costs(y, costs, example_cost)
    w = case_weights(y, weights)
    result: list[NodeStatistics] = []

    def visit(node: PlainNode, members: list[int], inherited: int) -> None:
        reached = [i for i in members if w[i] > 0]
        by_label = label_costs(members, cost_rows, w, n_classes)
        answer = least_costly(by_label) if reached else inherited
        by_class = [math.fsum(w[i] for i in members if y[i] == k) for k in range(n_classes)]
        result.append(NodeStatistics(len(reached), by_class, by_label, answer))
        if isinstance(node, PlainSplit):
            for branch, child in enumerate(node.children):
                visit(child, [i for i in members if branch_of(node, rows[i]) == branch], answer)

    visit(tree, list(range(len(rows))), 0)
    return result


def answered(
    tree: PlainNode,
    rows: Sequence[Sequence[Any]],
    y: Sequence[int],
    costs: PlainCosts,
    weights: Any = None,
    example_cost: Any = None,
) -> PlainNode:
    """Answer every leaf anew from these training cases."""
    answers = iter([s.answer for s in node_statistics(tree, rows, y, costs, weights, example_cost)])

    def rebuild(node: PlainNode) -> PlainNode:
        answer = next(answers)
        if isinstance(node, PlainLeaf):
            return PlainLeaf(answer)
        return replace(node, children=tuple(rebuild(child) for child in node.children))

    return rebuild(tree)


def evaluate(
    tree: Any,
    rows: Sequence[Sequence[Any]],
    y: Sequence[int],
    costs: Any,
    weights: Any = None,
    example_cost: Any = None,
) -> Evaluation:
    """``f1``, ``f2``, test cost of each case; leaves without an answer are answered from these very cases."""
    tree = plain_tree(tree)
    costs = plain_costs(costs)
    if any(isinstance(node, PlainLeaf) and node.answer is None for node in preorder(tree)):
        filled = answered(tree, rows, y, costs, weights, example_cost)
        tree = _keep_answers(tree, filled)
    cost_rows = case_costs(y, costs, example_cost)
    w = case_weights(y, weights)
    total = math.fsum(w)
    answers = predict(tree, rows)
    paid = [case_test_cost(tree, row, costs) for row in rows]
    f1 = math.fsum(w[i] * cost_rows[i][answers[i]] for i in range(len(rows))) / total  # type: ignore[index]
    f2 = math.fsum(w[i] * paid[i] for i in range(len(rows))) / total
    return Evaluation(f1, f2, paid)


def _keep_answers(tree: PlainNode, filled: PlainNode) -> PlainNode:
    """Take answers from ``filled`` only where ``tree`` has none."""
    if isinstance(tree, PlainLeaf):
        return filled if tree.answer is None else tree
    assert isinstance(filled, PlainSplit)
    pairs = zip(tree.children, filled.children, strict=True)
    return replace(tree, children=tuple(_keep_answers(a, b) for a, b in pairs))
