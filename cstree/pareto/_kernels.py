"""Dominance, crowding and hypervolume of sets of points, all objectives minimised.

Every kernel here can be called from Python and from other kernels.  The ones
whose name ends in ``_into`` fill arrays that the caller made and allocate
nothing, so that a compiled generation loop can call them millions of times.
Their work array ``order_work`` is int64 of shape (2, at least ``count``).

Objectives are compared exactly and must not be NaN; the callers in Python see to that.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cstree._numba import kernel

__all__ = [
    "crowding_distance",
    "crowding_into",
    "hypervolume",
    "hypervolume_2d",
    "hypervolume_2d_into",
    "nondominated",
    "nondominated_into",
    "sort_points",
]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Mask = NDArray[np.bool_]

# Runs of this length are sorted by insertion before they are merged.
_RUN = 12


@kernel
def _precedes(objectives: Floats, a: int, b: int, leading: int) -> bool:
    """Tell whether point ``a`` comes before ``b``: by objective ``leading``, the following ones, index."""
    n_objectives = objectives.shape[1]
    column = leading
    for _ in range(n_objectives):
        if objectives[a, column] < objectives[b, column]:
            return True
        if objectives[b, column] < objectives[a, column]:
            return False
        column += 1
        if column == n_objectives:
            column = 0
    return a < b


@kernel
def _sort_run(objectives: Floats, leading: int, order: Integers, start: int, stop: int) -> None:
    """Sort ``order[start:stop]`` by insertion."""
    for i in range(start + 1, stop):
        point = order[i]
        j = i
        while j > start and _precedes(objectives, point, order[j - 1], leading):
            order[j] = order[j - 1]
            j -= 1
        order[j] = point


@kernel
def _merge_runs(
    objectives: Floats, leading: int, source: Integers, target: Integers, start: int, middle: int, stop: int
) -> None:
    """Merge the sorted ``source[start:middle]`` and ``source[middle:stop]`` into ``target[start:stop]``."""
    if middle >= stop or _precedes(objectives, source[middle - 1], source[middle], leading):
        for i in range(start, stop):
            target[i] = source[i]
        return
    left, right = start, middle
    for i in range(start, stop):
        if left < middle and (right >= stop or _precedes(objectives, source[left], source[right], leading)):
            target[i] = source[left]
            left += 1
        else:
            target[i] = source[right]
            right += 1


@kernel
def sort_points(objectives: Floats, count: int, leading: int, order_work: Integers) -> None:
    """Sort the first ``count`` points by one objective.

    Ties go by the objectives after it (cyclically), then by index.  A bottom-up merge sort: O(n log n) on
    every input, without allocation.

    Parameters
    ----------
    objectives : float64 (at least count, m)
        The points.
    count : int
        How many of them to sort.
    leading : int
        Objective that is compared first, in ``range(m)``.
    order_work : int64 (2, at least count)
        Row 0 receives the indices in order; row 1 is scratch.
    """
    for i in range(count):
        order_work[0, i] = i
    for start in range(0, count, _RUN):
        _sort_run(objectives, leading, order_work[0], start, min(start + _RUN, count))
    now = 0
    width = _RUN
    while width < count:
        for start in range(0, count, 2 * width):
            middle = min(start + width, count)
            stop = min(start + 2 * width, count)
            _merge_runs(objectives, leading, order_work[now], order_work[1 - now], start, middle, stop)
        now = 1 - now
        width *= 2
    if now == 1:
        for i in range(count):
            order_work[0, i] = order_work[1, i]


@kernel
def _covered(objectives: Floats, point: int, kept: Integers, n_kept: int) -> bool:
    """Tell whether one of the points kept so far is nowhere worse than ``point``."""
    n_objectives = objectives.shape[1]
    for k in range(n_kept - 1, -1, -1):  # the last one kept is the nearest in order: it covers most often
        other = kept[k]
        covers = True
        for j in range(n_objectives):
            if objectives[other, j] > objectives[point, j]:
                covers = False
                break
        if covers:
            return True
    return False


@kernel
def nondominated_into(objectives: Floats, count: int, order_work: Integers, mask: Mask) -> int:
    """Mark the points that no other point dominates; of equal points the first.

    A point dominates another if it is nowhere worse and somewhere better (spec, section 2).  In
    lexicographic order a point can be dominated, or repeated, only by an earlier one.  With two objectives
    one sweep is then enough, O(n log n); with more, every point is compared with those kept so far,
    O(n * front), leaving at the first that covers it.

    Parameters
    ----------
    objectives : float64 (at least count, m)
        The points.
    count : int
        How many of them to look at.
    order_work : int64 (2, at least count)
        On return row 0 holds all points in lexicographic order, and row 1 the kept ones, in the same order.
    mask : bool (at least count,)
        On return, whether each point is kept.

    Returns
    -------
    int
        Number of points kept.
    """
    sort_points(objectives, count, 0, order_work)
    order, kept = order_work[0], order_work[1]
    two = objectives.shape[1] == 2
    n_kept = 0
    for i in range(count):
        point = order[i]
        if n_kept == 0:
            drop = False
        elif two:  # the last one kept has the least second objective so far
            drop = objectives[kept[n_kept - 1], 1] <= objectives[point, 1]
        else:
            drop = _covered(objectives, point, kept, n_kept)
        mask[point] = not drop
        if not drop:
            kept[n_kept] = point
            n_kept += 1
    return n_kept


@kernel
def nondominated(objectives: Floats) -> Mask:
    """Mark the points that no other point dominates; of equal points the first.  Allocates its work arrays.

    Parameters
    ----------
    objectives : float64 (p, m)
        The points.

    Returns
    -------
    bool (p,)
        Whether each point is kept.
    """
    count = objectives.shape[0]
    mask = np.empty(count, dtype=np.bool_)
    nondominated_into(objectives, count, np.empty((2, count), dtype=np.int64), mask)
    return mask


@kernel
def crowding_into(objectives: Floats, count: int, order_work: Integers, distance: Floats) -> None:
    """Crowding distance of the first ``count`` points among themselves (spec, section 4).

    Along every objective a point is as far as its two neighbours are from each other, divided by the
    objective's range over the set; the distances are summed, and the two ends of every objective are
    infinite.  An objective without range counts 0.  Ties in one objective are put in order by the next, so
    the result does not depend on the order of distinct points.  Where no objective has a range (a single
    point), every point is an end.

    Parameters
    ----------
    objectives : float64 (at least count, m)
        The points.
    count : int
        How many of them make up the set.
    order_work : int64 (2, at least count)
        Scratch.
    distance : float64 (at least count,)
        Receives the distances.
    """
    for i in range(count):
        distance[i] = 0.0
    spread = False
    for j in range(objectives.shape[1]):
        sort_points(objectives, count, j, order_work)
        order = order_work[0]
        if count == 0 or not objectives[order[count - 1], j] > objectives[order[0], j]:
            continue
        spread = True
        extent = objectives[order[count - 1], j] - objectives[order[0], j]
        distance[order[0]] = np.inf
        distance[order[count - 1]] = np.inf
        for i in range(1, count - 1):
            distance[order[i]] += (objectives[order[i + 1], j] - objectives[order[i - 1], j]) / extent
    if not spread:
        for i in range(count):
            distance[i] = np.inf


@kernel
def crowding_distance(objectives: Floats) -> Floats:
    """Crowding distance of every point of a set; see :func:`crowding_into`.

    Parameters
    ----------
    objectives : float64 (p, m)
        The points.

    Returns
    -------
    float64 (p,)
        Distances; infinite at the two ends of every objective.
    """
    count = objectives.shape[0]
    distance = np.empty(count, dtype=np.float64)
    crowding_into(objectives, count, np.empty((2, count), dtype=np.int64), distance)
    return distance


@kernel
def hypervolume_2d_into(objectives: Floats, count: int, reference: Floats, order_work: Integers) -> float:
    """Area between the first ``count`` points and the reference, two objectives, without allocation.

    Parameters
    ----------
    objectives : float64 (at least count, 2)
        The points; dominated ones and ones not below the reference add nothing.
    count : int
        How many of them to look at.
    reference : float64 (2,)
        The corner that bounds the area from above.
    order_work : int64 (2, at least count)
        Scratch.

    Returns
    -------
    float
        Area of what the points dominate below the reference.
    """
    sort_points(objectives, count, 0, order_work)
    area = 0.0
    height = reference[1]
    for i in range(count):
        point = order_work[0, i]
        if objectives[point, 0] >= reference[0]:
            break
        if objectives[point, 1] < height:
            area += (reference[0] - objectives[point, 0]) * (height - objectives[point, 1])
            height = objectives[point, 1]
    return area


@kernel
def hypervolume_2d(objectives: Floats, reference: Floats) -> float:
    """Area between the points and the reference, two objectives, O(n log n).

    Parameters
    ----------
    objectives : float64 (p, 2)
        The points; dominated ones and ones not below the reference add nothing.
    reference : float64 (2,)
        The corner that bounds the area from above.

    Returns
    -------
    float
        Area of what the points dominate below the reference.
    """
    count = objectives.shape[0]
    return hypervolume_2d_into(objectives, count, reference, np.empty((2, count), dtype=np.int64))


@kernel
def _gather_inside(objectives: Floats, reference: Floats) -> Floats:
    """Copy the points that are strictly below the reference in every objective."""
    inside = np.empty(objectives.shape, dtype=np.float64)
    count = 0
    for i in range(objectives.shape[0]):
        below = True
        for j in range(objectives.shape[1]):
            below = below and objectives[i, j] < reference[j]
        if below:
            inside[count] = objectives[i]
            count += 1
    return inside[:count]


@kernel
def _gather_nondominated(objectives: Floats) -> Floats:
    """Copy the nondominated points, in lexicographic order."""
    count = objectives.shape[0]
    order_work = np.empty((2, count), dtype=np.int64)
    n_kept = nondominated_into(objectives, count, order_work, np.empty(count, dtype=np.bool_))
    kept = np.empty((n_kept, objectives.shape[1]), dtype=np.float64)
    for k in range(n_kept):
        kept[k] = objectives[order_work[1, k]]
    return kept


@kernel
def _volume(points: Floats, reference: Floats) -> float:
    """Volume between nondominated points that are all below the reference; one objective less at each level.

    The WFG scheme of While, Bradstreet and Barone (2012): points are taken from the worst to the best in
    the last objective, and each adds the part of its box that the ones still to come leave uncovered.  Those
    are nowhere worse in the last objective, so that part is its height there times a volume in the others.
    """
    count, width = points.shape
    if width == 2:
        return hypervolume_2d(points, reference)
    last = width - 1
    order_work = np.empty((2, count), dtype=np.int64)
    sort_points(points, count, last, order_work)
    total = 0.0
    for rank in range(count - 1, -1, -1):
        point = order_work[0, rank]
        box = 1.0
        limited = np.empty((rank, last), dtype=np.float64)
        for j in range(last):
            box *= reference[j] - points[point, j]
            for k in range(rank):
                limited[k, j] = max(points[point, j], points[order_work[0, k], j])
        uncovered = box - _volume(_gather_nondominated(limited), reference)
        total += (reference[last] - points[point, last]) * uncovered
    return total


@kernel
def hypervolume(objectives: Floats, reference: Floats) -> float:
    """Volume between the points and the reference, any number of objectives, exact.

    Parameters
    ----------
    objectives : float64 (p, m)
        The points; dominated ones and ones not below the reference add nothing.
    reference : float64 (m,)
        The corner that bounds the volume from above.

    Returns
    -------
    float
        Volume of what the points dominate below the reference.

    Notes
    -----
    O(n log n) for two objectives, at worst O(n^(m-1)) (up to a logarithm) for more: for thousands of points
    with three objectives, hundreds with four.
    """
    n_objectives = objectives.shape[1]
    if n_objectives == 1:
        length = 0.0
        for i in range(objectives.shape[0]):
            length = max(length, reference[0] - objectives[i, 0])
        return length
    if n_objectives == 2:
        return hypervolume_2d(objectives, reference)
    return _volume(_gather_nondominated(_gather_inside(objectives, reference)), reference)
