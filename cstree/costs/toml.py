"""Cost files: TOML that people write and read.

Everything is optional::

    unit = "CAD"                              # what the prices are in
    classes = ["absent", "present"]           # rows and columns of the matrix, in this order

    misclassification = [                     # rows: the true class; columns: the answer
        [0, 75],
        [88, 0],
    ]

    [operations]                              # steps that tests share, each paid once
    "blood draw" = 2.1
    scan = { price = 80, needs = ["blood draw"] }

    [tests]                                   # what it costs to learn a column
    age = 1
    chol = { price = 5.17, needs = ["blood draw"] }
    thal = { price = 1, needs = { scan = 75 } }  # the scan costs 75 if this test is the one that pays it
    panel = { price = 9, columns = ["sodium", "potassium"] }

Instead of a matrix, the pairs (classes need not be listed then; right answers cost 0 where not given)::

    [[misclassification]]
    true = "absent"
    predicted = "present"
    cost = 75

Instead of names, prices in the order of the table's columns::

    tests = [1, 7.27, { price = 5.17, needs = ["blood draw"] }]

Names that hold other signs than letters, digits, ``-`` and ``_`` stand in quotes. Class labels are text,
integers, floats or booleans: ``1`` and ``"1"`` are different classes.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import tomli_w

from cstree._io import write_text
from cstree.costs.labels import closest
from cstree.costs.steps import FeatureTest

__all__ = ["read_costs", "write_costs"]

_KEYS = ("unit", "classes", "misclassification", "operations", "tests")

_HEADER = "# Costs of mistakes and tests.\n"


def read_costs(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read a cost file into the arguments of `CostModel`.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    dict
        Arguments; their values are for `CostModel` to check.

    Raises
    ------
    OSError
        The file cannot be opened.
    ValueError
        The file is not TOML, or has another layout than the module describes.
    """
    try:
        values = tomllib.loads(Path(path).read_bytes().decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise ValueError(f"the file is not text in UTF-8 (byte {error.start})") from error
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"the file is not TOML: {error}") from error
    except RecursionError as error:
        raise ValueError("the file is not a cost file: it is nested too deeply") from error
    _known_keys(values, _KEYS, "the file")
    arguments = dict(values)
    if not isinstance(values.get("classes", []), list):
        raise ValueError(f"classes is {values['classes']!r}; write a list of class labels")
    if "misclassification" in values:
        arguments["misclassification"] = _read_misclassification(values["misclassification"])
    if "operations" in values:
        arguments["operations"] = _read_operations(values["operations"])
    if "tests" in values:
        arguments["tests"] = _read_tests(values["tests"])
    return arguments


def write_costs(path: str | os.PathLike[str], arguments: Mapping[str, Any]) -> None:
    """Write the arguments of a `CostModel` as a cost file; a crash leaves the old file whole.

    Parameters
    ----------
    path : str or path
        The file to make or to replace.
    arguments : mapping
        ``unit``, ``classes``, ``misclassification`` (an array), ``operations`` and ``tests``, as `CostModel`
        holds them.

    Raises
    ------
    OSError
        The file cannot be written.
    """
    write_text(path, _text(arguments))


def _known_keys(table: Mapping[str, Any], known: tuple[str, ...], where: str, hint: str = "") -> None:
    for key in table:
        if key not in known:
            raise ValueError(
                f"{where} has the unknown key {key!r}{closest(key, known) or hint}; known: {', '.join(known)}"
            )


def _read_misclassification(value: Any) -> Any:
    """Read rows of a matrix, or pairs."""
    if not isinstance(value, list) or not value:
        raise ValueError(
            "misclassification is neither rows of costs nor a list of [[misclassification]] tables"
        )
    if not any(isinstance(entry, dict) for entry in value):
        return value
    pairs = {}
    for entry in value:
        if not isinstance(entry, dict) or set(entry) != {"true", "predicted", "cost"}:
            raise ValueError(
                f"the misclassification entry {entry!r} has not the keys true, predicted and cost"
            )
        for key in ("true", "predicted"):
            if isinstance(entry[key], dict | list):
                raise ValueError(f"the misclassification entry {entry!r} has a {key} class that is no label")
        pair = (entry["true"], entry["predicted"])
        if pair in pairs:
            raise ValueError(f"misclassification gives the pair {pair!r} twice")
        pairs[pair] = entry["cost"]
    return pairs


def _read_operations(value: Any) -> dict[str, Any]:
    """Read prices of operations, and what they need."""
    if not isinstance(value, dict):
        raise ValueError("operations is not a table of names and prices")
    operations: dict[str, Any] = {}
    for name, entry in value.items():
        operations[name] = entry
        if isinstance(entry, dict):
            _priced(entry, ("price", "needs"), f"operation {name!r}")
            operations[name] = (entry["price"], entry.get("needs", ()))
    return operations


def _read_tests(value: Any) -> Any:
    """Read tests by name or by position."""
    if isinstance(value, list):
        return [_read_test(f"number {number}", entry) for number, entry in enumerate(value)]
    if not isinstance(value, dict):
        raise ValueError("tests is neither a table of names and prices nor a list of prices")
    return {name: _read_test(repr(name), entry) for name, entry in value.items()}


def _read_test(name: str, entry: Any) -> Any:
    if not isinstance(entry, dict):
        return entry
    _priced(entry, ("price", "needs", "columns"), f"test {name}")
    return FeatureTest(**entry)


def _priced(entry: Mapping[str, Any], known: tuple[str, ...], where: str) -> None:
    """Check the keys of a test or an operation."""
    _known_keys(entry, known, where, " (a name that holds a dot stands in quotes)")
    if "price" not in entry:
        raise ValueError(f"{where} has no price; write price = 0 if it costs nothing")


def _text(arguments: Mapping[str, Any]) -> str:
    """Lay the file out: short things first, the matrix a row a line, tables last."""
    head = {key: arguments[key] for key in ("unit", "classes") if arguments.get(key)}
    parts = [_HEADER + tomli_w.dumps({key: _plain(value) for key, value in head.items()})]
    matrix = arguments.get("misclassification")
    if matrix is not None:
        rows = "".join(f"    [{', '.join(_number(cost) for cost in row)}],\n" for row in matrix.tolist())
        parts.append(f"# Rows: the true class. Columns: the answer.\nmisclassification = [\n{rows}]\n")
    tests = arguments.get("tests")
    if tests is not None and not isinstance(tests, Mapping):
        parts.append(tomli_w.dumps({"tests": [_plain_test(test) for test in tests]}))
    operations = arguments.get("operations") or {}
    if operations:
        plain = {
            name: {"price": price, "needs": list(needs)} if needs else price
            for name, (price, needs) in operations.items()
        }
        parts.append(tomli_w.dumps({"operations": plain}))
    if isinstance(tests, Mapping):
        parts.append(tomli_w.dumps({"tests": {name: _plain_test(test) for name, test in tests.items()}}))
    return "\n".join(parts)


def _number(cost: float) -> str:
    """Write whole numbers as people do."""
    return str(int(cost)) if cost.is_integer() and abs(cost) < 1e15 else repr(cost)


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, Iterable) and not isinstance(value, str) else value


def _plain_test(test: FeatureTest) -> Any:
    """Describe a test as short as possible: its price, or a table."""
    entry: dict[str, Any] = {"price": test.price}
    if test.needs:
        entry["needs"] = dict(test.needs) if isinstance(test.needs, Mapping) else list(test.needs)
    if test.columns:
        entry["columns"] = list(test.columns)
    return test.price if len(entry) == 1 else entry
