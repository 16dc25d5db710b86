"""A classifier that searches a Pareto set of trees and holds one of them."""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from tqdm.auto import tqdm

from cstree._numba import compiled_before
from cstree.base import as_generator
from cstree.costs.model import CostModel
from cstree.evolution._kernels import evolve
from cstree.evolution.nnia import NNIA, OBJECTIVES, Progress, SearchInterrupted
from cstree.evolution.seeds import greedy_seeds
from cstree.exact.search import ExactSearch
from cstree.pareto.front import Front
from cstree.pareto.selection import SelectionRule, resolve_rule
from cstree.tree.classifier import TreeClassifier
from cstree.tree.problem import TreeProblem
from cstree.tree.tree import Tree

__all__ = ["ParetoTreeClassifier"]

_LEAVES = 64


class ParetoTreeClassifier(TreeClassifier):
    """Search a front of trees that trade misclassification cost against test cost.

    Parameters
    ----------
    costs : CostModel or None, default=None
        What mistakes and tests cost. None: a mistake costs 1, tests are free.
    search : "nnia", "nsga2", "spea2", "exact" or object, default="nnia"
        How to search. "exact" gives the complete front, for a ``max_depth`` up to 4 or 5 on up to some
        hundred cuts (lower ``max_bins``); of the parameters below it heeds the limits of the trees and
        ``time_budget``. "nsga2" and "spea2" take their population size from ``dominant_size`` and have
        neither islands nor checkpoints. An object needs ``run(problem, rng, callback) -> Front``.
    select : str, mapping or callable, default="total_cost"
        Which tree of the front predicts: "total_cost", "knee", ``{"max_test_cost": x}``,
        ``{"max_misclassification_cost": x}``, ``{"exchange_rate": r}`` or a function of the front.
    max_depth : int, default=6
        Most tests on a path.
    max_leaf_nodes : int or None, default=None
        Most leaves of a tree; None: 64, or fewer where the depth allows fewer.
    min_support : int, default=2
        Fewest training cases in a branch.
    max_bins : int or None, default=64
        Most bins of a numeric feature; None: every cut.
    objectives : sequence of str
        From "misclassification_cost", "test_cost", "n_leaves", "worst_test_cost".
    dominant_size, active_size, clone_size : int, default=100, 20, 100
        Sizes of NNIA: trees kept on the front, trees cloned, clones of a generation.
    generations : int or None, default=500
        Generations to run at most.
    time_budget : float or None, default=None
        Seconds to search at most, compiling not counted.
    patience : int or None, default=200
        Stop after so many generations without a change of the front.
    mutations : "all" or sequence of str, default="all"
        From "regrow", "prune", "move_cut", "change_test", "split_leaf".
    recombination : float, default=0.5
        Probability that a clone first swaps a subtree with another active tree.
    polish : float, default=0.1
        Probability that a clone is polished instead of mutated: a part of it rebuilt from optimal
        subtrees of depth two. 0, with ``seeds=None``, is the published algorithm.
    islands : int, default=1
        Populations that search apart and share their fronts now and then.
    n_jobs : int or None, default=None
        Threads for the islands; the outcome is the same for any number.
    checkpoint : str, Path or None, default=None
        File that keeps the state of the search; where it exists, the search goes on from it. A run that
        was killed and resumed ends with the same front as one that was not.
    seeds : "greedy", None or sequence of Tree, default="greedy"
        Trees to start from: grown greedily by several criteria, none, or trees of an earlier front
        on the same features. The rest of the first population is random.
    categorical_features : "from_dtype", None, or list, default="from_dtype"
        Which columns are categorical: by dtype, none, or the listed names or positions.
    callback : callable or None, default=None
        Called with a :class:`~cstree.evolution.nnia.Progress` several times a second.
    verbose : int, default=0
        1: a progress bar with evaluations, front size and hypervolume.
    random_state : int, Generator, RandomState or None, default=None
        The same integer gives the same front.

    Attributes
    ----------
    front_ : Front of Tree
        The trade-offs found, sorted by misclassification cost.
    selected_ : int
        Which tree of the front predicts.
    tree_ : Tree
        That tree.
    classes_ : ndarray of shape (n_classes,)
    schema_ : FeatureSchema
    costs_ : BoundCosts
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)

    Notes
    -----
    Ctrl-C during ``fit``: ``front_`` and ``tree_`` hold what was found, then KeyboardInterrupt goes on.

    Examples
    --------
    >>> from cstree import ParetoTreeClassifier
    >>> from cstree.datasets import load_heart
    >>> heart = load_heart()
    >>> model = ParetoTreeClassifier(heart.costs, generations=50, random_state=0)
    >>> front = model.fit(heart.data, heart.target).front_
    >>> bool(front.objectives[0, 0] < front.objectives[-1, 0])
    True
    """

    front_: Front[Tree]

    def __init__(
        self,
        costs: CostModel | None = None,
        *,
        search: Any = "nnia",
        select: SelectionRule = "total_cost",
        max_depth: int = 6,
        max_leaf_nodes: int | None = None,
        min_support: int = 2,
        max_bins: int | None = 64,
        objectives: Sequence[str] = ("misclassification_cost", "test_cost"),
        dominant_size: int = 100,
        active_size: int = 20,
        clone_size: int = 100,
        generations: int | None = 500,
        time_budget: float | None = None,
        patience: int | None = 200,
        mutations: str | Sequence[str] = "all",
        recombination: float = 0.5,
        polish: float = 0.1,
        islands: int = 1,
        n_jobs: int | None = None,
        checkpoint: str | Path | None = None,
        seeds: str | Sequence[Tree] | None = "greedy",
        categorical_features: Any = "from_dtype",
        callback: Callable[[Progress], None] | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.costs = costs
        self.search = search
        self.select = select
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_support = min_support
        self.max_bins = max_bins
        self.objectives = objectives
        self.dominant_size = dominant_size
        self.active_size = active_size
        self.clone_size = clone_size
        self.generations = generations
        self.time_budget = time_budget
        self.patience = patience
        self.mutations = mutations
        self.recombination = recombination
        self.polish = polish
        self.islands = islands
        self.n_jobs = n_jobs
        self.checkpoint = checkpoint
        self.seeds = seeds
        self.categorical_features = categorical_features
        self.callback = callback
        self.verbose = verbose
        self.random_state = random_state

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, example_cost: Any = None
    ) -> ParetoTreeClassifier:
        """Search the front of a training table and select a tree.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)
            Numbers, strings, booleans, categories; missing values are allowed.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), optional
            Weights; support still counts cases.
        example_cost : array-like of shape (n_samples, n_classes), optional
            Cost of each answer for each case, instead of the cost matrix; columns as ``classes_`` (a
            DataFrame with the classes as columns is read by name).

        Returns
        -------
        ParetoTreeClassifier

        Raises
        ------
        ValueError, TypeError
            Bad data or a parameter out of range; the error names it.
        """
        search = self._search()
        choose = resolve_rule(self.select, tuple(self.objectives))
        dataset = self._training_data(
            X,
            y,
            sample_weight,
            example_cost,
            categorical_features=self.categorical_features,
            max_bins=self.max_bins,
        )
        problem = TreeProblem(
            dataset,
            self.costs_,
            max_depth=_at_least("max_depth", self.max_depth, 0),
            min_support=_at_least("min_support", self.min_support, 0),
            max_leaf_nodes=self._leaf_limit(),
        )
        if self.verbose and self.search == "nnia" and not compiled_before(evolve):
            print("compiling, first run only", file=sys.stderr, flush=True)
        with _ProgressBar(self.verbose, self.callback) as report:
            try:
                self.front_ = search.run(
                    problem, as_generator(self.random_state), report, **self._starts(problem)
                )
            except SearchInterrupted as interruption:
                self.front_ = interruption.front
                self._take(0)
                with suppress(ValueError):  # a bound that no tree meets so far must not hide the interruption
                    self._take(choose(self.front_))
                raise
        self._take(0)  # should no tree meet the rule, the search is not lost: `choose` takes another one
        self._take(choose(self.front_))
        return self

    def choose(self, rule: SelectionRule | int) -> ParetoTreeClassifier:
        """Return a classifier of its own that predicts with another tree of the front.

        Parameters
        ----------
        rule : int, str, mapping or callable
            Index of a point of ``front_``, or a selection rule.

        Returns
        -------
        ParetoTreeClassifier
            Fitted; shares the front.
        """
        self._require_fitted()
        chosen = copy.copy(self)
        if isinstance(rule, bool):
            raise TypeError(f"{rule!r} is not a selection rule, and no index either.")
        if isinstance(rule, (int, np.integer)):
            self.front_[rule]  # says what is wrong with an index that is not on the front
            index = range(len(self.front_))[rule]
        else:
            index = self.front_.select(rule)
            chosen.select = rule
        chosen._take(index)
        return chosen

    def _take(self, index: int) -> None:
        self.selected_ = int(index)
        self.tree_ = self.front_[self.selected_]

    def _leaf_limit(self) -> int:
        if self.max_leaf_nodes is not None:
            return _at_least("max_leaf_nodes", self.max_leaf_nodes, 1)
        # A complete front has no limit but the depth.
        return int(2 ** min(int(self.max_depth), 30)) if self.search == "exact" else _LEAVES

    def _starts(self, problem: TreeProblem) -> dict[str, Any]:
        """Seed trees for the search, where it takes some."""
        if self.search not in ("nnia", "nsga2", "spea2") or self.seeds is None:
            return {}
        if isinstance(self.seeds, str):
            if self.seeds != "greedy":
                raise ValueError(f"seeds must be 'greedy', None or a sequence of trees; got {self.seeds!r}.")
            trees: Sequence[Tree] = greedy_seeds(problem)
        else:
            trees = self.seeds
        encoded = [problem.encode_tree(tree) for tree in trees]
        return {"seeds": [found for found in encoded if found is not None]}

    def _search(self) -> Any:
        if not isinstance(self.search, str):
            if not callable(getattr(self.search, "run", None)):
                raise TypeError(
                    "search must be 'nnia' or an object with run(problem, rng, callback) -> Front."
                )
            return self.search
        if self.search == "exact":
            if tuple(self.objectives) != ("misclassification_cost", "test_cost"):
                raise ValueError(
                    "search='exact' knows the objectives misclassification_cost and test_cost only."
                )
            return ExactSearch(time_budget=self.time_budget)
        if self.search not in ("nnia", "nsga2", "spea2"):
            raise ValueError(
                f"unknown search {self.search!r}; known are 'nnia', 'nsga2', 'spea2' and 'exact', or give a "
                "search object."
            )
        for name in self.objectives:
            if name not in OBJECTIVES:
                raise ValueError(f"unknown objective {name!r}; known are {list(OBJECTIVES)}.")
        if self.search != "nnia":
            return self._genetic_search()
        return NNIA(
            dominant_size=self.dominant_size,
            active_size=self.active_size,
            clone_size=self.clone_size,
            generations=self.generations,
            time_budget=self.time_budget,
            patience=self.patience,
            mutations=self.mutations,
            recombination=self.recombination,
            polish=self.polish,
            islands=self.islands,
            n_jobs=self.n_jobs,
            checkpoint=self.checkpoint,
            objectives=tuple(self.objectives),
        )

    def _genetic_search(self) -> Any:
        from cstree.evolution.genetic import NSGA2, SPEA2  # loads DEAP, which others need not wait for

        kind = NSGA2 if self.search == "nsga2" else SPEA2
        return kind(
            population_size=self.dominant_size,
            generations=self.generations,
            time_budget=self.time_budget,
            patience=self.patience,
            mutations=self.mutations,
            recombination=self.recombination,
            polish=self.polish,
            objectives=tuple(self.objectives),
        )


def _at_least(name: str, value: Any, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise ValueError(f"{name} must be an integer of at least {least}, got {value!r}.")
    return int(value)


class _ProgressBar:
    """Shows a search on the terminal or in a notebook and passes reports on."""

    def __init__(self, verbose: int, callback: Callable[[Progress], None] | None) -> None:
        self.verbose = verbose
        self.callback = callback
        self.bar: Any = None

    def __enter__(self) -> _ProgressBar:
        return self

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.close()

    def __call__(self, progress: Progress) -> None:
        if self.verbose:
            if self.bar is None:
                self.bar = tqdm(total=progress.generations, desc="NNIA", unit="gen")
            self.bar.update(progress.generation - self.bar.n)
            self.bar.set_postfix(
                evaluations=progress.evaluations,
                front=progress.front_size,
                hypervolume=f"{progress.hypervolume:.4f}",
            )
        if self.callback is not None:
            self.callback(progress)
