"""From encoded cases to the candidates of many nodes at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cstree.costs.bound import BoundCosts
from cstree.encoding.dataset import Dataset
from cstree.greedy._candidate_kernels import count_capacities, tabulate
from cstree.greedy._categorical_kernels import MULTIWAY, NUMERIC, SUBSET, branch_table
from cstree.greedy._kernels import count_histograms, interleave, subtract_histogram, sum_nodes
from cstree.greedy.candidates import Candidates

__all__ = ["Histograms", "Tabulator"]

# Candidates scored together, and their channels: few enough for the cache, so many that numpy's calls
# cost little each.
_BATCH = 65_536
_BATCH_CELLS = 1 << 19
# Nodes with fewer cases than this many per cell and feature are read from their rows.
_CASES_PER_CELL = 4
_FEWEST_CASES = 1024


def check_categorical_split(categorical_split: str) -> None:
    """Raise ValueError for anything but "multiway" and "subset"."""
    if categorical_split not in ("multiway", "subset"):
        raise ValueError(f"categorical_split must be 'multiway' or 'subset'; got {categorical_split!r}.")


class Tabulator:
    """Cases of a dataset, laid out for counting.

    Parameters
    ----------
    dataset : Dataset
    costs : BoundCosts
    categorical_split : {"multiway", "subset"}

    Attributes
    ----------
    rows : ndarray of shape (n_samples,), int32
        Cases; those of a node stand together.
    features : ndarray of shape (n_features, 3), int64
        Kind, number of codes for known values, whether the training column had missing values.
    """

    def __init__(self, dataset: Dataset, costs: BoundCosts, categorical_split: str = "multiway") -> None:
        check_categorical_split(categorical_split)
        kinds = {"multiway": MULTIWAY, "subset": SUBSET}
        self.codes = np.ascontiguousarray(dataset.codes)
        self.labels = dataset.y
        self.n_classes = dataset.n_classes
        self.matrix = costs.matrix
        self.regrets = np.ascontiguousarray(costs.regrets)
        self._matrix = _shared_regrets(self.regrets, dataset.weight is None)
        self.weight = np.empty(0) if dataset.weight is None else dataset.weight
        self.cost, self.regret = _case_costs(dataset)
        self.counts = dataset.weight is None
        self.by_case = dataset.example_cost is not None
        self.rows = np.arange(dataset.n_samples, dtype=np.int32)
        self.features = np.array(
            [
                (NUMERIC if f.kind == "numeric" else kinds[categorical_split], f.n_bins, f.has_missing)
                for f in dataset.schema
            ],
            dtype=np.int64,
        ).reshape(len(dataset.schema), 3)
        self.n_codes = int(self.features[:, 1].max(initial=0)) + 1
        self.n_channels = self.n_classes * (2 if self.by_case else 1)
        self.table = self._interleaved()
        self._cells = np.zeros((self.n_codes, self.n_channels))
        self._left = np.empty((self.n_channels, 0))
        self._cuts = np.empty(0, dtype=np.int32)
        self._wide = np.empty((0, self.n_channels))

    def _interleaved(self) -> NDArray[Any]:
        """Codes case by case where they are small enough to be kept twice."""
        n_features, n = self.codes.shape
        if self.codes.itemsize > 2 or self.n_classes > 256:
            return np.empty((0, n_features + 1), dtype=self.codes.dtype)
        table = np.empty((n, n_features + 1), dtype=self.codes.dtype)
        interleave(self.codes, self.labels, table)
        return table

    @property
    def countable(self) -> bool:
        """Whether integer histograms say all there is to know."""
        return self.counts and not self.by_case and self.codes.itemsize == 1 and len(self.table) > 0

    def sums(self, spans: NDArray[np.int64]) -> tuple[NDArray[np.float64], ...]:
        """Class weights, regrets and costs of the nodes whose cases stand at the given spans.

        Parameters
        ----------
        spans : ndarray of shape (m, 2), int64

        Returns
        -------
        class_weight, regret, cost : ndarray of shape (m, n_classes)
        """
        shape = (len(spans), self.n_classes)
        class_weight, regret, cost = np.empty(shape), np.empty(shape), np.empty(shape)
        sum_nodes(
            self.labels, self.weight, self.regret, self.cost, self.rows, spans, class_weight, regret, cost
        )
        if not self.by_case:
            regret, cost = class_weight @ self.regrets, class_weight @ self.matrix
        return class_weight, regret, cost

    # --- candidates ---------------------------------------------------------------------------

    def batches(self, sizes: NDArray[np.int64]) -> Iterator[tuple[slice, int, int]]:
        """Cut nodes of the given sizes into batches; yield each with its capacities."""
        capacities = np.empty((len(sizes), 2), dtype=np.int64)
        count_capacities(sizes, self.features, self.n_channels, capacities)
        total = capacities.sum(axis=0).tolist()
        batch = max(min(_BATCH, _BATCH_CELLS // self.n_channels), 1024)
        if total[0] <= batch:
            if len(sizes):
                yield slice(0, len(sizes)), total[0], total[1]
            return
        reached = np.cumsum(capacities[:, 0])
        first = 0
        while first < len(sizes):
            before = reached[first - 1] if first else 0
            last = max(int(np.searchsorted(reached, before + batch, side="right")), first + 1)
            part = slice(first, last)
            yield part, *capacities[part].sum(axis=0).tolist()
            first = last

    def candidates(
        self,
        nodes: NDArray[np.int64],
        usable: NDArray[np.bool_],
        prices: NDArray[np.float64],
        class_weight: NDArray[np.float64],
        regret: NDArray[np.float64],
        histograms: NDArray[np.int32],
        capacities: tuple[int, int] | None = None,
    ) -> Candidates:
        """Tabulate the candidates of some nodes; the arrays are valid until the next call.

        Parameters
        ----------
        nodes : ndarray of shape (m, 3), int64
            Span of each node in ``rows`` and slot of its histogram, -1: none.
        usable : ndarray of shape (m, n_features), bool
        prices : ndarray of shape (m, n_features)
            Price of each feature's test on the path.
        class_weight, regret : ndarray of shape (m, n_classes)
        histograms : ndarray of shape (n_slots, n_features, n_codes, n_classes), int32
        capacities : tuple of int, optional
            From :meth:`batches`.

        Returns
        -------
        Candidates
        """
        if capacities is None:
            ((_, *own),) = self.batches(nodes[:, 1] - nodes[:, 0])
            capacities = (own[0], own[1])
        self._reserve(*capacities)
        start = np.zeros(len(nodes) + 1, dtype=np.int64)
        groups = np.empty((len(nodes) * len(self.features), 6), dtype=np.int64)
        n_groups, n_wide = tabulate(
            self.codes, self.table, self.labels, self.weight, self.regret, self.rows,
            nodes, self.features, usable, histograms,
            self._cells, self._left, self._wide, self._cuts, groups, start[1:],
        )  # fmt: skip
        return Candidates(
            start, class_weight, regret, prices, groups[:n_groups],
            self._cuts, self._left, self._wide[:n_wide], self._matrix, self.counts,
        )  # fmt: skip

    def _reserve(self, n_candidates: int, n_branches: int) -> None:
        if self._left.shape[1] < n_candidates:
            self._left = np.empty((self.n_channels, n_candidates))
            self._cuts = np.empty(n_candidates, dtype=np.int32)
        if len(self._wide) < n_branches:
            self._wide = np.empty((n_branches, self.n_channels))

    def branches_of_categories(self, feature: int, start: int, end: int, chosen: int) -> NDArray[np.int32]:
        """Branch of each category for the chosen split of a node; -1: not seen at the node."""
        kind, n_known, _ = self.features[feature]
        table = np.empty(int(n_known), dtype=np.int32)
        branch_table(
            self.codes[feature], self.rows, start, end, self.labels, self.weight, self.regret,
            kind, n_known, chosen, self._cells, table,
        )  # fmt: skip
        return table


def _shared_regrets(
    regrets: NDArray[np.float64], counts: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Take out of each row the figure that most of its entries share: with few left, less is summed.

    Only where all sums are whole numbers, so that nothing is lost by subtracting them again.
    """
    shared = np.zeros(len(regrets))
    if counts and len(regrets) > 2 and (regrets == np.rint(regrets)).all():
        for t, row in enumerate(regrets):
            figures, often = np.unique(row, return_counts=True)
            shared[t] = figures[often.argmax()]
    return shared, regrets - shared[:, None]


def _case_costs(dataset: Dataset) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Weighted costs and regrets of each case; no rows where the cost matrix rules."""
    costs = dataset.example_cost
    if costs is None:
        none = np.empty((0, dataset.n_classes))
        return none, none
    regrets = costs - costs.min(axis=1, keepdims=True)
    if dataset.weight is None:
        return np.ascontiguousarray(costs), regrets
    return costs * dataset.weight[:, None], regrets * dataset.weight[:, None]


class Histograms:
    """Counts of the large nodes by feature, code and class.

    Of two siblings only the smaller is counted; the larger is what remains of their parent.

    Parameters
    ----------
    tabulator : Tabulator
    """

    def __init__(self, tabulator: Tabulator) -> None:
        self._cases = tabulator
        shape = (len(tabulator.features), tabulator.n_codes, tabulator.n_classes)
        self.least = max(_CASES_PER_CELL * tabulator.n_codes * tabulator.n_classes, _FEWEST_CASES)
        n = len(tabulator.rows)
        # Large nodes of a moment share the cases, and one slot is spare. Memory is taken when touched.
        n_slots = n // self.least + 2 if tabulator.countable and n >= self.least else 0
        self.counts = np.empty((n_slots, *shape), dtype=np.int32)
        self._free = list(range(n_slots))

    def wanted(self, size: int) -> bool:
        """Whether a node of this many cases gets a histogram."""
        return bool(len(self.counts)) and size >= self.least

    def count(self, start: int, end: int) -> int:
        """Count the cases at a span; return the slot."""
        slot = self._free.pop()
        cases = self._cases
        count_histograms(cases.table, cases.rows, np.array([[start, end, slot]]), self.counts)
        return slot

    def release(self, slot: int) -> None:
        """Give a slot back."""
        if slot >= 0:
            self._free.append(slot)

    def divide(self, slot: int, spans: NDArray[np.int64], open_: NDArray[np.bool_]) -> list[int]:
        """Give each child that wants one a histogram and take the parent's.

        Parameters
        ----------
        slot : int
            The parent's slot.
        spans : ndarray of shape (n_branches, 2), int64
        open_ : ndarray of shape (n_branches,), bool
            Children that may be split.

        Returns
        -------
        list of int
            Slot of each child, -1: none.
        """
        sizes = spans[:, 1] - spans[:, 0]
        wants = [bool(o) and self.wanted(int(s)) for o, s in zip(open_, sizes, strict=True)]
        slots = [-1] * len(wants)
        largest = int(np.argmax(sizes))
        for b, (start, end) in enumerate(spans.tolist()):
            if b == largest or not (wants[b] or wants[largest]):
                continue
            part = self.count(start, end)
            if wants[largest]:
                subtract_histogram(self.counts, slot, part)
            if wants[b]:
                slots[b] = part
            else:
                self.release(part)
        if wants[largest]:
            slots[largest] = slot
        else:
            self.release(slot)
        return slots
