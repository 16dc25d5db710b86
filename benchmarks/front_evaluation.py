"""A front on new cases: `Front.evaluate` beside predicting and pricing with one tree after the other.

Wanted: 300 trees on 100,000 cases in a few seconds.
"""

from __future__ import annotations

import argparse

import numpy as np
import pandas as pd

from benchmarks.timing import best_times, verdict
from cstree.costs.model import CostModel
from cstree.evolution.classifier import ParetoTreeClassifier
from cstree.metrics import misclassification_cost, test_cost


def main(argv: list[str]) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument("--trees", type=int, default=300)
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args(argv)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(arguments.cases, 20))
    y = (X[:, 0] * X[:, 1] + 0.5 * X[:, 2] + rng.normal(size=len(X)) > 0).astype(int)
    costs = CostModel([[0, 20], [60, 0]], tests=(1 + 7 * rng.random(20)).tolist())
    model = ParetoTreeClassifier(costs, dominant_size=arguments.trees, generations=800, random_state=0)
    model.fit(X[:4000], y[:4000])
    front = model.front_
    weight, dear = rng.random(len(X)), rng.random((len(X), 2))
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(20)])
    framed = ParetoTreeClassifier(costs, dominant_size=arguments.trees, generations=800, random_state=0)
    framed.fit(frame[:4000], y[:4000])
    seconds = best_times(
        {
            "array": lambda: front.evaluate(X, y),
            "frame": lambda: framed.front_.evaluate(frame, y),
            "weights": lambda: front.evaluate(X, y, weight),
            "costs by case": lambda: front.evaluate(X, y, weight, dear),
            "one by one": lambda: [
                misclassification_cost(y, each.predict(X), costs) + test_cost(each, X)
                for each in map(model.choose, range(len(front)))
            ],
        },
        arguments.repeats,
    )
    print(f"{len(front)} trees of at most {max(tree.depth for tree in front)} tests, {len(X)} cases")
    for name, value in seconds.items():
        print(f"{name:16s} {value:7.2f} s  {1e3 * value / len(front):6.2f} ms a tree")
    print(f"one by one / array {verdict(seconds['one by one'] / seconds['array'], 1.0)}")
