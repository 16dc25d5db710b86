"""Criteria by name and by hand."""

from __future__ import annotations

import numpy as np
import pytest

from cstree.costs.model import CostModel
from cstree.encoding.dataset import Dataset
from cstree.encoding.schema import FeatureSchema
from cstree.greedy.criteria import CRITERIA, Criterion, make_criterion, score
from cstree.greedy.grower import candidates_at, grow
from cstree.testing import check_criterion


def two_features(prices: dict[str, float] | None = None) -> tuple[Dataset, object]:
    """``x0`` tells nearly everything, ``x1`` half of it."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    X = np.column_stack([y + 0.3 * rng.normal(size=200), y + rng.normal(size=200)]).round(1)
    schema = FeatureSchema.infer(X)
    dataset = Dataset(schema, schema.encode(X), y.astype(np.int32), 2)
    return dataset, CostModel([[0, 9], [9, 0]], tests=prices or {}).bind(schema.names, [0, 1])


@pytest.mark.parametrize("name", CRITERIA)
def test_criteria_by_name_pass_the_public_check(name):
    check_criterion(name, n_tables=5)
    check_criterion(make_criterion(name, ["a", "b", "c", "d"]), n_tables=3)


def test_a_function_is_a_criterion():
    dataset, costs = two_features()
    mine = grow(dataset, costs, lambda candidates: candidates.gain)
    assert mine.same_as(grow(dataset, costs, "gain"))


def test_a_function_sees_one_node_a_call():
    dataset, costs = two_features()
    sizes = []

    def share_of_gain(candidates):
        sizes.append(candidates.n_nodes)
        return candidates.gain / candidates.gain.max()

    tree = grow(dataset, costs, share_of_gain)
    assert set(sizes) == {1}
    assert len(sizes) > tree.n_leaves // 2


def test_an_object_can_exclude_candidates_and_name_its_stop():
    dataset, costs = two_features()

    class OnlySecond(Criterion):
        stop = "gain"

        def __call__(self, candidates):
            return np.where(candidates.feature == 1, candidates.gain, -np.inf)

    assert grow(dataset, costs, OnlySecond()).used_features() == [1]

    class Nothing(Criterion):
        def __call__(self, candidates):
            return np.full(len(candidates), -np.inf)

    assert grow(dataset, costs, Nothing()).n_nodes == 1

    class Whatever(Criterion):
        stop = "never"

        def __call__(self, candidates):
            return -candidates.gain

    assert grow(dataset, costs, Whatever(), max_depth=2).n_leaves == 4


def test_stops_follow_their_rule():
    dataset, costs = two_features({"x0": 100.0, "x1": 100.0})
    assert grow(dataset, costs, "secsdt_mc").n_nodes == 1
    assert grow(dataset, costs, "cost").n_nodes == 1
    assert grow(dataset, costs, "gain").n_nodes > 1
    assert grow(dataset, costs, "eg2").n_nodes > 1


def test_prices_decide_and_omega_says_how_much():
    dataset, costs = two_features({"x0": 20.0, "x1": 0.01})
    assert grow(dataset, costs, "eg2", max_depth=1).feature[0] == 1
    assert grow(dataset, costs, "eg2", omega=0.0, max_depth=1).feature[0] == 0
    assert grow(dataset, costs, "eg2", omega=[0.0, 1.0], max_depth=1).feature[0] == 0
    assert grow(dataset, costs, "eg2", omega={"x0": 0}, max_depth=1).feature[0] == 0
    assert grow(dataset, costs, "eg2", omega={"x1": 0}, max_depth=1).feature[0] == 1


def test_free_tests_that_gain_come_first():
    dataset, costs = two_features({"x0": 0.001, "x1": 0.0})
    for name in ("cs_id3", "idx"):
        scores = score(make_criterion(name, dataset.schema.names), candidates_at(dataset, costs))
        feature = candidates_at(dataset, costs).feature
        assert (scores[feature == 0] == -np.inf).all()
        assert grow(dataset, costs, name, max_depth=1).feature[0] == 1


@pytest.mark.parametrize(
    ("criterion", "message"),
    [
        (lambda c: np.full(len(c), np.nan), "returned NaN"),
        (lambda c: c.gain[:-1], r"returned scores of shape \(\d+,\) for \d+ candidates"),
        (lambda c: 1.0, r"returned scores of shape \(\) for"),
    ],
)
def test_bad_scores_are_named(criterion, message):
    dataset, costs = two_features()
    with pytest.raises(ValueError, match=message):
        grow(dataset, costs, criterion)


def test_an_unknown_stop_is_named():
    dataset, costs = two_features()

    class Odd(Criterion):
        stop = "soon"

        def __call__(self, candidates):
            return candidates.gain

    with pytest.raises(ValueError, match="criterion stop 'soon' is none of"):
        grow(dataset, costs, Odd())


@pytest.mark.parametrize("wrong", [3, None, Criterion])
def test_what_is_no_criterion_is_refused(wrong):
    dataset, costs = two_features()
    with pytest.raises(TypeError, match="criterion must be a name or a callable"):
        grow(dataset, costs, wrong)
