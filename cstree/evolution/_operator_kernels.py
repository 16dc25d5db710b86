"""The operators of the search on chosen trees, for callers in Python.

``pool`` is a :class:`~cstree.evolution.operators.Slots`, ``limits`` a
:class:`~cstree.evolution.operators.Limits`: the operators read no more of a population and its settings.
"""

from __future__ import annotations

import numpy as np

from cstree._numba import inlined_kernel, lean_kernel
from cstree.evolution._kernels import store
from cstree.evolution._mutation_kernels import copy_nodes, copy_slice, mutate, recombine, update_sizes
from cstree.evolution._polish_kernels import polish
from cstree.tree._bit_kernels import prune_and_evaluate, sizes_of

# What a job does to a tree.
KEEP, RECOMBINE, MUTATE = 0, 1, 2
# What becomes of it then; the prunings are bits beside EVALUATE.
RAW, EVALUATE, BY_SUPPORT, BY_COST = 0, 1, 2, 4


@inlined_kernel
def is_sound(p, pool, slot, limits, stack):  # type: ignore[no-untyped-def]
    """Whether a slot holds a preorder of known tests within the depth limit."""
    top = 0
    stack[0, 0] = 0
    n_rows = p.bits.shape[0]
    n_tests = n_rows + 2 * p.subset_feature.shape[0]
    for node in range(pool.n_nodes[slot]):
        if top < 0:
            return False
        depth = stack[top, 0]
        top -= 1
        test = pool.test[slot, node]
        if test == -1:
            continue
        if test < 0 or test >= n_tests or depth >= limits.max_depth:
            return False
        if test >= n_rows:
            full = ~np.uint64(0) >> np.uint64(64 - p.category_count[(test - n_rows) >> 1])
            if pool.mask[slot, node] == 0 or pool.mask[slot, node] >= full:
                return False
        stack[top + 1, 0] = depth + 1
        stack[top + 2, 0] = depth + 1
        top += 2
    return top < 0


@inlined_kernel
def put_raw(s, pool, slot, n_nodes):  # type: ignore[no-untyped-def]
    """Keep the tree in ``s.test`` in a slot as it is; masks of leaves become 0."""
    pool.n_nodes[slot] = n_nodes
    for node in range(n_nodes):
        pool.test[slot, node] = s.test[node]
        pool.mask[slot, node] = s.mask[node] if s.test[node] >= 0 else np.uint64(0)


@inlined_kernel
def recombine_into(s, pool, rng, limits, slot, mate, target):  # type: ignore[no-untyped-def]
    """Write to a slot the tree of another with a subtree of a mate; unchanged where none fits."""
    source = slot
    if recombine(s, pool, rng, slot, mate, limits):
        source = pool.test.shape[0] - 1
    copy_nodes(pool, source, 0, pool.n_nodes[source], target, 0)
    pool.n_nodes[target] = pool.n_nodes[source]
    pool.regret[target] = pool.regret[source]
    update_sizes(pool, target)


@lean_kernel
def perform(p, s, pool, rng, limits, operator_share, objective_kind, jobs):  # type: ignore[no-untyped-def]
    """Do jobs one after the other; return how many were done: all, or those before a tree that is none.

    Parameters
    ----------
    p : SearchArrays
    s : Workspace
    pool : Slots
        The last slot is scratch.
    rng : Generator
    limits : Limits
    operator_share : float64 (5,)
        Cumulated probabilities of the mutations.
    objective_kind : int64 (m,)
    jobs : int64 (n, 5)
        Operation, slot of the tree, slot of the mate, slot for the outcome, and what becomes of it. MUTATE
        wants a slot that an evaluation or RECOMBINE filled; RECOMBINE gives a raw tree.
    """
    for i in range(jobs.shape[0]):
        operation, slot, target, finish = jobs[i, 0], jobs[i, 1], jobs[i, 3], jobs[i, 4]
        n_nodes = np.int64(0)
        if operation == MUTATE:
            n_nodes = np.int64(mutate(p, s, pool, rng, slot, limits, operator_share))
        elif operation == RECOMBINE:
            recombine_into(s, pool, rng, limits, slot, jobs[i, 2], target)
            continue
        else:
            if not is_sound(p, pool, slot, limits, s.stack):
                return i
            n_nodes = np.int64(pool.n_nodes[slot])
            copy_slice(pool, slot, 0, n_nodes, s, 0)
        if finish == RAW:
            put_raw(s, pool, target, n_nodes)
            update_sizes(pool, target)
        else:
            sizes_of(s.test, n_nodes, s.size)
            minimum = limits.min_support if finish & BY_SUPPORT else 0
            by_cost = (finish & BY_COST) > 0
            n_new = prune_and_evaluate(p, s, minimum, by_cost, objective_kind, pool.objectives, target)
            store(p, s, pool, target, n_new)
    return jobs.shape[0]


@lean_kernel
def polish_one(p, s, f, pool, rng, limits, n_members, objective_kind):  # type: ignore[no-untyped-def]
    """Write to slot 1 the tree of slot 0 with a part rebuilt.

    ``pool.objectives[0]`` are its own, those of the ``n_members`` trees beside it stand in the rows after it.
    """
    update_sizes(pool, 0)
    put_raw(s, pool, 1, polish(p, s, f, pool, rng, 0, n_members, limits, objective_kind))
