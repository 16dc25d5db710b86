"""Exports say what the tree does: every case is followed through them and compared with the plain walk."""

from __future__ import annotations

import html
import json
import math
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cstree.costs.bound import BoundCosts
from cstree.costs.model import CostModel
from cstree.encoding.schema import Feature, FeatureSchema
from cstree.tree import export
from cstree.tree.describe import Condition, describe
from cstree.tree.evaluation import average_costs
from cstree.tree.labels import PALETTE, class_colors
from cstree.tree.tree import Tree
from cstree.tree.words import cost_decimals, shown_categories, shown_cost, shown_name, shown_number
from tests import reference
from tests.handmade import AWKWARD, CLINIC_TREES, HandModel, clinic, make_model
from tests.strategies import Problem, tree_problems

TEXT = """\
60 cases; cost per case (EUR): misclassification 7.00 + tests 6.23 = 13.23
test pain, pay 1.00
├─ pain = severe: test chol, pay 7.27 (chol 5.17 + blood draw 2.10)
│  ├─ chol <= 200.5: well | 6 cases, 10.0 % | misclassification 15.00 | tests 8.27
│  └─ chol > 200.5 or missing: ill | 15 cases, 25.0 % | misclassification 0.00 | tests 8.27
└─ pain in {mild, none} or missing: test age, free
   ├─ age <= 55.5: well | 20 cases, 33.3 % | misclassification 9.00 | tests 1.00
   └─ age > 55.5: test sugar, pay 5.20 (sugar 3.10 + blood draw 2.10)
      ├─ sugar <= 5.005: ill | 7 cases, 11.7 % | misclassification 0.00 | tests 6.20
      └─ sugar > 5.005: test chol, pay 5.17
         ├─ chol <= 240.25 or missing: well | 9 cases, 15.0 % | misclassification 10.00 | tests 11.37
         └─ chol > 240.25: ill | 3 cases, 5.0 % | misclassification 20.00 | tests 11.37"""


def parts(model: HandModel) -> tuple[Tree, FeatureSchema, BoundCosts]:
    return model.tree_, model.schema_, model.costs_


@pytest.fixture(scope="module")
def model() -> HandModel:
    return make_model(*clinic(), CLINIC_TREES)


def realise(problem: Problem, plain: reference.PlainNode) -> tuple[Tree, FeatureSchema, BoundCosts]:
    """The package's objects for a random problem of the slow twins."""
    table, costs = problem.table, problem.costs
    flat = reference.flat_tree(plain, *problem.cases[:3], table.n_categories, *problem.cases[3:])
    names = tuple(f"x{j}" for j in range(table.n_features))
    features = []
    for j, name in enumerate(names):
        holes = any(reference.is_missing(value) for value in table.column(j))
        if table.kinds[j] == "numeric":
            cuts = np.array(reference.midpoints(table.column(j)), dtype=float)
            features.append(Feature(name, "numeric", cuts=cuts, has_missing=holes))
        else:
            labels = tuple(f"c{code}" for code in range(table.n_categories[j]))
            features.append(Feature(name, "categorical", categories=labels, has_missing=holes))
    arrays = reference.bound_arrays(costs)
    bound = BoundCosts(
        feature_names=names,
        classes=tuple(f"class {k}" for k in range(table.n_classes)),
        unit="",
        matrix=np.array(arrays["matrix"]),
        step_names=arrays["step_names"],
        step_start=np.array(arrays["step_start"], dtype=np.int32),
        steps=np.array(arrays["steps"], dtype=np.int32),
        prices=np.array(arrays["prices"], dtype=float),
        test_names=tuple(f"t{j}" if entries else "" for j, entries in enumerate(costs.feature_entries)),
    )
    return (
        Tree(**{name: np.array(values) for name, values in flat.items()}),
        FeatureSchema(tuple(features)),
        bound,
    )


def meets(condition: Condition, value: Any) -> bool:
    if reference.is_missing(value):
        return condition.missing
    if condition.codes is None:
        return condition.lower < value <= condition.upper
    return value in condition.codes


def rows_to_follow(problem: Problem) -> list[list[Any]]:
    """The cases, and one that lacks every value."""
    return [*problem.table.rows, [None] * problem.table.n_features]


# --- text -----------------------------------------------------------------------------------------


def test_text(model: HandModel) -> None:
    assert export.export_text(*parts(model)) == TEXT


def test_text_options(model: HandModel) -> None:
    short = export.export_text(*parts(model), max_depth=1).splitlines()
    assert short[1:] == [
        "test pain, pay 1.00",
        "├─ pain = severe: ... (2 leaves, 1 deep)",
        "└─ pain in {mild, none} or missing: ... (4 leaves, 3 deep)",
    ]
    bare = export.export_text(*parts(model), show_costs=False).splitlines()
    assert bare[:3] == [
        "test pain",
        "├─ pain = severe: test chol",
        "│  ├─ chol <= 200.5: well | 6 cases, 10.0 %",
    ]
    everywhere = export.export_text(*parts(model), show_missing=True)
    assert everywhere.count("or missing") == 5  # one branch of each split
    assert "age <= 55.5 or missing" in everywhere
    rough = export.export_text(*parts(model), decimals=0)
    assert "tests 11" in rough
    assert "tests 11.37" not in rough
    assert "sugar <= 5.005" in rough  # 5 would be another cut
    with pytest.raises(ValueError, match="max_depth"):
        export.export_text(*parts(model), max_depth=-1)


def test_small_costs_get_more_decimals(model: HandModel) -> None:
    X, y, _ = clinic()
    tests = {"age": 0.01, "pain": 0, "chol": 0, "sugar": 0}
    cents = CostModel({("ill", "well"): 0.9, ("well", "ill"): 0.6}, tests=tests)
    small = make_model(X, y, cents, [None])
    assert "misclassification 0.3200 " in export.export_text(*parts(small))
    assert "misclassification 0.32 " in export.export_text(*parts(small), decimals=2)
    assert cost_decimals(CostModel().bind(["a"], [0, 1])) == 3
    assert cost_decimals(CostModel().bind(["a"], [0])) == 2
    assert cost_decimals(model.costs_) == 2
    with pytest.raises(ValueError, match="decimals"):
        export.export_text(*parts(small), decimals=-1)


def test_text_of_a_single_leaf() -> None:
    model = make_model(*clinic(), [None])
    assert export.export_text(*parts(model)).splitlines()[1:] == [
        "ill | 60 cases, 100.0 % | misclassification 32.00 | tests 0.00"
    ]
    assert [str(rule) for rule in export.export_rules(*parts(model))] == [
        "always then ill (60 cases, 100.0 %; misclassification 32.00, tests 0.00)"
    ]


def test_a_deep_tree_needs_no_recursion() -> None:
    depth = 3000  # a split, its leaf, the next split, ...
    splits = np.arange(2 * depth + 1) % 2 == 0
    splits[-1] = False
    n = len(splits)
    tree = Tree(
        feature=np.where(splits, 0, -1),
        threshold=np.where(splits, np.arange(n), np.nan),
        n_branches=np.where(splits, 2, 0),
        size=np.where(splits, n - np.arange(n), 1),
        missing_branch=np.zeros(n),
        table_start=np.full(n, -1),
        branch_of_category=np.empty(0),
        answer=np.zeros(n),
        support=np.ones(n),
        class_weight=np.ones((n, 2)),
        label_cost=np.ones((n, 2)),
    )
    schema = FeatureSchema((Feature("x", "numeric", cuts=np.arange(0, n, 2.0)),))
    costs = CostModel().bind(["x"], [0, 1])
    assert tree.depth == depth
    assert len(export.export_text(tree, schema, costs, max_depth=3).splitlines()) == 8
    assert len(json.loads(export.to_json(tree, schema, costs))["nodes"]) == n
    assert len(export.to_dot(tree, schema, costs).body) > n


# --- every export follows every case to the same leaf -----------------------------------------------


@given(tree_problems())
def test_each_case_meets_one_rule_and_it_says_what_the_tree_does(drawn: tuple[Problem, Any]) -> None:
    problem, plain = drawn
    tree, schema, costs = realise(problem, plain)
    rules = export.export_rules(tree, schema, costs)
    answered = reference.plain_tree(tree)
    assert [rule.test_cost for rule in rules] == pytest.approx(reference.rule_prices(plain, problem.costs))
    assert [sum(price for _, price in rule.paid) for rule in rules] == pytest.approx(
        [rule.test_cost for rule in rules]
    )
    for row in rows_to_follow(problem):
        kept = [
            rule
            for rule in rules
            if all(meets(c, row[schema.names.index(c.feature.name)]) for c in rule.conditions)
        ]
        assert len(kept) == 1
        assert kept[0].answer == costs.classes[reference.predict(answered, [row])[0]]
        assert kept[0].test_cost == pytest.approx(reference.case_test_cost(plain, row, problem.costs))
    for rule in rules:
        assert len({c.feature.name for c in rule.conditions}) == len(rule.conditions)


@given(tree_problems())
def test_graph_and_json_lead_each_case_to_its_leaf(drawn: tuple[Problem, Any]) -> None:
    problem, plain = drawn
    tree, schema, costs = realise(problem, plain)
    graph = export.to_networkx(tree, schema, costs)
    text = export.to_json(tree, schema, costs)
    nodes = json.loads(text, parse_constant=pytest.fail)["nodes"]
    assert nx.is_arborescence(graph)
    assert json.loads(json.dumps(nx.node_link_data(graph, edges="edges"), allow_nan=False))
    assert [node["node"] for node in nodes] == list(graph.nodes) == list(range(tree.n_nodes))
    answered = reference.plain_tree(tree)
    for row in rows_to_follow(problem):
        node = 0
        while nodes[node]["kind"] == "split":
            value = row[schema.names.index(nodes[node]["feature"])]
            children = nodes[node]["children"]
            known = [child for child in children if takes(child, value, schema, nodes[node]["feature"])]
            node = known[0]["node"] if known else children[nodes[node]["missing_branch"]]["node"]
        assert nodes[node]["answer"] == costs.classes[reference.predict(answered, [row])[0]]
        assert nodes[node]["path_cost"] == pytest.approx(reference.case_test_cost(plain, row, problem.costs))
    for node in nodes:
        assert {k: v for k, v in node.items() if k not in ("node", "children")} == graph.nodes[node["node"]]
        assert [child["missing"] for child in node["children"]].count(True) == (node["kind"] == "split")
        for child in node["children"]:
            edge = graph.edges[node["node"], child["node"]]
            assert {k: v for k, v in child.items() if k != "node"} == edge


def takes(child: dict[str, Any], value: Any, schema: FeatureSchema, name: str) -> bool:
    if reference.is_missing(value):
        return False
    if child["categories"] is not None:
        return schema[schema.names.index(name)].categories[value] in child["categories"]
    return value <= child["at_most"] if child["at_most"] is not None else value > child["above"]


@given(tree_problems())
def test_average_costs_are_those_of_the_cases(drawn: tuple[Problem, Any]) -> None:
    problem, plain = drawn
    tree, schema, costs = realise(problem, plain)
    views = describe(tree, schema, costs)
    judged = reference.evaluate(reference.plain_tree(tree), *problem.cases)
    assert average_costs(tree, costs) == pytest.approx((judged.f1, judged.f2), abs=1e-9)
    assert sum(view.share for view in views if view.is_leaf) == pytest.approx(1.0)


@given(tree_problems())
def test_every_node_has_its_line_and_every_split_its_payment(drawn: tuple[Problem, Any]) -> None:
    problem, plain = drawn
    tree, schema, costs = realise(problem, plain)
    lines = export.export_text(tree, schema, costs).splitlines()
    assert len(lines) == tree.n_nodes + 1
    views = describe(tree, schema, costs)
    for view, line in zip(views, lines[1:], strict=True):
        if view.feature is None:
            continue
        if view.paid:
            assert f", pay {shown_cost(view.price, cost_decimals(costs, None))}" in line
        else:
            assert line.endswith(", already paid" if view.test else ", free")
    frame = export.rules_frame(tree, schema, costs)
    assert frame.index.tolist() == tree.leaves().tolist()
    assert frame["support"].sum() == tree.support[0]
    reached = frame[frame["share"] > 0]
    total = (reached["share"] * reached["misclassification_cost"]).sum()
    assert total == pytest.approx(average_costs(tree, costs)[0], abs=1e-9)


# --- conditions -------------------------------------------------------------------------------------


def test_conditions_on_one_feature_are_merged() -> None:
    X = pd.DataFrame({"age": np.arange(10.0), "c": list("aabbccddee")})
    nested = [
        ("age", 7.5, ("age", 3.5, None, ("age", 8.5, None, None)), None),
        ("c", {"a": 0, "b": 0, "c": 1, "d": 1}, [("c", {"a": 0, "b": 1}, [None, None], 1), None], 0),
    ]
    model = make_model(X, np.arange(10) % 2, CostModel(), nested)
    dataset = [model.schema_, model.costs_]
    numbers = [rule.premise for rule in export.export_rules(model.tree_, *dataset)]
    assert numbers == ["age <= 3.5", "3.5 < age <= 7.5", "age in {}", "age > 7.5"]
    letters = build(X, nested[1])
    # "e" was left out of both tables: it travels as missing.
    assert [rule.premise for rule in export.export_rules(*parts(letters))] == [
        "c = a",
        "(c in {b, e} or missing)",
        "c in {c, d}",
    ]


def test_missing_values_are_mentioned_only_where_they_can_arrive() -> None:
    X = pd.DataFrame({"c": ["a", "b", "c", None] * 3})
    below = ("c", {"a": 0, "b": 1}, [None, None])
    away = build(X, ("c", {"a": 0, "b": 0, "c": 1}, [below, None], 1))
    lines = export.export_text(*parts(away), show_costs=False).splitlines()
    assert [line.split(":")[0] for line in lines[1:]] == [
        "├─ c in {a, b}",
        "│  ├─ c = a",  # c and missing ones went the other way
        "│  └─ c = b",
        "└─ c = c or missing",
    ]
    along = build(X, ("c", {"a": 0, "b": 0, "c": 1}, [below, None], 0))
    lines = export.export_text(*parts(along), show_costs=False).splitlines()
    assert [line.split(":")[0] for line in lines[1:3]] == [
        "├─ c in {a, b} or missing",
        "│  ├─ c = a or missing",
    ]


def build(X: pd.DataFrame, nested: Any) -> HandModel:
    return make_model(X, np.arange(len(X)) % 2, CostModel(), [nested])


def test_long_lists_of_categories_are_turned_round_or_cut() -> None:
    labels = tuple(f"c{k}" for k in range(12))
    feature = Feature("state", "categorical", categories=labels)
    most = Condition(feature, codes=tuple(range(2, 12)), missing=True, shows_missing=True)
    assert most.text() == "state not in {c0, c1} or missing"
    # Unknown values must not be taken in where they do not belong.
    strict = Condition(feature, codes=tuple(range(2, 12)))
    assert strict.text().startswith("state in {c2, c3")
    assert strict.text(3) == "state in {c2, c3, c4, ... 7 more}"
    assert strict.categories == labels[2:]
    assert Condition(feature, codes=(), missing=True).text() == "state missing"
    assert Condition(feature, codes=()).text() == "state in {}"


def test_categories_that_look_alike_are_told_apart() -> None:
    assert shown_categories(Feature("f", "categorical", categories=(1, "1", True))) == ["1", "'1'", "True"]
    assert shown_categories(Feature("f", "categorical", categories=("a, b", "a", "", " "))) == [
        '"a, b"',
        "a",
        '""',
        '" "',
    ]


@given(
    st.lists(st.floats(-1e12, 1e12, allow_subnormal=False), min_size=1, max_size=8, unique=True),
    st.integers(0, 4),
)
def test_thresholds_keep_their_place_among_the_cuts(cuts: list[float], decimals: int) -> None:
    texts = [shown_number(cut, cuts, decimals) for cut in cuts]
    order = np.argsort(cuts)
    assert np.argsort([float(text) for text in texts]).tolist() == order.tolist()
    for cut, text in zip(cuts, texts, strict=True):
        gap = min((abs(other - cut) for other in cuts if other != cut), default=abs(cut))
        assert abs(float(text) - cut) <= 0.01 * gap * (1 + 1e-9)


@pytest.mark.parametrize(
    ("value", "others", "text"),
    [
        (54.5, [50.5, 60.0], "54.5"),
        (0.1234567, [0.5], "0.12"),
        (0.1234567, [0.1234], "0.123457"),
        (0.0, [1.0], "0"),
        (-3.25, [], "-3.25"),
        (1e-9, [], "1e-09"),
        (123456789.5, [123456780.5], "123456789.5"),
    ],
)
def test_thresholds(value: float, others: list[float], text: str) -> None:
    assert shown_number(value, others) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.00"),
        (-0.0, "0.00"),
        (0.004, "0.004"),
        (0.0061, "0.01"),
        (-2.5, "-2.50"),
        (None, "-"),
        (math.nan, "-"),
    ],
)
def test_costs(value: float | None, text: str) -> None:
    assert shown_cost(value) == text


# --- names ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def awkward() -> HandModel:
    """Every awkward name is a feature, a class, a category, a test and an operation."""
    n = len(AWKWARD)
    cells = {name: np.arange(4.0 * n) for name in AWKWARD[: n // 2]}
    cells |= {name: [AWKWARD[(i + j) % n] for i in range(4 * n)] for j, name in enumerate(AWKWARD[n // 2 :])}
    nested: Any = None
    for name in reversed(AWKWARD[n // 2 :]):
        nested = (name, {category: k % 3 for k, category in enumerate(AWKWARD)}, [None, None, nested])
    for k, name in enumerate(reversed(AWKWARD[: n // 2])):
        nested = (name, 4 * n - 10.5 - k, nested, None)
    y = [AWKWARD[i % n] for i in range(4 * n)]
    tests = {name: 1.0 + k for k, name in enumerate(AWKWARD)}
    return make_model(pd.DataFrame(cells), y, CostModel(tests=tests, unit='€ "<&>"\n'), [nested])


def test_awkward_names_in_text_and_rules(awkward: HandModel) -> None:
    text = export.export_text(*parts(awkward))
    assert len(text.split("\n")) == awkward.tree_.n_nodes + 1  # a name with a line break breaks no line
    rules = "\n".join(str(rule) for rule in export.export_rules(*parts(awkward)))
    for name in AWKWARD:
        assert f"test {shown_name(name)}, pay" in text
        assert shown_name(name) in rules
    plain = [name for name in AWKWARD if "\n" not in name and "\u202e" not in name]
    assert all(shown_name(name) == name for name in plain)
    assert shown_name("two\nlines") == '"two\\nlines"'
    assert shown_name("\u202ereversed") == '"\\u202ereversed"'
    assert shown_name("") == '""'
    text.encode("utf-8")


def test_awkward_names_in_json_and_graph(awkward: HandModel) -> None:
    plain = json.loads(export.to_json(*parts(awkward)))
    assert plain["classes"] == sorted(AWKWARD)
    assert [feature["name"] for feature in plain["features"]] == AWKWARD
    graph = export.to_networkx(*parts(awkward))
    assert {data["feature"] for _, data in graph.nodes(data=True)} == {*AWKWARD, None}
    assert {data["test"] for _, data in graph.nodes(data=True)} == {*AWKWARD, None}


def test_lone_surrogates_do_not_break_an_export() -> None:
    name = "bad \udcff name"
    X = pd.DataFrame({name: [1.0, 2.0, 3.0, 4.0]})
    model = make_model(X, [0, 0, 1, 1], CostModel(), [(name, 2.5, None, None)])
    for text in (export.export_text(*parts(model)), export.to_dot(*parts(model)).source):
        text.encode("utf-8")
        assert "udcff" in text
    assert json.loads(export.to_json(*parts(model)))["features"][0]["name"] == name


def test_dot_escapes_names(awkward: HandModel) -> None:
    source = export.to_dot(*parts(awkward)).source
    for name in AWKWARD:
        assert html.escape(shown_name(name)).replace("\\", "\\\\") in source


def test_dot_options(model: HandModel) -> None:
    source = export.to_dot(*parts(model), direction="LR", colors={"ill": "#aa0000"}, show_costs=False).source
    assert "rankdir=LR" in source
    assert "#aa0000" in source
    assert PALETTE[0] not in source
    assert PALETTE[1] in source
    assert "pay" not in source
    with pytest.raises(ValueError, match="direction"):
        export.to_dot(*parts(model), direction="up")
    with pytest.raises(ValueError, match=r"'absent'.*no class"):
        export.to_dot(*parts(model), colors={"absent": "#aa0000"})
    with pytest.raises(ValueError, match="#rrggbb"):
        export.to_dot(*parts(model), colors={"ill": "red"})


def test_more_classes_than_colours() -> None:
    colors = class_colors(range(20))
    assert len(colors) == 20
    assert len(set(colors[: len(PALETTE)])) == len(PALETTE)


def test_labels_of_any_kind_stay_what_they_are() -> None:
    X, _, costs = clinic()
    y = np.arange(len(X)) % 2 == 0
    free = CostModel(tests=costs.tests, operations=costs.operations)
    model = make_model(X, y, free, CLINIC_TREES[:1])
    answers = {node["answer"] for node in json.loads(export.to_json(*parts(model)))["nodes"]}
    assert answers <= {True, False}
    assert all(type(answer) is bool for answer in answers)
    frame = export.rules_frame(*parts(model))
    assert frame["answer"].dtype == bool


def test_weightless_leaves_have_no_expected_cost() -> None:
    X = pd.DataFrame({"x": [1.0, 2.0, 3.0]})
    model = make_model(X, [0, 1, 1], CostModel(), [("x", 1.5, None, ("x", 1.25, None, None))])
    empty = export.export_rules(*parts(model))[1]
    assert (empty.support, empty.share, empty.misclassification_cost) == (0, 0.0, None)
    assert "0 cases, 0.0 %; misclassification -" in str(empty)
    assert math.isnan(export.rules_frame(*parts(model))["misclassification_cost"].iloc[1])
