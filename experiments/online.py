"""Adapting to new costs on a stream, beside learning online from nothing and training anew.

    python -m experiments.online run --repeats 3
    python -m experiments.online report --markdown docs/studies/online.md

Ten folds in turn: one is the test part; two train the old classifiers, at the old costs of 2:1; seven are the
stream, at the new costs of 5:1. Offline methods are trained on the whole stream at the new costs. Online
methods take it once, for each of some step lengths, and keep the one whose answers on the way (each given
before the case was learnt) cost least. Seconds are processor time for all of that. Lines of JSON as in the
other studies, one per set, repeat, fold and method; the same command goes on where it was stopped.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from cstree import (
    CostModel,
    CSOCClassifier,
    GreedyTreeClassifier,
    InstanceWeightingTreeClassifier,
    OCSCAClassifier,
    ParetoTreeClassifier,
    ThresholdMovingClassifier,
)
from cstree.ensemble.adac import AdaC1Classifier, AdaC2Classifier
from cstree.ensemble.csa import CSAdaBoostClassifier
from cstree.metrics import make_cost_scorer, misclassification_cost
from experiments.folds import fold_numbers, generator
from experiments.records import Records
from experiments.report import LEVEL
from experiments.standalone import frame_as_markdown, run_or_report
from experiments.statistics import mean_ranks, resampled_t

SETS = {"lfw_subset": "1", "uiuc_cars": "1", "german_credit": "2", "spambase": "1"}  # the positive class
OLD = CostModel.binary(false_positive=1, false_negative=2)
NEW = CostModel.binary(false_positive=1, false_negative=5)
STEPS = (1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1)
FOLDS, OLD_FOLDS, SEED = 10, 2, 0
SETTINGS = {"seed": SEED, "folds": FOLDS, "old_folds": OLD_FOLDS, "costs": [2, 5], "steps": list(STEPS)}
REFERENCE = "OCSCA of the SVM"
MARKS = ("<!-- online: made by python -m experiments.online -->", "<!-- online: end -->")

Array = NDArray[Any]


@dataclass
class Fold:
    """Parts of one fold, cases scaled by the old ones: these, the stream in its order, and the test cases."""

    old: tuple[Array, Array]
    stream: tuple[Array, Array]
    test: tuple[Array, Array]
    classifiers: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, X: Array, y: Array, name: str, repeat: int, fold: int) -> Fold:
        rng = generator(SEED, name, repeat)
        turn = (fold_numbers(y, FOLDS, rng) - fold) % FOLDS
        order = rng.permutation(len(y))
        numbers = turn[order]
        old = order[(numbers > 0) & (numbers <= OLD_FOLDS)]
        parts = (old, order[numbers > OLD_FOLDS], order[numbers == 0])
        scaler = StandardScaler().fit(X[old])
        return cls(*((scaler.transform(X[part]), y[part]) for part in parts))


Method = Callable[[Fold], Any]


def read_set(name: str, data: Path) -> tuple[Array, Array]:
    """Numbers, with a column for each category, and 1 for the positive class."""
    paths = [data / f"{name}.csv.gz", data / f"{name}.csv"]
    table = pd.read_csv(next((path for path in paths if path.exists()), paths[0]))
    y = (table.pop("target").astype(str) == SETS[name]).to_numpy().astype(int)
    return pd.get_dummies(table).to_numpy(dtype=np.float64), y


def svm(costs: CostModel) -> Any:
    """A linear SVM whose classes weigh what it costs to miss them; C by cross-validation."""
    matrix = costs.misclassification
    assert matrix is not None
    machine = LinearSVC(class_weight={0: matrix[0, 1], 1: matrix[1, 0]})
    return GridSearchCV(machine, {"C": [1e-4, 1e-3, 1e-2, 1e-1]}, scoring=make_cost_scorer(costs), cv=3)


def threshold_moving() -> Any:
    """STM: a network of ten hidden units, its shares weighed by costs."""
    network = MLPClassifier((10,), max_iter=300, random_state=0)
    return ThresholdMovingClassifier(NEW, estimator=network)


def kept(old: str) -> Method:
    """One of the old classifiers as it is."""
    return lambda fold: fold.classifiers[old]


def online(make: Callable[[float, Fold], Any]) -> Method:
    """One pass for each step length; the model whose answers on the way cost least."""

    def fit(fold: Fold) -> Any:
        models = [make(step, fold).partial_fit(*fold.stream, classes=[0, 1]) for step in STEPS]
        return min(models, key=lambda model: model.prequential_cost_)

    return fit


def adapting(old: str | None, **options: Any) -> Method:
    """OCSCA of one of the old classifiers, or of nothing."""

    def make(step: float, fold: Fold) -> Any:
        return OCSCAClassifier(NEW, estimator=fold.classifiers.get(old), alpha=step, **options)

    return online(make)


def csogd(variant: str) -> Method:
    """CSOGD for least cost."""
    return online(lambda step, fold: CSOCClassifier(NEW, variant=variant, learning_rate=step))


def offline(make: Callable[[], Any]) -> Method:
    """Train on the whole stream."""
    return lambda fold: make().fit(*fold.stream)


OLD_CLASSIFIERS: dict[str, Callable[[], Any]] = {
    "SVM": lambda: svm(OLD),
    "SECSDT_MC": lambda: GreedyTreeClassifier(OLD, max_depth=6),
    "front tree": lambda: ParetoTreeClassifier(OLD, max_depth=4, generations=30, random_state=0),
}
METHODS: dict[str, Method] = {
    "SVM of old costs": kept("SVM"),
    "OCSCA of the SVM": adapting("SVM"),
    "OCSCA of the SVM, averaged": adapting("SVM", average=True),
    "OCSCA of nothing": adapting(None),
    "CSOGD-I": csogd("I"),
    "CSOGD-II": csogd("II"),
    "SECSDT_MC of old costs": kept("SECSDT_MC"),
    "OCSCA of SECSDT_MC, by x": adapting("SECSDT_MC"),
    "OCSCA of SECSDT_MC, by leaf": adapting("SECSDT_MC", features="leaf"),
    "front tree of old costs": kept("front tree"),
    "OCSCA of the front tree, by leaf": adapting("front tree", features="leaf"),
    "offline SVM": offline(lambda: svm(NEW)),
    "offline STM": offline(threshold_moving),
    "offline CSB (AdaC2)": offline(lambda: AdaC2Classifier(NEW)),
    "offline CSB (AdaC1, cD)": offline(lambda: AdaC1Classifier(NEW, select_weights="cD")),
    "offline ABC": offline(lambda: CSAdaBoostClassifier(NEW)),
    "offline SW": offline(lambda: InstanceWeightingTreeClassifier(NEW)),
    "offline SECSDT_MC": offline(lambda: GreedyTreeClassifier(NEW, max_depth=6)),
}


def run_fold(fold: Fold, methods: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Train the old classifiers, then every method; judge on the test part."""
    for name, make in OLD_CLASSIFIERS.items():
        fold.classifiers[name] = make().fit(*fold.old)
    X, y = fold.test
    for name in methods:
        start = time.process_time()
        model = METHODS[name](fold)
        seconds = time.process_time() - start
        answers = model.predict(X)
        yield {
            "method": name,
            "cost": round(misclassification_cost(y, answers, NEW), 6),
            "accuracy": round(float(np.mean(answers == y)), 6),
            "seconds": round(seconds, 5),
        }


def run(out: Path, data: Path, sets: Sequence[str], repeats: int) -> None:
    """Run what is not finished, and append a line per fold and method."""
    records = Records(out)
    records.open_for(SETTINGS)
    for name in sets:
        try:
            X, y = read_set(name, data)
        except FileNotFoundError as error:
            print(f"skipped {name}: {error.filename} is not there; say where with --data", file=sys.stderr)
            continue
        if name not in records.sets:
            line = {"set": name, "rows": len(y), "features": X.shape[1], "positive": int(y.sum())}
            records.append([line])
        _warm_up(Fold.of(X, y, name, 0, 0))
        for repeat in range(repeats):
            for number in range(FOLDS):
                cell = {"set": name, "repeat": repeat, "fold": number}
                missing = [m for m in METHODS if (name, repeat, number, m) not in records.done]
                if missing:
                    found = run_fold(Fold.of(X, y, name, repeat, number), missing)
                    records.append([cell | line for line in found])
            print(f"{name}, repeat {repeat}", flush=True)


def _warm_up(fold: Fold) -> None:
    """Compile before anything is timed."""
    few = Fold(*((X[:40], np.arange(len(X[:40])) % 2) for X, _ in (fold.old, fold.stream, fold.test)))
    for _ in run_fold(few, list(METHODS)):
        pass


def report(records: Records) -> str:
    """Means of costs, accuracies and seconds by set, in Markdown; the least cost on a set is bold."""
    cells = pd.DataFrame(records.cells).drop_duplicates(["set", "repeat", "fold", "method"], keep="last")
    means = cells.groupby(["method", "set"])[["cost", "accuracy", "seconds"]].mean()
    sets = [name for name in SETS if name in records.sets]
    tables = {measure: means[measure].unstack("set").loc[list(METHODS), sets] for measure in means}
    shown = {measure: table.map("{:.3f}".format) for measure, table in tables.items()}
    least = tables["cost"] <= tables["cost"].min()
    shown["cost"] = shown["cost"].where(~least, "**" + shown["cost"] + "**")
    shown["cost"]["OCSCA better/same/worse"] = [_verdict(cells, name, sets) for name in METHODS]
    shown["cost"]["mean rank"] = [f"{rank:.1f}" for rank in mean_ranks(tables["cost"].T.to_numpy())]
    about = pd.DataFrame(records.sets.values()).set_index("set").loc[sets, ["rows", "features", "positive"]]
    parts = [f"{cells['repeat'].nunique()} x {FOLDS} folds; old costs 2:1, new costs 5:1."]
    titles = {"cost": "Average cost of the test cases", "accuracy": "Accuracy", "seconds": "Seconds to train"}
    for measure, title in titles.items():
        parts += [f"### {title}", frame_as_markdown(shown[measure])]
    return "\n\n".join([*parts, "### Sets", frame_as_markdown(about.astype(str))]) + "\n"


def _verdict(cells: pd.DataFrame, method: str, sets: Sequence[str]) -> str:
    """On how many sets the adapted SVM costs less than a method, the same and more, by test."""
    if method == REFERENCE:
        return "-"
    cost = cells.pivot_table(index=["set", "repeat", "fold"], columns="method", values="cost")
    counts = [0, 0, 0]
    for name in sets:
        difference = (cost[REFERENCE] - cost[method]).loc[name].to_numpy()
        certain = resampled_t(difference, FOLDS) < LEVEL
        counts[1 + int(np.sign(difference.mean())) if certain else 1] += 1
    return "/".join(map(str, counts))


def main(arguments: Sequence[str] | None = None) -> None:
    """Run or report."""
    run_or_report(
        arguments,
        "online",
        __doc__,
        sets=list(SETS),
        repeats=1,
        run=run,
        report=report,
        marks=MARKS,
        ignored={"category": ConvergenceWarning},
    )


if __name__ == "__main__":
    main()
