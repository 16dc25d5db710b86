"""Vectors of sixteen integers do what numpy does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cstree._lanes import LANES
from tests import lanes_kernels as kernels

SIGNED = [np.int32, np.int64]


@pytest.mark.parametrize("dtype", SIGNED)
@pytest.mark.parametrize("seed", range(5))
def test_arithmetic(dtype: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = rng.integers(-1000, 1000, (2, LANES)).astype(dtype)
    out = np.zeros((5, LANES), dtype)
    kernels.arithmetic(a, b, out)
    assert np.array_equal(out, [a + b, a - b, a * b, a & b, a | b])


@pytest.mark.parametrize("dtype", SIGNED)
@pytest.mark.parametrize("seed", range(5))
def test_choices(dtype: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = rng.integers(-5, 5, (2, LANES)).astype(dtype)
    mask = rng.integers(0, 2**16, 1).astype(np.uint16)
    chosen = (int(mask[0]) >> np.arange(LANES) & 1).astype(bool)
    out = np.zeros((4, LANES), dtype)
    kernels.choices(a, b, mask, out)
    assert np.array_equal(out[:3], [np.maximum(a, b), np.where(a >= b, a, -7), np.where(chosen, a, b)])
    assert out[3, 0] == a.max()


@pytest.mark.parametrize("words_type", [np.uint32, np.uint64])
@pytest.mark.parametrize("counts_type", SIGNED)
def test_bits(words_type: Any, counts_type: Any) -> None:
    rng = np.random.default_rng(0)
    width = np.iinfo(words_type).bits
    for _ in range(20):
        words = rng.integers(0, 2**63, LANES, dtype=np.uint64).astype(words_type)
        bit = int(rng.integers(0, width))
        counts, mask = np.zeros(LANES, counts_type), np.zeros(1, np.uint16)
        kernels.bits(words, bit, counts, mask)
        assert counts.tolist() == [int(word).bit_count() for word in words]
        assert int(mask[0]) == sum((int(word) >> bit & 1) << lane for lane, word in enumerate(words))


def test_elements() -> None:
    table = np.arange(5 * 40, dtype=np.int32).reshape(5, 40)
    out = np.zeros(49, np.int32)
    kernels.elements(table, 3, 7, out)
    assert np.array_equal(out[:16], table[3, 7:23])
    assert (out[16:32] == table[3, 7]).all()
    assert (out[32:48] == 10).all()
    assert out[48] == table[3, 7]


def test_arrays_that_are_not_contiguous_are_refused() -> None:
    table = np.zeros((40, 5), np.int32).T
    with pytest.raises(Exception, match="C arrays"):
        kernels.elements(table, 3, 7, np.zeros(49, np.int32))
