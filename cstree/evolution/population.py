"""A population of trees as parallel arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cstree.tree._bit_kernels import GROUPED, WEIGHTED
from cstree.tree.problem import TreeProblem
from cstree.tree.search_arrays import SearchArrays

__all__ = ["Archive", "FillWork", "Pool", "Settings", "make_archive", "make_fill_work", "make_pool"]

# Keys of trees that were evaluated lately; a power of two.
_SEEN = 2**15


class Settings(NamedTuple):
    """Limits and sizes that the kernels read."""

    max_depth: int
    max_nodes: int
    min_support: int
    prune_by_cost: bool
    dominant_size: int
    active_size: int
    clone_size: int
    recombination: float
    leaf_chance: float
    polish: float
    restart: int  # generations without change; 0: never
    archive_size: int  # 0: no archive


class FillWork(NamedTuple):
    """Scratch of the polish operator; ``T`` candidate rows, ``F`` features."""

    rows: NDArray[np.int64]  # (T,) candidates under consideration
    support: NDArray[np.int64]  # (T + 2,) the last rows: a pair of tests, the whole node
    weight: NDArray[np.float64]  # (T + 2,)
    cost: NDArray[np.float64]  # (K, T + 2) label costs
    case_cost: NDArray[np.float64]  # (G, K) label costs of one case of a group (GROUPED)
    groups: NDArray[np.int64]  # (G,) groups that have cases under consideration
    best_left: NDArray[np.float64]  # (T,) least cost of branch 0 under each test
    best_right: NDArray[np.float64]  # (T,)
    left_test: NDArray[np.int64]  # (T,) index of the test that reaches it; -1: a leaf
    right_test: NDArray[np.int64]  # (T,)
    first_price: NDArray[np.float64]  # (F,)
    pair_price: NDArray[np.float64]  # (F, F) price of the second below the first
    shared: NDArray[np.int64]  # features that share a step with each feature
    shared_start: NDArray[np.int64]  # (F + 1,)
    rate: NDArray[np.float64]  # (F,)
    packed: NDArray[np.uint64]  # (W, T) words of the tests, side by side
    group_start: NDArray[np.int64]  # (G + 1,) packed words of the listed groups
    together: NDArray[np.int64]  # (T,) cases where a test and another one hold
    pair_support: NDArray[np.int64]  # (T,)
    pair_cost: NDArray[np.float64]  # (K, T)
    quadrant: NDArray[np.float64]  # (4, T) least cost where both hold, the first alone, the other, neither
    price: NDArray[np.float64]  # (2, T) of the second test below the first, and the other way round
    value: NDArray[np.float64]  # (2, T) cost of the second test below the first, on the left and right
    words: NDArray[np.uint64]  # (W,)
    all_words: NDArray[np.uint64]  # (W,)
    node_words: NDArray[np.uint64]  # (W,)
    chosen: NDArray[np.int64]  # (3,) test at the top and below it
    trial: NDArray[np.int64]  # (3, 3) the same put aside: below a test, a row each side, and without it
    below: NDArray[np.int64]  # (2, 3) below the best test of three levels
    worth: NDArray[np.float64]  # (T,) cost with each test at the top of two levels
    tops: NDArray[np.int64]  # (T,) tests to try at the top of three levels
    top: NDArray[np.int64]  # (1,) test at the top of three levels that is tried
    top_price: NDArray[np.float64]  # (1,) its price under the rate
    plan: NDArray[np.int64]  # (levels, 5) nodes to come
    least_support: int
    most_tests: int  # tests of which all pairs are tried
    most_tops: int  # tests at the top that are tried with all pairs below


# Words counted in a fraction of a millisecond, and in a few milliseconds.
_PAIR_WORDS = 1e6
_TRIPLE_WORDS = 1e7
# A pair of tests takes at least the time of counting so many words.
_LEAST_WORDS = 64
# Adding up a figure of each of 64 cases takes so many times as long as counting them.
_SUMMED_WORD = 16


def make_fill_work(problem: TreeProblem) -> FillWork:
    """Scratch memory of the polish operator."""
    n_tests, n_features, p = len(problem.candidates), len(problem.dataset.schema), problem.arrays
    n_words = p.bits.shape[1]
    shared, shared_start = _sharing_features(p)
    words = max(n_words, _LEAST_WORDS) * _figures_of_a_word(problem)
    most_tests = min(n_tests, int(np.sqrt(2 * _PAIR_WORDS / words)) + 2)
    return FillWork(
        rows=np.zeros(n_tests, np.int64),
        support=np.zeros(n_tests + 2, np.int64),
        weight=np.zeros(n_tests + 2),
        cost=np.zeros((problem.dataset.n_classes, n_tests + 2)),
        case_cost=p.matrix[p.group_class] * (p.group_weight[:, None] * p.weight_unit),
        groups=np.zeros(len(p.group_class), np.int64),
        best_left=np.zeros(n_tests),
        best_right=np.zeros(n_tests),
        left_test=np.zeros(n_tests, np.int64),
        right_test=np.zeros(n_tests, np.int64),
        first_price=np.zeros(n_features),
        pair_price=np.zeros((n_features, n_features)),
        shared=shared,
        shared_start=shared_start,
        rate=np.zeros(n_features),
        words=np.zeros(n_words, np.uint64),
        packed=np.zeros((n_words, most_tests), np.uint64),
        group_start=np.zeros(len(p.group_class) + 1, np.int64),
        together=np.zeros(n_tests, np.int64),
        pair_support=np.zeros(n_tests, np.int64),
        pair_cost=np.zeros((problem.dataset.n_classes, n_tests)),
        quadrant=np.zeros((4, n_tests)),
        price=np.zeros((2, n_tests)),
        value=np.zeros((2, n_tests)),
        all_words=np.zeros(n_words, np.uint64),
        node_words=np.zeros(n_words, np.uint64),
        chosen=np.zeros(3, np.int64),
        trial=np.zeros((3, 3), np.int64),
        below=np.zeros((2, 3), np.int64),
        worth=np.zeros(n_tests),
        tops=np.zeros(n_tests, np.int64),
        top=np.zeros(1, np.int64),
        top_price=np.zeros(1),
        plan=np.zeros((2 * problem.max_depth + 4, 5), np.int64),
        least_support=max(problem.min_support, 1),
        most_tests=most_tests,
        most_tops=min(n_tests, int(_TRIPLE_WORDS / (n_tests**2 * words + 1))),
    )


def _figures_of_a_word(problem: TreeProblem) -> int:
    """How many times longer than counting the cases of a word it takes to sum their figures."""
    kind = problem.arrays.kind
    if kind == GROUPED:
        return 1
    return _SUMMED_WORD * (1 if kind == WEIGHTED else 1 + problem.dataset.n_classes)


def _sharing_features(p: SearchArrays) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Features that share a step with each feature, itself included, one after the other."""
    n_features = len(p.step_start) - 1
    has_step = np.zeros((n_features, max(p.n_steps, 1)), dtype=np.float32)
    has_step[np.repeat(np.arange(n_features), np.diff(p.step_start)), p.steps] = 1
    feature, other = np.nonzero(has_step @ has_step.T)
    return np.ascontiguousarray(other), np.searchsorted(feature, np.arange(n_features + 1))


class Pool(NamedTuple):
    """Slots for trees, which slots hold whom, and work arrays of the selection.

    The first slots in ``slots`` are the dominant trees, the rest is free. One slot more than
    ``slots`` lists is scratch for recombination.
    """

    test: NDArray[np.int32]  # (P + 1, M)
    mask: NDArray[np.uint64]  # (P + 1, M)
    size: NDArray[np.int32]  # (P + 1, M)
    badness: NDArray[np.float64]  # (P + 1, M) leaf: misclassification cost per case, on regrets
    n_nodes: NDArray[np.int32]  # (P + 1,)
    regret: NDArray[np.float64]  # (P + 1,) average regret of the tree
    objectives: NDArray[np.float64]  # (P + 1, m)
    slots: NDArray[np.int64]  # (P,)
    members: NDArray[np.int64]  # (P,)
    points: NDArray[np.float64]  # (P, m)
    order: NDArray[np.int64]  # (2, P)
    kept: NDArray[np.bool_]  # (P,)
    distance: NDArray[np.float64]  # (P,)
    nearness: NDArray[np.float64]  # (P, 1)
    share: NDArray[np.float64]  # (P,)
    active: NDArray[np.int64]  # (P,)
    clones: NDArray[np.int64]  # (P,)


def make_pool(problem: TreeProblem, settings: Settings, n_objectives: int) -> Pool:
    """Empty pool with room for the dominant trees and one generation's clones."""
    # Rounding up gives each active tree less than one clone more than its share.
    slots = settings.dominant_size + max(settings.clone_size + settings.active_size, settings.dominant_size)
    nodes = problem.max_nodes
    return Pool(
        test=np.full((slots + 1, nodes), -1, np.int32),
        mask=np.zeros((slots + 1, nodes), np.uint64),
        size=np.ones((slots + 1, nodes), np.int32),
        badness=np.zeros((slots + 1, nodes)),
        n_nodes=np.ones(slots + 1, np.int32),
        regret=np.zeros(slots + 1),
        objectives=np.zeros((slots + 1, n_objectives)),
        slots=np.arange(slots, dtype=np.int64),
        members=np.zeros(slots, np.int64),
        points=np.zeros((slots, n_objectives)),
        order=np.zeros((2, slots), np.int64),
        kept=np.zeros(slots, np.bool_),
        distance=np.zeros(slots),
        nearness=np.zeros((slots, 1)),
        share=np.zeros(slots),
        active=np.zeros(slots, np.int64),
        clones=np.zeros(slots, np.int64),
    )


class Archive(NamedTuple):
    """All nondominated trees that a search met, also those the population has no room for."""

    test: NDArray[np.int32]  # (A, M), and so on as in Pool
    mask: NDArray[np.uint64]
    size: NDArray[np.int32]
    badness: NDArray[np.float64]
    n_nodes: NDArray[np.int32]  # (A,)
    regret: NDArray[np.float64]
    objectives: NDArray[np.float64]  # (A, m)
    seen: NDArray[np.uint64]  # keys of trees that were evaluated


def make_archive(problem: TreeProblem, settings: Settings, n_objectives: int) -> Archive:
    """Empty archive."""
    trees, nodes = settings.archive_size, problem.max_nodes
    return Archive(
        test=np.full((trees, nodes), -1, np.int32),
        mask=np.zeros((trees, nodes), np.uint64),
        size=np.ones((trees, nodes), np.int32),
        badness=np.zeros((trees, nodes)),
        n_nodes=np.ones(trees, np.int32),
        regret=np.zeros(trees),
        objectives=np.zeros((trees, n_objectives)),
        seen=np.zeros(_SEEN if trees else 1, np.uint64),
    )
