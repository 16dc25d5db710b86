"""Memory of an exact search: one frame for each level of the tree, and the fronts found so far."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cstree._lanes import LANES
from cstree.exact._front_kernels import CODE
from cstree.exact._kernels import DEPTH, ENTRIES_A_STEP, N_COUNTERS, USED, fill_table
from cstree.exact._layout_kernels import BLOCKS, CASES, LANES_USED, N_SIZES, WEIGHT, WORDS
from cstree.exact._pair_kernels import LEAF_CODE
from cstree.exact.arrays import CaseArrays, ExactArrays, PriceArrays

__all__ = ["Frames", "Solved", "State", "make_state", "with_larger_fronts", "with_more_solved"]

# Room at the start; it is doubled when it runs out.
FIRST_POINTS = 512  # of the front of a frame
FIRST_ENTRIES = 2048


class Frames(NamedTuple):
    """Cases and candidates of the node at work on each level; ``L`` levels, ``V`` words, ``C`` lanes.

    Level 0 is the table as it is given, level 1 the root, level 2 one of its children, and so on. A frame
    holds its cases in 32-bit words of one group each, and the candidates that split them side by side, so
    that sixteen are counted at once.
    """

    bits: NDArray[np.uint32]  # (L, V, C) cases of each word that take branch 0 of each candidate
    rows: NDArray[np.uint16]  # (L, 32 V, C / 16) the same by case
    case: NDArray[np.int32]  # (L, 32 V) place of the case in the table
    group_start: NDArray[np.int64]  # (L, G + 1) first word of each group
    valid: NDArray[np.uint32]  # (L, V) bits that are cases
    candidate: NDArray[np.int32]  # (L, C)
    panel: NDArray[np.int32]  # (L, C)
    alive: NDArray[np.int32]  # (L, A) panels with a candidate
    first: NDArray[np.int32]  # (L, A + 1) first lane of each of them
    saved: NDArray[np.int_]  # (L, M + 1, C) savings of each answer in branch 0; last: worst costs
    support: NDArray[np.int32]  # (L, C) cases in branch 0
    weight: NDArray[np.int64]  # (L, C) their weight
    total: NDArray[np.int_]  # (L, M + 1) savings of all cases of the node
    size: NDArray[np.int64]  # (L, N_SIZES) see _layout_kernels


class Descent(NamedTuple):
    """How the node at work on each level came about."""

    words: NDArray[np.uint64]  # (L, W) its cases in the order of the table
    paid: NDArray[np.uint64]  # (L, P) steps paid above
    pay: NDArray[np.int64]  # (L, A) what a panel costs there
    order: NDArray[np.int32]  # (L, A) places in ``Frames.alive``, cheapest first
    key: NDArray[np.uint64]  # (L, 2) see _kernels.make_key


class Fronts(NamedTuple):
    """The front so far of the node at work on each level."""

    front: NDArray[np.int64]  # (L, points, 4) see _front_kernels
    n_points: NDArray[np.int64]  # (L,)
    full: NDArray[np.int64]  # (1,) 1: a front found no room


class GatherRoom(NamedTuple):
    """Room to build a frame from the one above."""

    mask: NDArray[np.uint32]  # (V,) cases of the child
    support: NDArray[np.int32]  # (C,) of them in branch 0
    lane: NDArray[np.int32]  # (C + 1,) lanes that split the child
    source: NDArray[np.int32]  # (32 V,)
    wide: NDArray[np.uint32]  # (V, C)


class PairRoom(NamedTuple):
    """Room to solve a node of depth two."""

    place: NDArray[np.int32]  # (A,) place of a panel in ``Frames.alive``; -1: it has none
    pair: NDArray[np.int_]  # (M, 16)
    gain: NDArray[np.int_]  # (2, A, C) best savings of either branch of a root, split by a panel
    best: NDArray[np.int_]  # (2, A + 1, C) the same for panels up to a price
    price: NDArray[np.int64]  # (A,) those prices
    price_end: NDArray[np.int32]  # (A,) place in ``Descent.order`` behind the last panel of a price
    extra: NDArray[np.int64]  # (A, 3) panels that are cheaper below a root, see _pair_kernels
    list: NDArray[np.int64]  # (2, 2 A + 1, 3) fronts of a root's branches
    list_length: NDArray[np.int64]  # (2,)


class Control(NamedTuple):
    """Where the search stands."""

    counters: NDArray[np.int64]  # (N_COUNTERS,) see _kernels
    side: NDArray[np.int64]  # (2, 3) first point, number of points and entry of each child's front
    child_words: NDArray[np.uint64]  # (W,)
    child_total: NDArray[np.int_]  # (M + 1,)


class Solved(NamedTuple):
    """Fronts of the subproblems solved so far, found by a hash of case set, paid steps and depth.

    Points 0 and 1 are room for the fronts of leaves.
    """

    table: NDArray[np.int32]  # (power of two,) entry; -1: none
    key: NDArray[np.uint64]  # (entries, 2)
    start: NDArray[np.int64]  # (entries,) first point
    kid_start: NDArray[np.int64]  # (entries,) first of ``kids``; -1: depth two
    length: NDArray[np.int32]  # (entries,)
    points: NDArray[np.int64]  # (points, 3) as in ``Fronts.front``, without the last column
    kids: NDArray[np.int64]  # that last column, where it is not always 0


class State(NamedTuple):
    """All of it, as the kernels take it."""

    frames: Frames
    descent: Descent
    fronts: Fronts
    gather_room: GatherRoom
    pair_room: PairRoom
    control: Control
    solved: Solved


def make_state(p: ExactArrays, max_depth: int) -> State:
    """Memory for trees of up to ``max_depth`` splits on a path, at the start of a search."""
    cases, prices = p
    levels = max(max_depth, 2)
    n_panels, n_words = len(prices.pays), len(cases.words)
    n_lanes = -(-max(len(cases.panel), 1) // LANES) * LANES
    state = State(
        _make_frames(cases, levels, n_panels, n_lanes),
        Descent(
            words=np.zeros((levels, n_words), np.uint64),
            paid=np.zeros((levels, prices.pays.shape[1]), np.uint64),
            pay=np.zeros((levels, n_panels), np.int64),
            order=np.zeros((levels, n_panels), np.int32),
            key=np.zeros((levels, 2), np.uint64),
        ),
        Fronts(
            np.zeros((levels, FIRST_POINTS, 4), np.int64), np.zeros(levels, np.int64), np.zeros(1, np.int64)
        ),
        GatherRoom(
            mask=np.zeros(2 * n_words, np.uint32),
            support=np.zeros(n_lanes, np.int32),
            lane=np.zeros(n_lanes + 1, np.int32),
            source=np.zeros(64 * n_words, np.int32),
            wide=np.zeros((2 * n_words, n_lanes), np.uint32),
        ),
        _make_pair_room(cases, n_panels, n_lanes),
        Control(
            counters=np.zeros(N_COUNTERS, np.int64),
            side=np.zeros((2, 3), np.int64),
            child_words=np.zeros(n_words, np.uint64),
            child_total=np.zeros_like(cases.total),
        ),
        _make_solved(),
    )
    state.control.counters[DEPTH] = max_depth
    state.control.counters[USED] = 2
    _fill_table_frame(cases, prices, state)
    return state


def _make_frames(cases: CaseArrays, levels: int, n_panels: int, n_lanes: int) -> Frames:
    n_words, M = 2 * len(cases.words), cases.n_answers
    return Frames(
        bits=np.zeros((levels, n_words, n_lanes), np.uint32),
        rows=np.zeros((levels, 32 * n_words, n_lanes // LANES), np.uint16),
        case=np.zeros((levels, 32 * n_words), np.int32),
        group_start=np.zeros((levels, len(cases.group_start)), np.int64),
        valid=np.zeros((levels, n_words), np.uint32),
        candidate=np.zeros((levels, n_lanes), np.int32),
        panel=np.zeros((levels, n_lanes), np.int32),
        alive=np.zeros((levels, n_panels), np.int32),
        first=np.zeros((levels, n_panels + 1), np.int32),
        saved=np.zeros((levels, M + 1, n_lanes), cases.total.dtype),
        support=np.zeros((levels, n_lanes), np.int32),
        weight=np.zeros((levels, n_lanes), np.int64),
        total=np.zeros((levels, M + 1), cases.total.dtype),
        size=np.zeros((levels, N_SIZES), np.int64),
    )


def _make_pair_room(cases: CaseArrays, n_panels: int, n_lanes: int) -> PairRoom:
    dtype = cases.total.dtype
    return PairRoom(
        place=np.full(n_panels, -1, np.int32),
        pair=np.zeros((cases.n_answers, LANES), dtype),
        gain=np.zeros((2, n_panels, n_lanes), dtype),
        best=np.zeros((2, n_panels + 1, n_lanes), dtype),
        price=np.zeros(n_panels, np.int64),
        price_end=np.zeros(n_panels, np.int32),
        extra=np.zeros((n_panels, 3), np.int64),
        list=np.zeros((2, 2 * n_panels + 1, 3), np.int64),
        list_length=np.zeros(2, np.int64),
    )


def _make_solved() -> Solved:
    entries, points = FIRST_ENTRIES, 16 * FIRST_ENTRIES
    solved = Solved(
        table=np.full(2 * entries, -1, np.int32),
        key=np.zeros((entries, 2), np.uint64),
        start=np.zeros(entries, np.int64),
        kid_start=np.zeros(entries, np.int64),
        length=np.zeros(entries, np.int32),
        points=np.zeros((points, 3), np.int64),
        kids=np.zeros(points, np.int64),
    )
    solved.points[:2, CODE] = LEAF_CODE
    return solved


def _fill_table_frame(cases: CaseArrays, prices: PriceArrays, state: State) -> None:
    """Fill level 0: all cases and all candidates, 32 cases a word."""
    frames, n = state.frames, len(cases.panel)
    if n:
        frames.bits[0, :, :n] = _halves(cases.bits).T
        by_case = np.unpackbits(_halves(cases.bits).astype("<u4").view(np.uint8), axis=1, bitorder="little").T
        packed = np.zeros((len(by_case), 2 * frames.rows.shape[2]), np.uint8)
        packed[:, : -(-n // 8)] = np.packbits(by_case, axis=1, bitorder="little")
        frames.rows[0] = packed.view("<u2")
    frames.case[0] = np.arange(frames.case.shape[1])
    frames.group_start[0] = 2 * cases.group_start
    frames.valid[0] = _halves(cases.words)
    frames.candidate[0, :n] = np.arange(n)
    frames.panel[0, :n] = cases.panel
    frames.total[0] = cases.total
    state.descent.words[0] = cases.words
    for a in range(len(prices.step_start) - 1):
        state.descent.pay[0, a] = prices.price[prices.step_start[a] : prices.step_start[a + 1]].sum()
    size = frames.size[0]
    size[WORDS], size[LANES_USED], size[BLOCKS] = frames.bits.shape[1], n, -(-n // LANES)
    size[CASES], size[WEIGHT] = cases.n_cases, cases.weight


def _halves(words: NDArray[np.uint64]) -> NDArray[np.uint32]:
    """Each 64-bit word as two of 32, the low half first."""
    both = np.stack([words & np.uint64(0xFFFFFFFF), words >> np.uint64(32)], axis=-1)
    return both.reshape(*words.shape[:-1], -1).astype(np.uint32)


def with_larger_fronts(state: State) -> State:
    """Room for twice as many points on the fronts of the frames."""
    front = state.fronts.front
    larger = np.concatenate([front, np.zeros_like(front)], axis=1)
    return state._replace(fronts=state.fronts._replace(front=larger))


def with_more_solved(solved: Solved, n_entries: int, n_points: int, n_kids: int, room: int) -> Solved:
    """Twice the room for whatever of entries, points and kids is short of it; ``room`` points must fit."""
    grown: dict[str, NDArray[Any]] = {}

    def lengthen(names: tuple[str, ...], used: int, wanted: int) -> None:
        for name in names:
            array = getattr(solved, name)
            if used + wanted > len(array):
                larger = np.zeros((max(2 * len(array), used + wanted), *array.shape[1:]), array.dtype)
                larger[:used] = array[:used]
                grown[name] = larger

    lengthen(("key", "start", "kid_start", "length"), n_entries, ENTRIES_A_STEP)
    lengthen(("points",), n_points, room)
    lengthen(("kids",), n_kids, room)
    if "key" in grown:
        grown["table"] = np.full(2 ** int(np.ceil(np.log2(2 * len(grown["key"])))), -1, np.int32)
    larger_solved = solved._replace(**grown)
    if "table" in grown:
        fill_table(larger_solved, n_entries)
    return larger_solved
