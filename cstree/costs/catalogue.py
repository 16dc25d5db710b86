"""The tests of a model, by name or by position, and the columns they reveal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from cstree.costs.labels import closest, counted, listed, plain_name
from cstree.costs.matrix import labelled
from cstree.costs.steps import FeatureTest, Operation, plain_test

__all__ = ["Tests", "own_figures", "plain_tests", "tests_of_columns"]

# By name, by position of the column, or none.
Tests: TypeAlias = dict[str, FeatureTest] | tuple[FeatureTest, ...] | None


def plain_tests(tests: Any, operations: Mapping[str, Operation]) -> Tests:
    """Check the tests of a model.

    Parameters
    ----------
    tests : mapping, array-like or None
        As `CostModel` takes them; a pandas Series with names is a mapping.
    operations : mapping
        What `plain_operations` returned.

    Returns
    -------
    dict, tuple or None
        Tests by name, or by position of their column; None when all columns are free.

    Raises
    ------
    TypeError
        A part has the wrong type.
    ValueError
        A price that is no price, an operation that nothing prices, a column under two tests, or a name that
        is a test's and an operation's.
    """
    if labelled(tests):
        tests = dict(tests.items())
    if tests is None or (isinstance(tests, Mapping) and not tests):
        return None
    if not isinstance(tests, Mapping):
        if isinstance(tests, str | bytes) or not isinstance(tests, Iterable):
            raise TypeError(f"tests is {tests!r}; write {{column: price}} or a price per column, in order")
        return tuple(_positional(number, test, operations) for number, test in enumerate(tests))
    plain = {
        plain_name(name, "test"): plain_test(f"test {name!r}", test, operations)
        for name, test in tests.items()
    }
    revealed_by: dict[str, str] = {}
    for name, test in plain.items():
        for column in test.columns or (name,):
            if column in revealed_by:
                raise ValueError(
                    f"tests {revealed_by[column]!r} and {name!r} both reveal column {column!r}; "
                    "a column is under one test"
                )
            revealed_by[column] = name
    _refuse_shared_names(plain, operations.keys() | own_figures(plain))
    return plain


def own_figures(tests: Tests) -> set[str]:
    """Collect the operations that have a price of their own with some test.

    Parameters
    ----------
    tests : dict, tuple or None
        What `plain_tests` returned.

    Returns
    -------
    set of str
        Their names; they need not be among the model's operations.
    """
    every = tests.values() if isinstance(tests, dict) else tests or ()
    return {name for test in every if isinstance(test.needs, Mapping) for name in test.needs}


def tests_of_columns(
    tests: Tests, names: tuple[str, ...], operations: Mapping[str, Operation]
) -> dict[str, tuple[str, FeatureTest]]:
    """Find the test of each column of a table.

    Parameters
    ----------
    tests : dict, tuple or None
        What `plain_tests` returned.
    names : tuple of str
        Names of the columns.
    operations : mapping
        What `plain_operations` returned.

    Returns
    -------
    dict
        ``{column: (name of the test, test)}`` for the columns under a test.

    Raises
    ------
    ValueError
        Another number of tests than of columns, or a test of columns that the table lacks.
    """
    if tests is None:
        return {}
    if isinstance(tests, tuple):
        if len(tests) != len(names):
            raise ValueError(
                f"tests has {counted(tests, 'price', 'prices')}, but the table has "
                f"{counted(names, 'column', 'columns')}: {listed(names)}; give one price per column, in order"
            )
        _refuse_shared_names(names, operations.keys() | own_figures(tests))
        return {name: (name, test) for name, test in zip(names, tests, strict=True)}
    found = {column: (name, test) for name, test in tests.items() for column in test.columns or (name,)}
    lacking = [column for column in found if column not in names] if found.keys() - set(names) else []
    if lacking:
        raise ValueError(
            f"the table lacks columns that have a price: {listed(lacking)}{closest(lacking[0], names)}; "
            f"its columns are {listed(names)}"
        )
    return found


def _positional(number: int, test: Any, operations: Mapping[str, Operation]) -> FeatureTest:
    what = f"test number {number}"
    plain = plain_test(what, test, operations)
    if plain.columns:
        raise ValueError(
            f"{what} names columns, but tests by position have one each; "
            "write tests={name: FeatureTest(...)}"
        )
    return plain


def _refuse_shared_names(tests: Iterable[str], operations: Iterable[str]) -> None:
    for name in sorted(set(tests) & set(operations)):
        raise ValueError(
            f"{name!r} is a test and an operation, which reports could not tell apart; rename one"
        )
