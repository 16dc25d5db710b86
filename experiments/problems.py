"""Two-class sets of the boosting studies: drawn from known distributions, or read from tables."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cstree.datasets import make_bayes, make_two_clouds
from experiments.folds import fold_numbers, generator
from experiments.tables import read_table

__all__ = ["Parts", "Problem", "bayes_rule", "load_problem"]

Array = NDArray[Any]

MAKERS: dict[str, Callable[..., tuple[Array, Array]]] = {"bayes": make_bayes, "two_clouds": make_two_clouds}
_MADE = {"made", "cases", "test_cases", "angles", "max_bins"}
_READ = {"table", "positive"}


class Parts(NamedTuple):
    """Cases to train on and to judge by."""

    X: Any
    y: Array
    X_test: Any
    y_test: Array


@dataclass(frozen=True, eq=False)
class Problem:
    """A set with a positive class, 1.

    Attributes
    ----------
    name : str
    made : str or None
        Its distribution, if it is drawn.
    options : mapping
        What its entry says.
    X, y : DataFrame or ndarray, and ndarray
        Of a table; of a set that is drawn, an example.
    """

    name: str
    made: str | None
    options: Mapping[str, Any]
    X: Any
    y: Array

    def parts(self, seed: int, folds: int, repeat: int, fold: int) -> Parts:
        """Divide the table, or draw: the same for all methods.

        With ``test_cases``, both parts are drawn anew for every fold; else a drawing of the repeat is divided
        as a table is.
        """
        rng = generator(seed, self.name, repeat, fold)
        if "test_cases" in self.options:
            return Parts(*self._draw("cases", rng), *self._draw("test_cases", rng))
        if folds < 2:
            raise ValueError(f"set {self.name!r} is divided, which takes 2 folds or more; got {folds}")
        same = generator(seed, self.name, repeat)
        X, y = self._draw("cases", same) if self.made else (self.X, self.y)
        number = fold_numbers(y, folds, same)
        train, test = np.flatnonzero(number != fold), np.flatnonzero(number == fold)
        rows = X.iloc if hasattr(X, "iloc") else X
        return Parts(rows[train], y[train], rows[test], y[test])

    def _draw(self, size: str, rng: np.random.Generator) -> tuple[Array, Array]:
        assert self.made is not None
        count, angles = self.options[size], self.options["angles"]
        return MAKERS[self.made](count, n_angles=angles, random_state=rng)


def load_problem(name: str, sets_file: Path, data: Path) -> Problem:
    """Load a set of a boosting study.

    Parameters
    ----------
    name : str
        A table of ``sets_file``.
    sets_file : path
        TOML; see ``studies/boosting_sets.toml``.
    data : path
        Folder of the tables.

    Returns
    -------
    Problem

    Raises
    ------
    DataAbsentError
        A file of ``data`` is not there.
    ValueError
        The set is unknown, or its entry cannot be used.
    """
    entries = tomllib.loads(sets_file.read_text(encoding="utf-8"))
    if name not in entries:
        raise ValueError(f"{sets_file.name} has no set {name!r}")
    entry = entries[name]
    unknown = sorted(set(entry) - (_MADE if "made" in entry else _READ))
    if unknown:
        raise ValueError(f"{sets_file.name}: set {name!r} has the unknown key {unknown[0]!r}")
    if "made" in entry:
        if entry["made"] not in MAKERS or not {"cases", "angles"} <= set(entry):
            raise ValueError(
                f"{sets_file.name}: set {name!r} must say made ({', '.join(MAKERS)}), cases, angles"
            )
        made = entry["made"]
        X, y = MAKERS[made](entry["cases"], n_angles=entry["angles"], random_state=generator(0, name))
        return Problem(name, made, entry, X, y)
    frame, target = read_table(entry["table"], data)
    positive = (target == entry["positive"]).to_numpy()
    if not positive.any():
        raise ValueError(f"set {name!r}: no case is of the class {entry['positive']!r}")
    return Problem(name, None, entry, frame.reset_index(drop=True), positive.astype(np.int64))


def bayes_rule(problem: Problem, X: Array, asymmetry: float) -> Array:
    """Answers of the best rule where missing a positive case has this share of the two costs.

    Both classes are equally frequent in the sets that are drawn. See :mod:`cstree.datasets.synthetic` for
    their distributions.
    """
    angles = problem.options["angles"]
    if angles % 2:
        raise ValueError(
            f"set {problem.name!r}: with an odd number of angles no projection is the second axis"
        )
    first, second = X[:, 0], X[:, angles // 2]
    if problem.made == "bayes":
        return np.asarray(1.28 * first + 0.96 * second >= np.log((1 - asymmetry) / asymmetry)).astype(
            np.int64
        )
    in_disc = np.hypot(first, second) <= 1.0
    from_centre = np.hypot(first - 0.5, second - 0.25)
    in_ring = (from_centre >= 0.6) & (from_centre <= 1.8)
    # The ring is 1.8^2 - 0.6^2 = 2.88 times as large as the disc, and as much thinner.
    return (in_disc & (~in_ring | (asymmetry * 2.88 >= 1 - asymmetry))).astype(np.int64)
