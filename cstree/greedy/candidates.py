"""All candidate splits of some nodes, as arrays a criterion can calculate with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cstree.greedy._candidate_kernels import BRANCHES, END, FEATURE, HEAVIER, IN_CUT, NODE, SIDE, WIDE
from cstree.greedy._measure_kernels import (
    answer_reductions,
    cost_reductions,
    count_gains,
    expected_costs,
    gini_gains,
    split_infos,
    weight_gains,
)

__all__ = ["Candidates"]

Array = NDArray[np.float64]

_SMALL = 1024
_LARGE = 65_536


@dataclass(eq=False)
class Candidates:
    """Candidate splits of one node or of several, node after node.

    Within a node they stand in the order in which ties are broken: by feature, then cut, then
    missing values left before right. Arrays "per candidate" have shape (n_candidates,), arrays "per
    node" (n_nodes,); :meth:`spread` turns the latter into the former. Everything is computed when
    first asked for.

    Attributes
    ----------
    start : ndarray of shape (n_nodes + 1,), int64
        Candidates of node ``i`` are ``start[i]:start[i + 1]``.
    class_weight : ndarray of shape (n_nodes, n_classes)
        Training weight of each class.
    regret : ndarray of shape (n_nodes, n_classes)
        ``L_S[p]``: cost of answering each class, less what the best answer to each case costs.
    """

    start: NDArray[np.int64]
    class_weight: Array
    regret: Array
    _prices: Array  # (n_nodes, n_features)
    _groups: NDArray[np.int64]  # (n_groups, 6): the candidates of a feature at a node, see tabulate
    _cuts: NDArray[np.int32]  # (n or more,)
    _left: Array  # (channels, n or more): class weights, then regrets where costs differ by case
    _wide: Array  # (rows, channels): every branch of the multiway candidates
    _matrix: tuple[Array, Array]  # regrets of the cost matrix: (K,) for every answer, (K, K) beside it
    _counts: bool  # every case weighs 1

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self.class_weight)

    @property
    def n_classes(self) -> int:
        """Number of classes, K."""
        return self.class_weight.shape[1]

    def __len__(self) -> int:
        return int(self.start[-1])

    # --- between nodes and candidates ---------------------------------------------------------

    def spread(self, per_node: Array) -> Array:
        """Repeat a number per node for each of its candidates."""
        return np.repeat(per_node, self._sizes)

    @cached_property
    def _sizes(self) -> NDArray[np.int64]:
        return self.start[1:] - self.start[:-1]

    def largest_per_node(self, values: Array) -> Array:
        """Return the greatest of the values per node; -inf where a node has no candidate."""
        if self._sizes.all():
            return np.maximum.reduceat(values, self.start[:-1])
        filled = self._sizes > 0
        result = np.full(self.n_nodes, -np.inf)
        if filled.any():
            result[filled] = np.maximum.reduceat(values, self.start[:-1][filled])
        return result

    def largest(self, values: Array) -> Array:
        """Return the greatest of the values at each candidate's node, per candidate."""
        return self.spread(self.largest_per_node(values))

    # --- what is tested -----------------------------------------------------------------------

    @cached_property
    def _group_sizes(self) -> NDArray[np.int64]:
        return np.diff(self._groups[:, END], prepend=0)

    @cached_property
    def feature(self) -> NDArray[np.int64]:
        """Index of the feature that each candidate tests."""
        return np.repeat(self._groups[:, FEATURE], self._group_sizes)

    @property
    def cut(self) -> NDArray[np.int32]:
        """Number of each candidate's cut; of categorical features, a number that tells subsets apart."""
        return self._cuts[: len(self)] >> 1

    @property
    def missing_branch(self) -> NDArray[np.int64]:
        """Branch of missing values; -1: the heavier one, as the training column had none."""
        side = np.repeat(self._groups[:, SIDE], self._group_sizes)
        return np.where(side == IN_CUT, self._cuts[: len(self)] & 1, side)

    @cached_property
    def n_branches(self) -> NDArray[np.int64]:
        """``m``: 2, or the number of categories at the node for a multiway split."""
        if len(self._wide) == 0:
            return np.broadcast_to(np.int64(2), (len(self),))
        return np.repeat(self._groups[:, BRANCHES], self._group_sizes)

    @cached_property
    def price(self) -> Array:
        """``TA(a | path)``: what the test costs each case here; steps paid above are free."""
        if self._free:
            return np.broadcast_to(np.float64(0), (len(self),))
        return np.repeat(self._prices[self._groups[:, NODE], self._groups[:, FEATURE]], self._group_sizes)

    @cached_property
    def _free(self) -> bool:
        return not self._prices.any()

    # --- what the formulas of the criteria are made of ----------------------------------------

    @cached_property
    def node_weight(self) -> Array:
        """``N_S`` per node."""
        return self.class_weight.sum(axis=1)

    @cached_property
    def weight(self) -> Array:
        """``N_S`` per candidate."""
        return self.spread(self.node_weight)

    @cached_property
    def entropy(self) -> Array:
        """``H(S) = - sum_k q_k log2 q_k`` per node, in bits."""
        return -_x_log2_x(self.class_weight / self.node_weight[:, None]).sum(axis=1)

    @cached_property
    def expected_cost(self) -> Array:
        """``E(S) = sum_p P_S[p] L_S[p]`` per node, equation (10)."""
        return _expected_cost(self.regret)

    @property
    def test_cost(self) -> Array:
        """``TC(a) = N_S TA(a | path)`` per candidate."""
        return self.weight * self.price

    @cached_property
    def cost_reduction(self) -> Array:
        """``CostRed(a) = DMC(a) - TC(a)`` per candidate, equation (6)."""
        return self.dmc if self._free else self.dmc - self.test_cost

    @cached_property
    def gain(self) -> Array:
        """``Gain(a) = H(S) - sum_v (N_v / N_S) H(S_v)`` per candidate, in bits."""
        result = np.empty(len(self))
        if self._counts:
            large, scale = _large_table(self.node_weight.max(initial=1.0))
            small, small_scale = _small_table()
            scales = np.array([small_scale, scale])
            count_gains(self._left, self.class_weight, self.start, small, large, scales, result)
        else:
            weight_gains(self._left, self.class_weight, self.start, result)
        if self._multiway.size:
            weight = self._wide[:, : self.n_classes]
            node = self._node_of_multiway
            inside = self._add_branches(_x_log2_x(weight.sum(axis=1)) - _x_log2_x(weight).sum(axis=1))
            result[self._multiway] = self.entropy[node] - inside / self.node_weight[node]
        return result

    @cached_property
    def split_info(self) -> Array:
        """``SplitInfo(a) = - sum_v (N_v / N_S) log2 (N_v / N_S)`` per candidate, in bits."""
        result = np.empty(len(self))
        split_infos(self._left, self.class_weight, self.start, result)
        if self._multiway.size:
            whole = self.node_weight[self._node_of_multiway]
            sizes = self._add_branches(_x_log2_x(self._wide[:, : self.n_classes].sum(axis=1)))
            result[self._multiway] = np.log2(whole) - sizes / whole
        return result

    @cached_property
    def dmc(self) -> Array:
        """``DMC(a) = E(S) - sum_v E(S_v)`` per candidate, equation (7)."""
        result = np.empty(len(self))
        cost_reductions(self._left, *self._matrix, self.regret, self.expected_cost, self.start, result)
        if self._multiway.size:
            inside = self._add_branches(_expected_cost(self._wide_regret))
            result[self._multiway] = self.expected_cost[self._node_of_multiway] - inside
        return result

    @cached_property
    def answer_reduction(self) -> Array:
        """``min_p L_S[p] - sum_v min_p L_{S_v}[p]`` per candidate: what better answers save."""
        result = np.empty(len(self))
        answer_reductions(self._left, *self._matrix, self.regret, self.start, result)
        if self._multiway.size:
            inside = self._add_branches(self._wide_regret.min(axis=1))
            result[self._multiway] = self.regret.min(axis=1)[self._node_of_multiway] - inside
        return result

    @cached_property
    def gini_gain(self) -> Array:
        """Decrease of ``1 - sum_k q_k**2`` per candidate."""
        result = np.empty(len(self))
        gini_gains(self._left, self.class_weight, self.start, result)
        if self._multiway.size:
            squares = (self.class_weight**2).sum(axis=1) / self.node_weight
            weight = self._wide[:, : self.n_classes]
            inside = self._add_branches((weight**2).sum(axis=1) / weight.sum(axis=1))
            node = self._node_of_multiway
            result[self._multiway] = (inside - squares[node]) / self.node_weight[node]
        return result

    # --- multiway candidates ------------------------------------------------------------------

    @cached_property
    def _multiway_groups(self) -> NDArray[np.int64]:
        return self._groups[self._groups[:, WIDE] >= 0] if len(self._wide) else self._groups[:0]

    @property
    def _multiway(self) -> NDArray[np.int64]:
        """Positions of the multiway candidates: each is the only one of its group."""
        return self._multiway_groups[:, END] - 1

    @property
    def _node_of_multiway(self) -> NDArray[np.int64]:
        return self._multiway_groups[:, NODE]

    @property
    def _wide_regret(self) -> Array:
        if len(self._left) > self.n_classes:
            return self._wide[:, self.n_classes :]
        return self._regrets_of(self._wide)

    def _regrets_of(self, weight: Array) -> Array:
        shared, rest = self._matrix
        return (weight @ shared)[:, None] + weight @ rest

    def _add_branches(self, values: Array) -> Array:
        """Sum numbers per row of ``_wide`` over the branches of each multiway candidate."""
        return np.add.reduceat(values, self._multiway_groups[:, WIDE])

    # --- some candidates, one node ------------------------------------------------------------

    def choice(self, chosen: NDArray[np.int64]) -> Choice:
        """Describe some candidates.

        Parameters
        ----------
        chosen : ndarray of shape (m,), int64

        Returns
        -------
        Choice
        """
        own = self._groups[np.searchsorted(self._groups[:, END], chosen, side="right")]
        cut = self._cuts[chosen]
        left = self._left[: self.n_classes, chosen].sum(axis=0)
        lighter = left < 0.5 * self.node_weight[own[:, NODE]] * (1 - 1e-12)
        side = np.where(own[:, SIDE] == IN_CUT, cut & 1, own[:, SIDE])
        return Choice(
            feature=own[:, FEATURE],
            cut=cut >> 1,
            missing_branch=np.where(side == HEAVIER, lighter, side),
            n_branches=own[:, BRANCHES],
            price=self._prices[own[:, NODE], own[:, FEATURE]],
        )

    def node(self, i: int) -> Candidates:
        """Return the candidates of one node, copied."""
        first, last = int(self.start[i]), int(self.start[i + 1])
        groups = self._groups[self._groups[:, NODE] == i]
        groups[:, NODE] = 0
        groups[:, END] -= first
        wide = groups[:, WIDE] >= 0
        rows = slice(0, 0)
        if wide.any():
            rows = slice(int(groups[wide, WIDE][0]), int((groups[wide, WIDE] + groups[wide, BRANCHES])[-1]))
            groups[wide, WIDE] -= rows.start
        return Candidates(
            np.array([0, last - first]),
            self.class_weight[i : i + 1].copy(),
            self.regret[i : i + 1].copy(),
            self._prices[i : i + 1].copy(),
            groups,
            self._cuts[first:last].copy(),
            self._left[:, first:last].copy(),
            self._wide[rows].copy(),
            self._matrix,
            self._counts,
        )

    def nodes(self) -> Iterator[Candidates]:
        """Yield the candidates of each node."""
        for i in range(self.n_nodes):
            yield self.node(i)

    def branches(self, i: int) -> tuple[Array, Array]:
        """Return class weights and regrets of each branch of candidate ``i``.

        Parameters
        ----------
        i : int

        Returns
        -------
        class_weight : ndarray of shape (n_branches, n_classes)
        regret : ndarray of shape (n_branches, n_classes)
        """
        group = self._groups[np.searchsorted(self._groups[:, END], i, side="right")]
        node, first, K = int(group[NODE]), int(group[WIDE]), self.n_classes
        by_case = len(self._left) > K
        if first >= 0:
            channels = self._wide[first : first + int(group[BRANCHES])]
        else:
            whole = np.concatenate([self.class_weight[node], self.regret[node]])[: len(self._left)]
            channels = np.stack([self._left[:, i], whole - self._left[:, i]])
        weight = channels[:, :K].copy()
        return weight, channels[:, K:].copy() if by_case else self._regrets_of(weight)


class Choice(NamedTuple):
    """What some candidates test; arrays of one entry each."""

    feature: NDArray[np.int64]
    cut: NDArray[np.int32]
    missing_branch: NDArray[np.int64]
    n_branches: NDArray[np.int64]
    price: Array


def _x_log2_x(x: Array) -> Array:
    return x * np.log2(x, out=np.zeros_like(x), where=x > 0)


def _expected_cost(regret: Array) -> Array:
    """Equations (9) and (10)."""
    result = np.empty(len(regret))
    expected_costs(np.ascontiguousarray(regret), result)
    return result


def _log_table(size: int, scale: float) -> NDArray[np.int64]:
    return np.rint(_x_log2_x(np.arange(size, dtype=np.float64)) * scale).astype(np.int64)


@cache
def _small_table() -> tuple[NDArray[np.int64], float]:
    """``n log2 n`` as integers, fine enough that ties of small nodes are ties to 1e-12."""
    scale = _scale(_SMALL)
    return _log_table(_SMALL, scale), scale


def _large_table(weight: float) -> tuple[NDArray[np.int64], float]:
    return _table_of_scale(_scale(max(weight, _LARGE)))


@cache
def _table_of_scale(scale: float) -> tuple[NDArray[np.int64], float]:
    return _log_table(_LARGE, scale), scale


def _scale(largest: float) -> float:
    """Power of two that keeps sums over a node of ``largest`` cases below 2**62."""
    return 2.0 ** (61 - int(np.ceil(np.log2(2 * largest * np.log2(largest) + 2))))
