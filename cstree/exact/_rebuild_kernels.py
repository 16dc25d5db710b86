"""Trees behind the points of a solved front, and what their nodes hold.

``c`` are the ``Cases``, ``v`` the ``Fronts``, ``r`` the ``Room`` of ``trees.py``: few arrays, as each costs
time to compile.
"""

from __future__ import annotations

import numpy as np

from cstree._numba import inlined_kernel, lean_kernel, popcount, trailing_zeros
from cstree.exact._front_kernels import CODE
from cstree.exact._layout_kernels import GROUPED
from cstree.exact._pair_kernels import LEFT_AT, TEST_AT

_ONE = np.uint64(1)
_LOW = (1 << LEFT_AT) - 1
# What an item of the stack is, where it is no entry.
_LEAF, _SECOND_TEST = -1, -2


@lean_kernel
def unfold(c, v, r, entry, out, n_nodes):  # type: ignore[no-untyped-def]
    """Write the trees of all points of a front as preorders of candidates, -1 for a leaf.

    Parameters
    ----------
    c : Cases
    v : Fronts
    r : Room
    entry : int
        Which front; -1 is a leaf.
    out : int32 (points, most nodes), filled
    n_nodes : int64 (points,), filled
    """
    for point in range(n_nodes.shape[0]):
        n_nodes[point] = unfold_one(c, v, r, entry, point, out)


@inlined_kernel
def unfold_one(c, v, r, entry, row, out):  # type: ignore[no-untyped-def]
    """Write one tree to a row of ``out``; return its number of nodes."""
    n = 0
    top = 0
    push(r, 0, entry, row, 0, -1, 0)
    while top >= 0:
        entry, point, depth = r.stack[top, 0], r.stack[top, 1], r.stack[top, 2]
        if entry != _LEAF:
            take_branch(c, r, depth, r.stack[top, 3], r.stack[top, 4])
        top -= 1
        out[row, n] = -1
        if entry == _SECOND_TEST:
            out[row, n] = best_second_test(c, r, point, depth)
            out[row, n + 1] = -1
            out[row, n + 2] = -1
            n += 2
        elif entry >= 0:
            code = v.points[v.start[entry] + point, CODE]
            test = (code >> TEST_AT & _LOW) - 1
            if test >= 0:
                left, right = code >> LEFT_AT & _LOW, code & _LOW
                kid = v.kid_start[entry]
                left_entry, right_entry = _LEAF, _LEAF
                if kid >= 0:
                    left_entry = (v.kids[kid + point] >> 32) - 1
                    right_entry = (v.kids[kid + point] & 0xFFFFFFFF) - 1
                else:
                    left_entry = _SECOND_TEST if left > 0 else _LEAF
                    right_entry = _SECOND_TEST if right > 0 else _LEAF
                    left -= 1
                    right -= 1
                out[row, n] = test
                push(r, top + 1, right_entry, right, depth + 1, test, 1)
                push(r, top + 2, left_entry, left, depth + 1, test, 0)
                top += 2
        n += 1
    return n


@inlined_kernel
def push(r, at, entry, point, depth, test, branch):  # type: ignore[no-untyped-def]
    """Put a node that is to be written on the stack."""
    r.stack[at, 0] = entry
    r.stack[at, 1] = point
    r.stack[at, 2] = depth
    r.stack[at, 3] = test
    r.stack[at, 4] = branch


@inlined_kernel
def take_branch(c, r, depth, test, branch):  # type: ignore[no-untyped-def]
    """Write the cases of a node at ``depth`` to ``r.words``; those of its parent stand above."""
    flip = np.uint64(0) - np.uint64(branch)
    for w in range(c.words.shape[0]):
        if test < 0:
            r.words[depth, w] = c.words[w]
        else:
            r.words[depth, w] = r.words[depth - 1, w] & (c.bits[test, w] ^ flip)


@inlined_kernel
def best_second_test(c, r, panel, depth):  # type: ignore[no-untyped-def]
    """Return the first candidate of a panel that saves most for the cases at ``depth``."""
    best, most = np.int64(-1), np.int64(-1)
    for candidate in range(c.candidate_start[panel], c.candidate_start[panel + 1]):
        total = np.int64(0)
        for branch in range(2):
            flip = np.uint64(0) - np.uint64(branch)
            if add_up_branch(c, r, candidate, depth, flip) < c.minimum:
                total = np.int64(-1)
                break
            saved = r.saved[0]
            for m in range(1, r.saved.shape[0] - 1):
                saved = max(saved, r.saved[m])
            total += saved
        if total > most:
            best, most = candidate, total
    return best


@inlined_kernel
def add_up_branch(c, r, candidate, depth, flip):  # type: ignore[no-untyped-def]
    """Write to ``r.saved`` what each answer saves in a branch; return the number of its cases."""
    for m in range(r.saved.shape[0]):
        r.saved[m] = 0
    n_cases = np.int64(0)
    for g in range(c.group_start.shape[0] - 1):
        count = np.int64(0)
        for w in range(c.group_start[g], c.group_start[g + 1]):
            word = r.words[depth, w] & (c.bits[candidate, w] ^ flip)
            count += popcount(word)
            while c.kind != GROUPED and word != 0:
                case = 64 * w + trailing_zeros(word)
                for m in range(r.saved.shape[0]):
                    r.saved[m] += c.case_saving[case, m]
                word &= word - _ONE
        n_cases += count
        if c.kind == GROUPED:
            for e in range(c.saving_start[g], c.saving_start[g + 1]):
                r.saved[c.saving_answer[e]] += count * c.saving[e]
    return n_cases


@lean_kernel
def count_nodes(c, r, starts, tests, counts, sizes):  # type: ignore[no-untyped-def]
    """Cases of each group at every node of many trees, and nodes of every subtree.

    Parameters
    ----------
    c : Cases
    r : Room
    starts : int64 (trees + 1,)
        First node of each tree.
    tests : int32 (nodes,)
        Preorders of candidates, -1 for a leaf.
    counts : int64 (nodes, G), filled
    sizes : int32 (nodes,), filled
    """
    for tree in range(starts.shape[0] - 1):
        push(r, 0, 0, 0, 0, -1, 0)
        top = 0
        for node in range(starts[tree], starts[tree + 1]):
            depth = r.stack[top, 2]
            take_branch(c, r, depth, r.stack[top, 3], r.stack[top, 4])
            top -= 1
            for g in range(c.group_start.shape[0] - 1):
                count = np.int64(0)
                for w in range(c.group_start[g], c.group_start[g + 1]):
                    count += popcount(r.words[depth, w])
                counts[node, g] = count
            if tests[node] >= 0:
                push(r, top + 1, 0, 0, depth + 1, tests[node], 1)
                push(r, top + 2, 0, 0, depth + 1, tests[node], 0)
                top += 2
    for node in range(tests.shape[0] - 1, -1, -1):
        sizes[node] = 1
        if tests[node] >= 0:
            right = node + 1 + sizes[node + 1]
            sizes[node] += sizes[node + 1] + sizes[right]
