"""The one place that knows how kernels are compiled.

Every hot loop of the package is a plain function decorated with :func:`kernel`
in a file called ``_kernels.py``; besides these only ``_lanes.py``, vectors for kernels, imports numba.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.extending import intrinsic

_Function = TypeVar("_Function", bound=Callable[..., Any])

__all__ = [
    "compiled_before",
    "inlined_kernel",
    "kernel",
    "lean_kernel",
    "masked_sum",
    "popcount",
    "summing_kernel",
    "trailing_zeros",
    "vector_kernel",
]


_PACKAGE = Path(__file__).resolve().parent
_IMPORT = re.compile(r"^(?:from|import) cstree\.([\w.]+)", re.MULTILINE)


@functools.cache
def _kernel_files(path: Path) -> frozenset[Path]:
    """Find the kernel files that a file of kernels imports, directly or through others; itself included."""
    found = {path}
    for module in _IMPORT.findall(path.read_text(encoding="utf-8")):
        imported = _PACKAGE.joinpath(*module.split(".")).with_suffix(".py")
        if imported.is_file() and (imported.name.endswith("_kernels.py") or imported.parent == _PACKAGE):
            found |= _kernel_files(imported)
    return frozenset(found)


@functools.cache
def _cache_folder(path: Path) -> Path | None:
    """Folder for the machine code of a file, named by what it and the kernels it calls hold.

    numba renews a function when its own file changes, not when a kernel that it calls in another file
    does: after an upgrade old and new machine code would mix. None where no folder can be made.
    """
    digest = hashlib.sha256()
    for file in sorted(_kernel_files(path)):
        digest.update(file.name.encode() + b"\0" + file.read_bytes())
    base = Path(numba.config.CACHE_DIR) if numba.config.CACHE_DIR else _PACKAGE / "__pycache__"
    for candidate in (base, Path.home() / ".cache" / "cstree"):
        folder = candidate / f"kernels-{digest.hexdigest()[:16]}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(folder, os.W_OK):
            return folder
    return None


def _compile_cached(function: Any, **options: Any) -> Any:
    """Compile with numba's cache in the folder of this state of the kernels."""
    folder = _cache_folder(Path(function.__code__.co_filename))
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = "" if folder is None else str(folder)
    try:
        return numba.njit(cache=folder is not None, **options)(function)
    finally:
        numba.config.CACHE_DIR = before


def kernel(function: _Function) -> _Function:
    """Compile ``function`` to machine code, cached on disk and free of the GIL."""
    compiled: _Function = _compile_cached(function, nogil=True, error_model="numpy")
    return compiled


# Taking an array out of a tuple counts a reference, which costs more than most steps of a search;
# kernels that allocate nothing do without the counting (measured: four times the speed).
_UNCOUNTED: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False}


def lean_kernel(function: _Function) -> _Function:
    """Compile a ``function`` that allocates nothing and takes its arrays in tuples, cached on disk."""
    compiled: _Function = _compile_cached(function, **_UNCOUNTED)
    return compiled


def compiled_before(function: Any) -> bool:
    """Whether a kernel's machine code is in memory or in the cache on disk."""
    if function.signatures or function.stats.cache_path is None:
        return bool(function.signatures)
    folder = Path(function.stats.cache_path)
    return any(folder.glob(f"*.{function.py_func.__qualname__}-*.nbc"))


def inlined_kernel(function: _Function) -> _Function:
    """Compile ``function`` into each lean kernel that calls it; it can't be called from Python.

    Handing some thirty arrays to a call that is not inlined costs more than most helpers do.
    """
    compiled: _Function = numba.njit(
        forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, **_UNCOUNTED
    )(function)
    return compiled


def summing_kernel(function: _Function) -> _Function:
    """Compile a lean kernel whose sums may be reordered, so that they fill vector registers.

    The order depends on the processor, not on the data: the same row gives the same sum.
    """
    compiled: _Function = _compile_cached(function, **_UNCOUNTED, fastmath={"reassoc"})
    return compiled


def vector_kernel(function: _Function) -> _Function:
    """Compile an inlined kernel whose numbers are never NaN, so that minima of a row go many at a time."""
    compiled: _Function = numba.njit(
        forceinline=True,
        no_cpython_wrapper=True,
        no_cfunc_wrapper=True,
        fastmath={"nnan", "nsz"},
        **_UNCOUNTED,
    )(function)
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


@intrinsic
def masked_sum(_typing_context, values, row, start, word):  # type: ignore[no-untyped-def]
    """Sum the entries of ``values[row, start : start + 64]`` whose bit is set in ``word``.

    ``values`` is a contiguous int64 matrix. Where the processor has mask registers this is eight
    masked additions; elsewhere the compiler picks its own way to the same integer.
    """
    if not (isinstance(values, types.Array) and values.dtype == types.int64 and values.ndim == 2):
        raise TypeError("masked_sum wants a two-dimensional int64 array")

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        lanes = ir.VectorType(ir.IntType(64), 64)
        columns = builder.extract_value(array.shape, 1)
        offset = builder.add(builder.mul(arguments[1], columns), arguments[2])
        address = builder.bitcast(builder.gep(array.data, [offset]), lanes.as_pointer())
        loaded = builder.load(address, align=8)
        chosen = builder.bitcast(arguments[3], ir.VectorType(ir.IntType(1), 64))
        kept = builder.select(chosen, loaded, ir.Constant(lanes, [0] * 64))
        reduce = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(ir.IntType(64), (lanes,)), "llvm.vector.reduce.add.v64i64"
        )
        return builder.call(reduce, [kept])

    return types.int64(values, types.int64, types.int64, types.uint64), generate
