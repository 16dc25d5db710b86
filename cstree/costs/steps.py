"""What a test costs: its own price, the operations it needs, group discounts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from types import MappingProxyType
from typing import Any

import numpy as np

from cstree.costs.labels import closest, plain_name, plain_names

__all__ = ["FeatureTest", "Operation", "plain_operations", "plain_price", "plain_test", "step_entries"]

# Price of an operation, and the operations it needs.
Operation = tuple[float, tuple[str, ...]]


@dataclass(frozen=True, repr=False)
class FeatureTest:
    """A test that shares operations with others, or reveals several columns.

    It is checked when a `CostModel` takes it, so that errors name the test.

    Parameters
    ----------
    price : float
        Price of the test's own step, paid once on a path.
    needs : sequence of str or {str: float}
        Operations that the test needs besides. A mapping gives the price that an operation has when this test
        is the one that pays it: a discount that differs within a group.
    columns : sequence of str
        Columns that the test reveals together: a panel, or the one-hot columns of one attribute. Empty: the
        column that bears the test's name.

    Examples
    --------
    >>> FeatureTest(5.17, needs=["blood draw"])
    FeatureTest(5.17, needs=('blood draw',))
    """

    price: float
    needs: Sequence[str] | Mapping[str, float] = ()
    columns: Sequence[str] = ()

    def __post_init__(self) -> None:
        if isinstance(self.needs, Mapping):
            # Without entries it says the same as no names at all.
            object.__setattr__(self, "needs", MappingProxyType(dict(self.needs)) if self.needs else ())
        else:
            object.__setattr__(self, "needs", _as_tuple(self.needs))
        object.__setattr__(self, "columns", _as_tuple(self.columns))

    def __hash__(self) -> int:
        needs = frozenset(self.needs.items()) if isinstance(self.needs, Mapping) else self.needs
        return hash((self.price, needs, self.columns))

    def __repr__(self) -> str:
        needs = dict(self.needs) if isinstance(self.needs, Mapping) else self.needs
        shown = f"FeatureTest({self.price!r}"
        shown += f", needs={needs!r}" if needs else ""
        shown += f", columns={self.columns!r}" if self.columns else ""
        return shown + ")"

    def __reduce__(self) -> tuple[type[FeatureTest], tuple[Any, ...]]:
        needs = dict(self.needs) if isinstance(self.needs, Mapping) else self.needs
        return FeatureTest, (self.price, needs, self.columns)


def _as_tuple(names: Any) -> Any:
    """Make names a tuple; what cannot be names is left for `plain_test` to refuse."""
    if isinstance(names, str):
        return (names,)
    if isinstance(names, set | frozenset):
        return tuple(sorted(names, key=str))  # the order of a set changes from run to run
    return tuple(names) if isinstance(names, Sequence | np.ndarray) else names


def plain_price(value: Any, what: str) -> float:
    """Return a price as a float.

    Parameters
    ----------
    value : real number
        Finite, 0 or more.
    what : str
        What has this price, for an error.

    Returns
    -------
    float
        The price.

    Raises
    ------
    TypeError
        Not a number.
    ValueError
        Negative, infinite or not a number.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, Real | Decimal):
        raise TypeError(f"{what}: the price is {value!r}; write a number")
    try:
        price = float(value)
    except OverflowError:
        price = math.inf
    if not math.isfinite(price):
        raise ValueError(f"{what}: the price is {price}; prices are finite numbers")
    if price < 0:
        raise ValueError(f"{what}: the price is {price:g}; prices are 0 or more")
    return price + 0.0  # -0.0 becomes 0.0


def plain_test(what: str, test: Any, operations: Mapping[str, Operation]) -> FeatureTest:
    """Check one test.

    Parameters
    ----------
    what : str
        What it is called in an error, as in "test 'crp'".
    test : float or FeatureTest
        A price alone is a test with its own step only.
    operations : mapping
        What `plain_operations` returned.

    Returns
    -------
    FeatureTest
        With plain floats and text.

    Raises
    ------
    TypeError
        A part has the wrong type.
    ValueError
        A price that is no price, or an operation that nothing prices.
    """
    if not isinstance(test, FeatureTest):
        if isinstance(test, Mapping | Sequence) and not isinstance(test, str):
            raise TypeError(
                f"{what} is {test!r}; write a price or FeatureTest(price, needs=..., columns=...)"
            )
        return FeatureTest(plain_price(test, what))
    if isinstance(test.needs, Mapping):
        needs: Any = {
            plain_name(operation, "operation"): plain_price(price, f"{what}, operation {operation!r}")
            for operation, price in test.needs.items()
        }
    else:
        needs = plain_names(test.needs, "operation", f"the needs of {what}")
        for operation in needs:
            if operation not in operations:
                raise ValueError(
                    f"{what} needs operation {operation!r}, which has no price"
                    f"{closest(operation, operations)}; add it to operations"
                )
    columns = plain_names(test.columns, "column", f"the columns of {what}")
    return FeatureTest(plain_price(test.price, what), needs, columns)


def plain_operations(operations: Any) -> dict[str, Operation]:
    """Check operations, except that they need one another in no circle.

    Parameters
    ----------
    operations : mapping or None
        ``{"op": price}`` or ``{"op": (price, ("other op",))}``.

    Returns
    -------
    dict
        ``{"op": (price, ("other op", ...))}``.

    Raises
    ------
    TypeError
        A part has the wrong type.
    ValueError
        A price that is no price, or a needed operation that is not there.
    """
    if operations is None:
        return {}
    if not isinstance(operations, Mapping):
        raise TypeError(
            f"operations is {operations!r}; write {{name: price}} or {{name: (price, (needed, ...))}}"
        )
    plain: dict[str, Operation] = {}
    for key, value in operations.items():
        name = plain_name(key, "operation")
        what = f"operation {name!r}"
        needs: tuple[str, ...] = ()
        if isinstance(value, list | tuple):
            if len(value) != 2:
                raise TypeError(f"{what} is {value!r}; write its price or (price, (needed operation, ...))")
            value, needed = value
            needs = plain_names(needed, "operation", f"the needs of {what}")
        plain[name] = (plain_price(value, what), needs)
    for name, (_, needs) in plain.items():
        for other in needs:
            if other not in plain:
                raise ValueError(
                    f"operation {name!r} needs operation {other!r}, which has no price"
                    f"{closest(other, plain)}; add it to operations"
                )
    return plain


def step_entries(
    name: str, test: FeatureTest, operations: Mapping[str, Operation], needed: Sequence[str]
) -> list[tuple[str, float]]:
    """List the steps of a test with their prices.

    Parameters
    ----------
    name : str
        Name of the test, and of its own step.
    test : FeatureTest
        What `plain_test` returned.
    operations : mapping
        What `plain_operations` returned.
    needed : sequence of str
        All operations that the test needs, directly or through others, each once.

    Returns
    -------
    list of (str, float)
        The own step, then the operations at the price they have with this test.
    """
    own = test.needs if isinstance(test.needs, Mapping) else {}
    return [(name, test.price), *((op, own[op] if op in own else operations[op][0]) for op in needed)]
