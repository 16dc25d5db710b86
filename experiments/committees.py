"""Studies of committees of trees beside single ones, when every test that a member asks is paid."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cstree.ensemble.bagging import CostBaggingClassifier
from cstree.ensemble.cgada import CGAdaClassifier
from cstree.ensemble.double_base import AdaBoostDBClassifier
from cstree.ensemble.metacost import MetaCostClassifier
from cstree.evolution.classifier import ParetoTreeClassifier
from cstree.greedy.classifier import GreedyTreeClassifier
from experiments.committees_report import report
from experiments.folds import fold_numbers, generator, stratified_sample
from experiments.kinds import Kind
from experiments.study import LEVELS, Study, check_choice, check_keys, whole
from experiments.tables import Table
from experiments.trees import describe, load_tables

__all__ = ["KIND", "Method", "Settings"]


@dataclass(frozen=True)
class Settings:
    """What the results of a cell depend on, besides set, repeat, fold and method."""

    seed: int
    folds: int
    inner_folds: int
    depths: tuple[int, ...]
    members: int
    level: str
    max_train: int | None

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return asdict(self) | {"depths": list(self.depths)}


@dataclass(frozen=True)
class Method:
    """A learner from ``LEARNERS``."""

    name: str
    learner: str


def _tree(table: Table, depth: int) -> GreedyTreeClassifier:
    return GreedyTreeClassifier(table.model, max_depth=depth)


def _bagged(table: Table, depth: int, settings: Settings, seed: int) -> Any:
    tree = _tree(table, depth)
    return CostBaggingClassifier(
        table.model, estimator=tree, n_estimators=settings.members, random_state=seed
    )


def _boosted(table: Table, depth: int, settings: Settings, seed: int) -> Any:
    tree = _tree(table, depth)
    return CGAdaClassifier(table.model, estimator=tree, n_estimators=settings.members, random_state=seed)


def _double_base(table: Table, depth: int, settings: Settings, seed: int) -> Any:
    tree = _tree(table, depth)
    return AdaBoostDBClassifier(table.model, estimator=tree, n_estimators=settings.members, random_state=seed)


def _metacost(table: Table, depth: int, settings: Settings, seed: int) -> Any:
    tree = _tree(table, depth)
    return MetaCostClassifier(table.model, estimator=tree, n_estimators=settings.members, random_state=seed)


def _blind_metacost(table: Table, depth: int, settings: Settings, seed: int) -> Any:
    return MetaCostClassifier(table.model, n_estimators=settings.members, random_state=seed)


def _pareto(table: Table, depth: int, settings: Settings, seed: int) -> Any:
    folds = settings.inner_folds
    return _front(table, 3, seed).set_params(validation=folds)


def _front(table: Table, depth: int, seed: int) -> ParetoTreeClassifier:
    return ParetoTreeClassifier(table.model, max_depth=depth, max_bins=16, generations=40, random_state=seed)


class _FrontBoosting:
    """AdaBoostDB whose weak learners are the trees of a front, which it searches first."""

    def __init__(self, front: ParetoTreeClassifier, boosting: AdaBoostDBClassifier) -> None:
        self.front, self.boosting = front, boosting

    def fit(self, X: Any, y: Any) -> AdaBoostDBClassifier:
        """Search the front, and boost."""
        pool = self.front.fit(X, y).front_
        return self.boosting.set_params(pool=pool).fit(X, y)


def _boosted_front(table: Table, depth: int, settings: Settings, seed: int) -> Any:
    boosting = AdaBoostDBClassifier(table.model, n_estimators=settings.members, random_state=seed)
    return _FrontBoosting(_front(table, depth, seed), boosting)


LEARNERS: dict[str, Callable[[Table, int, Settings, int], Any]] = {
    "tree": lambda table, depth, settings, seed: _tree(table, depth),
    "bagging": _bagged,
    "CGAda": _boosted,
    "AdaBoostDB": _double_base,
    "AdaBoostDB of a front": _boosted_front,
    "MetaCost": _metacost,
    "MetaCost, blind": _blind_metacost,
    "Pareto": _pareto,
}
# These choose their depth themselves, or have none to choose.
_WITHOUT_DEPTH = ("MetaCost, blind", "Pareto")
_TWO_CLASSES = ("AdaBoostDB", "AdaBoostDB of a front")


def _read_settings(plain: Mapping[str, Any]) -> Settings:
    depths = plain.get("depths", [1, 2, 4])
    if not depths or any(not isinstance(depth, int) or depth < 1 for depth in depths):
        raise ValueError(f"depths must be whole numbers from 1 on; got {depths!r}")
    level = plain.get("level", "middle")
    check_choice(level, LEVELS, "level")
    return Settings(
        seed=whole(plain, "seed", 0, default=0),
        folds=whole(plain, "folds", 2, default=5),
        inner_folds=whole(plain, "inner_folds", 2, default=2),
        depths=tuple(sorted(depths)),
        members=whole(plain, "members", 1, default=15),
        level=level,
        max_train=whole(plain, "max_train", 1) if "max_train" in plain else None,
    )


def _read_method(plain: Mapping[str, Any]) -> Method:
    check_keys(plain, {"name", "learner"}, f"method {plain['name']!r}")
    check_choice(plain.get("learner"), tuple(LEARNERS), "learner")
    return Method(**plain)


def _load(study: Study, data: Path) -> list[Table]:
    tables = load_tables(study, data)
    for method in study.methods:
        for table in tables:
            if method.learner in _TWO_CLASSES and table.costs.n_classes > 2:
                raise ValueError(
                    f"method {method.name!r} is for two classes, set {table.name!r} has "
                    f"{table.costs.n_classes}: a study compares methods on the same sets"
                )
    return tables


def _run_fold(
    table: Table, settings: Settings, repeat: int, number: int, methods: Sequence[Method]
) -> list[dict[str, Any]]:
    outer = fold_numbers(table.y, settings.folds, generator(settings.seed, table.name, repeat))
    rng = generator(settings.seed, table.name, repeat, number)
    train = np.flatnonzero(outer != number)
    train = train[stratified_sample(table.y[train], settings.max_train, rng)]
    inner = fold_numbers(table.y[train], settings.inner_folds, rng)
    seed = int(rng.integers(2**31))
    test = np.flatnonzero(outer == number)
    return [_run_method(method, table, train, test, inner, settings, seed) for method in methods]


Rows = NDArray[np.intp]


def _run_method(
    method: Method, table: Table, train: Rows, test: Rows, inner: Rows, settings: Settings, seed: int
) -> dict[str, Any]:
    """Choose the depth of the trees by inner cross-validation on total cost; judge on the test part."""
    begin = time.process_time()
    depths = settings.depths[:1] if method.learner in _WITHOUT_DEPTH else settings.depths
    total = np.zeros(len(depths))
    if len(depths) > 1:
        for fold in range(settings.inner_folds):
            for i, depth in enumerate(depths):
                model = _fit(method, table, train[inner != fold], depth, settings, seed)
                total[i] += sum(_costs(model, table, train[inner == fold])[:2]) * (inner == fold).sum()
    depth = depths[int(np.flatnonzero(total <= total.min() * (1 + 1e-12))[0])]
    model = _fit(method, table, train, depth, settings, seed)
    seconds = time.process_time() - begin
    mistakes, tests, accuracy = _costs(model, table, test)
    partial = model.partial_vote(table.X.iloc[test]) if hasattr(model, "partial_vote") else None
    trees = [tree for tree in _trees(model) if hasattr(tree, "get_n_leaves")]
    return {
        "depth": depth,
        "misclassification": round(mistakes, 6),
        "test_cost": round(tests, 6),
        "partial_test_cost": round(float(np.mean(partial.test_cost)) if partial else tests, 6),
        "accuracy": round(accuracy, 6),
        "members": len(trees),
        "leaves": round(float(np.mean([tree.get_n_leaves() for tree in trees])) if trees else 1.0, 3),
        "seconds": round(seconds, 4),
    }


def _fit(method: Method, table: Table, rows: Rows, depth: int, settings: Settings, seed: int) -> Any:
    model = LEARNERS[method.learner](table, depth, settings, seed)
    return model.fit(table.X.iloc[rows], _labels(table)[rows])


def _labels(table: Table) -> NDArray[Any]:
    return np.array(table.costs.classes)[table.y]


def _costs(model: Any, table: Table, rows: Rows) -> tuple[float, float, float]:
    """Average cost of mistakes and of tests, and accuracy; a test is paid once, whoever asks for it."""
    X, labels = table.X.iloc[rows], _labels(table)[rows]
    answers = model.predict(X)
    index = {label: i for i, label in enumerate(table.costs.classes)}
    answered = np.array([index[label] for label in answers.tolist()])
    mistakes = float(table.costs.matrix[table.y[rows], answered].mean())
    return mistakes, float(np.mean(model.test_cost(X))), float(np.mean(answers == labels))


def _trees(model: Any) -> list[Any]:
    """Return members of a committee, the final learner of MetaCost, or the tree itself."""
    if hasattr(model, "estimators_"):
        return list(model.estimators_)
    return [getattr(model, "estimator_", model)]


KIND = Kind(
    keys=frozenset({"inner_folds", "depths", "members", "level", "max_train"}),
    read_settings=_read_settings,
    read_method=_read_method,
    load=_load,
    describe=describe,
    run_fold=_run_fold,
    report=report,
)
