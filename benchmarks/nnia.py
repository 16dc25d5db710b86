"""Offspring a second of NNIA: mutate, prune, evaluate, select, on one core.

First goals: 150,000 a second on breast cancer with 8 cuts a feature and depth limit 6; weights and
missing values at most 3 times slower. ``benchmarks deap`` sets it beside the same search in plain Python
objects.
"""

from __future__ import annotations

import argparse

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer

from cstree.costs.model import CostModel
from cstree.encoding import Dataset, FeatureSchema
from cstree.evolution.nnia import NNIA
from cstree.tree.problem import TreeProblem


def problem(
    X: NDArray[np.float64], y: NDArray[np.integer], cuts: int, weight: NDArray[np.float64] | None = None
) -> TreeProblem:
    """Trees of depth 6 over priced features."""
    names = [f"x{j}" for j in range(X.shape[1])]
    costs = CostModel(
        [[0, 1], [5, 0]], tests=dict(zip(names, np.linspace(0.01, 0.1, len(names)), strict=True))
    )
    schema = FeatureSchema.infer(X, max_bins=cuts + 1)
    dataset = Dataset(schema, schema.encode(X), y.astype(np.int32), 2, weight)
    return TreeProblem(dataset, costs.bind(names, [0, 1]), max_depth=6, min_support=2)


def with_holes(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """The same table with a tenth of its values missing."""
    holes = X.copy()
    holes[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    return holes


def synthetic(n: int) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Twenty normal features, two of which matter."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 20))
    return X, X[:, 0] + X[:, 1] ** 2 + rng.normal(size=n) > 1


def rate(search: NNIA, on: TreeProblem, repeats: int) -> float:
    """Best offspring a second over some seeds."""
    best = 0.0
    for seed in range(repeats):
        search.run(on, np.random.default_rng(seed))
        last = search.history_[-1]
        best = max(best, last.evaluations / last.seconds)
    return best


def main(argv: list[str]) -> None:
    """Print a row per problem: plain, with weights, with missing values."""
    parser = argparse.ArgumentParser(prog="benchmarks nnia")
    parser.add_argument("--seconds", type=float, default=1.0, help="time of each search")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--large", action="store_true", help="also 1,000,000 cases")
    options = parser.parse_args(argv)
    cancer = load_breast_cancer()
    tables = [("breast cancer 569 x 30, 8 cuts", cancer.data, cancer.target, 8)]
    tables.append(("synthetic 10,000 x 20, 16 cuts", *synthetic(10_000), 16))
    if options.large:
        tables.append(("synthetic 1,000,000 x 20, 16 cuts", *synthetic(1_000_000), 16))
    print(f"{'problem':36}{'variant':>10}{'plain /s':>14}{'weights':>10}{'missing':>10}")
    for name, X, y, cuts in tables:
        weight = np.random.default_rng(0).random(len(y)) + 0.1
        problems = [problem(X, y, cuts), problem(X, y, cuts, weight), problem(with_holes(X), y, cuts)]
        for variant, polish in (("published", 0.0), ("polished", 0.1)):
            search = NNIA(generations=None, patience=None, time_budget=options.seconds, polish=polish)
            rates = [rate(search, each, options.repeats) for each in problems]
            ratios = "".join(f"{rates[0] / each:9.2f}x" for each in rates[1:])
            print(f"{name:36}{variant:>10}{rates[0]:14,.0f}{ratios}")
