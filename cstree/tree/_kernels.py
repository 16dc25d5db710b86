"""Walk cases down a tree."""

from __future__ import annotations

import numpy as np

from cstree._numba import kernel


@kernel
def find_leaves(values, row, threshold, missing_branch, table_start, branch_of_category, child, leaf):  # type: ignore[no-untyped-def]
    """Write the leaf that each case reaches.

    Parameters
    ----------
    values : float64 (n_used, n_samples)
        Raw values of the tested features; categories as codes, missing as NaN.
    row : int32 (n_nodes,)
        Row of ``values`` that a node tests; -1 for a leaf.
    threshold, missing_branch, table_start, branch_of_category
        As in :class:`cstree.tree.tree.Tree`.
    child : int32 (n_nodes, most branches)
    leaf : int32 (n_samples,), filled
    """
    for i in range(leaf.shape[0]):
        node = 0
        while row[node] >= 0:
            value = values[row[node], i]
            if np.isnan(value):
                branch = missing_branch[node]
            elif table_start[node] < 0:
                branch = np.int32(value > threshold[node])
            else:
                branch = branch_of_category[table_start[node] + np.int64(value)]
                if branch < 0:
                    branch = missing_branch[node]
            node = child[node, branch]
        leaf[i] = node


@kernel
def add_to_parents(parent, totals):  # type: ignore[no-untyped-def]
    """Add each node's row to its parent's, last node first, so that inner nodes hold sums.

    Parameters
    ----------
    parent : int32 (n_nodes,)
    totals : float64 (n_nodes, m), changed
    """
    for node in range(parent.shape[0] - 1, 0, -1):
        for k in range(totals.shape[1]):
            totals[parent[node], k] += totals[node, k]
