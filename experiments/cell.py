"""One outer fold: encoded once, every method chosen on the same inner folds and judged on the same cases."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from cstree.costs.bound import BoundCosts
from cstree.encoding.columns import Columns
from cstree.encoding.dataset import Dataset
from cstree.encoding.schema import FeatureSchema
from cstree.greedy.grower import grow
from cstree.tree.tree import Tree
from experiments.criteria import HarmonicSecsdtMc, PayingSecsdtMc, UnstoppedSecsdtMc
from experiments.folds import fold_numbers, generator, stratified_sample
from experiments.sklearn_trees import grow_cart
from experiments.study import Method, Settings
from experiments.tables import Table
from experiments.truncation import Shapes

__all__ = ["Fold", "make_fold", "run_method"]

_OWN_CRITERIA = {
    "secsdt_mc_harmonic": HarmonicSecsdtMc,
    "secsdt_mc_paying": PayingSecsdtMc,
    "secsdt_mc_unstopped": UnstoppedSecsdtMc,
}


@dataclass(frozen=True, eq=False)
class Fold:
    """Encoded cases of one outer fold, and its inner folds."""

    train: Dataset
    test: Dataset
    inner: tuple[tuple[Dataset, Dataset], ...]
    costs: BoundCosts
    seed: int


def make_fold(table: Table, settings: Settings, repeat: int, fold: int) -> Fold:
    """Divide and encode; cuts and categories come from the training part only.

    Parameters
    ----------
    table : Table
    settings : Settings
    repeat, fold : int

    Returns
    -------
    Fold
    """
    outer = fold_numbers(table.y, settings.folds, generator(settings.seed, table.name, repeat))
    rng = generator(settings.seed, table.name, repeat, fold)
    rest = np.flatnonzero(outer != fold)
    rest = rest[stratified_sample(table.y[rest], settings.max_train, rng)]
    schema = FeatureSchema.infer(Columns(table.X.iloc[rest]), categorical_features="from_dtype", max_bins=255)
    train = _encoded(schema, table, rest)
    number = fold_numbers(train.y, settings.inner_folds, rng)
    inner = tuple(
        (train.take(np.flatnonzero(number != i)), train.take(np.flatnonzero(number == i)))
        for i in range(settings.inner_folds)
    )
    test = _encoded(schema, table, np.flatnonzero(outer == fold))
    return Fold(train, test, inner, table.costs, int(rng.integers(2**31)))


def _encoded(schema: FeatureSchema, table: Table, rows: np.ndarray) -> Dataset:
    codes = schema.encode(Columns(table.X.iloc[rows]))
    return Dataset(schema, codes, table.y[rows], table.costs.n_classes)


def run_method(method: Method, fold: Fold, settings: Settings) -> dict[str, Any]:
    """Choose depth and pruning by inner cross-validation on total cost; judge on the test part.

    Ties go to the lesser depth, then to the pruning that is named first.

    Parameters
    ----------
    method : Method
    fold : Fold
    settings : Settings

    Returns
    -------
    dict
        ``depth``, ``pruning``; of the test cases the average ``misclassification`` and ``test_cost``, and
        ``accuracy``; ``leaves``; ``seconds`` for all growth and choosing.
    """
    shapes = [(depth, pruning) for depth in settings.depths for pruning in settings.prunings]
    begin = time.perf_counter()
    total = np.zeros(len(shapes))
    for train, valid in fold.inner:
        outcomes = Shapes(_grow(method, train, fold, settings), fold.costs).evaluate(valid, shapes)
        total += [outcome.total_cost * valid.n_samples for outcome in outcomes]
    chosen = shapes[int(np.flatnonzero(total <= total.min() * (1 + 1e-12))[0])]
    final = Shapes(_grow(method, fold.train, fold, settings), fold.costs)
    seconds = time.perf_counter() - begin
    outcome = final.evaluate(fold.test, [chosen])[0]
    return {
        "depth": chosen[0],
        "pruning": chosen[1],
        "misclassification": round(outcome.misclassification_cost, 6),
        "test_cost": round(outcome.test_cost, 6),
        "accuracy": round(outcome.accuracy, 6),
        "leaves": outcome.n_leaves,
        "seconds": round(seconds, 4),
    }


def _grow(method: Method, dataset: Dataset, fold: Fold, settings: Settings) -> Tree:
    deepest = max(settings.depths)
    if method.grower == "scikit-learn":
        return grow_cart(
            dataset, fold.costs, answers=method.answers, max_depth=deepest, random_state=fold.seed
        )
    own = _OWN_CRITERIA.get(method.criterion)
    criterion = method.criterion if own is None else own()
    return grow(dataset, fold.costs, criterion, alpha=method.alpha, max_depth=deepest)
