"""The best second test below every first one: all pairs of tests are counted, no child is formed.

One pass over ``node & a & b`` gives the four quadrants of every pair by subtraction (specification,
section 6).
Tests are lanes of a vector: loops over them are written so that the compiler sees it.
"""

from __future__ import annotations

import numpy as np

from cstree._lanes import natural
from cstree._numba import inlined_kernel, masked_sum, popcount, vector_kernel
from cstree.evolution._mutation_kernels import draw
from cstree.tree._bit_kernels import GROUPED, WEIGHTED

LEAF = -1


@inlined_kernel
def unpaid_price(p, s, feature):  # type: ignore[no-untyped-def]
    """Price of a test when the steps marked in ``s.paid`` are already paid."""
    price = 0.0
    for entry in range(p.step_start[feature], p.step_start[feature + 1]):
        if s.paid[p.steps[entry]] == 0:
            price += p.prices[entry]
    return price


@inlined_kernel
def price_tests(p, s, f, level, pairs):  # type: ignore[no-untyped-def]
    """Fill the price of every feature's test here, and below every other one's; infinite: above the bound.

    ``pairs`` False leaves out the second.
    """
    n_features = f.first_price.shape[0]
    left = p.max_test_cost - s.path_price[level]
    for a in range(n_features):
        f.first_price[a] = unpaid_price(p, s, a)
    for a in range(n_features if pairs else 0):
        for b in range(n_features):
            f.pair_price[a, b] = f.first_price[b]
        for entry in range(p.step_start[a], p.step_start[a + 1]):
            s.paid[p.steps[entry]] += 2
        for shared in range(f.shared_start[a], f.shared_start[a + 1]):
            b = f.shared[shared]
            f.pair_price[a, b] = unpaid_price(p, s, b)
        for entry in range(p.step_start[a], p.step_start[a + 1]):
            s.paid[p.steps[entry]] -= 2
        if left < np.inf:
            for b in range(n_features):
                if f.first_price[a] + f.pair_price[a, b] > left:
                    f.pair_price[a, b] = np.inf
    for a in range(n_features):
        if f.first_price[a] > left:
            f.first_price[a] = np.inf


@inlined_kernel
def add_counts(p, f, row, i):  # type: ignore[no-untyped-def]
    """Fill row ``i`` of support, weight and label costs with the cases of ``f.words`` in a candidate.

    ``row`` -1: all cases of ``f.words``.
    """
    n_classes = p.matrix.shape[0]
    support = np.int64(0)
    for k in range(n_classes):
        f.cost[k, i] = 0.0
    weight = np.int64(0)
    for g in range(p.group_class.shape[0]):
        count = np.int64(0)
        mass = np.int64(0)
        for w in range(p.group_start[g], p.group_start[g + 1]):
            word = f.words[w] & p.bits[row, w] if row >= 0 else f.words[w]
            count += popcount(word)
            if p.kind == WEIGHTED:
                mass += masked_sum(p.columns, 0, w * 64, word)
            elif p.kind != GROUPED and word != 0:
                mass += masked_sum(p.columns, 0, w * 64, word)
                for k in range(n_classes):
                    f.cost[k, i] += masked_sum(p.columns, 2 + k, w * 64, word) * p.cost_unit
        support += count
        if p.kind == GROUPED:
            mass = count * p.group_weight[g]
        weight += mass
        # Most groups have no case below a pair of tests.
        if mass != 0 and (p.kind == GROUPED or p.kind == WEIGHTED):
            for k in range(n_classes):
                f.cost[k, i] += mass * p.matrix[p.group_class[g], k] * p.weight_unit
    f.support[i] = support
    f.weight[i] = weight * p.weight_unit


@inlined_kernel
def least_of(f, i):  # type: ignore[no-untyped-def]
    """Cost of the cheapest answer for the cases of row ``i``."""
    least = f.cost[0, i]
    for k in range(1, f.cost.shape[0]):
        least = min(least, f.cost[k, i])
    return least


@inlined_kernel
def choose_tests(p, s, f, level, rng):  # type: ignore[no-untyped-def]
    """List the candidate tests to pair: all, or a random sample where all pairs would take too long.

    Fills their counts among the cases at ``level``; row ``n`` of the counts is the whole node. Returns
    how many there are, tests with an empty branch left out.
    """
    n_rows = f.rows.shape[0]
    n_words = s.words.shape[1]
    for i in range(n_rows):
        f.rows[i] = i
    if f.most_tests < n_rows:
        for i in range(f.most_tests):
            j = i + draw(rng, n_rows - i)
            f.rows[i], f.rows[j] = f.rows[j], f.rows[i]
        n_rows = f.most_tests
    for w in range(n_words):
        f.words[w] = s.words[level, w]
    whole = f.support.shape[0] - 1
    f.support[whole] = 0
    add_counts(p, f, -1, whole)
    kept = 0
    for i in range(n_rows):
        add_counts(p, f, f.rows[i], kept)
        if f.support[kept] >= f.least_support and f.support[whole] - f.support[kept] >= f.least_support:
            f.rows[kept] = f.rows[i]
            kept += 1
    return kept


@inlined_kernel
def pack_tests(p, f, n_tests):  # type: ignore[no-untyped-def]
    """Lay the tests side by side, word for word, leaving out the words in which the node has no case.

    Fills ``f.packed`` and the words of each listed group; returns how many groups have cases.
    """
    n_words, n_groups = 0, 0
    f.group_start[0] = 0
    for g in range(p.group_class.shape[0]):
        for w in range(p.group_start[g], p.group_start[g + 1]):
            if f.words[w] != 0:
                f.node_words[n_words] = f.words[w]
                for i in range(n_tests):
                    f.packed[n_words, i] = p.bits[f.rows[i], w]
                n_words += 1
        if n_words > f.group_start[n_groups]:
            f.groups[n_groups] = g
            n_groups += 1
            f.group_start[n_groups] = n_words
    return n_groups


@inlined_kernel
def count_pairs(f, i, n_tests, n_groups):  # type: ignore[no-untyped-def]
    """Support and label costs where test ``i`` and each later one both hold; tests are lanes of a vector."""
    first = natural(i + 1)
    n_classes = f.case_cost.shape[1]
    for lane in range(first, natural(n_tests)):
        j = natural(lane)
        f.pair_support[j] = 0
    for k in range(n_classes):
        for lane in range(first, natural(n_tests)):
            j = natural(lane)
            f.pair_cost[k, j] = 0.0
    for listed in range(n_groups):
        some = False
        for w in range(f.group_start[listed], f.group_start[listed + 1]):
            word = f.node_words[w] & f.packed[w, i]
            if word == 0:
                continue
            if not some:
                some = True
                for lane in range(first, natural(n_tests)):
                    j = natural(lane)
                    f.together[j] = popcount(word & f.packed[w, j])
            else:
                for lane in range(first, natural(n_tests)):
                    j = natural(lane)
                    f.together[j] += popcount(word & f.packed[w, j])
        if some:
            for lane in range(first, natural(n_tests)):
                j = natural(lane)
                f.pair_support[j] += f.together[j]
            for k in range(n_classes):
                cost = f.case_cost[f.groups[listed], k]
                if cost != 0.0:
                    for lane in range(first, natural(n_tests)):
                        j = natural(lane)
                        f.pair_cost[k, j] += f.together[j] * cost


@inlined_kernel
def count_pairs_by_case(p, f, i, n_tests):  # type: ignore[no-untyped-def]
    """Do as :func:`count_pairs` where every case has a weight or costs of its own."""
    both = f.support.shape[0] - 2
    for w in range(f.words.shape[0]):
        f.words[w] = f.all_words[w] & p.bits[f.rows[i], w]
    for lane in range(natural(i + 1), natural(n_tests)):
        j = natural(lane)
        add_counts(p, f, f.rows[j], both)
        f.pair_support[j] = f.support[both]
        for k in range(f.cost.shape[0]):
            f.pair_cost[k, j] = f.cost[k, both]


@vector_kernel
def least_of_quadrants(f, i, n_tests):  # type: ignore[no-untyped-def]
    """Cost of the cheapest answer in the four quadrants of test ``i`` and each later one."""
    whole = f.support.shape[0] - 1
    for k in range(f.cost.shape[0]):
        here, rest = f.cost[k, i], f.cost[k, whole] - f.cost[k, i]
        for lane in range(natural(i + 1), natural(n_tests)):
            j = natural(lane)
            cost = f.pair_cost[k, j]
            other = f.cost[k, j]
            if k == 0:
                f.quadrant[0, j], f.quadrant[1, j] = cost, here - cost
                f.quadrant[2, j], f.quadrant[3, j] = other - cost, rest - other + cost
            else:
                f.quadrant[0, j] = min(f.quadrant[0, j], cost)
                f.quadrant[1, j] = min(f.quadrant[1, j], here - cost)
                f.quadrant[2, j] = min(f.quadrant[2, j], other - cost)
                f.quadrant[3, j] = min(f.quadrant[3, j], rest - other + cost)


@inlined_kernel
def price_lanes(p, f, i, n_tests):  # type: ignore[no-untyped-def]
    """Price, under the rate, of each later test below test ``i``, and of test ``i`` below each."""
    a = p.test_feature[f.rows[i]]
    for j in range(i + 1, n_tests):
        b = p.test_feature[f.rows[j]]
        f.price[0, j] = f.rate[b] * f.pair_price[a, b]
        f.price[1, j] = f.rate[a] * f.pair_price[b, a]


@vector_kernel
def value_pairs(f, i, n_tests, left_rate, right_rate):  # type: ignore[no-untyped-def]
    """Cost of each later test below test ``i`` on either side; offer test ``i`` to them.

    Returns the least cost on the left and on the right.
    """
    whole = f.support.shape[0] - 1
    minimum, here = f.least_support, f.support[i]
    others, weight = f.support[whole] - here, f.weight[i]
    weight_right = f.weight[whole] - weight
    least_left, least_right = np.inf, np.inf
    for lane in range(natural(i + 1), natural(n_tests)):
        j = natural(lane)
        both = f.pair_support[j]
        enough_ab, enough_a = both >= minimum, here - both >= minimum
        other = f.support[j] - both
        enough_b, enough_rest = other >= minimum, others - other >= minimum
        q_ab, q_a, q_b, q_rest = f.quadrant[0, j], f.quadrant[1, j], f.quadrant[2, j], f.quadrant[3, j]
        b_price, a_price = f.price[0, j], f.price[1, j]
        left = q_ab + q_a + left_rate * b_price * weight if enough_ab & enough_a else np.inf
        right = q_b + q_rest + right_rate * b_price * weight_right if enough_b & enough_rest else np.inf
        f.value[0, j], f.value[1, j] = left, right
        least_left, least_right = min(least_left, left), min(least_right, right)
        left_price = left_rate * a_price * f.weight[j]
        right_price = right_rate * a_price * (f.weight[whole] - f.weight[j])
        left = q_ab + q_b + left_price if enough_ab & enough_b else np.inf
        right = q_a + q_rest + right_price if enough_a & enough_rest else np.inf
        f.left_test[j] = i if left < f.best_left[j] else f.left_test[j]
        f.best_left[j] = min(left, f.best_left[j])
        f.right_test[j] = i if right < f.best_right[j] else f.right_test[j]
        f.best_right[j] = min(right, f.best_right[j])
    return least_left, least_right


@inlined_kernel
def offer_pairs(f, i, n_tests, left_rate, right_rate):  # type: ignore[no-untyped-def]
    """Remember which of the pairs of test ``i`` with later ones are the best so far, each below the other."""
    least_left, least_right = value_pairs(f, i, n_tests, left_rate, right_rate)
    if least_left < f.best_left[i]:
        f.best_left[i] = least_left
        f.left_test[i] = first_with(f.value, 0, least_left, i + 1)
    if least_right < f.best_right[i]:
        f.best_right[i] = least_right
        f.right_test[i] = first_with(f.value, 1, least_right, i + 1)


@inlined_kernel
def first_with(values, row, value, start):  # type: ignore[no-untyped-def]
    """Index of the first entry of a row, from ``start`` on, that is not greater than ``value``."""
    j = start
    while values[row, j] > value:
        j += 1
    return j


@inlined_kernel
def offer_leaves(f, n_tests):  # type: ignore[no-untyped-def]
    """Let leaves be the best on both sides of every test."""
    whole = f.support.shape[0] - 1
    for i in range(n_tests):
        least_left = f.cost[0, i]
        least_right = f.cost[0, whole] - f.cost[0, i]
        for k in range(1, f.cost.shape[0]):
            least_left = min(least_left, f.cost[k, i])
            least_right = min(least_right, f.cost[k, whole] - f.cost[k, i])
        f.best_left[i], f.best_right[i] = least_left, least_right
        f.left_test[i], f.right_test[i] = LEAF, LEAF


@inlined_kernel
def pair_up(p, f, n_tests, left_rate, right_rate):  # type: ignore[no-untyped-def]
    """For every test at the top find the best leaf or test below it on either side."""
    n_groups = 0
    if p.kind == GROUPED:
        n_groups = pack_tests(p, f, n_tests)
    else:
        for w in range(f.words.shape[0]):
            f.all_words[w] = f.words[w]
    for i in range(n_tests - 1):
        if p.kind == GROUPED:
            count_pairs(f, i, n_tests, n_groups)
        else:
            count_pairs_by_case(p, f, i, n_tests)
        least_of_quadrants(f, i, n_tests)
        price_lanes(p, f, i, n_tests)
        offer_pairs(f, i, n_tests, left_rate, right_rate)
