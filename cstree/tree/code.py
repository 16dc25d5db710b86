"""A tree as code that needs nothing of this package: a Python function, a SQL expression.

Both say what `predict` says for every case: missing and unknown values take the branch that the tree holds
for them, and numbers are written so that they are read back to the last bit.
"""

from __future__ import annotations

import builtins
import keyword
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from cstree.costs.bound import BoundCosts
from cstree.encoding.schema import Feature, FeatureSchema
from cstree.tree.describe import Condition
from cstree.tree.evaluation import path_costs
from cstree.tree.rules import export_rules
from cstree.tree.tree import Tree

__all__ = ["DIALECTS", "OUTPUTS", "to_python", "to_sql"]

OUTPUTS = ("label", "test_cost", "leaf")

# Python reads at most 100 levels of indentation; parts of a tree below this depth become inner functions.
_LEVELS = 20


def to_python(
    tree: Tree,
    schema: FeatureSchema,
    costs: BoundCosts,
    *,
    name: str = "predict",
    output: str | Sequence[str] = "label",
) -> str:
    """Return the source of a Python function that answers one case, and needs nothing but Python.

    Parameters
    ----------
    tree : Tree
    schema : FeatureSchema
    costs : BoundCosts
    name : str, default="predict"
        Name of the function.
    output : str or sequence of str, default="label"
        What it returns: "label", "test_cost" (what the case pays for tests) or "leaf" (the node, as in
        ``apply`` and in the table of rules); a tuple for several of them.

    Returns
    -------
    str
        The function takes a mapping of feature names to values. A value that is None or NaN, or that is not
        there, is missing.

    Raises
    ------
    ValueError
        The name is no Python name or one of Python's own; an unknown output.
    """
    if not str(name).isidentifier() or keyword.iskeyword(name) or hasattr(builtins, name):
        raise ValueError(f"name is {name!r}; give a Python name that is not one of Python's own")
    wanted = (output,) if isinstance(output, str) else tuple(output)
    if not wanted:
        raise ValueError(f"output is empty; name some of {', '.join(OUTPUTS)}")
    values = [_outputs(tree, costs, one) for one in wanted]

    def answer(leaf: int) -> str:
        shown = [_python_literal(of[leaf]) for of in values]
        return shown[0] if isinstance(output, str) else f"({', '.join(shown)}{',' * (len(shown) == 1)})"

    lines = [
        f"def {name}(case):",
        '    """Answer one case with a decision tree that cstree made.',
        "",
        "    case: mapping of feature names to values; one that is None, NaN or not there is missing.",
        f"    Returns {' and '.join(_MEANING[one] for one in wanted)}.",
        '    """',
    ]
    if ((tree.feature >= 0) & (tree.table_start < 0)).any():
        lines += _NUMBER
    parts = [0]
    bodies = []
    for root in parts:  # which grows meanwhile
        bodies.append(_python_body(tree, schema, root, 1 if root == 0 else 2, answer, parts))
    # Inner functions are looked up when they are called, so their order does not matter.
    for root, body in zip(parts[1:], bodies[1:], strict=True):
        lines += [f"    def part_{root}():", *body, ""]
    return "\n".join([*lines, *bodies[0]]) + "\n"


_MEANING = {"label": "the class label", "test_cost": "the price of its tests", "leaf": "the node of its leaf"}

_NUMBER = [
    "",
    "    def number(name):",
    "        value = case.get(name)",
    '        if value is None or type(value).__name__ in ("NAType", "NaTType"):  # what pandas calls missing',
    '            return float("nan")',
    "        return float(value)",
    "",
]


def to_sql(
    tree: Tree,
    schema: FeatureSchema,
    costs: BoundCosts,
    *,
    dialect: str = "ansi",
    output: str = "label",
    nested: bool = False,
) -> str:
    """Return a SQL expression over columns that are named as the features; NULL is missing.

    Parameters
    ----------
    tree : Tree
    schema : FeatureSchema
    costs : BoundCosts
    dialect : {"ansi", "sqlite", "mysql", "sqlserver"}, default="ansi"
        How names, texts, numbers and booleans are written. "ansi" is for PostgreSQL, DuckDB and most others,
        "mysql" for MariaDB as well.
    output : {"label", "test_cost", "leaf"}, default="label"
        What the expression gives: the class label, what the case pays for tests, or the node of the leaf.
    nested : bool, default=False
        False: one ``WHEN`` per leaf with all its conditions; no expression is deep, so every database takes
        it. True: a ``CASE`` within a ``CASE`` for each split; a row is asked no more than by the tree, which
        is faster for large trees, where such depth is allowed (SQL Server ends at 10, SQLite at about 15).

    Returns
    -------
    str
        A ``CASE`` expression, or a single value for a tree without splits.

    Raises
    ------
    ValueError
        An unknown dialect or output; a text or number that SQL cannot say.
    """
    if dialect not in DIALECTS:
        raise ValueError(f"dialect is {dialect!r}; choose one of {', '.join(map(repr, DIALECTS))}")
    if not isinstance(output, str):
        raise ValueError(
            f"output is {output!r}; an expression has one value: choose one of {', '.join(OUTPUTS)}"
        )
    words = DIALECTS[dialect]
    values = _outputs(tree, costs, output)
    if nested:
        return _sql_nested(tree, schema, words, lambda leaf: words.literal(values[leaf]))
    lines = []
    for rule in export_rules(tree, schema, costs):
        # Contradicting splits on one path leave no value that could come to a leaf.
        if all(condition.is_possible or condition.missing for condition in rule.conditions):
            tests = [test for test in (_sql_condition(c, words) for c in rule.conditions) if test]
            lines.append((" AND ".join(tests), words.literal(values[rule.leaf])))
    if not lines[0][0]:
        return lines[0][1]
    return "\n".join(["CASE", *(f"  WHEN {test} THEN {value}" for test, value in lines), "END"])


def _outputs(tree: Tree, costs: BoundCosts, output: str) -> list[Any]:
    """List what each node answers, pays or is."""
    if output == "label":
        return [costs.classes[answer] for answer in tree.answer]
    if output == "test_cost":
        return path_costs(tree, costs).tolist()
    if output == "leaf":
        return list(range(tree.n_nodes))
    raise ValueError(f"output is {output!r}; choose one of {', '.join(map(repr, OUTPUTS))}")


# --- branches -------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Branch:
    """A branch that only known values take.

    Numeric: ``value <= threshold``, or ``value > threshold`` when ``above``; else one of ``categories``.
    """

    child: int
    threshold: float = math.nan
    above: bool = False
    categories: tuple[Any, ...] | None = None


def _branches(tree: Tree, feature: Feature, node: int) -> tuple[list[_Branch], int]:
    """Return branches whose conditions no missing value meets, and the child for all else."""
    children, missing = tree.children(node), int(tree.missing_branch[node])
    start = int(tree.table_start[node])
    if start < 0:
        taken = 1 - missing
        return [_Branch(children[taken], float(tree.threshold[node]), taken == 1)], children[missing]
    table = tree.branch_of_category[start : start + len(feature.categories)]
    found = []
    for branch, child in enumerate(children):
        codes = np.flatnonzero(table == branch)
        if branch != missing and len(codes):
            found.append(_Branch(child, categories=tuple(feature.categories[code] for code in codes)))
    return found, children[missing]


# --- Python ---------------------------------------------------------------------------------------


def _python_body(
    tree: Tree,
    schema: FeatureSchema,
    root: int,
    indent: int,
    answer: Callable[[int], str],
    parts: list[int],
) -> list[str]:
    """Lines that answer a subtree; every branch returns, so what follows an `if` is its `else`.

    Subtrees that lie too deep are added to ``parts``, for functions of their own.
    """
    lines: list[str] = []
    pending: list[tuple[int, int, str]] = [(root, indent, "")]  # the last one pushed comes first
    while pending:
        node, level, before = pending.pop()
        if before:
            lines.append("    " * (level - 1) + before)
        pad = "    " * level
        if tree.feature[node] < 0:
            lines.append(f"{pad}return {answer(node)}")
            continue
        if level - indent >= _LEVELS:
            lines.append(f"{pad}return part_{node}()")
            parts.append(node)
            continue
        feature = schema[int(tree.feature[node])]
        branches, otherwise = _branches(tree, feature, node)
        read = f"case.get({feature.name!r})"
        if len(branches) > 1:
            lines.append(f"{pad}value = {read}")
            read = "value"
        pending.append((otherwise, level, ""))
        for branch in reversed(branches):
            pending.append((branch.child, level + 1, f"if {_python_condition(branch, feature, read)}:"))
    return lines


def _python_condition(branch: _Branch, feature: Feature, read: str) -> str:
    if branch.categories is None:
        return f"number({feature.name!r}) {'>' if branch.above else '<='} {branch.threshold!r}"
    # A set looks values up by their hash: it asks pandas' NA, which answers no comparison, nothing.
    return f"{read} in {{{', '.join(_python_literal(value) for value in branch.categories)}}}"


def _python_literal(value: Any) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        return f"float({str(value)!r})"
    return repr(value)


# --- SQL ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Dialect:
    """How one family of databases writes things."""

    quotes: tuple[str, str] = ('"', '"')
    prefix: str = ""  # of texts
    backslash: bool = False  # escapes in texts
    booleans: tuple[str, str] = ("FALSE", "TRUE")
    real: Callable[[float], str] = repr

    def name(self, name: str) -> str:
        """Quote the name of a column."""
        _check_text(name)
        begin, end = self.quotes
        return begin + name.replace(end, 2 * end) + end

    def literal(self, value: Any) -> str:
        """Write a text, number or boolean."""
        if isinstance(value, bool):
            return self.booleans[value]
        if isinstance(value, float):
            if not math.isfinite(value):
                raise ValueError(f"SQL has no number {value}")
            return self.real(value)
        if isinstance(value, int):
            return str(value)
        _check_text(value)
        text = value.replace("\\", "\\\\") if self.backslash else value
        return f"{self.prefix}'" + text.replace("'", "''") + "'"


def _check_text(text: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError(
            f"{text!r} cannot be written in SQL: half a surrogate pair is no character"
        ) from error
    if "\0" in text:
        raise ValueError(f"{text!r} cannot be written in SQL: a text ends at the character of code 0")


def _sqlite_real(value: float) -> str:
    """Write a number so that SQLite, whose reading of decimals may be off by a bit, gets it exactly.

    Short decimals are safe: read as whole number over power of ten they are rounded once. Others become a
    whole number times or over powers of two.
    """
    text = repr(value)
    if value.is_integer() and abs(value) < 2**53:
        return text
    digits, _, exponent = text.partition("e")
    decimals = len(digits.partition(".")[2]) - int(exponent or 0)
    if 0 <= decimals <= 22 and abs(Fraction(text)) * 10**decimals < 2**53:
        # The decimal must not lie near the border to the next number.
        gap = min(math.nextafter(value, math.inf) - value, value - math.nextafter(value, -math.inf))
        if abs(Fraction(text) - Fraction(value)) <= Fraction(gap) * 2 / 5:
            return text
    above, below = value.as_integer_ratio()
    shift = (above & -above).bit_length() - 1
    text = str(above >> shift)
    for sign, power in (("*", shift), ("/", below.bit_length() - 1)):
        while power:
            step = min(power, 62)
            text += f" {sign} CAST({1 << step} AS REAL)"
            power -= step
    return f"({text})"


DIALECTS = {
    "ansi": _Dialect(),
    # SQLite takes a name in double quotes that is no column for a text, without a word.
    "sqlite": _Dialect(quotes=("`", "`"), booleans=("0", "1"), real=_sqlite_real),
    "mysql": _Dialect(quotes=("`", "`"), backslash=True),
    "sqlserver": _Dialect(quotes=("[", "]"), prefix="N", booleans=("0", "1")),
}


def _sql_condition(condition: Condition, words: _Dialect) -> str:
    """Write what all splits of a path ask of one feature; nothing where they let everything pass."""
    column = words.name(condition.feature.name)
    if condition.codes is None:
        bounds = [
            f"{column} {sign} {words.literal(bound)}"
            for sign, bound in ((">", condition.lower), ("<=", condition.upper))
            if math.isfinite(bound)
        ]
        known = " AND ".join(bounds)
        if not condition.missing:
            return known
        if not condition.is_possible:
            return f"{column} IS NULL"
        return f"({column} IS NULL OR {f'({known})' if len(bounds) > 1 else known})"
    categories = condition.feature.categories
    if not condition.missing:
        return _sql_among(column, [categories[code] for code in condition.codes], words)
    others = [value for code, value in enumerate(categories) if code not in set(condition.codes)]
    return f"({column} IS NULL OR {_sql_among(column, others, words, outside=True)})" if others else ""


def _sql_among(column: str, values: Sequence[Any], words: _Dialect, outside: bool = False) -> str:
    written = [words.literal(value) for value in values]
    if len(written) == 1:
        return f"{column} {'<>' if outside else '='} {written[0]}"
    return f"{column} {'NOT IN' if outside else 'IN'} ({', '.join(written)})"


def _sql_nested(tree: Tree, schema: FeatureSchema, words: _Dialect, answer: Callable[[int], str]) -> str:
    """Write a CASE for each split; what no WHEN takes, missing values among it, is its ELSE."""
    lines: list[str] = []
    pending: list[tuple[str, int, int]] = [("", 0, 0)]  # what stands before a node, the node, its level
    while pending:
        before, node, level = pending.pop()
        pad = "  " * level
        if node < 0:
            lines.append(f"{pad}END")
            continue
        if tree.feature[node] < 0:
            lines.append(f"{pad}{before}{answer(node)}")
            continue
        feature = schema[int(tree.feature[node])]
        branches, otherwise = _branches(tree, feature, node)
        if not branches:
            pending.append((before, otherwise, level))
            continue
        lines.append(f"{pad}{before}CASE")
        pending += [("", -1, level), ("ELSE ", otherwise, level + 1)]
        for branch in reversed(branches):
            pending.append((f"WHEN {_sql_branch(branch, feature, words)} THEN ", branch.child, level + 1))
    return "\n".join(lines)


def _sql_branch(branch: _Branch, feature: Feature, words: _Dialect) -> str:
    column = words.name(feature.name)
    if branch.categories is None:
        return f"{column} {'>' if branch.above else '<='} {words.literal(branch.threshold)}"
    return _sql_among(column, branch.categories, words)
