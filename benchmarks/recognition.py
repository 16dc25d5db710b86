"""Kernel and neighbour classifiers that count costs beside scikit-learn's that do not; one thread.

For information: the peers solve simpler problems. ``SVC`` fits pairs of classes one after the other, the
Gaussian process approximates its posterior, and none of them counts costs between classes.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from benchmarks.timing import best_times
from cstree import CostKernelLogisticRegression, CostKNeighborsClassifier, CostModel, MulticlassCostSVC

GAMMA = 0.05


def pairs(costs: CostModel) -> dict[str, tuple[Any, Any]]:
    """Each classifier and its peer."""
    process = GaussianProcessClassifier(RBF(1 / np.sqrt(2 * GAMMA)), optimizer=None, random_state=0)
    return {
        "mckNN / KNeighborsClassifier": (CostKNeighborsClassifier(costs), KNeighborsClassifier(10)),
        "mcSVM / SVC, rbf": (MulticlassCostSVC(costs, gamma=GAMMA), SVC(gamma=GAMMA)),
        "mcSVM / SVC, linear, C = 1": (MulticlassCostSVC(costs, kernel="linear"), SVC(kernel="linear")),
        "mcKLR / LogisticRegression, linear": (
            CostKernelLogisticRegression(costs, kernel="linear"),
            LogisticRegression(tol=1e-8, max_iter=10_000),
        ),
        "mcKLR / Gaussian process, rbf": (CostKernelLogisticRegression(costs, gamma=GAMMA), process),
    }


def compare(n: int, n_classes: int, repeats: int, clock: Callable[[], float]) -> None:
    """Train on the first digits, answer for the others."""
    X, y = load_digits(return_X_y=True)
    X, y = X[y < n_classes] / 16, y[y < n_classes]
    X, y, new = X[:n], y[:n], X[n:]
    matrix = 1.0 - np.eye(n_classes)
    matrix[-1] *= 10  # the last class is missed dearly
    print(f"\n{len(y)} digits, {n_classes} classes; {len(new)} to answer; milliseconds")
    print(f"  {'':36s}{'to train':>20s}{'to answer':>20s}")
    for name, both in pairs(CostModel(matrix)).items():
        tasks = {str(k): (lambda model=model: model.fit(X, y)) for k, model in enumerate(both)}
        train = best_times(tasks, repeats, clock)
        tasks = {str(k): (lambda model=model: model.predict(new)) for k, model in enumerate(both)}
        answer = best_times(tasks, repeats, clock)
        shown = [f"{times['0'] * 1e3:.1f} / {times['1'] * 1e3:.1f}" for times in (train, answer)]
        print(f"  {name:36s}{shown[0]:>20s}{shown[1]:>20s}")


def main(argv: list[str]) -> None:
    """Run the comparison."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks recognition", description=__doc__)
    parser.add_argument("--repeats", type=int, default=3, help="runs of which the shortest counts")
    parser.add_argument("--cpu", action="store_true", help="processor time, for a machine that is busy")
    options = parser.parse_args(argv)
    clock = time.process_time if options.cpu else time.perf_counter
    with threadpool_limits(1):
        for n, n_classes in ((250, 2), (900, 6), (900, 10)):
            compare(n, n_classes, options.repeats, clock)
