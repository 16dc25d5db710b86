"""The solver of choice: a start on a random sample, then Newton steps on the cases near the margin."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from cstree.svm.problem import Certificate, TwoClass
from cstree.svm.rounded import Move, Point, Rounded, newton_move, step_length
from cstree.svm.rows import combine, scores, squares, take

__all__ = ["solve_hybrid"]

Floats = NDArray[np.float64]

# A first step that is stiffer, for cases of length 1, takes many Newton steps where it need not.
_STIFF = 30.0


def solve_hybrid(problem: TwoClass, certificate: Certificate, max_iter: int, rng: np.random.Generator) -> int:
    """Augmented Lagrangian method, its steps by semismooth Newton.

    Parameters
    ----------
    problem : TwoClass
        Both classes must be there.
    certificate : Certificate
        Judges what is found, and keeps it.
    max_iter : int
        Most proximal steps.
    rng : Generator
        Draws the sample.

    Returns
    -------
    int
        Proximal steps.
    """
    problem = replace(problem, X=_near_zero(problem.X))
    point, center, width = _start(problem, rng)
    bound = problem.upper - problem.lower
    best, waited = np.inf, 0
    iteration = 0
    while iteration < max_iter:
        iteration += 1
        stiffness = bound / width
        stage = Rounded(problem.X, problem.t, problem.lower, problem.upper, center, stiffness)
        point = _minimise(stage, point, problem, certificate.tol)
        point = replace(point, f=scores(problem.X, point.w))
        center = problem.balanced(stage.clipped(stage.pulled(point)))
        done = certificate.add(center, point.w)
        waited = 0 if certificate.gap < 0.9 * best or width > 1.0 else waited + 1
        best = min(best, certificate.gap)
        if done or waited > 10:  # nothing but rounding is left
            break
        width = 0.3 * width if waited else _narrower(problem, point, center, width)
    return iteration


def _near_zero(X: Any) -> Any:
    """Move an array whose columns are far from 0, compared with how they vary; ``b`` makes up for it."""
    if issparse(X):
        return X
    mean = combine(X, np.full(len(X), 1.0 / len(X)))
    square = float(mean @ mean)
    if square <= squares(X).mean() - square:
        return X
    return X - mean.astype(X.dtype)


def _start(problem: TwoClass, rng: np.random.Generator) -> tuple[Point, Floats, float]:
    """Where to begin: at nothing, or, with many cases, at the solution for some of them."""
    n, d = problem.X.shape
    middle, span = 0.5 * (problem.lower + problem.upper), problem.upper - problem.lower
    size = max(4000, 20 * (d + 1))
    if n >= 4 * size:
        return _sampled_start(problem, _sample(problem, size, rng), rng)
    nothing = Point(np.zeros(d), 0.0, np.zeros(n))
    reach = float(span.mean() * squares(problem.X).mean()) / _STIFF
    if reach > 1.0:  # coefficients may be far below their bounds: come from below
        return nothing, np.zeros(n), reach
    return nothing, middle, 1.0 if n > 10 * d else 3.0


def _sampled_start(
    problem: TwoClass, sample: TwoClass, rng: np.random.Generator
) -> tuple[Point, Floats, float]:
    """Solve for a sample; coefficients follow from how far cases are from its margin."""
    n, d = problem.X.shape
    certificate = Certificate(sample, 1e-3)
    solve_hybrid(sample, certificate, 30, rng)
    found = certificate.solution()
    f = scores(problem.X, found.w)
    r = f + (found.b - problem.t)
    width = _reach(r, max(20 * (d + 1), n // 100))
    pulled = 0.5 * (problem.lower + problem.upper) - (problem.upper - problem.lower) / width * r
    return Point(found.w, found.b, f), np.clip(pulled, problem.lower, problem.upper), width


def _sample(problem: TwoClass, size: int, rng: np.random.Generator) -> TwoClass:
    """Half of the sample from each class, or all that there are; each case stands for several."""
    sides = [np.flatnonzero(problem.upper > 0), np.flatnonzero(problem.lower < 0)]
    few = int(np.argmin([len(side) for side in sides]))
    drawn = min(len(sides[few]), size // 2)
    rest = min(len(sides[1 - few]), size - drawn)
    sizes = [drawn, rest] if few == 0 else [rest, drawn]
    picked = [rng.choice(side, k, replace=False) for side, k in zip(sides, sizes, strict=True)]
    rows = np.concatenate(picked)
    stands_for = np.repeat([len(side) / k for side, k in zip(sides, sizes, strict=True)], sizes)
    order = np.argsort(rows)
    rows, stands_for = rows[order], stands_for[order]
    return TwoClass(
        take(problem.X, rows),
        problem.t[rows],
        problem.lower[rows] * stands_for,
        problem.upper[rows] * stands_for,
    )


def _reach(r: Floats, count: int) -> float:
    """Distance from the margin within which so many cases lie."""
    count = min(len(r) - 1, count)
    return max(float(np.partition(np.abs(r), count)[count]), 1e-12)


def _narrower(problem: TwoClass, point: Point, c: Floats, width: float) -> float:
    """Round less than before, but so that about as many cases are round as have a coefficient inside."""
    free = np.count_nonzero((c > problem.lower) & (c < problem.upper))
    count = max(1, min(free, problem.X.shape[1] + 1))
    r = point.f + (problem.bias(point.f) - problem.t)
    return max(0.3 * width, min(0.9 * width, _reach(r, count)))


def _minimise(stage: Rounded, point: Point, problem: TwoClass, tol: float) -> Point:
    """Minimise a rounded problem until its gradient matters less than its rounding.

    Far from the margin nothing is round. So the cases near it, the others fixed, are minimised first, and a
    line search over all cases says how far to go the way that leads there.
    """
    n, d = stage.X.shape
    for repeat in range(20):
        pulled = stage.pulled(point)
        c = stage.clipped(pulled)
        gradient = stage.gradient(point, c)
        error = _error(point, gradient)
        upper = problem.primal(point.w, point.b, point.f)
        lower = problem.dual(c, point.w - gradient[0])
        rest = min(abs(upper - lower), upper)
        if (repeat and error <= 0.2 * rest) or error <= 0.01 * tol * abs(upper):
            break
        goal = max(0.02 * rest, 0.001 * tol * abs(upper))
        count = max(10 * len(stage.inside(pulled)), 20 * (d + 1), n // 50)
        if count > n // 2:
            moved = _newton(stage, point, goal)
        else:
            moved = _newton_nearby(stage, point, pulled, c, gradient, count, goal)
        if moved is point:
            break
        point = moved
    return point


def _error(point: Point, gradient: tuple[Floats, float]) -> float:
    """Give what a gradient that is not 0 adds to the duality gap."""
    by_w, by_b = gradient
    return float(0.5 * by_w @ by_w + (1.0 + abs(point.b)) * abs(by_b))


def _newton(problem: Rounded, point: Point, goal: float, max_steps: int = 60) -> Point:
    """Newton steps until the error is below a goal, or a whole step changed nothing but the point."""
    before = None
    least, waited = np.inf, 0
    for _ in range(max_steps):
        pulled = problem.pulled(point)
        gradient = problem.gradient(point, problem.clipped(pulled))
        error = _error(point, gradient)
        waited = 0 if error < least else waited + 1
        least = min(least, error)
        if error <= goal or waited > 15:
            break
        inside = problem.inside(pulled)
        move = newton_move(problem, point, inside, gradient)
        fall = float(gradient[0] @ move.w + gradient[1] * move.b)
        if not fall < 0:
            break
        size = step_length(problem.along(point, pulled, move), fall)
        point = Point(point.w + size * move.w, point.b + size * move.b, point.f + size * move.f)
        if size == 1.0 and before is not None and np.array_equal(before, inside):
            break
        before = inside
    return point


def _newton_nearby(
    stage: Rounded,
    point: Point,
    pulled: Floats,
    c: Floats,
    gradient: tuple[Floats, float],
    count: int,
    goal: float,
) -> Point:
    """Minimise over about ``count`` cases, and go towards that as far as it helps all cases."""
    r = np.abs(point.f + (point.b - stage.t))
    near = np.flatnonzero((r <= np.partition(r, count)[count]) | ((c > stage.lower) & (c < stage.upper)))
    there = _newton(stage.part(near, c), replace(point, f=point.f[near]), goal)
    move = Move(there.w - point.w, there.b - point.b, scores(stage.X, there.w - point.w))
    fall = float(gradient[0] @ move.w + gradient[1] * move.b)
    if not fall < 0:
        return point
    size = step_length(stage.along(point, pulled, move), fall)
    return Point(point.w + size * move.w, point.b + size * move.b, point.f + size * move.f)
