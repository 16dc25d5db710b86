"""The compiled operators of the search, called on chosen trees."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cstree.evolution._operator_kernels import (
    BY_COST,
    BY_SUPPORT,
    EVALUATE,
    KEEP,
    MUTATE,
    RAW,
    RECOMBINE,
    perform,
    polish_one,
)
from cstree.evolution.nnia import MUTATIONS, NNIA, OBJECTIVES
from cstree.evolution.population import FillWork, make_fill_work
from cstree.tree.problem import TreeProblem

__all__ = ["Limits", "Preorder", "Slots", "TreeOperators"]

Preorder = tuple[NDArray[np.int32], NDArray[np.uint64]]
"""A tree as :meth:`TreeProblem.tree` takes it: tests (-1: leaf) and masks, root first, then branch 0."""

Points = NDArray[np.float64]


class Limits(NamedTuple):
    """What the operators heed."""

    max_depth: int
    max_nodes: int
    min_support: int
    leaf_chance: float


class Slots(NamedTuple):
    """Room for some trees as the kernels take them; ``M`` nodes at most, the last slot is scratch."""

    test: NDArray[np.int32]  # (slots, M)
    mask: NDArray[np.uint64]  # (slots, M)
    size: NDArray[np.int32]  # (slots, M)
    badness: NDArray[np.float64]  # (slots, M)
    n_nodes: NDArray[np.int32]  # (slots,)
    regret: NDArray[np.float64]  # (slots,)
    objectives: NDArray[np.float64]  # (slots, m)
    slots: NDArray[np.int64]  # (members,) for polish: rows of the objectives of the trees beside


class TreeOperators:
    """Random trees, mutations, recombination, polish, pruning and evaluation over one problem.

    Trees go in and come out as pairs of arrays; those that are given are left as they are. One worker at
    a time: scratch memory is shared between calls.

    Parameters
    ----------
    problem : TreeProblem
    rng : numpy.random.Generator
        The only source of randomness.
    objectives : sequence of str
        Names from :data:`cstree.evolution.nnia.OBJECTIVES`.
    mutations : "all" or sequence of str, default="all"
        What is drawn from when no mutation is named.
    leaf_chance : float, default=0.4
        Probability that a node of a random tree, below its root, is a leaf.
    """

    def __init__(
        self,
        problem: TreeProblem,
        rng: np.random.Generator,
        objectives: Sequence[str],
        *,
        mutations: str | Sequence[str] = "all",
        leaf_chance: float = 0.4,
    ) -> None:
        self.problem = problem
        self.rng = rng
        self.limits = Limits(problem.max_depth, problem.max_nodes, problem.min_support, float(leaf_chance))
        self.shares = {name: NNIA(mutations=name).operator_share() for name in MUTATIONS}
        self.share = NNIA(mutations=mutations).operator_share()
        self.kinds = np.array([OBJECTIVES[name] for name in objectives], dtype=np.int64)
        self.arrays = problem.arrays
        self.workspace = problem.workspace()
        self.slots = self._make_slots(4)
        # Without a test to draw, every tree is a leaf.
        self.can_split = (
            len(self.arrays.choice_feature) > 0 and min(problem.max_depth, problem.max_nodes - 1) > 0
        )
        self.can_polish = self.can_split and len(problem.candidates) > 0

    def _make_slots(self, count: int) -> Slots:
        shape = (count + 1, self.limits.max_nodes)
        return Slots(
            test=np.full(shape, -1, np.int32),
            mask=np.zeros(shape, np.uint64),
            size=np.ones(shape, np.int32),
            badness=np.zeros(shape),
            n_nodes=np.ones(count + 1, np.int32),
            regret=np.zeros(count + 1),
            objectives=np.zeros((count + 1, len(self.kinds))),
            slots=np.zeros(0, np.int64),
        )

    @cached_property
    def _fill_work(self) -> FillWork:
        return make_fill_work(self.problem)

    def grow(self, count: int) -> list[Preorder]:
        """Return random trees with a split at their roots, neither pruned nor evaluated."""
        leaf = np.array([-1], np.int32), np.zeros(1, np.uint64)
        return self.breed([leaf] * count, [-1] * count, "regrow")

    def mutate(self, tree: Preorder, name: str | None = None) -> Preorder:
        """Return a mutant of a tree.

        Parameters
        ----------
        tree : Preorder
        name : str, optional
            The mutation; by default one is drawn. One that cannot act returns a copy.

        Returns
        -------
        Preorder
        """
        return self.breed([tree], [-1], name)[0]

    def breed(
        self, trees: Sequence[Preorder], mates: Sequence[int], name: str | None = None
    ) -> list[Preorder]:
        """Return a mutant of each tree, many in one compiled call.

        Parameters
        ----------
        trees : sequence of Preorder
        mates : sequence of int
            For each tree the index of another one, a subtree of which it gets first; -1: none.
        name : str, optional
            The mutation; by default one is drawn for each tree.

        Returns
        -------
        list of Preorder
        """
        n = len(trees)
        self._put(trees, 2 * n)
        jobs = [(KEEP, i, 0, i, EVALUATE) for i in range(n)]
        for i, mate in enumerate(mates if self.can_split else ()):
            if mate >= 0:
                jobs.append((RECOMBINE, i, mate, n + i, RAW))
            jobs.append((MUTATE, n + i if mate >= 0 else i, 0, n + i, RAW))
        self._perform(jobs, self.share if name is None else self.shares[name])
        return [self._taken(n + i if self.can_split else i) for i in range(n)]

    def recombine(self, first: Preorder, second: Preorder) -> tuple[Preorder, Preorder]:
        """Return both trees, each with a random subtree of the other in place of one of its own."""
        self._put((first, second), 4)
        self._perform(
            [
                (KEEP, 0, 0, 0, RAW),
                (KEEP, 1, 0, 1, RAW),
                (RECOMBINE, 0, 1, 2, RAW),
                (RECOMBINE, 1, 0, 3, RAW),
            ]
        )
        return self._taken(2), self._taken(3)

    def polish(self, tree: Preorder, own: Points, beside: Points | None = None) -> Preorder:
        """Return a tree with a part rebuilt from optimal subtrees of depth two.

        Parameters
        ----------
        tree : Preorder
        own : float64 (m,)
            Objectives of the tree.
        beside : float64 (members, m), optional
            Objectives of other trees: the slope to the nearest says what a mistake is worth.

        Returns
        -------
        Preorder
        """
        if not self.can_polish:
            return self.mutate(tree)
        self._put((tree,), 2)
        self._perform([(KEEP, 0, 0, 0, RAW)])
        points = np.atleast_2d(own) if beside is None else np.vstack([own, beside])
        n_members = len(points) - 1
        slots = self.slots._replace(objectives=points, slots=np.arange(1, len(points), dtype=np.int64))
        s, limits = self.workspace, self.limits
        polish_one(self.arrays, s, self._fill_work, slots, self.rng, limits, n_members, self.kinds)
        return self._taken(1)

    def prune(
        self, trees: Sequence[Preorder], *, by_support: bool = True, by_cost: bool = True
    ) -> tuple[list[Preorder], Points]:
        """Prune trees and evaluate what is left of them, many in one compiled call.

        Parameters
        ----------
        trees : sequence of Preorder
        by_support, by_cost : bool, default=True
            What to prune by: least support of a branch; splits that do not pay in misclassification cost.

        Returns
        -------
        trees : list of Preorder
        objectives : float64 (n, m)
            Averages per case for the costs.
        """
        self._put(trees, len(trees))
        finish = EVALUATE | (BY_SUPPORT if by_support else 0) | (BY_COST if by_cost else 0)
        self._perform([(KEEP, i, 0, i, finish) for i in range(len(trees))])
        return [self._taken(i) for i in range(len(trees))], self.slots.objectives[: len(trees)].copy()

    def check(self, tree: Preorder) -> None:
        """Refuse what is no tree of this problem.

        Raises
        ------
        ValueError
            The arrays are no preorder of known tests, or exceed a limit; the error names the node.
        """
        test, mask = np.asarray(tree[0]), np.asarray(tree[1])
        if not len(test) == len(mask) > 0:
            raise ValueError(f"a tree needs one mask per test; got {len(test)} tests and {len(mask)} masks.")
        if len(test) > self.limits.max_nodes:
            raise ValueError(
                f"the tree has {len(test)} nodes, more than the {self.limits.max_nodes} allowed."
            )
        n_rows = len(self.arrays.bits)
        last = n_rows + 2 * len(self.arrays.subset_feature) - 1
        pending = [0]
        for node, row in enumerate(test.tolist()):
            if not pending:
                raise ValueError(f"the tree ends before node {node}: its arrays go on after the last leaf.")
            depth = pending.pop()
            if row == -1:
                continue
            if not 0 <= row <= last:
                raise ValueError(f"node {node} holds test {row}; tests are -1 (leaf) and 0 to {last}.")
            if depth == self.limits.max_depth:
                raise ValueError(f"node {node} splits at depth {depth}, but max_depth is {depth}.")
            if row >= n_rows:
                self._check_subset(node, row - n_rows, int(mask[node]))
            pending += [depth + 1, depth + 1]
        if pending:
            raise ValueError(f"the tree is cut off: {len(pending)} branches are missing at its end.")

    def _check_subset(self, node: int, code: int, mask: int) -> None:
        groups = int(self.arrays.category_count[code >> 1])
        if not 0 < mask < 2**groups - 1:
            raise ValueError(
                f"node {node} tests a subset of {groups} categories, so its mask lies between 1 and "
                f"{2**groups - 2}; got {mask}."
            )

    def warm_up(self, *, polish: bool = True) -> None:
        """Compile, or load, what a search will call; without drawing from ``rng``."""
        rng, self.rng = self.rng, np.random.default_rng(0)
        try:
            pruned, points = self.prune(self.grow(1))
            if polish:
                self.polish(pruned[0], points[0])
        finally:
            self.rng = rng

    def _perform(self, jobs: Sequence[tuple[int, ...]], share: NDArray[np.float64] | None = None) -> None:
        """Do jobs; a slot that holds no tree is an error that says why."""
        table = np.array(jobs, dtype=np.int64).reshape(-1, 5)
        share = self.share if share is None else share
        done = perform(
            self.arrays, self.workspace, self.slots, self.rng, self.limits, share, self.kinds, table
        )
        if done < len(jobs):
            self.check(self._taken(jobs[done][1]))
            raise AssertionError("the compiled check refuses what the readable one accepts")

    def _make_room(self, count: int) -> None:
        if len(self.slots.n_nodes) <= count:
            self.slots = self._make_slots(count)

    def _put(self, trees: Sequence[Preorder], count: int) -> None:
        """Write trees to the first slots, of which there will be ``count``."""
        self._make_room(count)
        slots = self.slots
        for slot, (test, mask) in enumerate(trees):
            n_nodes = len(test)
            if not 0 < n_nodes == len(mask) <= self.limits.max_nodes:
                self.check((test, mask))
            slots.n_nodes[slot] = n_nodes
            slots.test[slot, :n_nodes] = test
            slots.mask[slot, :n_nodes] = mask

    def _taken(self, slot: int) -> Preorder:
        n_nodes = self.slots.n_nodes[slot]
        return self.slots.test[slot, :n_nodes].copy(), self.slots.mask[slot, :n_nodes].copy()
