"""Selection rules beside their plain twins and beside DEAP's own."""

from __future__ import annotations

import random

import numpy as np
import pytest
from deap import base, tools
from hypothesis import given
from hypothesis import strategies as st

from cstree.evolution.ranking import (
    crowding_by_rank,
    nondominated_ranks,
    spea2_fitness,
    survivors_nsga2,
    survivors_spea2,
    tournament,
)
from cstree.evolution.selection import select_nsga2, select_spea2
from tests.reference import ranking as twin


class Pair(base.Fitness):
    weights = (-1.0, -1.0)


class Triple(base.Fitness):
    weights = (-1.0, -1.0, -1.0)


class Someone:
    """An individual of somebody else's."""

    def __init__(self, values) -> None:
        self.fitness = (Pair if len(values) == 2 else Triple)(tuple(values))

    def __repr__(self) -> str:
        return repr(self.fitness.values)


def random_points(rng: np.random.Generator, *, most: int = 40) -> np.ndarray:
    """Points with copies and ties, or without."""
    n, m = int(rng.integers(1, most)), int(rng.integers(2, 4))
    if rng.random() < 0.5:
        return rng.integers(0, 6, (n, m)) / 4
    return rng.random((n, m))


@given(st.integers(0, 2**32 - 1))
def test_ranks_crowding_and_fitness_are_those_of_the_papers(seed: int) -> None:
    points = random_points(np.random.default_rng(seed))
    plain = points.tolist()
    rank = nondominated_ranks(points)
    assert rank.tolist() == twin.nondominated_ranks(plain)
    assert spea2_fitness(points) == pytest.approx(twin.spea2_fitness(plain), rel=1e-12)
    k = 1 + seed % len(points)
    crowding = crowding_by_rank(points, rank)
    assert survivors_nsga2(rank, crowding, k).tolist() == pytest.approx(twin.select_nsga2(plain, k))


@given(st.integers(0, 2**32 - 1))
def test_spea2_keeps_what_the_paper_keeps(seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = random_points(rng, most=25)
    if rng.random() < 0.5:  # all nondominated, so that they are thinned out
        x = (
            np.sort(rng.choice(40, len(points))) / 8
            if rng.random() < 0.5
            else np.sort(rng.random(len(points)))
        )
        points = np.column_stack([x, x[::-1].max() - x])
    k = 1 + seed % len(points)
    found = survivors_spea2(points, spea2_fitness(points), k)
    assert found.tolist() == twin.select_spea2(points.tolist(), k)


def test_nsga2_picks_what_deap_picks() -> None:
    rng = np.random.default_rng(0)
    for _ in range(100):
        n = int(rng.integers(2, 60))
        points = rng.random((n, 3)) if rng.random() < 0.3 else rng.integers(0, 12, (n, 2)) / 4
        people = [Someone(point) for point in points.tolist()]
        rank = nondominated_ranks(points)
        crowding = crowding_by_rank(points, rank)
        index = {id(one): i for i, one in enumerate(people)}
        k = int(rng.integers(1, n + 1))
        theirs = [index[id(one)] for one in tools.selNSGA2(people, k)]
        ours = [index[id(one)] for one in select_nsga2(people, k)]
        assert len(set(ours)) == len(ours) == k
        # Of equal rank and distance it may be this one or that one.
        for merit in (rank, crowding):
            assert np.sort(merit[ours]) == pytest.approx(np.sort(merit[theirs]))
        assert [people[i].fitness.crowding_dist for i in ours] == crowding[ours].tolist()


def test_spea2_thins_out_as_deap_does() -> None:
    rng = np.random.default_rng(1)
    for _ in range(30):
        n = int(rng.integers(4, 40))
        x = np.sort(rng.random(n))
        x = (x - x[0]) / (x[-1] - x[0])  # ranges of 1: DEAP takes distances in the objectives' units
        points = np.column_stack([x, (1 - x) ** 2])
        people = [Someone(point) for point in points.tolist()]
        k = int(rng.integers(2, n))
        assert set(map(id, select_spea2(people, k))) == set(map(id, tools.selSPEA2(people, k)))


def test_spea2_does_not_depend_on_the_order_nor_on_the_random_module() -> None:
    rng = np.random.default_rng(2)
    points = rng.random((40, 2))
    people = [Someone(point) for point in points.tolist()]
    random.seed(0)
    state = random.getstate()
    chosen = {id(one) for one in select_spea2(people, 25)}
    for _ in range(5):
        mixed = [people[i] for i in rng.permutation(40)]
        assert {id(one) for one in select_spea2(mixed, 25)} == chosen
    assert random.getstate() == state


def test_selection_does_not_depend_on_units() -> None:
    points = np.random.default_rng(3).random((50, 2))
    scaled = points * [1.0, 1024.0]
    for select in (select_nsga2, select_spea2):
        one, two = ([Someone(p) for p in each.tolist()] for each in (points, scaled))
        index = {id(person): i for people in (one, two) for i, person in enumerate(people)}
        assert [index[id(a)] for a in select(one, 20)] == [index[id(a)] for a in select(two, 20)]


@pytest.mark.parametrize("select", [select_nsga2, select_spea2])
def test_selection_takes_few_and_refuses_the_unevaluated(select) -> None:
    assert select([], 3) == []
    alone = [Someone((1.0, 2.0))]
    assert select(alone, 3) == alone
    assert select(alone, 0) == []
    unknown = Someone((1.0, 2.0))
    del unknown.fitness.values
    with pytest.raises(ValueError, match="evaluate all of them first"):
        select([unknown], 1)
    with pytest.raises(ValueError, match="not finite"):
        select([Someone((1.0, np.inf))], 1)


def test_deap_tournaments_work_after_our_selection() -> None:
    people = [Someone(point) for point in np.random.default_rng(4).random((40, 2)).tolist()]
    random.seed(0)
    assert len(tools.selTournamentDCD(select_nsga2(people, 20), 20)) == 20


def test_the_better_of_two_wins() -> None:
    rng = np.random.default_rng(5)
    key = np.array([3, 1, 2, 1])
    counts = np.zeros(4)
    for _ in range(400):
        won = tournament((key,), 4, rng)
        assert len(won) == 4
        counts += np.bincount(won, minlength=4)
    assert counts[0] == 0  # loses to everybody, and nobody fights alone
    assert counts[1] == pytest.approx(counts[3], rel=0.2)
    assert counts[1] > counts[2] > 0
    assert tournament((key[:1],), 3, rng).tolist() == [0, 0, 0]
