"""The compiled operators of the search, called on one tree at a time."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cstree.evolution._operator_kernels import grow_one, mutate_one, polish_one, recombine_two
from cstree.evolution.nnia import MUTATIONS, NNIA, OBJECTIVES
from cstree.evolution.population import FillWork, make_fill_work
from cstree.tree._bit_kernels import evaluate_one
from cstree.tree.problem import TreeProblem

__all__ = ["Limits", "Preorder", "Slots", "TreeOperators"]

Preorder = tuple[NDArray[np.int32], NDArray[np.uint64]]
"""A tree as :meth:`TreeProblem.tree` takes it: tests (-1: leaf) and masks, root first, then branch 0."""

# Two parents, their two children, and one row of scratch.
_SLOTS = 5


class Limits(NamedTuple):
    """What the operators heed."""

    max_depth: int
    max_nodes: int
    leaf_chance: float


class Slots(NamedTuple):
    """A few trees as the kernels take them; ``M`` nodes at most."""

    test: NDArray[np.int32]  # (slots, M)
    mask: NDArray[np.uint64]  # (slots, M)
    size: NDArray[np.int32]  # (slots, M)
    badness: NDArray[np.float64]  # (slots, M)
    n_nodes: NDArray[np.int32]  # (slots,)
    regret: NDArray[np.float64]  # (slots,)
    objectives: NDArray[np.float64]  # (1 + members, m) of slot 0, then of the trees beside it
    slots: NDArray[np.int64]  # (members,) rows of the trees beside it


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
        What :meth:`mutate` draws from.
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
        self.limits = Limits(problem.max_depth, problem.max_nodes, float(leaf_chance))
        self.shares = {name: NNIA(mutations=name).operator_share() for name in MUTATIONS}
        self.share = NNIA(mutations=mutations).operator_share()
        self.kinds = np.array([OBJECTIVES[name] for name in objectives], dtype=np.int64)
        self.arrays = problem.arrays
        self.workspace = problem.workspace()
        self.slots = self._make_slots(problem.max_nodes)
        # Without a test to draw, every tree is a leaf.
        self.can_split = (
            len(self.arrays.choice_feature) > 0 and min(problem.max_depth, problem.max_nodes - 1) > 0
        )
        self.can_polish = self.can_split and len(problem.candidates) > 0
        self.n_tests = len(self.arrays.bits) + 2 * len(self.arrays.subset_feature)

    def _make_slots(self, nodes: int) -> Slots:
        return Slots(
            test=np.full((_SLOTS, nodes), -1, np.int32),
            mask=np.zeros((_SLOTS, nodes), np.uint64),
            size=np.ones((_SLOTS, nodes), np.int32),
            badness=np.zeros((_SLOTS, nodes)),
            n_nodes=np.ones(_SLOTS, np.int32),
            regret=np.zeros(_SLOTS),
            objectives=np.zeros((1, len(self.kinds))),
            slots=np.zeros(0, np.int64),
        )

    @cached_property
    def _fill_work(self) -> FillWork:
        return make_fill_work(self.problem)

    def grow(self) -> Preorder:
        """Return a random tree with a split at its root, neither pruned nor evaluated."""
        if not self.can_split:
            return np.array([-1], np.int32), np.zeros(1, np.uint64)
        return self._written(grow_one(self.arrays, self.workspace, self.rng, self.limits))

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
        if not self.can_split:
            return tree[0].copy(), tree[1].copy()
        n_nodes = self._evaluate(tree, 0, False)[0]
        share = self.share if name is None else self.shares[name]
        s, slots = self.workspace, self.slots
        return self._written(mutate_one(self.arrays, s, slots, self.rng, self.limits, share, n_nodes))

    def recombine(self, first: Preorder, second: Preorder) -> tuple[Preorder, Preorder]:
        """Return both trees, each with a random subtree of the other in place of one of its own."""
        self._put(0, first)
        self._put(1, second)
        recombine_two(self.workspace, self.slots, self.rng, self.limits)
        return self._taken(2), self._taken(3)

    def polish(
        self, tree: Preorder, own: NDArray[np.float64], beside: NDArray[np.float64] | None = None
    ) -> Preorder:
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
        n_members = 0 if beside is None else len(beside)
        self._put(0, tree)
        points = np.empty((1 + n_members, len(self.kinds)))
        points[0] = own
        if beside is not None:
            points[1:] = beside
        slots = self.slots._replace(objectives=points, slots=np.arange(1, 1 + n_members, dtype=np.int64))
        return self._written(
            polish_one(
                self.arrays,
                self.workspace,
                self._fill_work,
                slots,
                self.rng,
                self.limits,
                n_members,
                self.kinds,
            )
        )

    def prune(
        self, tree: Preorder, *, by_support: bool = True, by_cost: bool = True
    ) -> tuple[Preorder, NDArray[np.float64]]:
        """Prune a tree and evaluate what is left.

        Parameters
        ----------
        tree : Preorder
        by_support, by_cost : bool, default=True
            What to prune by: least support of a branch; splits that do not pay in misclassification cost.

        Returns
        -------
        tree : Preorder
        objectives : float64 (m,)
            Averages per case for the costs.
        """
        minimum = self.problem.min_support if by_support else 0
        n_nodes, objectives = self._evaluate(tree, minimum, by_cost)
        s = self.workspace
        test = s.new_test[:n_nodes].copy()
        return (test, np.where(test < 0, np.uint64(0), s.new_mask[:n_nodes])), objectives

    def check(self, tree: Preorder) -> None:
        """Refuse what is no tree of this problem, before compiled code, which checks nothing, reads it.

        Raises
        ------
        ValueError
            The arrays are no preorder of known tests, or exceed a limit.
        """
        test, mask = tree
        if not len(test) == len(mask) > 0:
            raise ValueError(f"a tree needs one mask per test; got {len(test)} tests and {len(mask)} masks.")
        if len(test) > self.limits.max_nodes:
            raise ValueError(
                f"the tree has {len(test)} nodes, more than the {self.limits.max_nodes} allowed."
            )
        pending = [0]
        for node, row in enumerate(test.tolist()):
            if not pending:
                raise ValueError(f"the tree ends before node {node}: its arrays go on after the last leaf.")
            depth = pending.pop()
            if row == -1:
                continue
            if not 0 <= row < self.n_tests:
                raise ValueError(
                    f"node {node} holds test {row}; tests are -1 (leaf) and 0 to {self.n_tests - 1}."
                )
            if depth == self.limits.max_depth:
                raise ValueError(f"node {node} splits at depth {depth}, but max_depth is {depth}.")
            if row >= len(self.arrays.bits):
                self._check_subset(node, row, int(mask[node]))
            pending += [depth + 1, depth + 1]
        if pending:
            raise ValueError(f"the tree is cut off: {len(pending)} branches are missing at its end.")

    def _check_subset(self, node: int, row: int, mask: int) -> None:
        groups = int(self.arrays.category_count[(row - len(self.arrays.bits)) >> 1])
        if not 0 < mask < 2**groups - 1:
            raise ValueError(
                f"node {node} tests a subset of {groups} categories, so its mask lies between 1 and "
                f"{2**groups - 2}; got {mask}."
            )

    def warm_up(self, *, polish: bool = True) -> None:
        """Compile, or load, what a search will call; without drawing from ``rng``."""
        rng, self.rng = self.rng, np.random.default_rng(0)
        try:
            tree = self.grow()
            self.recombine(tree, self.mutate(tree))
            pruned, own = self.prune(tree)
            if polish:
                self.polish(pruned, own)
        finally:
            self.rng = rng

    def _evaluate(self, tree: Preorder, minimum: int, by_cost: bool) -> tuple[int, NDArray[np.float64]]:
        """Prune and evaluate a tree in the workspace; return the nodes left and the objectives."""
        s, n_nodes = self.workspace, len(tree[0])
        s.test[:n_nodes] = tree[0]
        s.mask[:n_nodes] = tree[1]
        objectives = np.zeros((1, len(self.kinds)))
        left = evaluate_one(self.arrays, s, n_nodes, minimum, by_cost, self.kinds, objectives)
        return int(left), objectives[0]

    def _written(self, n_nodes: int) -> Preorder:
        """Copy the tree that a kernel wrote to the workspace."""
        test = self.workspace.test[:n_nodes].copy()
        return test, np.where(test < 0, np.uint64(0), self.workspace.mask[:n_nodes])

    def _put(self, slot: int, tree: Preorder) -> None:
        n_nodes = len(tree[0])
        self.slots.n_nodes[slot] = n_nodes
        self.slots.test[slot, :n_nodes] = tree[0]
        self.slots.mask[slot, :n_nodes] = tree[1]

    def _taken(self, slot: int) -> Preorder:
        n_nodes = int(self.slots.n_nodes[slot])
        return self.slots.test[slot, :n_nodes].copy(), self.slots.mask[slot, :n_nodes].copy()
