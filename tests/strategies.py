"""Small random problems: tables, costs, trees, candidate tests.

Each comes twice from the same code: as a hypothesis strategy (``tables``, ``problems``, ``tree_problems``,
``candidate_problems``) and as a function of a seeded numpy generator (``random_table(rng)`` and so on) for
loops of hundreds. All numbers are small multiples of 1/8: sums are exact in floating point, ties are ties.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from tests.reference import (
    PlainCosts,
    PlainLeaf,
    PlainNode,
    PlainSplit,
    describe_costs,
    is_missing,
    midpoints,
)

# How long an example takes says something about the machine, not about the code.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")

T = TypeVar("T")


class Source(Protocol):
    """Where the accidents come from."""

    def integer(self, low: int, high: int) -> int:
        """Draw from ``low..high``, both included."""


class _Seeded:
    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng

    def integer(self, low: int, high: int) -> int:
        return int(self.rng.integers(low, high + 1))


class _Hypothesis:
    def __init__(self, draw: Callable[[st.SearchStrategy[int]], int]) -> None:
        self.draw = draw

    def integer(self, low: int, high: int) -> int:
        return self.draw(st.integers(low, high))


def _choice(source: Source, values: Sequence[T]) -> T:
    return values[source.integer(0, len(values) - 1)]


def _chance(source: Source, percent: int) -> bool:
    """True so many times of a hundred; shrinks to False."""
    return source.integer(0, 99) >= 100 - percent


def _some(source: Source, percent: int, wanted: bool | None) -> bool:
    return _chance(source, percent) if wanted is None else wanted


@dataclass(frozen=True)
class PlainTable:
    """A training set in the conventions of ``tests.reference``."""

    rows: list[list[Any]]
    y: list[int]
    kinds: list[str]
    n_categories: list[int]
    """Categories of each feature, 0 for numeric ones."""
    n_classes: int
    weights: list[float] | None = None
    example_cost: list[list[float]] | None = None

    @property
    def n_features(self) -> int:
        return len(self.kinds)

    def column(self, feature: int) -> list[Any]:
        """Values of one feature."""
        return [row[feature] for row in self.rows]

    def frame(self) -> Any:
        """DataFrame with float columns and categorical ones: category ``a`` has code 0, ``b`` 1, ..."""
        import pandas

        columns: dict[str, Any] = {}
        for j, kind in enumerate(self.kinds):
            name = f"x{j}"
            if kind == "numeric":
                columns[name] = pandas.Series([float(v) for v in self.column(j)], dtype="float64")
            else:
                codes = [-1 if v is None else v for v in self.column(j)]
                names = [chr(ord("a") + code) for code in range(self.n_categories[j])]
                columns[name] = pandas.Categorical.from_codes(codes, categories=names)  # type: ignore[call-overload]
        return pandas.DataFrame(columns)


# --- tables -------------------------------------------------------------------------------------


def _table(
    source: Source,
    *,
    n_rows: tuple[int, int] = (2, 20),
    n_features: tuple[int, int] = (1, 4),
    n_classes: tuple[int, int] = (2, 5),
    numeric: bool = True,
    categorical: bool = True,
    missing: bool | None = None,
    weighted: bool | None = None,
    example_costs: bool | None = None,
) -> PlainTable:
    rows_wanted = source.integer(*n_rows)
    classes = source.integer(*n_classes)
    kinds, n_categories, columns = [], [], []
    offered = ["numeric"] * numeric + ["categorical"] * categorical
    for _ in range(source.integer(*n_features)):
        kind = _choice(source, offered)
        holes = _some(source, 40, missing)
        distinct = source.integer(2, 5)
        column: list[Any] = []
        for _ in range(rows_wanted):
            if holes and _chance(source, 20):
                column.append(math.nan if kind == "numeric" else None)
            else:
                value = source.integer(0, distinct - 1)
                column.append(value / 2 if kind == "numeric" else value)
        kinds.append(kind)
        n_categories.append(0 if kind == "numeric" else distinct)
        columns.append(column)
    weights = None
    if _some(source, 50, weighted):
        weights = [_choice(source, [1.0, 0.0, 0.5, 2.0, 3.25]) for _ in range(rows_wanted)]
        weights[source.integer(0, rows_wanted - 1)] = 1.0
    example_cost = None
    if _some(source, 30, example_costs):
        example_cost = [[source.integer(-4, 40) / 4 for _ in range(classes)] for _ in range(rows_wanted)]
    return PlainTable(
        rows=[list(row) for row in zip(*columns, strict=True)],
        y=[source.integer(0, classes - 1) for _ in range(rows_wanted)],
        kinds=kinds,
        n_categories=n_categories,
        n_classes=classes,
        weights=weights,
        example_cost=example_cost,
    )


# --- costs --------------------------------------------------------------------------------------


class CostWords(NamedTuple):
    """A cost description in words: the arguments of ``describe_costs``."""

    matrix: list[list[float]]
    n_features: int
    tests: list[tuple[float, dict[str, float | None], list[int]]]
    operations: dict[str, tuple[float, list[str]]]

    def plain(self) -> PlainCosts:
        """The same as entries."""
        return describe_costs(*self)


def _cost_words(source: Source, n_features: int, n_classes: int, profits: bool | None = None) -> CostWords:
    """Random matrix, and tests with operations that need others, own figures, panels and free features."""
    unusual = _some(source, 25, profits)
    matrix = [
        [
            (source.integer(-8, 8) / 4 if unusual else 0.0) if t == p else source.integer(1, 60) / 2
            for p in range(n_classes)
        ]
        for t in range(n_classes)
    ]
    operations: dict[str, tuple[float, list[str]]] = {}
    for number in range(source.integer(0, 3)):
        needs = [name for name in operations if _chance(source, 40)]
        operations[f"operation {number}"] = (source.integer(0, 16) / 8, needs)
    tests: list[tuple[float, dict[str, float | None], list[int]]] = []
    feature = 0
    while feature < n_features:
        last = min(n_features, feature + (2 if _chance(source, 15) else 1))
        if not _chance(source, 15):  # else free
            wanted: dict[str, float | None] = {}
            for name in operations:
                if _chance(source, 50):
                    wanted[name] = source.integer(0, 16) / 8 if _chance(source, 20) else None
            tests.append((source.integer(0, 24) / 8, wanted, list(range(feature, last))))
        feature = last
    return CostWords(matrix, n_features, tests, operations)


# --- trees and candidate tests ------------------------------------------------------------------


def _usable_cuts(table: PlainTable, feature: int) -> list[float]:
    column = table.column(feature)
    known = [float(v) for v in column if not is_missing(v)]
    return midpoints(column) or [known[0] if known else 0.5]


def _split(source: Source, table: PlainTable, multiway: bool) -> PlainSplit:
    """A random split without children; tables may lack categories, some of which the cases have."""
    feature = source.integer(0, table.n_features - 1)
    if table.kinds[feature] == "numeric":
        cut = _choice(source, _usable_cuts(table, feature))
        return PlainSplit(feature, "numeric", cut=cut, missing_branch=source.integer(0, 1))
    codes = list(range(table.n_categories[feature]))
    while len(codes) > 2 and _chance(source, 15):
        codes.pop(source.integer(0, len(codes) - 1))
    if multiway and _chance(source, 50):
        branches = {code: b for b, code in enumerate(codes)}
    else:
        branches = {code: source.integer(0, 1) for code in codes}
        if len(set(branches.values())) == 1:  # a proper subset: both sides must have a category
            first = codes[source.integer(0, len(codes) - 1)]
            branches[first] = 1 - branches[first]
    missing = source.integer(0, max(branches.values()))
    return PlainSplit(feature, "table", table=branches, missing_branch=missing)


def _tree(source: Source, table: PlainTable, *, max_depth: int = 3, multiway: bool = True) -> PlainNode:
    """A random tree whose leaves have no answer; unreached nodes and repeated tests occur."""
    if max_depth == 0 or not _chance(source, 80):
        return PlainLeaf()
    split = _split(source, table, multiway)
    children = tuple(
        _tree(source, table, max_depth=max_depth - 1, multiway=multiway) for _ in range(split.n_branches)
    )
    return PlainSplit(
        split.feature, split.kind, split.cut, split.table, split.missing_branch, children=children
    )


def _candidates(source: Source, table: PlainTable, n_tests: tuple[int, int] = (1, 6)) -> list[PlainSplit]:
    """Binary candidate tests, childless."""
    return [_split(source, table, multiway=False) for _ in range(source.integer(*n_tests))]


# --- from a seeded generator --------------------------------------------------------------------


def random_table(rng: np.random.Generator, **options: Any) -> PlainTable:
    """Random table.

    Options: n_rows, n_features, n_classes (ranges, both ends included), numeric, categorical (may occur),
    missing, weighted, example_costs (True, False, or None: sometimes).
    """
    return _table(_Seeded(rng), **options)


def random_cost_words(rng: np.random.Generator, table: PlainTable, profits: bool | None = None) -> CostWords:
    """Random cost description for a table, in words; ``.plain()`` gives its ``PlainCosts``."""
    return _cost_words(_Seeded(rng), table.n_features, table.n_classes, profits)


def random_costs(rng: np.random.Generator, table: PlainTable, profits: bool | None = None) -> PlainCosts:
    """Random costs for a table; ``bound_arrays`` writes them as arrays."""
    return random_cost_words(rng, table, profits).plain()


def random_tree(
    rng: np.random.Generator, table: PlainTable, *, max_depth: int = 3, multiway: bool = True
) -> PlainNode:
    """Random tree without answers; ``multiway=False``: every inner node has two branches."""
    return _tree(_Seeded(rng), table, max_depth=max_depth, multiway=multiway)


def random_candidates(
    rng: np.random.Generator, table: PlainTable, n_tests: tuple[int, int] = (1, 6)
) -> list[PlainSplit]:
    """Random binary candidate tests for an exact front."""
    return _candidates(_Seeded(rng), table, n_tests)


# --- as strategies ------------------------------------------------------------------------------


class Problem(NamedTuple):
    """A table and its costs."""

    table: PlainTable
    costs: PlainCosts

    @property
    def cases(self) -> tuple[Any, ...]:
        """``rows, y, costs, weights, example_cost``: how the twins want them."""
        t = self.table
        return t.rows, t.y, self.costs, t.weights, t.example_cost


@st.composite
def tables(draw: st.DrawFn, /, **options: Any) -> PlainTable:
    """Random tables, see ``random_table``."""
    return _table(_Hypothesis(draw), **options)


@st.composite
def problems(draw: st.DrawFn, /, profits: bool | None = None, **options: Any) -> Problem:
    """Random tables with costs."""
    source = _Hypothesis(draw)
    table = _table(source, **options)
    return Problem(table, _cost_words(source, table.n_features, table.n_classes, profits).plain())


@st.composite
def tree_problems(
    draw: st.DrawFn, /, max_depth: int = 3, multiway: bool = True, profits: bool | None = None, **options: Any
) -> tuple[Problem, PlainNode]:
    """Random tables with costs and a tree without answers."""
    problem = draw(problems(profits, **options))
    return problem, _tree(_Hypothesis(draw), problem.table, max_depth=max_depth, multiway=multiway)


@st.composite
def candidate_problems(
    draw: st.DrawFn, /, n_tests: tuple[int, int] = (1, 5), profits: bool | None = None, **options: Any
) -> tuple[Problem, list[PlainSplit]]:
    """Random tables with costs and binary candidate tests."""
    problem = draw(problems(profits, **options))
    return problem, _candidates(_Hypothesis(draw), problem.table, n_tests)


@st.composite
def fronts(draw: st.DrawFn, /, n_objectives: int = 2, max_points: int = 12) -> list[tuple[float, ...]]:
    """Random points with ties and copies, none sorted out."""
    coordinate = st.integers(0, 8).map(lambda v: v / 4)
    point = st.tuples(*[coordinate] * n_objectives)
    return draw(st.lists(point, min_size=1, max_size=max_points))
