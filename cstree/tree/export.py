"""A tree for people and other programs: text, rules, tables, graphs, DOT, JSON.

All functions take a tree with its schema (names of features and categories) and its bound costs (prices,
class labels), and share one description of the nodes (`describe`), so that they say the same.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from cstree.costs.bound import BoundCosts
from cstree.encoding.schema import FeatureSchema
from cstree.tree.describe import NodeView, describe
from cstree.tree.evaluation import average_costs
from cstree.tree.labels import FAINT, FONT, INK, LINE, cases, class_colors, html_edge, html_node, payment
from cstree.tree.rules import Rule, export_rules
from cstree.tree.tree import Tree
from cstree.tree.words import cost_decimals, shown_cost, shown_label, shown_name

if TYPE_CHECKING:
    import graphviz
    import networkx as nx

__all__ = [
    "Rule",
    "edge_values",
    "export_rules",
    "export_text",
    "node_values",
    "rules_frame",
    "to_dot",
    "to_json",
    "to_networkx",
]


def export_text(
    tree: Tree,
    schema: FeatureSchema,
    costs: BoundCosts,
    *,
    max_depth: int | None = None,
    decimals: int | None = None,
    show_costs: bool = True,
    show_missing: bool = False,
) -> str:
    """Return a tree as indented text, one line per node.

    Parameters
    ----------
    tree : Tree
    schema : FeatureSchema
    costs : BoundCosts
    max_depth : int, optional
        Show splits down to this depth, and only the size of what lies below.
    decimals : int, optional
        Decimals of costs and thresholds; by default 2, and more where mistakes cost less than 10. Thresholds
        get more where these would not tell them from other cuts.
    show_costs : bool, default=True
        Say at each split what is paid there for the first time on the path, and at each leaf the expected
        misclassification cost and the price of the path.
    show_missing : bool, default=False
        Say at every split where missing values go; else only where training had some, or where categories
        are left that no training case brought to the split.

    Returns
    -------
    str
    """
    if max_depth is not None and max_depth < 0:
        raise ValueError(f"max_depth must be 0 or more, or None for the whole tree; got {max_depth}.")
    decimals = cost_decimals(costs, decimals)
    views = describe(tree, schema, costs, decimals=decimals, show_missing=show_missing)
    lines = [_headline(tree, views, costs, decimals)] if show_costs else []
    indent: dict[int, str] = {0: ""}  # what stands before the children of a node
    hidden_until = 0
    for view in views:
        if view.index < hidden_until:
            continue
        lead = ""
        if view.parent >= 0:
            is_last = view.index == views[view.parent].children[-1]
            before = indent[view.parent]
            lead = f"{before}{'└─ ' if is_last else '├─ '}{view.condition}: "
            indent[view.index] = before + ("   " if is_last else "│  ")
        if not view.is_leaf and max_depth is not None and view.depth >= max_depth:
            hidden_until = view.index + int(tree.size[view.index])
            inside = [v for v in views[view.index : hidden_until] if v.is_leaf]
            lines.append(
                f"{lead}... ({len(inside)} leaves, {max(v.depth for v in inside) - view.depth} deep)"
            )
        else:
            lines.append(lead + _node_line(view, decimals, show_costs))
    return "\n".join(lines)


def _headline(tree: Tree, views: list[NodeView], costs: BoundCosts, decimals: int) -> str:
    mistakes, tests = average_costs(tree, costs)
    unit = f" ({shown_name(costs.unit)})" if costs.unit else ""
    return (
        f"{cases(views[0].support)}; cost per case{unit}: misclassification {shown_cost(mistakes, decimals)} "
        f"+ tests {shown_cost(tests, decimals)} = {shown_cost(mistakes + tests, decimals)}"
    )


def _node_line(view: NodeView, decimals: int, show_costs: bool) -> str:
    if view.feature is not None:
        test = f"test {shown_name(view.feature.name)}"
        return f"{test}, {payment(view, decimals)}" if show_costs else test
    line = f"{shown_label(view.answer)} | {cases(view.support)}, {100 * view.share:.1f} %"
    if show_costs:
        line += f" | misclassification {shown_cost(view.expected_cost, decimals)}"
        line += f" | tests {shown_cost(view.path_cost, decimals)}"
    return line


def rules_frame(
    tree: Tree,
    schema: FeatureSchema,
    costs: BoundCosts,
    *,
    decimals: int | None = None,
    show_missing: bool = False,
) -> pd.DataFrame:
    """Return the rules of a tree as a table.

    Parameters
    ----------
    tree : Tree
    schema : FeatureSchema
    costs : BoundCosts
    decimals, show_missing
        As for :func:`export_rules`.

    Returns
    -------
    DataFrame
        One row per rule: ``rule`` (the conditions in words), ``answer``, ``support``, ``share``,
        ``misclassification_cost`` (per case, NaN without cases), ``test_cost``, ``tests`` (what is paid, in
        order). The index, named ``leaf``, is the node of the leaf.
    """
    rules = export_rules(tree, schema, costs, decimals=decimals, show_missing=show_missing)
    columns: dict[str, Any] = {
        "rule": [rule.premise for rule in rules],
        "answer": [rule.answer for rule in rules],
        "support": [rule.support for rule in rules],
        "share": [rule.share for rule in rules],
        "misclassification_cost": pd.array([rule.misclassification_cost for rule in rules], dtype="float64"),
        "test_cost": [rule.test_cost for rule in rules],
        "tests": [", ".join(shown_name(name) for name, _ in rule.paid) for rule in rules],
    }
    return pd.DataFrame(columns, index=pd.Index([rule.leaf for rule in rules], name="leaf"))


def node_values(view: NodeView) -> dict[str, Any]:
    """Return what a node says as plain JSON values: the attributes of nodes in graphs and JSON."""
    return {
        "kind": "leaf" if view.is_leaf else "split",
        "depth": view.depth,
        "feature": None if view.feature is None else view.feature.name,
        "threshold": view.threshold,
        "missing_branch": view.missing_branch,
        "test": view.test or None,
        "pays": dict(view.paid),
        "price": view.price,
        "path_cost": view.path_cost,
        "answer": view.answer,
        "support": view.support,
        "weight": view.weight,
        "share": view.share,
        "class_weight": list(view.class_weight),
        "label_cost": list(view.label_cost),
        "expected_cost": view.expected_cost,
    }


def edge_values(view: NodeView) -> dict[str, Any]:
    """Return how a node is reached from its parent as plain JSON values: the attributes of edges."""
    condition = view.condition
    if condition is None:
        raise ValueError("the root is reached without a condition")
    numeric = condition.codes is None
    return {
        "branch": view.branch,
        "condition": condition.text(),
        "above": condition.lower if numeric and view.branch == 1 else None,
        "at_most": condition.upper if numeric and view.branch == 0 else None,
        "categories": None if condition.categories is None else list(condition.categories),
        "missing": condition.missing,
    }


def to_networkx(tree: Tree, schema: FeatureSchema, costs: BoundCosts) -> nx.DiGraph:
    """Return a tree as a directed graph from the root to the leaves.

    Parameters
    ----------
    tree : Tree
    schema : FeatureSchema
    costs : BoundCosts

    Returns
    -------
    networkx.DiGraph
        Nodes are numbered in preorder, 0 is the root. All attributes are plain Python values (None, numbers,
        texts, lists, dicts), so ``networkx.node_link_data`` of it is JSON. Nodes: see :func:`node_values`;
        edges: ``branch``, ``condition``, ``above`` and ``at_most`` (numeric bounds), ``categories``,
        ``missing`` (missing and unknown values go this way). The graph has ``classes`` and ``unit``.
    """
    import networkx as nx  # on use: loading it takes a tenth of a second

    graph = nx.DiGraph(classes=list(costs.classes), unit=costs.unit)
    for view in describe(tree, schema, costs):
        graph.add_node(view.index, **node_values(view))
        if view.parent >= 0:
            graph.add_edge(view.parent, view.index, **edge_values(view))
    return graph


def to_json(tree: Tree, schema: FeatureSchema, costs: BoundCosts, *, indent: int | None = 1) -> str:
    """Return a tree with its names and costs as JSON text that other programs can follow.

    To save a model and load it again, use :func:`cstree.save_model`.

    Parameters
    ----------
    tree : Tree
    schema : FeatureSchema
    costs : BoundCosts
    indent : int or None, default=1
        As in ``json.dumps``.

    Returns
    -------
    str
        Strict JSON. ``nodes`` are in preorder; each has the values of :func:`node_values` and its
        ``children``, by branch, with the conditions of :func:`to_networkx`'s edges.
    """
    views = describe(tree, schema, costs)
    mistakes, tests = average_costs(tree, costs)
    nodes = [
        {
            "node": view.index,
            **node_values(view),
            "children": [{"node": child, **edge_values(views[child])} for child in view.children],
        }
        for view in views
    ]
    plain = {
        "format": "cstree-tree",
        "version": 1,
        "unit": costs.unit,
        "classes": list(costs.classes),
        "misclassification_costs": costs.matrix.tolist(),
        "features": [
            {
                "name": feature.name,
                "kind": feature.kind,
                "categories": list(feature.categories) if feature.kind == "categorical" else None,
                "test": costs.test_names[j] or None,
            }
            for j, feature in enumerate(schema)
        ],
        "average_cost": {"misclassification": mistakes, "tests": tests, "total": mistakes + tests},
        "nodes": nodes,
    }
    return json.dumps(plain, ensure_ascii=False, allow_nan=False, indent=indent)


def to_dot(
    tree: Tree,
    schema: FeatureSchema,
    costs: BoundCosts,
    *,
    decimals: int | None = None,
    show_costs: bool = True,
    show_missing: bool = False,
    colors: Mapping[Any, str] | None = None,
    direction: str = "TB",
    max_categories: int = 8,
) -> graphviz.Digraph:
    """Return a tree as a drawing that graphviz can lay out.

    Parameters
    ----------
    tree : Tree
    schema : FeatureSchema
    costs : BoundCosts
    decimals : int, optional
        Decimals of costs and thresholds, as in :func:`export_text`.
    show_costs : bool, default=True
        Show what each split pays, and what each leaf costs.
    show_missing : bool, default=False
        As in :func:`export_text`.
    colors : mapping of label to "#rrggbb", optional
        Colours of classes; the others are from a palette that colour-blind people can tell apart.
    direction : {"TB", "LR"}, default="TB"
        Grow from top to bottom or from left to right.
    max_categories : int, default=8
        Categories that one branch names; the number of the others follows.

    Returns
    -------
    graphviz.Digraph
        Its ``source`` is DOT text.
    """
    import graphviz  # loaded only where something is drawn: `import cstree` stays light

    if direction not in ("TB", "LR"):
        raise ValueError(f"direction must be 'TB' or 'LR', got {direction!r}.")
    decimals = cost_decimals(costs, decimals)
    palette = dict(zip(costs.classes, class_colors(costs.classes, colors), strict=True))
    graph = graphviz.Digraph(
        "tree",
        graph_attr={"rankdir": direction, "bgcolor": "white", "nodesep": "0.2", "ranksep": "0.35"},
        node_attr={"shape": "plain", "fontname": FONT, "fontcolor": INK, "fontsize": "12"},
        edge_attr={"fontname": FONT, "fontcolor": FAINT, "fontsize": "11", "color": LINE, "arrowsize": "0.6"},
    )
    for view in describe(tree, schema, costs, decimals=decimals, show_missing=show_missing):
        # The tooltip is set because graphviz would otherwise repeat the whole label in it.
        label = html_node(view, decimals, show_costs, palette[view.answer])
        graph.node(str(view.index), label, tooltip=f"node {view.index}")
        if view.condition is not None:
            text = view.condition.text(max_categories)
            graph.edge(str(view.parent), str(view.index), html_edge(text), labeltooltip=f"node {view.index}")
    return graph
