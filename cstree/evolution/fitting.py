"""The searches that make up one fit: a front for each limit of depth, on all cases and on each fold."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cstree.encoding.dataset import Dataset
from cstree.evolution.folds import RawTable
from cstree.evolution.progress import History
from cstree.evolution.validation import Trial
from cstree.pareto.front import Front
from cstree.tree.search import SearchInterrupted
from cstree.tree.tree import Tree

__all__ = ["Found", "at_least", "make_trials", "read_depths", "search_depths"]


@dataclass(frozen=True, eq=False)
class Found:
    """Outcome of one search.

    Attributes
    ----------
    front : Front
    max_depth : int
        Limit with which it was searched.
    history : History
        What the search reported.
    interruption : SearchInterrupted or None
        Ctrl-C that ended it early.
    """

    front: Front[Tree]
    max_depth: int
    history: History
    interruption: SearchInterrupted | None = None


# Searches a front on some cases, with a limit of depth; the text says what for.
SearchFront = Callable[[Dataset, int, np.random.Generator, str], Found]


def search_depths(
    search_front: SearchFront,
    dataset: Dataset,
    depths: Sequence[int],
    rng: np.random.Generator,
    found: list[Found],
    label: str = "",
) -> None:
    """Search a front for each depth, each as if it were searched alone.

    Parameters
    ----------
    search_front : callable
    dataset : Dataset
    depths : sequence of int
    rng : numpy.random.Generator
    found : list of Found
        Gets them one by one: those that are there when Ctrl-C comes are not lost.
    label : str
        What the searches are for, besides the user's own.
    """
    for depth in depths:
        own = rng if depth == depths[-1] else copy.deepcopy(rng)
        found.append(search_front(dataset, depth, own, label))
        if found[-1].interruption is not None:
            raise found[-1].interruption


def make_trials(
    search_front: SearchFront,
    table: RawTable,
    folds: Sequence[tuple[NDArray[np.intp], NDArray[np.intp]]],
    depths: Sequence[int],
    rng: np.random.Generator,
) -> Iterator[Trial]:
    """Search on the cases of each fold that are not held out.

    Parameters
    ----------
    search_front : callable
        Must know nothing of the cases but what it is given.
    table : RawTable
    folds : sequence of (ndarray, ndarray)
        Cases to search on, and held-out ones.
    depths : sequence of int
    rng : numpy.random.Generator

    Yields
    ------
    Trial
    """
    for number, ((train, held), own) in enumerate(zip(folds, rng.spawn(len(folds)), strict=True)):
        part = table.part(train)
        found: list[Found] = []
        search_depths(search_front, part, depths, own, found, f"fold {number + 1} of {len(folds)}")
        yield Trial([each.front for each in found], held, partial(table.cases, held, part.schema))


def at_least(name: str, value: Any, least: int) -> int:
    """Whole number that is not too small.

    Raises
    ------
    ValueError
        It is none; the error calls it by ``name``.
    """
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise ValueError(f"{name} must be an integer of at least {least}, got {value!r}.")
    return int(value)


def read_depths(max_depth: Any, checkpoint: Any) -> list[int]:
    """Limits of depth for which a front is searched, ascending.

    Raises
    ------
    ValueError
        One of them is no depth, or a checkpoint should keep several searches.
    """
    if isinstance(max_depth, str) or not isinstance(max_depth, Iterable):
        return [at_least("max_depth", max_depth, 0)]
    depths = sorted({at_least("max_depth", depth, 0) for depth in max_depth})
    if not depths:
        raise ValueError("max_depth is an empty sequence: give one depth, or several.")
    if len(depths) > 1 and checkpoint is not None:
        raise ValueError(
            "a checkpoint keeps one search, and several values of max_depth are several searches: give one "
            "depth, or no checkpoint."
        )
    return depths
