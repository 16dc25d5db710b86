"""What plots show, as plain data: no drawing library is needed here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError

from cstree.costs.bound import BoundCosts
from cstree.encoding.schema import FeatureSchema
from cstree.pareto.front import Front
from cstree.pareto.selection import MISCLASSIFICATION_COST, TEST_COST
from cstree.tree.describe import NodeView, describe
from cstree.tree.evaluation import average_costs
from cstree.tree.labels import cases, class_colors, payment
from cstree.tree.rules import export_rules
from cstree.tree.tree import Tree
from cstree.tree.words import cost_decimals, shown_cost, shown_label, shown_name

__all__ = ["FrontData", "bought_steps", "front_data", "page_data", "tree_of"]


@dataclass(frozen=True, eq=False)
class FrontData:
    """A front with the names behind it.

    Attributes
    ----------
    schema : FeatureSchema
    costs : BoundCosts
    trees : tuple of Tree
    misclassification_cost, test_cost : ndarray of shape (n_points,)
        Averages per case, in the unit of the prices.
    others : dict of str to ndarray of shape (n_points,)
        Further objectives.
    selected : int
        Point of the model's own tree.
    marks : dict of str to int
        Points that stand out, by what they are.
    info : dict
        What the search said about itself.
    """

    schema: FeatureSchema
    costs: BoundCosts
    trees: tuple[Tree, ...]
    misclassification_cost: NDArray[np.float64]
    test_cost: NDArray[np.float64]
    others: dict[str, NDArray[np.float64]]
    selected: int
    marks: dict[str, int]
    info: dict[str, Any]

    @property
    def total_cost(self) -> NDArray[np.float64]:
        """Sum of both costs, shape (n_points,)."""
        return self.misclassification_cost + self.test_cost


def tree_of(model: Any, point: int | None = None) -> Tree:
    """Return the tree of a fitted model, or that of a point of its front.

    Parameters
    ----------
    model : fitted classifier with a tree
    point : int, optional
        Index on ``model.front_``; by default the model's own tree.

    Raises
    ------
    NotFittedError
        The model has no tree yet.
    ValueError
        The model has no front, or the front no such point.
    """
    tree = getattr(model, "tree_", None)
    if not isinstance(tree, Tree):
        raise NotFittedError(f"this {type(model).__name__} holds no tree yet: call fit first")
    if point is None:
        return tree
    front = getattr(model, "front_", None)
    if front is None:
        raise ValueError(
            f"this {type(model).__name__} has no front: leave the point out to get its only tree"
        )
    if not 0 <= point < len(front):
        raise ValueError(f"point {point} is not on the front, whose points are 0 to {len(front) - 1}")
    chosen: Tree = front[point]
    return chosen


def front_data(model: Any) -> FrontData:
    """Gather the front of a fitted model; a model without one counts as a front of one point.

    Parameters
    ----------
    model : fitted classifier with a tree

    Returns
    -------
    FrontData
    """
    tree = tree_of(model)
    schema, costs = model.schema_, model.costs_
    front = getattr(model, "front_", None)
    if front is None:
        front = Front([average_costs(tree, costs)], [tree])
    trees = tuple(front.trees)
    columns = {name: np.array(front.objectives[:, j]) for j, name in enumerate(front.objective_names)}
    if not {MISCLASSIFICATION_COST, TEST_COST} <= columns.keys():
        # Searched with other objectives: the two costs are those of the training cases.
        pairs = np.array([average_costs(tree, costs) for tree in trees])
        columns.setdefault(MISCLASSIFICATION_COST, pairs[:, 0])
        columns.setdefault(TEST_COST, pairs[:, 1])
    mistakes, tests = columns.pop(MISCLASSIFICATION_COST), columns.pop(TEST_COST)
    return FrontData(
        schema=schema,
        costs=costs,
        trees=trees,
        misclassification_cost=mistakes,
        test_cost=tests,
        others=columns,
        selected=_position(tree, trees),
        marks={
            "least total cost": int(np.argmin(mistakes + tests)),
            "knee": front.select("knee"),
            "fewest mistakes": int(np.lexsort((tests, mistakes))[0]),
            "cheapest tests": int(np.lexsort((mistakes, tests))[0]),
        },
        info=dict(front.info),
    )


def _position(tree: Tree, trees: tuple[Tree, ...]) -> int:
    for same in (lambda other: other is tree, tree.same_as):
        for index, other in enumerate(trees):
            if same(other):
                return index
    return 0


def bought_steps(views: list[NodeView]) -> list[dict[str, Any]]:
    """List what a tree buys: each step, the share of cases that pay it, its average cost per case.

    Parameters
    ----------
    views : list of NodeView

    Returns
    -------
    list of dict
        ``step``, ``share`` of the training weight, ``cost``; the costs add up to the tree's test cost.
        In the order of first use.
    """
    steps: dict[str, dict[str, Any]] = {}
    for view in views:
        for name, price in view.paid:
            step = steps.setdefault(name, {"step": name, "share": 0.0, "cost": 0.0})
            step["share"] += view.share
            step["cost"] += view.share * price
    return list(steps.values())


def page_data(model: Any, *, title: str, decimals: int | None = None) -> dict[str, Any]:
    """Everything the page shows, as plain JSON values; names are as people shall see them.

    Parameters
    ----------
    model : fitted classifier with a tree
    title : str
    decimals : int, optional
        Decimals of costs; by default 2, and more where mistakes cost less than 10.

    Returns
    -------
    dict
    """
    data = front_data(model)
    classes = data.costs.classes
    decimals = cost_decimals(data.costs, decimals)
    return {
        "title": title,
        "unit": shown_name(data.costs.unit) if data.costs.unit else "",
        "decimals": decimals,
        "cases": int(data.trees[0].support[0]),
        "classes": [
            {"name": shown_label(label), "color": color}
            for label, color in zip(classes, class_colors(classes), strict=True)
        ],
        "selected": data.selected,
        "marks": [{"label": label, "point": point} for label, point in data.marks.items()],
        "others": [shown_name(name) for name in data.others],
        "info": {
            shown_name(str(key)): f"{value:.4g}" if isinstance(value, float) else shown_label(value)
            for key, value in data.info.items()
            if isinstance(value, (str, int, float, bool))
        },
        "points": [_point(data, index, decimals) for index in range(len(data.trees))],
    }


def _point(data: FrontData, index: int, decimals: int) -> dict[str, Any]:
    tree, costs = data.trees[index], data.costs
    views = describe(tree, data.schema, costs, decimals=decimals)
    number = {label: k for k, label in enumerate(costs.classes)}
    rules = export_rules(tree, data.schema, costs, decimals=decimals)
    used = tree.used_features()
    return {
        "misclassification": float(data.misclassification_cost[index]),
        "test": float(data.test_cost[index]),
        "total": float(data.total_cost[index]),
        "others": [float(values[index]) for values in data.others.values()],
        "leaves": tree.n_leaves,
        "depth": tree.depth,
        "features": [shown_name(data.schema[j].name) for j in used],
        "free": [shown_name(data.schema[j].name) for j in used if not costs.test_names[j]],
        "bought": [{**step, "step": shown_name(step["step"])} for step in bought_steps(views)],
        "nodes": [_node(view, number, decimals) for view in views],
        "rules": [
            {
                "leaf": rule.leaf,
                "premise": rule.premise,
                "class": number[rule.answer],
                "support": rule.support,
                "share": rule.share,
                "misclassification": rule.misclassification_cost,
                "test": rule.test_cost,
            }
            for rule in rules
        ],
    }


def _node(view: NodeView, number: dict[Any, int], decimals: int) -> dict[str, Any]:
    """One box of the drawing: its texts, and how it is reached."""
    node: dict[str, Any] = {
        "parent": view.parent,
        "children": list(view.children),
        "condition": view.condition.text(8) if view.condition is not None else "",
        "full": view.condition.text() if view.condition is not None else "",
        "class": None,
    }
    if view.feature is not None:
        return {**node, "title": shown_name(view.feature.name), "lines": [payment(view, decimals)]}
    return {
        **node,
        "title": shown_label(view.answer),
        "class": number[view.answer],
        "lines": [
            f"{cases(view.support)}, {100 * view.share:.1f} %",
            f"mistakes {shown_cost(view.expected_cost, decimals)}, "
            f"tests {shown_cost(view.path_cost, decimals)}",
        ],
    }
