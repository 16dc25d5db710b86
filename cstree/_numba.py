"""The one place that knows how kernels are compiled.

Every hot loop of the package is a plain function decorated with :func:`kernel`
in a file called ``_kernels.py``; nothing else imports numba.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba
from llvmlite import ir
from numba import types
from numba.core.extending import intrinsic

_Function = TypeVar("_Function", bound=Callable[..., Any])

__all__ = ["kernel", "popcount", "trailing_zeros"]


def kernel(function: _Function) -> _Function:
    """Compile ``function`` to machine code, cached on disk and free of the GIL."""
    compiled: _Function = numba.njit(cache=True, nogil=True, error_model="numpy")(function)
    return compiled


@intrinsic
def popcount(_typing_context, word):  # type: ignore[no-untyped-def]
    """Count the bits that are set in a 64-bit word."""

    def generate(_context, builder, _signature, arguments):  # type: ignore[no-untyped-def]
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), generate


@intrinsic
def trailing_zeros(_typing_context, word):  # type: ignore[no-untyped-def]
    """Index of the lowest bit that is set; 64 for an empty word."""

    def generate(_context, builder, _signature, arguments):  # type: ignore[no-untyped-def]
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.uint64), generate
