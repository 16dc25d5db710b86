"""A tree as rules: one per leaf, what a path asks of each feature merged into one condition."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cstree.costs.bound import BoundCosts
from cstree.encoding.schema import FeatureSchema
from cstree.tree.describe import Condition, NodeView, describe
from cstree.tree.tree import Tree
from cstree.tree.words import cost_decimals, shown_cost, shown_label

__all__ = ["Rule", "export_rules"]


@dataclass(frozen=True, eq=False)
class Rule:
    """The path to one leaf as a rule.

    Attributes
    ----------
    leaf : int
        Node index of the leaf.
    conditions : tuple of Condition
        One per feature on the path, in the order in which they are tested first.
    answer : label
        The class that is answered.
    support : int
        Training cases that follow the rule.
    share : float
        Their share of all training weight.
    misclassification_cost : float or None
        Average misclassification cost of these cases; None without cases.
    test_cost : float
        What each of them pays for tests.
    paid : tuple of (str, float)
        The steps that are paid, in order, and their prices.
    decimals : int
        Decimals of costs in the text.
    """

    leaf: int
    conditions: tuple[Condition, ...]
    answer: Any
    support: int
    share: float
    misclassification_cost: float | None
    test_cost: float
    paid: tuple[tuple[str, float], ...]
    decimals: int = 2

    @property
    def premise(self) -> str:
        """The conditions in words."""
        texts = [condition.text() for condition in self.conditions]
        # "a or missing and b" could be read two ways.
        texts = [f"({text})" if text.endswith(" or missing") else text for text in texts]
        return " and ".join(texts) or "always"

    def __str__(self) -> str:
        premise = f"if {self.premise}" if self.conditions else "always"
        cases = "1 case" if self.support == 1 else f"{self.support} cases"
        return (
            f"{premise} then {shown_label(self.answer)} ({cases}, {100 * self.share:.1f} %; "
            f"misclassification {shown_cost(self.misclassification_cost, self.decimals)}, "
            f"tests {shown_cost(self.test_cost, self.decimals)})"
        )


def export_rules(
    tree: Tree,
    schema: FeatureSchema,
    costs: BoundCosts,
    *,
    decimals: int | None = None,
    show_missing: bool = False,
) -> list[Rule]:
    """Return one rule per leaf, in preorder of the leaves.

    Parameters
    ----------
    tree : Tree
    schema : FeatureSchema
    costs : BoundCosts
    decimals : int, optional
        Decimals of costs and bounds; by default 2, and more where mistakes cost less than 10. Bounds get
        more where these would not tell them from other cuts.
        ``condition.lower`` and ``.upper`` are exact.
    show_missing : bool, default=False
        Say in every condition whether missing values meet it; else only where training had some, or where
        categories travel as missing.

    Returns
    -------
    list of Rule
        Together they say what the tree says: every case follows exactly one of them.
    """
    decimals = cost_decimals(costs, decimals)
    views = describe(tree, schema, costs, decimals=decimals, show_missing=show_missing)
    rules = []
    # What the path to a node asks and pays; the last one added is the first to go on from.
    paths: list[tuple[int, dict[int, Condition], tuple[tuple[str, float], ...]]] = [(0, {}, ())]
    while paths:
        index, merged, paid = paths.pop()
        view = views[index]
        if view.is_leaf:
            rules.append(_rule(view, merged, paid, decimals))
            continue
        paid += tuple(view.paid)
        for branch in reversed(range(len(view.children))):
            step = _step(tree, schema, views, index, branch)
            feature = int(tree.feature[index])
            both = _both(merged[feature], step) if feature in merged else step
            paths.append((view.children[branch], {**merged, feature: both}, paid))
    return rules


def _step(tree: Tree, schema: FeatureSchema, views: list[NodeView], node: int, branch: int) -> Condition:
    """Return what a branch asks."""
    step = views[views[node].children[branch]].condition
    assert step is not None
    if step.codes is not None:
        step = replace(step, codes=_travelling(tree, schema, node, branch))
    return step


def _rule(
    leaf: NodeView, merged: dict[int, Condition], paid: tuple[tuple[str, float], ...], decimals: int
) -> Rule:
    return Rule(
        leaf=leaf.index,
        conditions=tuple(merged.values()),
        answer=leaf.answer,
        support=leaf.support,
        share=leaf.share,
        misclassification_cost=leaf.expected_cost,
        test_cost=leaf.path_cost,
        paid=paid,
        decimals=decimals,
    )


def _travelling(tree: Tree, schema: FeatureSchema, node: int, branch: int) -> tuple[int, ...]:
    """Categories that take a branch, those included that travel as missing."""
    start = int(tree.table_start[node])
    table = tree.branch_of_category[start : start + len(schema[int(tree.feature[node])].categories)]
    taken = np.where(table < 0, tree.missing_branch[node], table)
    return tuple(int(code) for code in np.flatnonzero(taken == branch))


def _both(first: Condition, second: Condition) -> Condition:
    """Join two conditions on one feature: both must hold."""
    codes = None
    if first.codes is not None and second.codes is not None:
        codes = tuple(code for code in first.codes if code in set(second.codes))
    return replace(
        first,
        lower=max(first.lower, second.lower),
        upper=min(first.upper, second.upper),
        codes=codes,
        missing=first.missing and second.missing,
        shows_missing=first.shows_missing or second.shows_missing,
    )
