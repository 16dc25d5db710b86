"""Sixteen integers at a time: a vector type for kernels, on top of the compiler's own.

Loops that a compiler may or may not turn into vector instructions are written with :func:`load`,
arithmetic on :class:`Lanes` and :func:`store` instead, and always become such instructions, as wide as
the processor has them. Lanes live in registers only; they are neither passed to kernels nor returned.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.datamodel import models
from numba.core.extending import intrinsic, lower_builtin, register_model
from numba.core.typing.templates import AbstractTemplate, infer_global, signature

__all__ = [
    "LANES",
    "blend",
    "broadcast",
    "convert",
    "largest",
    "load",
    "maximum",
    "natural",
    "ones_at",
    "popcount_lanes",
    "spread",
    "store",
    "where_at_least",
]

LANES = 16


class Lanes(types.Type):
    """Numba type of sixteen integers of one dtype."""

    def __init__(self, dtype: types.Integer) -> None:
        self.dtype = dtype
        super().__init__(name=f"Lanes({dtype})")


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):
    """One vector register (or as many as the processor needs)."""

    def __init__(self, manager: Any, lanes: Lanes) -> None:
        super().__init__(manager, lanes, ir.VectorType(ir.IntType(lanes.dtype.bitwidth), LANES))


def _pointer(context: Any, builder: Any, array_type: Any, array: Any, index_types: Any, indices: Any) -> Any:
    """Address of an element, as a pointer to a vector that starts there."""
    array = context.make_array(array_type)(context, builder, array)
    indices = [
        context.cast(builder, index, index_type, types.intp)
        for index, index_type in zip(indices, index_types, strict=True)
    ]
    address = cgutils.get_item_pointer(
        context, builder, array_type, array, indices, wraparound=False, boundscheck=False
    )
    vector = ir.VectorType(ir.IntType(array_type.dtype.bitwidth), LANES)
    return builder.bitcast(address, vector.as_pointer())


def _require_array(array: Any, indices: Any) -> None:
    if not (isinstance(array, types.Array) and array.layout == "C" and array.ndim == len(indices)):
        raise TypeError(f"lanes are read from C arrays with one index per dimension, not {array}[{indices}]")


@intrinsic
def load(_context, array, indices):  # type: ignore[no-untyped-def]
    """Sixteen neighbours of a C array of integers, from ``array[indices]`` on."""
    _require_array(array, indices)

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        unpacked = cgutils.unpack_tuple(builder, arguments[1])
        pointer = _pointer(context, builder, signature.args[0], arguments[0], signature.args[1], unpacked)
        return builder.load(pointer, align=array.dtype.bitwidth // 8)

    return Lanes(array.dtype)(array, indices), generate


@intrinsic
def store(_context, array, indices, lanes):  # type: ignore[no-untyped-def]
    """Write sixteen integers to a C array, from ``array[indices]`` on."""
    _require_array(array, indices)
    if not (isinstance(lanes, Lanes) and lanes.dtype.bitwidth == array.dtype.bitwidth):
        raise TypeError(f"{lanes} can't be stored in {array}")

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        unpacked = cgutils.unpack_tuple(builder, arguments[1])
        pointer = _pointer(context, builder, signature.args[0], arguments[0], signature.args[1], unpacked)
        builder.store(arguments[2], pointer, align=array.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(array, indices, lanes), generate


def _splat(builder: Any, value: Any) -> Any:
    vector = ir.VectorType(value.type, LANES)
    lane = builder.insert_element(ir.Constant(vector, ir.Undefined), value, ir.Constant(ir.IntType(32), 0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    return builder.shuffle_vector(lane, ir.Constant(vector, ir.Undefined), zeros)


@intrinsic
def spread(_context, value, array):  # type: ignore[no-untyped-def]
    """Repeat an integer sixteen times, in the dtype of ``array``."""
    if not isinstance(array, types.Array):
        raise TypeError("spread wants an array whose dtype the lanes get")

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        return _splat(builder, context.cast(builder, arguments[0], signature.args[0], array.dtype))

    return Lanes(array.dtype)(value, array), generate


@intrinsic
def broadcast(_context, array, indices):  # type: ignore[no-untyped-def]
    """Repeat one element of a C array sixteen times."""
    _require_array(array, indices)

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        unpacked = cgutils.unpack_tuple(builder, arguments[1])
        pointer = _pointer(context, builder, signature.args[0], arguments[0], signature.args[1], unpacked)
        element = builder.bitcast(pointer, ir.IntType(array.dtype.bitwidth).as_pointer())
        return _splat(builder, builder.load(element))

    return Lanes(array.dtype)(array, indices), generate


@intrinsic
def natural(_context, index):  # type: ignore[no-untyped-def]
    """Promise that an index is not negative; the compiler then never counts it from the end."""
    if not isinstance(index, types.Integer):
        raise TypeError(f"natural wants an integer, not {index}")

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        value = context.cast(builder, arguments[0], signature.args[0], types.intp)
        kind = ir.FunctionType(ir.VoidType(), [ir.IntType(1)])
        assume = cgutils.get_or_insert_function(builder.module, kind, "llvm.assume")
        builder.call(assume, [builder.icmp_signed(">=", value, ir.Constant(value.type, 0))])
        return value

    return types.intp(index), generate


@intrinsic
def convert(_context, lanes, array):  # type: ignore[no-untyped-def]
    """Non-negative lanes in the dtype of ``array``."""
    if not isinstance(lanes, Lanes):
        raise TypeError("convert wants lanes")
    wanted = array.dtype.bitwidth

    def generate(_context, builder, _signature, arguments):  # type: ignore[no-untyped-def]
        vector = ir.VectorType(ir.IntType(wanted), LANES)
        if wanted == lanes.dtype.bitwidth:
            return arguments[0]
        return (
            builder.zext(arguments[0], vector)
            if wanted > lanes.dtype.bitwidth
            else builder.trunc(arguments[0], vector)
        )

    return Lanes(array.dtype)(lanes, array), generate


def _call(builder: Any, name: str, *arguments: Any) -> Any:
    vector = arguments[0].type
    kind = ir.FunctionType(vector, [argument.type for argument in arguments])
    bits = vector.element.width
    return builder.call(
        cgutils.get_or_insert_function(builder.module, kind, f"llvm.{name}.v{LANES}i{bits}"), arguments
    )


@intrinsic
def popcount_lanes(_context, lanes):  # type: ignore[no-untyped-def]
    """Count the set bits of each lane."""

    def generate(_context, builder, _signature, arguments):  # type: ignore[no-untyped-def]
        return _call(builder, "ctpop", arguments[0])

    return Lanes(lanes.dtype)(lanes), generate


@intrinsic
def maximum(_context, a, b):  # type: ignore[no-untyped-def]
    """Take the greater of two signed integers, lane by lane."""
    if not (isinstance(a, Lanes) and a == b and a.dtype.signed):
        raise TypeError(f"maximum wants two signed lanes of one kind, not {a} and {b}")

    def generate(_context, builder, _signature, arguments):  # type: ignore[no-untyped-def]
        return _call(builder, "smax", *arguments)

    return a(a, b), generate


@intrinsic
def where_at_least(_context, a, b, yes, no):  # type: ignore[no-untyped-def]
    """``yes`` where ``a >= b`` (signed), else ``no``, lane by lane."""
    if not (isinstance(a, Lanes) and a == b and a.dtype.signed and yes == no):
        raise TypeError(f"where_at_least wants signed lanes of one kind, not {a}, {b}, {yes}, {no}")

    def generate(_context, builder, _signature, arguments):  # type: ignore[no-untyped-def]
        return builder.select(
            builder.icmp_signed(">=", arguments[0], arguments[1]), arguments[2], arguments[3]
        )

    return yes(a, b, yes, no), generate


@intrinsic
def blend(_context, mask, yes, no):  # type: ignore[no-untyped-def]
    """``yes`` in the lanes whose bit is set in a 16-bit ``mask``, else ``no``."""
    if mask != types.uint16 or yes != no:
        raise TypeError(f"blend wants a uint16 mask and lanes of one kind, not {mask}, {yes}, {no}")

    def generate(_context, builder, _signature, arguments):  # type: ignore[no-untyped-def]
        chosen = builder.bitcast(arguments[0], ir.VectorType(ir.IntType(1), LANES))
        return builder.select(chosen, arguments[1], arguments[2])

    return yes(mask, yes, no), generate


@intrinsic
def ones_at(_context, lanes, bit):  # type: ignore[no-untyped-def]
    """16-bit mask of the lanes in which a bit is set."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        place = _splat(builder, context.cast(builder, arguments[1], signature.args[1], lanes.dtype))
        one = _splat(builder, ir.Constant(ir.IntType(lanes.dtype.bitwidth), 1))
        zero = ir.Constant(arguments[0].type, [0] * LANES)
        found = builder.icmp_unsigned("!=", builder.and_(arguments[0], builder.shl(one, place)), zero)
        return builder.bitcast(found, ir.IntType(16))

    return types.uint16(lanes, bit), generate


@intrinsic
def largest(_context, lanes):  # type: ignore[no-untyped-def]
    """Find the greatest of sixteen signed integers."""

    def generate(_context, builder, _signature, arguments):  # type: ignore[no-untyped-def]
        vector = arguments[0].type
        kind = ir.FunctionType(vector.element, [vector])
        name = f"llvm.vector.reduce.smax.v{LANES}i{vector.element.width}"
        return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), arguments)

    return lanes.dtype(lanes), generate


def _give_operator(python_operator: Any, instruction: Callable[[Any, Any, Any], Any]) -> None:
    """Let kernels write ``a + b`` for lanes of one kind."""

    @infer_global(python_operator)
    class _Template(AbstractTemplate):
        def generic(self, arguments: Any, keywords: Any) -> Any:
            if len(arguments) == 2 and isinstance(arguments[0], Lanes) and arguments[0] == arguments[1]:
                return signature(arguments[0], *arguments)
            return None

    @lower_builtin(python_operator, Lanes, Lanes)
    def _lower(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return instruction(builder, *arguments)


for _operator, _instruction in {
    operator.add: lambda builder, a, b: builder.add(a, b),
    operator.sub: lambda builder, a, b: builder.sub(a, b),
    operator.mul: lambda builder, a, b: builder.mul(a, b),
    operator.and_: lambda builder, a, b: builder.and_(a, b),
    operator.or_: lambda builder, a, b: builder.or_(a, b),
}.items():
    _give_operator(_operator, _instruction)
