"""Which tree of a front to trust: ways to choose one, judged by what it costs on cases that chose nothing.

    python -m experiments.honest_selection --sets heart hepatitis --splits 20

Complete fronts of depth 1 to 4 on random 80/20 splits of the sets that ``benchmarks/_streed.py`` reads;
every way of choosing sees the same fronts and the same five folds. Printed: mean total cost on the test cases
in % of Turney's standard cost ``T + (1 - share of the largest class) * max C``; below it each way beside a
depth chosen by cross-validation (mean ratio over sets and levels, with the standard error over splits,
paired), and where it differs by more than one paired standard error. Test cases of a class that the training
part lacks are left out.
"""

from __future__ import annotations

import argparse
import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import ShuffleSplit

from benchmarks import _streed
from cstree.evolution.classifier import ParetoTreeClassifier
from cstree.evolution.fitting import make_trials, search_depths
from cstree.evolution.folds import RawTable
from cstree.evolution.progress import ProgressBar
from cstree.evolution.validation import Selection, Trial
from cstree.pareto.front import Front
from cstree.pareto.selection import SelectionRule
from cstree.tree.tree import Tree

DEPTHS = (1, 2, 3, 4)
LEVELS = ("low", "middle", "high")
SETS = ("heart", "hepatitis", "diabetes", "car", "glass", "flare", "tictactoe", "iris", "wine", "breast")
COSTS = ("misclassification_cost", "test_cost")
BASE = "depth by CV"


@dataclass
class Split:
    """Fronts of one training part, by depth, and the trials of its folds."""

    model: ParetoTreeClassifier
    fronts: list[Front[Tree]]
    trials: list[Trial]
    X_test: NDArray[np.float64]
    y_test: NDArray[np.int64]

    @classmethod
    def of(cls, table: _streed.Table, seed: int, min_support: int = 1) -> Split:
        train, test = next(ShuffleSplit(1, test_size=0.2, random_state=seed).split(table.X))
        model = ParetoTreeClassifier(table.costs(), search="exact", max_bins=None, min_support=min_support)
        X, y = table.X[train], table.y[train]
        dataset = model._training_data(X, y, max_bins=None)
        search = partial(model._search_front, ProgressBar(0, None))
        rng = np.random.default_rng(seed)
        found: list = []
        search_depths(search, dataset, DEPTHS, rng, found)
        raw = RawTable.of(X, y, None, dataset, None)
        trials = list(make_trials(search, raw, raw.folds(5, rng), DEPTHS, rng))
        return cls(model, [each.front for each in found], trials, table.X[test], table.y[test])

    def at(self, depths: Sequence[int]) -> Split:
        """The same, with some of the depths."""
        fewer = copy.copy(self)
        kept = [DEPTHS.index(depth) for depth in depths]
        fewer.fronts = [self.fronts[k] for k in kept]
        fewer.trials = [
            Trial([trial.fronts[k] for k in kept], trial.held, trial.cases) for trial in self.trials
        ]
        return fewer

    def test(self, front: Front[Tree], tree: int) -> float:
        """Total cost on the test cases, also where a class is new to the trees."""
        seen = np.isin(self.y_test, self.model.classes_)
        found = front.evaluate(self.X_test[seen], self.y_test[seen])
        return float(found.total_cost[tree])


def train_at(depth: int, split: Split) -> float:
    """Least training cost with a depth that somebody fixed."""
    front = split.at([depth]).fronts[0]
    return split.test(front, front.select("total_cost"))


def best_depth(split: Split) -> float:
    """Depth of least cost on the test cases: what nobody can know."""
    return min(train_at(depth, split) for depth in DEPTHS)


def depth_by_cv(split: Split) -> float:
    """Depth of least held-out cost, then the least training cost of that depth."""
    costs = [held_out_cost(split.at([depth]), "total_cost") for depth in DEPTHS]
    return train_at(DEPTHS[int(np.argmin(costs))], split)


def held_out_cost(split: Split, rule: SelectionRule) -> float:
    """Mean total cost of what a rule chooses, without caution, in the folds."""
    selection = Selection(rule, COSTS, 0.0, compared=True)
    table = selection.compare(split.fronts, split.trials, split.model.costs_, _n_training(split)).table
    assert table is not None
    return float(table["total_cost"].iloc[0])


def rule_by_cv(rules: Sequence[SelectionRule], split: Split, depths: Sequence[int] = DEPTHS) -> float:
    """Apply the rule of least held-out cost."""
    part = split.at(depths)
    best = rules[int(np.argmin([held_out_cost(part, rule) for rule in rules]))]
    choice = Selection(best, COSTS).choose(part.fronts)
    return split.test(part.fronts[choice.front], choice.index)


def leaves_have_a_price(share: float, front: Front[Tree]) -> int:
    """Rule: each leaf costs a share of what the best answer without tests does."""
    total = front.objectives.sum(axis=1)
    leaves = np.array([tree.n_leaves for tree in front])
    return int(np.argmin(total + share * front.objectives[:, 0].max() * leaves))


def fixed_caution(prior_cases: float, split: Split) -> float:
    """No cross-validation: one degree of caution for all tables."""
    choice = Selection("total_cost", COSTS, prior_cases).choose(split.fronts)
    return split.test(split.fronts[choice.front], choice.index)


def validated(
    split: Split,
    *,
    standard_errors: float,
    depths: Sequence[int] = DEPTHS,
    prior_cases: Sequence[float] | None = None,
) -> float:
    """What ``ParetoTreeClassifier(validation=5, max_depth=depths)`` does."""
    part = split.at(depths)
    rule = Selection("total_cost", COSTS, prior_cases, standard_errors, compared=True)
    choice = rule.compare(part.fronts, part.trials, split.model.costs_, _n_training(split))
    return split.test(part.fronts[choice.front], choice.index)


def _n_training(split: Split) -> int:
    return int(split.fronts[0][0].support[0])


RATES = [{"exchange_rate": rate} for rate in (1.0, 1.25, 1.5, 2.0, 3.0, 5.0, 10.0, 30.0)]
LEAF_PRICES = [partial(leaves_have_a_price, share) for share in (0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05)]

WAYS: dict[str, Callable[[Split], float]] = {
    **{f"training cost, depth {depth}": partial(train_at, depth) for depth in DEPTHS},
    "depth by the test cases": best_depth,
    BASE: depth_by_cv,
    "exchange rate by CV": partial(rule_by_cv, RATES),
    "price per leaf by CV": partial(rule_by_cv, LEAF_PRICES),
    **{f"caution {m}, no CV": partial(fixed_caution, m) for m in (8, 32, 128)},
    **{f"caution by CV, {errors:g} SE": partial(validated, standard_errors=errors) for errors in (0, 0.5, 1)},
    "caution by CV, 1 SE, depth 4": partial(validated, standard_errors=1, depths=(4,)),
    "caution to 128 by CV, 1 SE": partial(
        validated, standard_errors=1, prior_cases=(0, 1, 2, 4, 8, 16, 32, 64, 128)
    ),
}
# With at least five cases in a branch.
SUPPORTED = {"support 5: " + name: WAYS[name] for name in (BASE, "caution by CV, 1 SE")}


def standard_cost(table: _streed.Table) -> float:
    """Turney's: all tests, and the dearest mistake for all who are not of the largest class."""
    share = np.bincount(table.y).max() / len(table.y)
    prices = sum(about["cost"] for about in table.attributes.values())
    return float(prices + (1 - share) * np.max(table.matrix))


def measure(name: str, level: str, seeds: range) -> dict[str, NDArray[np.float64]]:
    """Test costs of each way on one set, in % of the standard cost, shape (splits,)."""
    table = _streed.load(name, level, whole=True)
    rows = []
    for seed in seeds:
        split = Split.of(table, seed)
        row = {way: choose(split) for way, choose in WAYS.items()}
        supported = Split.of(table, seed, min_support=5)
        rows.append(row | {way: choose(supported) for way, choose in SUPPORTED.items()})
    return {way: np.array([row[way] for row in rows]) * 100 / standard_cost(table) for way in rows[0]}


def report(found: dict[str, dict[str, NDArray[np.float64]]]) -> str:
    """Two Markdown tables: costs by set and level, and how each way compares with the base."""
    cells = list(found)
    ways = list(found[cells[0]])
    lines = ["| | " + " | ".join(cells) + " |", "|---" * (len(cells) + 1) + "|"]
    lines += [
        f"| {way} | " + " | ".join(f"{found[cell][way].mean():.2f}" for cell in cells) + " |" for way in ways
    ]
    lines += [
        "",
        f"| | mean | ratio to {BASE} | standard error | better by > 1 SE | worse by > 1 SE |",
        "|---" * 6 + "|",
    ]
    for way in ways:
        ratios, variances, better, worse = [], [], [], []
        for cell in cells:
            base = found[cell][BASE]
            difference = (found[cell][way] - base) / base.mean()
            error = difference.std(ddof=1) / np.sqrt(len(difference))
            ratios.append(1 + difference.mean())
            variances.append(error**2)
            if abs(difference.mean()) > error:
                (worse if difference.mean() > 0 else better).append(cell)
        mean = np.mean([found[cell][way].mean() for cell in cells])
        spread = np.sqrt(np.sum(variances)) / len(cells)
        lines.append(
            f"| {way} | {mean:.2f} | {np.mean(ratios):.4f} | {spread:.4f} | {', '.join(better)} | "
            f"{', '.join(worse)} |"
        )
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sets", nargs="+", default=list(SETS))
    parser.add_argument("--levels", nargs="+", default=list(LEVELS), choices=LEVELS)
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--first", type=int, default=0, metavar="SEED", help="seed of the first split")
    arguments = parser.parse_args(argv)
    if not _streed.is_there():
        parser.exit(1, "the sets of ../shared/data/streed are not there\n")
    found = {}
    for name in arguments.sets:
        for level in arguments.levels:
            found[f"{name} {level}"] = measure(
                name, level, range(arguments.first, arguments.first + arguments.splits)
            )
            print(f"{name} {level}", flush=True)
    print(report(found))


if __name__ == "__main__":
    main()
