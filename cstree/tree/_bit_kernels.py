"""Prune and evaluate one binary tree on bit sets.

Cases are bits, sorted so that every 64-bit word holds cases of one *group* (a class and a weight).
A node's cases are ``words``; a candidate test is a row of words whose bits take branch 0. What a
node holds is a row of integers ("statistics"), so sums are exact and independent of their order:

    statistics[0]         support
    statistics[1 : K + 1]   weight of each class, scaled           (kinds GROUPED and WEIGHTED)
    statistics[1]         weight, scaled                           (kind PER_CASE)
    statistics[2]         sum of each case's least cost, scaled    (kind PER_CASE)
    statistics[3 : K + 3]   cost of each answer, scaled              (kind PER_CASE)
"""

from __future__ import annotations

import numpy as np

from cstree._numba import inlined_kernel, lean_kernel, masked_sum, popcount, trailing_zeros

GROUPED, WEIGHTED, PER_CASE = 0, 1, 2
MISCLASSIFICATION, TEST_COST, LEAVES, WORST_TEST_COST = 0, 1, 2, 3

# Words with fewer bits than this are summed bit by bit, fuller ones all lanes at once.
_SPARSE = 4
# Relative slack below which two costs count as equal.
_TIE = 1e-12
_ONE = np.uint64(1)


@inlined_kernel
def subset_word(p, test, mask, w):  # type: ignore[no-untyped-def]
    """Word ``w`` of a category subset that has no row of its own: union of its categories."""
    code = test - p.bits.shape[0]
    feature = code >> 1
    first = p.category_first[feature]
    word = np.uint64(0)
    rest = mask
    while rest != 0:
        word |= p.category_bits[first + trailing_zeros(rest), w]
        rest &= rest - _ONE
    if code & 1:
        word |= p.category_bits[first + p.category_count[feature], w]
    return word


@inlined_kernel
def split_words(p, s, test, mask, side, depth):  # type: ignore[no-untyped-def]
    """Write to ``s.words[depth]`` the cases of the level above that take branch ``side`` of a test."""
    n_words = s.words.shape[1]
    if test >= p.bits.shape[0]:
        for w in range(n_words):
            word = subset_word(p, test, mask, w)
            s.words[depth, w] = s.words[depth - 1, w] & (word if side == 0 else ~word)
    elif side == 0:
        for w in range(n_words):
            s.words[depth, w] = s.words[depth - 1, w] & p.bits[test, w]
    else:
        for w in range(n_words):
            s.words[depth, w] = s.words[depth - 1, w] & ~p.bits[test, w]


@inlined_kernel
def count_left(p, s, test, mask, depth):  # type: ignore[no-untyped-def]
    """Count branch 0 of a split at ``depth``: all statistics when cases are grouped, else the support."""
    below = depth + 1
    for i in range(1, s.left_statistics.shape[1]):
        s.left_statistics[below, i] = 0
    stored = test < p.bits.shape[0]
    support = np.int64(0)
    for g in range(p.group_class.shape[0]):
        count = np.int64(0)
        if stored:
            for w in range(p.group_start[g], p.group_start[g + 1]):
                count += popcount(s.words[depth, w] & p.bits[test, w])
        else:
            for w in range(p.group_start[g], p.group_start[g + 1]):
                count += popcount(s.words[depth, w] & subset_word(p, test, mask, w))
        support += count
        if p.kind == GROUPED:
            s.left_statistics[below, 1 + p.group_class[g]] += count * p.group_weight[g]
    s.left_statistics[below, 0] = support


@inlined_kernel
def add_word(columns, c, word, start):  # type: ignore[no-untyped-def]
    """Sum of ``columns[c]`` over the bits of one word whose first case is ``start``."""
    if popcount(word) >= _SPARSE:
        return masked_sum(columns, c, start, word)
    total = np.int64(0)
    rest = word
    while rest != 0:
        total += columns[c, start + trailing_zeros(rest)]
        rest &= rest - _ONE
    return total


@inlined_kernel
def add_cases(p, s, words, level, node):  # type: ignore[no-untyped-def]
    """Fill the weighted part of a leaf's statistics, case by case, from ``words[level]``."""
    for i in range(1, s.statistics.shape[1]):
        s.statistics[node, i] = 0
    for g in range(p.group_class.shape[0]):
        for w in range(p.group_start[g], p.group_start[g + 1]):
            word = words[level, w]
            if word == 0:
                continue
            if p.kind == WEIGHTED:
                s.statistics[node, 1 + p.group_class[g]] += add_word(p.columns, 0, word, w * 64)
            else:
                for c in range(p.columns.shape[0]):
                    s.statistics[node, 1 + c] += add_word(p.columns, c, word, w * 64)


@inlined_kernel
def put_off_largest(p, s, depth, node):  # type: ignore[no-untyped-def]
    """Sum a leaf's cases, unless it is the largest so far: that one waits, and the earlier one is summed.

    The largest leaf of a tree is never summed: it holds what the others leave of the root.
    """
    waiting = s.counters[1]
    if waiting >= 0 and s.statistics[node, 0] <= s.statistics[waiting, 0]:
        add_cases(p, s, s.words, depth, node)
        return
    if waiting >= 0:
        add_cases(p, s, s.waiting_words, 0, waiting)
    for w in range(s.words.shape[1]):
        s.waiting_words[0, w] = s.words[depth, w]
    s.counters[1] = node


@inlined_kernel
def add_largest(p, s, n_nodes):  # type: ignore[no-untyped-def]
    """Give the leaf that waits what the root's statistics have more than all other leaves."""
    waiting = s.counters[1]
    for i in range(1, s.statistics.shape[1]):
        s.statistics[waiting, i] = p.root_statistics[i]
        for node in range(n_nodes):
            if s.new_test[node] < 0 and node != waiting and s.statistics[node, 0] > 0:
                s.statistics[waiting, i] -= s.statistics[node, i]
    for node in range(n_nodes):
        if s.new_test[node] < 0 and s.statistics[node, 0] == 0:
            for i in range(1, s.statistics.shape[1]):
                s.statistics[node, i] = 0


@inlined_kernel
def label_cost(p, s, node, answer):  # type: ignore[no-untyped-def]
    """Cost of one answer for the cases of a node."""
    if p.kind == PER_CASE:
        return s.statistics[node, 3 + answer] * p.cost_unit
    cost = 0.0
    for k in range(p.matrix.shape[0]):
        cost += s.statistics[node, 1 + k] * p.matrix[k, answer]
    return cost * p.weight_unit


@inlined_kernel
def least_cost(p, s, node):  # type: ignore[no-untyped-def]
    """Cost of the cheapest answer."""
    least = label_cost(p, s, node, 0)
    for answer in range(1, p.matrix.shape[0]):
        least = min(least, label_cost(p, s, node, answer))
    return least


@inlined_kernel
def node_weight(p, s, node):  # type: ignore[no-untyped-def]
    """Weight of the cases of a node."""
    if p.kind == PER_CASE:
        return s.statistics[node, 1] * p.weight_unit
    total = np.int64(0)
    for k in range(p.matrix.shape[0]):
        total += s.statistics[node, 1 + k]
    return total * p.weight_unit


@inlined_kernel
def unavoidable_cost(p, s, node):  # type: ignore[no-untyped-def]
    """Cost of a node if every case got its own cheapest answer."""
    if p.kind == PER_CASE:
        return s.statistics[node, 2] * p.cost_unit
    cost = 0.0
    for k in range(p.matrix.shape[0]):
        cost += s.statistics[node, 1 + k] * p.row_least[k]
    return cost * p.weight_unit


@inlined_kernel
def pay(p, s, feature, depth):  # type: ignore[no-untyped-def]
    """Price of testing ``feature`` below the splits above ``depth``; remembers the steps as paid."""
    trail = s.trail_mark[depth]
    for i in range(trail, s.counters[0]):
        s.paid[s.trail[i]] = 0
    price = 0.0
    for entry in range(p.step_start[feature], p.step_start[feature + 1]):
        step = p.steps[entry]
        if s.paid[step] == 0:
            s.paid[step] = 1
            price += p.prices[entry]
            s.trail[trail] = step
            trail += 1
    s.counters[0] = trail
    s.trail_mark[depth + 1] = trail
    return price


@inlined_kernel
def feature_of(p, test):  # type: ignore[no-untyped-def]
    """Feature that a test reads."""
    if test < p.bits.shape[0]:
        return p.test_feature[test]
    return p.subset_feature[(test - p.bits.shape[0]) >> 1]


@inlined_kernel
def sizes_of(test, n_nodes, size):  # type: ignore[no-untyped-def]
    """Subtree sizes of a preorder of leaves (test < 0) and binary splits."""
    for node in range(n_nodes - 1, -1, -1):
        size[node] = 1
        if test[node] >= 0:
            right = node + 1 + size[node + 1]
            size[node] += size[node + 1] + size[right]


@inlined_kernel
def enter(p, s, node, depth, side):  # type: ignore[no-untyped-def]
    """Give a new node the statistics that its parent's split left for it."""
    parent = s.parent_at[depth]
    for i in range(s.statistics.shape[1]):
        if depth == 0:
            s.statistics[node, i] = p.root_statistics[i]
        elif side == 0:
            s.statistics[node, i] = s.left_statistics[depth, i]
        else:
            s.statistics[node, i] = s.statistics[parent, i] - s.left_statistics[depth, i]


@inlined_kernel
def route(p, s, minimum):  # type: ignore[no-untyped-def]
    """Send all cases down the tree in ``s.test``; write the support-pruned tree to ``s.new_test``.

    A split with both branches below ``minimum`` cases becomes a leaf; with one below, the node
    gives way to the other branch's subtree. Each node is decided on the cases that really reach
    it, so one pass reaches the fixed point of "replace, route again, until nothing changes". A split
    with which a path would cost more than ``p.max_test_cost`` becomes a leaf, too.
    Fills ``s.statistics`` and ``s.price`` of the new nodes; returns their number.
    """
    n_new = 0
    top = 0
    for column in range(3):
        s.stack[0, column] = 0
    s.counters[0] = 0
    s.counters[1] = -1
    s.trail_mark[0] = 0
    s.path_price[0] = 0.0
    for step in range(s.paid.shape[0]):
        s.paid[step] = 0
    while top >= 0:
        source, depth, side = s.stack[top, 0], s.stack[top, 1], s.stack[top, 2]
        top -= 1
        enter(p, s, n_new, depth, side)
        support = s.statistics[n_new, 0]
        parent = s.parent_at[depth]
        ready = depth == 0
        s.new_test[n_new] = -1
        s.new_mask[n_new] = 0
        s.price[n_new] = 0.0
        while s.test[source] >= 0:
            if not ready:
                split_words(p, s, s.new_test[parent], s.new_mask[parent], side, depth)
                ready = True
            count_left(p, s, s.test[source], s.mask[source], depth)
            few_left = s.left_statistics[depth + 1, 0] < minimum
            few_right = support - s.left_statistics[depth + 1, 0] < minimum
            if few_left and few_right:
                break
            left_source = source + 1
            right_source = left_source + s.size[left_source]
            if few_left or few_right:
                source = right_source if few_left else left_source
                continue
            price = pay(p, s, feature_of(p, s.test[source]), depth)
            s.path_price[depth + 1] = s.path_price[depth] + price
            if s.path_price[depth + 1] > p.max_test_cost:
                break
            s.new_test[n_new] = s.test[source]
            s.new_mask[n_new] = s.mask[source]
            s.price[n_new] = price
            s.parent_at[depth + 1] = n_new
            for branch in range(2):
                top += 1
                s.stack[top, 0] = left_source if branch == 1 else right_source
                s.stack[top, 1] = depth + 1
                s.stack[top, 2] = 1 - branch
            break
        if p.kind != GROUPED and s.new_test[n_new] < 0 and support > 0:
            if not ready:
                split_words(p, s, s.new_test[parent], s.new_mask[parent], side, depth)
            put_off_largest(p, s, depth, n_new)
        n_new += 1
    if p.kind != GROUPED:
        add_largest(p, s, n_new)
    return n_new


@inlined_kernel
def add_up(p, s, n_nodes):  # type: ignore[no-untyped-def]
    """Sizes, statistics and subtree costs of the inner nodes, children first."""
    sizes_of(s.new_test, n_nodes, s.new_size)
    for node in range(n_nodes - 1, -1, -1):
        if s.new_test[node] >= 0:
            left = node + 1
            right = left + s.new_size[left]
            for i in range(s.statistics.shape[1]):
                s.statistics[node, i] = s.statistics[left, i] + s.statistics[right, i]
            s.subtree_cost[node] = s.subtree_cost[left] + s.subtree_cost[right]
            s.leaf_cost[node] = least_cost(p, s, node)
        else:
            s.leaf_cost[node] = least_cost(p, s, node)
            s.subtree_cost[node] = s.leaf_cost[node]


@inlined_kernel
def drop_costly_splits(p, s, n_nodes):  # type: ignore[no-untyped-def]
    """Turn into a leaf, root first, each split whose leaves together cost no less; return the new size."""
    slack = _TIE * p.cost_scale
    kept = 0
    node = 0
    while node < n_nodes:
        becomes_leaf = s.new_test[node] >= 0 and s.leaf_cost[node] <= s.subtree_cost[node] + slack
        s.new_test[kept] = -1 if becomes_leaf else s.new_test[node]
        s.new_mask[kept] = s.new_mask[node]
        s.price[kept] = 0.0 if becomes_leaf else s.price[node]
        s.leaf_cost[kept] = s.leaf_cost[node]
        for i in range(s.statistics.shape[1]):
            s.statistics[kept, i] = s.statistics[node, i]
        node += s.new_size[node] if becomes_leaf else 1
        kept += 1
    sizes_of(s.new_test, kept, s.new_size)
    return kept


@inlined_kernel
def prune_and_evaluate(p, s, minimum, by_cost, objective_kind, objectives, row):  # type: ignore[no-untyped-def]
    """Support-prune, cost-prune and evaluate the tree in ``s.test``; the result is in ``s.new_test``.

    Parameters
    ----------
    p : SearchArrays
        The problem.
    s : Workspace
        Holds the tree (``test``, ``mask``, ``size``) and takes the pruned one with its statistics.
    minimum : int
        Least support of a branch; 0 keeps empty branches.
    by_cost : bool
    objective_kind : int64 (m,)
    objectives : float64 (rows, m), row ``row`` is filled
        Averages per case for the two costs.

    Returns
    -------
    int
        Number of nodes of the pruned tree.
    """
    n_nodes = route(p, s, minimum)
    add_up(p, s, n_nodes)
    if by_cost:
        n_nodes = drop_costly_splits(p, s, n_nodes)
    wrong, tests, leaves = 0.0, 0.0, 0
    for node in range(n_nodes):
        if s.new_test[node] < 0:
            wrong += s.leaf_cost[node]
            leaves += 1
            continue
        tests += s.price[node] * node_weight(p, s, node)
    for m in range(objective_kind.shape[0]):
        if objective_kind[m] == MISCLASSIFICATION:
            objectives[row, m] = wrong / p.total_weight
        elif objective_kind[m] == TEST_COST:
            objectives[row, m] = tests / p.total_weight
        elif objective_kind[m] == LEAVES:
            objectives[row, m] = leaves
        else:
            objectives[row, m] = worst_path(s, n_nodes)
    return n_nodes


@inlined_kernel
def worst_path(s, n_nodes):  # type: ignore[no-untyped-def]
    """Greatest test cost that any path of the tree in ``s.new_test`` asks for."""
    for node in range(n_nodes - 1, -1, -1):
        if s.new_test[node] < 0:
            s.subtree_cost[node] = 0.0
        else:
            left = node + 1
            right = left + s.new_size[left]
            s.subtree_cost[node] = s.price[node] + max(s.subtree_cost[left], s.subtree_cost[right])
    return s.subtree_cost[0]


@lean_kernel
def evaluate_one(p, s, n_nodes, minimum, by_cost, objective_kind, objectives):  # type: ignore[no-untyped-def]
    """Prune and evaluate the tree in ``s.test``; see :func:`prune_and_evaluate`."""
    sizes_of(s.test, n_nodes, s.size)
    return prune_and_evaluate(p, s, minimum, by_cost, objective_kind, objectives, 0)
