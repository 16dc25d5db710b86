"""Greedy trees beside scikit-learn's, and single trees of boosters as reference lines; one thread each."""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

from benchmarks.timing import best_times, resident_bytes, verdict
from cstree.greedy.classifier import GreedyTreeClassifier

FIT_WANTED, PREDICT_WANTED, SMALL_WANTED = 5.0, 1.0, 1.0
SHAPES = ((100_000, 50, 5), (1_000_000, 20, 2))
DEPTHS = (6, 12)


def make_table(n: int, n_features: int, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Normal features; the class follows noisy linear scores with a bend. Made in blocks, to spare memory."""
    rng = np.random.default_rng(0)
    slope = rng.normal(size=(n_features, n_classes))
    bend = rng.normal(size=(1, n_classes))
    X, y = np.empty((n, n_features)), np.empty(n, dtype=np.int64)
    for start in range(0, n, 100_000):
        block = X[start : start + 100_000]
        block[:] = rng.normal(size=block.shape)
        score = block @ slope + 3 * np.sin(2 * block[:, :1]) * bend
        y[start : start + 100_000] = (score + 2 * rng.normal(size=score.shape)).argmax(axis=1)
    return X, y


def boosters(depth: int) -> dict[str, Callable[[], Any]]:
    """Makers of boosters that stop after one tree (per class)."""
    found: dict[str, Callable[[], Any]] = {
        "sklearn hist boosting, 1 round": lambda: HistGradientBoostingClassifier(
            max_iter=1, max_depth=depth, max_leaf_nodes=None, early_stopping=False, min_samples_leaf=1
        )
    }
    try:
        from lightgbm import LGBMClassifier
    except ImportError:
        return found
    found["lightgbm, 1 round"] = lambda: LGBMClassifier(
        n_estimators=1, max_depth=depth, num_leaves=2**depth, min_child_samples=1, n_jobs=1, verbose=-1
    )
    return found


def compare_fits(n: int, n_features: int, n_classes: int, clock: Callable[[], float], repeats: int) -> None:
    """Fit and predict, both depths."""
    X, y = make_table(n, n_features, n_classes)
    GreedyTreeClassifier(max_depth=3).fit(X[:5_000], y[:5_000]).predict(X[:10])
    for depth in DEPTHS:
        makers: dict[str, Callable[[], Any]] = {
            "cstree secsdt_mc": lambda depth=depth: GreedyTreeClassifier(max_depth=depth),
            "sklearn DecisionTreeClassifier": lambda depth=depth: DecisionTreeClassifier(max_depth=depth),
            **boosters(depth),
        }
        models: dict[str, Any] = {}

        def fit(name: str, make: Callable[[], Any], models: dict[str, Any] = models) -> None:
            models[name] = make().fit(X, y)

        tasks = {name: (lambda name=name, make=make: fit(name, make)) for name, make in makers.items()}
        times = best_times(tasks, repeats, clock)
        ours, theirs = times["cstree secsdt_mc"], times["sklearn DecisionTreeClassifier"]
        print(f"\n{n:,} x {n_features}, {n_classes} classes, depth {depth}")
        for name, seconds in times.items():
            score = models[name].score(X[:100_000], y[:100_000])
            print(f"  {name:32s} fit {seconds:8.3f} s   accuracy {score:.3f}")
        print(f"  fit faster than sklearn      {verdict(theirs / ours, FIT_WANTED)}")
        compare_predictions(models["cstree secsdt_mc"], models["sklearn DecisionTreeClassifier"], X, clock)


def compare_predictions(ours: Any, theirs: Any, X: np.ndarray, clock: Callable[[], float]) -> None:
    """Labels and class shares for the whole table."""
    for method in ("predict", "predict_proba"):
        times = best_times(
            {"ours": lambda: getattr(ours, method)(X), "theirs": lambda: getattr(theirs, method)(X)},  # noqa: B023
            3,
            clock,
        )
        spent = f"{times['ours'] * 1e3:.1f} ms against {times['theirs'] * 1e3:.1f}"
        print(f"  {method:13s} {spent:24s} {verdict(times['theirs'] / times['ours'], PREDICT_WANTED)}")


def compare_small(clock: Callable[[], float]) -> None:
    """The overhead: 569 cases."""
    X, y = load_breast_cancer(return_X_y=True)
    for depth in DEPTHS:
        tasks = {
            "ours": lambda depth=depth: GreedyTreeClassifier(max_depth=depth).fit(X, y),
            "theirs": lambda depth=depth: DecisionTreeClassifier(max_depth=depth).fit(X, y),
        }
        best_times(tasks, 3, clock)
        times = best_times(tasks, 100, clock)
        spent = f"{times['ours'] * 1e3:.2f} ms against {times['theirs'] * 1e3:.2f}"
        print(f"569 x 30, depth {depth:2d}: {spent} {verdict(times['theirs'] / times['ours'], SMALL_WANTED)}")


def measure_growth(n: int, depth: int, clock: Callable[[], float]) -> float:
    """Nanoseconds per case and feature to fit one large table."""
    X, y = make_table(n, 20, 2)
    times = best_times({"fit": lambda: GreedyTreeClassifier(max_depth=depth).fit(X, y)}, 2, clock)
    return times["fit"] / X.size * 1e9


def compare_sizes(clock: Callable[[], float]) -> None:
    """Time per row from a million to ten million rows."""
    for depth in DEPTHS:
        small, large = (measure_growth(n, depth, clock) for n in (1_000_000, 10_000_000))
        growth = large / small
        print(
            f"depth {depth:2d}: {small:.2f} ns a value at 1,000,000 x 20, {large:.2f} at 10,000,000 x 20: "
            f"{growth:.2f} times (wanted at most 1.3: {'yes' if growth <= 1.3 else 'NO'})"
        )


def _memory(n: int, n_features: int, n_classes: int, as_frame: bool, answer: Any) -> None:
    X, y = make_table(n, n_features, n_classes)
    table: Any = X
    if as_frame:
        import pandas as pd

        table = pd.DataFrame(X, copy=False)
    GreedyTreeClassifier(max_depth=3).fit(table[:5_000], y[:5_000])
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
    before = resident_bytes()
    GreedyTreeClassifier(max_depth=12).fit(table, y)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    status = Path("/proc/self/status").read_text().splitlines()
    peak = next((int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM")), peak)
    answer.send((peak - before) / X.nbytes)


def measure_memory() -> None:
    """Growth of the resident set during fit, in a process of its own."""
    context = multiprocessing.get_context("spawn")
    for shape in SHAPES:
        for as_frame in (False, True):
            here, there = context.Pipe()
            process = context.Process(target=_memory, args=(*shape, as_frame, there))
            process.start()
            growth = here.recv()
            process.join()
            kind = "frame" if as_frame else "array"
            print(
                f"{shape[0]:,} x {shape[1]} ({kind}): memory grows by {growth:.2f} times the input "
                f"(wanted at most 1.0: {'yes' if growth <= 1 else 'NO'})"
            )


def main(argv: list[str]) -> None:
    """Run the comparison."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks greedy", description=__doc__)
    parser.add_argument("--repeats", type=int, default=2, help="fits of which the shortest counts")
    parser.add_argument("--cpu", action="store_true", help="processor time, for a machine that is busy")
    parser.add_argument("--large", action="store_true", help="also ten million rows (4 GB of memory)")
    options = parser.parse_args(argv)
    clock = time.process_time if options.cpu else time.perf_counter
    with threadpool_limits(1):
        compare_small(clock)
        for shape in SHAPES:
            compare_fits(*shape, clock, options.repeats)
        print()
        if Path("/proc/self/clear_refs").exists():
            measure_memory()
        if options.large:
            compare_sizes(clock)
