"""Trees behind the points of a solved front, labelled on the training cases."""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cstree.exact._rebuild_kernels import count_nodes, unfold
from cstree.exact.arrays import Candidates, CaseArrays
from cstree.exact.state import Solved
from cstree.tree._bit_kernels import GROUPED
from cstree.tree.evaluation import least_costly
from cstree.tree.problem import TreeProblem
from cstree.tree.tree import Tree

__all__ = ["TreeBuilder"]


class Cases(NamedTuple):
    """Those of ``CaseArrays`` that say what a candidate does to the cases of a node."""

    bits: NDArray[np.uint64]
    candidate_start: NDArray[np.int32]
    words: NDArray[np.uint64]
    group_start: NDArray[np.int64]
    saving_start: NDArray[np.int64]
    saving_answer: NDArray[np.int64]
    saving: NDArray[np.int_]
    case_saving: NDArray[np.int_]
    kind: int
    minimum: int


class Fronts(NamedTuple):
    """Those of ``Solved`` that lead from a point to its tree."""

    start: NDArray[np.int64]
    kid_start: NDArray[np.int64]
    points: NDArray[np.int64]
    kids: NDArray[np.int64]


class Room(NamedTuple):
    """Scratch for one tree."""

    stack: NDArray[np.int64]  # (levels, 5) entry, point, depth, test above, branch taken there
    words: NDArray[np.uint64]  # (levels, W) cases of a node at each depth
    saved: NDArray[np.int64]  # (M + 1,)


class TreeBuilder:
    """Builds the trees of a problem's fronts, many at a time.

    Parameters
    ----------
    problem : TreeProblem
    arrays : CaseArrays
    candidates : Candidates
    max_depth : int
    """

    def __init__(
        self, problem: TreeProblem, arrays: CaseArrays, candidates: Candidates, max_depth: int
    ) -> None:
        self.problem = problem
        self.arrays = arrays
        self.candidates = candidates
        self.most_nodes = 2 ** (max_depth + 1)
        self.cases = Cases(*(getattr(arrays, name) for name in Cases._fields))
        self.room = Room(
            np.zeros((2 * max_depth + 4, 5), np.int64),
            np.zeros((max_depth + 2, len(arrays.words)), np.uint64),
            np.zeros(arrays.n_answers + 1, np.int64),
        )

    def preorders(self, solved: Solved, entry: int) -> list[NDArray[np.int32]]:
        """Candidates of every tree of a solved front in preorder, -1 for leaves; entry -1: one leaf."""
        fronts = Fronts(*(getattr(solved, name) for name in Fronts._fields))
        n_nodes = np.zeros(int(solved.length[entry]) if entry >= 0 else 1, np.int64)
        out = np.empty((len(n_nodes), self.most_nodes), np.int32)
        unfold(self.cases, fronts, self.room, entry, out, n_nodes)
        return [row[:n] for row, n in zip(out, n_nodes.tolist(), strict=True)]

    def trees(self, preorders: list[NDArray[np.int32]]) -> list[Tree]:
        """Build the trees with supports, weights, label costs and answers."""
        # Weights may be rounded for the search, and categories need a look at every node's cases.
        if self.arrays.kind != GROUPED or self.problem.dataset.weight is not None:
            return [self._labelled(tests) for tests in preorders]
        plain = [bool(self._is_numeric[tests].all()) for tests in preorders]
        together = iter(self._counted([t for t, is_plain in zip(preorders, plain, strict=True) if is_plain]))
        return [
            next(together) if is_plain else self._labelled(tests)
            for tests, is_plain in zip(preorders, plain, strict=True)
        ]

    def _labelled(self, tests: NDArray[np.int32]) -> Tree:
        """One tree, by way of the cases."""
        split = tests >= 0
        if not split.any():
            return self.problem.tree(tests, np.zeros(1, np.uint64))
        return self.problem.tree(
            np.where(split, self.candidates.test[tests], -1).astype(np.int32),
            np.where(split, self.candidates.mask[tests], 0).astype(np.uint64),
        )

    def _counted(self, preorders: list[NDArray[np.int32]]) -> list[Tree]:
        """Trees of numeric splits on unweighted cases, by way of the bits: all their nodes at once."""
        if not preorders:
            return []
        starts = np.cumsum([0, *map(len, preorders)])
        tests = np.concatenate(preorders)
        counts = np.zeros((len(tests), len(self.arrays.group_weight)), np.int64)
        size = np.zeros(len(tests), np.int32)
        count_nodes(self.cases, self.room, starts, tests, counts, size)
        columns = self._columns(tests, counts, size)
        for column in columns.values():
            column.flags.writeable = False
        return [
            Tree.of_arrays({name: column[start:stop] for name, column in columns.items()})
            for start, stop in pairwise(starts.tolist())
        ]

    def _columns(
        self, tests: NDArray[np.int32], counts: NDArray[np.int64], size: NDArray[np.int32]
    ) -> dict[str, NDArray]:
        """Arrays of the trees' nodes, one tree after the other."""
        dataset, costs = self.problem.dataset, self.problem.costs
        split = tests >= 0
        table = self._splits
        weight = counts.astype(np.float64) @ np.eye(dataset.n_classes)[self.problem.arrays.group_class]
        label_cost = weight @ costs.matrix
        support = counts.sum(axis=1)
        nodes = np.flatnonzero(split)
        heavier = np.zeros(len(tests), np.int32)
        heavier[nodes] = support[nodes + 1] < support[nodes + 1 + size[nodes + 1]]
        missing = np.where(table["has_missing"][tests], table["missing_branch"][tests], heavier)
        return {
            "feature": table["feature"][tests],
            "threshold": table["threshold"][tests],
            "n_branches": np.where(split, 2, 0).astype(np.int32),
            "size": size,
            "missing_branch": np.where(split, missing, 0).astype(np.int32),
            "table_start": np.full(len(tests), -1, np.int32),
            "branch_of_category": np.empty(0, np.int32),
            "answer": least_costly(label_cost),
            "support": support,
            "class_weight": weight,
            "label_cost": label_cost,
        }

    @cached_property
    def _splits(self) -> dict[str, NDArray]:
        """Feature, threshold and missing branch of each candidate; the last entry is for leaves."""
        schema, listed = self.problem.dataset.schema, self.problem.candidates
        features = self.candidates.feature.tolist()
        numeric = self._is_numeric[:-1]
        rows = np.where(numeric, self.candidates.test, len(listed))
        cuts = np.append(listed.cut, 0)[rows].tolist()
        thresholds = [
            schema[j].cuts[cut] if is_numeric else np.nan
            for j, cut, is_numeric in zip(features, cuts, numeric.tolist(), strict=True)
        ]
        left = np.append(listed.missing_left, False)[rows]
        return {
            "feature": np.array([*features, -1], np.int32),
            "threshold": np.array([*thresholds, np.nan], np.float64),
            "missing_branch": np.append(~left, False).astype(np.int32),
            "has_missing": np.array([schema[j].has_missing for j in features] + [False]),
        }

    @cached_property
    def _is_numeric(self) -> NDArray[np.bool_]:
        """Whether a candidate is a cut; the last entry is for leaves."""
        schema = self.problem.dataset.schema
        return np.array([schema[j].kind == "numeric" for j in self.candidates.feature.tolist()] + [True])
