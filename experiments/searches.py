"""Studies of the search for the weak learner of a round: roots and time against the size of the pool."""

from __future__ import annotations

import time
import tomllib
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from cstree.costs.model import CostModel
from cstree.datasets import make_bayes
from cstree.ensemble.csa import CSAdaBoostClassifier
from cstree.ensemble.double_base import AdaBoostDBClassifier
from experiments.folds import generator
from experiments.kinds import Kind
from experiments.searches_report import report
from experiments.study import Study, check_choice, check_keys, whole

__all__ = ["KIND", "Method", "Pool", "Settings"]

SOLVERS = ("newton", "poly", "bisect")


@dataclass(frozen=True)
class Settings:
    """What the results of a cell depend on; a fold is one of the ratios ``C_P : C_N``."""

    seed: int
    rounds: int
    ratios: tuple[tuple[int, int], ...]

    @property
    def folds(self) -> int:
        """Number of ratios."""
        return len(self.ratios)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {"seed": self.seed, "rounds": self.rounds, "ratios": [list(ratio) for ratio in self.ratios]}


@dataclass(frozen=True)
class Method:
    """A search; "bisect" is the halving of published CS-AdaBoost."""

    name: str
    search: str
    select: str = "alpha"
    solver: str = "newton"


@dataclass(frozen=True)
class Pool:
    """Stumps on projections of Bayes data."""

    name: str
    cases: int
    angles: int
    max_bins: int | None = None

    @property
    def size(self) -> int:
        """Number of stumps: two for every cut, and the constants."""
        return 2 + 2 * self.angles * ((self.max_bins or self.cases) - 1)

    def table(self, seed: int, repeat: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """Cases of a repeat: the same for all pools with as many angles and cases."""
        rng = generator(seed, "bayes", repeat)
        return make_bayes(self.cases, n_angles=self.angles, random_state=rng)


def _read_settings(plain: Mapping[str, Any]) -> Settings:
    ratios = plain.get("ratios")
    if not ratios or any(len(r) != 2 or not all(isinstance(c, int) and c > 0 for c in r) for r in ratios):
        raise ValueError(f"ratios must be pairs of whole numbers from 1 on; got {ratios!r}")
    if "folds" in plain:
        raise ValueError("a study of searches has no folds: each ratio is one")
    return Settings(
        seed=whole(plain, "seed", 0, default=0),
        rounds=whole(plain, "rounds", 1, default=20),
        ratios=tuple((p, n) for p, n in ratios),
    )


def _read_method(plain: Mapping[str, Any]) -> Method:
    check_keys(plain, {"name", "search", "select", "solver"}, f"method {plain['name']!r}")
    check_choice(plain.get("search"), ("conditional", "exhaustive", "batch"), "search")
    check_choice(plain.get("select", "alpha"), ("alpha", "loss"), "select")
    check_choice(plain.get("solver", "newton"), SOLVERS, "solver")
    method = Method(**plain)
    if method.solver == "bisect" and (method.search, method.select) != ("exhaustive", "loss"):
        raise ValueError(f"method {method.name!r}: halving is for search 'exhaustive' and select 'loss'")
    return method


def _load(study: Study, data: Path) -> list[Pool]:
    entries = tomllib.loads(study.sets_file.read_text(encoding="utf-8"))
    for name in study.sets:
        if name not in entries:
            raise ValueError(f"{study.sets_file.name} has no set {name!r}")
        check_keys(entries[name], {"cases", "angles", "max_bins"}, f"set {name!r}")
    return [Pool(name, **entries[name]) for name in study.sets]


def _describe(pool: Pool) -> dict[str, Any]:
    return {"set": pool.name, "rows": pool.cases, "angles": pool.angles, "size": pool.size}


def _run_fold(
    pool: Pool, settings: Settings, repeat: int, fold: int, methods: Sequence[Method]
) -> list[dict[str, Any]]:
    X, y = pool.table(settings.seed, repeat)
    positive, negative = settings.ratios[fold]
    costs = CostModel.binary(false_positive=negative, false_negative=positive)
    results = []
    for method in methods:
        _make(method, costs, pool, 2).fit(X[:60], y[:60])  # compiles, before anything is timed
        model = _make(method, costs, pool, settings.rounds)
        begin = time.process_time()
        model.fit(X, y)
        seconds = time.process_time() - begin
        results.append(
            {
                "rounds": len(model.estimators_),
                "contributing": int(model.n_contributing_.sum()),
                "evaluations": int(model.n_evaluations_.sum()),
                "roots": int(model.n_roots_.sum()),
                "search_seconds": round(model.search_seconds_, 6),
                "seconds": round(seconds, 6),
                "committee": _committee(model),
            }
        )
    return results


def _make(method: Method, costs: CostModel, pool: Pool, rounds: int) -> Any:
    options: dict[str, Any] = {"n_estimators": rounds, "max_bins": pool.max_bins, "random_state": 0}
    if method.solver == "bisect":
        return CSAdaBoostClassifier(costs, search="exhaustive", **options)
    return AdaBoostDBClassifier(
        costs, search=method.search, select=method.select, solver=method.solver, **options
    )


def _committee(model: Any) -> str:
    """Eight hexadecimal digits: the same for the same stumps in the same order."""
    text = "\n".join(f"{stump.feature} {stump.cut!r} {stump.answers}" for stump in model.estimators_)
    return f"{zlib.crc32(text.encode()):08x}"


KIND = Kind(
    keys=frozenset({"rounds", "ratios"}),
    read_settings=_read_settings,
    read_method=_read_method,
    load=_load,
    describe=_describe,
    run_fold=_run_fold,
    report=report,
)
