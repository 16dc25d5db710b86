"""Walk cases down a tree."""

from __future__ import annotations

import numpy as np

from cstree._numba import kernel

# Cases that go down together, a level at a time: their steps do not wait for one another.
_BLOCK = 256


@kernel
def find_leaves(  # type: ignore[no-untyped-def]
    flat,
    row_stride,
    column_stride,
    column,
    threshold,
    missing_branch,
    table_start,
    branch_of_category,
    child,
    depth,
    leaf,
):
    """Write the leaf that each case reaches.

    Positions are unsigned, so that none is checked for Python's way of counting from the end.

    Parameters
    ----------
    flat : float64
        Raw values, categories as codes, missing as NaN; that of case ``i`` in column ``c`` stands at
        ``i * row_stride + c * column_stride``.
    row_stride, column_stride : int
    column : uint32 (n_nodes,)
        Column that a node tests; any for leaves.
    threshold : float64 (n_nodes,)
    missing_branch, table_start, branch_of_category
        As in :class:`cstree.tree.tree.Tree`.
    child : uint32 (n_nodes, most branches)
        A leaf is its own child.
    depth : int
        Splits on the longest path.
    leaf : int32 (n_samples,), filled
    """
    nodes = np.empty(_BLOCK, dtype=np.uint32)
    children, width = child.reshape(-1), np.uint64(child.shape[1])
    stride = np.uint64(column_stride)
    for start in range(0, leaf.shape[0], _BLOCK):
        n = min(_BLOCK, leaf.shape[0] - start)
        nodes[:n] = 0
        for _ in range(depth):
            for i in range(n):
                node = np.uint64(nodes[i])
                value = flat[np.uint64((start + i) * row_stride) + np.uint64(column[node]) * stride]
                branch = np.int64(missing_branch[node])
                if not np.isnan(value):
                    if table_start[node] < 0:
                        branch = np.int64(value > threshold[node])
                    else:
                        listed = np.int64(branch_of_category[table_start[node] + np.int64(value)])
                        branch = listed if listed >= 0 else branch
                nodes[i] = children[node * width + np.uint64(branch)]
        for i in range(n):
            leaf[start + i] = nodes[i]


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
