"""Polish: rebuild a part of a tree from optimal subtrees of depth two.

Under an exchange rate (cost of a mistake saved per unit of test cost) the best subtree of depth two
follows from the class counts of all pairs of tests: one pass over ``S & a & b`` gives the four
quadrants of every pair by subtraction (specification, section 6).
"""

from __future__ import annotations

import numpy as np

from cstree._numba import inlined_kernel
from cstree.evolution._mutation_kernels import copy_slice, draw, test_of_choice
from cstree.evolution._pairing_kernels import (
    LEAF,
    choose_tests,
    least_of,
    offer_leaves,
    pair_up,
    price_tests,
)
from cstree.tree._bit_kernels import MISCLASSIFICATION, TEST_COST, feature_of, pay, split_words

DECIDE = -2

# Chance of each further step down before the rebuilt part begins, of a random test at its top, of the
# test that is there already, of a rate far from the front's slope, and of rates that differ by feature and
# by side.
_GO_DOWN = 0.6
_FORCE_TEST = 0.4
_KEEP_TEST = 0.3
# Chance of looking three levels ahead instead of two, where that takes little time.
_LOOK_DEEPER = 0.5
_WIDE_RATE = 0.05
_JITTER = 0.4
_RATE_SPREAD = 0.7
_BEYOND_SPREAD = 3.0
_JITTER_SPREAD = 0.4


@inlined_kernel
def normal(rng):  # type: ignore[no-untyped-def]
    """Draw a standard normal number."""
    return np.sqrt(-2.0 * np.log(1.0 - rng.random())) * np.cos(2.0 * np.pi * rng.random())


@inlined_kernel
def nearest_member(pool, n_members, slot, objective, upward):  # type: ignore[no-untyped-def]
    """Return the member next to a tree whose objective is higher, or lower; -1 where there is none."""
    nearest = np.int64(-1)
    own = pool.objectives[slot, objective]
    for i in range(n_members):
        other = pool.objectives[pool.slots[i], objective]
        closer = nearest < 0 or abs(other - own) < abs(pool.objectives[nearest, objective] - own)
        if other != own and (other > own) == upward and closer:
            nearest = pool.slots[i]
    return nearest


@inlined_kernel
def exchange_rate(pool, n_members, slot, objective_kind, rng):  # type: ignore[no-untyped-def]
    """Misclassification cost worth one unit of test cost, from the front's slope beside a tree."""
    first, second = -1, -1
    for m in range(objective_kind.shape[0]):
        if objective_kind[m] == MISCLASSIFICATION:
            first = m
        elif objective_kind[m] == TEST_COST:
            second = m
    rate, beyond = 1.0, 0.0
    if first >= 0 and second >= 0:
        upward = rng.random() < 0.5
        nearest = nearest_member(pool, n_members, slot, second, upward)
        if nearest < 0:
            # At an end of the front the slope goes on falling, or rising.
            nearest = nearest_member(pool, n_members, slot, second, not upward)
            beyond = -_BEYOND_SPREAD if upward else _BEYOND_SPREAD
        if nearest >= 0:
            gain = pool.objectives[slot, first] - pool.objectives[nearest, first]
            price = pool.objectives[nearest, second] - pool.objectives[slot, second]
            if gain / price > 0.0:
                rate = gain / price * np.exp(beyond * abs(normal(rng)))
    if rng.random() < _WIDE_RATE:
        return rate * np.exp(8.0 * (rng.random() - 0.5))
    return rate * np.exp(_RATE_SPREAD * normal(rng))


@inlined_kernel
def best_of_depth_two(p, s, f, level, deep, rng, spread):  # type: ignore[no-untyped-def]
    """Write to ``f.chosen`` the best test for the cases at ``level`` and the tests below it (-1: leaf).

    ``deep`` False looks one level ahead only. Returns the cost of it all under the rates, infinite where
    the node has too few cases.
    """
    for i in range(3):
        f.chosen[i] = LEAF
    f.worth[:] = np.inf
    n_tests = choose_tests(p, s, f, level, rng)
    whole = f.support.shape[0] - 1
    if f.support[whole] < f.least_support:
        return np.inf
    best = least_of(f, whole)
    if n_tests == 0:
        return best
    price_tests(p, s, f, level, deep)
    level_rate = np.exp(spread * normal(rng)) if spread > 0.0 else 1.0
    left_rate = level_rate * (np.exp(spread * normal(rng)) if spread > 0.0 else 1.0)
    right_rate = level_rate * (np.exp(spread * normal(rng)) if spread > 0.0 else 1.0)
    offer_leaves(f, n_tests)
    if deep:
        pair_up(p, f, n_tests, left_rate, right_rate)
    top = -1
    for i in range(n_tests):
        a = p.test_feature[f.rows[i]]
        value = f.best_left[i] + f.best_right[i] + level_rate * f.rate[a] * f.first_price[a] * f.weight[whole]
        f.worth[i] = value
        if value < best:
            best = value
            top = i
    if top >= 0:
        f.chosen[0] = f.rows[top]
        if f.left_test[top] >= 0:
            f.chosen[1] = f.rows[f.left_test[top]]
        if f.right_test[top] >= 0:
            f.chosen[2] = f.rows[f.right_test[top]]
    return best


@inlined_kernel
def put_aside(f, target, row):  # type: ignore[no-untyped-def]
    """Copy what ``f.chosen`` holds to a row of another array."""
    for i in range(3):
        target[row, i] = f.chosen[i]


@inlined_kernel
def list_tops(f, n_tops, rng):  # type: ignore[no-untyped-def]
    """List in ``f.tops`` the tests to try at the top: all, or the best with two levels and random ones."""
    n_tests = f.rows.shape[0]
    n_best = n_tops // 2 if n_tops < n_tests else 0
    for i in range(n_tops):
        f.tops[i] = i if n_tops == n_tests else draw(rng, n_tests)
    for i in range(n_best):
        best = np.argmin(f.worth)
        if f.worth[best] < np.inf:
            f.tops[i] = f.rows[best]
            f.worth[best] = np.inf


@inlined_kernel
def enter_branch(p, s, f, level, top, side):  # type: ignore[no-untyped-def]
    """Send the cases at ``level`` down one side of a listed test; return it, LEAF where it is too dear.

    With ``side`` 0 the test is paid, with 1 the last one, ``f.top[0]``, stays.
    """
    if side == 0:
        f.top[0] = f.tops[top]
        rewind(s, level)
        price = pay(p, s, p.test_feature[f.top[0]], level)
        s.path_price[level + 1] = s.path_price[level] + price
        f.top_price[0] = f.rate[p.test_feature[f.top[0]]] * price
        if s.path_price[level + 1] > p.max_test_cost:
            return LEAF
    split_words(p, s, np.int32(f.top[0]), np.uint64(0), side, level + 1)
    return f.top[0]


@inlined_kernel
def best_subtree(p, s, f, level, room, deeper, rng, spread):  # type: ignore[no-untyped-def]
    """Find the best subtree of depth two for the cases at ``level``, or of depth three if ``deeper``.

    Depth three tries all tests at the top, or as many as the time allows, each with the best of depth two
    on both sides. Returns the test at the top where such a tree wins, the tests below it in
    ``f.below``, a row each side; else LEAF, and the best of depth two is in ``f.chosen``.
    """
    n_tests = f.rows.shape[0]
    n_tops = np.int64(f.most_tops) if deeper else 0
    if n_tops < 2 and n_tests > 1:
        n_tops = 0
    best, value, weight = np.inf, 0.0, 0.0
    found = np.int64(LEAF)
    # The node itself, then both sides of each test: in one loop, so that the kernel within is compiled once.
    for job in range(1 + 2 * n_tops):
        side = (job - 1) % 2
        here = level
        if job > 0:
            if side == 1 and not value < best:
                continue
            here = level + 1
            if enter_branch(p, s, f, level, (job - 1) // 2, side) == LEAF:
                value = np.inf
                continue
            if side == 0:
                value = f.top_price[0] * weight
        cost = best_of_depth_two(p, s, f, here, room > 1, rng, spread)
        if job == 0:
            best = cost
            weight = f.weight[n_tests + 1]
            put_aside(f, f.trial, 2)
            list_tops(f, n_tops, rng)
            continue
        value += cost
        put_aside(f, f.trial, side)
        if side == 1 and value < best:
            best = value
            found = f.top[0]
            for i in range(3):
                f.below[0, i], f.below[1, i] = f.trial[0, i], f.trial[1, i]
    rewind(s, level)
    for i in range(3):
        f.chosen[i] = f.trial[2, i]
    return found


@inlined_kernel
def polish(p, s, f, pool, rng, slot, n_members, settings, objective_kind):  # type: ignore[no-untyped-def]
    """Write to ``s.test`` the tree of a slot with one subtree rebuilt; return its size."""
    rate = exchange_rate(pool, n_members, slot, objective_kind, rng)
    spread = _JITTER_SPREAD if rng.random() < _JITTER else 0.0
    for feature in range(f.rate.shape[0]):
        f.rate[feature] = rate * (np.exp(spread * normal(rng)) if spread > 0.0 else 1.0)
    for step in range(s.paid.shape[0]):
        s.paid[step] = 0
    s.counters[0] = 0
    s.trail_mark[0] = 0
    s.path_price[0] = 0.0
    node, level = np.int64(0), np.int64(0)
    while pool.test[slot, node] >= 0 and rng.random() < _GO_DOWN:
        test, mask = pool.test[slot, node], pool.mask[slot, node]
        s.path_price[level + 1] = s.path_price[level] + pay(p, s, feature_of(p, test), level)
        side = draw(rng, 2)
        level += 1
        split_words(p, s, test, mask, side, level)
        node = node + 1 if side == 0 else node + 1 + pool.size[slot, node + 1]
    n_nodes, old = np.int64(pool.n_nodes[slot]), np.int64(pool.size[slot, node])
    copy_slice(pool, slot, 0, node, s, 0)
    test, mask = np.int32(DECIDE), np.uint64(0)
    chance = rng.random()
    if level < settings.max_depth and chance < _FORCE_TEST:
        test, mask = test_of_choice(p, rng, draw(rng, p.choice_feature.shape[0]))
    elif pool.test[slot, node] >= 0 and chance < _FORCE_TEST + _KEEP_TEST:
        test, mask = pool.test[slot, node], pool.mask[slot, node]
    fresh = fill(
        p, s, f, rng, node, level, test, mask, settings, settings.max_nodes - (n_nodes - old), spread
    )
    copy_slice(pool, slot, node + old, n_nodes, s, node + fresh)
    return n_nodes - old + fresh


@inlined_kernel
def fill(p, s, f, rng, start, level, first, first_mask, settings, most_nodes, spread):  # type: ignore[no-untyped-def]
    """Write an optimised subtree for the cases at ``level`` to ``s.test[start:]``; return its size.

    ``first`` is the test at its top, or DECIDE.

    Each entry of ``f.plan`` is a node to come: its level, its side of the parent, its test (a row,
    LEAF or DECIDE) and the tests planned below it.
    """
    top = 0
    f.plan[0, 0], f.plan[0, 1], f.plan[0, 2], f.plan[0, 3], f.plan[0, 4] = level, 0, first, DECIDE, DECIDE
    written = 0
    committed = 1
    while top >= 0:
        here, side, test = f.plan[top, 0], f.plan[top, 1], f.plan[top, 2]
        left, right = f.plan[top, 3], f.plan[top, 4]
        top -= 1
        at = start + written
        room = settings.max_depth - here
        if here > level and room > 0:
            parent = s.parent_at[here]
            split_words(p, s, s.test[parent], s.mask[parent], side, here)
        if room <= 0 or committed + 2 > most_nodes:
            test = LEAF
        mask = first_mask if here == level else np.uint64(0)
        planned = False
        if test == DECIDE:
            rewind(s, here)
            deeper = room > 2 and rng.random() < _LOOK_DEEPER
            test = best_subtree(p, s, f, here, room, deeper, rng, spread)
            planned = test >= 0
            if not planned:
                test = f.chosen[0]
                left = f.chosen[1] if f.chosen[1] >= 0 or room < 3 else DECIDE
                right = f.chosen[2] if f.chosen[2] >= 0 or room < 3 else DECIDE
        s.test[at] = test
        s.mask[at] = mask
        written += 1
        if test < 0:
            continue
        committed += 2
        s.path_price[here + 1] = s.path_price[here] + pay(p, s, feature_of(p, test), here)
        s.parent_at[here + 1] = at
        for side in range(1, -1, -1):
            top += 1
            f.plan[top, 0], f.plan[top, 1] = here + 1, side
            if planned:
                for i in range(3):
                    f.plan[top, 2 + i] = f.below[side, i]
                    # Where the depth allows more than was looked at, decide again.
                    if f.below[side, i] < 0 and room > 3:
                        f.plan[top, 2 + i] = DECIDE
            else:
                f.plan[top, 2] = left if side == 0 else right
                f.plan[top, 3], f.plan[top, 4] = DECIDE, DECIDE
    return np.int64(written)


@inlined_kernel
def rewind(s, depth):  # type: ignore[no-untyped-def]
    """Forget the steps that were paid below the splits above ``depth``."""
    for i in range(s.trail_mark[depth], s.counters[0]):
        s.paid[s.trail[i]] = 0
    s.counters[0] = s.trail_mark[depth]
