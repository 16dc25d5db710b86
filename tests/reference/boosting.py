"""Boosting with decision stumps, one case and one stump at a time: the twins of `cstree.ensemble`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

__all__ = [
    "PlainRound",
    "PlainStump",
    "plain_adaboost",
    "plain_alpha",
    "plain_committee_cost",
    "plain_cs_adaboost",
    "plain_double_base",
    "plain_side_answers",
    "plain_stumps",
    "plain_variant",
]

TIE = 1e-12


class PlainStump(NamedTuple):
    """Answers ``above`` where the value is greater than the cut, else the other of -1 and 1."""

    feature: int
    cut: float
    above: int

    def answer(self, case: Sequence[float]) -> int:
        if self.feature < 0:
            return self.above
        return self.above if case[self.feature] > self.cut else -self.above


class PlainRound(NamedTuple):
    """What a round took, with which weight, under which weights of the cases."""

    stump: PlainStump
    alpha: float
    weights: list[float]


def plain_stumps(X: Sequence[Sequence[float]]) -> list[PlainStump]:
    """Both constants, then stumps at the middle of two neighbouring values, one polarity after the other."""
    questions = []
    for feature in range(len(X[0])):
        values = sorted({case[feature] for case in X})
        for low, high in pairwise(values):
            middle = low / 2 + high / 2
            questions.append((feature, middle if low <= middle < high else low))
    constants = [PlainStump(-1, math.inf, answer) for answer in (-1, 1)]
    return constants + [PlainStump(*question, above) for above in (1, -1) for question in questions]


def _error(stump: PlainStump, X: Any, y: Sequence[int], D: Sequence[float], of: int | None = None) -> float:
    return math.fsum(
        d
        for case, label, d in zip(X, y, D, strict=True)
        if stump.answer(case) != label and of in (None, label)
    )


def _normalised(D: Sequence[float]) -> list[float]:
    total = math.fsum(D)
    return [d / total for d in D]


def _first(values: Sequence[float], best: float) -> int:
    return next(k for k, value in enumerate(values) if abs(value - best) <= TIE * max(1.0, abs(best)))


def plain_adaboost(
    X: Any, y: Sequence[int], rounds: int, start: Sequence[float] | None = None
) -> Iterator[PlainRound]:
    """Discrete AdaBoost; labels are -1 and 1."""
    stumps = plain_stumps(X)
    D = _normalised(start or [1.0] * len(y))
    for _ in range(rounds):
        errors = [_error(stump, X, y, D) for stump in stumps]
        k = _first(errors, min(errors))
        if errors[k] >= 0.5 - 1e-10:
            return
        error = max(errors[k], 1e-12)
        alpha = 0.5 * math.log((1 - error) / error)
        yield PlainRound(stumps[k], alpha, D)
        if errors[k] <= 1e-12:
            return
        h = [stumps[k].answer(case) for case in X]
        D = _normalised(
            [d * math.exp(-alpha * label * answer) for d, label, answer in zip(D, y, h, strict=True)]
        )


def plain_alpha(function: Callable[[float], float]) -> float:
    """Positive root of an increasing function that is negative at 0, by halving."""
    low, high = 0.0, 1.0
    while function(high) < 0:
        low, high = high, 2 * high
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if function(middle) < 0 else (low, middle)
    return (low + high) / 2


def plain_double_base(
    X: Any,
    y: Sequence[int],
    rounds: int,
    positive: float,
    negative: float,
    start: Sequence[float] | None = None,
) -> Iterator[PlainRound]:
    """AdaBoostDB as derived in sections 3.1 to 3.5: products A of normalisers, all roots, the largest one.

    The weights that are given are those of the classes apart, ``D_P`` and ``D_N``.
    """
    stumps = plain_stumps(X)
    D1 = _normalised(start or [1.0] * len(y))
    W = {c: math.fsum(d for d, label in zip(D1, y, strict=True) if label == c) for c in (1, -1)}
    D = [d / W[label] for d, label in zip(D1, y, strict=True)]
    C = {1: positive, -1: negative}
    ln_A = {1: 0.0, -1: 0.0}
    for _ in range(rounds):
        weight = {c: C[c] * W[c] * math.exp(ln_A[c]) for c in C}
        a, b = weight[1] / (weight[1] + weight[-1]), weight[-1] / (weight[1] + weight[-1])
        alphas = []
        for stump in stumps:
            eps_p, eps_n = _error(stump, X, y, D, 1), _error(stump, X, y, D, -1)
            if a * eps_p + b * eps_n >= 0.5 - 1e-10:
                alphas.append(0.0)
                continue

            def F(alpha: float, eps_p: float = eps_p, eps_n: float = eps_n) -> float:  # noqa: N802
                of_p = eps_p * math.exp(positive * alpha) - (1 - eps_p) * math.exp(-positive * alpha)
                of_n = eps_n * math.exp(negative * alpha) - (1 - eps_n) * math.exp(-negative * alpha)
                return a * of_p + b * of_n  # noqa: B023

            alphas.append(plain_alpha(F))
        if not any(alphas):
            return
        k = _first(alphas, max(alphas))
        yield PlainRound(stumps[k], alphas[k], D)
        for c in C:
            eps = _error(stumps[k], X, y, D, c)
            ln_A[c] += math.log((1 - eps) * math.exp(-C[c] * alphas[k]) + eps * math.exp(C[c] * alphas[k]))
        raised = [
            d * math.exp(-C[label] * alphas[k] * label * stumps[k].answer(case))
            for d, label, case in zip(D, y, X, strict=True)
        ]
        of_class = {c: math.fsum(d for d, label in zip(raised, y, strict=True) if label == c) for c in C}
        D = [d / of_class[label] for d, label in zip(raised, y, strict=True)]


def plain_cs_adaboost(
    X: Any, y: Sequence[int], rounds: int, positive: float, negative: float
) -> Iterator[PlainRound]:
    """CS-AdaBoost as in section 4: the hyperbolic equation of every stump by halving, the least loss."""
    stumps = plain_stumps(X)
    w = [1.0 / len(y)] * len(y)
    for _ in range(rounds):
        T = {c: math.fsum(d for d, label in zip(w, y, strict=True) if label == c) for c in (1, -1)}
        alphas, losses = [], []
        for stump in stumps:
            b, d = _error(stump, X, y, w, 1), _error(stump, X, y, w, -1)
            if 2 * (positive * b + negative * d) >= (1 - 2e-10) * (positive * T[1] + negative * T[-1]):
                alphas.append(0.0)
                losses.append(math.inf)
                continue

            def side(x: float, b: float = b, d: float = d, T: dict[int, float] = T) -> float:
                left = 2 * positive * b * math.cosh(positive * x) + 2 * negative * d * math.cosh(negative * x)
                right = positive * T[1] * math.exp(-positive * x) + negative * T[-1] * math.exp(-negative * x)
                return left - right

            x = plain_alpha(side)
            alphas.append(x)
            losses.append(
                b * 2 * math.sinh(positive * x)
                + T[1] * math.exp(-positive * x)
                + d * 2 * math.sinh(negative * x)
                + T[-1] * math.exp(-negative * x)
            )
        if not any(alphas):
            return
        k = next(k for k, loss in enumerate(losses) if loss <= min(losses) * (1 + TIE))
        yield PlainRound(stumps[k], alphas[k], w)
        C = {1: positive, -1: negative}
        w = [
            d * math.exp(-C[label] * alphas[k] * label * stumps[k].answer(case))
            for d, label, case in zip(w, y, X, strict=True)
        ]
        total = math.fsum(w)
        w = [d / total for d in w]


def plain_variant(
    name: str,
    X: Any,
    y: Sequence[int],
    c: Sequence[float],
    rounds: int,
    cost_scale: float = 0.5,
    select: str = "D",
) -> Iterator[PlainRound]:
    """The methods of section 5, row by row of its table; ``c`` is the cost of a mistake on each case."""
    stumps = plain_stumps(X)
    greatest, least = max(c), min(c)
    D = _normalised(c if name in ("cgada", "adacost", "csb0", "csb1", "csb2") else [1.0] * len(y))
    scale = {"adacost": cost_scale / greatest, "csb": 1 / least, "adac": 1 / greatest, "cgada": 1.0}
    c = [value * scale[name if name in scale else name[:-1]] for value in c]
    for _ in range(rounds):
        power = 0 if select == "D" else 2 if name == "adac3" else 1
        chosen = _normalised([d * value**power for d, value in zip(D, c, strict=True)])
        errors = [_error(stump, X, y, chosen) for stump in stumps]
        k = _first(errors, min(errors))
        m = [label * stumps[k].answer(case) for label, case in zip(y, X, strict=True)]
        error = math.fsum(d for d, ok in zip(D, m, strict=True) if ok < 0)
        if name == "adacost":
            beta = [
                0.5 * (1 - value) if ok > 0 else 0.5 * (1 + value) for value, ok in zip(c, m, strict=True)
            ]
            r = math.fsum(d * ok * part for d, ok, part in zip(D, m, beta, strict=True))
            alpha = 0.5 * math.log((1 + r) / (1 - r))
            factor = [math.exp(-alpha * ok * part) for ok, part in zip(m, beta, strict=True)]
        elif name in ("cgada", "csb0", "csb1", "csb2"):
            alpha = 0.5 * math.log((1 - error) / error)
            power_of_e = {"cgada": alpha, "csb0": 0.0, "csb1": 1.0, "csb2": alpha}[name]
            factor = [
                (1.0 if ok > 0 or name == "cgada" else value) * math.exp(-power_of_e * ok)
                for value, ok in zip(c, m, strict=True)
            ]
        else:
            cD = [value * d for value, d in zip(c, D, strict=True)]
            if name == "adac1":
                s = math.fsum(v * ok for v, ok in zip(cD, m, strict=True))
                alpha = 0.5 * math.log((1 + s) / (1 - s))
                factor = [math.exp(-alpha * value * ok) for value, ok in zip(c, m, strict=True)]
            elif name == "adac2":
                right = math.fsum(v for v, ok in zip(cD, m, strict=True) if ok > 0)
                alpha = 0.5 * math.log(right / math.fsum(v for v, ok in zip(cD, m, strict=True) if ok < 0))
                factor = [value * math.exp(-alpha * ok) for value, ok in zip(c, m, strict=True)]
            else:
                E = math.fsum(cD)
                q = math.fsum(v * value * ok for v, value, ok in zip(cD, c, m, strict=True))
                alpha = 0.5 * math.log((E + q) / (E - q))
                factor = [value * math.exp(-alpha * value * ok) for value, ok in zip(c, m, strict=True)]
        if alpha <= 1e-10:
            return
        yield PlainRound(stumps[k], alpha, D)
        D = _normalised([d * value for d, value in zip(D, factor, strict=True)])


def plain_side_answers(
    X: Sequence[Sequence[Any]], kinds: Sequence[str], of_missing: Any
) -> list[tuple[str, list[bool]]]:
    """Every question of the stump pool about a table, in words, and who says "yes"; None is missing.

    ``of_missing`` answers for a column without missing values; training cases do not need it.
    """
    questions = []
    for j, kind in enumerate(kinds):
        column = [case[j] for case in X]
        known = sorted({value for value in column if value is not None})
        missing = any(value is None for value in column)
        if kind == "categorical":
            asked = [*known, None] if missing else known
            for value in asked if len(asked) > 2 else asked[:-1]:
                questions.append((f"{j} = {value}", [cell == value for cell in column]))
            continue
        for low, high in pairwise(known):
            for says in (False, True) if missing else (of_missing,):
                cut = low / 2 + high / 2
                yes = [says if cell is None else cell > cut for cell in column]
                questions.append((f"{j} > {cut}", yes))
        if missing:
            questions.append((f"{j} missing", [cell is None for cell in column]))
    return questions


def plain_committee_cost(
    asked: Sequence[Sequence[Sequence[int]]], prices: Sequence[Sequence[tuple[str, float]]]
) -> list[float]:
    """What cases pay: member t asks the features ``asked[t][i]`` of case i; ``prices[j]`` are j's steps."""
    totals = []
    for i in range(len(asked[0])):
        paid: set[str] = set()
        total = 0.0
        for of_member in asked:
            for feature in of_member[i]:
                for step, price in prices[feature]:
                    if step not in paid:
                        paid.add(step)
                        total += price
        totals.append(total)
    return totals
