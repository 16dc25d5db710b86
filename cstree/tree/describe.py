"""What each node of a tree says, in words and plain numbers: the ground of every export."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cstree.costs.bound import BoundCosts
from cstree.encoding.schema import Feature, FeatureSchema
from cstree.tree.tree import Tree
from cstree.tree.words import shown_categories, shown_name, shown_number

__all__ = [
    "Condition",
    "NodeView",
    "describe",
]


@dataclass(frozen=True, eq=False)
class Condition:
    """What one branch, or all splits of a path on one feature together, ask of a value.

    Attributes
    ----------
    feature : Feature
        The feature that is asked for.
    lower, upper : float
        Numeric: ``lower < value <= upper``; infinite where there is no bound.
    codes : tuple of int or None
        Categorical: indices of the categories that meet the condition; None for numeric features.
    missing : bool
        Whether missing and unknown values meet it.
    shows_missing : bool
        Whether the text says so.
    decimals : int
        Decimals with which bounds are shown, more where they are needed.
    """

    feature: Feature
    lower: float = -math.inf
    upper: float = math.inf
    codes: tuple[int, ...] | None = None
    missing: bool = False
    shows_missing: bool = False
    decimals: int = 2

    @property
    def categories(self) -> tuple[Any, ...] | None:
        """Categories that meet the condition; None for numeric features."""
        return None if self.codes is None else tuple(self.feature.categories[code] for code in self.codes)

    @property
    def is_possible(self) -> bool:
        """Whether some known value meets it; contradicting splits on a path leave none."""
        return self.lower < self.upper if self.codes is None else bool(self.codes)

    def text(self, limit: int | None = None) -> str:
        """Return the condition in words.

        Parameters
        ----------
        limit : int, optional
            Name at most this many categories; by default all of them.

        Returns
        -------
        str
            Such as ``3 < age <= 7``, ``colour in {red, blue} or missing``.
        """
        name = shown_name(self.feature.name)
        if not self.is_possible:
            return f"{name} missing" if self.missing else f"{name} in {{}}"
        known = self._interval(name) if self.codes is None else self._set(name, limit)
        return f"{known} or missing" if self.missing and self.shows_missing else known

    def __str__(self) -> str:
        return self.text()

    def _interval(self, name: str) -> str:
        low, high = (
            shown_number(bound, self.feature.cuts, self.decimals) if math.isfinite(bound) else ""
            for bound in (self.lower, self.upper)
        )
        if not low:
            return f"{name} <= {high}" if high else name
        return f"{low} < {name} <= {high}" if high else f"{name} > {low}"

    def _set(self, name: str, limit: int | None) -> str:
        assert self.codes is not None
        labels = shown_categories(self.feature)
        inside = [labels[code] for code in self.codes]
        outside = [label for code, label in enumerate(labels) if code not in set(self.codes)]
        if len(inside) == 1:
            return f"{name} = {inside[0]}"
        # "not in" takes missing and unknown values in, so it may only be said where they belong.
        if self.missing and 0 < len(outside) < len(inside) and len(inside) > 3:
            return f"{name} not in {_braced(outside, limit)}"
        return f"{name} in {_braced(inside, limit)}"


def _braced(labels: list[str], limit: int | None) -> str:
    if limit is not None and len(labels) > limit:
        labels = [*labels[:limit], f"... {len(labels) - limit} more"]
    return "{" + ", ".join(labels) + "}"


@dataclass(frozen=True, eq=False)
class NodeView:
    """One node in plain values; costs are in the unit of the prices.

    Attributes
    ----------
    index, parent, depth, branch : int
        Parent and branch are -1 for the root.
    children : tuple of int
        By branch; empty for a leaf.
    condition : Condition or None
        What a case met to come here from the parent; None for the root.
    feature : Feature or None
        What the node tests; None for a leaf.
    threshold : float or None
    missing_branch : int or None
    test : str
        Name of the test that is bought; "" for a free feature and for a leaf.
    paid : tuple of (str, float)
        Steps that are paid here for the first time on the path, and their prices.
    path_cost : float
        Paid on the way here, this node's test not included.
    answer : label
        Class that is answered if the case stops here.
    support : int
        Training cases.
    weight, share : float
        Their weight, and its share of all training weight.
    class_weight, label_cost : tuple of float
        By class.
    expected_cost : float or None
        Average misclassification cost of a training case that stops here; None without cases.
    """

    index: int
    parent: int
    depth: int
    branch: int
    children: tuple[int, ...]
    condition: Condition | None
    feature: Feature | None
    threshold: float | None
    missing_branch: int | None
    test: str
    paid: tuple[tuple[str, float], ...]
    path_cost: float
    answer: Any
    support: int
    weight: float
    share: float
    class_weight: tuple[float, ...]
    label_cost: tuple[float, ...]
    expected_cost: float | None

    @property
    def is_leaf(self) -> bool:
        """Whether the node answers instead of testing."""
        return self.feature is None

    @property
    def price(self) -> float:
        """What the node's test costs here."""
        return sum((price for _, price in self.paid), 0.0)


def describe(
    tree: Tree, schema: FeatureSchema, costs: BoundCosts, *, decimals: int = 2, show_missing: bool = False
) -> list[NodeView]:
    """Describe all nodes of a tree, in preorder.

    Parameters
    ----------
    tree : Tree
        Its answers, supports and costs are those of the training cases.
    schema : FeatureSchema
        Names, cuts and categories of the features.
    costs : BoundCosts
        Prices and class labels.
    decimals : int, default=2
        Decimals of thresholds in conditions, more where they are needed.
    show_missing : bool, default=False
        Say at every split where missing values go; else only where the training column had some that can
        arrive, or where a category can arrive that no training case brought there: it travels as missing.

    Returns
    -------
    list of NodeView
    """
    total = float(tree.class_weight[0].sum())
    views: list[NodeView] = []
    pending = [_Arrival(node=0)]  # the last one pushed comes first: preorder
    while pending:
        here = pending.pop()
        node, j = here.node, int(tree.feature[here.node])
        bought = costs.newly_paid(j, here.steps) if j >= 0 else []
        weight = float(tree.class_weight[node].sum())
        answer = int(tree.answer[node])
        is_numeric = j >= 0 and tree.table_start[node] < 0
        view = NodeView(
            index=node,
            parent=here.parent,
            depth=here.depth,
            branch=here.branch,
            children=tuple(tree.children(node)),
            condition=here.condition,
            feature=schema[j] if j >= 0 else None,
            threshold=float(tree.threshold[node]) if is_numeric else None,
            missing_branch=int(tree.missing_branch[node]) if j >= 0 else None,
            test=costs.test_names[j] if j >= 0 else "",
            paid=tuple((costs.step_names[step], price) for step, price in bought),
            path_cost=here.spent,
            answer=costs.classes[answer],
            support=int(tree.support[node]),
            weight=weight,
            share=weight / total if total > 0 else 0.0,
            class_weight=tuple(tree.class_weight[node].tolist()),
            label_cost=tuple(tree.label_cost[node].tolist()),
            expected_cost=float(tree.label_cost[node, answer]) / weight if weight > 0 else None,
        )
        views.append(view)
        if view.feature is None:
            continue
        split = _Split.of(tree, view.feature, node, here.values.get(j))
        for k in reversed(range(len(view.children))):
            pending.append(
                _Arrival(
                    node=view.children[k],
                    parent=node,
                    depth=here.depth + 1,
                    branch=k,
                    condition=split.condition(k, decimals, show_missing),
                    spent=here.spent + view.price,
                    steps=here.steps.union(step for step, _ in bought),
                    values={**here.values, j: split.travelling(k)},
                )
            )
    return views


@dataclass(frozen=True, eq=False)
class _Arrival:
    """How cases come to a node: what they have paid, and which values of tested features they can have.

    ``values`` has for each feature on the path the categories (None: numeric) and whether missing ones come.
    """

    node: int
    parent: int = -1
    depth: int = 0
    branch: int = -1
    condition: Condition | None = None
    spent: float = 0.0
    steps: frozenset[int] = frozenset()
    values: dict[int, tuple[frozenset[int] | None, bool]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class _Split:
    """Where the values that can arrive at a split go."""

    feature: Feature
    threshold: float
    table: NDArray[np.int32] | None
    missing_branch: int
    categories: frozenset[int] | None
    missing_arrive: bool

    @classmethod
    def of(
        cls, tree: Tree, feature: Feature, node: int, arriving: tuple[frozenset[int] | None, bool] | None
    ) -> _Split:
        start, n = int(tree.table_start[node]), len(feature.categories)
        table = tree.branch_of_category[start : start + n] if start >= 0 else None
        categories, missing = arriving or (frozenset(range(n)) if table is not None else None, True)
        branch = int(tree.missing_branch[node])
        return cls(feature, float(tree.threshold[node]), table, branch, categories, missing)

    def condition(self, branch: int, decimals: int, show_missing: bool) -> Condition:
        """Condition of taking a branch; categories that training never brought here are not listed.

        Its text mentions missing values only where some can arrive.
        """
        missing = self.missing_branch == branch
        shows = show_missing or (self.feature.has_missing and self.missing_arrive)
        if self.table is None:
            bounds = (-math.inf, self.threshold) if branch == 0 else (self.threshold, math.inf)
            return Condition(self.feature, *bounds, None, missing, shows, decimals)
        shows = shows or any(self.table[code] < 0 for code in self.categories or ())
        codes = tuple(int(code) for code in np.flatnonzero(self.table == branch))
        return Condition(self.feature, codes=codes, missing=missing, shows_missing=shows, decimals=decimals)

    def travelling(self, branch: int) -> tuple[frozenset[int] | None, bool]:
        """Arriving categories that take a branch, those included that travel as missing; and missing ones."""
        missing = self.missing_arrive and self.missing_branch == branch
        if self.table is None or self.categories is None:
            return None, missing
        taken = np.where(self.table < 0, self.missing_branch, self.table)
        return frozenset(code for code in self.categories if taken[code] == branch), missing
