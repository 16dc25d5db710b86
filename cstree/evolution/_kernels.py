"""Generations of NNIA as one compiled call over a whole population held in arrays."""

from __future__ import annotations

import numpy as np

from cstree._numba import inlined_kernel, lean_kernel
from cstree.evolution._mutation_kernels import copy_slice, draw, grow, mutate, recombine
from cstree.evolution._polish_kernels import polish
from cstree.pareto._kernels import crowding_into, nondominated_into, sort_points
from cstree.tree._bit_kernels import node_weight, prune_and_evaluate, sizes_of, unavoidable_cost

# Places in the counters of a population.
MEMBERS, EVALUATIONS, GENERATIONS, LAST_CHANGE, SEEDS, ARCHIVED, ARCHIVE_CHANGE, MERGED, DUPLICATES = range(9)

# Odd constants of a multiplicative hash.
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_SECOND_MULTIPLIER = np.uint64(0xBF58476D1CE4E5B9)


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
def key_of(test, mask, n_nodes):  # type: ignore[no-untyped-def]
    """Hash of a tree's tests and subsets in 64 bits; never 0."""
    key = np.uint64(n_nodes)
    for node in range(n_nodes):
        key = (key ^ np.uint64(test[node] + 1)) * _MULTIPLIER
        key = ((key ^ (key >> np.uint64(29))) + mask[node]) * _SECOND_MULTIPLIER
        key ^= key >> np.uint64(32)
    return key | np.uint64(1)


@inlined_kernel
def seen_before(archive, key):  # type: ignore[no-untyped-def]
    """Whether a tree of this key was evaluated lately; it counts as seen from now on."""
    # The lowest bit is always set.
    at = np.int64((key >> np.uint64(1)) & np.uint64(archive.seen.shape[0] - 1))
    if archive.seen[at] == key:
        return True
    archive.seen[at] = key
    return False


@inlined_kernel
def compare(first, i, second, j):  # type: ignore[no-untyped-def]
    """Compare two points: bit 0 is set where the first is better in some objective, bit 1 the second."""
    found = 0
    for m in range(first.shape[1]):
        if first[i, m] < second[j, m]:
            found |= 1
        elif first[i, m] > second[j, m]:
            found |= 2
    return found


@inlined_kernel
def move_tree(source, i, target, j):  # type: ignore[no-untyped-def]
    """Copy a tree and what is known of it from one store's row to another's."""
    target.n_nodes[j] = source.n_nodes[i]
    target.regret[j] = source.regret[i]
    for m in range(source.objectives.shape[1]):
        target.objectives[j, m] = source.objectives[i, m]
    for node in range(source.n_nodes[i]):
        target.test[j, node] = source.test[i, node]
        target.mask[j, node] = source.mask[i, node]
        target.size[j, node] = source.size[i, node]
        target.badness[j, node] = source.badness[i, node]


@inlined_kernel
def keep_for_good(archive, state, pool, slot):  # type: ignore[no-untyped-def]
    """Put the tree of a slot on the archive if none there dominates it; drop those that it dominates."""
    i = 0
    while i < state[ARCHIVED]:
        found = compare(archive.objectives, i, pool.objectives, slot)
        if found == 0 and pool.n_nodes[slot] < archive.n_nodes[i]:
            move_tree(pool, slot, archive, i)
        if found == 0 or found == 1:
            return
        if found == 2:
            state[ARCHIVED] -= 1
            if i < state[ARCHIVED]:
                move_tree(archive, state[ARCHIVED], archive, i)
        else:
            i += 1
    if state[ARCHIVED] < archive.n_nodes.shape[0]:
        move_tree(pool, slot, archive, state[ARCHIVED])
        state[ARCHIVED] += 1
        state[ARCHIVE_CHANGE] = state[GENERATIONS]


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
def survive(pool, archive, state, settings, n_clones):  # type: ignore[no-untyped-def]
    """Keep the nondominated of members and clones, one tree a point; at most the least crowded ``dominant``.

    ``pool.slots[: n_members]`` are the members, the ``n_clones`` slots after them the clones.
    Returns whether the front changed.
    """
    count = state[MEMBERS] + n_clones
    for i in range(count):
        copy_point(pool, pool.slots[i], i)
    n_kept = nondominated_into(pool.points, count, pool.order, pool.kept)
    prefer_small(pool, count)
    if settings.archive_size > 0:
        for i in range(state[MEMBERS], count):
            if pool.kept[i]:
                keep_for_good(archive, state, pool, pool.slots[i])
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
            changed = changed or i >= state[MEMBERS]
        else:
            pool.slots[rest] = pool.members[i]
            rest += 1
    state[MEMBERS] = n_kept
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
def evolve(  # type: ignore[no-untyped-def]
    p, s, f, pool, archive, state, rng, settings, objective_kind, operator_share, n_generations
):
    """Run generations: select, clone, vary, prune, evaluate, survive.

    A call with no members makes the first population: ``state[SEEDS]`` seed trees wait in the first slots,
    the rest is random. Ends early when the front has not changed for ``settings.restart`` generations.

    Parameters
    ----------
    p : SearchArrays
    s : Workspace
    f : FillWork
    pool : Pool
        ``pool.slots[: state[MEMBERS]]`` are the dominant trees.
    archive : Archive
    state : int64 (9,)
        Members, evaluations so far, generations so far, generation of the last change, seeds, trees on the
        archive, generation of its last change, whether the population holds what others found, duplicates.
    rng : Generator
    settings : Settings
    objective_kind : int64 (m,)
    operator_share : float64 (5,)
    n_generations : int
    """
    last = state[GENERATIONS] + n_generations
    first = state[MEMBERS] == 0
    while first or state[GENERATIONS] < last:
        n_active = 1 if first else clone_counts(pool, state[MEMBERS], settings)
        n_clones = 0
        for a in range(n_active):
            for _ in range(settings.dominant_size if first else pool.clones[a]):
                parent = pool.active[a]
                if first:
                    n_nodes = first_tree(p, s, pool, rng, n_clones, state[SEEDS], settings)
                elif settings.polish > 0.0 and rng.random() < settings.polish:
                    n_nodes = polish(p, s, f, pool, rng, parent, state[MEMBERS], settings, objective_kind)
                else:
                    n_nodes = vary(p, s, pool, rng, parent, n_active, settings, operator_share)
                if not first and settings.archive_size > 0:
                    if seen_before(archive, key_of(s.test, s.mask, n_nodes)):
                        state[DUPLICATES] += 1
                        continue
                slot = pool.slots[state[MEMBERS] + n_clones]
                evaluate_into(p, s, pool, slot, n_nodes, settings, objective_kind)
                n_clones += 1
        state[EVALUATIONS] += n_clones
        state[GENERATIONS] += 0 if first else 1
        if survive(pool, archive, state, settings, n_clones) or first:
            state[LAST_CHANGE] = state[GENERATIONS]
        first = False
        if settings.restart > 0 and state[GENERATIONS] - state[LAST_CHANGE] >= settings.restart:
            break


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
