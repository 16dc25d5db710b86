"""Trees a second that the bit sets evaluate, beside scikit-learn's ``predict`` plus a cost sum.

The same full tree of 63 nodes on the same cases. Goal: at most 2 ns a case at 1,000,000 cases, with
weights and missing values at most 3 times slower.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier

from benchmarks.nnia import problem, synthetic, with_holes
from cstree.tree._bit_kernels import MISCLASSIFICATION, TEST_COST, evaluate_one
from cstree.tree.problem import TreeProblem

DEPTH = 5


def seconds_per_call(call: Callable[[], object], at_least: float = 0.3) -> float:
    """Least time of a call over several rounds, after one that is not counted."""
    call()
    best = np.inf
    begin = time.perf_counter()
    while time.perf_counter() - begin < at_least:
        started = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - started)
    return float(best)


def full_tree(on: TreeProblem) -> NDArray[np.int32]:
    """A random full tree in preorder."""
    rng = np.random.default_rng(1)
    test: list[int] = []
    pending = [0]
    while pending:
        depth = pending.pop()
        test.append(-1 if depth == DEPTH else int(rng.integers(len(on.candidates))))
        if depth < DEPTH:
            pending += [depth + 1, depth + 1]
    return np.array(test, dtype=np.int32)


def evaluation_seconds(on: TreeProblem) -> float:
    """Time to evaluate a full tree as a search does, without pruning."""
    arrays, workspace = on.arrays, on.workspace()
    test = full_tree(on)
    workspace.test[: len(test)] = test
    kinds, objectives = np.array([MISCLASSIFICATION, TEST_COST]), np.zeros((1, 2))
    return seconds_per_call(lambda: evaluate_one(arrays, workspace, len(test), 0, False, kinds, objectives))


def peer_seconds(X: NDArray[np.float64], y: NDArray[np.bool_]) -> float:
    """Time of scikit-learn's predict and a cost sum for a tree of the same size."""
    rng = np.random.default_rng(0)
    model = DecisionTreeClassifier(max_depth=DEPTH, splitter="random", random_state=0).fit(
        X, rng.random(len(y)) < 0.5
    )
    cost = np.array([[0.0, 1.0], [5.0, 0.0]])
    rows = X.astype(np.float32)  # what scikit-learn would convert to in every call
    truth = y.astype(int)
    return seconds_per_call(lambda: cost[truth, model.predict(rows).astype(int)].sum())


def main(argv: list[str]) -> None:
    """Print a row per number of cases."""
    parser = argparse.ArgumentParser(prog="benchmarks evaluate")
    parser.add_argument("--cases", type=int, nargs="+", default=[569, 10_000, 100_000, 1_000_000])
    options = parser.parse_args(argv)
    print(f"{'cases':>10}{'trees/s':>12}{'ns a case':>11}{'weights':>10}{'missing':>10}{'scikit-learn':>15}")
    for n in options.cases:
        X, y = synthetic(n)
        weight = np.random.default_rng(0).random(n) + 0.1
        plain, weighted, holes = (
            evaluation_seconds(each)
            for each in (problem(X, y, 16), problem(X, y, 16, weight), problem(with_holes(X), y, 16))
        )
        peer = peer_seconds(X, y)
        print(
            f"{n:10,}{1 / plain:12,.0f}{plain / n * 1e9:11.2f}{weighted / plain:9.2f}x{holes / plain:9.2f}x"
            f"{peer / plain:9.0f}x slower"
        )
