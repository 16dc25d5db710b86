"""Studies of one chosen tree beside pystreed's: what it costs on cases that chose nothing.

A repeat is a random division into training and test cases, a fold one level of misclassification costs; the
division and the inner folds are those of the set and the repeat, the same for all levels and methods.
"""

from __future__ import annotations

import importlib.util
import sys
import time
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import _streed
from benchmarks._streed_peer import PeerProblem
from cstree.evolution.classifier import ParetoTreeClassifier
from experiments.folds import fold_numbers, generator
from experiments.generalisation_report import report
from experiments.kinds import Kind
from experiments.study import LEVELS, Study, check_choice, check_keys, whole

__all__ = ["KIND", "BinarySet", "Method", "Settings", "first_least", "run_method"]

Rows = NDArray[np.intp]
# What each case pays: misclassification cost, test cost.
Paid = tuple[NDArray[np.float64], NDArray[np.float64]]


@dataclass(frozen=True)
class Settings:
    """What the results of a cell depend on, besides set, repeat, level and method."""

    seed: int
    inner_folds: int
    test_share: float
    levels: tuple[str, ...]

    @property
    def folds(self) -> int:
        """Number of levels."""
        return len(self.levels)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {
            "seed": self.seed,
            "inner_folds": self.inner_folds,
            "test_share": self.test_share,
            "levels": list(self.levels),
        }


@dataclass(frozen=True)
class Method:
    """How one tree is chosen.

    Attributes
    ----------
    name : str
    learner : {"pystreed", "exact", "validated"}
        A depth by cross-validation, pystreed's tree or ours of that depth; or
        ``ParetoTreeClassifier(validation=...)`` over the fronts of all depths.
    """

    name: str
    learner: str


@dataclass(frozen=True, eq=False)
class BinarySet:
    """A set of binary columns, with its costs at each level."""

    name: str
    tables: Mapping[str, _streed.Table]
    depths: tuple[int, ...]

    @property
    def standard(self) -> dict[str, float]:
        """By level Turney's standard cost: all tests, the dearest mistake for all but the largest class."""
        return {level: _standard_cost(table) for level, table in self.tables.items()}


def _standard_cost(table: _streed.Table) -> float:
    share = np.bincount(table.y).max() / len(table.y)
    prices = sum(about["cost"] for about in table.attributes.values())
    return float(prices + (1 - share) * np.max(table.matrix))


@dataclass(frozen=True, eq=False)
class Fitted:
    """A tree that can be asked what it costs."""

    depth: int
    leaves: int
    pay: Callable[[Rows], Paid]


# Fits to some rows; the depths are one or several.
Learner = Callable[[_streed.Table, Rows, tuple[int, ...], Any], Fitted]


def _front(table: _streed.Table, rows: Rows, depths: tuple[int, ...], validation: Any) -> Fitted:
    model = ParetoTreeClassifier(
        table.costs(),
        search="exact",
        max_depth=depths,
        max_bins=None,
        min_support=1,
        validation=validation,
        random_state=0,
    ).fit(table.X[rows], table.y[rows])
    matrix = np.array(table.matrix)

    def pay(cases: Rows) -> Paid:
        X = table.X[cases]
        return matrix[table.y[cases], model.predict(X)], np.asarray(model.test_cost(X))

    return Fitted(model.max_depth_, model.tree_.n_leaves, pay)


def _peer(table: _streed.Table, rows: Rows, depths: tuple[int, ...], validation: Any) -> Fitted:
    owner_of = {column: name for name, about in table.attributes.items() for column in about["columns"]}
    owner = [owner_of[f"x{j}"] for j in range(table.X.shape[1])]
    problem = PeerProblem(np.array(table.matrix), table.attributes, owner)
    binary = table.X.astype(np.intc)
    (depth,) = depths
    model = problem.fit(binary[rows], table.y[rows].astype(np.int32), depth)
    tree = model.get_tree()
    return Fitted(depth, model.get_n_leaves(), lambda cases: problem.pay(tree, binary[cases], table.y[cases]))


LEARNERS: dict[str, Learner] = {"pystreed": _peer, "exact": _front, "validated": _front}


def _read_settings(plain: Mapping[str, Any]) -> Settings:
    levels = plain.get("levels", list(LEVELS))
    if not levels:
        raise ValueError(f"levels must be some of {', '.join(LEVELS)}")
    for level in levels:
        check_choice(level, LEVELS, "level")
    if "folds" in plain:
        raise ValueError("a study of generalisation has no folds: each level is one")
    share = plain.get("test_share", 0.2)
    if not isinstance(share, float) or not 0 < share < 1:
        raise ValueError(f"test_share must be between 0 and 1; got {share!r}")
    return Settings(
        seed=whole(plain, "seed", 0, default=0),
        inner_folds=whole(plain, "inner_folds", 2, default=5),
        test_share=share,
        levels=tuple(levels),
    )


def _read_method(plain: Mapping[str, Any]) -> Method:
    check_keys(plain, {"name", "learner"}, f"method {plain['name']!r}")
    check_choice(plain.get("learner"), tuple(LEARNERS), "learner")
    return Method(**plain)


def _load(study: Study, data: Path) -> list[BinarySet]:
    if any(method.learner == "pystreed" for method in study.methods) and not importlib.util.find_spec(
        "pystreed"
    ):
        raise ValueError("a method of the study needs pystreed: pip install pystreed")
    entries = tomllib.loads(study.sets_file.read_text(encoding="utf-8"))
    sets = []
    for name in study.sets:
        if name not in entries:
            raise ValueError(f"{study.sets_file.name} has no set {name!r}")
        check_keys(entries[name], {"depths"}, f"set {name!r}")
        try:
            tables = {
                level: _streed.load(name, level, whole=True, folder=data / "streed")
                for level in study.settings.levels
            }
        except FileNotFoundError as error:
            print(f"skipped {name}: {error.filename} is not there; say where with --data", file=sys.stderr)
            continue
        sets.append(BinarySet(name, tables, tuple(entries[name]["depths"])))
    return sets


def _describe(one: BinarySet) -> dict[str, Any]:
    table = next(iter(one.tables.values()))
    return {
        "set": one.name,
        "rows": len(table.y),
        "features": table.X.shape[1],
        "classes": len(table.matrix),
        "depths": list(one.depths),
        "standard": {level: round(cost, 6) for level, cost in one.standard.items()},
    }


def _run_fold(
    one: BinarySet, settings: Settings, repeat: int, number: int, methods: Sequence[Method]
) -> list[dict[str, Any]]:
    level = settings.levels[number]
    table = one.tables[level]
    rng = generator(settings.seed, one.name, repeat)
    shuffled = rng.permutation(len(table.y))
    n_test = round(settings.test_share * len(shuffled))
    test, train = np.sort(shuffled[:n_test]), np.sort(shuffled[n_test:])
    inner = fold_numbers(table.y[train], settings.inner_folds, rng)
    return [{"level": level} | run_method(method, one, table, train, test, inner) for method in methods]


def run_method(
    method: Method, one: BinarySet, table: _streed.Table, train: Rows, test: Rows, inner: Rows
) -> dict[str, Any]:
    """Choose a tree by the inner folds of the training rows; judge it on the test rows."""
    begin = time.process_time()
    learner = LEARNERS[method.learner]
    numbers = range(int(inner.max()) + 1)
    if method.learner == "validated":
        folds = [(np.flatnonzero(inner != k), np.flatnonzero(inner == k)) for k in numbers]
        fitted = learner(table, train, one.depths, folds)
    else:
        held_out = np.zeros(len(one.depths))
        for k in numbers:
            for i, depth in enumerate(one.depths):
                part = learner(table, train[inner != k], (depth,), None)
                held_out[i] += np.sum(part.pay(train[inner == k]))
        fitted = learner(table, train, (one.depths[first_least(held_out)],), None)
    seconds = time.process_time() - begin
    wrong, tests = fitted.pay(test)
    return {
        "depth": fitted.depth,
        "misclassification": round(float(wrong.mean()), 6),
        "test_cost": round(float(tests.mean()), 6),
        "leaves": fitted.leaves,
        "seconds": round(seconds, 4),
    }


def first_least(costs: NDArray[np.float64]) -> int:
    """Position of the least cost; of those equal but for rounding the first, the least depth."""
    return int(np.flatnonzero(costs <= costs.min() * (1 + 1e-9))[0])


KIND = Kind(
    keys=frozenset({"inner_folds", "test_share", "levels"}),
    read_settings=_read_settings,
    read_method=_read_method,
    load=_load,
    describe=_describe,
    run_fold=_run_fold,
    report=report,
)
