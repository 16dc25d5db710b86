"""The checks for people who extend the package catch what they are for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from cstree import Front
from cstree.evolution.genetic import NSGA2, SPEA2
from cstree.evolution.nnia import NNIA
from cstree.exact.search import ExactSearch
from cstree.greedy.criteria import Criterion
from cstree.testing import check_criterion, check_search
from cstree.tree.search import Progress, SearchInterrupted, tree_objectives


class ByBranches(Criterion):
    """A sound criterion: fewer branches first, then gain."""

    def __call__(self, candidates):
        return candidates.gain / candidates.n_branches


class Local(Criterion):
    """Takes several nodes but one maximum over all."""

    many_nodes = True

    def __call__(self, candidates):
        return candidates.gain / max(candidates.gain.max(), 1e-9)


class Forgetful(Criterion):
    """Scores otherwise every time."""

    def __init__(self):
        self.calls = 0

    def __call__(self, candidates):
        self.calls += 1
        return candidates.gain * self.calls


class Meddling(Criterion):
    """Writes into what it is given."""

    def __call__(self, candidates):
        gain = candidates.gain
        gain[:] = np.round(gain, 1)
        return gain


class Unpicklable(Criterion):
    """Holds a function that has no name."""

    def __init__(self):
        self.f = lambda candidates: candidates.gain

    def __call__(self, candidates):
        return self.f(candidates)


def favourite(candidates):
    """Likes the first feature."""
    return candidates.gain + (candidates.feature == 0)


def first_class(candidates):
    """Looks at one class only."""
    return candidates.gain * np.repeat(candidates.class_weight[:, 0], len(candidates))


def undefined(candidates):
    """Divides by zero."""
    return np.where(candidates.price > 0, candidates.gain, np.nan)


def test_sound_criteria_pass():
    check_criterion(ByBranches())
    check_criterion(lambda candidates: candidates.gain - candidates.price)


@pytest.mark.parametrize(
    ("criterion", "message"),
    [
        (Local(), "depend on the other nodes in the call"),
        (Forgetful(), "gives other scores when it is asked again"),
        (Meddling(), "changes the candidates it is given"),
        (Unpicklable(), "cannot be pickled"),
        (favourite, "change when the features stand in another order"),
        (first_class, "change when the classes stand in another order"),
        (undefined, "returned NaN"),
    ],
    ids=lambda value: getattr(value, "__name__", type(value).__name__),
)
def test_each_fault_is_named(criterion, message):
    with pytest.raises(AssertionError, match=message):
        check_criterion(criterion)


@pytest.mark.parametrize(
    "search",
    [
        NNIA(generations=3, dominant_size=10),
        NSGA2(generations=2, population_size=10),
        SPEA2(generations=2, population_size=10, objectives=("n_leaves", "misclassification_cost")),
        ExactSearch(),
    ],
    ids=lambda search: type(search).__name__,
)
def test_our_searches_pass(search):
    check_search(search)


class Stumps:
    """A sound search: every tree with one split, and the leaf."""

    names = ("misclassification_cost", "test_cost")

    def run(self, problem, rng, callback=None):
        trees, points = [], []
        try:
            for genes in self.candidates(problem, rng):
                tree = self.labelled(problem, genes)
                trees.append(tree)
                points.append(self.cost(tree, problem))
                if callback is not None:
                    callback(self.progress(len(trees)))
        except KeyboardInterrupt:
            return self.interrupted(trees, points)
        return self.front(trees, points)

    def candidates(self, problem, rng):
        yield np.array([-1], np.int32)
        rows = range(len(problem.candidates)) if problem.max_leaf_nodes > 1 and problem.max_depth > 0 else ()
        for row in rows:
            yield np.array([row, -1, -1], np.int32)

    def labelled(self, problem, test):
        test, mask, _ = problem.prune_and_evaluate(test, np.zeros(len(test), np.uint64))
        return problem.tree(test, mask)

    def cost(self, tree, problem):
        return tree_objectives(tree, problem, self.names)

    def progress(self, count):
        return Progress(count, count, count, float("nan"), 0.0, None)

    def front(self, trees, points):
        return Front(points, trees)

    def interrupted(self, trees, points):
        raise SearchInterrupted(self.front(trees, points))


class Unpruned(Stumps):
    """Keeps branches of single cases."""

    def labelled(self, problem, test):
        return problem.tree(test, np.zeros(len(test), np.uint64))


class Deep(Unpruned):
    """Grows deeper than allowed."""

    def candidates(self, problem, rng):
        row = len(problem.candidates) // 2
        yield np.array([row, *[row + 1, -1, -1], *[row + 2, -1, -1]], np.int32)


class Wide(Unpruned):
    """Grows more leaves than allowed."""

    def candidates(self, problem, rng):
        test = [-1]
        for row in range(min(problem.max_depth, len(problem.candidates))):
            test = [row, *test, *test]
        yield np.array(test, np.int32)


class Unlabelled(Stumps):
    """Returns bare trees."""

    def labelled(self, problem, test):
        test, mask, _ = problem.prune_and_evaluate(test, np.zeros(len(test), np.uint64))
        return replace(problem.tree(test, mask), answer=problem.skeleton(test, mask).answer)


class Flattering(Stumps):
    """Says less than the trees cost."""

    def cost(self, tree, problem):
        return [0.9 * value for value in super().cost(tree, problem)]


class Dice(Stumps):
    """Draws from elsewhere."""

    def __init__(self):
        self.drawn = 0

    def candidates(self, problem, rng):
        self.drawn += 1
        return [*super().candidates(problem, rng)][: self.drawn]


class Talker(Stumps):
    """Reports something else."""

    def progress(self, count):
        return count


class Backwards(Stumps):
    """Reports in the wrong order."""

    def progress(self, count):
        return Progress(count, -count, count, float("nan"), 0.0, None)


class Careless(Stumps):
    """Loses what it found."""

    def interrupted(self, trees, points):
        raise KeyboardInterrupt


class Deaf(Stumps):
    """Does not stop."""

    def interrupted(self, trees, points):
        return self.front(trees, points)


class Listing(Stumps):
    """Returns a list."""

    def front(self, trees, points):
        return trees


class Writer(Stumps):
    """Writes into the problem."""

    def candidates(self, problem, rng):
        problem.arrays.prices[:] = 0.0
        return super().candidates(problem, rng)


class Fussy(Stumps):
    """Refuses what others can do."""

    def candidates(self, problem, rng):
        raise ValueError("only numbers, please")


class Modest(Stumps):
    """Says that it cannot keep a limit on leaves."""

    def candidates(self, problem, rng):
        if problem.max_leaf_nodes < 2**problem.max_depth:
            raise ValueError("max_leaf_nodes could bind; lower max_depth")
        return super().candidates(problem, rng)


def test_sound_searches_pass():
    check_search(Stumps())
    check_search(Modest())
    check_search(Dice(), n_problems=3, repeatable=False)


@pytest.mark.parametrize(
    ("search", "message"),
    [
        (Deep(), "is 2 deep, max_depth"),
        (Wide(), "leaves, max_leaf_nodes is"),
        (Unpruned(), "cases, min_support is"),
        (Unlabelled(), "is not labelled"),
        (Flattering(), "but its tree costs"),
        (Dice(), "another front for the same state"),
        (Talker(), "not a Progress"),
        (Backwards(), "evaluations of the reports goes back"),
        (Careless(), "loses what was found"),
        (Deaf(), "goes on after Ctrl-C"),
        (Listing(), "must return a cstree.Front"),
        (Writer(), "changes the problem"),
        (Fussy(), "refuses a sound problem: only numbers, please"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_each_fault_of_a_search_is_named(search, message):
    with pytest.raises(AssertionError, match=message):
        check_search(search)
