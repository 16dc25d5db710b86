"""The operators of the search on one tree at a time, for callers in Python.

``pool`` is a :class:`~cstree.evolution.operators.Slots`, ``limits`` a
:class:`~cstree.evolution.operators.Limits`: the operators read no more of a population and its settings.
"""

from __future__ import annotations

import numpy as np

from cstree._numba import lean_kernel
from cstree.evolution._kernels import store
from cstree.evolution._mutation_kernels import copy_nodes, grow, mutate, recombine, update_sizes
from cstree.evolution._polish_kernels import polish


@lean_kernel
def grow_one(p, s, rng, limits):  # type: ignore[no-untyped-def]
    """Write a random tree to ``s.test``; return its size."""
    return grow(p, s, rng, 0, limits.max_depth, limits.max_nodes, limits.leaf_chance)


@lean_kernel
def mutate_one(p, s, pool, rng, limits, operator_share, n_nodes):  # type: ignore[no-untyped-def]
    """Write to ``s.test`` a mutant of the tree just evaluated, in ``s.new_test``; return its size."""
    store(p, s, pool, 0, n_nodes)
    return np.int64(mutate(p, s, pool, rng, 0, limits, operator_share))


@lean_kernel
def recombine_two(s, pool, rng, limits):  # type: ignore[no-untyped-def]
    """Write to slots 2 and 3 the trees of slots 0 and 1, each with a subtree of the other.

    A tree stays as it is where no pair of subtrees that was drawn keeps the limits. The last slot is scratch.
    """
    scratch = pool.test.shape[0] - 1
    update_sizes(pool, 0)
    update_sizes(pool, 1)
    for slot in range(2):
        changed = recombine(s, pool, rng, slot, 1 - slot, limits)
        source = scratch if changed else slot
        copy_nodes(pool, source, 0, pool.n_nodes[source], 2 + slot, 0)
        pool.n_nodes[2 + slot] = pool.n_nodes[source]


@lean_kernel
def polish_one(p, s, f, pool, rng, limits, n_members, objective_kind):  # type: ignore[no-untyped-def]
    """Write to ``s.test`` the tree of slot 0 with a part rebuilt; return its size.

    ``pool.objectives[0]`` are its own, those of the ``n_members`` trees beside it stand in the rows after it.
    """
    update_sizes(pool, 0)
    return polish(p, s, f, pool, rng, 0, n_members, limits, objective_kind)
