"""Random search problems of the package, beside the plain cases that the twins judge them by."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cstree.base import CostSensitiveClassifier
from cstree.costs.model import CostModel, FeatureTest
from cstree.encoding import Dataset
from cstree.tree.problem import TreeProblem
from tests.strategies import CostWords, PlainTable, random_cost_words, random_table


@dataclass
class PlainCases:
    """The cases of positive weight, as the twins want them."""

    frame: Any
    y: list[int]
    weights: list[float] | None
    example_cost: list[list[float]] | None


class Encoder(CostSensitiveClassifier):
    """Just enough of an estimator to validate and encode a table."""

    def __init__(self, costs: CostModel | None = None) -> None:
        self.costs = costs

    def encode(self, table: PlainTable, max_bins: int | None = None) -> Dataset:
        """Dataset of a plain table."""
        return self._training_data(
            table.frame(), table.y, table.weights, _example_cost(table), max_bins=max_bins
        )


def _example_cost(table: PlainTable) -> Any:
    present = sorted(set(table.y))
    return None if table.example_cost is None else np.array(table.example_cost)[:, present]


def cost_model(words: CostWords) -> CostModel:
    """The cost description in words as the package takes it."""
    tests = {}
    for number, (price, needs, columns) in enumerate(words.tests):
        wanted = {name: words.operations[name][0] if own is None else own for name, own in needs.items()}
        tests[f"test {number}"] = FeatureTest(price, needs=wanted, columns=tuple(f"x{j}" for j in columns))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return CostModel(
            words.matrix,
            tests=tests,
            operations={name: (price, tuple(needs)) for name, (price, needs) in words.operations.items()},
            classes=list(range(len(words.matrix))),
        )


def to_problem(
    table: PlainTable, rng: np.random.Generator, *, max_depth: int = 4, min_support: int | None = None
) -> tuple[TreeProblem, PlainCases]:
    """Encode a plain table with random costs."""
    encoder = Encoder(cost_model(random_cost_words(rng, table)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dataset = encoder.encode(table)
    support = int(rng.integers(0, 5)) if min_support is None else min_support
    problem = TreeProblem(dataset, encoder.costs_, max_depth, support, max_leaf_nodes=2**max_depth)
    kept = [i for i in range(len(table.y)) if table.weights is None or table.weights[i] > 0]
    costs = _example_cost(table)
    cases = PlainCases(
        table.frame().iloc[kept],
        [int(k) for k in dataset.y],
        None if table.weights is None else [table.weights[i] for i in kept],
        None if costs is None else costs[kept].tolist(),
    )
    return problem, cases


def random_problem(
    rng: np.random.Generator, *, categories: tuple[int, int] | None = None, **options: Any
) -> tuple[TreeProblem, PlainCases]:
    """Random table with random costs, prices, weights and missing values."""
    table = random_table(rng, **{"n_rows": (5, 60), **options})
    if categories is not None:
        table = _with_categories(table, rng, categories)
    return to_problem(table, rng)


def _with_categories(table: PlainTable, rng: np.random.Generator, categories: tuple[int, int]) -> PlainTable:
    """The same table with as many categories in its categorical columns."""
    for j, kind in enumerate(table.kinds):
        if kind != "numeric":
            n = int(rng.integers(categories[0], categories[1] + 1))
            table.n_categories[j] = n
            for row in table.rows:
                if row[j] is not None:
                    row[j] = int(rng.integers(n))
    return table


def random_preorder(
    problem: TreeProblem, rng: np.random.Generator, leaf_chance: float = 0.3
) -> tuple[NDArray[np.int32], NDArray[np.uint64]]:
    """A random tree over the problem's candidate tests, not pruned."""
    arrays = problem.arrays
    test: list[int] = []
    mask: list[int] = []
    pending = [0]
    while pending:
        depth = pending.pop()
        mask.append(0)
        if depth == problem.max_depth or len(arrays.choice_feature) == 0 or rng.random() < leaf_chance:
            test.append(-1)
            continue
        choice = int(rng.integers(len(arrays.choice_feature)))
        if arrays.choice_count[choice] > 0:
            test.append(int(arrays.choice_first[choice] + rng.integers(arrays.choice_count[choice])))
        else:
            test.append(int(arrays.choice_first[choice] + rng.integers(arrays.choice_sides[choice])))
            groups = int(arrays.category_count[(test[-1] - len(arrays.bits)) >> 1])
            mask[-1] = int(rng.integers(1, 2**groups - 1))
        pending += [depth + 1, depth + 1]
    return np.array(test, dtype=np.int32), np.array(mask, dtype=np.uint64)
