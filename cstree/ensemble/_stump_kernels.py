"""Judge all stumps of a table at once, and let stumps vote."""

from __future__ import annotations

import numpy as np

from cstree._numba import kernel

# Cases whose weights stay in the fastest cache while all features read them.
_BLOCK = 1024


@kernel
def sum_by_code(dense, sparse, weight, by_class, totals):  # type: ignore[no-untyped-def]
    """Sum the weight of the cases by feature, code and class.

    A *cell* is ``code * n_classes + class``. Where most cases share one code, only the others are listed:
    what they lack to the weight of their class belongs to the shared code.

    Parameters
    ----------
    dense : (int64 (m,), unsigned integer (m, n))
        Of features without such a code: where their codes begin in ``totals``, and the cell of each case.
    sparse : (int64 (l, 4), bool (l, n_classes), int32, unsigned integer)
        Of the others: first code in ``totals``, shared code, end of the codes, end of the list; which classes
        have cases with the shared code; the cases of all lists, and their cells.
    weight : float64 (n,)
    by_class : float64 (n_classes,)
        Weight of each class.
    totals : float64 (n_codes, n_classes), filled
        Codes of all features end to end.
    """
    flat, n_classes = totals.reshape(-1), totals.shape[1]
    for i in range(flat.shape[0]):
        flat[i] = 0.0
    starts, cells = dense
    n_features, n = cells.shape
    for first in range(0, n, _BLOCK):
        last = min(first + _BLOCK, n)
        for j in range(n_features):
            own = flat[starts[j] * n_classes :]
            for i in range(first, last):
                own[np.uint64(cells[j, i])] += weight[i]
    lists, shares, rows, listed_cells = sparse
    entry = 0
    for j in range(lists.shape[0]):
        start, shared, last_code, end = lists[j]
        own = flat[start * n_classes :]
        for e in range(entry, end):
            own[np.uint64(listed_cells[e])] += weight[np.uint64(rows[e])]
        entry = end
        for k in range(n_classes):
            if shares[j, k]:
                rest = by_class[k]
                for c in range(start, last_code):
                    rest -= totals[c, k]
                totals[start + shared, k] = max(rest, 0.0)


@kernel
def list_sides(totals, features, sides):  # type: ignore[no-untyped-def]
    """Weight of each class on both sides of every question.

    Sums run towards the cut from either end, so a side without cases of a class has exactly 0. Questions
    stand in the order of :class:`cstree.ensemble.stumps.Questions`.

    Parameters
    ----------
    totals : float64 (n_codes, n_classes)
        As :func:`sum_by_code` fills them.
    features : int64 (F, 4)
        First code in ``totals``; codes of known values; whether categorical; whether values are missing.
    sides : float64 (2, n_classes, Q), filled
        The side of "no", then that of "yes".
    """
    at = 0
    for j in range(features.shape[0]):
        first, n, categorical, has_missing = features[j]
        if categorical:
            at = _list_categories(totals[first : first + n + has_missing], sides, at)
            continue
        for k in range(totals.shape[1]):
            own = totals[first : first + n, k]
            below, above = sides[0, k, at:], sides[1, k, at:]
            low = high = 0.0
            if not has_missing:
                for c in range(n - 1):
                    low += own[c]
                    high += own[n - 1 - c]
                    below[c] = low
                    above[n - 2 - c] = high
                continue
            missing = totals[first + n, k]  # each cut is asked twice
            for c in range(n - 1):
                low += own[c]
                high += own[n - 1 - c]
                below[2 * c] = low + missing
                below[2 * c + 1] = low
                above[2 * (n - 2 - c)] = high
                above[2 * (n - 2 - c) + 1] = high + missing
            below[2 * (n - 1)] = low + own[n - 1]
            above[2 * (n - 1)] = missing
        at += (1 + has_missing) * (n - 1) + has_missing


@kernel
def least_wrong(sides, by_class, tie):  # type: ignore[no-untyped-def]
    """Find the binary stump of least error, the first of those within ``tie`` of it.

    Parameters
    ----------
    sides : float64 (2, 2, Q)
        As :func:`list_sides` fills them.
    by_class : float64 (2,)
    tie : float

    Returns
    -------
    int
        Index of the candidate, in the order of :class:`cstree.ensemble.stumps.StumpPool`.
    """
    n = sides.shape[2]
    least = min(by_class[0], by_class[1])
    for i in range(n):
        least = min(least, min(sides[0, 1, i] + sides[1, 0, i], sides[0, 0, i] + sides[1, 1, i]))
    least += tie
    for k in range(2):
        if by_class[1 - k] <= least:
            return k
    for i in range(n):
        if sides[0, 1, i] + sides[1, 0, i] <= least:
            return 2 + i
    for i in range(n):
        if sides[0, 0, i] + sides[1, 1, i] <= least:
            return 2 + n + i
    return 0


@kernel
def _list_categories(totals, sides, at):  # type: ignore[no-untyped-def]
    """List both sides of the questions about a categorical feature; return where the next ones stand."""
    n, n_classes = totals.shape
    n_questions = n if n > 2 else n - 1
    for k in range(n_classes):
        before = 0.0
        for c in range(n_questions):
            sides[0, k, at + c] = before
            sides[1, k, at + c] = totals[c, k]
            before += totals[c, k]
        after = 0.0
        for c in range(n - 1, -1, -1):
            if c < n_questions:
                sides[0, k, at + c] += after
            after += totals[c, k]
    return at + n_questions


@kernel
def add_stump_votes(values, questions, cuts, votes, scores):  # type: ignore[no-untyped-def]
    """Add the votes of stumps, in their order, to the scores of a block of cases.

    Parameters
    ----------
    values : float64 (n_columns, m)
        Raw values of the columns that stumps ask for, categories as codes, missing as NaN.
    questions : int64 (T, 3)
        Column; whether "yes" means equal to the cut (else: greater); whether a missing value says "yes".
    cuts : float64 (T,)
    votes : float64 (n_scores, T, 2)
        What "no" and "yes" add to each score.
    scores : float64 (n_scores, m), changed
    """
    for t in range(questions.shape[0]):
        column = values[questions[t, 0]]
        cut = cuts[t]
        for s in range(scores.shape[0]):
            own = scores[s]
            no, yes = votes[s, t, 0], votes[s, t, 1]
            unknown = yes if questions[t, 2] else no
            if questions[t, 1]:
                for i in range(own.shape[0]):
                    value = column[i]
                    vote = yes if value == cut else no
                    own[i] += unknown if value != value else vote
            else:
                for i in range(own.shape[0]):
                    value = column[i]
                    vote = yes if value > cut else no
                    own[i] += unknown if value != value else vote
