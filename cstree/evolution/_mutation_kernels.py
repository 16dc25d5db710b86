"""The operators of the search: random trees, five mutations, recombination.

A tree is a preorder of tests (-1: leaf) with the mask of a category subset beside each. Every
change replaces one slice by another, so the depth limit and the node limit hold by construction.
"""

from __future__ import annotations

import numpy as np

from cstree._numba import inlined_kernel
from cstree.tree._bit_kernels import feature_of

REGROW, PRUNE, MOVE_CUT, CHANGE_TEST, SPLIT_LEAF = 0, 1, 2, 3, 4
N_OPERATORS = 5

# How often recombination draws another pair of subtrees before it gives up.
_ATTEMPTS = 4


@inlined_kernel
def draw(rng, n):  # type: ignore[no-untyped-def]
    """Random integer in [0, n)."""
    return np.int64(rng.random() * n)


@inlined_kernel
def random_subset(rng, n_groups):  # type: ignore[no-untyped-def]
    """Random mask of ``n_groups`` bits, neither empty nor full."""
    full = ~np.uint64(0) >> np.uint64(64 - n_groups)
    while True:
        high = np.uint64(rng.random() * 4294967296.0)
        low = np.uint64(rng.random() * 4294967296.0)
        mask = ((high << np.uint64(32)) | low) & full
        if mask != 0 and mask != full:
            return mask


@inlined_kernel
def test_of_choice(p, rng, choice):  # type: ignore[no-untyped-def]
    """Random test of one feature: a cut or subset, and a side for missing values."""
    if p.choice_count[choice] > 0:
        return np.int32(p.choice_first[choice] + draw(rng, p.choice_count[choice])), np.uint64(0)
    test = p.choice_first[choice]
    if p.choice_sides[choice] > 1:
        test += draw(rng, 2)
    subset = (test - p.bits.shape[0]) >> 1
    return np.int32(test), random_subset(rng, p.category_count[subset])


@inlined_kernel
def grow(p, s, rng, start, depth_left, most_nodes, leaf_chance):  # type: ignore[no-untyped-def]
    """Write a random subtree with a split at its root to ``s.test[start:]``; return its size.

    Below the root a node is a leaf with probability ``leaf_chance``, at the depth limit, or when
    the subtree would exceed ``most_nodes``.
    """
    top = 0
    s.stack[0, 0] = depth_left
    written = 0
    committed = 1
    n_choices = p.choice_feature.shape[0]
    while top >= 0:
        depth = s.stack[top, 0]
        top -= 1
        at = start + written
        if depth > 0 and committed + 2 <= most_nodes and (written == 0 or rng.random() >= leaf_chance):
            test, mask = test_of_choice(p, rng, draw(rng, n_choices))
            s.test[at] = test
            s.mask[at] = mask
            s.stack[top + 1, 0] = depth - 1
            s.stack[top + 2, 0] = depth - 1
            top += 2
            committed += 2
        else:
            s.test[at] = -1
        written += 1
    return written


@inlined_kernel
def worst_leaf(pool, slot, rng):  # type: ignore[no-untyped-def]
    """Draw a leaf with probability proportional to its badness plus 1 % of the tree's average.

    All leaves are as likely where no leaf costs anything.
    """
    floor = 0.01 * pool.regret[slot]
    total = 0.0
    leaves = 0
    for node in range(pool.n_nodes[slot]):
        if pool.test[slot, node] < 0:
            total += pool.badness[slot, node] + floor
            leaves += 1
    uniform = not total > 0
    rest = rng.random() * (leaves if uniform else total)
    last = 0
    for node in range(pool.n_nodes[slot]):
        if pool.test[slot, node] < 0:
            last = node
            rest -= 1.0 if uniform else pool.badness[slot, node] + floor
            if rest < 0:
                break
    return last


@inlined_kernel
def find_path(pool, slot, leaf, path):  # type: ignore[no-untyped-def]
    """Write the nodes from the root to ``leaf`` (included); return the depth of the leaf."""
    node = 0
    depth = 0
    path[0] = 0
    while node != leaf:
        right = node + 1 + pool.size[slot, node + 1]
        node = node + 1 if leaf < right else right
        depth += 1
        path[depth] = node
    return depth


@inlined_kernel
def copy_slice(pool, slot, start, stop, s, at):  # type: ignore[no-untyped-def]
    """Copy nodes of a tree in the pool into the workspace."""
    for i in range(start, stop):
        s.test[at + i - start] = pool.test[slot, i]
        s.mask[at + i - start] = pool.mask[slot, i]


@inlined_kernel
def mutate(p, s, pool, rng, slot, settings, operator_share):  # type: ignore[no-untyped-def]
    """Write a mutant of the tree in a slot to ``s.test``; return its size.

    A leaf is drawn by how badly its rule does, then an operator, which acts on a node of the
    leaf's path; an operator that cannot act gives way to the next.

    Parameters
    ----------
    p : SearchArrays
    s : Workspace
    pool : Pool
    rng : Generator
    slot : int
    settings : Settings
    operator_share : float64 (5,)
        Cumulated probabilities of the operators.
    """
    depth = find_path(pool, slot, worst_leaf(pool, slot, rng), s.path)
    chosen = rng.random()
    operator = 0
    while operator < N_OPERATORS - 1 and chosen >= operator_share[operator]:
        operator += 1
    for attempt in range(N_OPERATORS):
        acting = (operator + attempt) % N_OPERATORS
        share = operator_share[acting] - (operator_share[acting - 1] if acting > 0 else 0.0)
        if share > 0.0:
            written = apply_operator(p, s, pool, rng, slot, depth, acting, settings)
            if written > 0:
                return written
    copy_slice(pool, slot, 0, pool.n_nodes[slot], s, 0)
    return np.int64(pool.n_nodes[slot])


@inlined_kernel
def apply_operator(p, s, pool, rng, slot, depth, operator, settings):  # type: ignore[no-untyped-def]
    """Apply one operator on the path in ``s.path``; return the size of the mutant, 0 if it cannot act."""
    n_nodes = np.int64(pool.n_nodes[slot])
    grows = operator == REGROW or operator == SPLIT_LEAF
    level = depth
    if operator == REGROW:
        level = draw(rng, depth + 1)
    elif operator != SPLIT_LEAF:
        if depth == 0:
            return np.int64(0)
        level = draw(rng, depth)
    node = s.path[level]
    old = np.int64(pool.size[slot, node])
    if grows and (level >= settings.max_depth or n_nodes - old + 3 > settings.max_nodes):
        return np.int64(0)
    copy_slice(pool, slot, 0, node, s, 0)
    fresh = np.int64(1)
    if grows:
        room = settings.max_nodes - (n_nodes - old) if operator == REGROW else 3
        deep = settings.max_depth - level if operator == REGROW else 1
        fresh = grow(p, s, rng, node, deep, room, settings.leaf_chance)
    elif operator == PRUNE:
        s.test[node] = -1
    else:
        choice = draw(rng, p.choice_feature.shape[0])
        if operator == MOVE_CUT:
            choice = p.choice_of_feature[feature_of(p, pool.test[slot, node])]
        s.test[node], s.mask[node] = test_of_choice(p, rng, choice)
        old = 1  # the branches stay
    copy_slice(pool, slot, node + old, n_nodes, s, node + fresh)
    return n_nodes - old + fresh


@inlined_kernel
def height_of(pool, slot, start, stack):  # type: ignore[no-untyped-def]
    """Count the splits on the longest path of the subtree that begins at ``start``."""
    top = 0
    stack[0, 0] = 0
    height = 0
    for node in range(start, start + pool.size[slot, start]):
        depth = stack[top, 0]
        top -= 1
        height = max(height, depth)
        if pool.test[slot, node] >= 0:
            stack[top + 1, 0] = depth + 1
            stack[top + 2, 0] = depth + 1
            top += 2
    return height


@inlined_kernel
def copy_nodes(pool, source, start, stop, target, at):  # type: ignore[no-untyped-def]
    """Copy nodes and what is known of their leaves from one slot to another."""
    for i in range(start, stop):
        pool.test[target, at + i - start] = pool.test[source, i]
        pool.mask[target, at + i - start] = pool.mask[source, i]
        pool.badness[target, at + i - start] = pool.badness[source, i]


@inlined_kernel
def update_sizes(pool, slot):  # type: ignore[no-untyped-def]
    """Recompute the subtree sizes of the tree in a slot."""
    for node in range(pool.n_nodes[slot] - 1, -1, -1):
        pool.size[slot, node] = 1
        if pool.test[slot, node] >= 0:
            right = node + 1 + pool.size[slot, node + 1]
            pool.size[slot, node] += pool.size[slot, node + 1] + pool.size[slot, right]


@inlined_kernel
def recombine(s, pool, rng, slot, mate, settings):  # type: ignore[no-untyped-def]
    """Write to the spare slot the tree of ``slot`` with a subtree of ``mate`` in place of one of its own.

    Returns False when no pair of subtrees that was drawn keeps depth and node limit.
    """
    n_nodes = np.int64(pool.n_nodes[slot])
    target = pool.test.shape[0] - 1
    for _ in range(_ATTEMPTS):
        node = draw(rng, n_nodes)
        graft = draw(rng, pool.n_nodes[mate])
        old, fresh = np.int64(pool.size[slot, node]), np.int64(pool.size[mate, graft])
        if n_nodes - old + fresh > settings.max_nodes:
            continue
        if find_path(pool, slot, node, s.path) + height_of(pool, mate, graft, s.stack) > settings.max_depth:
            continue
        copy_nodes(pool, slot, 0, node, target, 0)
        copy_nodes(pool, mate, graft, graft + fresh, target, node)
        copy_nodes(pool, slot, node + old, n_nodes, target, node + fresh)
        pool.n_nodes[target] = n_nodes - old + fresh
        pool.regret[target] = max(pool.regret[slot], pool.regret[mate])
        update_sizes(pool, target)
        return True
    return False
