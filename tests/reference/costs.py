"""What a mistake and a test cost, in plain Python."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = [
    "PlainCosts",
    "bound_arrays",
    "case_costs",
    "case_weights",
    "describe_costs",
    "newly_paid",
    "plain_costs",
    "price",
    "regrets",
]


@dataclass(frozen=True)
class PlainCosts:
    """A cost matrix, and for each feature the steps (with prices) that its test needs.

    ``matrix[t][p]`` is the cost of answering class ``p`` when the truth is ``t``;
    ``feature_entries[a]`` lists ``(step, price)``: the price holds when this entry is the one that pays.
    """

    matrix: Sequence[Sequence[float]]
    feature_entries: Sequence[Sequence[tuple[Hashable, float]]]

    @property
    def n_classes(self) -> int:
        return len(self.matrix)

    @property
    def n_features(self) -> int:
        return len(self.feature_entries)


def plain_costs(bound: Any) -> PlainCosts:
    """Read the arrays of anything shaped like ``BoundCosts``; a ``PlainCosts`` comes back as it is."""
    if isinstance(bound, PlainCosts):
        return bound
    start = [int(s) for s in bound.step_start]
    steps = [int(s) for s in bound.steps]
    prices = [float(p) for p in bound.prices]
    return PlainCosts(
        matrix=[[float(c) for c in row] for row in bound.matrix],
        feature_entries=[
            [(steps[e], prices[e]) for e in range(first, last)] for first, last in itertools.pairwise(start)
        ],
    )


def bound_arrays(costs: PlainCosts) -> dict[str, Any]:
    """Write the arrays of ``BoundCosts`` (matrix, step_names, step_start, steps, prices) as lists."""
    numbers: dict[Hashable, int] = {}
    start, steps, prices = [0], [], []
    for entries in costs.feature_entries:
        for step, amount in entries:
            steps.append(numbers.setdefault(step, len(numbers)))
            prices.append(amount)
        start.append(len(steps))
    return {
        "matrix": [list(row) for row in costs.matrix],
        "step_names": tuple(str(step) for step in numbers),
        "step_start": start,
        "steps": steps,
        "prices": prices,
    }


def describe_costs(
    matrix: Sequence[Sequence[float]],
    n_features: int,
    tests: Sequence[tuple[float, Mapping[str, float | None], Sequence[int]]],
    operations: Mapping[str, tuple[float, Sequence[str]]],
) -> PlainCosts:
    """Close a description in words under "needs".

    Each of ``tests`` is ``(own price, {operation: its price for this test or None}, features revealed)``;
    ``operations`` maps a name to ``(price, operations it needs)``. A feature under no test is free.
    """
    entries: list[list[tuple[Hashable, float]]] = [[] for _ in range(n_features)]
    for number, (own, needs, features) in enumerate(tests):
        steps: list[tuple[Hashable, float]] = [(("test", number), float(own))]
        wanted = list(needs)
        seen: list[str] = []
        while wanted:
            name = wanted.pop(0)
            if name in seen:
                continue
            seen.append(name)
            wanted.extend(operations[name][1])
            here = needs.get(name)
            steps.append((("operation", name), float(operations[name][0] if here is None else here)))
        for feature in features:
            entries[feature] = list(steps)
    return PlainCosts(matrix=[[float(c) for c in row] for row in matrix], feature_entries=entries)


def newly_paid(
    costs: PlainCosts, feature: int, paid: Collection[Hashable] = ()
) -> list[tuple[Hashable, float]]:
    """List the entries of a feature's test whose steps are not paid yet."""
    return [
        (step, amount) for step, amount in plain_costs(costs).feature_entries[feature] if step not in paid
    ]


def price(costs: PlainCosts, feature: int, paid: Collection[Hashable] = ()) -> float:
    """``TA(a | D)``: what the test of ``feature`` costs when the steps ``paid`` are paid."""
    return math.fsum(amount for _, amount in newly_paid(costs, feature, paid))


def case_costs(y: Sequence[int], costs: PlainCosts, example_cost: Any = None) -> list[list[float]]:
    """Give ``c_i[p]`` for every case: the row of the true class, or the case's own row."""
    if example_cost is not None:
        return [[float(c) for c in row] for row in example_cost]
    matrix = plain_costs(costs).matrix
    return [[float(c) for c in matrix[int(truth)]] for truth in y]


def regrets(cost_rows: Sequence[Sequence[float]]) -> list[list[float]]:
    """Each row less its smallest entry (section 3, below (10))."""
    return [[c - min(row) for c in row] for row in cost_rows]


def case_weights(y: Sequence[int], weights: Any = None) -> list[float]:
    """Weights as floats; 1 for every case when there are none."""
    return [1.0] * len(y) if weights is None else [float(w) for w in weights]
