"""A gallery and its impostors: classifiers that count costs beside their blind versions.

    python -m experiments.recognition run --repeats 8
    python -m experiments.recognition report --markdown docs/studies/recognition.md

Digits: 0 to 4 are the gallery, 5 to 9 impostors; 450 pictures train and 900 test, at three levels of noise.
Faces (Olivetti, 32 x 32): ten persons are the gallery, five pictures train and five test; fifteen others are
impostors in training and the last fifteen at the test, so that none of them was seen before. Costs are 20:2:1
(false acceptance, false rejection, misidentification). Settings are chosen within the training part by 3
folds: of KLR by log-loss, of methods that count costs by cost, of blind ones by accuracy. Lines of JSON as in
the other studies, one per set, repeat and method; the same command goes on where it was stopped.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV

from cstree import CostKernelLogisticRegression, CostKNeighborsClassifier, CostModel, MulticlassCostSVC
from cstree.metrics import make_cost_scorer, misclassification_cost
from experiments.folds import generator
from experiments.records import Records
from experiments.standalone import frame_as_markdown, run_or_report

SEED, IMPOSTOR = 0, 99
SETS = ("digits, noise 0", "digits, noise 0.3", "digits, noise 0.6", "faces")
RATIOS = (20.0, 2.0, 1.0)
SETTINGS = {"seed": SEED, "costs": list(RATIOS)}
MARKS = ("<!-- recognition: made by python -m experiments.recognition -->", "<!-- recognition: end -->")
EVEN = CostModel()

Array = NDArray[Any]
Answers = Callable[[Array], Array]


@dataclass(frozen=True, eq=False)
class Split:
    """Training and test cases; impostors are of the class ``IMPOSTOR``, the greatest label."""

    X: Array
    y: Array
    new: Array
    truth: Array


def recognition_costs(
    classes: Sequence[int], acceptance: float, rejection: float, mistake: float
) -> CostModel:
    """Costs of the three mistakes."""
    matrix = np.full((len(classes), len(classes)), float(mistake))
    matrix[:, -1], matrix[-1] = rejection, acceptance
    np.fill_diagonal(matrix, 0.0)
    return CostModel(matrix, classes=list(classes))


def split_digits(noise: float, repeat: int) -> Split:
    """Noisy digits, 5 to 9 being impostors."""
    digits = load_digits()
    rng = generator(SEED, f"digits {noise}", repeat)
    X = digits.data / 16 + rng.normal(scale=noise, size=digits.data.shape)
    y = np.where(digits.target < 5, digits.target, IMPOSTOR)
    order = rng.permutation(len(y))[:1350]
    return Split(X[order[:450]], y[order[:450]], X[order[450:]], y[order[450:]])


def split_faces(data: Path, repeat: int) -> Split:
    """Ten persons, and fifteen strangers each for training and test."""
    table = pd.read_csv(data / "olivetti_faces.csv.gz")
    person = table.pop("target").astype("category").cat.codes.to_numpy()
    X = table.to_numpy(dtype=np.float64) / 255
    rng = generator(SEED, "faces", repeat)
    persons = rng.permutation(40)
    train, test = [], []
    for number, name in enumerate(persons):
        rows = rng.permutation(np.flatnonzero(person == name))
        if number < 10:
            train.append(rows[:5])
            test.append(rows[5:])
        else:
            (train if number < 25 else test).append(rows)
    y = np.where(np.isin(person, persons[:10]), person, IMPOSTOR)
    first, second = np.concatenate(train), np.concatenate(test)
    return Split(X[first], y[first], X[second], y[second])


def make_split(name: str, data: Path, repeat: int) -> Split:
    """Split of a set."""
    return split_faces(data, repeat) if name == "faces" else split_digits(float(name.split()[-1]), repeat)


def search(model: Any, grid: dict[str, list[Any]], scoring: Any, split: Split) -> Any:
    """Choose settings by 3 folds of the training part, and train on all of it."""
    return GridSearchCV(model, grid, scoring=scoring, cv=3).fit(split.X, split.y).best_estimator_


def kernel_logistic(split: Split, costs: CostModel) -> dict[str, tuple[Answers, float]]:
    """KLR, chosen by log-loss, and four ways to answer by it; the seconds are those of its training."""
    start = time.process_time()
    grid = {"C": [1.0, 10.0, 100.0, 1000.0]}
    model = search(CostKernelLogisticRegression(reference=IMPOSTOR), grid, "neg_log_loss", split)
    seconds = time.process_time() - start
    weight = np.where(model.classes_ == IMPOSTOR, RATIOS[0] / RATIOS[1], 1.0)
    start = time.process_time()
    by_case = weight[np.searchsorted(model.classes_, split.y)]
    heavy = clone(model).fit(split.X, split.y, sample_weight=by_case / by_case.mean())
    again = time.process_time() - start

    def rescaled(new: Array) -> Array:
        return model.classes_[(model.predict_proba(new) * weight).argmax(axis=1)]

    return {
        "KLR": (lambda new: model.predict(new, costs=EVEN), seconds),
        "mcKLR": (lambda new: model.predict(new, costs=costs), seconds),
        "KLR, rescaled probabilities": (rescaled, seconds),
        "KLR, rescaled cases": (heavy.predict, seconds + again),
    }


def neighbors(split: Split, costs: CostModel) -> dict[str, tuple[Answers, float]]:
    """kNN and mckNN, the number of neighbours chosen by cost (of the blind one by accuracy)."""
    found = {}
    for name, options, own, scoring in (
        ("kNN", {"posterior": "fractions"}, EVEN, "accuracy"),
        ("mckNN", {}, costs, make_cost_scorer(costs)),
        ("kNN, shares and Bayes rule", {"posterior": "fractions"}, costs, make_cost_scorer(costs)),
    ):
        start = time.process_time()
        grid = {"n_neighbors": [1, 3, 5, 10, 20]}
        model = search(CostKNeighborsClassifier(own, **options), grid, scoring, split)
        found[name] = (model.predict, time.process_time() - start)
    return found


def machines(split: Split, costs: CostModel) -> dict[str, tuple[Answers, float]]:
    """The multicategory SVM with and without costs."""
    found = {}
    for name, own, scoring in (("mSVM", EVEN, "accuracy"), ("mcSVM", costs, make_cost_scorer(costs))):
        start = time.process_time()
        model = search(MulticlassCostSVC(own), {"C": [0.3, 3.0, 30.0]}, scoring, split)
        found[name] = (model.predict, time.process_time() - start)
    return found


METHODS = (
    "KLR",
    "mcKLR",
    "KLR, rescaled probabilities",
    "KLR, rescaled cases",
    "kNN",
    "mckNN",
    "kNN, shares and Bayes rule",
    "mSVM",
    "mcSVM",
)


def run_split(split: Split) -> Iterator[dict[str, Any]]:
    """Train everything and judge it on the test part."""
    costs = recognition_costs(np.unique(split.y).tolist(), *RATIOS)
    stranger = split.truth == IMPOSTOR
    for train in (kernel_logistic, neighbors, machines):
        for name, (answer, seconds) in train(split, costs).items():
            given = answer(split.new)
            known = given[~stranger]
            yield {
                "method": name,
                "cost": round(misclassification_cost(split.truth, given, costs), 6),
                "errors": round(float(np.mean(given != split.truth)), 6),
                "false acceptances": round(float(np.mean(given[stranger] != IMPOSTOR)), 6),
                "false rejections": round(float(np.mean(known == IMPOSTOR)), 6),
                "identified": round(float(np.mean(known == split.truth[~stranger])), 6),
                "seconds": round(seconds, 4),
            }


def time_sweep(split: Split, settings: int = 1000, singles: int = 50) -> dict[str, float]:
    """Milliseconds for one prediction and for many costs, at once and (some of them) one after the other."""
    model = CostKernelLogisticRegression(C=10.0, reference=IMPOSTOR).fit(split.X, split.y)
    classes = model.classes_.tolist()
    costs = [recognition_costs(classes, price, 2, 1) for price in np.geomspace(0.1, 1000, settings)]
    model.predict(split.new)
    start = time.process_time()
    for each in costs[:singles]:
        model.predict(split.new, costs=each)
    single = (time.process_time() - start) / singles
    start = time.process_time()
    model.predict_cost_sweep(split.new, costs)
    together = time.process_time() - start
    return {"single": round(1e3 * single, 3), "sweep": round(1e3 * together, 2), "cost settings": settings}


def run(out: Path, data: Path, sets: Sequence[str], repeats: int) -> None:
    """Run what is not finished, and append a line per set, repeat and method."""
    records = Records(out)
    records.open_for(SETTINGS)
    for name in sets:
        try:
            split = make_split(name, data, 0)
        except FileNotFoundError as error:
            print(f"skipped {name}: {error.filename} is not there; say where with --data", file=sys.stderr)
            continue
        if name not in records.sets:
            about = {
                "set": name,
                "rows": len(split.y),
                "test": len(split.truth),
                "features": split.X.shape[1],
            }
            records.append([about | time_sweep(split)])
        for repeat in range(repeats):
            if {(name, repeat, 0, method) for method in METHODS} - records.done:
                cell = {"set": name, "repeat": repeat, "fold": 0}
                records.append([cell | line for line in run_split(make_split(name, data, repeat))])
            print(f"{name}, repeat {repeat}", flush=True)


def report(records: Records) -> str:
    """Means by set, in Markdown; the least cost on a set is bold, standard errors are in brackets."""
    cells = pd.DataFrame(records.cells).drop_duplicates(["set", "repeat", "method"], keep="last")
    sets = [name for name in SETS if name in records.sets]
    groups = cells.groupby(["method", "set"])
    parts = [f"{cells['repeat'].nunique()} repeats; costs 20:2:1."]
    for measure in ("cost", "errors", "false acceptances", "false rejections", "identified", "seconds"):
        mean = groups[measure].mean().unstack("set").loc[list(METHODS), sets]
        shown = mean.map("{:.3f}".format)
        if measure == "cost":
            error = groups[measure].sem().unstack("set").loc[list(METHODS), sets]
            shown = (
                shown.where(mean > mean.min(), "**" + shown + "**") + " (" + error.map("{:.3f}".format) + ")"
            )
        parts += [f"### {measure.capitalize()}", frame_as_markdown(shown)]
    about = pd.DataFrame(records.sets.values()).set_index("set").loc[sets]
    about = about.rename(
        columns={"rows": "training", "single": "ms, one prediction", "sweep": "ms, all settings"}
    )
    parts += ["### Sets, and the time of many costs at once", frame_as_markdown(about.astype(str))]
    return "\n\n".join(parts) + "\n"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run or report."""
    run_or_report(
        arguments,
        "recognition",
        __doc__,
        sets=list(SETS),
        repeats=8,
        run=run,
        report=report,
        marks=MARKS,
        ignored={"message": "The least populated class"},
    )


if __name__ == "__main__":
    main()
