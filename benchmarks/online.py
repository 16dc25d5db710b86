"""Online learners beside scikit-learn's SGD and river's linear models; one thread.

Goals: a block of 100,000 x 50 not slower than ``SGDClassifier.partial_fit``; one case at a time not slower
than river's linear models; 13,765 x 50,000 float32 in one pass in at most 5 s (``--large``; the paper needed
up to 200 s).
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.linear_model import SGDClassifier
from threadpoolctl import threadpool_limits

from benchmarks.timing import best_times, verdict
from cstree import CostModel, CSOCClassifier, OCSCAClassifier

COSTS = CostModel.binary(false_positive=1, false_negative=5)
SOURCE_SIZE = (13_765, 50_000)
WANTED_SECONDS = 5.0
BLOCK_BYTES = 200_000_000


def learners() -> dict[str, Any]:
    """Fresh learners, the peer last."""
    return {
        "OCSCA": OCSCAClassifier(COSTS),
        "OCSCA, averaged": OCSCAClassifier(COSTS, average=True),
        "CSOGD-II": CSOCClassifier(COSTS),
        "SGDClassifier": SGDClassifier(random_state=0),
    }


def compare_blocks(repeats: int, clock: Callable[[], float]) -> None:
    """The same block again and again, dense and sparse."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100_000, 50))
    y = (X[:, :5].sum(axis=1) + rng.standard_normal(100_000) > 1).astype(np.int64)
    sparse = csr_array(X * (rng.random(X.shape) < 0.1))
    for kind, table in {"float64": X, "float32": X.astype(np.float32), "CSR, 10 %": sparse}.items():
        made = learners()
        for model in made.values():
            model.partial_fit(table, y, classes=[0, 1])
        times = best_times(
            {name: (lambda model=model: model.partial_fit(table, y)) for name, model in made.items()},  # noqa: B023
            repeats,
            clock,
        )
        peer = times.pop("SGDClassifier")
        print(f"100,000 x 50, {kind}: SGDClassifier.partial_fit {peer * 1e3:.1f} ms")
        for name, seconds in times.items():
            print(f"  {name:16s} {seconds * 1e3:6.1f} ms  faster by {verdict(peer / seconds, 1.0)}")


def wide_blocks(n: int, d: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Rows of length about 1, made a few at a time; the class follows a tenth of the columns."""
    rng = np.random.default_rng(0)
    size = max(1, BLOCK_BYTES // (4 * d))
    for start in range(0, n, size):
        X = rng.standard_normal((min(size, n - start), d), dtype=np.float32)
        X /= np.float32(np.sqrt(d))
        yield X, (X[:, : d // 10].sum(axis=1) > 0).astype(np.int64)


def measure_wide(n: int, d: int, clock: Callable[[], float]) -> None:
    """One pass over a wide table, whose blocks are not kept."""
    made = learners()
    del made["OCSCA, averaged"]
    spent = dict.fromkeys(made, 0.0)
    for model in made.values():  # compiling is not learning
        tiny = np.eye(2, d, dtype=np.float32)
        model.partial_fit(tiny, [0, 1], classes=[0, 1])
    for X, y in wide_blocks(n, d):
        for name, model in made.items():
            start = clock()
            model.partial_fit(X, y)
            spent[name] += clock() - start
    print(f"\n{n:,} x {d:,} float32, one pass:")
    share = n / SOURCE_SIZE[0] * d / SOURCE_SIZE[1]
    for name, seconds in spent.items():
        print(f"  {name:16s} {seconds:6.2f} s")
        if name != "SGDClassifier":
            limit = WANTED_SECONDS * share
            print(f"    wanted at most {limit:.2f} s: {'yes' if seconds <= limit else 'NO'};", end=" ")
            print(f"faster than SGD by {spent['SGDClassifier'] / seconds:.2f}x")


def compare_single_cases(n: int, repeats: int, clock: Callable[[], float]) -> None:
    """Predict, then learn, case by case, in river."""
    try:
        from river import linear_model
    except ImportError:
        print("\nriver is not installed: pip install 'cstree[river]'")
        return
    from cstree.online.river import CSOC, OCSCA

    print("\none case at a time in river, microseconds to predict and learn:")
    for d in (5, 10, 50):
        rng = np.random.default_rng(0)
        rows = rng.standard_normal((n, d))
        cases = [{f"x{j}": v for j, v in enumerate(row)} for row in rows.tolist()]
        labels = (rows[:, 0] + 0.3 * rng.standard_normal(n) > 0).tolist()
        models = (
            *(linear_model.LogisticRegression(), linear_model.Perceptron(), linear_model.PAClassifier()),
            *(linear_model.ALMAClassifier(), OCSCA(COSTS), CSOC(COSTS)),
        )
        tasks = {
            type(model).__name__: (lambda model=model: _stream(model.clone(), cases, labels))  # noqa: B023
            for model in models
        }
        times = {name: seconds / n * 1e6 for name, seconds in best_times(tasks, repeats, clock).items()}
        print(f"  {d:2d} features: " + ", ".join(f"{name} {spent:.1f}" for name, spent in times.items()))
        fastest = min(spent for name, spent in times.items() if name not in ("OCSCA", "CSOC"))
        for name in ("OCSCA", "CSOC"):
            print(f"    {name:6s} beside the fastest {verdict(fastest / times[name], 1.0)}")


def _stream(model: Any, cases: list[dict[str, float]], labels: list[bool]) -> None:
    for x, y in zip(cases, labels, strict=True):
        model.predict_one(x)
        model.learn_one(x, y)


def main(argv: list[str]) -> None:
    """Run the comparison."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks online", description=__doc__)
    parser.add_argument("--repeats", type=int, default=7, help="runs of which the shortest counts")
    parser.add_argument("--cpu", action="store_true", help="processor time, for a machine that is busy")
    parser.add_argument("--large", action="store_true", help="the paper's 13,765 x 50,000 (0.5 GB of memory)")
    options = parser.parse_args(argv)
    clock = time.process_time if options.cpu else time.perf_counter
    with threadpool_limits(1):
        compare_blocks(options.repeats, clock)
        measure_wide(*(SOURCE_SIZE if options.large else (2_000, 10_000)), clock)
        compare_single_cases(3_000, options.repeats, clock)
