"""Complete fronts of the sets that the exact peer was measured on, where they are at hand."""

from __future__ import annotations

import numpy as np
import pytest

from cstree.exact.search import ExactSearch
from cstree.tree.search import reference_point
from tests import reference as ref
from tests.exact.plain import PlainFront
from tests.exact.test_search import assert_same, assert_sound, plain_splits

_streed = pytest.importorskip("benchmarks._streed")  # the source archive has no benchmarks
pytestmark = pytest.mark.skipif(not _streed.is_there(), reason="the sets are not beside the repository")


@pytest.mark.parametrize(("name", "depth"), list(_streed.KNOWN_FRONTS))
def test_sizes_and_hypervolumes_are_the_known_ones(name: str, depth: int) -> None:
    problem = _streed.load(name, _streed.LEVELS[name]).problem(depth)
    front = ExactSearch().run(problem)
    reference = reference_point(problem)
    volume = front.hypervolume(reference) / reference.prod()
    assert (len(front), round(volume, 3)) == _streed.KNOWN_FRONTS[name, depth]
    assert_sound(front, problem)


@pytest.mark.parametrize("name", list(_streed.LEVELS))
def test_fronts_of_depth_two_agree_with_the_plain_recursion(name: str) -> None:
    check_against_plain(name, 2)


@pytest.mark.parametrize("name", list(_streed.LEVELS))
def test_fronts_of_depth_three_agree_with_the_plain_recursion(name: str) -> None:
    check_against_plain(name, 3)


def check_against_plain(name: str, depth: int) -> None:
    table = _streed.load(name, _streed.LEVELS[name])
    problem = table.problem(depth)
    twin = PlainFront(
        plain_splits(problem), table.X.tolist(), table.y.tolist(), ref.plain_costs(problem.costs)
    )
    front = ExactSearch().run(problem)
    assert front.complete
    assert not front.info["rounded"]
    assert_same(front, twin.front(depth))
    assert np.all(np.diff(front.objectives[:, 1]) < 0)
