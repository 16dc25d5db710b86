"""pystreed on the candidate tests of a search problem, one column a test, in a process of its own."""

from __future__ import annotations

import contextlib
import multiprocessing
import resource
import time
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cstree.tree.problem import TreeProblem
from cstree.tree.search import tree_objectives

# Most memory that the process may ask for.
_MOST_BYTES = 11 * 2**30


@dataclass
class Answer:
    """What the peer found in its time; ``point`` is None where it found no tree."""

    depth: int
    seconds: float
    proven: bool
    point: NDArray[np.float64] | None


class Peer:
    """A problem as the peer wants it: every candidate is a 0/1 column, 1 where branch 0 is taken.

    Features whose subsets have no rows of their own get a column for each category. It may get every tenth
    case only, of each class in turn; its trees are measured on all of them.
    """

    def __init__(self, problem: TreeProblem, every: int = 1) -> None:
        self.problem = problem
        y = problem.dataset.y
        self.cases = np.union1d(np.argsort(y, kind="stable")[::every], np.unique(y, return_index=True)[1])
        # Feature, test and mask of each column.
        self.tests = sorted(self._rows() + self._single_categories())

    def _rows(self) -> list[tuple[int, int, int]]:
        return [(int(j), row, 0) for row, j in enumerate(self.problem.candidates.feature)]

    def _single_categories(self) -> list[tuple[int, int, int]]:
        found = []
        for k, j in enumerate(self.problem.arrays.subset_feature.tolist()):
            for side in (0, 1) if self.problem.dataset.schema[j].has_missing else (0,):
                code = len(self.problem.arrays.bits) + 2 * k + side
                groups = np.unique(self.problem.category_groups[j])
                found += [(j, code, 1 << int(group)) for group in groups]
        return found

    def columns(self) -> NDArray[np.intc]:
        """Columns of the peer's cases, shape (cases, tests)."""
        problem = self.problem
        columns = np.empty((len(self.cases), len(self.tests)), dtype=np.intc)
        for place, (j, test, mask) in enumerate(self.tests):
            taken = self._taken(j, test, mask)
            columns[:, place] = taken[problem.dataset.codes[j, self.cases]]
        return columns

    def _taken(self, j: int, test: int, mask: int) -> NDArray[np.bool_]:
        """Whether branch 0 is taken, by code; the last code is that of missing values."""
        problem, candidates = self.problem, self.problem.candidates
        known = np.arange(problem.dataset.schema[j].n_bins)
        if test >= len(candidates):
            left = bool((test - len(problem.arrays.bits)) & 1)
            taken = [mask >> int(group) & 1 for group in problem.category_groups[j]]
        elif candidates.cut[test] >= 0:
            left, taken = bool(candidates.missing_left[test]), known <= candidates.cut[test]
        else:
            left = bool(candidates.missing_left[test])
            taken = [int(candidates.subset[test]) >> code & 1 for code in known.tolist()]
        return np.append(np.asarray(taken, dtype=np.bool_), left)

    def costs(self) -> Any:
        """Costs as the peer takes them; the first test of a group costs what the group shares, too."""
        from pystreed import CostSpecifier, FeatureCostSpecifier

        costs = self.problem.costs
        needed = {j: dict(costs.newly_paid(j, set())) for j, _, _ in self.tests}
        steps = [step for own in needed.values() for step in own]
        owner = [j for j, _, _ in self.tests]
        prices = []
        for j, own in needed.items():
            shared = [step for step in own if steps.count(step) > 1]
            group = f"group {shared[0]}" if shared else f"alone {j}"
            full = sum(own.values())
            discount = full - sum(own[step] for step in shared)
            first, last = owner.index(j), len(owner) - 1 - owner[::-1].index(j)
            prices.append(FeatureCostSpecifier(full, discount, group, first, last))
        return CostSpecifier(costs.matrix.tolist(), prices)

    def solve(self, depth: int, seconds: float) -> Answer:
        """Fit for some time; the tree found is measured with our costs.

        The limit is not always heeded: after twice that in processor time the process is stopped.
        """
        before = _seconds_of_children()
        context = multiprocessing.get_context("fork")
        here, there = context.Pipe(duplex=False)
        process = context.Process(target=self._solve, args=(depth, seconds, there))
        process.start()
        there.close()
        found = None
        with contextlib.suppress(EOFError):  # it was stopped, or out of memory
            found = here.recv()
        process.join()
        if found is None:
            return Answer(depth, _seconds_of_children() - before, False, None)
        tests, masks, used, proven = found
        if not tests:
            return Answer(depth, used, False, None)
        tree = self.problem.tree(np.array(tests, np.int32), np.array(masks, np.uint64))
        point = tree_objectives(tree, self.problem, ("misclassification_cost", "test_cost"))
        return Answer(depth, used, proven, np.array(point))

    def _solve(self, depth: int, seconds: float, pipe: Any) -> None:
        from pystreed import STreeDCostSensitiveClassifier

        resource.setrlimit(resource.RLIMIT_AS, (_MOST_BYTES, _MOST_BYTES))
        resource.setrlimit(resource.RLIMIT_CPU, (int(2 * seconds), int(2 * seconds) + 5))
        columns, y, costs = self.columns(), self.problem.dataset.y[self.cases].astype(np.int32), self.costs()
        model = STreeDCostSensitiveClassifier(max_depth=depth, min_leaf_node_size=1, time_limit=seconds)
        begin = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                model.fit(columns, y, costs)
            except MemoryError:
                return
        used = time.process_time() - begin
        tests: list[int] = []
        masks: list[int] = []
        proven = model.is_fitted() and model.fit_result.is_optimal()
        pending = [model.get_tree()] if model.is_fitted() else []
        while pending:
            node = pending.pop()
            leaf = node.is_leaf_node()
            _, test, mask = (0, -1, 0) if leaf else self.tests[node.feature]
            tests.append(test)
            masks.append(mask)
            pending += [] if leaf else [node.left_child, node.right_child]  # 1 goes right, our branch 0
        pipe.send((tests, masks, used, proven))


def _seconds_of_children() -> float:
    """Processor time of all child processes that have ended."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
