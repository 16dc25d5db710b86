"""Weights of classes and cases: against plain twins, and as the theorems say."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cstree.sampling.weights import (
    case_costs,
    class_costs,
    class_weights,
    consistent_weights,
    mistake_costs,
    rebalance_factor,
    undo_weights,
)
from tests.reference import sampling as ref


def random_matrix(rng: np.random.Generator, n_classes: int) -> np.ndarray:
    """Costs 0 to 9, many of them free."""
    matrix = rng.integers(0, 10, (n_classes, n_classes)) * (rng.random((n_classes, n_classes)) < 0.8)
    np.fill_diagonal(matrix, 0)
    return matrix.astype(float)


def consistent_matrix(rng: np.random.Generator, weights: np.ndarray) -> np.ndarray:
    """Costs with ``C[i, j] / C[j, i] = w_i / w_j``."""
    between = rng.uniform(0.5, 4, (len(weights),) * 2)
    between = between + between.T
    np.fill_diagonal(between, 0)
    return weights[:, None] * between


@given(st.integers(2, 6), st.integers(0, 2**32 - 1), st.booleans())
def test_consistent_weights_are_those_of_a_walk_over_the_ratios(k: int, seed: int, sound: bool) -> None:
    rng = np.random.default_rng(seed)
    matrix = consistent_matrix(rng, rng.uniform(1, 20, k)) if sound else random_matrix(rng, k)
    logs = ref.scale_of_classes(matrix.tolist())
    found = consistent_weights(matrix)
    assert (found is None) == (logs is None)
    if found is not None:
        np.testing.assert_allclose(found, np.exp(logs), rtol=1e-8)


def face_costs(n_members: int = 5) -> np.ndarray:
    """Members of a gallery and impostors, who are the last class: 20 : 2 : 1."""
    matrix = np.ones((n_members + 1, n_members + 1))
    matrix[-1], matrix[:, -1] = 20, 2
    np.fill_diagonal(matrix, 0)
    return matrix


def test_face_matrix_of_the_specification() -> None:
    matrix = face_costs()
    np.testing.assert_allclose(consistent_weights(matrix), [1, 1, 1, 1, 1, 10])
    matrix[0, 1] = 1.5
    assert consistent_weights(matrix) is None
    sums = matrix.sum(axis=1)
    np.testing.assert_allclose(class_weights(matrix, range(6)), sums / sums.min())


def test_rescaling_is_the_bayes_rule_where_rows_are_constant_and_not_in_general() -> None:
    proba = np.random.default_rng(0).dirichlet(np.ones(6), 20000)

    def disagreement(matrix: np.ndarray) -> float:
        rescaled = (proba * class_weights(matrix, range(6))).argmax(axis=1)
        return float((rescaled != (proba @ matrix).argmin(axis=1)).mean())

    rows = np.repeat(np.arange(1.0, 7.0)[:, None], 6, axis=1)
    np.fill_diagonal(rows, 0)
    assert disagreement(rows) == 0
    flat = face_costs()
    flat[:-1, -1] = 1
    assert disagreement(flat) == 0
    assert 0.08 < disagreement(face_costs()) < 0.115  # the specification measured 9.7 %


@given(st.integers(2, 5), st.integers(0, 2**32 - 1))
def test_sums_do_not_depend_on_what_right_answers_cost(k: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    matrix = random_matrix(rng, k) + 1 - np.eye(k)
    shifted = matrix + rng.integers(-5, 5, (k, 1))
    y = rng.integers(0, k, 12)
    assert class_costs(matrix, range(k)).tolist() == ref.class_cost(matrix.tolist())
    np.testing.assert_allclose(class_costs(shifted, range(k)), class_costs(matrix, range(k)))
    np.testing.assert_allclose(class_weights(3 * shifted, range(k)), class_weights(matrix, range(k)))
    np.testing.assert_allclose(case_costs(y, shifted), class_costs(matrix, range(k))[y])
    np.testing.assert_allclose(case_costs(y, matrix * 0, shifted[y]), class_costs(matrix, range(k))[y])


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[0, 1], [-1, 0]], "answering 'a' when the truth is 'b' is cheaper than the right answer"),
        ([[0, 0], [1, 0]], "mistakes on class 'a' cost nothing"),
    ],
)
def test_costs_that_no_weight_can_say_are_refused(matrix: list[list[float]], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        class_weights(np.array(matrix, dtype=float), ["a", "b"])


def test_cases_without_costs_are_refused() -> None:
    y = np.array([0, 1])
    with pytest.raises(ValueError, match="wrong answer to case 1 is cheaper"):
        case_costs(y, np.eye(2), np.array([[0.0, 1.0], [0.0, 1.0]]))
    with pytest.raises(ValueError, match="no mistake costs anything"):
        case_costs(y, np.zeros((2, 2)))


@given(st.floats(0.01, 0.99), st.floats(0.01, 0.99), st.floats(0.001, 0.999))
def test_factor_moves_the_threshold(p: float, target: float, base: float) -> None:
    factor = rebalance_factor(target, base)
    after = p / (p + factor * (1 - p))
    if abs(p - target) > 1e-9:
        assert (after >= base) == (p >= target)


@given(st.integers(2, 5), st.integers(0, 2**32 - 1))
def test_weights_are_undone(k: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    proba, weights = rng.dirichlet(np.ones(k), 10), rng.uniform(0.1, 9, k)
    weighted = proba * weights
    np.testing.assert_allclose(undo_weights(weighted / weighted.sum(axis=1, keepdims=True), weights), proba)


def test_mistakes_are_counted_from_the_right_answer() -> None:
    assert mistake_costs(np.array([[2.0, 5.0], [4.0, 1.0]]), ["a", "b"]).tolist() == [[0, 3], [3, 0]]
