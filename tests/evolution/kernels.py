"""Kernels that are compiled into others only, made callable."""

from __future__ import annotations

from cstree._numba import lean_kernel
from cstree.evolution._kernels import clone_counts
from cstree.evolution._polish_kernels import best_subtree, polish


@lean_kernel
def count_clones(pool, n_members, settings):  # type: ignore[no-untyped-def]
    """Call clone_counts."""
    return clone_counts(pool, n_members, settings)


@lean_kernel
def find_best_subtree(p, s, f, rng, deeper):  # type: ignore[no-untyped-def]
    """Leave the best subtree for all cases under the rates of ``f`` in ``f.chosen``; see best_subtree."""
    for step in range(s.paid.shape[0]):
        s.paid[step] = 0
    return best_subtree(p, s, f, 0, 3 if deeper else 2, deeper, rng, 0.0)


@lean_kernel
def draw_polished(p, s, f, pool, rng, slot, n_members, settings, objective_kind, trees, masks, sizes):  # type: ignore[no-untyped-def]
    """Fill the rows of ``trees`` and ``masks`` with polished versions of the tree in a slot."""
    for i in range(sizes.shape[0]):
        sizes[i] = polish(p, s, f, pool, rng, slot, n_members, settings, objective_kind)
        for node in range(sizes[i]):
            trees[i, node] = s.test[node]
            masks[i, node] = s.mask[node]
