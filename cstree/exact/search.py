"""Complete Pareto fronts of small trees."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cstree.exact._front_kernels import F1, F2
from cstree.exact._kernels import (
    DEPTH,
    DONE,
    ENTRIES,
    MORE,
    NEEDS_SOLVED,
    ROOT,
    SOLVED,
    TOP,
    USED,
    USED_KIDS,
    WORK,
    advance,
    keep_root,
)
from cstree.exact._layout_kernels import CURSOR, LANES_USED, OFFSET
from cstree.exact.arrays import build_exact_arrays
from cstree.exact.state import make_state, with_larger_fronts, with_more_solved
from cstree.exact.trees import TreeBuilder
from cstree.pareto._kernels import hypervolume_2d, nondominated
from cstree.pareto.front import Front
from cstree.tree.evaluation import evaluate
from cstree.tree.problem import TreeProblem
from cstree.tree.search import Progress, SearchInterrupted, reference_point
from cstree.tree.tree import Tree

__all__ = ["ExactSearch"]

# A compiled call runs about this long, so that progress and Ctrl-C are seldom late.
_SECONDS_PER_CALL = 0.1
_FIRST_WORK = 1 << 16


@dataclass
class ExactSearch:
    """The complete Pareto front of binary trees up to a depth, by dynamic programming on bit sets.

    The front holds every trade-off of misclassification cost and test cost that a tree over the candidate
    tests reaches, also those that no weighted sum of the two finds. It takes time that grows about with the
    number of candidates to the power of the depth less one: depth 4 to 5 on some hundred candidates.

    Parameters
    ----------
    time_budget : float or None, default=None
        Seconds, compiling not counted. When they are over, the front so far is returned, with
        ``complete=False``.
    work_limit : int or None, default=None
        The same after so much work, which is the same on every machine: about 5e7 units take a second on some
        hundred cases, 1e9 on many thousands.
    memory_budget : float or None, default=4e9
        Bytes for the fronts of subproblems; the same when they are used up.
    subset_limit : int, default=511
        Most subsets of a categorical feature that are tried (10 categories have 511).

    Notes
    -----
    ``Front.info`` says what the front is complete for: ``depth`` and ``candidates`` as wanted;
    ``complete_depth``, the depth up to which no trade-off is missing; and, if the search was stopped at
    depth ``complete_depth + 1``, how many of the ``root_tests`` were done (``root_tests_done``): trees
    of that depth which begin with one of them are on the front or beaten.

    Misclassification costs, prices and weights of up to nine decimals are summed as integers: the front is
    exact, points are equal when they are equal. Others are rounded to about 1e-9 of their greatest sum, or
    finer (``info["rounded"]``); the trees are then evaluated with the figures as given.

    References
    ----------
    The recursion is that of optimal trees for several objectives, as in van der Linden, de Weerdt and
    Demirović, "Necessary and Sufficient Conditions for Optimal Decision Trees using Dynamic Programming"
    (NeurIPS 2023), with prices that depend on the path.
    """

    time_budget: float | None = None
    work_limit: int | None = None
    memory_budget: float | None = 4e9
    subset_limit: int = 511

    def run(
        self,
        problem: TreeProblem,
        rng: np.random.Generator | None = None,
        callback: Callable[[Progress], None] | None = None,
    ) -> Front[Tree]:
        """Search and return the front.

        Parameters
        ----------
        problem : TreeProblem
        rng : numpy.random.Generator, optional
            Not used: there is no chance in it.
        callback : callable, optional
            Called with a :class:`~cstree.tree.search.Progress` several times a second.

        Returns
        -------
        Front

        Raises
        ------
        SearchInterrupted
            On Ctrl-C; its ``front`` holds what was found.
        ValueError
            The limit on leaves could bind, paths have a bound, a feature has too many subsets, or a parameter
            is out of range.
        """
        self._validate(problem)
        run = _Run(self, problem)
        try:
            run.search(callback)
        except KeyboardInterrupt:
            run.stopped_by = "interruption"
            raise SearchInterrupted(run.front()) from None
        return run.front()

    def _validate(self, problem: TreeProblem) -> None:
        if self.time_budget is not None and not self.time_budget >= 0:
            raise ValueError(f"time_budget must not be negative, got {self.time_budget}.")
        if self.work_limit is not None and not self.work_limit >= 0:
            raise ValueError(f"work_limit must not be negative, got {self.work_limit}.")
        if self.memory_budget is not None and not self.memory_budget > 0:
            raise ValueError(f"memory_budget must be positive, got {self.memory_budget}.")
        if self.subset_limit < 1:
            raise ValueError(f"subset_limit must be at least 1, got {self.subset_limit}.")
        if np.isfinite(problem.max_test_cost):
            raise ValueError(
                "the exact search can't heed max_test_cost; leave it out and drop the trees of the front "
                "whose paths cost too much, or search with NNIA."
            )
        most = min(2 ** min(problem.max_depth, 30), problem.dataset.n_samples // max(problem.min_support, 1))
        if problem.max_leaf_nodes < most:
            raise ValueError(
                f"max_leaf_nodes={problem.max_leaf_nodes} could bind trees of depth {problem.max_depth}, "
                f"which the exact search can't heed; raise it to {most}, or lower max_depth."
            )


class _Run:
    """One search under way."""

    def __init__(self, settings: ExactSearch, problem: TreeProblem) -> None:
        self.settings = settings
        self.problem = problem
        # With as many splits on a path as cases but one, every case has a leaf of its own.
        self.max_depth = min(problem.max_depth, max(problem.dataset.n_samples - 1, 0))
        self.arrays, self.units, self.candidates = build_exact_arrays(problem, settings.subset_limit)
        self._require_memory()
        self.state = make_state(self.arrays, self.max_depth)
        self.counters = self.state.control.counters
        self.builder = TreeBuilder(problem, self.arrays.cases, self.candidates, self.max_depth)
        self.entry = -1  # of the last complete front; -1: a leaf
        self.complete_depth = -1
        self.stopped_by: str | None = None
        self.seconds = 0.0
        self._reference: NDArray[np.float64] | None = None

    def _require_memory(self) -> None:
        """Refuse tables whose bits alone, a copy for each level, exceed the budget."""
        budget, bits = self.settings.memory_budget, 2 * self.arrays.cases.bits.nbytes
        needed = max(self.max_depth, 2) * bits
        if budget is not None and needed > budget:
            raise ValueError(
                f"{self.problem.dataset.n_samples} cases and {len(self.candidates.feature)} candidate tests "
                f"need {needed / 1e9:.1f} GB at depth {self.max_depth}, more than memory_budget={budget:g} "
                "bytes; use fewer bins (max_bins), a smaller sample, or search='nnia'."
            )

    def search(self, callback: Callable[[Progress], None] | None) -> None:
        """Solve depth after depth, so that a search which is stopped knows a complete front at least."""
        self._advance(0)  # compiles, so that the clock below counts searching alone
        begin = reported = time.perf_counter()
        work = _FIRST_WORK
        for depth in self._depths():
            self.counters[DEPTH] = depth
            outcome = MORE
            while outcome != DONE:
                started = time.perf_counter()
                outcome = self._advance(self._work_left(work))
                now = time.perf_counter()
                self.seconds = now - begin
                if outcome == DONE:
                    self.complete_depth = depth
                    self.entry = int(self.counters[ROOT])
                elif outcome == MORE:
                    work = self._next_work(work, now - started)
                stopped = self._is_stopped()
                if callback is not None and (
                    self.is_complete or stopped or now - reported >= _SECONDS_PER_CALL
                ):
                    callback(self._progress())
                    reported = now
                if stopped:
                    return

    def _depths(self) -> list[int]:
        return [*range(min(2, self.max_depth), self.max_depth), self.max_depth]

    def _advance(self, work: int) -> int:
        outcome = int(advance(self.arrays, self.state, work))
        if outcome == NEEDS_SOLVED:
            self._make_room()
        elif outcome not in (MORE, DONE):
            self.state = with_larger_fronts(self.state)
        return outcome

    def _make_room(self) -> None:
        larger = with_more_solved(
            self.state.solved,
            int(self.counters[ENTRIES]),
            int(self.counters[USED]),
            int(self.counters[USED_KIDS]),
            3 * self.state.fronts.front.shape[1],
        )
        budget = self.settings.memory_budget
        if budget is not None and sum(array.nbytes for array in larger) > budget:
            self.stopped_by = "memory_budget"
        else:
            self.state = self.state._replace(solved=larger)

    def _is_stopped(self) -> bool:
        budget = self.settings.time_budget
        if self.is_complete:
            return False
        if self.stopped_by is None and budget is not None and self.seconds >= budget:
            self.stopped_by = "time_budget"
        if self.stopped_by is None and self._work_left(1) <= 0:
            self.stopped_by = "work_limit"
        return self.stopped_by is not None

    def _work_left(self, work: int) -> int:
        """Cut a portion of work to what the limit leaves."""
        limit = self.settings.work_limit
        return work if limit is None else min(work, int(limit - self.counters[WORK]))

    def _next_work(self, work: int, seconds: float) -> int:
        allowed = _SECONDS_PER_CALL
        if self.settings.time_budget is not None:
            allowed = min(allowed, max(self.settings.time_budget - self.seconds, 0.0))
        return max(1, min(int(work * allowed / max(seconds, 1e-6)), 4 * work))

    def _progress(self) -> Progress:
        """Where the search stands: the last complete front, and the root's at the depth at work."""
        if self._reference is None:
            self._reference = reference_point(self.problem)
        points = np.concatenate([self._objectives(f1, f2) for f1, f2 in self._sums()])
        points = points[nondominated(points)]
        box = float(self._reference.prod())
        share = hypervolume_2d(points, self._reference) / box if box > 0 else np.nan
        done, total = self._root_tests()
        return Progress(done, int(self.counters[SOLVED]), len(points), float(share), self.seconds, total)

    def _at_work(self) -> bool:
        """Whether the root's front holds more than the last complete one may."""
        return int(self.counters[TOP]) > 0

    def _root_tests(self) -> tuple[int, int]:
        """Root tests that are done at the depth at work, and their number."""
        size, first = self.state.frames.size[1], self.state.frames.first[1]
        total = int(size[LANES_USED])
        if not self._at_work():
            return total, total
        done = self.state.descent.order[1, : size[CURSOR]]
        return int((first[done + 1] - first[done]).sum() + size[OFFSET]), total

    def _sums(self) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Both objectives of the fronts known so far, as integers."""
        total = self.arrays.cases.total
        leaf = np.array([total[-1] - total[:-1].max()], np.int64)
        sums = [(leaf, np.zeros(1, np.int64))]
        if self.entry >= 0:
            start = self.state.solved.start[self.entry]
            points = self.state.solved.points[start : start + self.state.solved.length[self.entry]]
            sums.append((points[:, F1], points[:, F2]))
        if self._at_work():
            points = self.state.fronts.front[1, : self.state.fronts.n_points[1]]
            sums.append((points[:, F1], points[:, F2]))
        return sums

    def _objectives(self, f1: NDArray[np.int64], f2: NDArray[np.int64]) -> NDArray[np.float64]:
        """Averages per case of integer sums, shape (points, 2)."""
        total = self.problem.dataset.total_weight
        cost = (f1 * self.units.cost + self.units.unavoidable) / total
        return np.column_stack([cost, f2 * self.units.price / total])

    def front(self) -> Front[Tree]:
        """Build the trees of all fronts known so far; ``Front`` drops what is dominated."""
        sums = self._sums()
        done, total = self._root_tests()
        preorders = [np.array([-1], np.int32)]
        if self.entry >= 0:
            preorders += self.builder.preorders(self.state.solved, self.entry)
        if self._at_work():
            entry = int(keep_root(self.state))
            preorders += self.builder.preorders(self.state.solved, entry)
        points = np.concatenate([self._objectives(f1, f2) for f1, f2 in sums])
        kept = np.flatnonzero(nondominated(points))
        trees = self.builder.trees([preorders[i] for i in kept])
        if not self.units.exact:
            costs = [evaluate(tree, self.problem.dataset, self.problem.costs) for tree in trees]
            points[kept] = [(c.misclassification_cost, c.test_cost) for c in costs]
        info: dict[str, Any] = {
            "search": "exact",
            "depth": self.problem.max_depth,
            "candidates": len(self.candidates.feature),
            "complete_depth": self.problem.max_depth if self.is_complete else self.complete_depth,
            "root_tests": total,
            "root_tests_done": done,
            "subproblems": int(self.counters[SOLVED]),
            "seconds": self.seconds,
            "stopped_by": self.stopped_by,
            "rounded": not self.units.exact,
        }
        return Front(points[kept], trees, complete=self.is_complete, info=info)

    @property
    def is_complete(self) -> bool:
        """Whether no trade-off of the wanted depth is missing."""
        return self.complete_depth == self.max_depth
