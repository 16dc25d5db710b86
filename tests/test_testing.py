"""The checks for people who extend the package catch what they are for."""

from __future__ import annotations

import numpy as np
import pytest

from cstree.greedy.criteria import Criterion
from cstree.testing import check_criterion


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
