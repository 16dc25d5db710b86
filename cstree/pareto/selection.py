"""Rules that choose one point of a front.

A rule is a name, a mapping with one entry, or any callable that gets the front and gives an index:

===================================== ==========================================================
``"total_cost"``                      least misclassification cost + test cost
``"knee"``                            farthest below the chord of the extremes, objectives scaled
``{"max_test_cost": x}``              least misclassification cost where the test cost is at most x
``{"max_misclassification_cost": x}`` least test cost where the misclassification cost is at most x
``{"exchange_rate": r}``              least misclassification cost + r * test cost
===================================== ==========================================================

Ties go to the lowest index.  Values that differ by no more than rounding (1e-12,
relative) count as equal, also where they meet a bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["MISCLASSIFICATION_COST", "TEST_COST", "SelectionRule", "TradeOffs", "resolve_rule", "select"]

MISCLASSIFICATION_COST = "misclassification_cost"
TEST_COST = "test_cost"

# Costs are averages of sums, which differ in the last digits with the order of summation.
_ROUNDING = 1e-12

Floats: TypeAlias = NDArray[np.float64]
SelectionRule: TypeAlias = str | Mapping[str, float] | Callable[[Any], int]


class TradeOffs(Protocol):
    """What a rule sees of a front: its points, and what their columns mean."""

    @property
    def objectives(self) -> Floats:
        """Objectives of the points, float64 of shape (p, m), sorted by the first."""

    @property
    def objective_names(self) -> tuple[str, ...]:
        """Names of the ``m`` objectives."""


_Chooser: TypeAlias = Callable[[TradeOffs], int]


def _column(front: TradeOffs, name: str) -> Floats:
    return front.objectives[:, front.objective_names.index(name)]


def _first_least(values: Floats, magnitude: Floats) -> int:
    """Lowest index whose value is the least, up to rounding of numbers of that magnitude."""
    best = int(np.argmin(values))
    slack = _ROUNDING * np.maximum(magnitude, magnitude[best])
    return int(np.flatnonzero(values <= values[best] + slack)[0])


def _least_weighted_cost(front: TradeOffs, exchange_rate: float) -> int:
    mistakes, tests = _column(front, MISCLASSIFICATION_COST), exchange_rate * _column(front, TEST_COST)
    return _first_least(mistakes + tests, np.abs(mistakes) + np.abs(tests))


def _least_total_cost(front: TradeOffs) -> int:
    return _least_weighted_cost(front, 1.0)


def _knee(front: TradeOffs) -> int:
    """Farthest below the chord of the extremes; without such a point least total cost, else the first.

    Objectives are scaled to [0, 1] over the front, one without range to 0. For two of them the
    chord is then the line x + y = 1; for more, its place is taken by the plane that meets every axis at 1.
    """
    low = front.objectives.min(axis=0)
    extent = front.objectives.max(axis=0) - low
    scaled = (front.objectives - low) / np.where(extent > 0, extent, 1.0)
    sums = scaled.sum(axis=1)
    if sums.min() < 1.0 - _ROUNDING:  # never so with two points: each is worst in some objective
        return _first_least(sums, np.ones_like(sums))
    if {MISCLASSIFICATION_COST, TEST_COST} <= set(front.objective_names):
        return _least_total_cost(front)
    return 0


def _least_within(front: TradeOffs, wanted: str, limited: str, bound: float) -> int:
    """Index of the least ``wanted`` among the points whose ``limited`` is at most ``bound``."""
    spent = _column(front, limited)
    allowed = np.flatnonzero(spent <= bound + _ROUNDING * np.abs(spent))
    if not len(allowed):
        raise ValueError(
            f"no point of the front has a {limited} of at most {bound:g}: the least is {spent.min():g}; "
            f"raise max_{limited} to that or more"
        )
    values = _column(front, wanted)[allowed]
    return int(allowed[_first_least(values, np.abs(values))])


def _least_mistakes_within(front: TradeOffs, bound: float) -> int:
    return _least_within(front, MISCLASSIFICATION_COST, TEST_COST, bound)


def _least_tests_within(front: TradeOffs, bound: float) -> int:
    return _least_within(front, TEST_COST, MISCLASSIFICATION_COST, bound)


_COSTS = (MISCLASSIFICATION_COST, TEST_COST)
# name -> (objectives that the rule needs, function of the front [and the number given])
_NAMED: dict[str, tuple[tuple[str, ...], _Chooser]] = {
    "total_cost": (_COSTS, _least_total_cost),
    "knee": ((), _knee),
}
_WITH_NUMBER: dict[str, Callable[[TradeOffs, float], int]] = {  # all of them need both costs
    "max_test_cost": _least_mistakes_within,
    "max_misclassification_cost": _least_tests_within,
    "exchange_rate": _least_weighted_cost,
}
_KNOWN = ", ".join(
    [repr(name) for name in _NAMED]
    + [f'{{"{name}": number}}' for name in _WITH_NUMBER]
    + ["a callable(front) -> index"]
)


def _check_number(name: str, value: object) -> float:
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise TypeError(f"selection rule {name!r} needs a number, got {value!r}")
    number = float(value)
    if math.isnan(number):
        raise ValueError(f"selection rule {name!r} needs a number, got nan")
    if name == "exchange_rate" and not (math.isfinite(number) and number >= 0):
        raise ValueError(f"exchange_rate must be finite and at least 0, got {number:g}")
    return number


def _check_objectives(name: str, needed: Sequence[str], offered: Sequence[str]) -> None:
    lacking = [objective for objective in needed if objective not in offered]
    if lacking:
        raise ValueError(
            f"selection rule {name!r} needs the objective {' and '.join(lacking)}; the front has "
            f"{', '.join(offered)}. Search with it as an objective, or select by 'knee' or a callable"
        )


def _resolve_mapping(rule: Mapping[str, float], objective_names: Sequence[str]) -> _Chooser:
    if len(rule) != 1:
        raise ValueError(f"a selection rule given as a mapping has exactly one entry, got {dict(rule)!r}")
    ((name, value),) = rule.items()
    if name not in _WITH_NUMBER:
        raise ValueError(f"unknown selection rule {dict(rule)!r}; the rules are {_KNOWN}")
    number = _check_number(name, value)
    _check_objectives(name, _COSTS, objective_names)
    choose = _WITH_NUMBER[name]
    return lambda front: choose(front, number)


def resolve_rule(rule: SelectionRule, objective_names: Sequence[str]) -> Callable[[Any], int]:
    """Turn a rule into a function of the front; wrong rules fail here, before any search has run.

    Parameters
    ----------
    rule : str, mapping with one entry, or callable
        See the table at the top of this module.
    objective_names : sequence of str
        Objectives of the fronts on which the rule will be used.

    Returns
    -------
    callable
        Function of a front that gives the index of the chosen point.

    Raises
    ------
    TypeError
        If the rule is of no such kind, or its number is no number.
    ValueError
        If the rule is unknown, its number is out of range, or it needs an objective that is not there.
    """
    if isinstance(rule, str):
        if rule in _WITH_NUMBER:
            raise ValueError(f'selection rule {rule!r} needs a number: write {{"{rule}": number}}')
        if rule not in _NAMED:
            raise ValueError(f"unknown selection rule {rule!r}; the rules are {_KNOWN}")
        needed, choose = _NAMED[rule]
        _check_objectives(rule, needed, objective_names)
        return choose
    if isinstance(rule, Mapping):
        return _resolve_mapping(rule, objective_names)
    if callable(rule):
        return rule
    if isinstance(rule, Integral) and not isinstance(rule, bool):
        raise TypeError(f"{rule!r} is an index, not a selection rule: front[{rule!r}] is that tree")
    raise TypeError(f"{rule!r} is not a selection rule; the rules are {_KNOWN}")


def select(front: TradeOffs, rule: SelectionRule) -> int:
    """Index of the point of a front that a rule chooses.

    Parameters
    ----------
    front : Front
        The points to choose from; at least one.
    rule : str, mapping with one entry, or callable
        See the table at the top of this module.

    Returns
    -------
    int
        Index in ``range(len(front.objectives))``.

    Raises
    ------
    TypeError
        If the rule is of no such kind, or a callable gives something else than an index.
    ValueError
        If the rule is unknown, needs an objective that the front lacks, or no point satisfies its bound.
    IndexError
        If a callable gives an index that is not on the front.
    """
    index: object = resolve_rule(rule, front.objective_names)(front)
    if isinstance(index, bool | np.bool_) or not isinstance(index, Integral):
        raise TypeError(f"selection rule {rule!r} must give the index of a point, it gave {index!r}")
    count = len(front.objectives)
    if not -count <= int(index) < count:
        raise IndexError(f"selection rule {rule!r} gave index {index!r}; the front has {count} points")
    return int(index) % count
