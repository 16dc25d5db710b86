"""Optimal trees of pystreed on the sets of ``_streed.py``: how it hears of costs, and what its trees pay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["PeerProblem"]

Paid = tuple[NDArray[np.float64], NDArray[np.float64]]


@dataclass(frozen=True, eq=False)
class PeerProblem:
    """Costs as pystreed wants them.

    Attributes
    ----------
    matrix : ndarray of shape (K, K)
        Cost of answering (column) for a true class (row).
    attributes : mapping of str to mapping
        Price, discount and group of each; see :class:`benchmarks._streed.Table`.
    owner : sequence of str
        The attribute that each binary column belongs to; those of one stand side by side.
    """

    matrix: NDArray[np.float64]
    attributes: Mapping[str, Mapping[str, Any]]
    owner: Sequence[str]

    def fit(
        self,
        binary: NDArray[np.intc],
        y: NDArray[np.int32],
        depth: int,
        specifier: Any = None,
    ) -> Any:
        """Return pystreed's model of least total cost, or of what another specifier says."""
        from pystreed import STreeDCostSensitiveClassifier

        model = STreeDCostSensitiveClassifier(max_depth=depth, min_leaf_node_size=1)
        return model.fit(binary, y, self.specifier() if specifier is None else specifier)

    def specifier(self, w1: float = 1.0, w2: float = 1.0) -> Any:
        """Return the costs, misclassification times ``w1`` and tests times ``w2``."""
        from pystreed import CostSpecifier, FeatureCostSpecifier

        prices = []
        for k, (name, about) in enumerate(self.attributes.items()):
            columns = [f for f, owner in enumerate(self.owner) if owner == name]
            if columns:
                group = about["group"] or f"alone {k}"
                prices.append(
                    FeatureCostSpecifier(
                        about["cost"] * w2, about["discount"] * w2, group, columns[0], columns[-1]
                    )
                )
        return CostSpecifier((self.matrix * w1).tolist(), prices)

    def pay(self, tree: Any, binary: NDArray[np.intc], y: NDArray[np.integer[Any]]) -> Paid:
        """Misclassification and test cost of each case with a tree of pystreed's."""
        wrong, tests = np.empty(len(y)), np.empty(len(y))
        pending = [(tree, np.arange(len(y)), frozenset[str](), 0.0)]
        while pending:
            node, cases, paid, spent = pending.pop()
            if node.is_leaf_node():
                wrong[cases], tests[cases] = self.matrix[y[cases], node.label], spent
                continue
            owner = self.owner[node.feature]
            spent += self.price(owner, paid)
            right = binary[cases, node.feature] > 0
            pending.append((node.left_child, cases[~right], paid | {owner}, spent))
            pending.append((node.right_child, cases[right], paid | {owner}, spent))
        return wrong, tests

    def price(self, owner: str, paid: frozenset[str]) -> float:
        """Price of a column of an attribute where some attributes are paid already."""
        about = self.attributes[owner]
        if owner in paid:
            return 0.0
        if about["group"] and any(self.attributes[other]["group"] == about["group"] for other in paid):
            return float(about["discount"])
        return float(about["cost"])
