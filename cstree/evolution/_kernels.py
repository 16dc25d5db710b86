"""Generations of NNIA as one compiled call over a whole population held in arrays."""

from __future__ import annotations

import numpy as np

from cstree._numba import inlined_kernel, lean_kernel
from cstree.evolution._mutation_kernels import copy_slice, draw, grow, mutate, recombine
from cstree.evolution._polish_kernels import polish
from cstree.pareto._kernels import crowding_into, nondominated_into, sort_points
from cstree.tree._bit_kernels import node_weight, prune_and_evaluate, sizes_of, unavoidable_cost


@inlined_kernel
def rank_far_first(pool, count):  # type: ignore[no-untyped-def]
    """Write to ``pool.order[0]`` the first ``count`` indices by distance, greatest first, ties by index."""
    for i in range(count):
        pool.nearness[i, 0] = -pool.distance[i]
    sort_points(pool.nearness, count, 0, pool.order)


@inlined_kernel
def store(p, s, pool, slot, n_nodes):  # type: ignore[no-untyped-def]
    """Keep the tree in ``s.new_test`` in a slot, with each leaf's badness: its regret per case."""
    pool.n_nodes[slot] = n_nodes
    regret = 0.0
    for node in range(n_nodes):
        pool.test[slot, node] = s.new_test[node]
        pool.mask[slot, node] = s.new_mask[node]
        pool.size[slot, node] = s.new_size[node]
        pool.badness[slot, node] = 0.0
        if s.new_test[node] < 0:
            excess = s.leaf_cost[node] - unavoidable_cost(p, s, node)
            weight = node_weight(p, s, node)
            if weight > 0.0 and excess > 0.0:
                pool.badness[slot, node] = excess / weight
                regret += excess
    pool.regret[slot] = regret / p.total_weight


@inlined_kernel
def evaluate_into(p, s, pool, slot, n_nodes, settings, objective_kind):  # type: ignore[no-untyped-def]
    """Prune and evaluate the tree in ``s.test`` and keep it in a slot of the pool."""
    sizes_of(s.test, n_nodes, s.size)
    n_new = prune_and_evaluate(
        p, s, settings.min_support, settings.prune_by_cost, objective_kind, pool.objectives, slot
    )
    store(p, s, pool, slot, n_new)


@inlined_kernel
def copy_point(pool, slot, i):  # type: ignore[no-untyped-def]
    """Copy a slot's objectives to row ``i`` of the points under selection."""
    for m in range(pool.points.shape[1]):
        pool.points[i, m] = pool.objectives[slot, m]


@inlined_kernel
def survive(pool, state, settings, n_clones):  # type: ignore[no-untyped-def]
    """Keep the nondominated of members and clones, one tree a point; at most the least crowded ``dominant``.

    ``pool.slots[: n_members]`` are the members, the ``n_clones`` slots after them the clones.
    Returns whether the front changed.
    """
    count = state[0] + n_clones
    for i in range(count):
        copy_point(pool, pool.slots[i], i)
    n_kept = nondominated_into(pool.points, count, pool.order, pool.kept)
    prefer_small(pool, count)
    changed = False
    if n_kept > settings.dominant_size:
        front = 0
        for i in range(count):
            if pool.kept[i]:
                pool.members[front] = i
                copy_point(pool, pool.slots[i], front)
                front += 1
        crowding_into(pool.points, n_kept, pool.order, pool.distance)
        rank_far_first(pool, n_kept)
        for r in range(settings.dominant_size, n_kept):
            pool.kept[pool.members[pool.order[0, r]]] = False
        n_kept = settings.dominant_size
    front, rest = 0, n_kept
    for i in range(count):
        pool.members[i] = pool.slots[i]
    for i in range(count):
        if pool.kept[i]:
            pool.slots[front] = pool.members[i]
            front += 1
            changed = changed or i >= state[0]
        else:
            pool.slots[rest] = pool.members[i]
            rest += 1
    state[0] = n_kept
    return changed


@inlined_kernel
def prefer_small(pool, count):  # type: ignore[no-untyped-def]
    """Of equal points on the front let the tree with the fewest nodes stand for them."""
    i = 0
    while i < count:
        first = pool.order[0, i]
        best = first
        j = i + 1
        while j < count and same_point(pool.points, first, pool.order[0, j]):
            other = pool.order[0, j]
            if pool.n_nodes[pool.slots[other]] < pool.n_nodes[pool.slots[best]]:
                best = other
            j += 1
        if best != first and pool.kept[first]:
            pool.kept[first] = False
            pool.kept[best] = True
        i = j


@inlined_kernel
def same_point(points, a, b):  # type: ignore[no-untyped-def]
    """Whether two points are equal in every objective."""
    for m in range(points.shape[1]):
        if points[a, m] != points[b, m]:
            return False
    return True


@inlined_kernel
def clone_counts(pool, n_members, settings):  # type: ignore[no-untyped-def]
    """Write the active members (least crowded first) and the clones each gets; return their number.

    Clones are in proportion to crowding distance, rounded up; the extremes, infinitely far, count
    as twice the largest finite distance, or 1 where there is none.
    """
    for i in range(n_members):
        copy_point(pool, pool.slots[i], i)
    crowding_into(pool.points, n_members, pool.order, pool.distance)
    rank_far_first(pool, n_members)
    n_active = min(n_members, settings.active_size)
    largest = 0.0
    for r in range(n_active):
        distance = pool.distance[pool.order[0, r]]
        if np.isfinite(distance):
            largest = max(largest, distance)
    far = 2.0 * largest if largest > 0.0 else 1.0
    total = 0.0
    for r in range(n_active):
        distance = pool.distance[pool.order[0, r]]
        pool.share[r] = distance if np.isfinite(distance) else far
        total += pool.share[r]
    for r in range(n_active):
        pool.active[r] = pool.slots[pool.order[0, r]]
        pool.clones[r] = np.int64(np.ceil(settings.clone_size * pool.share[r] / total))
    return n_active


@inlined_kernel
def vary(p, s, pool, rng, slot, n_active, settings, operator_share):  # type: ignore[no-untyped-def]
    """Write a variant of the tree in ``slot`` to ``s.test``; return its size."""
    source = slot
    if n_active > 1 and settings.recombination > 0.0 and rng.random() < settings.recombination:
        mate = pool.active[draw(rng, n_active)]
        if mate != slot and recombine(s, pool, rng, slot, mate, settings):
            source = pool.test.shape[0] - 1
    return mutate(p, s, pool, rng, source, settings, operator_share)


@inlined_kernel
def first_tree(p, s, pool, rng, i, n_seeds, settings):  # type: ignore[no-untyped-def]
    """Write tree ``i`` of the first population to ``s.test``: a seed from its slot, else a random one."""
    if i >= n_seeds:
        return grow(p, s, rng, 0, settings.max_depth, settings.max_nodes, settings.leaf_chance)
    copy_slice(pool, i, 0, pool.n_nodes[i], s, 0)
    return np.int64(pool.n_nodes[i])


@lean_kernel
def evolve(p, s, f, pool, state, rng, settings, objective_kind, operator_share, n_generations):  # type: ignore[no-untyped-def]
    """Run generations: select, clone, vary, prune, evaluate, survive.

    The first call makes the first population: ``state[4]`` seed trees wait in the first slots, the
    rest is random.

    Parameters
    ----------
    p : SearchArrays
    s : Workspace
    f : FillWork
    pool : Pool
        ``pool.slots[: state[0]]`` are the dominant trees.
    state : int64 (5,)
        Members, evaluations so far, generations so far, generation of the last change, seeds.
    rng : Generator
    settings : Settings
    objective_kind : int64 (m,)
    operator_share : float64 (5,)
    n_generations : int
    """
    last = state[2] + n_generations
    first = state[0] == 0
    while first or state[2] < last:
        n_active = 1 if first else clone_counts(pool, state[0], settings)
        n_clones = 0
        for a in range(n_active):
            for _ in range(settings.dominant_size if first else pool.clones[a]):
                parent = pool.active[a]
                if first:
                    n_nodes = first_tree(p, s, pool, rng, n_clones, state[4], settings)
                elif settings.polish > 0.0 and rng.random() < settings.polish:
                    n_nodes = polish(p, s, f, pool, rng, parent, state[0], settings, objective_kind)
                else:
                    n_nodes = vary(p, s, pool, rng, parent, n_active, settings, operator_share)
                evaluate_into(p, s, pool, pool.slots[state[0] + n_clones], n_nodes, settings, objective_kind)
                n_clones += 1
        state[1] += n_clones
        state[2] += 0 if first else 1
        if survive(pool, state, settings, n_clones):
            state[3] = state[2]
        first = False


@lean_kernel
def draw_mutants(p, s, pool, slot, rng, settings, operator_share, mutants, masks, sizes):  # type: ignore[no-untyped-def]
    """Fill the rows of ``mutants`` and ``masks`` with mutants of the tree in a slot, before pruning.

    ``sizes[i]`` receives the number of nodes of mutant ``i``.
    """
    for i in range(sizes.shape[0]):
        sizes[i] = mutate(p, s, pool, rng, slot, settings, operator_share)
        for node in range(sizes[i]):
            mutants[i, node] = s.test[node]
            masks[i, node] = s.mask[node]
