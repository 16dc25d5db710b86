"""Kernels that do one thing each with sixteen lanes, for ``test_lanes.py``."""

from cstree._lanes import (
    blend,
    broadcast,
    convert,
    largest,
    load,
    maximum,
    natural,
    ones_at,
    popcount_lanes,
    spread,
    store,
    where_at_least,
)
from cstree._numba import lean_kernel


@lean_kernel
def arithmetic(a, b, out):
    store(out, (0, 0), load(a, (0,)) + load(b, (0,)))
    store(out, (1, 0), load(a, (0,)) - load(b, (0,)))
    store(out, (2, 0), load(a, (0,)) * load(b, (0,)))
    store(out, (3, 0), load(a, (0,)) & load(b, (0,)))
    store(out, (4, 0), load(a, (0,)) | load(b, (0,)))


@lean_kernel
def choices(a, b, mask, out):
    store(out, (0, 0), maximum(load(a, (0,)), load(b, (0,))))
    store(out, (1, 0), where_at_least(load(a, (0,)), load(b, (0,)), load(a, (0,)), spread(-7, a)))
    store(out, (2, 0), blend(mask[0], load(a, (0,)), load(b, (0,))))
    out[3, 0] = largest(load(a, (0,)))


@lean_kernel
def bits(words, bit, counts, mask):
    store(counts, (0,), convert(popcount_lanes(load(words, (0,))), counts))
    mask[0] = ones_at(load(words, (0,)), bit)


@lean_kernel
def elements(table, row, column, out):
    store(out, (0,), load(table, (row, column)))
    store(out, (16,), broadcast(table, (row, column)))
    store(out, (32,), spread(row + column, table))
    out[48] = table[natural(row), natural(column)]
