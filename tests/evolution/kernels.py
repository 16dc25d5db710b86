"""Kernels that are compiled into others only, made callable."""

from __future__ import annotations

from cstree._numba import lean_kernel
from cstree.evolution._kernels import clone_counts


@lean_kernel
def count_clones(pool, n_members, settings):  # type: ignore[no-untyped-def]
    """Call clone_counts."""
    return clone_counts(pool, n_members, settings)
