"""The pool of stumps: every question, on numbers, categories and missing values, judged as one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cstree.encoding.columns import Columns
from cstree.encoding.dataset import Dataset
from cstree.encoding.schema import FeatureSchema
from cstree.ensemble.stumps import Stump, StumpPool, add_votes
from tests.reference.boosting import plain_side_answers


@st.composite
def tables(draw: st.DrawFn) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """A table of one to four columns; some mostly of one value, which are stored as sparse."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, columns = draw(st.integers(2, 40)), {}
    for j in range(draw(st.integers(1, 4))):
        n_values = draw(st.integers(1, 5))
        codes = rng.integers(0, n_values, n)
        if draw(st.booleans()):
            codes[rng.random(n) < 0.8] = 0
        missing = rng.random(n) < draw(st.sampled_from([0.0, 0.3, 1.0]))
        if draw(st.booleans()):
            values = np.array(list("abcde"), dtype=object)[codes]
            values[missing & (np.arange(n) > 0)] = None
            columns[f"x{j}"] = pd.Series(values, dtype="str")
        else:
            columns[f"x{j}"] = np.where(missing, np.nan, np.array([-1.5, 0.0, 2.0, 2.5, 7.0])[codes])
    n_classes = draw(st.sampled_from([2, 2, 3]))
    y = rng.integers(0, n_classes, n)
    y[:2] = [0, 1]
    weight = rng.random(n) * 10.0 ** rng.integers(-3, 3, n)
    return pd.DataFrame(columns), y, weight / weight.sum()


def pool_of(frame: pd.DataFrame, y: np.ndarray) -> tuple[StumpPool, FeatureSchema]:
    schema = FeatureSchema.infer(frame, max_bins=None)
    n_classes = int(y.max()) + 1
    dataset = Dataset(schema, schema.encode(Columns(frame)), y.astype(np.int32), n_classes)
    return StumpPool(dataset, np.arange(n_classes)), schema


def questions_of(frame: pd.DataFrame, schema: FeatureSchema) -> list[np.ndarray]:
    cells = [[None if pd.isna(v) else v for v in row] for row in frame.to_numpy(dtype=object).tolist()]
    return [np.array(yes) for _, yes in plain_side_answers(cells, [f.kind for f in schema], False)]


@settings(max_examples=40)
@given(tables())
def test_errors_of_all_stumps(table: tuple[pd.DataFrame, np.ndarray, np.ndarray]) -> None:
    frame, y, weight = table
    pool, schema = pool_of(frame, y)
    questions = questions_of(frame, schema)
    assert len(pool.questions) == len(questions)
    if y.max() > 1:
        return
    constants = [np.zeros(len(y), dtype=int), np.ones(len(y), dtype=int)]
    candidates = (
        constants + [yes.astype(int) for yes in questions] + [1 - yes.astype(int) for yes in questions]
    )
    errors = pool.errors(weight)
    assert errors.shape == (2, len(candidates)) == (2, pool.n_candidates)
    for k, answer in enumerate(candidates):
        for c in (0, 1):
            wrong = (answer != y) & (y == c)
            assert errors[c, k] == pytest.approx(weight[wrong].sum(), rel=1e-12, abs=1e-15)
            assert (errors[c, k] == 0) == (not wrong.any())
        chosen = pool.take(k)
        assert np.array_equal(chosen.wrong, answer != y)
        assert np.array_equal(chosen.learner.answer(schema, Columns(frame)), answer)
    assert np.array_equal(pool.best(weight).wrong, candidates[first_least(errors.sum(axis=0))] != y)


def first_least(values: np.ndarray) -> int:
    return int(np.flatnonzero(values <= values.min() + 1e-12)[0])


@settings(max_examples=25)
@given(tables())
def test_best_stump_of_several_classes(table: tuple[pd.DataFrame, np.ndarray, np.ndarray]) -> None:
    frame, y, weight = table
    y = np.where(np.arange(len(y)) == 0, 2, y)
    pool, schema = pool_of(frame, y)
    least = min(weight[y != k].sum() for k in range(3))
    for yes in questions_of(frame, schema):
        for on_no in range(3):
            for on_yes in range(3):
                least = min(least, weight[np.where(yes, on_yes, on_no) != y].sum())
    chosen = pool.best(weight)
    assert weight[chosen.wrong].sum() == pytest.approx(least, rel=1e-9, abs=1e-12)
    assert np.array_equal(chosen.learner.answer(schema, Columns(frame)) != y, chosen.wrong)


def test_words_of_stumps_and_sides_of_missing_values() -> None:
    frame = pd.DataFrame(
        {
            "age": [30.0, 40.0, 50.0, 60.0, 61.0],
            "dose": [1.0, np.nan, 2.0, np.nan, 3.0],
            "pain": pd.Series(["no", "yes", None, "no", "some"], dtype="str"),
        }
    )
    pool, schema = pool_of(frame, np.array([0, 0, 1, 1, 1]))
    stumps = [pool.take(k).learner for k in range(2 + len(pool.questions))]
    assert [str(stump) for stump in stumps] == [
        "always 0",
        "always 1",
        "age > 35: 1, else 0",
        "age > 45: 1, else 0",
        "age > 55: 1, else 0",
        "age > 60.5: 1, else 0",
        "dose > 1.5: 1, else 0",
        "dose > 1.5: 1, else 0",
        "dose > 2.5: 1, else 0",
        "dose > 2.5: 1, else 0",
        "dose is missing: 1, else 0",
        "pain = no: 1, else 0",
        "pain = some: 1, else 0",
        "pain = yes: 1, else 0",
        "pain is missing: 1, else 0",
    ]
    # No age was missing: such a case goes to the heavier side.
    assert [stump.missing_says_yes for stump in stumps[2:6]] == [True, True, False, False]
    unknown = Columns(pd.DataFrame({"age": [np.nan], "dose": [np.nan], "pain": ["never heard"]}))
    said = [int(stump.answer(schema, unknown)[0]) for stump in stumps]
    assert said == [0, 1, 1, 1, 0, 0, 0, 1, 0, 1, 1, 0, 0, 0, 1]


def test_votes_add_up_stump_by_stump() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 3))
    pool, schema = pool_of(pd.DataFrame(X), (X[:, 0] > 0).astype(int))
    stumps = [pool.take(int(k)).learner for k in rng.integers(0, pool.n_candidates, 30)]
    alpha = rng.random(30)
    votes = np.array(
        [
            [
                [a * (2 * s.answers[0] - 1), a * (2 * s.answers[1] - 1)]
                for a, s in zip(alpha, stumps, strict=True)
            ]
        ]
    )
    for table in (X, np.asfortranarray(X), pd.DataFrame(X)):
        scores = np.zeros((1, len(X)))
        add_votes(stumps, votes, schema, Columns(table), scores)
        expected = np.zeros(len(X))
        for a, stump in zip(alpha, stumps, strict=True):
            expected += a * (2 * stump.answer(schema, Columns(table)) - 1)
        assert np.array_equal(scores[0], expected)


def test_bins_limit_the_questions() -> None:
    X = np.random.default_rng(0).normal(size=(500, 2))
    for max_bins, n in ((None, 998), (10, 18)):
        schema = FeatureSchema.infer(X, max_bins=max_bins)
        pool = StumpPool(Dataset(schema, schema.encode(X), (X[:, 0] > 0).astype(np.int32), 2), np.arange(2))
        assert len(pool.questions) == n
        assert pool.n_candidates == 2 + 2 * n


def test_stumps_are_values() -> None:
    settings: dict[str, Any] = {"category": None, "is_categorical": False, "missing_says_yes": False}
    one = Stump(0, "x0", 1.0, answers=(0, 1), labels=(0, 1), **settings)
    assert one == Stump(0, "x0", 1.0, answers=(0, 1), labels=(0, 1), **settings)
    assert len({one, one}) == 1
