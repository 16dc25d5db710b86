"""An exact search's problem as its kernels see it: whole numbers for costs, prices and weights."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cstree.exact.integers import IntegerScale, as_integers, fit_integers
from cstree.tree._bit_kernels import GROUPED, PER_CASE, WEIGHTED
from cstree.tree.problem import TreeProblem

__all__ = ["MOST_CANDIDATES", "CaseArrays", "ExactArrays", "PriceArrays", "build_exact_arrays"]

# A point of a front remembers its test and those below in 17 bits each.
MOST_CANDIDATES = 2**17 - 2
# Sums of 32-bit lanes must not overflow.
_LARGEST_INT32 = 2**31 - 1
_LARGEST_INT64 = 2**61


class CaseArrays(NamedTuple):
    """Cases, candidates, and what a mistake costs.

    ``F`` candidate tests of ``A`` panels (features that the same steps reveal, at the same prices), ``W``
    64-bit words, ``G`` groups of cases, ``M`` answers.
    What an answer saves, compared with a case's worst answer, is summed instead of what it costs: the
    savings of most answers are 0, so most products vanish. ``cost = worst - greatest saving``.
    """

    bits: NDArray[np.uint64]  # (F, W) cases that take branch 0
    panel: NDArray[np.int32]  # (F,) ascending
    candidate_start: NDArray[np.int32]  # (A + 1,) first candidate of each panel
    words: NDArray[np.uint64]  # (W,) all cases
    group_start: NDArray[np.int64]  # (G + 1,) first word of each group
    group_weight: NDArray[np.int64]  # (G,) weight of a case (GROUPED)
    saving_start: NDArray[np.int64]  # (G + 1,) first entry of each group (GROUPED)
    saving_answer: NDArray[np.int64]  # (entries,) answer
    saving: NDArray[np.int_]  # (entries,) what a case of the group saves, int32 or int64
    first_of_second: int  # two answers, each class saves one of them: first group of class 1; else -1
    own_saving: NDArray[np.int_]  # (G,) then: what a case of the group saves
    case_weight: NDArray[np.int64]  # (64 W,) (other kinds)
    case_saving: NDArray[np.int_]  # (64 W, M + 1) (other kinds)
    total: NDArray[np.int_]  # (M + 1,) savings of all cases; last: their worst costs
    kind: int
    n_answers: int
    n_cases: int
    weight: int  # of all cases
    minimum: int  # least support of a branch, at least 1


class PriceArrays(NamedTuple):
    """What the panels cost; ``P`` words of steps as bits."""

    step_start: NDArray[np.int32]  # (A + 1,) first entry of each panel, priced steps only
    step: NDArray[np.int32]  # (entries,)
    price: NDArray[np.int64]  # (entries,)
    pays: NDArray[np.uint64]  # (A, P) steps that a test leaves paid
    cares: NDArray[np.uint64]  # (A, P) steps that the price depends on
    sharer_start: NDArray[np.int32]  # (A + 1,)
    sharer: NDArray[np.int32]  # (entries,) panels that get cheaper when the panel is paid


class ExactArrays(NamedTuple):
    """A problem as the kernels see it."""

    cases: CaseArrays
    prices: PriceArrays


class Units(NamedTuple):
    """What the integers stand for."""

    cost: float  # misclassification cost of one unit, for a sum over cases
    price: float  # test cost of one unit, for a sum over cases
    unavoidable: float  # what the cases cost at least, whatever is answered
    exact: bool  # whether no figure was rounded


class Candidates(NamedTuple):
    """Candidate tests as :meth:`TreeProblem.tree` takes them, sorted by panel."""

    test: NDArray[np.int32]
    mask: NDArray[np.uint64]
    feature: NDArray[np.int64]  # of the table


def build_exact_arrays(problem: TreeProblem, subset_limit: int) -> tuple[ExactArrays, Units, Candidates]:
    """Scale the figures of a problem to integers and gather its candidate tests.

    Raises
    ------
    ValueError
        A categorical feature has more than ``subset_limit`` subsets, or there are too many candidates.
    """
    candidates, bits = _candidates(problem, subset_limit)
    arrays = problem.arrays
    savings, unavoidable = _savings(problem)
    weights, prices, price_unit, price_exact = _weights_and_prices(problem, savings.weight)
    panel_of, panels = _panels(problem, np.unique(candidates.feature), prices)
    order = np.argsort(panel_of[candidates.feature], kind="stable")
    candidates = Candidates(candidates.test[order], candidates.mask[order], candidates.feature[order])
    panel = panel_of[candidates.feature]
    exact = savings.scale.exact and price_exact and _keeps_weights(problem)
    units = Units(savings.scale.unit, price_unit, unavoidable, exact)
    grouped = arrays.kind == GROUPED
    start, answer, amount = _entries(savings.saving if grouped else savings.saving[:0])
    none = np.zeros((1, 1), dtype=savings.saving.dtype)
    return (
        ExactArrays(
            CaseArrays(
                bits=np.ascontiguousarray(bits[order]),
                panel=panel,
                candidate_start=np.searchsorted(panel, np.arange(len(panels) + 1)).astype(np.int32),
                words=arrays.words,
                group_start=arrays.group_start,
                group_weight=weights if grouped else np.zeros(len(arrays.group_class), np.int64),
                saving_start=start if grouped else np.zeros(len(arrays.group_class) + 1, np.int64),
                saving_answer=answer,
                saving=amount,
                first_of_second=_first_of_second(savings.saving, arrays.group_class) if grouped else -1,
                own_saving=savings.saving[:, -1].copy() if grouped else none[0],
                case_weight=np.zeros(1, np.int64) if grouped else weights,
                case_saving=none if grouped else np.ascontiguousarray(savings.saving),
                total=savings.total,
                kind=arrays.kind,
                n_answers=savings.saving.shape[1] - 1,
                n_cases=problem.dataset.n_samples,
                weight=int(weights @ savings.size if grouped else weights.sum()),
                minimum=max(1, problem.min_support),
            ),
            _price_arrays(panels),
        ),
        units,
        candidates,
    )


def _candidates(problem: TreeProblem, subset_limit: int) -> tuple[Candidates, NDArray[np.uint64]]:
    """List all candidate tests with their bits: those that have a row, and every other subset."""
    listed, arrays = problem.candidates, problem.arrays
    tests = [np.arange(len(listed), dtype=np.int32)]
    masks = [np.zeros(len(listed), dtype=np.uint64)]
    features = [listed.feature]
    rows = [arrays.bits[: len(listed)]]
    for k, j in enumerate(arrays.subset_feature):
        n_groups = int(arrays.category_count[k])
        n_subsets = 2 ** (n_groups - 1) - 1
        if n_subsets > subset_limit:
            raise ValueError(
                f"feature {problem.dataset.schema[int(j)].name!r} has {n_groups} categories and so "
                f"{n_subsets} subsets; the exact search tries at most {subset_limit} a feature. Join rare "
                "categories, declare an ordered feature numeric, or raise subset_limit."
            )
        first = int(arrays.category_first[k])
        subsets = np.zeros((n_subsets + 1, arrays.bits.shape[1]), dtype=np.uint64)
        for group in range(n_groups - 1):
            subsets[2**group : 2 ** (group + 1)] = subsets[: 2**group] | arrays.category_bits[first + group]
        sides = (1, 0) if problem.dataset.schema[int(j)].has_missing else (0,)
        for left in sides:
            missing = arrays.category_bits[first + n_groups]
            rows.append(subsets[1:] | missing if left else subsets[1:])
            tests.append(np.full(n_subsets, len(arrays.bits) + 2 * k + left, dtype=np.int32))
            masks.append(np.arange(1, n_subsets + 1, dtype=np.uint64))
            features.append(np.full(n_subsets, j, dtype=np.int64))
    feature = np.concatenate(features)
    if len(feature) > MOST_CANDIDATES:
        raise ValueError(
            f"there are {len(feature)} candidate tests; the exact search takes at most {MOST_CANDIDATES}. "
            "Use fewer bins (max_bins), or search='nnia'."
        )
    found = Candidates(np.concatenate(tests), np.concatenate(masks), feature)
    return found, np.concatenate(rows)


class _Savings(NamedTuple):
    saving: NDArray[
        np.int_
    ]  # (G, M + 1) of a case of each group, or (64 W, M + 1) of each case; last: worst cost
    total: NDArray[np.int_]  # (M + 1,)
    size: NDArray[np.int64]  # cases of each row
    weight: NDArray[np.float64]  # weight of a case of each row
    scale: IntegerScale


def _savings(problem: TreeProblem) -> tuple[_Savings, float]:
    """Compute what each answer saves over the worst one, for a case of each group or for each case."""
    arrays = problem.arrays
    if arrays.kind == PER_CASE:
        cost = arrays.columns[2:].T * arrays.cost_unit
        weight = arrays.columns[0] * arrays.weight_unit
        size = (weight > 0).astype(np.int64)
    else:
        group_cost = arrays.matrix[arrays.group_class]
        if arrays.kind == WEIGHTED:
            group = np.repeat(np.arange(len(group_cost)), 64 * np.diff(arrays.group_start))
            weight = arrays.columns[0] * arrays.weight_unit
            size = (weight > 0).astype(np.int64)
            cost = group_cost[group] * weight[:, None]
        else:
            weight = arrays.group_weight * arrays.weight_unit
            bits = np.unpackbits(arrays.words.view(np.uint8)).reshape(-1, 64).sum(axis=1, dtype=np.int64)
            size = np.add.reduceat(bits, arrays.group_start[:-1])
            cost = group_cost * weight[:, None]
    least, worst = cost.min(axis=1), cost.max(axis=1)
    figures = np.column_stack([worst[:, None] - cost, worst - least])
    scale = fit_integers(figures, size @ (worst - least), _LARGEST_INT64)
    saving = as_integers(figures, scale)
    total = size @ saving
    dtype = np.int32 if total.max(initial=0) <= _LARGEST_INT32 else np.int64
    return _Savings(saving.astype(dtype), total.astype(dtype), size, weight, scale), float(size @ least)


def _weights_and_prices(
    problem: TreeProblem, weight: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], float, bool]:
    """Integers whose products sum without overflow."""
    prices = problem.arrays.prices
    most = float(prices.sum()) or 1.0
    total = problem.dataset.total_weight
    price_scale = fit_integers(prices, most, 2**30)
    weight_scale = fit_integers(weight, total, int(_LARGEST_INT64 / (most / price_scale.unit)))
    return (
        as_integers(weight, weight_scale),
        as_integers(prices, price_scale),
        price_scale.unit * weight_scale.unit,
        price_scale.exact and weight_scale.exact,
    )


def _keeps_weights(problem: TreeProblem) -> bool:
    """Whether every weight is that of a group; of very many cases, similar weights are averaged."""
    weight, arrays = problem.dataset.weight, problem.arrays
    if weight is None or arrays.kind != GROUPED:
        return True
    given = np.unique(weight)
    kept = np.unique(arrays.group_weight) * arrays.weight_unit
    return len(given) == len(kept) and bool(np.allclose(given, kept, rtol=1e-12, atol=0.0))


def _entries(saving: NDArray[np.int_]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int_]]:
    """List the nonzero savings of each group, worst costs included as the last answer."""
    group, answer = np.nonzero(saving)
    start = np.searchsorted(group, np.arange(len(saving) + 1)).astype(np.int64)
    if len(group) == 0:
        return start, np.zeros(1, np.int64), np.zeros(1, saving.dtype)
    return start, answer.astype(np.int64), saving[group, answer]


def _first_of_second(saving: NDArray[np.int_], group_class: NDArray[np.int64]) -> int:
    """Find the first group of class 1 if there are two answers, and classes 0 and 1 save answers 0 and 1."""
    if saving.shape[1] != 3:
        return -1
    first = int(np.searchsorted(group_class, 1))
    if saving[:first, 1].any() or saving[first:, 0].any():
        return -1
    return first


_Panel = tuple[tuple[int, int], ...]  # step and price


def _panels(
    problem: TreeProblem, features: NDArray[np.int64], prices: NDArray[np.int64]
) -> tuple[NDArray[np.int32], list[_Panel]]:
    """Panel of each feature of the table (-1: it has no candidate), and the steps of each panel."""
    arrays = problem.arrays
    entries = {
        int(j): [
            (int(arrays.steps[e]), int(prices[e]))
            for e in range(arrays.step_start[j], arrays.step_start[j + 1])
        ]
        for j in features
    }
    # What is free for everybody never matters; what is free for one may be dear for another.
    priced = {step for of_feature in entries.values() for step, price in of_feature if price > 0}
    number = {step: i for i, step in enumerate(sorted(priced))}
    panels: dict[_Panel, int] = {}
    panel_of = np.full(len(problem.dataset.schema), -1, np.int32)
    for j, of_feature in entries.items():
        panel = tuple((number[step], price) for step, price in of_feature if step in number)
        panel_of[j] = panels.setdefault(panel, len(panels))
    # Cheap ones first, as nodes want them.
    found = list(panels)
    order = sorted(range(len(found)), key=lambda a: sum(price for _, price in found[a]))
    panel_of[features] = np.argsort(order)[panel_of[features]]
    return panel_of, [found[a] for a in order]


def _price_arrays(panels: list[_Panel]) -> PriceArrays:
    """Lay out the steps and prices of the panels, and who shares steps with whom."""
    n_steps = 1 + max((step for panel in panels for step, _ in panel), default=0)
    paid = np.zeros((max(len(panels), 1), -(-n_steps // 64)), dtype=np.uint64)
    cares = np.zeros_like(paid)
    for a, panel in enumerate(panels):
        for step, price in panel:
            paid[a, step // 64] |= np.uint64(1 << step % 64)
            if price > 0:
                cares[a, step // 64] |= np.uint64(1 << step % 64)
    entries = [[entry for entry in panel if entry[1] > 0] for panel in panels]
    flat = [entry for panel in entries for entry in panel] or [(0, 0)]
    shared = [np.flatnonzero((paid[a] & cares).any(axis=1)) for a in range(len(panels))]
    return PriceArrays(
        step_start=np.cumsum([0, *map(len, entries)]).astype(np.int32),
        step=np.array([step for step, _ in flat], np.int32),
        price=np.array([price for _, price in flat], np.int64),
        pays=paid,
        cares=cares,
        sharer_start=np.cumsum([0, *map(len, shared)]).astype(np.int32),
        sharer=np.concatenate([*shared, np.zeros(1, np.intp)]).astype(np.int32),
    )
