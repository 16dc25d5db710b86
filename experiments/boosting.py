"""Studies of boosting for two classes: mistakes of either kind at several asymmetries of cost."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cstree.costs.model import CostModel
from cstree.ensemble.cgada import CGAdaClassifier
from cstree.ensemble.csa import CSAdaBoostClassifier
from cstree.ensemble.double_base import AdaBoostDBClassifier
from experiments.boosting_report import report
from experiments.kinds import Kind
from experiments.problems import Parts, Problem, bayes_rule, load_problem
from experiments.study import Study, check_choice, check_keys, whole
from experiments.tables import DataAbsentError

__all__ = ["KIND", "Method", "Settings", "binary_costs"]

LEARNERS = {
    "AdaBoostDB": AdaBoostDBClassifier,
    "CS-AdaBoost": CSAdaBoostClassifier,
    "AdaBoost": CGAdaClassifier,
    "CGAda": CGAdaClassifier,
    "Bayes rule": None,
}


@dataclass(frozen=True)
class Settings:
    """What the results of a cell depend on, besides set, repeat, fold and method."""

    seed: int
    folds: int
    rounds: int
    max_bins: int
    asymmetries: tuple[float, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return asdict(self) | {"asymmetries": list(self.asymmetries)}


@dataclass(frozen=True)
class Method:
    """How one method answers.

    Attributes
    ----------
    name : str
    learner : str
        From ``LEARNERS``. "AdaBoost" is trained once, at equal costs.
    moved : bool
        AdaBoost: answer by its probabilities and the threshold of the costs.
    """

    name: str
    learner: str
    moved: bool = False


def binary_costs(asymmetry: float) -> CostModel:
    """Costs, 2 in sum, of which missing a positive case has this share."""
    return CostModel.binary(false_positive=2 * (1 - asymmetry), false_negative=2 * asymmetry)


def _read_settings(plain: Mapping[str, Any]) -> Settings:
    asymmetries = plain.get("asymmetries")
    if not asymmetries or any(not isinstance(a, float) or not 0 < a < 1 for a in asymmetries):
        raise ValueError(f"asymmetries must be numbers between 0 and 1; got {asymmetries!r}")
    return Settings(
        seed=whole(plain, "seed", 0, default=0),
        folds=whole(plain, "folds", 1, default=3),
        rounds=whole(plain, "rounds", 1, default=50),
        max_bins=whole(plain, "max_bins", 2, default=255),
        asymmetries=tuple(asymmetries),
    )


def _read_method(plain: Mapping[str, Any]) -> Method:
    check_keys(plain, {"name", "learner", "moved"}, f"method {plain['name']!r}")
    check_choice(plain.get("learner"), tuple(LEARNERS), "learner")
    method = Method(**plain)
    if method.moved and method.learner != "AdaBoost":
        raise ValueError(f"method {method.name!r}: it is AdaBoost whose threshold is moved")
    return method


def _load(study: Study, data: Path) -> list[Problem]:
    problems = []
    for name in study.sets:
        try:
            problems.append(load_problem(name, study.sets_file, data))
        except DataAbsentError as error:
            print(f"skipped {name}: {error} is not there; say where with --data", file=sys.stderr)
    return problems


def _describe(problem: Problem) -> dict[str, Any]:
    return {
        "set": problem.name,
        "rows": len(problem.y),
        "features": problem.X.shape[1],
        "positive": int(problem.y.sum()),
        "made": problem.made,
        "test_rows": problem.options.get("test_cases"),
    }


def _applies(method: Method, line: dict[str, Any]) -> bool:
    return method.learner != "Bayes rule" or line["made"] is not None


def _run_fold(
    problem: Problem, settings: Settings, repeat: int, fold: int, methods: Sequence[Method]
) -> list[dict[str, Any]]:
    parts = problem.parts(settings.seed, settings.folds, repeat, fold)
    return [_run_method(method, problem, parts, settings) for method in methods]


def _run_method(method: Method, problem: Problem, parts: Parts, settings: Settings) -> dict[str, Any]:
    """Count mistakes on the test cases at each asymmetry; ``seconds`` is processor time of training."""
    begin = time.process_time()
    answers, rounds = _trained(method, problem, parts, settings)
    seconds = time.process_time() - begin
    missed, alarms = [], []
    for asymmetry in settings.asymmetries:
        answer = answers(asymmetry)
        missed.append(int(((parts.y_test == 1) & (answer == 0)).sum()))
        alarms.append(int(((parts.y_test == 0) & (answer == 1)).sum()))
    return {
        "missed": missed,
        "alarms": alarms,
        "positive": int(parts.y_test.sum()),
        "negative": int((parts.y_test == 0).sum()),
        "rounds": rounds,
        "seconds": round(seconds, 4),
    }


def _trained(method: Method, problem: Problem, parts: Parts, settings: Settings) -> tuple[Any, list[int]]:
    """Train at each asymmetry; a function from an asymmetry to the answers, and the numbers of rounds."""
    if method.learner == "Bayes rule":
        return partial(bayes_rule, problem, parts.X_test), []
    make = partial(
        LEARNERS[method.learner], n_estimators=settings.rounds, max_bins=settings.max_bins, random_state=0
    )
    if method.learner == "AdaBoost":
        model = make().fit(parts.X, parts.y)
        return partial(_answers_of_adaboost, model, parts.X_test, method.moved), [len(model.estimators_)]
    models = {a: make(binary_costs(a)).fit(parts.X, parts.y) for a in settings.asymmetries}
    return lambda a: models[a].predict(parts.X_test), [len(model.estimators_) for model in models.values()]


def _answers_of_adaboost(model: CGAdaClassifier, X: Any, moved: bool, asymmetry: float) -> NDArray[np.int64]:
    if not moved:
        return np.asarray(model.predict(X))
    return (model.predict_proba(X)[:, 1] >= 1 - asymmetry).astype(np.int64)


KIND = Kind(
    keys=frozenset({"rounds", "max_bins", "asymmetries"}),
    read_settings=_read_settings,
    read_method=_read_method,
    load=_load,
    describe=_describe,
    run_fold=_run_fold,
    report=report,
    applies=_applies,
)
