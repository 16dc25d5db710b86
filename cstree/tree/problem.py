"""What a search over trees gets: cases as bits, candidate tests, prices, limits."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from cstree.costs.bound import BoundCosts
from cstree.encoding.dataset import Dataset
from cstree.tree._bit_kernels import MISCLASSIFICATION, TEST_COST, evaluate_one
from cstree.tree.candidates import ENUMERATED_CATEGORIES, CandidateTests, group_categories
from cstree.tree.evaluation import relabel, training_leaves
from cstree.tree.search_arrays import SearchArrays, Workspace, build_search_arrays, make_workspace
from cstree.tree.tree import Tree

__all__ = ["TreeProblem"]

_COSTS = np.array([MISCLASSIFICATION, TEST_COST])


@dataclass(frozen=True, eq=False)
class TreeProblem:
    """Binary trees over fixed candidate tests, on training cases with costs.

    Attributes
    ----------
    dataset : Dataset
    costs : BoundCosts
    max_depth : int
        Most splits on a path.
    min_support : int
        Fewest cases in a branch.
    max_leaf_nodes : int
        Most leaves of a tree.
    max_test_cost : float
        Most that the tests on a path may cost together.
    """

    dataset: Dataset
    costs: BoundCosts
    max_depth: int = 6
    min_support: int = 2
    max_leaf_nodes: int = 64
    max_test_cost: float = np.inf

    @property
    def max_nodes(self) -> int:
        """Most nodes of a tree, leaves included."""
        return 2 * min(self.max_leaf_nodes, 2 ** min(self.max_depth, 30)) - 1

    @cached_property
    def category_groups(self) -> dict[int, NDArray[np.int64]]:
        """Group of each category of each categorical feature: its own, but the rarest of many share one."""
        return group_categories(self.dataset)

    @cached_property
    def candidates(self) -> CandidateTests:
        """All candidate tests that have a row: every cut, and every subset of few categories."""
        return CandidateTests.of(self.dataset.schema)

    @cached_property
    def arrays(self) -> SearchArrays:
        """The problem as the kernels want it."""
        return build_search_arrays(
            self.dataset, self.costs, self.candidates, self.category_groups, self.max_test_cost
        )

    def workspace(self) -> Workspace:
        """Scratch memory for one worker."""
        return make_workspace(self.arrays, self.max_nodes, self.max_depth + 2)

    def tree(self, test: NDArray[np.int32], mask: NDArray[np.uint64]) -> Tree:
        """Return the :class:`Tree` of a preorder of tests (-1: leaf), labelled on the training cases.

        Parameters
        ----------
        test : int32 (n,)
            Row of a candidate, or the code of a subset without a row; -1 for a leaf.
        mask : uint64 (n,)
            Category groups that take branch 0, for subsets without a row.
        """
        bare = self.skeleton(test, mask)
        leaf = training_leaves(bare, self.dataset)
        tree = relabel(bare, self.dataset, self.costs, leaf)
        return replace(
            tree,
            missing_branch=self._missing_branches(tree),
            branch_of_category=self._seen_branches(tree, leaf),
        )

    def skeleton(self, test: NDArray[np.int32], mask: NDArray[np.uint64]) -> Tree:
        """Return the splits of a preorder of tests as a tree, without any statistics."""
        n = len(test)
        feature = np.full(n, -1)
        threshold = np.full(n, np.nan)
        table_start = np.full(n, -1)
        missing = np.zeros(n, dtype=np.int32)
        tables: list[NDArray[np.int32]] = []
        length = 0
        for node in map(int, np.flatnonzero(np.asarray(test) >= 0)):
            j, cut, subset, left = self._decode(int(test[node]), int(mask[node]))
            feature[node] = j
            missing[node] = 0 if left else 1
            if cut >= 0:
                threshold[node] = self.dataset.schema[j].cuts[cut]
            else:
                groups = self.category_groups[j].astype(np.uint64)
                tables.append(1 - ((np.uint64(subset) >> groups) & np.uint64(1)).astype(np.int32))
                table_start[node] = length
                length += len(groups)
        size = np.ones(n, dtype=np.int32)
        for node in range(n - 1, -1, -1):
            if test[node] >= 0:
                size[node] = 1 + size[node + 1] + size[node + 1 + size[node + 1]]
        K = self.dataset.n_classes
        return Tree(
            feature=feature,
            threshold=threshold,
            n_branches=np.where(np.asarray(test) >= 0, 2, 0),
            size=size,
            missing_branch=missing,
            table_start=table_start,
            branch_of_category=np.concatenate(tables) if tables else np.empty(0, dtype=np.int32),
            answer=np.zeros(n, dtype=np.int32),
            support=np.zeros(n, dtype=np.int64),
            class_weight=np.zeros((n, K)),
            label_cost=np.zeros((n, K)),
        )

    def _missing_branches(self, tree: Tree) -> NDArray[np.int32]:
        """Where training saw no missing value, let missing values take the branch with more weight."""
        weight = tree.class_weight.sum(axis=1)
        missing = tree.missing_branch.copy()
        for node in np.flatnonzero(tree.feature >= 0):
            if not self.dataset.schema[int(tree.feature[node])].has_missing:
                left, right = tree.children(int(node))
                missing[node] = 0 if weight[left] >= weight[right] else 1
        return missing

    def _seen_branches(self, tree: Tree, leaf: NDArray[np.int32]) -> NDArray[np.int32]:
        """Let a category that no training case brought to a node travel as missing there."""
        branches = tree.branch_of_category.copy()
        for j in np.unique(tree.feature[tree.table_start >= 0]):
            n_codes = self.dataset.schema[int(j)].n_bins + 1
            cell = leaf.astype(np.int64) * n_codes + self.dataset.codes[j]
            cases = np.bincount(cell, minlength=tree.n_nodes * n_codes).reshape(tree.n_nodes, n_codes)
            for node in np.flatnonzero(tree.feature == j):
                seen = cases[node : node + tree.size[node], :-1].any(axis=0)
                start = int(tree.table_start[node])
                branches[start : start + n_codes - 1][~seen] = -1
        return branches

    def prune_and_evaluate(
        self, test: NDArray[np.int32], mask: NDArray[np.uint64], *, prune: bool = True
    ) -> tuple[NDArray[np.int32], NDArray[np.uint64], NDArray[np.float64]]:
        """Prune one tree by support and cost, as a search does, and evaluate it on the bit sets.

        Parameters
        ----------
        test, mask
            A tree as :meth:`tree` takes it.
        prune : bool, default=True
            False: evaluate the tree as it is.

        Returns
        -------
        test, mask
            The pruned tree.
        objectives : ndarray of shape (2,)
            Average misclassification and test cost per case.
        """
        workspace = self.workspace()
        n_nodes = len(test)
        workspace.test[:n_nodes] = test
        workspace.mask[:n_nodes] = mask
        objectives = np.zeros((1, 2))
        n_new = evaluate_one(
            self.arrays, workspace, n_nodes, self.min_support if prune else 0, prune, _COSTS, objectives
        )
        return workspace.new_test[:n_new].copy(), workspace.new_mask[:n_new].copy(), objectives[0]

    def encode_tree(self, tree: Tree) -> tuple[NDArray[np.int32], NDArray[np.uint64]] | None:
        """Return tests and masks of a binary tree on this problem's schema; None if it does not fit.

        A tree fits when its splits are candidates and it keeps the depth and leaf limits.
        """
        if tree.depth > self.max_depth or tree.n_leaves > self.max_leaf_nodes:
            return None
        test: list[int] = []
        mask: list[int] = []
        pending = [0]
        while pending:
            node = pending.pop()
            found = (-1, 0, False) if tree.feature[node] < 0 else self._find_test(tree, node)
            if found is None:
                return None
            test.append(found[0])
            mask.append(found[1])
            children = tree.children(node)
            pending.extend(children if found[2] else children[::-1])
        return np.array(test, dtype=np.int32), np.array(mask, dtype=np.uint64)

    def _find_test(self, tree: Tree, node: int) -> tuple[int, int, bool] | None:
        """Return test and mask of a split, and whether its branches change places."""
        j = int(tree.feature[node])
        feature = self.dataset.schema[j]
        if tree.n_branches[node] != 2:
            return None
        left = feature.has_missing and int(tree.missing_branch[node]) == 0
        if tree.table_start[node] < 0:
            cut = int(np.searchsorted(feature.cuts, tree.threshold[node]))
            if cut == len(feature.cuts) or feature.cuts[cut] != tree.threshold[node]:
                return None
            return self._row_of[j, cut, 0, left], 0, False
        goes_left = self._groups_left(tree, node, j)
        n_groups = int(self.category_groups[j].max()) + 1
        if goes_left is None or goes_left in (0, 2**n_groups - 1):
            return None
        if feature.n_bins > ENUMERATED_CATEGORIES:
            code = int(np.flatnonzero(self.arrays.subset_feature == j)[0])
            return len(self.arrays.bits) + 2 * code + int(left), goes_left, False
        swap = bool(goes_left >> (n_groups - 1) & 1)
        if swap:
            goes_left ^= 2**n_groups - 1
        return self._row_of[j, -1, goes_left, feature.has_missing and left != swap], 0, swap

    def _groups_left(self, tree: Tree, node: int, j: int) -> int | None:
        """Mask of the category groups that take branch 0, unseen ones left out.

        None where the categories of a group take different branches.
        """
        start, groups = int(tree.table_start[node]), self.category_groups[j]
        branch = tree.branch_of_category[start : start + len(groups)]
        goes_left, unseen = 0, 0
        for group in np.unique(groups):
            taken = np.unique(branch[(groups == group) & (branch >= 0)])
            if len(taken) > 1:
                return None
            goes_left |= int(len(taken) > 0 and taken[0] == 0) << int(group)
            unseen |= int(len(taken) == 0) << int(group)
        # Missing values alone on branch 0: categories that nobody has make the subset a proper one.
        return goes_left or unseen

    @cached_property
    def _row_of(self) -> dict[tuple[int, int, int, bool], int]:
        c = self.candidates
        return {
            (int(c.feature[r]), int(c.cut[r]), int(c.subset[r]), bool(c.missing_left[r])): r
            for r in range(len(c))
        }

    def _decode(self, test: int, mask: int) -> tuple[int, int, int, bool]:
        """Return feature, cut (-1: subset), subset of groups and the side of missing values of a test."""
        candidates = self.candidates
        if test < len(candidates):
            return (
                int(candidates.feature[test]),
                int(candidates.cut[test]),
                int(candidates.subset[test]),
                bool(candidates.missing_left[test]),
            )
        code = test - len(self.arrays.bits)
        return int(self.arrays.subset_feature[code >> 1]), -1, mask, bool(code & 1)
