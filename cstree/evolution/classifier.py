"""A classifier that searches a Pareto set of trees and holds one of them."""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from cstree._numba import compiled_before
from cstree.base import as_generator
from cstree.costs.model import CostModel
from cstree.encoding.dataset import Dataset
from cstree.evolution._kernels import evolve
from cstree.evolution.fitting import Found, at_least, make_trials, read_depths, search_depths
from cstree.evolution.folds import RawTable, check_validation
from cstree.evolution.nnia import Progress, SearchInterrupted
from cstree.evolution.progress import ProgressBar
from cstree.evolution.searches import leaf_limit, make_search, make_starts, path_bound
from cstree.evolution.validation import Choice, Selection
from cstree.pareto.front import Front
from cstree.pareto.selection import SelectionRule
from cstree.tree.classifier import TreeClassifier
from cstree.tree.front_evaluator import FrontEvaluator
from cstree.tree.problem import TreeProblem
from cstree.tree.tree import Tree

__all__ = ["ParetoTreeClassifier"]


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
    validation : None, int, float, splitter or iterable, default=None
        How the rule is kept from being flattered by the training cases. A number of folds, the share of
        cases that is held out once, or what scikit-learn takes for ``cv``: the search runs on the others,
        too, the rule is applied to what it finds with several degrees of caution (``prior_cases``), and the
        degree that costs least on held-out cases chooses from the front of all cases. None: no search but
        one, and the rule sees what the trees cost on their training cases.
    prior_cases : float, sequence of float or None, default=None
        Caution of the rule: each leaf is judged as if so many more cases, like those of the whole table, had
        come to it. Several: the candidates of ``validation``. None: 0, and 0, 2, 8 and 32 for ``validation``.
        One, with ``validation`` and several values of ``max_depth``: these are the candidates.
    standard_errors : float, default=1.0
        Candidates of ``validation`` that cost on held-out cases at most so many standard errors (of the
        difference) more than the best are as good; the most cautious of them, or the least depth, chooses.
    max_depth : int or sequence of int, default=6
        Most tests on a path. Several: a front is searched for each of them, and the rule chooses from all, or
        ``validation`` from the depths.
    max_leaf_nodes : int or None, default=None
        Most leaves of a tree; None: 64, or fewer where the depth allows fewer.
    max_test_cost : float or None, default=None
        Most that the tests on any path of a tree may cost together; None: no bound.
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
        subtrees of depth two or three. False, with ``seeds=None``, is the published algorithm.
    restart : int or None, default=20
        Generations without change after which NNIA begins anew with random trees, and when these are stuck
        too, goes on from the best of all found; None: never.
    islands : int, default=1
        Populations that search apart and share their fronts now and then.
    n_jobs : int or None, default=None
        Threads for the islands; the outcome is the same for any number.
    checkpoint : str, Path or None, default=None
        File that keeps the state of the search; where it exists, the search goes on from it. A run that
        was killed and resumed ends with the same front as one that was not.
    seeds : "exact", "greedy", None or sequence of Tree, default="exact"
        Trees to start from: grown greedily by every criterion, and with "exact" also the front of small
        trees, complete to the depth that about a second's work reaches (on small tables the whole depth);
        none; or trees of an earlier front on the same features. The rest of the first population is random.
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
    max_depth_ : int
        Most tests on a path in ``front_``.
    prior_cases_ : float
        The caution with which the rule was applied.
    validation_ : DataFrame
        With ``validation``: a row per candidate, with mean held-out misclassification, test and total cost,
        their standard errors (``..._se``), and which was ``selected``.
    history_ : DataFrame
        What the search for ``front_`` reported: generation, evaluations, seconds, front size and
        hypervolume; at most about 1000 rows.
    classes_ : ndarray of shape (n_classes,)
    schema_ : FeatureSchema
    costs_ : BoundCosts
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)

    Notes
    -----
    Ctrl-C during ``fit``: ``front_`` and ``tree_`` hold what was found, then KeyboardInterrupt goes on;
    nothing is found while the trees to start from are made. With ``validation``, before all folds are done,
    the tree is the one that the rule chooses by training costs.

    ``validation`` searches once more for each fold: ``generations`` and ``time_budget`` are those of one
    search. Trees given as ``seeds`` have seen the held-out cases, so the searches of folds begin with
    greedily grown ones instead; ``checkpoint`` keeps the search on all cases only.

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
    history_: pd.DataFrame
    validation_: pd.DataFrame

    def __init__(
        self,
        costs: CostModel | None = None,
        *,
        search: Any = "nnia",
        select: SelectionRule = "total_cost",
        validation: Any = None,
        prior_cases: float | Sequence[float] | None = None,
        standard_errors: float = 1.0,
        max_depth: int | Sequence[int] = 6,
        max_leaf_nodes: int | None = None,
        max_test_cost: float | None = None,
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
        restart: int | None = 20,
        islands: int = 1,
        n_jobs: int | None = None,
        checkpoint: str | Path | None = None,
        seeds: str | Sequence[Tree] | None = "exact",
        categorical_features: Any = "from_dtype",
        callback: Callable[[Progress], None] | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.costs = costs
        self.search = search
        self.select = select
        self.validation = validation
        self.prior_cases = prior_cases
        self.standard_errors = standard_errors
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.max_test_cost = max_test_cost
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
        self.restart = restart
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
        make_search(self)  # what is wrong with a parameter is said before a table is read
        rule, depths = self._rule(), read_depths(self.max_depth, self.checkpoint)
        dataset = self._training_data(
            X,
            y,
            sample_weight,
            example_cost,
            categorical_features=self.categorical_features,
            max_bins=self.max_bins,
        )
        rng = as_generator(self.random_state)
        # Folds have a source of their own: the search on all cases is the same with and without them.
        aside = np.random.default_rng(copy.deepcopy(rng).integers(2**63, size=4))
        if self.validation is not None:
            table = RawTable.of(X, y, sample_weight, dataset, self.max_bins)
            folds = table.folds(self.validation, aside)
        found: list[Found] = []
        with ProgressBar(self.verbose, self.callback) as bar:
            try:
                search_depths(partial(self._search_front, bar), dataset, depths, rng, found)
                self._settle(found)  # should no tree meet the rule, the search is not lost
                fronts = [each.front for each in found]
                if self.validation is None:
                    self._settle(found, rule.choose(fronts))
                else:
                    trials = make_trials(
                        partial(self._unaware()._search_front, bar), table, folds, depths, aside
                    )
                    self._settle(found, rule.compare(fronts, trials, self.costs_, dataset.n_samples, depths))
            except KeyboardInterrupt:
                if found:
                    self._settle(found)
                    with suppress(ValueError):  # a bound that no tree meets must not hide the interruption
                        self._settle(found, rule.choose([each.front for each in found]))
                raise
        return self

    def _rule(self) -> Selection:
        if self.validation is not None:
            check_validation(self.validation)
        return Selection(
            self.select,
            tuple(self.objectives),
            self.prior_cases,
            self.standard_errors,
            compared=self.validation is not None,
        )

    def _search_front(
        self, bar: ProgressBar, dataset: Dataset, depth: int, rng: np.random.Generator, label: str
    ) -> Found:
        """Search once; an interruption is noted, with what was found before it."""
        problem = TreeProblem(
            dataset,
            self.costs_,
            max_depth=depth,
            min_support=at_least("min_support", self.min_support, 0),
            max_leaf_nodes=leaf_limit(self, depth),
            max_test_cost=path_bound(self.max_test_cost),
        )
        if self.verbose and self.search == "nnia" and not compiled_before(evolve):
            print("compiling, first run only", file=sys.stderr, flush=True)
        history = bar.begin(label or (self.search if isinstance(self.search, str) else "search"))
        interruption = None
        try:
            front = make_search(self).run(problem, rng, bar, **make_starts(self, problem))
        except SearchInterrupted as stopped:
            front, interruption = stopped.front, stopped
        named = hasattr(self, "feature_names_in_")
        evaluator = FrontEvaluator(dataset.schema, self.costs_, named_features=named)
        return Found(front.attach(evaluator), depth, history, interruption)

    def _unaware(self) -> ParetoTreeClassifier:
        """Return a searcher without what knows, or keeps, anything of all cases: seeds, a checkpoint."""
        other = copy.copy(self)
        other.checkpoint = None
        if self.seeds is not None and not isinstance(self.seeds, str):
            other.seeds = "exact"
        if getattr(self.search, "checkpoint", None) is not None:
            other.search = copy.copy(self.search)
            other.search.checkpoint = None
        return other

    def _settle(self, found: Sequence[Found], choice: Choice | None = None) -> None:
        """Hold what was found and chosen; the first tree of the last front, if nothing is chosen."""
        which = found[-1 if choice is None else choice.front]
        self.front_, self.max_depth_, self.history_ = which.front, which.max_depth, which.history.to_frame()
        self._take(0 if choice is None else choice.index, choice)

    def choose(self, rule: SelectionRule | int, *, prior_cases: float = 0.0) -> ParetoTreeClassifier:
        """Return a classifier of its own that predicts with another tree of the front.

        Parameters
        ----------
        rule : int, str, mapping or callable
            Index of a point of ``front_``, or a selection rule.
        prior_cases : float, default=0.0
            Caution of the rule, such as ``prior_cases_``; 0: as ``front_.select``.

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
            chosen._take(range(len(self.front_))[rule])
        else:
            choice = Selection(rule, self.front_.objective_names, prior_cases).choose([self.front_])
            chosen.select = rule
            chosen._take(choice.index, choice)
        return chosen

    def _take(self, index: int, choice: Choice | None = None) -> None:
        self.selected_ = int(index)
        self.tree_ = self.front_[self.selected_]
        for name, value in (
            ("prior_cases_", None if choice is None else choice.prior_cases),
            ("validation_", None if choice is None else choice.table),
        ):
            self.__dict__.pop(name, None)
            if value is not None:
                setattr(self, name, value)
