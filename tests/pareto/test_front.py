"""What a front keeps, in which order, and what it says about itself."""

from __future__ import annotations

import copy
import doctest
import pickle
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cstree.pareto import front as front_module
from cstree.pareto.front import Front
from tests.reference import pareto as reference

ANY_TIME = settings(deadline=None, max_examples=150)


@dataclass(frozen=True)
class Grown:
    """As much of a tree as a front looks at."""

    name: str
    n_nodes: int
    depth: int = 0
    features: tuple[int, ...] = ()

    @property
    def n_leaves(self) -> int:
        return (self.n_nodes + 1) // 2

    def used_features(self) -> list[int]:
        return sorted(set(self.features))


@pytest.fixture
def front() -> Front[str]:
    """Three points, two more dominated and one repeated."""
    return Front(
        [[3, 0], [1, 4], [2, 5], [2, 1], [3, 1], [2, 1]],
        ["leaf", "deep", "poor", "stump", "worse", "again"],
        info={"evaluations": 7},
    )


# ---------------------------------------------------------------- what it keeps


def test_keeps_the_nondominated_sorted_by_the_first_objective(front):
    assert list(front) == ["deep", "stump", "leaf"]
    assert front.trees == ("deep", "stump", "leaf")
    assert front.objectives.tolist() == [[1, 4], [2, 1], [3, 0]]
    assert front.objectives.dtype == np.float64
    assert (front.objective_names, front.complete) == (("misclassification_cost", "test_cost"), False)
    assert front.info == {"evaluations": 7}


def test_of_equal_points_the_smallest_tree_stays_then_the_first():
    trees = [Grown("big", 9), Grown("small", 3), Grown("as small", 3), Grown("worse", 1)]
    assert [tree.name for tree in Front([[1, 1], [1, 1], [1, 1], [1, 2]], trees)] == ["small"]
    assert list(Front([[1, 1], [1, 1]], ["first", "second"])) == ["first"]
    assert list(Front([[1, 1], [1, 1]], ["says no size", trees[0]])) == [trees[0]]


def test_numbers_are_compared_exactly():
    assert len(Front([[0.3, 1.0], [0.1 + 0.2, 0.9]], "ab")) == 2
    assert list(Front([[0.1 + 0.2, 1.0], [0.3, 1.0]], "ab")) == ["b"]
    assert list(Front([[0.0, 1.0], [-0.0, 1.0]], "ab")) == ["a"]


def test_three_objectives_sort_by_the_first_then_the_others():
    names = ("misclassification_cost", "test_cost", "n_nodes")
    front = Front([[1, 3, 2], [1, 2, 3], [0, 9, 9], [1, 3, 3], [1, 3, 1]], "abcde", objective_names=names)
    assert list(front) == ["c", "b", "e"]
    assert front.objective_names == names


@ANY_TIME
@given(
    st.integers(1, 3).flatmap(
        lambda m: st.lists(
            st.tuples(st.lists(st.integers(0, 4), min_size=m, max_size=m), st.integers(1, 3)),
            min_size=1,
            max_size=30,
        )
    ),
    st.randoms(use_true_random=False),
)
def test_keeps_what_the_plain_twin_keeps_in_any_order(cases, random):
    points, sizes = [point for point, _ in cases], [size for _, size in cases]
    names = [f"objective {j}" for j in range(len(points[0]))]
    trees = [Grown(str(i), size) for i, size in enumerate(sizes)]
    front = Front(points, trees, objective_names=names)
    assert [int(tree.name) for tree in front] == reference.front_indices(points, sizes)

    order = random.sample(range(len(points)), len(points))
    again = Front([points[i] for i in order], [trees[i] for i in order], objective_names=names)
    np.testing.assert_array_equal(again.objectives, front.objectives)
    assert [tree.n_nodes for tree in again] == [tree.n_nodes for tree in front]


@pytest.mark.parametrize(
    "objectives",
    [
        np.array([[3, 0], [1, 4]], dtype=np.int64),
        np.asfortranarray([[3.0, 0.0], [1.0, 4.0]]),
        pd.DataFrame({"f1": [3, 1], "f2": [0.0, 4.0]}),
        pd.DataFrame({"f1": [3, 1], "f2": [0, 4]}, dtype="Int64"),
        ((3, 0), (1, 4)),
    ],
    ids=["integers", "fortran", "frame", "nullable frame", "tuples"],
)
def test_takes_any_array_of_numbers(objectives):
    assert Front(objectives, iter("ab")).objectives.tolist() == [[1, 4], [3, 0]]


# ---------------------------------------------------------------- a sequence that stays as it is


def test_is_a_sequence_of_trees(front):
    assert len(front) == 3
    assert (front[0], front[-1], front[np.int64(1)], front[1:]) == (
        "deep",
        "leaf",
        "stump",
        ("stump", "leaf"),
    )
    assert "stump" in front and front.index("leaf") == 2
    with pytest.raises(IndexError, match="index 3 is not on the front, which has 3 points"):
        front[3]


def test_cannot_be_changed(front):
    with pytest.raises(ValueError, match="read-only"):
        front.objectives[0, 0] = 5
    with pytest.raises(TypeError):
        front.info["evaluations"] = 8
    for name in ("objectives", "trees", "objective_names", "complete", "info"):
        with pytest.raises(AttributeError):
            setattr(front, name, None)


def test_does_not_share_what_it_was_given():
    objectives, info = np.array([[1.0, 2.0]]), {"seconds": 1}
    front = Front(objectives, ["leaf"], info=info)
    objectives[0, 0], info["seconds"] = 9, 9
    assert front.objectives[0, 0] == 1 and front.info["seconds"] == 1
    assert objectives.flags.writeable


@pytest.mark.parametrize("copied", [lambda f: pickle.loads(pickle.dumps(f)), copy.deepcopy, copy.copy])
def test_copies_are_equal_and_read_only(front, copied):
    again = copied(Front(front.objectives, front.trees, complete=True, info={"seed": 3}))
    np.testing.assert_array_equal(again.objectives, front.objectives)
    assert (again.trees, again.complete, again.info) == (front.trees, True, {"seed": 3})
    assert again.objective_names == front.objective_names
    assert not again.objectives.flags.writeable


def test_repr_says_size_ranges_and_completeness(front):
    assert repr(front) == "Front(3 points, misclassification_cost 1 to 3, test_cost 0 to 4)"
    single = Front([[2.5, 0]], ["leaf"], complete=True)
    assert repr(single) == "Front(1 point, misclassification_cost 2.5, test_cost 0, complete)"


# ---------------------------------------------------------------- hypervolume and table


def test_hypervolume_below_a_reference_and_below_its_own_corner(front):
    assert front.hypervolume([5, 5]) == 4 + 9 + 2
    assert front.hypervolume() == front.hypervolume((3, 4)) == 3  # the extremes add nothing
    assert Front([[1, 1]], ["leaf"]).hypervolume() == 0


def test_hypervolume_of_three_objectives():
    front = Front([[0, 1, 1], [1, 0, 1], [1, 1, 0]], "abc", objective_names=("x", "y", "z"))
    assert front.hypervolume([2, 2, 2]) == 4


@pytest.mark.parametrize(
    ("corner", "error", "message"),
    [
        (
            [1, 2, 3],
            ValueError,
            r"one number for each of misclassification_cost, test_cost; got shape \(3,\)",
        ),
        (4.0, ValueError, r"got shape \(\)"),
        ([[1, 2]], ValueError, r"got shape \(1, 2\)"),
        ([1, np.inf], ValueError, r"must be finite, got \[1.0, inf\]"),
        ([np.nan, 1], ValueError, "must be finite"),
        (["high", "low"], TypeError, "the reference point must be numbers"),
    ],
)
def test_hypervolume_says_what_is_wrong_with_the_reference(front, corner, error, message):
    with pytest.raises(error, match=message):
        front.hypervolume(corner)


def test_table_has_a_row_per_point(front):
    table = front.to_frame()
    assert list(table.columns) == ["misclassification_cost", "test_cost", "total_cost"]
    assert table["total_cost"].tolist() == [5, 3, 3]
    assert (table.index.name, table.index.tolist()) == ("point", [0, 1, 2])


def test_table_tells_of_the_trees_what_they_offer():
    trees = [Grown("deep", 7, depth=3, features=(4, 1, 4)), Grown("leaf", 1)]
    table = Front([[1, 4], [3, 0]], trees).to_frame()
    assert list(table.columns[3:]) == ["n_leaves", "depth", "tests"]
    assert table[["n_leaves", "depth", "tests"]].values.tolist() == [[4, 3, 2], [1, 0, 0]]
    mixed = Front([[1, 4], [3, 0]], [trees[0], "says nothing"]).to_frame()
    assert list(mixed.columns) == ["misclassification_cost", "test_cost", "total_cost"]


def test_table_keeps_an_objective_that_bears_the_name_of_a_column():
    trees = [Grown("deep", 7, depth=3), Grown("leaf", 1)]
    table = Front([[1, 2.5], [3, 0.5]], trees, objective_names=("misclassification_cost", "depth")).to_frame()
    assert list(table.columns) == ["misclassification_cost", "depth", "n_leaves", "tests"]
    assert table["depth"].tolist() == [2.5, 0.5]


def test_table_is_a_copy(front):
    table = front.to_frame()
    table.loc[0, "test_cost"] = 99.0
    assert table.loc[0, "test_cost"] == 99 and front.objectives[0, 1] == 4


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("objectives", "trees", "options", "error", "message"),
    [
        ([1.0, 2.0], "ab", {}, ValueError, r"shape \(points, objectives\), got \(2,\)"),
        (np.empty((2, 0)), "ab", {"objective_names": ()}, ValueError, r"got \(2, 0\)"),
        (np.empty((0, 2)), "", {}, ValueError, "at least one point"),
        ([[1, 2], [3, 4]], "abc", {}, ValueError, "there are 2 points but 3 trees"),
        ([[1, 2], [3]], "ab", {}, ValueError, "objectives must be an array of numbers"),
        (
            [[1, 2], [3, np.nan]],
            "ab",
            {},
            ValueError,
            "'test_cost' of point 1 is nan: objectives must be finite",
        ),
        ([[-np.inf, 2]], "a", {}, ValueError, "'misclassification_cost' of point 0 is -inf"),
        ([["low", "high"]], "a", {}, TypeError, "objectives must be numbers"),
        ([[True, False]], "a", {}, TypeError, "objectives must be numbers, got an array of bool"),
        ([[1 + 2j, 3]], "a", {}, TypeError, "objectives must be numbers"),
        ([[pd.NA, 3]], "a", {}, TypeError, "objectives must be numbers"),
        ([[10**400, 3]], "a", {}, TypeError, "objectives must be numbers"),
        ([[1, 2, 3]], "a", {}, ValueError, "3 columns but there are 2 objective_names"),
        ([[1, 2]], "a", {"objective_names": ("cost", "cost")}, ValueError, "'cost' is there twice"),
        ([[1, 2]], "a", {"objective_names": ("cost", 3)}, TypeError, "non-empty strings, got 3"),
        ([[1, 2]], "a", {"objective_names": "ab"}, TypeError, "got the string 'ab'"),
    ],
)
def test_says_what_is_wrong(objectives, trees, options, error, message):
    with pytest.raises(error, match=message):
        Front(objectives, trees, **options)


def test_examples_in_the_documentation_are_true():
    results = doctest.testmod(front_module)
    assert results.attempted >= 4 and results.failed == 0
