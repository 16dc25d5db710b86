"""Exported code is run: it answers 10,000 random rows, and the odd ones, as `predict` does."""

from __future__ import annotations

import math
import re
import sqlite3
from collections.abc import Callable, Iterable
from contextlib import closing
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given

from cstree.costs.bound import BoundCosts
from cstree.costs.model import CostModel
from cstree.encoding.schema import Feature, FeatureSchema
from cstree.greedy.classifier import GreedyTreeClassifier
from cstree.tree.code import DIALECTS, to_python, to_sql
from cstree.tree.evaluation import path_costs
from cstree.tree.tree import Tree
from tests import reference
from tests.handmade import AWKWARD, clinic, make_model
from tests.strategies import Problem, tree_problems
from tests.tree.test_export import realise, rows_to_follow

NAMES = [name for name in AWKWARD if name != "<html>"]
CLASSES: dict[str, list[Any]] = {
    "text": ["ill", "it's", 'say "no" \\n'],
    "awkward text": AWKWARD[:5],
    "integers": [-3, 0, 7],
    "booleans": [False, True],
    "numbers": [-1.0, 1.0],
}


def function(source: str, name: str = "predict") -> Callable[[Any], Any]:
    namespace: dict[str, Any] = {}
    exec(compile(source, "<exported>", "exec"), namespace)
    return namespace[name]


def ask_sqlite(
    expressions: Iterable[str], names: Iterable[str], rows: Iterable[Iterable[Any]]
) -> list[list[Any]]:
    """Evaluate expressions over a table without declared types, so that every value stays as it is."""
    columns = ['"' + name.replace('"', '""') + '"' for name in names]
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(f"CREATE TABLE cases ({', '.join(columns)})")
        marks = ", ".join("?" * len(columns))
        connection.executemany(f"INSERT INTO cases VALUES ({marks})", rows)
        return [
            [value for (value,) in connection.execute(f"SELECT {text} FROM cases ORDER BY rowid")]
            for text in expressions
        ]


def by_hand(nested: Any) -> tuple[Tree, FeatureSchema, BoundCosts]:
    model = make_model(*clinic(), [nested])
    return model.tree_, model.schema_, model.costs_


ONE_CUT = ("age", 30.5, None, None)


def awkward_table(rng: np.random.Generator, n: int, unknown: bool) -> pd.DataFrame:
    """Numbers, texts, integers, decimals and booleans with holes, under names that need quoting."""
    choices: dict[str, list[Any]] = {
        NAMES[0]: [*AWKWARD, ""],
        NAMES[1]: [1, 2, 3, 40],
        NAMES[4]: [0.1, 0.25, 1 / 3],
        NAMES[5]: [True, False],
        NAMES[6]: ["a", "b", "c"],
    }
    table: dict[str, Any] = {}
    for name in NAMES:
        if name in choices:
            new = ["never seen", 99, "1", -0.5] if unknown else []
            values = [*choices[name], *new, None]
            weights = np.array([3.0] * len(choices[name]) + [0.5] * len(new) + [1.0])
            picked = rng.choice(len(values), n, p=weights / weights.sum())
            table[name] = pd.Series([values[k] for k in picked], dtype=object)
        else:
            numbers = rng.choice([rng.normal(size=n), rng.integers(-5, 5, n) / 10, rng.normal(size=n) * 1e-7])
            table[name] = np.where(rng.random(n) < 0.1, np.nan, numbers)
    return pd.DataFrame(table)


def fit(classes: list[Any], split: str, seed: int) -> GreedyTreeClassifier:
    rng = np.random.default_rng(seed)
    X = awkward_table(rng, 400, unknown=False)
    signal = (
        X[NAMES[2]].fillna(0)
        + X[NAMES[7]].fillna(0)
        + X[NAMES[0]].isin(AWKWARD[:7])
        + X[NAMES[6]].isin(["a"])
    )
    y = pd.qcut(signal + rng.normal(size=400) / 3, len(classes), labels=False)
    categorical = [NAMES[k] for k in (0, 1, 4, 5, 6)]
    costs = CostModel(tests={name: k % 3 for k, name in enumerate(NAMES)}, classes=classes)
    return GreedyTreeClassifier(
        costs,
        criterion="gain",
        categorical_features=categorical,
        categorical_split=split,
        max_bins=None,
        max_depth=12,
        pruning="none",
    ).fit(X, np.array(classes)[y])


def at_the_cuts(model: GreedyTreeClassifier, X: pd.DataFrame) -> pd.DataFrame:
    """Put thresholds and their neighbours into the numeric columns of every second row."""
    tree, X = model.tree_, X.copy()
    for j in tree.used_features():
        cuts = tree.threshold[(tree.feature == j) & (tree.table_start < 0)]
        if len(cuts):
            near = np.concatenate([cuts, np.nextafter(cuts, np.inf), np.nextafter(cuts, -np.inf)])
            X.iloc[::2, j] = np.resize(near, len(X.iloc[::2]))
    return X


@pytest.mark.parametrize("split", ["multiway", "subset"])
@pytest.mark.parametrize("classes", CLASSES.values(), ids=CLASSES.keys())
def test_code_answers_as_predict(classes: list[Any], split: str) -> None:
    model = fit(classes, split, seed=len(classes))
    X = awkward_table(np.random.default_rng(1), 10_000, unknown=True)
    X = at_the_cuts(model, X)
    answers, paid, leaves = model.predict(X).tolist(), model.test_cost(X).tolist(), model.apply(X).tolist()
    assert len(set(leaves)) > 20
    kinds = {feature.kind for feature in (model.schema_[j] for j in model.tree_.used_features())}
    assert kinds == {"numeric", "categorical"}

    predict = function(model.export_python(output=("label", "test_cost", "leaf")))
    rng = np.random.default_rng(2)
    records = X.to_dict("records")
    for record in records:  # a hole is NaN, None, or nothing at all
        for name in [name for name, value in record.items() if value is None or value != value]:
            hole = rng.integers(3)
            if hole == 0:
                del record[name]
            else:
                record[name] = None if hole == 1 else math.nan
    assert [predict(record) for record in records] == list(zip(answers, paid, leaves, strict=True))
    label = function(model.export_python(name="label"), "label")(records[0])
    assert (label, type(label)) == (answers[0], type(classes[0]))

    options = [{}, {"output": "test_cost"}, {"output": "leaf"}]
    texts = [model.export_sql(dialect="sqlite", **option) for option in options]
    rows = [[None if value != value else value for value in row] for row in X.astype(object).to_numpy()]
    found = ask_sqlite(texts, X.columns, rows)
    assert found[0] == answers
    assert found[1] == paid
    assert found[2] == leaves


@given(tree_problems(max_depth=4))
def test_code_follows_random_trees_as_the_twin(problem: tuple[Problem, reference.PlainNode]) -> None:
    tree, schema, costs = realise(*problem)
    plain = reference.plain_tree(tree)
    rows = rows_to_follow(problem[0])
    positions = [id(node) for node in reference.preorder(plain)]
    ends = [reference.follow(plain, row)[1] for row in rows]
    expected = [
        (
            costs.classes[end.answer],
            reference.case_test_cost(plain, row, problem[0].costs),
            positions.index(id(end)),
        )
        for end, row in zip(ends, rows, strict=True)
    ]
    answer = function(to_python(tree, schema, costs, output=["label", "test_cost", "leaf"]))
    cases = [
        [
            None if reference.is_missing(v) else v if f.kind == "numeric" else f"c{v}"
            for v, f in zip(row, schema, strict=True)
        ]
        for row in rows
    ]
    found = [answer(dict(zip(schema.names, case, strict=True))) for case in cases]
    assert [(label, leaf) for label, _, leaf in found] == [(label, leaf) for label, _, leaf in expected]
    assert [cost for _, cost, _ in found] == pytest.approx([cost for _, cost, _ in expected], abs=1e-12)
    texts = [
        to_sql(tree, schema, costs, dialect="sqlite", output=output, nested=nested)
        for nested in (False, True)
        for output in ("label", "leaf")
    ]
    flat, flat_leaf, nested, nested_leaf = ask_sqlite(texts, schema.names, cases)
    assert flat == nested == [label for label, _, _ in expected]
    assert flat_leaf == nested_leaf == [leaf for _, _, leaf in expected]


def test_function_reads_rows_of_pandas() -> None:
    X, y, costs = clinic(200)
    model = GreedyTreeClassifier(costs, max_depth=4).fit(X, y)
    predict = function(model.export_python())
    answers = model.predict(X).tolist()
    assert [predict(row) for _, row in X.iterrows()] == answers
    nullable = X.convert_dtypes()
    assert nullable.isna().to_numpy().any()
    assert [predict(record) for record in nullable.to_dict("records")] == answers
    assert [
        predict({name: str(v) for name, v in r.items() if v == v}) for r in X.to_dict("records")
    ] == answers
    with pytest.raises(ValueError, match="old"):
        predict({"age": "old"})


def test_source_is_short_and_plain() -> None:
    parts = by_hand(ONE_CUT)
    assert to_python(*parts, name="triage", output=["label", "leaf"]) == (
        "def triage(case):\n"
        '    """Answer one case with a decision tree that cstree made.\n'
        "\n"
        "    case: mapping of feature names to values; one that is None, NaN or not there is missing.\n"
        "    Returns the class label and the node of its leaf.\n"
        '    """\n'
        "\n"
        "    def number(name):\n"
        "        value = case.get(name)\n"
        '        if value is None or type(value).__name__ in ("NAType", "NaTType"):'
        "  # what pandas calls missing\n"
        '            return float("nan")\n'
        "        return float(value)\n"
        "\n"
        "    if number('age') > 30.5:\n"
        "        return ('ill', 2)\n"
        "    return ('well', 1)\n"
    )
    assert to_sql(*parts) == (
        "CASE\n"
        """  WHEN ("age" IS NULL OR "age" <= 30.5) THEN 'well'\n"""
        """  WHEN "age" > 30.5 THEN 'ill'\n"""
        "END"
    )
    assert to_sql(*parts, nested=True) == """CASE\n  WHEN "age" > 30.5 THEN 'ill'\n  ELSE 'well'\nEND"""


def test_a_single_leaf() -> None:
    parts = by_hand(None)
    assert function(to_python(*parts))({}) == "ill"
    assert function(to_python(*parts, output=["leaf"]))({}) == (0,)
    assert to_sql(*parts) == to_sql(*parts, nested=True) == "'ill'"


def chain(depth: int, missing: int) -> tuple[Tree, FeatureSchema, BoundCosts]:
    """A split, its leaf, the next split, ...; case ``v`` leaves it at split ``v``."""
    splits = np.arange(2 * depth + 1) % 2 == 0
    splits[-1] = False
    n = len(splits)
    tree = Tree(
        feature=np.where(splits, 0, -1),
        threshold=np.where(splits, np.arange(n) / 2, np.nan),
        n_branches=np.where(splits, 2, 0),
        size=np.where(splits, n - np.arange(n), 1),
        missing_branch=np.where(splits, missing, 0),
        table_start=np.full(n, -1),
        branch_of_category=np.empty(0),
        answer=np.arange(n) // 2 % 2,
        support=np.ones(n),
        class_weight=np.ones((n, 2)),
        label_cost=np.ones((n, 2)),
    )
    schema = FeatureSchema((Feature("v", "numeric", cuts=np.arange(depth, dtype=float)),))
    return tree, schema, CostModel(tests={"v": 1.5}).bind(["v"], ["even", "odd"])


@pytest.mark.parametrize("missing", [0, 1])
def test_deep_trees(missing: int) -> None:
    depth = 3000
    parts = chain(depth, missing)
    answer = function(to_python(*parts, output="leaf"))
    expected = [2 * v + 1 for v in range(depth)] + [2 * depth]
    assert [answer({"v": v}) for v in range(depth + 1)] == expected
    assert answer({}) == (1 if missing == 0 else 2 * depth)
    parts, expected = chain(200, missing), [*range(1, 400, 2), 400]
    (found,) = ask_sqlite([to_sql(*parts, dialect="sqlite", output="leaf")], ["v"], [[v] for v in range(201)])
    assert found == expected
    assert to_sql(*chain(depth, missing), output="leaf", nested=True).count("CASE") == depth


def test_prices_are_those_of_the_paths() -> None:
    X, y, costs = clinic(200)
    model = GreedyTreeClassifier(costs, max_depth=5).fit(X, y)
    prices = path_costs(model.tree_, model.costs_)
    pay = function(model.export_python(output="test_cost"))
    assert {pay(record) for record in X.to_dict("records")} == set(prices[model.apply(X)].tolist())


# --- numbers and words ----------------------------------------------------------------------------


def test_sqlite_reads_every_number_exactly() -> None:
    rng = np.random.default_rng(0)
    numbers = np.concatenate(
        [
            rng.normal(size=3000),
            (rng.integers(0, 10**6, 3000) / 1000 + rng.integers(0, 10**6, 3000) / 1000) / 2,
            np.exp(rng.normal(size=3000) * 100),
            rng.integers(0, 2**63, 6000).view(np.float64),
            -rng.integers(0, 10**7, 3000) / 10.0 ** rng.integers(0, 12, 3000),
            [
                5e-324,
                2.2250738585072014e-308,
                1.7976931348623157e308,
                2.0**53,
                2.0**53 + 2,
                1e22,
                1e23,
                0.1,
                0.0,
            ],
        ]
    )
    numbers = numbers[np.isfinite(numbers)].tolist()
    write = DIALECTS["sqlite"].literal
    texts = [write(number) for number in numbers]
    with closing(sqlite3.connect(":memory:")) as connection:
        read = [connection.execute(f"SELECT {text}").fetchone()[0] for text in texts]
    assert read == numbers
    assert all(type(number) is float for number in read)
    short = ["0.0", "55.5", "0.1", "-199.45", "1e-07", "240.25"]
    assert [write(float(text)) for text in short] == short


WRITTEN: list[tuple[str, Any, str]] = [
    ("ansi", "it's", "'it''s'"),
    ("ansi", "back\\slash", "'back\\slash'"),
    ("ansi", "two\nlines 😀", "'two\nlines 😀'"),
    ("ansi", True, "TRUE"),
    ("ansi", -3, "-3"),
    ("ansi", 0.1 + 0.2, "0.30000000000000004"),
    ("ansi", 1e300, "1e+300"),
    ("mysql", "back\\slash'", "'back\\\\slash'''"),
    ("sqlite", False, "0"),
    ("sqlserver", "it's 年", "N'it''s 年'"),
    ("sqlserver", True, "1"),
]


@pytest.mark.parametrize(("dialect", "value", "text"), WRITTEN)
def test_values_in_each_dialect(dialect: str, value: Any, text: str) -> None:
    assert DIALECTS[dialect].literal(value) == text


@pytest.mark.parametrize(
    ("dialect", "name", "text"),
    [
        ("ansi", 'a "b"', '"a ""b"""'),
        ("sqlite", "a `b`", "`a ``b```"),
        ("mysql", 'a "b"', '`a "b"`'),
        ("sqlserver", "a [b]", "[a [b]]]"),
    ],
)
def test_names_in_each_dialect(dialect: str, name: str, text: str) -> None:
    assert DIALECTS[dialect].name(name) == text


def test_a_column_that_lacks_is_an_error_in_sqlite() -> None:
    text = to_sql(*by_hand(ONE_CUT), dialect="sqlite")
    with pytest.raises(sqlite3.OperationalError, match="no such column: age"):
        ask_sqlite([text], ["Alter"], [[3]])


ERRORS: list[tuple[Any, dict[str, Any], str]] = [
    (to_python, {"name": "2nd"}, "name is '2nd'"),
    (to_python, {"name": "class"}, "name is 'class'"),
    (to_python, {"name": "float"}, "not one of Python's own"),
    (to_python, {"output": "price"}, "output is 'price'; choose one of 'label', 'test_cost', 'leaf'"),
    (to_python, {"output": []}, "output is empty"),
    (to_sql, {"dialect": "oracle7"}, "dialect is 'oracle7'; choose one of 'ansi', 'sqlite'"),
    (to_sql, {"output": "price"}, "output is 'price'"),
    (to_sql, {"output": ["label", "leaf"]}, "an expression has one value"),
]


@pytest.mark.parametrize(("method", "options", "message"), ERRORS)
def test_errors(method: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        method(*by_hand(ONE_CUT), **options)


@pytest.mark.parametrize("value", ["half \ud800", "nul \0", math.inf])
def test_what_sql_cannot_say(value: Any) -> None:
    with pytest.raises(ValueError, match="SQL"):
        DIALECTS["ansi"].literal(value)


def test_python_says_what_sql_cannot() -> None:
    X = pd.DataFrame({"half \ud800": pd.Series(["\ud800", "nul \0", 1e308, -1e308] * 10, dtype=object)})
    y = [0, 1, 2, 3] * 10
    model = GreedyTreeClassifier(categorical_features=[0], max_bins=None).fit(X, y)
    predict = function(model.export_python())
    assert [predict(record) for record in X.to_dict("records")] == model.predict(X).tolist() == y
