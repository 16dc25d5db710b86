"""Checks for people who extend cstree: call them in your own tests.

They raise ``AssertionError`` with a sentence that says what is wrong.
"""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from itertools import pairwise
from types import FunctionType
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cstree.costs.model import CostModel, FeatureTest
from cstree.encoding.dataset import Dataset
from cstree.encoding.schema import FeatureSchema
from cstree.ensemble.checking import check_weak_learner
from cstree.evolution.classifier import ParetoTreeClassifier
from cstree.greedy.candidates import Candidates
from cstree.greedy.classifier import GreedyTreeClassifier
from cstree.greedy.criteria import make_criterion, score
from cstree.greedy.grower import candidates_at
from cstree.greedy.tabulator import Histograms, Tabulator
from cstree.pareto.front import Front
from cstree.tree.evaluation import relabel
from cstree.tree.problem import TreeProblem
from cstree.tree.search import OBJECTIVE_NAMES, Progress, SearchInterrupted, tree_objectives
from cstree.tree.tree import Tree

__all__ = ["check_criterion", "check_search", "check_weak_learner"]


def check_criterion(
    criterion: Callable[[Candidates], Any] | str, *, n_tables: int = 20, seed: int = 0
) -> None:
    """Check that a criterion can grow trees.

    On random tables with numbers, categories, missing values, weights, costs by case, prices and two to
    five classes it must return one score per candidate and no NaN, leave the candidates alone, give the
    same scores again, also when features or classes stand in another order, and, if it takes several nodes
    at once (``many_nodes``), when they come one by one. Copies of it, as scikit-learn's clone makes them,
    must score alike; objects must survive pickling (of functions only those at the top of a module do).

    Parameters
    ----------
    criterion : callable or str
        What would be passed to :class:`~cstree.greedy.classifier.GreedyTreeClassifier`.
    n_tables : int, default=20
        Number of random tables.
    seed : int, default=0
        Seed of the tables.

    Raises
    ------
    AssertionError
        The criterion fails one of the checks.

    Examples
    --------
    >>> from cstree.testing import check_criterion
    >>> def cheap_gain(candidates):
    ...     return candidates.gain / (1 + candidates.price)
    >>> check_criterion(cheap_gain)
    """
    rng = np.random.default_rng(seed)
    for _ in range(n_tables):
        table = _Table(rng)
        names = table.dataset().schema.names
        chosen = make_criterion(criterion, names)
        _check_scores(chosen, table)
        if getattr(chosen, "many_nodes", False):
            _check_many_nodes(chosen, table)
        _check_orders(chosen, table, rng)
    _check_copies(criterion)
    table = _Table(rng)
    GreedyTreeClassifier(table.costs, criterion=criterion).fit(
        table.frame, table.y, table.weight, table.example_cost
    )


def check_search(search: Any, *, n_problems: int = 10, seed: int = 0, repeatable: bool = True) -> None:
    """Check that a search can find the trees of a :class:`~cstree.ParetoTreeClassifier`.

    On random problems with numbers, categories, missing values, weights, costs by case, prices and two to
    five classes its ``run(problem, rng, callback)`` must return a :class:`~cstree.Front` of trees that keep
    the limits of the problem, are labelled on its cases, and cost what the front says; leave the problem
    alone; report with :class:`~cstree.tree.search.Progress` if at all; and give the same front again for
    the same state of ``rng``, a copy of it too. A KeyboardInterrupt that a report raises must come out as
    :class:`~cstree.tree.search.SearchInterrupted` with the front so far. A search that cannot keep the
    limit on leaves may refuse it: a ValueError that names ``max_leaf_nodes``.

    Parameters
    ----------
    search : object
        What would be passed to ``ParetoTreeClassifier(search=...)``; let it search for a moment only.
    n_problems : int, default=10
        Number of random problems.
    seed : int, default=0
        Seed of the problems.
    repeatable : bool, default=True
        False: the clock ends the search, so fronts of the same seed may differ.

    Raises
    ------
    AssertionError
        The search fails one of the checks.

    Examples
    --------
    >>> from cstree.evolution import NNIA
    >>> from cstree.testing import check_search
    >>> check_search(NNIA(generations=3), n_problems=2)
    """
    rng = np.random.default_rng(seed)
    copied = copy.deepcopy(search)
    for number in range(n_problems):
        problem = _search_problem(rng, number)
        before = _figures(problem)
        reports: list[Any] = []
        try:
            front = search.run(problem, np.random.default_rng(number), reports.append)
        except ValueError as error:
            binds = problem.max_leaf_nodes < 2**problem.max_depth
            assert binds and "max_leaf_nodes" in str(error), f"the search refuses a sound problem: {error}"
            continue
        _check_front(front, problem)
        _check_reports(reports)
        assert _figures(problem) == before, "the search changes the problem it is given"
        if repeatable:
            for again in (search, copied):
                _check_same(front, again.run(problem, np.random.default_rng(number), None))
        _check_interruption(search, problem, number)
    table = _Table(rng)
    model = ParetoTreeClassifier(
        table.costs, search=search, select=lambda front: 0, max_depth=2, random_state=0
    )
    model.fit(table.frame, table.y, table.weight, table.example_cost).predict(table.frame)


def _search_problem(rng: np.random.Generator, number: int) -> TreeProblem:
    """Make a random problem; every other one has a limit on leaves that binds."""
    table = _Table(rng)
    dataset = table.dataset()
    costs = table.costs.bind(dataset.schema.names, list(range(table.n_classes)))
    depth = number % 4
    leaves = 2**depth if number % 2 else max(1, 2**depth - 1)
    return TreeProblem(dataset, costs, depth, int(rng.integers(1, 5)), max_leaf_nodes=leaves)


def _figures(problem: TreeProblem) -> bytes:
    """All that a search could change by mistake."""
    return pickle.dumps([problem.dataset, problem.costs, *problem.arrays])


def _check_front(front: Any, problem: TreeProblem) -> None:
    assert isinstance(front, Front), f"run must return a cstree.Front, it returned {type(front).__name__}"
    unknown = set(front.objective_names) - set(OBJECTIVE_NAMES)
    assert not unknown, f"the front has unknown objectives {sorted(unknown)}; known are {OBJECTIVE_NAMES}"
    least = min(problem.min_support, problem.dataset.n_samples)
    for tree, point in zip(front, front.objectives, strict=True):
        assert isinstance(tree, Tree), (
            f"the front holds {type(tree).__name__}, not trees: see TreeProblem.tree"
        )
        assert tree.depth <= problem.max_depth, f"a tree is {tree.depth} deep, max_depth {problem.max_depth}"
        assert tree.n_leaves <= problem.max_leaf_nodes, (
            f"a tree has {tree.n_leaves} leaves, max_leaf_nodes is {problem.max_leaf_nodes}"
        )
        assert tree.support.min() >= least, (
            f"a branch has {tree.support.min()} cases, min_support is {problem.min_support}: "
            "TreeProblem.prune_and_evaluate prunes"
        )
        dearest = tree_objectives(tree, problem, ["worst_test_cost"])[0]
        assert dearest <= problem.max_test_cost * (1 + 1e-9), (
            f"a path costs {dearest}, max_test_cost is {problem.max_test_cost}"
        )
        labelled = relabel(tree, problem.dataset, problem.costs)
        assert np.array_equal(labelled.answer, tree.answer) and np.array_equal(
            labelled.support, tree.support
        ), "a tree is not labelled on the problem's cases: see TreeProblem.tree"
        found = tree_objectives(tree, problem, front.objective_names)
        assert np.allclose(found, point, rtol=1e-9, atol=1e-9), (
            f"the front says {point.tolist()} for {front.objective_names}, but its tree costs {found}"
        )


def _check_reports(reports: list[Any]) -> None:
    for report in reports:
        assert isinstance(report, Progress), f"the callback was given {report!r}, not a Progress"
    for earlier, later in pairwise(reports):
        for name in ("generation", "evaluations", "seconds"):
            assert getattr(earlier, name) <= getattr(later, name), f"{name} of the reports goes back"


def _check_same(front: Front[Tree], again: Front[Tree]) -> None:
    assert np.array_equal(front.objectives, again.objectives) and all(
        one.same_as(other) for one, other in zip(front, again, strict=True)
    ), "the search finds another front for the same state of rng: draw from nothing else, keep no state"


def _check_interruption(search: Any, problem: TreeProblem, number: int) -> None:
    """Press Ctrl-C at the first report of something found."""
    pressed = []

    def press(report: Progress) -> None:
        if report.front_size > 0:
            pressed.append(report)
            raise KeyboardInterrupt

    try:
        search.run(problem, np.random.default_rng(number), press)
    except SearchInterrupted as interruption:
        _check_front(interruption.front, problem)
    except KeyboardInterrupt:
        raise AssertionError(
            "Ctrl-C loses what was found: catch KeyboardInterrupt and raise SearchInterrupted(front)"
        ) from None
    else:
        assert not pressed, "the search goes on after Ctrl-C: it must raise SearchInterrupted(front)"


class _Table:
    """A random table with costs."""

    def __init__(self, rng: np.random.Generator) -> None:
        n, self.n_classes = int(rng.integers(10, 60)), int(rng.integers(2, 6))
        columns: dict[str, Any] = {
            "a": rng.integers(0, 8, n) / 2,
            "b": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n).round(1)),
            "c": pd.Categorical.from_codes(rng.integers(-1, 4, n), list("pqrs")),  # type: ignore[call-overload]
            "d": rng.choice(["left", "right"], n),
        }
        self.frame = pd.DataFrame(columns)
        self.y = rng.integers(0, self.n_classes, n)
        self.y[: self.n_classes] = np.arange(self.n_classes)
        matrix = rng.integers(1, 30, (self.n_classes, self.n_classes)) * 1.0
        np.fill_diagonal(matrix, 0)
        self.costs = CostModel(
            matrix,
            tests={
                "a": FeatureTest(float(rng.integers(0, 3)), needs=("draw",)),
                "b": FeatureTest(0.5, needs=("draw",)),
                "c": 0.25,
                "d": 0.0,
            },
            operations={"draw": 0.75},
        )
        weight, cost = rng.integers(1, 5, n) / 2, rng.integers(0, 9, (n, self.n_classes))
        self.weight = weight.astype(np.float64) if rng.random() < 0.5 else None
        self.example_cost = cost.astype(np.float64) if rng.random() < 0.3 else None
        self.split = "subset" if rng.random() < 0.3 else "multiway"

    def dataset(self, columns: list[str] | None = None, rename: NDArray[np.intp] | None = None) -> Dataset:
        """Encode the table; columns may be reordered, class ``k`` renamed to ``rename[k]``."""
        frame = self.frame if columns is None else self.frame[columns]
        schema = FeatureSchema.infer(frame)
        y, costs = self.y, self.example_cost
        if rename is not None:
            y = rename[y]
            costs = None if costs is None else costs[:, np.argsort(rename)]
        return Dataset(schema, schema.encode(frame), y.astype(np.int32), self.n_classes, self.weight, costs)

    def candidates(
        self, columns: list[str] | None = None, rename: NDArray[np.intp] | None = None
    ) -> Candidates:
        """Tabulate the candidates of the root."""
        dataset = self.dataset(columns, rename)
        labels = list(range(self.n_classes))
        if rename is not None:
            labels = np.argsort(rename).tolist()
        model = CostModel(
            np.asarray(self.costs.misclassification)[np.ix_(labels, labels)],
            tests=self.costs.tests,
            operations=self.costs.operations,
        )
        costs = model.bind(dataset.schema.names, list(range(self.n_classes)))
        return candidates_at(dataset, costs, categorical_split=self.split)


def _snapshot(candidates: Candidates) -> list[NDArray[Any]]:
    c = candidates
    return [
        np.array(part)
        for part in (c.class_weight, c.regret, c.gain, c.dmc, c.price, c.split_info, c.feature, c.cut)
    ]


def _check_scores(criterion: Any, table: _Table) -> None:
    candidates = table.candidates()
    before = _snapshot(candidates)
    try:
        first = score(criterion, candidates)
    except ValueError as error:
        raise AssertionError(str(error)) from error
    again = score(criterion, candidates)
    assert np.array_equal(first, again), "the criterion gives other scores when it is asked again"
    for old, new in zip(before, _snapshot(candidates), strict=True):
        assert np.array_equal(old, new), "the criterion changes the candidates it is given"


def _check_orders(criterion: Any, table: _Table, rng: np.random.Generator) -> None:
    candidates = table.candidates()
    scores = score(criterion, candidates)
    names = list(table.frame.columns)
    order = [names[i] for i in rng.permutation(len(names))]
    moved = table.candidates(columns=order)
    other = score(criterion, moved)
    for j, name in enumerate(names):
        mine, theirs = scores[candidates.feature == j], other[moved.feature == order.index(name)]
        assert np.allclose(mine, theirs, rtol=1e-9, atol=1e-9), (
            f"scores of feature {name!r} change when the features stand in another order"
        )
    table.split = "multiway"  # subsets of categories are listed in an order that depends on the classes
    scores = score(criterion, table.candidates())
    renamed = table.candidates(rename=rng.permutation(table.n_classes))
    assert np.allclose(scores, score(criterion, renamed), rtol=1e-9, atol=1e-9), (
        "scores change when the classes stand in another order"
    )


def _check_many_nodes(criterion: Any, table: _Table) -> None:
    dataset = table.dataset()
    costs = table.costs.bind(dataset.schema.names, list(range(table.n_classes)))
    tabulator = Tabulator(dataset, costs, table.split)
    n = dataset.n_samples
    cuts = [0, n // 3, n // 2, n]
    spans = np.array([[a, b, -1] for a, b in pairwise(cuts)])
    class_weight, regret, _ = tabulator.sums(np.ascontiguousarray(spans[:, :2]))
    prices = np.tile([costs.price(j) for j in range(costs.n_features)], (len(spans), 1))
    usable = np.ones(prices.shape, dtype=np.bool_)
    counts = Histograms(tabulator).counts
    together = tabulator.candidates(spans, usable, prices, class_weight, regret, counts)
    alone = [score(criterion, node) for node in together.nodes()]
    assert np.allclose(score(criterion, together), np.concatenate(alone), rtol=1e-9, atol=1e-9), (
        "scores of a node depend on the other nodes in the call: take maxima with Candidates.largest, "
        "or leave many_nodes False"
    )


def _check_copies(criterion: Any) -> None:
    if isinstance(criterion, str):
        return
    candidates = _Table(np.random.default_rng(1)).candidates()
    scores = score(criterion, candidates)
    copied = copy.deepcopy(criterion)
    assert np.array_equal(scores, score(copied, candidates)), "a copy of the criterion scores differently"
    if isinstance(criterion, FunctionType):
        return
    try:
        loaded = pickle.loads(pickle.dumps(criterion))
    except Exception as error:
        raise AssertionError(
            f"the criterion cannot be pickled ({error}): keep no functions or open files in it, and "
            "define its class at the top of a module"
        ) from error
    assert np.array_equal(scores, score(loaded, candidates)), "the criterion scores differently once pickled"
