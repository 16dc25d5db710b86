"""Grow a tree from the top, one criterion choosing every split."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cstree.costs.bound import BoundCosts
from cstree.encoding.dataset import Dataset
from cstree.greedy._categorical_kernels import MULTIWAY, NUMERIC
from cstree.greedy._kernels import part_rows, price_tests
from cstree.greedy._measure_kernels import best_candidates
from cstree.greedy.candidates import Candidates
from cstree.greedy.criteria import ROUNDING, make_criterion, pays, score, stop_rule, without_dear_splits
from cstree.greedy.nodes import Nodes
from cstree.greedy.tabulator import Histograms, Tabulator
from cstree.tree.tree import Tree

__all__ = ["candidates_at", "grow"]


def grow(
    dataset: Dataset,
    costs: BoundCosts,
    criterion: str | Callable[[Candidates], Any] = "secsdt_mc",
    *,
    alpha: float | str = "heuristic",
    omega: float | Sequence[float] | Mapping[str, float] = 1.0,
    max_depth: int | None = None,
    max_leaf_nodes: int | None = None,
    min_support: int = 2,
    purity: float = 1.0,
    min_purity_support: int = 1,
    too_dear: str = "stop",
    categorical_split: str = "multiway",
) -> Tree:
    """Grow a tree on encoded cases, without pruning.

    Parameters
    ----------
    dataset : Dataset
    costs : BoundCosts
    criterion : str or callable, default="secsdt_mc"
        A name of ``CRITERIA`` or a callable ``(Candidates) -> scores``.
    alpha : "heuristic" or float, default="heuristic"
        For ``"secsdt_mc"``: share of the gain in the score.
    omega : float, sequence or mapping, default=1.0
        For ``"pm"`` and ``"eg2"``: how much prices count.
    max_depth : int or None
        Most splits on a path.
    max_leaf_nodes : int or None
        Most leaves; nodes whose split reduces cost most are split first.
    min_support : int, default=2
        Nodes with fewer cases are leaves.
    purity : float, default=1.0
        Nodes in which some class holds this share of the weight are leaves, ...
    min_purity_support : int, default=1
        ... if they hold this many cases.
    too_dear : {"stop", "next"}, default="stop"
        When the split with the best score costs more than it saves: make a leaf (stop 4 as
        published), or take the best split that does not.
    categorical_split : {"multiway", "subset"}
        A branch per category, once per path; or binary splits by subsets.

    Returns
    -------
    Tree

    Raises
    ------
    ValueError
        An unknown criterion or a number out of range.
    """
    return grow_nodes(
        dataset,
        costs,
        make_criterion(criterion, dataset.schema.names, alpha, omega),
        Limits(max_depth, max_leaf_nodes, min_support, purity, min_purity_support, too_dear),
        categorical_split,
    ).to_tree(dataset)


@dataclass(frozen=True)
class Limits:
    """When growth stops; see :func:`grow`."""

    max_depth: int | None = None
    max_leaf_nodes: int | None = None
    min_support: int = 2
    purity: float = 1.0
    min_purity_support: int = 1
    too_dear: str = "stop"

    def __post_init__(self) -> None:
        """Check the numbers.

        Raises
        ------
        ValueError
            One of them is out of range.
        """
        if self.too_dear not in ("next", "stop"):
            raise ValueError(f"too_dear must be 'next' or 'stop'; got {self.too_dear!r}.")
        least = {"max_depth": 0, "max_leaf_nodes": 1, "min_support": 1, "min_purity_support": 1}
        for name, low in least.items():
            value = getattr(self, name)
            if value is None and name.startswith("max"):
                continue
            if not isinstance(value, Integral) or isinstance(value, bool) or int(value) < low:
                or_none = " or None" if name.startswith("max") else ""
                raise ValueError(f"{name} must be a whole number from {low} on{or_none}; got {value!r}.")
        if not isinstance(self.purity, Real) or not 0 < float(self.purity) <= 1:
            raise ValueError(f"purity must be a share of the weight in (0, 1]; got {self.purity!r}.")


def grow_nodes(
    dataset: Dataset,
    costs: BoundCosts,
    criterion: Callable[[Candidates], Any],
    limits: Limits,
    categorical_split: str = "multiway",
) -> Nodes:
    """Grow a tree and return its nodes as they were made, breadth or best first.

    Parameters
    ----------
    dataset : Dataset
    costs : BoundCosts
    criterion : callable
    limits : Limits
    categorical_split : {"multiway", "subset"}

    Returns
    -------
    Nodes
    """
    grower = _Grower(dataset, costs, criterion, limits, categorical_split)
    if limits.max_leaf_nodes is None:
        grower.grow_levels()
    else:
        grower.grow_best_first(limits.max_leaf_nodes)
    return grower.nodes


def candidates_at(
    dataset: Dataset,
    costs: BoundCosts,
    rows: Sequence[int] | NDArray[np.integer] | None = None,
    *,
    paid: Sequence[int] = (),
    used_up: Sequence[int] = (),
    categorical_split: str = "multiway",
) -> Candidates:
    """Tabulate the candidate splits of one node.

    Parameters
    ----------
    dataset : Dataset
    costs : BoundCosts
    rows : sequence of int, optional
        Cases of the node; all by default.
    paid : sequence of int
        Steps that are paid on the path.
    used_up : sequence of int
        Categorical features which the path has split by branch per category.
    categorical_split : {"multiway", "subset"}

    Returns
    -------
    Candidates
    """
    if rows is not None:
        dataset = dataset.take(np.asarray(rows, dtype=np.intp))
    tabulator = Tabulator(dataset, costs, categorical_split)
    is_paid = np.zeros((1, costs.n_steps), dtype=np.bool_)
    is_paid[0, list(paid)] = True
    usable = np.ones((1, len(tabulator.features)), dtype=np.bool_)
    usable[0, list(used_up)] = False
    span = np.array([[0, dataset.n_samples]])
    class_weight, regret, _ = tabulator.sums(span)
    return tabulator.candidates(
        np.array([[0, dataset.n_samples, -1]]),
        usable,
        _prices(costs, is_paid),
        class_weight,
        regret,
        Histograms(tabulator).counts,
    )


def _prices(costs: BoundCosts, paid: NDArray[np.bool_]) -> NDArray[np.float64]:
    """``TA(a | path)`` of every feature at every node."""
    result = np.zeros((len(paid), costs.n_features))
    if costs.n_steps:
        price_tests(paid, costs.step_start, costs.steps, costs.prices, result)
    return result


class _Grower:
    """One growth: nodes, their cases, and what is allowed."""

    def __init__(
        self,
        dataset: Dataset,
        costs: BoundCosts,
        criterion: Callable[[Candidates], Any],
        limits: Limits,
        categorical_split: str,
    ) -> None:
        self.limits = limits
        self.costs = costs
        self.criterion = criterion
        self.cases = Tabulator(dataset, costs, categorical_split)
        self.histograms = Histograms(self.cases)
        kinds = self.cases.features[:, 0]
        self.multiway = kinds == MULTIWAY
        self.any_multiway = bool(self.multiway.any())
        self.spare = np.empty_like(self.cases.rows)
        self.nodes = Nodes(dataset.n_classes, costs.n_steps, len(kinds) if self.any_multiway else 0)
        self.n_samples = dataset.n_samples

    # --- two orders of growth -----------------------------------------------------------------

    def grow_levels(self) -> None:
        """Split every node that pays, a level at a time."""
        level = self._plant()
        while level.size:
            level = self._split(self._choose(level))

    def grow_best_first(self, max_leaf_nodes: int) -> None:
        """Split the node of greatest reduction until the leaves are used up."""
        nodes = self.nodes
        waiting: list[tuple[float, int]] = []
        fresh = self._plant()
        n_leaves = 1
        while True:
            for node in self._choose(fresh).tolist():
                heapq.heappush(waiting, (-float(nodes.reduction[node]), node))
            fits = False
            while waiting and not fits:
                node = heapq.heappop(waiting)[1]
                fits = n_leaves + int(nodes.n_branches[node]) - 1 <= max_leaf_nodes
                if not fits:
                    self._close(np.array([node]))
            if not fits:
                return
            n_leaves += int(nodes.n_branches[node]) - 1
            fresh = self._split(np.array([node]))

    def _plant(self) -> NDArray[np.int64]:
        """Make the root; return it if it may be split."""
        root = self.nodes.add(1)
        self.nodes.span[root] = [[0, self.n_samples]]
        sums = self.cases.sums(self.nodes.span[root])
        self.nodes.class_weight[root], self.nodes.regret[root], self.nodes.cost[root] = sums
        open_ = self._may_split(np.array([0]))
        if open_[0] and self.histograms.wanted(self.n_samples):
            self.nodes.slot[0] = self.histograms.count(0, self.n_samples)
        return np.flatnonzero(open_)

    def _may_split(self, numbers: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Apply stops 1 and 2 and the limit of depth."""
        nodes, limits = self.nodes, self.limits
        support = nodes.span[numbers, 1] - nodes.span[numbers, 0]
        weight = nodes.class_weight[numbers]
        pure = weight.max(axis=1) >= (limits.purity - ROUNDING) * weight.sum(axis=1)
        stopped = (pure & (support >= limits.min_purity_support)) | (support < limits.min_support)
        if limits.max_depth is not None:
            stopped |= nodes.depth[numbers] >= limits.max_depth
        return ~stopped

    # --- choosing -----------------------------------------------------------------------------

    def _choose(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Find the best split of each node; return the nodes whose split pays (stops 3 and 4)."""
        sizes = self.nodes.span[numbers, 1] - self.nodes.span[numbers, 0]
        for part, n_candidates, n_branches in self.cases.batches(sizes):
            self._choose_batch(numbers[part], (n_candidates, n_branches))
        split = self.nodes.feature[numbers] >= 0
        self._close(numbers[~split])
        return numbers[split]

    def _choose_batch(self, numbers: NDArray[np.int64], capacities: tuple[int, int]) -> None:
        nodes, cases = self.nodes, self.cases
        usable = np.ones((len(numbers), len(cases.features)), dtype=np.bool_)
        if self.any_multiway:
            usable = ~nodes.used_up[numbers]
        candidates = cases.candidates(
            np.column_stack([nodes.span[numbers], nodes.slot[numbers]]),
            usable,
            _prices(self.costs, nodes.paid[numbers]),
            nodes.class_weight[numbers],
            nodes.regret[numbers],
            self.histograms.counts,
            capacities,
        )
        if len(candidates) == 0:
            return
        best = np.empty(len(numbers), dtype=np.int64)
        scores = score(self.criterion, candidates)
        best_candidates(scores, candidates.start, best)
        found = (best >= 0) & pays(self.criterion, candidates, best)
        if self.limits.too_dear == "next" and not found.all() and stop_rule(self.criterion) == "cost":
            affordable = np.empty(len(numbers), dtype=np.int64)
            best_candidates(without_dear_splits(candidates, scores), candidates.start, affordable)
            best = np.where(found, best, affordable)
            found = best >= 0
        if found.any():
            self._record(numbers, candidates, best, found)

    def _record(
        self,
        numbers: NDArray[np.int64],
        candidates: Candidates,
        best: NDArray[np.int64],
        found: NDArray[np.bool_],
    ) -> None:
        """Keep the chosen candidates with their nodes."""
        nodes = self.nodes
        numbers, chosen = numbers[found], best[found]
        choice = candidates.choice(chosen)
        nodes.feature[numbers] = choice.feature
        nodes.cut[numbers] = choice.cut
        nodes.n_branches[numbers] = choice.n_branches
        nodes.missing_branch[numbers] = choice.missing_branch
        nodes.price[numbers] = choice.price
        if self.limits.max_leaf_nodes is not None:
            nodes.reduction[numbers] = candidates.cost_reduction[chosen]

    def _close(self, numbers: NDArray[np.int64]) -> None:
        """Make leaves for good."""
        for slot in self.nodes.slot[numbers[self.nodes.slot[numbers] >= 0]].tolist():
            self.histograms.release(slot)
        self.nodes.slot[numbers] = -1
        self.nodes.n_branches[numbers] = 0

    # --- splitting ----------------------------------------------------------------------------

    def _split(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Give the nodes their children; return those children that may be split."""
        if numbers.size == 0:
            return numbers
        nodes = self.nodes
        ends = self._part(numbers)
        n_branches = nodes.n_branches[numbers]
        parent = np.repeat(numbers, n_branches)
        new = nodes.add(len(parent))
        first = np.cumsum(n_branches) - n_branches
        nodes.first_child[numbers] = new.start + first
        end = ends[np.arange(ends.shape[1]) < n_branches[:, None]]
        nodes.span[new, 1] = end
        nodes.span[new, 0][1:] = end[:-1]
        nodes.span[new.start + first, 0] = nodes.span[numbers, 0]
        nodes.depth[new] = nodes.depth[parent] + 1
        sums = self.cases.sums(nodes.span[new])
        nodes.class_weight[new], nodes.regret[new], nodes.cost[new] = sums
        self._inherit(parent, new)
        open_ = self._may_split(np.arange(new.start, new.stop))
        self._share_histograms(numbers, open_, new.start)
        return np.flatnonzero(open_) + new.start

    def _part(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Sort the cases of the nodes by branch; return where each branch ends."""
        nodes, cases = self.nodes, self.cases
        feature = nodes.feature[numbers]
        for node in numbers[cases.features[feature, 0] != NUMERIC].tolist():
            start, end = nodes.span[node].tolist()
            j, cut = int(nodes.feature[node]), int(nodes.cut[node])
            nodes.add_table(node, cases.branches_of_categories(j, start, end, cut))
        splits = np.column_stack(
            [
                nodes.span[numbers],
                feature,
                nodes.cut[numbers],
                nodes.table_start[numbers],
                nodes.missing_branch[numbers],
                nodes.n_branches[numbers],
            ]
        )
        tables = nodes.all_tables()
        ends = np.empty((len(numbers), int(nodes.n_branches[numbers].max())), dtype=np.int64)
        part_rows(cases.codes, cases.rows, splits, cases.features[:, 1].copy(), tables, self.spare, ends)
        return ends

    def _inherit(self, parent: NDArray[np.int64], new: slice) -> None:
        """Hand down what is paid and used up."""
        nodes, costs = self.nodes, self.costs
        feature = nodes.feature[parent]
        if costs.n_steps:
            nodes.paid[new] = nodes.paid[parent] | self._steps_of_features[feature]
        if self.any_multiway:
            nodes.used_up[new] = nodes.used_up[parent]
            spent = np.flatnonzero(self.multiway[feature])
            nodes.used_up[new.start + spent, feature[spent]] = True

    @property
    def _steps_of_features(self) -> NDArray[np.bool_]:
        """Which steps each feature's test needs, shape (n_features, n_steps)."""
        costs = self.costs
        needs = np.zeros((costs.n_features, costs.n_steps), dtype=np.bool_)
        needs[np.repeat(np.arange(costs.n_features), np.diff(costs.step_start)), costs.steps] = True
        return needs

    def _share_histograms(self, numbers: NDArray[np.int64], open_: NDArray[np.bool_], offset: int) -> None:
        nodes = self.nodes
        for node in numbers[nodes.slot[numbers] >= 0].tolist():
            first, m = int(nodes.first_child[node]), int(nodes.n_branches[node])
            below = slice(first, first + m)
            slots = self.histograms.divide(
                int(nodes.slot[node]), nodes.span[below], open_[first - offset : first - offset + m]
            )
            nodes.slot[below] = slots
            nodes.slot[node] = -1
