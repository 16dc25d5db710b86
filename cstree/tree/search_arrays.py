"""A search problem as its kernels see it: cases as bits, figures as scaled integers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cstree.costs.bound import BoundCosts
from cstree.encoding._kernels import pack_codes
from cstree.encoding.dataset import Dataset
from cstree.tree._bit_kernels import GROUPED, PER_CASE, WEIGHTED
from cstree.tree.candidates import ENUMERATED_CATEGORIES, CandidateTests

__all__ = ["SearchArrays", "Workspace", "build_search_arrays", "make_workspace"]

# With more cases than this, a search sees differing weights rounded to the mean of a thousand like
# ones, at the speed of counting; the trees it returns are evaluated with the weights as given.
_EXACT_WEIGHTS = 65_536
# Integer sums stay below this, so they neither overflow nor round.
_LARGEST_SUM = 2.0**61


class SearchArrays(NamedTuple):
    """A problem as the kernels see it; ``W`` words, ``R`` candidate rows, ``G`` groups of cases."""

    bits: NDArray[np.uint64]  # (R, W) cases that take branch 0
    category_bits: NDArray[np.uint64]  # (rows, W) cases of each category, for subsets without a row
    category_first: NDArray[np.int64]  # (subset features,) first row in category_bits
    category_count: NDArray[np.int64]  # (subset features,) categories; the row after them: missing
    subset_feature: NDArray[np.int64]  # (subset features,) feature
    test_feature: NDArray[np.int64]  # (R,) feature that a row tests
    choice_feature: NDArray[np.int64]  # (choices,) features a random test may draw
    choice_first: NDArray[np.int64]  # (choices,) first row, or R + 2 * subset feature
    choice_count: NDArray[np.int64]  # (choices,) rows; 0: subset without rows
    choice_sides: NDArray[np.int64]  # (choices,) 2 where missing values may take either side
    choice_of_feature: NDArray[np.int64]  # (F,) choice that draws a feature's tests; -1: it has none
    group_start: NDArray[np.int64]  # (G + 1,) first word of each group
    group_class: NDArray[np.int64]  # (G,)
    group_weight: NDArray[np.int64]  # (G,) scaled weight of each case (GROUPED)
    columns: NDArray[np.int64]  # (columns, 64 W) scaled figures of each case
    words: NDArray[np.uint64]  # (W,) all cases
    root_statistics: NDArray[np.int64]
    matrix: NDArray[np.float64]
    row_least: NDArray[np.float64]  # (K,) least entry of each row of the matrix
    step_start: NDArray[np.int32]
    steps: NDArray[np.int32]
    prices: NDArray[np.float64]
    kind: int
    n_steps: int
    weight_unit: float  # weight of one scaled unit
    cost_unit: float
    cost_scale: float  # magnitude of the whole table's costs, for relative slack
    total_weight: float
    max_test_cost: float  # most that a path may cost


class Workspace(NamedTuple):
    """Scratch memory of one worker, made once."""

    test: NDArray[np.int32]
    mask: NDArray[np.uint64]
    size: NDArray[np.int32]
    new_test: NDArray[np.int32]
    new_mask: NDArray[np.uint64]
    new_size: NDArray[np.int32]
    statistics: NDArray[np.int64]
    left_statistics: NDArray[np.int64]
    words: NDArray[np.uint64]
    waiting_words: NDArray[np.uint64]
    price: NDArray[np.float64]
    path_price: NDArray[np.float64]  # (levels,) paid on the way to each level
    leaf_cost: NDArray[np.float64]
    subtree_cost: NDArray[np.float64]
    stack: NDArray[np.int64]
    parent_at: NDArray[np.int64]
    trail: NDArray[np.int64]
    trail_mark: NDArray[np.int64]
    paid: NDArray[np.uint8]
    counters: NDArray[np.int64]
    path: NDArray[np.int64]


def make_workspace(p: SearchArrays, nodes: int, levels: int) -> Workspace:
    """Scratch memory for trees of up to ``nodes`` nodes on ``levels`` levels (two more than the depth)."""
    return Workspace(
        test=np.empty(nodes, np.int32),
        mask=np.zeros(nodes, np.uint64),
        size=np.empty(nodes, np.int32),
        new_test=np.empty(nodes, np.int32),
        new_mask=np.zeros(nodes, np.uint64),
        new_size=np.empty(nodes, np.int32),
        statistics=np.zeros((nodes, len(p.root_statistics)), np.int64),
        left_statistics=np.zeros((levels, len(p.root_statistics)), np.int64),
        words=np.tile(p.words, (levels, 1)),
        waiting_words=np.zeros((1, len(p.words)), np.uint64),
        price=np.zeros(nodes),
        path_price=np.zeros(levels + 1),
        leaf_cost=np.zeros(nodes),
        subtree_cost=np.zeros(nodes),
        stack=np.zeros((2 * levels + 2, 3), np.int64),
        parent_at=np.zeros(levels, np.int64),
        trail=np.zeros(len(p.steps) + 1, np.int64),
        trail_mark=np.zeros(levels + 1, np.int64),
        paid=np.zeros(max(p.n_steps, 1), np.uint8),
        counters=np.zeros(2, np.int64),
        path=np.zeros(levels, np.int64),
    )


def build_search_arrays(
    dataset: Dataset,
    costs: BoundCosts,
    candidates: CandidateTests,
    category_groups: Mapping[int, NDArray[np.int64]],
    max_test_cost: float,
) -> SearchArrays:
    """Lay out the cases as bits and look up what the kernels need of costs and candidates."""
    return _SearchArraysBuilder(dataset, costs, candidates, category_groups, max_test_cost).build()


class _Layout(NamedTuple):
    """Where each case sits among the bits."""

    position: NDArray[np.int64]  # (n,)
    group_start: NDArray[np.int64]
    group_class: NDArray[np.int64]
    group_weight: NDArray[np.float64]
    group_size: NDArray[np.int64]
    kind: int

    @property
    def n_words(self) -> int:
        return int(self.group_start[-1])


class _SearchArraysBuilder:
    """Builds the kernels' view of a problem."""

    def __init__(
        self,
        dataset: Dataset,
        costs: BoundCosts,
        candidates: CandidateTests,
        category_groups: Mapping[int, NDArray[np.int64]],
        max_test_cost: float,
    ) -> None:
        self.dataset = dataset
        self.costs = costs
        self.candidates = candidates
        self.category_groups = category_groups
        # Prices that are added in another order may differ in the last bits.
        self.max_test_cost = max_test_cost + 1e-12 * abs(max_test_cost)
        self.layout = _lay_out(dataset)

    def build(self) -> SearchArrays:
        bits = self._candidate_bits()
        category_bits, first, count, subset_feature = self._category_bits()
        choices = self._choices(len(bits), subset_feature)
        choice_of_feature = np.full(len(self.dataset.schema), -1, dtype=np.int64)
        choice_of_feature[choices[:, 0]] = np.arange(len(choices))
        weight_scale, columns, root, cost_unit = self._figures()
        costs, matrix = self.costs, np.ascontiguousarray(self.costs.matrix)
        total = self.dataset.total_weight
        case_costs = matrix if self.dataset.example_cost is None else self.dataset.example_cost
        return SearchArrays(
            bits=bits,
            category_bits=category_bits,
            category_first=first,
            category_count=count,
            subset_feature=subset_feature,
            test_feature=self.candidates.feature if len(self.candidates) else np.zeros(1, np.int64),
            choice_feature=choices[:, 0].copy(),
            choice_first=choices[:, 1].copy(),
            choice_count=choices[:, 2].copy(),
            choice_sides=choices[:, 3].copy(),
            choice_of_feature=choice_of_feature,
            group_start=self.layout.group_start,
            group_class=self.layout.group_class,
            group_weight=self._scaled(self.layout.group_weight, weight_scale),
            columns=columns,
            words=self._pack(np.ones(self.dataset.n_samples, np.uint8), np.array([-1, 0]), 1)[0],
            root_statistics=root,
            matrix=matrix,
            row_least=matrix.min(axis=1),
            step_start=costs.step_start,
            steps=costs.steps,
            prices=costs.prices,
            kind=self.layout.kind,
            n_steps=len(costs.step_names),
            weight_unit=1.0 / weight_scale,
            cost_unit=cost_unit,
            cost_scale=float(total * np.abs(case_costs).max()),
            total_weight=total,
            max_test_cost=self.max_test_cost,
        )

    def _pack(
        self, codes: NDArray[np.unsignedinteger[Any]], row_of_code: NDArray[np.int64], n_rows: int
    ) -> NDArray[np.uint64]:
        words = np.zeros((n_rows, self.layout.n_words), dtype=np.uint64)
        pack_codes(codes, self.layout.position, row_of_code.astype(np.int64), words)
        return words

    def _by_code(self, j: int) -> NDArray[np.uint64]:
        """One row of words per code of feature ``j``, the missing code last."""
        n_codes = self.dataset.schema[j].n_bins + 1
        return self._pack(self.dataset.codes[j], np.arange(n_codes), n_codes)

    def _candidate_bits(self) -> NDArray[np.uint64]:
        candidates = self.candidates
        bits = np.zeros((max(len(candidates), 1), self.layout.n_words), dtype=np.uint64)
        for j in np.unique(candidates.feature):
            rows = np.flatnonzero(candidates.feature == j)
            by_code = self._by_code(int(j))
            missing = by_code[-1]
            if self.dataset.schema[int(j)].kind == "numeric":
                prefix = np.bitwise_or.accumulate(by_code[:-1], axis=0)
                bits[rows] = prefix[candidates.cut[rows]]
            else:
                for row in rows:
                    for code in range(len(by_code) - 1):
                        if int(candidates.subset[row]) >> code & 1:
                            bits[row] |= by_code[code]
            bits[rows[candidates.missing_left[rows]]] |= missing
        return bits

    def _category_bits(
        self,
    ) -> tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Words of each category group of the features whose subsets are too many for rows."""
        features = [
            j
            for j, feature in enumerate(self.dataset.schema)
            if feature.kind == "categorical" and feature.n_bins > ENUMERATED_CATEGORIES
        ]
        blocks: list[NDArray[np.uint64]] = []
        first, count = [], []
        for j in features:
            groups = self.category_groups[j]
            n_groups = int(groups.max()) + 1
            first.append(sum(map(len, blocks)))
            count.append(n_groups)
            blocks.append(self._pack(self.dataset.codes[j], np.append(groups, n_groups), n_groups + 1))
        words = np.concatenate(blocks) if blocks else np.zeros((1, self.layout.n_words), dtype=np.uint64)
        return words, np.array(first, np.int64), np.array(count, np.int64), np.array(features, np.int64)

    def _choices(self, n_rows: int, subset_feature: NDArray[np.int64]) -> NDArray[np.int64]:
        """Feature, first test, number of tests and sides of missing values of every feature with a test."""
        feature_of_row = self.candidates.feature
        choices = []
        for j in np.unique(feature_of_row):
            rows = np.flatnonzero(feature_of_row == j)
            choices.append((int(j), int(rows[0]), len(rows), 1))
        for k, j in enumerate(subset_feature):
            sides = 2 if self.dataset.schema[int(j)].has_missing else 1
            choices.append((int(j), n_rows + 2 * k, 0, sides))
        return np.array(sorted(choices), dtype=np.int64).reshape(-1, 4)

    def _figures(self) -> tuple[float, NDArray[np.int64], NDArray[np.int64], float]:
        """Scaled integers of each case, their sums at the root, and the units."""
        dataset, layout = self.dataset, self.layout
        weight = dataset.weights()
        # Scaling by a power of two keeps every weight that an integer of that size can hold exactly.
        weight_scale = 1.0 if dataset.weight is None else _power_of_two_below(_LARGEST_SUM / weight.sum())
        scaled = self._scaled(weight, weight_scale)
        figures: list[NDArray[Any]] = []
        cost_unit = 1.0
        if layout.kind == WEIGHTED:
            figures = [scaled]
        elif layout.kind == PER_CASE:
            assert dataset.example_cost is not None
            weighted = dataset.example_cost * weight[:, None]
            largest = np.abs(weighted).max(axis=1).sum()
            cost_scale = _power_of_two_below(_LARGEST_SUM / largest) if largest > 0 else 1.0
            cost_unit = 1.0 / cost_scale
            answers = np.rint(weighted * cost_scale)
            figures = [scaled, answers.min(axis=1), *answers.T]
        columns = np.zeros((max(len(figures), 1), 64 * layout.n_words), dtype=np.int64)
        for column, figure in zip(columns, figures, strict=False):
            column[layout.position] = figure.astype(np.int64)
        if layout.kind == PER_CASE:
            sums = columns.sum(axis=1)
        else:
            sums = np.zeros(dataset.n_classes, np.int64)
            if layout.kind == GROUPED:
                np.add.at(
                    sums,
                    layout.group_class,
                    layout.group_size * self._scaled(layout.group_weight, weight_scale),
                )
            else:
                np.add.at(sums, dataset.y, scaled)
        return weight_scale, columns, np.concatenate([[dataset.n_samples], sums]).astype(np.int64), cost_unit

    @staticmethod
    def _scaled(weight: NDArray[np.float64], scale: float) -> NDArray[np.int64]:
        return np.rint(weight * scale).astype(np.int64)


def _power_of_two_below(value: float) -> float:
    """Greatest power of two not above ``value``: scaling by it rounds no representable weight."""
    return float(2.0 ** np.floor(np.log2(value)))


def _lay_out(dataset: Dataset) -> _Layout:
    """Sort the cases by class, and by weight where few weights occur, into whole words."""
    kind = GROUPED
    key = dataset.y.astype(np.int64)
    weight = dataset.weights()
    if dataset.example_cost is not None:
        kind, key = PER_CASE, np.zeros(dataset.n_samples, dtype=np.int64)
    elif dataset.weight is not None:
        levels, level = np.unique(weight, return_inverse=True)
        both = key * len(levels) + level
        if len(np.unique(both)) <= max(16, dataset.n_samples // 512):
            key = both
        elif dataset.n_samples > _EXACT_WEIGHTS:
            key = _similar_weights(key, weight, dataset.n_samples // 1024)
        else:
            kind = WEIGHTED
    _, member, sizes = np.unique(key, return_inverse=True, return_counts=True)
    start = np.concatenate([[0], np.cumsum((sizes + 63) // 64)]).astype(np.int64)
    order = np.argsort(member, kind="stable")
    first = np.cumsum(sizes) - sizes
    position = np.empty(dataset.n_samples, dtype=np.int64)
    position[order] = (
        np.arange(dataset.n_samples) - np.repeat(first, sizes) + 64 * np.repeat(start[:-1], sizes)
    )
    mean = np.bincount(member, weights=weight) / sizes
    return _Layout(
        position, start, dataset.y[order[first]].astype(np.int64), mean, sizes.astype(np.int64), kind
    )


def _similar_weights(y: NDArray[np.int64], weight: NDArray[np.float64], n_groups: int) -> NDArray[np.int64]:
    """Group index of each case: cases of one class whose weights are neighbours."""
    order = np.lexsort((weight, y))
    group = np.empty(len(y), dtype=np.int64)
    group[order] = np.arange(len(y)) * n_groups // len(y)
    return y * n_groups + group
