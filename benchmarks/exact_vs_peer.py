"""Complete fronts against pystreed, whose optimal trees for weighted sums give the supported points only.

Both in one process, from arrays of numbers. Ours: `fit` from the table to the labelled trees of the
complete front. The peer: the time of its `fit` alone, on columns made binary before, summed over a
dichotomic sweep (extremes first, then between neighbours the weights normal to their connection, until
nothing new appears). Wanted: at depth 4 a fifteenth of its time on each set and a thirtieth in the geometric
mean, at depth 5 a twentieth on each. Needs ``pip install pystreed`` and the sets of ``_streed.py``.
"""

from __future__ import annotations

import argparse
import importlib.util
import time
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import _streed
from benchmarks._streed_peer import PeerProblem
from benchmarks.timing import best_times, verdict
from cstree.evolution.classifier import ParetoTreeClassifier
from cstree.exact.search import ExactSearch
from cstree.tree.search import reference_point

WANTED = {4: 15.0, 5: 20.0}
WANTED_MEAN = {4: 30.0}


@dataclass
class Peer:
    """The supported front by repeated weighted sums.

    ``binary`` are 0/1 columns, which ``problem`` knows.
    """

    binary: NDArray[np.intc]
    y: NDArray[np.int32]
    problem: PeerProblem
    depth: int
    seconds: float = 0.0
    calls: int = 0
    sums: list[tuple[float, float, float]] = field(default_factory=list)

    @classmethod
    def of(cls, table: _streed.Table, depth: int) -> Peer:
        """Binary columns of a table: its own, or one a cut."""
        problem = table.problem(depth)
        codes, candidates = problem.dataset.codes, problem.candidates
        owner_of = {c: name for name, about in table.attributes.items() for c in about["columns"]}
        binary = codes[candidates.feature] > candidates.cut[:, None]
        owner = [owner_of[f"x{j}"] for j in candidates.feature]
        return cls(
            np.ascontiguousarray(binary.T, dtype=np.intc),
            table.y.astype(np.int32),
            PeerProblem(np.array(table.matrix, dtype=np.float64), table.attributes, owner),
            depth,
        )

    def front(self) -> list[tuple[float, float]]:
        """Supported points, sorted."""
        matrix = self.problem.matrix
        leaf = min(matrix[self.y, answer].mean() for answer in range(len(matrix)))
        first, last = self.solve(1.0, 1e-6), (float(leaf), 0.0)
        points = [first, last]
        pending = [(first, last)]
        while pending:
            a, b = pending.pop()
            w1, w2 = a[1] - b[1], b[0] - a[0]
            if min(w1, w2) <= 0:
                continue
            w1, w2 = w1 / max(w1, w2), w2 / max(w1, w2)
            found = self.solve(w1, w2)
            bound = w1 * a[0] + w2 * a[1]
            if w1 * found[0] + w2 * found[1] < bound * (1 - 1e-9) and found not in points:
                points.append(found)
                pending += [(a, found), (found, b)]
        return sorted(points)

    def solve(self, w1: float, w2: float) -> tuple[float, float]:
        """Objectives of the peer's tree of least ``w1 * f1 + w2 * f2``."""
        specifier = self.problem.specifier(w1, w2)
        started = time.perf_counter()
        model = self.problem.fit(self.binary, self.y, self.depth, specifier)
        self.seconds += time.perf_counter() - started
        self.calls += 1
        wrong, tests = self.problem.pay(model.get_tree(), self.binary, self.y)
        point = float(wrong.mean()), float(tests.mean())
        self.sums.append((w1, w2, w1 * point[0] + w2 * point[1]))
        return point


@dataclass
class Row:
    """One set at one depth."""

    name: str
    points: int
    volume: float
    fit: float
    search: float
    peer_seconds: float = np.nan
    peer_points: int = 0
    peer_on_front: int = 0
    largest_gap: float = np.nan

    @property
    def ratio(self) -> float:
        """How many times longer the peer took."""
        return self.peer_seconds / self.fit


def measure(name: str, table: _streed.Table, depth: int, repeats: int, with_peer: bool) -> Row:
    """Time both on one set and compare their fronts."""
    model = ParetoTreeClassifier(
        table.costs(),
        search="exact",
        max_depth=depth,
        min_support=1,
        max_bins=table.max_bins,
        max_leaf_nodes=2**depth,
    )
    problem = table.problem(depth)
    seconds = best_times(
        {
            "fit": lambda: model.fit(table.X, table.y),
            "search": lambda: ExactSearch().run(table_problem(problem)),
        },
        repeats,
    )
    front = model.front_
    if not front.complete:
        raise AssertionError(f"{name}: the front is not complete")
    reference = reference_point(problem)
    volume = front.hypervolume(reference) / reference.prod()
    row = Row(name, len(front), float(volume), seconds["fit"], seconds["search"])
    known = _streed.KNOWN_FRONTS.get((name, depth))
    if known is not None and (row.points, round(row.volume, 3)) != known:
        raise AssertionError(f"{name}, depth {depth}: {row.points} points, {row.volume:.3f}; known: {known}")
    if with_peer:
        compare(row, front.objectives, Peer.of(table, depth))
    return row


def table_problem(problem: Any) -> Any:
    """The same problem without what it computed before."""
    return type(problem)(
        problem.dataset, problem.costs, problem.max_depth, problem.min_support, problem.max_leaf_nodes
    )


def compare(row: Row, ours: NDArray[np.float64], peer: Peer) -> None:
    """Time the peer; it must never beat the front."""
    found = peer.front()
    row.peer_seconds, row.peer_points = peer.seconds, len(found)
    for f1, f2 in found:
        no_worse = (ours <= np.array([f1, f2]) * (1 + 1e-9) + 1e-9).all(axis=1)
        if not no_worse.any():
            raise AssertionError(f"{row.name}: the peer's point ({f1}, {f2}) is not dominated")
        near = np.abs(ours - (f1, f2)) <= 1e-4 * ours.max(axis=0)
        row.peer_on_front += bool(near.all(axis=1).any())
    gaps = []
    for w1, w2, theirs in peer.sums:
        best = float((ours @ (w1, w2)).min())
        if theirs < best * (1 - 1e-9):
            raise AssertionError(f"{row.name}: the peer's sum {theirs} is below ours, {best}")
        gaps.append(theirs / best - 1 if best > 0 else 0.0)
    row.largest_gap = max(gaps)


def show(depth: int, rows: list[Row]) -> None:
    """Print a table and the verdicts."""
    print(
        f"\ndepth {depth}\n{'set':15}{'points':>7}{'volume':>8}{'fit s':>10}{'search s':>10}{'peer s':>9}"
        f"{'its points':>12}{'on ours':>9}{'its gap':>9}"
    )
    for row in rows:
        print(
            f"{row.name:15}{row.points:7}{row.volume:8.3f}{row.fit:10.4f}{row.search:10.4f}"
            f"{row.peer_seconds:9.3f}{row.peer_points:12}{row.peer_on_front:9}{row.largest_gap:9.1e}"
        )
    ratios = [row.ratio for row in rows if np.isfinite(row.ratio)]
    if not ratios:
        return
    for row in rows:
        wanted = WANTED.get(depth)
        print(f"  {row.name:15} {verdict(row.ratio, wanted) if wanted else f'{row.ratio:7.2f}x'}")
    mean = float(np.exp(np.mean(np.log(ratios))))
    wanted = WANTED_MEAN.get(depth)
    print(f"  {'geometric mean':15} {verdict(mean, wanted) if wanted else f'{mean:7.2f}x'}")


def main(argv: list[str]) -> None:
    """Measure every set at the depths asked for."""
    parser = argparse.ArgumentParser(prog="benchmarks exact_vs_peer")
    parser.add_argument("--depths", type=int, nargs="+", default=[3, 4])
    parser.add_argument("--sets", nargs="+", default=[*_streed.LEVELS, "breast_cancer"])
    parser.add_argument("--repeats", type=int, default=5, help="of ours; the peer runs once")
    parser.add_argument("--alone", action="store_true", help="do not run the peer")
    options = parser.parse_args(argv)
    if not _streed.is_there():
        print(f"Skipped: the sets are not in {_streed.FOLDER.name}/ beside the repository.")
        return
    with_peer = not options.alone and importlib.util.find_spec("pystreed") is not None
    if not with_peer and not options.alone:
        print("pystreed is not installed: ours alone.")
    for depth in options.depths:
        rows = []
        for name in options.sets:
            if name == "breast_cancer":
                if depth > 4:
                    continue
                table = _streed.breast_cancer()
            else:
                table = _streed.load(name, _streed.LEVELS[name])
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                rows.append(measure(name, table, depth, options.repeats, with_peer))
        show(depth, rows)
