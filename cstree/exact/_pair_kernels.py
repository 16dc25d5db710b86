"""Fronts of trees of depth two: pairs of tests are counted, no child is formed.

For a root test b and a second test a, the cases fall into four quadrants. The savings of one, those in
branch 0 of both, are counted; the others follow by subtraction from what each test alone and the node
have. Sixteen root tests are lanes of a vector. Letters are those of ``_kernels.py``.
"""

from __future__ import annotations

import numpy as np

from cstree._lanes import (
    blend,
    broadcast,
    convert,
    load,
    maximum,
    natural,
    ones_at,
    popcount_lanes,
    spread,
    store,
    where_at_least,
)
from cstree._numba import inlined_kernel, trailing_zeros
from cstree.exact._front_kernels import CODE, F1, insert, is_beaten, last_not_dearer
from cstree.exact._layout_kernels import BLOCKS, CASES, GROUPED, PANELS, WEIGHT, WORDS

_ONE = np.uint64(1)
# A point's code: number of nodes, then test, then what is below on the left and on the right.
NODES_AT, TEST_AT, LEFT_AT = 52, 34, 17
LEAF_CODE = 1 << NODES_AT
# Columns of the lists of a branch, and of the extra prices.
_SAVED, _PRICE, _ITEM = range(3)


@inlined_kernel
def sort_by_price(f, d, level):  # type: ignore[no-untyped-def]
    """Order the panels that are left by what they cost at this node."""
    for i in range(f.size[level, PANELS]):
        pay = d.pay[level, natural(f.alive[level, natural(i)])]
        j = natural(i)
        while j > 0:
            before = natural(d.order[level, natural(j - 1)])
            if d.pay[level, natural(f.alive[level, before])] <= pay:
                break
            d.order[level, j] = before
            j = natural(j - 1)
        d.order[level, j] = i


@inlined_kernel
def count_pairs(c, f, r, level):  # type: ignore[no-untyped-def]
    """For every root and every panel, the most that a second test of the panel saves in each branch."""
    n_cases = f.size[level, CASES]
    for i in range(f.size[level, PANELS]):
        for block in range(f.size[level, BLOCKS]):
            column = 16 * block
            none = spread(-1, r.gain)
            best_left, best_right = none, none
            for a in range(f.first[level, i], f.first[level, i + 1]):
                if c.first_of_second >= 0:
                    both, left, right = split_in_two_answers(c, f, r, level, a, column)
                else:
                    both = add_up_pair(c, f, r, level, a, column)
                    left, right = best_of_quadrants(c, f, r, level, a, column)
                if c.minimum > 1:
                    least = spread(c.minimum, r.gain)
                    here = convert(load(f.support, (level, column)), r.gain)
                    one, two = convert(both, r.gain), here - convert(both, r.gain)
                    n_a = np.int64(f.support[level, a])
                    left = where_at_least(two, least, where_at_least(one, least, left, none), none)
                    one, two = spread(n_a, r.gain) - one, spread(n_cases - n_a, r.gain) - two
                    right = where_at_least(two, least, where_at_least(one, least, right, none), none)
                best_left, best_right = maximum(best_left, left), maximum(best_right, right)
            store(r.gain, (0, i, column), best_left)
            store(r.gain, (1, i, column), best_right)


@inlined_kernel
def split_in_two_answers(c, f, r, level, a, column):  # type: ignore[no-untyped-def]
    """Both of the next two functions for two answers, without a detour through memory."""
    count_0, both_0 = add_up_class(c, f, r, level, a, column, 0, c.first_of_second)
    count_1, both_1 = add_up_class(c, f, r, level, a, column, c.first_of_second, c.own_saving.shape[0])
    root_0 = load(f.saved, (level, 0, column)) - both_0
    root_1 = load(f.saved, (level, 1, column)) - both_1
    a_0, a_1 = broadcast(f.saved, (level, 0, a)), broadcast(f.saved, (level, 1, a))
    left = maximum(both_0, both_1) + maximum(root_0, root_1)
    neither_0 = broadcast(f.total, (level, 0)) - a_0 - root_0
    neither_1 = broadcast(f.total, (level, 1)) - a_1 - root_1
    right = maximum(a_0 - both_0, a_1 - both_1) + maximum(neither_0, neither_1)
    return count_0 + count_1, left, right


@inlined_kernel
def add_up_class(c, f, r, level, a, column, first, last):  # type: ignore[no-untyped-def]
    """Count the cases of some groups in branch 0 of ``a`` and of each lane, and sum their savings."""
    saved = spread(0, r.pair)
    all_cases = spread(0, f.bits)
    for k in range(first, last):
        count = spread(0, f.bits)
        for w in range(f.group_start[level, k], f.group_start[level, k + 1]):
            both = load(f.bits, (level, w, column)) & broadcast(f.bits, (level, w, a))
            count = count + popcount_lanes(both)
        all_cases = all_cases + count
        saved = saved + convert(count, r.pair) * broadcast(c.own_saving, (k,))
    return all_cases, saved


@inlined_kernel
def add_up_pair(c, f, r, level, a, column):  # type: ignore[no-untyped-def]
    """Write to ``r.pair`` the savings of the cases in branch 0 of ``a`` and of each lane; count the cases."""
    for m in range(c.n_answers):
        store(r.pair, (m, 0), spread(0, r.pair))
    all_cases = spread(0, f.bits)
    if c.kind == GROUPED:
        for k in range(c.group_weight.shape[0]):
            count = spread(0, f.bits)
            for w in range(f.group_start[level, k], f.group_start[level, k + 1]):
                both = load(f.bits, (level, w, column)) & broadcast(f.bits, (level, w, a))
                count = count + popcount_lanes(both)
            all_cases = all_cases + count
            # The last entry of a group is its worst cost, which pairs do not need.
            for e in range(c.saving_start[k], c.saving_start[k + 1] - 1):
                place = (c.saving_answer[e], 0)
                more = convert(count, r.pair) * broadcast(c.saving, (e,))
                store(r.pair, place, load(r.pair, place) + more)
    else:
        for w in range(f.size[level, WORDS]):
            bits = load(f.bits, (level, w, column))
            rest = np.uint64(f.bits[level, w, a])
            all_cases = all_cases + popcount_lanes(bits & broadcast(f.bits, (level, w, a)))
            while rest != 0:
                k = trailing_zeros(rest)
                rest &= rest - _ONE
                case = f.case[level, 32 * w + k]
                left = ones_at(bits, k)
                for m in range(c.n_answers):
                    more = blend(left, broadcast(c.case_saving, (case, m)), spread(0, r.pair))
                    store(r.pair, (m, 0), load(r.pair, (m, 0)) + more)
    return all_cases


@inlined_kernel
def best_of_quadrants(c, f, r, level, a, column):  # type: ignore[no-untyped-def]
    """Greatest savings in both branches of each root when ``a`` is tested below."""
    both = load(r.pair, (0, 0))
    root = load(f.saved, (level, 0, column)) - both
    with_a = broadcast(f.saved, (level, 0, a))
    second = with_a - both
    neither = broadcast(f.total, (level, 0)) - with_a - root
    for m in range(1, c.n_answers):
        both_m = load(r.pair, (m, 0))
        root_m = load(f.saved, (level, m, column)) - both_m
        with_a = broadcast(f.saved, (level, m, a))
        both, root = maximum(both, both_m), maximum(root, root_m)
        second = maximum(second, with_a - both_m)
        neither = maximum(neither, broadcast(f.total, (level, m)) - with_a - root_m)
    return both + root, second + neither


@inlined_kernel
def best_by_price(c, f, d, r, level, deep):  # type: ignore[no-untyped-def]
    """Most that a leaf, or any second test up to a price, saves in each branch of each root.

    Fills ``r.best``, ``r.price`` and ``r.price_end``; returns the number of different prices, none if there
    are to be no second tests (not ``deep``).
    """
    n = 0
    for j in range(f.size[level, PANELS] if deep else 0):
        pay = d.pay[level, natural(f.alive[level, natural(d.order[level, natural(j)])])]
        if j == 0 or pay != r.price[natural(n - 1)]:
            r.price[natural(n)] = pay
            n += 1
        r.price_end[natural(n - 1)] = j + 1
    for block in range(f.size[level, BLOCKS]):
        column = 16 * block
        left = load(f.saved, (level, 0, column))
        right = broadcast(f.total, (level, 0)) - left
        for m in range(1, c.n_answers):
            saved = load(f.saved, (level, m, column))
            left = maximum(left, saved)
            right = maximum(right, broadcast(f.total, (level, m)) - saved)
        store(r.best, (0, 0, column), left)
        store(r.best, (1, 0, column), right)
        j = 0
        for k in range(n):
            while j < r.price_end[natural(k)]:
                i = d.order[level, natural(j)]
                left = maximum(left, load(r.gain, (0, i, column)))
                right = maximum(right, load(r.gain, (1, i, column)))
                j += 1
            store(r.best, (0, k + 1, column), left)
            store(r.best, (1, k + 1, column), right)
    return n


@inlined_kernel
def insert_roots(t, f, d, r, g, level, n_prices, worst):  # type: ignore[no-untyped-def]
    """Insert all trees of depth one and two into the front of a node, cheap roots first."""
    for i in range(f.size[level, PANELS]):
        r.place[natural(f.alive[level, i])] = i
    at = natural(0)
    for j in range(f.size[level, PANELS]):
        i = natural(d.order[level, natural(j)])
        panel = natural(f.alive[level, i])
        base = f.size[level, WEIGHT] * d.pay[level, panel]
        n_extra = -1
        last = f.first[level, i + 1]
        for b in range(f.first[level, i], last):
            b = natural(b)
            most = np.int64(r.best[0, n_prices, b]) + np.int64(r.best[1, n_prices, b])
            at = last_not_dearer(g, level, base, at)
            if is_beaten(g, level, at, worst - most, base):
                continue
            if n_extra < 0:
                n_extra = 0
                if n_prices > 0:
                    n_extra = list_cheaper(t, d, r, level, panel, last - f.first[level, i] == 1)
            for branch in range(2):
                weight = f.weight[level, b] if branch == 0 else f.size[level, WEIGHT] - f.weight[level, b]
                r.list_length[branch] = list_branch(r, branch, b, n_prices, n_extra, weight)
            insert_root(r, g, level, b, base, worst, at)
    for i in range(f.size[level, PANELS]):
        r.place[natural(f.alive[level, i])] = -1


@inlined_kernel
def insert_root(r, g, level, b, base, worst, at):  # type: ignore[no-untyped-def]
    """Insert every sum of a point of the left list and one of the right list."""
    n_right = r.list_length[1]
    most_right = r.list[1, natural(n_right - 1), _SAVED]
    for left in range(r.list_length[0]):
        left = natural(left)
        x2 = base + r.list[0, left, _PRICE]
        rest = worst - r.list[0, left, _SAVED]
        at = last_not_dearer(g, level, x2, at)
        if is_beaten(g, level, at, rest - most_right, x2):
            continue
        place = at
        for right in range(n_right):
            right = natural(right)
            y1 = rest - r.list[1, right, _SAVED]
            y2 = x2 + r.list[1, right, _PRICE]
            place = last_not_dearer(g, level, y2, place)
            if g.front[level, place, F1] >= y1:
                items = r.list[0, left, _ITEM] << LEFT_AT | r.list[1, right, _ITEM]
                nodes = 3 + 2 * np.int64(left > 0) + 2 * np.int64(right > 0)
                code = nodes << NODES_AT | np.int64(b + 1) << TEST_AT | items
                place = insert(g, level, place, y1, y2, code, 0)


@inlined_kernel
def list_cheaper(t, d, r, level, panel, alone):  # type: ignore[no-untyped-def]
    """List the panels that get cheaper once ``panel`` is paid, cheapest first; return their number.

    The panel itself is then free, which is of no use to a single candidate (``alone``).
    """
    n = 0
    for e in range(t.sharer_start[panel], t.sharer_start[panel + 1]):
        other = natural(t.sharer[natural(e)])
        i = r.place[other]
        if i < 0 or (other == panel and alone):
            continue
        price = np.int64(0) if other == panel else price_after(t, d, level, other, panel)
        if price < d.pay[level, other]:
            j = natural(n)
            while j > 0 and r.extra[natural(j - 1), _PRICE] > price:
                r.extra[j, _PRICE] = r.extra[natural(j - 1), _PRICE]
                r.extra[j, _ITEM] = r.extra[natural(j - 1), _ITEM]
                j = natural(j - 1)
            r.extra[j, _PRICE] = price
            r.extra[j, _ITEM] = i
            n += 1
    return n


@inlined_kernel
def price_after(t, d, level, panel, paid):  # type: ignore[no-untyped-def]
    """Price a panel at a node once another one is paid too."""
    price = np.int64(0)
    for e in range(t.step_start[panel], t.step_start[panel + 1]):
        e = natural(e)
        step = np.uint64(t.step[e])
        word = step >> np.uint64(6)
        if ((d.paid[level, word] | t.pays[paid, word]) >> (step & np.uint64(63))) & _ONE == 0:
            price += t.price[e]
    return price


@inlined_kernel
def list_branch(r, branch, b, n_prices, n_extra, weight):  # type: ignore[no-untyped-def]
    """Front of a branch of root ``b`` with at most one test: savings, price, and which test it is.

    Items: 0 a leaf, ``1 + k`` the best test of price ``k``, ``1 + A + i`` a test of panel ``i`` at the
    lower price it has below this root. Returns the number of points.
    """
    saved = np.int64(r.best[branch, 0, b])
    most = np.int64(r.best[branch, n_prices, b])
    r.list[branch, 0, _SAVED] = saved
    r.list[branch, 0, _PRICE] = 0
    r.list[branch, 0, _ITEM] = 0
    n, e, k = 1, 0, 0
    while saved < most:
        e, k = natural(e), natural(k)
        if e < n_extra and (k == n_prices or r.extra[e, _PRICE] <= r.price[k]):
            i = natural(r.extra[e, _ITEM])
            price, found = r.extra[e, _PRICE], np.int64(r.gain[branch, i, b])
            item = np.int64(r.place.shape[0] + 1 + i)
            e += 1
        else:
            price, found, item = r.price[k], np.int64(r.best[branch, k + 1, b]), np.int64(k + 1)
            k += 1
        if found > saved:
            saved = found
            price *= weight
            at = natural(n - 1)
            if r.list[branch, at, _PRICE] < price:
                at = natural(n)
                n += 1
            r.list[branch, at, _SAVED] = saved
            r.list[branch, at, _PRICE] = price
            r.list[branch, at, _ITEM] = item
    return n


@inlined_kernel
def name_tests(f, d, r, g, level):  # type: ignore[no-untyped-def]
    """Replace lanes and items in the codes of a front by candidates and panels."""
    low = (1 << LEFT_AT) - 1
    n_panels = r.place.shape[0]
    for point in range(g.n_points[level]):
        point = natural(point)
        code = g.front[level, point, CODE]
        b = natural((code >> TEST_AT & low) - 1)
        if code == LEAF_CODE:
            continue
        named = np.int64(f.candidate[level, b] + 1)
        for branch in range(2):
            item = code >> (LEFT_AT * (1 - branch)) & low
            named <<= LEFT_AT
            if item > n_panels:
                named |= f.alive[level, natural(item - n_panels - 1)] + 1
            elif item > 0:
                j = natural(r.price_end[natural(item - 2)]) if item > 1 else natural(0)
                while r.gain[branch, d.order[level, j], b] != r.best[branch, natural(item), b]:
                    j = natural(j + 1)
                named |= f.alive[level, d.order[level, j]] + 1
        g.front[level, point, CODE] = code >> NODES_AT << NODES_AT | named
