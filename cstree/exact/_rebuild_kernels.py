"""Trees behind the points of a solved front, and what their nodes hold."""

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
def unfold(p, v, r, entry, point, out):  # type: ignore[no-untyped-def]
    """Write the tree of one point as a preorder of candidates, -1 for a leaf.

    Parameters
    ----------
    p : ExactArrays
    v : Solved
    r : Rebuild
        Scratch.
    entry, point : int
        Which front, and which of its points; entry -1 is a leaf.
    out : int32, filled

    Returns
    -------
    int
        Number of nodes.
    """
    n = 0
    top = 0
    push(r, 0, entry, point, 0, -1, 0)
    while top >= 0:
        entry, point, depth = r.stack[top, 0], r.stack[top, 1], r.stack[top, 2]
        if entry != _LEAF:
            take_branch(p, r, depth, r.stack[top, 3], r.stack[top, 4])
        top -= 1
        out[n] = -1
        if entry == _SECOND_TEST:
            out[n] = best_second_test(p, r, point, depth)
            out[n + 1] = -1
            out[n + 2] = -1
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
                out[n] = test
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
def take_branch(p, r, depth, test, branch):  # type: ignore[no-untyped-def]
    """Write the cases of a node at ``depth`` to ``r.words``; those of its parent stand above."""
    for w in range(p.words.shape[0]):
        if test < 0:
            r.words[depth, w] = p.words[w]
        else:
            row = p.bits[test, w]
            r.words[depth, w] = r.words[depth - 1, w] & (row if branch == 0 else ~row)


@inlined_kernel
def best_second_test(p, r, panel, depth):  # type: ignore[no-untyped-def]
    """The first candidate of a panel that saves most for the cases at ``depth``."""
    best, most = -1, np.int64(-1)
    candidate = p.candidate_start[panel]
    while candidate < p.candidate_start[panel + 1]:
        left = branch_savings(p, r, candidate, depth, 0)
        right = branch_savings(p, r, candidate, depth, 1)
        if left >= 0 and right >= 0 and left + right > most:
            best, most = candidate, left + right
        candidate += 1
    return best


@inlined_kernel
def branch_savings(p, r, candidate, depth, branch):  # type: ignore[no-untyped-def]
    """What the best answer saves in a branch; -1 if it has too few cases."""
    for m in range(p.n_answers + 1):
        r.saved[m] = 0
    n_cases = np.int64(0)
    for g in range(p.group_weight.shape[0]):
        count = np.int64(0)
        for w in range(p.group_start[g], p.group_start[g + 1]):
            row = p.bits[candidate, w]
            word = r.words[depth, w] & (row if branch == 0 else ~row)
            count += popcount(word)
            if p.kind != GROUPED:
                while word != 0:
                    case = 64 * w + trailing_zeros(word)
                    for m in range(p.n_answers):
                        r.saved[m] += p.case_saving[case, m]
                    word &= word - _ONE
        n_cases += count
        if p.kind == GROUPED:
            for e in range(p.saving_start[g], p.saving_start[g + 1]):
                r.saved[p.saving_answer[e]] += count * p.saving[e]
    if n_cases < p.minimum:
        return np.int64(-1)
    most = r.saved[0]
    for m in range(1, p.n_answers):
        most = max(most, r.saved[m])
    return most


@lean_kernel
def count_nodes(p, r, tests, counts, sizes):  # type: ignore[no-untyped-def]
    """Cases of each group at every node of a tree, and nodes of every subtree.

    Parameters
    ----------
    p : ExactArrays
    r : Rebuild
        Scratch.
    tests : int32 (n_nodes,)
        Preorder of candidates, -1 for a leaf.
    counts : int64 (n_nodes, G), filled
    sizes : int32 (n_nodes,), filled
    """
    push(r, 0, 0, 0, 0, -1, 0)
    top = 0
    for node in range(tests.shape[0]):
        depth = r.stack[top, 2]
        take_branch(p, r, depth, r.stack[top, 3], r.stack[top, 4])
        top -= 1
        for g in range(p.group_weight.shape[0]):
            count = np.int64(0)
            for w in range(p.group_start[g], p.group_start[g + 1]):
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
