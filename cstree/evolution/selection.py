"""Selections in DEAP's interface: individuals in, individuals out.

They read ``individual.fitness.wvalues`` and know no more of DEAP, so they take individuals of any kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

from cstree.evolution.ranking import (
    Points,
    crowding_by_rank,
    nondominated_ranks,
    spea2_fitness,
    survivors_nsga2,
    survivors_spea2,
    tournament,
)

__all__ = ["parents_nsga2", "parents_spea2", "points_of", "select_nsga2", "select_spea2"]

_T = TypeVar("_T", bound=Any)


def points_of(individuals: Sequence[_T]) -> Points:
    """Return the objectives of individuals as float64 (n, m), all to be minimised whatever their weights.

    Parameters
    ----------
    individuals : sequence
        Evaluated individuals, of any kind.

    Returns
    -------
    float64 (n, m)

    Raises
    ------
    ValueError
        One is not evaluated, or its fitness not finite.
    """
    if len(individuals) == 0:
        return np.empty((0, 1))
    points = np.array([individual.fitness.wvalues for individual in individuals], dtype=np.float64)
    if points.ndim != 2 or points.shape[1] == 0:
        raise ValueError("an individual has no fitness: evaluate all of them first.")
    if not np.isfinite(points).all():
        raise ValueError("a fitness is not finite: give what is forbidden a large number instead.")
    return -points


def select_nsga2(individuals: Sequence[_T], k: int) -> list[_T]:
    """Select as :func:`deap.tools.selNSGA2` does, up to ties, in a hundredth of the time.

    Parameters
    ----------
    individuals : sequence
        Evaluated individuals, of any kind; each is selected at most once.
    k : int
        How many to select.

    Returns
    -------
    list
        The best by front, then by crowding distance, which their ``fitness.crowding_dist`` holds, as
        :func:`deap.tools.selTournamentDCD` wants it.
    """
    points = points_of(individuals)
    rank = nondominated_ranks(points)
    crowding = crowding_by_rank(points, rank)
    chosen = [individuals[i] for i in survivors_nsga2(rank, crowding, k)]
    for i, individual in enumerate(individuals):
        individual.fitness.crowding_dist = float(crowding[i])
    return chosen


def select_spea2(individuals: Sequence[_T], k: int) -> list[_T]:
    """Select as SPEA2 does: the paper's environmental selection.

    Parameters
    ----------
    individuals : sequence
        Evaluated individuals, of any kind; each is selected at most once.
    k : int
        How many to select.

    Returns
    -------
    list

    Notes
    -----
    :func:`deap.tools.selSPEA2` (DEAP 1.4) differs where the nondominated are fewer than ``k``: it takes the
    distance of an individual to itself and to all before it as zero, so its choice depends on the order
    of the individuals. Here objectives are divided by their ranges before distances are taken.

    References
    ----------
    E. Zitzler, M. Laumanns, L. Thiele, *SPEA2: improving the strength Pareto evolutionary algorithm*,
    TIK report 103, ETH Zürich, 2001.
    """
    points = points_of(individuals)
    if len(points) == 0:
        return []
    return [individuals[i] for i in survivors_spea2(points, spea2_fitness(points), k)]


def parents_nsga2(individuals: Sequence[_T], k: int, rng: np.random.Generator) -> list[_T]:
    """Select parents in binary tournaments: the better front wins, then the less crowded.

    Parameters
    ----------
    individuals : sequence
        Evaluated individuals.
    k : int
        How many to select; one may be there several times.
    rng : numpy.random.Generator

    Returns
    -------
    list
    """
    points = points_of(individuals)
    rank = nondominated_ranks(points)
    keys = (rank, -crowding_by_rank(points, rank))
    return [individuals[i] for i in tournament(keys, k, rng)]


def parents_spea2(individuals: Sequence[_T], k: int, rng: np.random.Generator) -> list[_T]:
    """Select parents in binary tournaments by the fitness of SPEA2.

    Parameters
    ----------
    individuals : sequence
        Evaluated individuals.
    k : int
        How many to select; one may be there several times.
    rng : numpy.random.Generator

    Returns
    -------
    list
    """
    return [individuals[i] for i in tournament((spea2_fitness(points_of(individuals)),), k, rng)]
