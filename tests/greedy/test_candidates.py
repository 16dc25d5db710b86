"""What is tabulated: the worked numbers, and every candidate counted case by case."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cstree.costs.model import CostModel, FeatureTest
from cstree.encoding.dataset import Dataset
from cstree.encoding.schema import FeatureSchema
from cstree.greedy.alpha import check_alpha, heuristic_alpha
from cstree.greedy.criteria import CRITERIA, make_criterion, score
from cstree.greedy.grower import candidates_at
from tests import reference as ref
from tests.greedy.problems import Encoded, encode
from tests.reference.worked import GOLDEN
from tests.strategies import problems


def golden_dataset() -> tuple[Dataset, CostModel, pd.DataFrame]:
    frame = pd.DataFrame(GOLDEN["data"]["X"])
    schema = FeatureSchema.infer(frame)
    y = pd.Categorical(GOLDEN["data"]["y"], categories=GOLDEN["classes"]).codes.astype(np.int32)
    costs = CostModel(
        GOLDEN["misclassification"],
        classes=GOLDEN["classes"],
        tests={
            name: FeatureTest(price, needs=tuple(GOLDEN["needs"].get(name, ())))
            for name, price in GOLDEN["tests"].items()
        },
        operations=GOLDEN["operations"],
    )
    return Dataset(schema, schema.encode(frame), y, 3), costs, frame


@pytest.mark.parametrize("golden", GOLDEN["nodes"], ids=lambda node: node["path"])
def test_every_worked_number(golden):
    dataset, model, frame = golden_dataset()
    costs = model.bind(dataset.schema.names, GOLDEN["classes"])
    names = list(dataset.schema.names)
    swab, crp = names.index("swab"), names.index("crp")
    rows, paid, used_up = {
        "root": (None, [], []),
        "swab = pos": (
            np.flatnonzero(frame["swab"] == "pos"),
            [s for s, _ in costs.newly_paid(swab)],
            [swab],
        ),
        "crp > 9.5": (np.flatnonzero(frame["crp"] > 9.5), [s for s, _ in costs.newly_paid(crp)], []),
    }[golden["path"]]
    c = candidates_at(dataset, costs, rows, paid=paid, used_up=used_up)
    assert c.regret.tolist() == [golden["label_costs"]]
    assert c.entropy == pytest.approx([golden["entropy"]], abs=1e-11)
    assert c.expected_cost == pytest.approx([golden["expected_cost"]], abs=1e-11)
    assert heuristic_alpha(c.regret) == pytest.approx([golden["alpha"]], abs=1e-11)
    # Cuts are learned on the whole table: at a node several part its cases alike, the lowest stands for all.
    assert len(c) == len(golden["rows"])
    columns = {
        "gain": c.gain,
        "split_info": c.split_info,
        "avg_gain": c.gain / c.n_branches,
        "price": c.price,
        "dmc": c.dmc,
        "test_cost": c.test_cost,
        "cost_red": c.cost_reduction,
        "answer_red": c.answer_reduction - c.test_cost,
    }
    for name in ("mincost", "pm", "eg2", "cs_id3", "idx", "gain_ratio", "secsdt_mc"):
        columns[name] = score(make_criterion(name, names), c)
    free_gain = any(row["price"] == 0 and row["gain"] > 0 for row in golden["rows"])
    for i, row in enumerate(golden["rows"]):
        assert names[c.feature[i]] == row["feature"]
        assert c.n_branches[i] == row["branches"]
        sizes = c.branches(i)[0].sum(axis=1)
        assert sizes.tolist() == row["sizes"]
        if row["cut"] is not None:
            values = frame[row["feature"]].to_numpy()[slice(None) if rows is None else rows]
            cut = dataset.schema[int(c.feature[i])].cuts[c.cut[i]]
            assert (values <= cut).tolist() == (values <= row["cut"]).tolist()
        for name, values in columns.items():
            if name in ("cs_id3", "idx") and free_gain:
                # Among free candidates the larger gain wins, and no priced one can.
                assert values[i] == (pytest.approx(row["gain"], abs=1e-10) if row["price"] == 0 else -np.inf)
                continue
            assert values[i] == pytest.approx(row[name], abs=1e-10), (name, row)


def check_against_reference(problem: Encoded) -> None:
    """Every candidate of the twin that parts the cases in a new way, with all its numbers."""
    data = ref.training(**problem.arguments)
    members = list(range(len(problem.rows)))
    node = data.summary(members)
    known = []
    seen = set()
    for candidate in ref.candidates_at(data, members):
        branches = tuple(ref.branch_of(candidate.split, row) for row in problem.rows)
        if (candidate.split.feature, branches) not in seen:
            seen.add((candidate.split.feature, branches))
            known.append(candidate)
    c = candidates_at(problem.dataset, problem.costs)
    assert c.feature.tolist() == [k.split.feature for k in known]
    assert c.n_branches.tolist() == [len(k.branches) for k in known]
    choice = c.choice(np.arange(len(c)))
    for i, k in enumerate(known):
        assert choice.missing_branch[i] == k.split.missing_branch
        if k.split.kind == "numeric":
            assert problem.dataset.schema[int(c.feature[i])].cuts[c.cut[i]] == k.split.cut
        weight, regret = c.branches(i)
        np.testing.assert_allclose(weight, [b.class_weight for b in k.branches], atol=1e-12)
        np.testing.assert_allclose(regret, [b.regret for b in k.branches], atol=1e-12)
        assert c.price[i] == choice.price[i] == pytest.approx(k.price)
        assert c.gain[i] == pytest.approx(ref.gain(node, k.branches), abs=1e-12)
        assert c.split_info[i] == pytest.approx(ref.split_info(node, k.branches), abs=1e-12)
        assert c.gini_gain[i] == pytest.approx(ref.gini_gain(node, k.branches), abs=1e-12)
        assert c.dmc[i] == pytest.approx(ref.dmc(node, k.branches), abs=1e-9)
        assert c.cost_reduction[i] == pytest.approx(ref.cost_reduction(node, k.branches, k.price), abs=1e-9)
        saved = ref.answer_reduction(node, k.branches, k.price)
        assert c.answer_reduction[i] - c.test_cost[i] == pytest.approx(saved, abs=1e-9)
    for name in CRITERIA if len(c) else ():
        wanted = ref.scores(name, node, known)
        mine = score(make_criterion(name, problem.dataset.schema.names), c)
        if np.inf in wanted:  # the package ranks free gains by gain and excludes all others
            wanted = [
                ref.gain(node, k.branches) if w == np.inf else -np.inf
                for w, k in zip(wanted, known, strict=True)
            ]
        np.testing.assert_allclose(mine, wanted, rtol=1e-9, atol=1e-9)


@given(problems(n_rows=(2, 25)), st.sampled_from([None, 3, 255]))
def test_candidates_are_those_of_the_reference(problem, max_bins):
    check_against_reference(encode(problem.table, problem.costs, max_bins))


@given(problems(n_rows=(6, 25), n_features=(2, 3)))
def test_one_node_is_as_good_as_many(problem):
    encoded = encode(problem.table, problem.costs)
    candidates = candidates_at(encoded.dataset, encoded.costs)
    alone = candidates.node(0)
    for name in ("gain", "dmc", "answer_reduction", "split_info", "gini_gain", "price", "feature", "cut"):
        np.testing.assert_array_equal(getattr(candidates, name), getattr(alone, name))
    for i in range(len(candidates)):
        np.testing.assert_array_equal(candidates.branches(i)[0], alone.branches(i)[0])


def test_maxima_are_taken_per_node():
    dataset, model, _ = golden_dataset()
    candidates = candidates_at(dataset, model.bind(dataset.schema.names, GOLDEN["classes"]))
    assert (candidates.largest(candidates.gain) == candidates.gain.max()).all()
    assert candidates.spread(np.array([2.0])).tolist() == [2.0] * len(candidates)


def test_gains_of_large_counts():
    """Beyond the table of logarithms: 300,000 cases."""
    rng = np.random.default_rng(0)
    x = rng.integers(0, 5, 300_000)
    y = (rng.random(300_000) < 0.2 + 0.1 * x).astype(np.int32)
    schema = FeatureSchema.infer(x.reshape(-1, 1).astype(float))
    dataset = Dataset(schema, schema.encode(x.reshape(-1, 1).astype(float)), y, 2)
    candidates = candidates_at(dataset, CostModel().bind(schema.names, [0, 1]))
    counts = np.array([[np.sum((x == v) & (y == k)) for k in (0, 1)] for v in range(5)], dtype=float)

    def bits(weights: np.ndarray) -> float:
        share = weights / weights.sum()
        return float(-(share * np.log2(share)).sum())

    for i in range(4):
        left, right = counts[: i + 1].sum(axis=0), counts[i + 1 :].sum(axis=0)
        whole = bits(left + right)
        inside = (left.sum() * bits(left) + right.sum() * bits(right)) / len(y)
        assert candidates.gain[i] == pytest.approx(whole - inside, abs=1e-12)


def test_ties_of_counts_are_ties_to_the_last_bit():
    """Two features that part the cases alike but for the names of classes and sides."""
    rng = np.random.default_rng(5)
    for _ in range(50):
        n = int(rng.integers(20, 900))
        x = rng.permutation(n).astype(float)
        y = rng.integers(0, 2, n).astype(np.int32)
        X = np.column_stack([x, -x])
        schema = FeatureSchema.infer(X, max_bins=None)
        costs = CostModel().bind(schema.names, [0, 1])
        candidates = candidates_at(Dataset(schema, schema.encode(X), y, 2), costs)
        flipped = candidates_at(Dataset(schema, schema.encode(X), 1 - y, 2), costs)
        mine, mirrored = candidates.gain[: n - 1], candidates.gain[n - 1 :]
        assert mine.tolist() == mirrored[::-1].tolist()
        assert mine.tolist() == flipped.gain[: n - 1].tolist()


@pytest.mark.parametrize(
    ("regret", "alpha"),
    [
        ([[3.0, 6.0]], 0.5),
        ([[0.0, 6.0]], 0.0),
        ([[0.0, 0.0]], 1.0),
        ([[4.0]], 1.0),
        ([[2.0, 4.0, 8.0]], 0.25),
    ],
)
def test_alpha_is_the_ratio_of_the_cheapest_answer_to_the_dearest(regret, alpha):
    assert heuristic_alpha(np.array(regret)).tolist() == [alpha]


def test_alpha_is_checked():
    assert check_alpha("heuristic") is None
    assert check_alpha(1) == 1.0
    for wrong in ("auto", -0.1, 1.1, True, None, np.nan):
        with pytest.raises(ValueError, match="alpha must be"):
            check_alpha(wrong)
