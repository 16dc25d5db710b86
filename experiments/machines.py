"""Studies of support vector machines that count costs, beside scikit-learn's: costs, recognition, time."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import recall_score
from sklearn.svm import SVC, LinearSVC

from cstree.costs.model import CostModel
from cstree.metrics import misclassification_cost
from cstree.svm.linear import CostLinearSVC
from cstree.svm.problem import TwoClass
from experiments.folds import fold_numbers, generator, stratified_sample
from experiments.kinds import Kind
from experiments.machines_report import report
from experiments.machines_tasks import Part, Task, describe, load_tasks, make_part
from experiments.study import check_choice, check_keys, whole

__all__ = ["KIND", "Method", "Settings", "Strengths", "choose", "objective", "run_method"]

LEARNERS = ("CostLinearSVC", "LinearSVC", "SVC", "constant")
WEIGHTS = ("costs", "blind", "balanced")
VIEWS = ("costs", "tolerances")
# Margins of the cheaper class that CSSVM chooses from.
MARGINS = (1.0, 0.5, 0.25, 0.1)


@dataclass(frozen=True)
class Settings:
    """What the results of a cell depend on; a fold is one of the ratios ``C_P : 1``.

    Attributes
    ----------
    strengths, rbf_strengths : tuple of float
        ``C`` of linear machines, one for all, and of those with the kernel; by cross-validation at
        ``choice_ratio``.
    max_choice : int
        Training cases drawn for that.
    max_kernel : int
        Training cases drawn for methods of a "sample".
    view : {"costs", "tolerances"}
        What a report shows.
    """

    seed: int
    ratios: tuple[float, ...]
    strengths: tuple[float, ...]
    rbf_strengths: tuple[float, ...]
    choice_ratio: float
    inner_folds: int
    max_choice: int
    max_kernel: int
    view: str

    @property
    def folds(self) -> int:
        """Number of ratios."""
        return len(self.ratios)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values of what results depend on."""
        return {
            "seed": self.seed,
            "ratios": list(self.ratios),
            "strengths": list(self.strengths),
            "rbf_strengths": list(self.rbf_strengths),
            "choice_ratio": self.choice_ratio,
            "inner_folds": self.inner_folds,
            "max_choice": self.max_choice,
            "max_kernel": self.max_kernel,
        }


@dataclass(frozen=True)
class Method:
    """A machine.

    Attributes
    ----------
    name : str
    learner : {"CostLinearSVC", "LinearSVC", "SVC", "constant"}
        "constant" gives all cases the answer that costs less on the training part.
    weights : {"costs", "blind", "balanced"}
        What the classes weigh in training.
    sample : bool
        Trained on a sample, as machines with kernels are.
    cssvm : bool
        The margin of the cheaper class is chosen by cross-validation.
    options : tuple of (str, value)
        Further arguments of the learner.
    """

    name: str
    learner: str
    weights: str = "costs"
    sample: bool = False
    cssvm: bool = False
    options: tuple[tuple[str, Any], ...] = ()

    @property
    def problem(self) -> tuple[str, bool] | None:
        """Methods of one problem have the same least objective; None: another loss, kernel or weights."""
        options = dict(self.options)
        if self.cssvm or self.learner == "constant" or self.weights == "balanced":
            return None
        if options.get("kernel", "linear") != "linear" or options.get("loss", "hinge") != "hinge":
            return None
        return self.weights, self.sample


def _read_settings(plain: Mapping[str, Any]) -> Settings:
    if "folds" in plain:
        raise ValueError("a study of machines has no folds: each ratio is one")
    view = plain.get("view", "costs")
    check_choice(view, VIEWS, "view")
    return Settings(
        seed=whole(plain, "seed", 0, default=0),
        ratios=_positive(plain, "ratios", [1, 2, 5, 10, 20]),
        strengths=_positive(plain, "strengths", [0.001, 0.01, 0.1, 1.0]),
        rbf_strengths=_positive(plain, "rbf_strengths", [1.0, 10.0, 100.0]),
        choice_ratio=_positive({"choice_ratio": [plain.get("choice_ratio", 5)]}, "choice_ratio", [])[0],
        inner_folds=whole(plain, "inner_folds", 2, default=3),
        max_choice=whole(plain, "max_choice", 1, default=4000),
        max_kernel=whole(plain, "max_kernel", 1, default=6000),
        view=view,
    )


def _positive(plain: Mapping[str, Any], key: str, default: list[float]) -> tuple[float, ...]:
    values = plain.get(key, default)
    if not values or any(isinstance(v, (str, bool)) or not 0 < v < np.inf for v in values):
        raise ValueError(f"{key} must be positive numbers; got {values!r}")
    return tuple(float(value) for value in values)


def _read_method(plain: Mapping[str, Any]) -> Method:
    known = {"name", "learner", "weights", "sample", "cssvm", "options"}
    check_keys(plain, known, f"method {plain['name']!r}")
    check_choice(plain.get("learner"), LEARNERS, "learner")
    check_choice(plain.get("weights", "costs"), WEIGHTS, "weights")
    method = Method(**{**plain, "options": tuple(plain.get("options", {}).items())})
    if method.learner != "CostLinearSVC" and (method.cssvm or method.weights == "balanced"):
        raise ValueError(f"method {method.name!r}: cssvm and balanced weights are for CostLinearSVC")
    return method


@dataclass(frozen=True)
class Strengths:
    """``C`` of linear machines and of those with the kernel."""

    linear: float
    rbf: float


Maker = Callable[[Part, float], Any]


@lru_cache(maxsize=1)
def choose(task: Task, settings: Settings, repeat: int) -> Strengths:
    """Choose both by least cost in cross-validation on a part of the training cases."""
    part = make_part(task, settings.seed, repeat)
    rng = generator(settings.seed, f"{task.name}, choice", repeat)
    rows = stratified_sample(part.y, settings.max_choice, rng)
    part = Part(part.X[rows], part.y[rows], part.new[:0], part.truth[:0])
    ratio = settings.choice_ratio

    def linear(strength: float) -> Any:
        return CostLinearSVC(_costs(ratio), C=strength, tol=1e-4, random_state=0)

    def rbf(strength: float) -> Any:
        return SVC(C=strength, class_weight=_class_weight(ratio))

    return Strengths(
        _cheapest(linear, settings.strengths, part, settings, ratio, rng),
        _cheapest(rbf, settings.rbf_strengths, part, settings, ratio, rng),
    )


def _cheapest(
    make: Callable[[float], Any],
    values: Sequence[float],
    part: Part,
    settings: Settings,
    ratio: float,
    rng: np.random.Generator,
) -> float:
    """Value of least cost in cross-validation; of equals the first."""
    if len(values) == 1:
        return values[0]
    fold = fold_numbers(part.y, settings.inner_folds, rng)
    total = []
    for value in values:
        cost = 0.0
        for number in range(settings.inner_folds):
            held = fold == number
            model = make(value).fit(part.X[~held], part.y[~held])
            cost += held.sum() * misclassification_cost(
                part.y[held], model.predict(part.X[held]), _costs(ratio)
            )
        total.append(cost)
    return values[int(np.flatnonzero(np.array(total) <= min(total) * (1 + 1e-12))[0])]


def _costs(ratio: float) -> CostModel:
    return CostModel.binary(false_positive=1.0, false_negative=ratio)


def _class_weight(ratio: float) -> dict[int, float]:
    """Weights whose mean over the classes is 1, as CostLinearSVC has it."""
    return {0: 2.0 / (1.0 + ratio), 1: 2.0 * ratio / (1.0 + ratio)}


def _make(method: Method, part: Part, ratio: float, strengths: Strengths, kappa: float) -> Any:
    options = dict(method.options)
    weights = _class_weight(ratio) if method.weights == "costs" else None
    if method.learner == "constant":
        cheap = int(ratio * part.y.sum() > (1 - part.y).sum())
        return DummyClassifier(strategy="constant", constant=cheap)
    if method.learner == "LinearSVC":
        return LinearSVC(C=strengths.linear, class_weight=weights, random_state=0, **options)
    if method.learner == "SVC":
        strength = strengths.linear if options.get("kernel") == "linear" else strengths.rbf
        return SVC(C=strength, class_weight=weights, cache_size=500, **options)
    if method.weights == "balanced":
        options["asymmetry"] = "balanced"
    costs = _costs(ratio) if method.weights == "costs" else None
    return CostLinearSVC(costs, C=strengths.linear, kappa=kappa, random_state=0, **options)


def _run_fold(
    task: Task, settings: Settings, repeat: int, fold: int, methods: Sequence[Method]
) -> list[dict[str, Any]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        whole_part = make_part(task, settings.seed, repeat)
        strengths = choose(task, settings, repeat)
        rng = generator(settings.seed, f"{task.name}, sample", repeat)
        rows = stratified_sample(whole_part.y, settings.max_kernel, rng)
        few = Part(whole_part.X[rows], whole_part.y[rows], whole_part.new, whole_part.truth)
        ratio = settings.ratios[fold]
        return [
            run_method(method, few if method.sample else whole_part, ratio, strengths, settings)
            for method in methods
        ]


def run_method(
    method: Method, part: Part, ratio: float, strengths: Strengths, settings: Settings
) -> dict[str, Any]:
    """Train a machine, which is timed, and judge it on the test cases."""
    kappa = _margin(method, part, ratio, strengths, settings) if method.cssvm else 1.0
    few = slice(0, 60)
    _make(method, part, ratio, strengths, kappa).fit(part.X[few], np.arange(len(part.y[few])) % 2)  # compiles
    model = _make(method, part, ratio, strengths, kappa)
    begin = time.process_time()
    model.fit(part.X, part.y)
    seconds = time.process_time() - begin
    answers = model.predict(part.new)
    found = {
        "cases": len(part.y),
        "C": getattr(model, "C", None),
        "kappa": kappa,
        "cost": round(misclassification_cost(part.truth, answers, _costs(ratio)), 6),
        "recall": round(float(recall_score(part.truth, answers)), 6),
        "accuracy": round(float(np.mean(part.truth == answers)), 6),
        "seconds": round(seconds, 5),
        "iterations": int(np.max(getattr(model, "n_iter_", 0))),
    }
    if method.problem is not None:
        weight = _class_weight(ratio if method.weights == "costs" else 1.0)
        value = objective(part, model.coef_, model.C, weight)
        found |= {"objective": value, "gap": getattr(model, "dual_gap_", None)}
    return found


def _margin(method: Method, part: Part, ratio: float, strengths: Strengths, settings: Settings) -> float:
    """Margin of the cheaper class, by cross-validation at the ratio itself."""
    rng = generator(settings.seed, "margin", int(part.y.sum()))
    rows = stratified_sample(part.y, settings.max_choice, rng)
    few = Part(part.X[rows], part.y[rows], part.new, part.truth)
    values = MARGINS if ratio != 1 else MARGINS[:1]
    return _cheapest(
        lambda kappa: _make(method, few, ratio, strengths, kappa), values, few, settings, ratio, rng
    )


def objective(part: Part, coef: Any, strength: float, class_weight: Mapping[int, float]) -> float:
    """Objective of the 2C-SVM on the training cases at given weights and the best intercept for them."""
    w = np.asarray(coef.toarray() if issparse(coef) else coef, dtype=np.float64).ravel()
    f: NDArray[np.float64] = np.asarray(part.X @ w)
    bound = strength * np.where(part.y == 1, class_weight[1], class_weight[0])
    problem = TwoClass.from_labels(part.X, 2.0 * part.y - 1.0, bound)
    return problem.primal(w, problem.bias(f), f)


KIND = Kind(
    keys=frozenset(
        {
            "ratios",
            "strengths",
            "rbf_strengths",
            "choice_ratio",
            "inner_folds",
            "max_choice",
            "max_kernel",
            "view",
        }
    ),
    read_settings=_read_settings,
    read_method=_read_method,
    load=load_tasks,
    describe=describe,
    run_fold=_run_fold,
    report=report,
)
