"""The weight of a weak learner between two exponents, and searches for the best one.

In all kernels ``equation`` holds ``a, b, C_P, C_N``: the shares of the positive and the negative class in the
weight of the cases (a + b = 1), and the two costs. A candidate is ``p = a eps_P`` and ``q = b eps_N``: the
weight of the positive and of the negative cases that it gets wrong. Its own weight alpha is the root of

    F(alpha) = p e^{C_P alpha} - (a - p) e^{-C_P alpha} + q e^{C_N alpha} - (b - q) e^{-C_N alpha},

where the loss ``[p e^{C_P alpha} + (a - p) e^{-C_P alpha}] / C_P + [q e^{C_N alpha} + ...] / C_N``, of which
F is the derivative, is least. It is positive for candidates that contribute: ``p + q < 1/2``. No candidate
is perfect: ``p + q > 1e-12``.
"""

from __future__ import annotations

import numpy as np

from cstree._numba import kernel

# Losses and weights this close (relative, of weights below 1 absolute) tie.
_TIE = 1e-12


@kernel
def _grown(weight, exponent):  # type: ignore[no-untyped-def]
    """``weight e^exponent``; 0 stays 0 where the power overflows."""
    return weight * np.exp(exponent) if weight > 0 else 0.0


@kernel
def _log_sum(x, y):  # type: ignore[no-untyped-def]
    """``ln(e^x + e^y)``; one of them may be minus infinity."""
    most = max(x, y)
    return most + np.log(np.exp(x - most) + np.exp(y - most))


@kernel
def find_root(p, q, equation):  # type: ignore[no-untyped-def]
    """Solve ``F = 0`` by Newton's steps on ``g``, the difference of the logarithms of its two sides.

    ``g = ln(p e^{C_P x} + q e^{C_N x}) - ln((a - p) e^{-C_P x} + (b - q) e^{-C_N x})`` never overflows and
    ascends with a slope between twice the lesser and twice the greater cost. Replacing both costs by one of
    them bounds the root: it lies between ``ln((1 - e) / e) / 2`` over the greater and over the lesser, e = p
    + q.
    """
    a, b, positive, negative = equation
    ln_p, ln_q = np.log(p), np.log(q)
    ln_a, ln_b = np.log(max(a - p, 0.0)), np.log(max(b - q, 0.0))
    odds = np.log((a - p + b - q) / (p + q))
    low, high = odds / (2 * max(positive, negative)), odds / (2 * min(positive, negative))
    if low > high:
        low, high = high, low
    x = min(max(odds / (positive + negative), low), high)
    for _ in range(100):
        p_wrong, q_wrong = ln_p + positive * x, ln_q + negative * x
        p_right, q_right = ln_a - positive * x, ln_b - negative * x
        wrong, right = _log_sum(p_wrong, q_wrong), _log_sum(p_right, q_right)
        slope = positive * (np.exp(p_wrong - wrong) + np.exp(p_right - right))
        slope += negative * (np.exp(q_wrong - wrong) + np.exp(q_right - right))
        if wrong > right:
            high = x
        else:
            low = x
        new = x - (wrong - right) / slope
        if not low <= new <= high:
            new = (low + high) / 2
        step = abs(new - x)
        x = new
        if step <= 1e-14 * max(1.0, abs(x)):
            break
    return x


@kernel
def _bisect_root(p, q, equation):  # type: ignore[no-untyped-def]
    """Root of a contributing candidate by halving, in the hyperbolic form in which CS-AdaBoost is published.

    ``2 C_P b cosh(C_P x) + 2 C_N d cosh(C_N x) = C_P T_+ e^{-C_P x} + C_N T_- e^{-C_N x}``, with ``p = C_P
    b``, ``q = C_N d``, ``a = C_P T_+`` and ``b = C_N T_-``.
    """
    a, b, positive, negative = equation
    low, high, bracketed = 0.0, 1.0, False
    halvings = 0
    while halvings < 60:
        x = (low + high) / 2 if bracketed else high
        side = -a * np.exp(-positive * x) - b * np.exp(-negative * x)
        if p > 0:
            side += 2 * p * np.cosh(positive * x)
        if q > 0:
            side += 2 * q * np.cosh(negative * x)
        halvings += bracketed
        if side > 0:
            high, bracketed = x, True
        else:
            low = x
            if not bracketed:
                high = 2 * x
    return (low + high) / 2


@kernel
def loss_at(p, q, equation, x):  # type: ignore[no-untyped-def]
    """Loss of a candidate that gets the weight ``x``."""
    a, b, positive, negative = equation
    of_positive = _grown(p, positive * x) + (a - p) * np.exp(-positive * x)
    of_negative = _grown(q, negative * x) + (b - q) * np.exp(-negative * x)
    return of_positive / positive + of_negative / negative


@kernel
def solve_all(p, q, equation, most, bisect, alphas, losses):  # type: ignore[no-untyped-def]
    """Solve the equation of every candidate with ``p + q < most``; return how many there are.

    Parameters
    ----------
    p, q : float64 (n_candidates,)
    equation : float64 (4,)
    most : float
    bisect : bool
        By halving instead of Newton's steps.
    alphas, losses : float64 (n_candidates,), filled
        0 and infinity for other candidates.
    """
    terms = (equation[0], equation[1], equation[2], equation[3])
    n_roots = 0
    for k in range(p.shape[0]):
        alphas[k], losses[k] = 0.0, np.inf
        if p[k] + q[k] < most:
            n_roots += 1
            alphas[k] = _bisect_root(p[k], q[k], terms) if bisect else find_root(p[k], q[k], terms)
            losses[k] = loss_at(p[k], q[k], terms, alphas[k])
    return n_roots


@kernel
def search_largest_root(p, q, equation, most, order, found, counts):  # type: ignore[no-untyped-def]
    """Find the candidate with the largest root; solve only those that beat the best one so far.

    A candidate has a larger root than alpha exactly when ``F(alpha) < 0``.

    Parameters
    ----------
    p, q : float64 (n_candidates,)
    equation : float64 (4,)
    most : float
        Candidates with ``p + q`` below this contribute.
    order : int64 (n_candidates,)
        In which candidates are visited.
    found : float64 (1,), filled
        The root.
    counts : int64 (3,), filled
        Candidates that contribute, evaluations of F, roots.

    Returns
    -------
    int
        The candidate; -1 if none contributes.
    """
    terms = (equation[0], equation[1], equation[2], equation[3])
    a, b, positive, negative = terms
    best, alpha = -1, 0.0
    # Before there is a best one, the condition says p + q < most: at alpha = 0 both conditions are one.
    both_p, both_q, right = 1.0, 1.0, most
    counts[:] = 0
    for at in range(order.shape[0]):
        k = order[at]
        counts[0] += p[k] + q[k] < most
        side = (p[k] * both_p if p[k] > 0 else 0.0) + (q[k] * both_q if q[k] > 0 else 0.0)
        if side >= right:
            continue
        counts[2] += 1
        root = find_root(p[k], q[k], terms)
        if best < 0 or root > alpha + _TIE * max(1.0, alpha):
            best, alpha = k, root
            up_p, up_q = np.exp(positive * alpha), np.exp(negative * alpha)
            both_p, both_q = up_p + 1 / up_p, up_q + 1 / up_q
            right = (a / up_p + b / up_q) * (1 - _TIE)
    counts[1] = max(counts[0] - 1, 0)
    found[0] = alpha
    return best


@kernel
def _least_square(wrong_p, right_p, wrong_q, right_q, equation):  # type: ignore[no-untyped-def]
    """Bound ``l^2 - (F / c)^2`` on the square of a candidate's least loss, from its terms at any alpha."""
    _, _, positive, negative = equation
    loss = (wrong_p + right_p) / positive + (wrong_q + right_q) / negative
    slope = (wrong_p - right_p + wrong_q - right_q) / min(positive, negative)
    return (loss - slope) * (loss + slope)


@kernel
def _is_rejected(p, q, equation, x, wanted, counts):  # type: ignore[no-untyped-def]
    """Whether Newton's steps from ``x`` find that the loss of a candidate is nowhere below ``wanted``."""
    a, b, positive, negative = equation
    # At the root no term exceeds 1: below this x no power overflows.
    most = min(-np.log(p) / positive, -np.log(q) / negative)
    x = min(x, most)
    for _ in range(60):
        wrong_p, right_p = _grown(p, positive * x), (a - p) * np.exp(-positive * x)
        wrong_q, right_q = _grown(q, negative * x), (b - q) * np.exp(-negative * x)
        counts[1] += 1
        if _least_square(wrong_p, right_p, wrong_q, right_q, equation) >= wanted * wanted:
            return True
        slope = wrong_p - right_p + wrong_q - right_q
        bend = positive * (wrong_p + right_p) + negative * (wrong_q + right_q)
        if abs(slope) <= 1e-14 * bend:
            return False
        x = min(max(0.0, x - slope / bend), most)
    return False


@kernel
def search_least_loss(p, q, equation, most, order, found, counts):  # type: ignore[no-untyped-def]
    """Find the candidate with the least loss; solve only those that a bound does not reject.

    The second derivative of the loss l is at least ``c^2 l``, c the lesser cost, so its least value is at
    least ``sqrt(l^2 - (F / c)^2)`` at any alpha: the test begins at the weight of the best candidate so far
    and goes on with Newton's steps.

    Parameters
    ----------
    p, q, equation, most, order
        As in :func:`search_largest_root`.
    found : float64 (2,), filled
        The root and its loss.
    counts : int64 (3,), filled
        As in :func:`search_largest_root`.

    Returns
    -------
    int
        The candidate; -1 if none contributes.
    """
    terms = (equation[0], equation[1], equation[2], equation[3])
    a, b, positive, negative = terms
    best, alpha, least = -1, 0.0, np.inf
    up_p = up_q = 1.0
    counts[:] = 0
    for at in range(order.shape[0]):
        k = order[at]
        if p[k] + q[k] >= most:
            continue
        counts[0] += 1
        if best >= 0:
            counts[1] += 1
            wrong_p, wrong_q = p[k] * up_p if p[k] > 0 else 0.0, q[k] * up_q if q[k] > 0 else 0.0
            right_p, right_q = (a - p[k]) / up_p, (b - q[k]) / up_q
            if _least_square(wrong_p, right_p, wrong_q, right_q, terms) >= (least * (1 - _TIE)) ** 2:
                continue
            if _is_rejected(p[k], q[k], terms, alpha, least * (1 - _TIE), counts):
                continue
        counts[2] += 1
        root = find_root(p[k], q[k], terms)
        loss = loss_at(p[k], q[k], terms, root)
        if best < 0 or loss < least * (1 - _TIE):
            best, alpha, least = k, root, loss
            up_p, up_q = np.exp(positive * alpha), np.exp(negative * alpha)
    found[0], found[1] = alpha, least
    return best


@kernel
def first_tied(p, q, equation, most, alpha, least, below):  # type: ignore[no-untyped-def]
    """Find the first candidate that ties with the best one, so that the order of a search does not matter.

    Parameters
    ----------
    p, q : float64 (n_candidates,)
    equation : float64 (4,)
    most : float
    alpha : float
        Weight of the best candidate.
    least : float
        Its loss, if the least loss was wanted; negative if the largest root was.
    below : int
        The best candidate: only those before it are tried.
    """
    a, b, positive, negative = equation[0], equation[1], equation[2], equation[3]
    x = alpha if least >= 0 else alpha - _TIE * max(1.0, alpha)
    up_p, up_q = np.exp(positive * x), np.exp(negative * x)
    both_p, both_q, right = up_p + 1 / up_p, up_q + 1 / up_q, a / up_p + b / up_q
    if least >= 0:  # of the loss: p (e^x - e^-x) + a e^-x, over the cost
        both_p, both_q = (up_p - 1 / up_p) / positive, (up_q - 1 / up_q) / negative
        right = least * (1 + _TIE) - a / up_p / positive - b / up_q / negative
    for k in range(below):
        if p[k] + q[k] < most:
            side = (p[k] * both_p if p[k] > 0 else 0.0) + (q[k] * both_q if q[k] > 0 else 0.0)
            if side <= right:
                return k
    return below
