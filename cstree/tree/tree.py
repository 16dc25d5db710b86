"""A decision tree as one flat table of nodes in preorder."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Tree"]

_DTYPES: dict[str, type[np.generic]] = {
    "feature": np.int32,
    "threshold": np.float64,
    "n_branches": np.int32,
    "size": np.int32,
    "missing_branch": np.int32,
    "table_start": np.int32,
    "branch_of_category": np.int32,
    "answer": np.int32,
    "support": np.int64,
    "class_weight": np.float64,
    "label_cost": np.float64,
}


@dataclass(frozen=True, eq=False)
class Tree:
    """A tree of ``n`` nodes over ``K`` classes; node 0 is the root.

    A subtree is the slice ``i : i + size[i]``; the first child of ``i`` is ``i + 1``, the sibling
    after a child ``c`` is ``c + size[c]``.

    Attributes
    ----------
    feature : int32 (n,)
        Feature that the node tests; -1 for a leaf.
    threshold : float64 (n,)
        Numeric split: a value ``<= threshold`` takes branch 0, a greater one branch 1. NaN elsewhere.
    n_branches : int32 (n,)
        0 for a leaf, 2 for numeric and subset splits, any number from 2 for multiway splits.
    size : int32 (n,)
        Nodes in the subtree, the node itself included.
    missing_branch : int32 (n,)
        Branch that missing and unknown values take.
    table_start : int32 (n,)
        Categorical split: where its branches begin in ``branch_of_category``; -1 elsewhere.
    branch_of_category : int32 (m,)
        Branch of each category of the tested feature; -1: never seen here, travels as missing.
    answer : int32 (n,)
        Class index of least label cost, also for inner nodes.
    support : int64 (n,)
        Training cases that reach the node.
    class_weight : float64 (n, K)
        Training weight of each class at the node.
    label_cost : float64 (n, K)
        Weighted cost of each answer for the node's training cases.
    """

    feature: NDArray[np.int32]
    threshold: NDArray[np.float64]
    n_branches: NDArray[np.int32]
    size: NDArray[np.int32]
    missing_branch: NDArray[np.int32]
    table_start: NDArray[np.int32]
    branch_of_category: NDArray[np.int32]
    answer: NDArray[np.int32]
    support: NDArray[np.int64]
    class_weight: NDArray[np.float64]
    label_cost: NDArray[np.float64]

    def __post_init__(self) -> None:
        for field in fields(self):
            array = np.ascontiguousarray(getattr(self, field.name), dtype=_DTYPES[field.name])
            if array.flags.writeable and array.base is None:
                array.flags.writeable = False
            object.__setattr__(self, field.name, array)

    @property
    def n_nodes(self) -> int:
        """Number of nodes, leaves included."""
        return len(self.feature)

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return int(np.count_nonzero(self.feature < 0))

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.class_weight.shape[1])

    @property
    def is_leaf(self) -> NDArray[np.bool_]:
        """Mask of the leaves, shape (n,)."""
        return self.feature < 0

    @cached_property
    def depth(self) -> int:
        """Number of splits on the longest path; 0 for a single leaf."""
        return int(self.depths().max())

    def children(self, node: int) -> list[int]:
        """Nodes below ``node``, by branch; empty for a leaf."""
        found = []
        child = node + 1
        for _ in range(int(self.n_branches[node])):
            found.append(child)
            child += int(self.size[child])
        return found

    @cached_property
    def child_table(self) -> NDArray[np.int32]:
        """Child of each node by branch, shape (n, most branches); -1 where there is none."""
        table = np.full((self.n_nodes, max(int(self.n_branches.max()), 1)), -1, dtype=np.int32)
        for node in np.flatnonzero(self.n_branches):
            below = self.children(int(node))
            table[node, : len(below)] = below
        return table

    def parents(self) -> NDArray[np.int32]:
        """Parent of each node, -1 for the root; shape (n,)."""
        result = np.full(self.n_nodes, -1, dtype=np.int32)
        for node in np.flatnonzero(self.n_branches):
            result[self.children(int(node))] = node
        return result

    def depths(self) -> NDArray[np.int32]:
        """Count the splits above each node; shape (n,)."""
        result = np.zeros(self.n_nodes, dtype=np.int32)
        for node, parent in enumerate(self.parents()):
            if parent >= 0:
                result[node] = result[parent] + 1
        return result

    def leaves(self) -> NDArray[np.intp]:
        """Return the indices of the leaves in preorder."""
        return np.flatnonzero(self.feature < 0)

    def used_features(self) -> list[int]:
        """Features that some node tests, ascending."""
        return sorted({int(feature) for feature in self.feature if feature >= 0})

    def path(self, node: int) -> list[tuple[int, int]]:
        """Return the splits from the root to ``node`` as ``(inner node, branch taken)``."""
        steps: list[tuple[int, int]] = []
        here = 0
        while here != node:
            for branch, child in enumerate(self.children(here)):
                if child <= node < child + int(self.size[child]):
                    steps.append((here, branch))
                    here = child
                    break
            else:
                raise IndexError(f"node {node} is not in this tree of {self.n_nodes} nodes")
        return steps

    def categories_of_branch(self, node: int, branch: int, n_categories: int) -> list[int]:
        """Category codes that take ``branch`` at a categorical split."""
        start = int(self.table_start[node])
        return [
            int(code)
            for code in np.flatnonzero(self.branch_of_category[start : start + n_categories] == branch)
        ]

    def same_as(self, other: Tree) -> bool:
        """Whether both trees agree in every array, to the last bit."""
        return all(
            np.array_equal(
                mine := getattr(self, field.name), getattr(other, field.name), equal_nan=mine.dtype == float
            )
            for field in fields(self)
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values; thresholds of nodes that have none are null."""
        plain = {field.name: getattr(self, field.name).tolist() for field in fields(self)}
        plain["threshold"] = [None if math.isnan(value) else value for value in plain["threshold"]]
        return plain

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any], *, n_bins: list[int], n_classes: int) -> Tree:
        """Rebuild a tree and check that every index in it is sound.

        Parameters
        ----------
        plain : mapping
            What :meth:`to_dict` wrote.
        n_bins : list of int
            For each feature its number of categories, or 0 for a numeric one.
        n_classes : int

        Raises
        ------
        ValueError
            The arrays are damaged: sizes that do not nest, unknown features, branches or classes.
        """
        arrays: dict[str, Any] = {}
        for field in fields(cls):
            values = plain.get(field.name)
            if not isinstance(values, list):
                raise ValueError(f"tree: {field.name} is missing")
            if field.name == "threshold":
                values = [math.nan if value is None else value for value in values]
            try:
                raw = np.array(values)
                wanted = np.dtype(_DTYPES[field.name])
                if raw.size and (
                    raw.dtype.kind not in "if" or (wanted.kind == "i" and raw.dtype.kind != "i")
                ):
                    raise ValueError("not numbers of the right kind")
                arrays[field.name] = raw.astype(wanted)
                if raw.size and wanted.kind == "i" and not np.array_equal(arrays[field.name], raw):
                    raise ValueError("numbers out of range")
            except (ValueError, TypeError, OverflowError) as error:
                raise ValueError(f"tree: {field.name} is damaged ({error})") from error
        _check_shapes(arrays, n_classes)
        _check_structure(arrays, n_bins)
        return cls(**arrays)

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Tree:
        """Make a tree of arrays that are contiguous, read-only and of the right dtypes; none is checked."""
        tree = object.__new__(cls)
        tree.__dict__.update(arrays)
        return tree

    @classmethod
    def single_leaf(
        cls, answer: int, support: int, class_weight: NDArray[np.float64], label_cost: NDArray[np.float64]
    ) -> Tree:
        """Return the tree that gives everybody the same answer."""
        return cls(
            feature=np.array([-1]),
            threshold=np.array([np.nan]),
            n_branches=np.array([0]),
            size=np.array([1]),
            missing_branch=np.array([0]),
            table_start=np.array([-1]),
            branch_of_category=np.empty(0, dtype=np.int32),
            answer=np.array([answer]),
            support=np.array([support]),
            class_weight=np.asarray(class_weight, dtype=np.float64).reshape(1, -1),
            label_cost=np.asarray(label_cost, dtype=np.float64).reshape(1, -1),
        )


def _check_shapes(arrays: dict[str, Any], n_classes: int) -> None:
    n = len(arrays["feature"])
    if n == 0:
        raise ValueError("tree: it has no nodes")
    for name, array in arrays.items():
        if name == "branch_of_category":
            continue
        wanted = (n, n_classes) if name in ("class_weight", "label_cost") else (n,)
        if array.shape != wanted:
            raise ValueError(f"tree: {name} has shape {array.shape}, wanted {wanted}")
    for name in ("class_weight", "label_cost"):
        if not np.isfinite(arrays[name]).all():
            raise ValueError(f"tree: {name} holds a number that is not finite")
    if ((arrays["answer"] < 0) | (arrays["answer"] >= n_classes)).any():
        raise ValueError("tree: an answer is no class of the model")


def _check_structure(arrays: dict[str, Any], n_bins: list[int]) -> None:
    """Walk the preorder once with a stack of open subtrees; every index must stay inside."""
    size, branches, feature = arrays["size"], arrays["n_branches"], arrays["feature"]
    n = len(size)
    for node in range(n - 1, -1, -1):
        end = node + 1
        for _ in range(int(branches[node])):
            if end >= n:
                raise ValueError(f"tree: node {node} has fewer children than branches")
            end += int(size[end])
        if int(branches[node]) < 0 or int(size[node]) != end - node:
            raise ValueError(f"tree: the size of node {node} does not fit its children")
        if (branches[node] == 0) != (feature[node] < 0) or feature[node] >= len(n_bins) or feature[node] < -1:
            raise ValueError(f"tree: node {node} tests a feature that the model lacks")
        if branches[node]:
            _check_split(arrays, node, n_bins[int(feature[node])])
    if int(size[0]) != n:
        raise ValueError("tree: the root does not span all nodes")


def _check_split(arrays: dict[str, Any], node: int, n_categories: int) -> None:
    branches, start = int(arrays["n_branches"][node]), int(arrays["table_start"][node])
    if not 0 <= arrays["missing_branch"][node] < branches:
        raise ValueError(f"tree: missing values at node {node} take a branch that is not there")
    if n_categories == 0:
        if branches != 2 or not math.isfinite(arrays["threshold"][node]) or start != -1:
            raise ValueError(f"tree: node {node} splits a number without a finite threshold and two branches")
        return
    table = (
        arrays["branch_of_category"][start : start + n_categories] if start >= 0 else arrays["threshold"][:0]
    )
    if len(table) != n_categories or (table < -1).any() or (table >= branches).any():
        raise ValueError(f"tree: node {node} sends a category to a branch that is not there")
