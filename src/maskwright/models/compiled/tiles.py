"""Sums of products over many numbers at once, for compiled loops: the vector instructions that a
compiler does not find by itself.

Arrays of any shape are addressed as the flat memory that they are (C order): `at` is a number of
elements from the beginning, `stride` one from row to row. Nothing is checked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import binding, ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

_FEATURES = binding.get_host_cpu_features()
LANES = 16 if _FEATURES.get("avx512f") else 8
"""Numbers that one instruction takes."""

ROWS = 4
"""Rows of a tile; what has fewer is padded."""

COLUMNS = (4 if _FEATURES.get("avx512f") else 2) * LANES
"""Columns of a tile: as many sums as there are registers for, and half of them left over."""

_FLOAT = ir.FloatType()
_LANES = ir.VectorType(_FLOAT, LANES)
_INDEX = ir.IntType(32)


def _multiply(rows: int, columns: int, *, add: bool) -> Callable[..., None]:
    @intrinsic
    def multiply(
        typing: Any, x: Any, x_at: Any, x_stride: Any, y: Any, y_at: Any, y_stride: Any,
        depth: Any, out: Any, out_at: Any, out_stride: Any,
    ) -> Any:  # fmt: skip
        """`out[r, c] = x[r, k] * y[k, c]`, summed in the order of k from 0 to `depth`, which is 1 or
        more; `add`: to what `out` was before."""
        i = types.intp
        signature = types.void(x, i, i, y, i, i, i, out, i, i)

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            x, x_at, x_stride, y, y_at, y_stride, depth, out, out_at, out_stride = args
            x, y, out = (
                builder.gep(_data(context, builder, signature.args[place], array), [at])
                for place, array, at in ((0, x, x_at), (3, y, y_at), (7, out, out_at))
            )
            x_rows = [builder.gep(x, [_times(builder, x_stride, r)]) for r in range(rows)]
            out_rows = [builder.gep(out, [_times(builder, out_stride, r)]) for r in range(rows)]
            places = [c * LANES for c in range(columns // LANES)]
            zero = _LANES([0.0] * LANES)
            sums = [[_load(builder, row, c) if add else zero for c in places] for row in out_rows]
            before = builder.block
            loop, after = (builder.append_basic_block(name) for name in ("depth", "done"))
            builder.branch(loop)
            builder.position_at_end(loop)
            k, y_row = builder.phi(depth.type), builder.phi(y.type)
            k.add_incoming(depth.type(0), before)
            y_row.add_incoming(y, before)
            running = [[builder.phi(_LANES) for _ in places] for _ in out_rows]
            factors = [_load(builder, y_row, place) for place in places]
            for row, old, begun in zip(x_rows, running, sums, strict=True):
                factor = _splat(builder, builder.load(builder.gep(row, [k])))
                for c, other in enumerate(factors):
                    new = _mul_add(builder, factor, other, old[c])
                    old[c].add_incoming(begun[c], before)
                    old[c].add_incoming(new, loop)
                    begun[c] = new
            further = builder.add(k, k.type(1))
            k.add_incoming(further, loop)
            y_row.add_incoming(builder.gep(y_row, [y_stride]), loop)
            builder.cbranch(builder.icmp_signed("<", further, depth), loop, after)
            builder.position_at_end(after)
            for row, done in zip(out_rows, sums, strict=True):
                for place, lanes in zip(places, done, strict=True):
                    builder.store(lanes, _lanes_at(builder, row, place), align=4)
            return context.get_dummy_value()

        return signature, generate

    return multiply


multiply_tile = _multiply(ROWS, COLUMNS, add=False)
"""A tile of `ROWS` times `COLUMNS`."""

add_row = _multiply(1, LANES, add=True)
"""One row, of `LANES` columns, on top of what was there."""


@intrinsic
def dot_rows(
    typing: Any, x: Any, x_at: Any, y: Any, y_at: Any, y_stride: Any, depth: Any, out: Any,
    out_at: Any,
) -> Any:  # fmt: skip
    """`out[r] = x · y[r]` for `ROWS` rows; `depth` is a multiple of `LANES`."""
    i = types.intp
    signature = types.void(x, i, y, i, i, i, out, i)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        x, x_at, y, y_at, y_stride, depth, out, out_at = args
        x, y, out = (
            builder.gep(_data(context, builder, signature.args[place], array), [at])
            for place, array, at in ((0, x, x_at), (2, y, y_at), (6, out, out_at))
        )
        y_rows = [builder.gep(y, [_times(builder, y_stride, r)]) for r in range(ROWS)]
        sums = [cgutils.alloca_once_value(builder, _LANES([0.0] * LANES)) for _ in y_rows]
        step = depth.type(LANES)
        with cgutils.for_range_slice(builder, depth.type(0), depth, step) as (k, _):
            factor = _load(builder, builder.gep(x, [k]), 0)
            for row, running in zip(y_rows, sums, strict=True):
                other = _load(builder, builder.gep(row, [k]), 0)
                new = _mul_add(builder, factor, other, builder.load(running))
                builder.store(new, running)
        totals = _totals(builder, [builder.load(running) for running in sums])
        builder.store(totals, builder.bitcast(out, totals.type.as_pointer()), align=4)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def power_of_two(typing: Any, exponent: Any) -> Any:
    """2 to the power of an int32 from -126 to 127, as float32."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        biased = builder.add(args[0], _INDEX(127))
        return builder.bitcast(builder.shl(biased, _INDEX(23)), _FLOAT)

    return types.float32(types.int32), generate


def _data(context: Any, builder: Any, kind: Any, array: Any) -> Any:
    return context.make_array(kind)(context, builder, array).data


def _times(builder: Any, stride: Any, number: int) -> Any:
    return builder.mul(stride, stride.type(number))


def _lanes_at(builder: Any, base: Any, place: int) -> Any:
    return builder.bitcast(builder.gep(base, [_INDEX(place)]), _LANES.as_pointer())


def _load(builder: Any, base: Any, place: int) -> Any:
    return builder.load(_lanes_at(builder, base, place), align=4)


def _splat(builder: Any, number: Any) -> Any:
    nothing = _LANES(ir.Undefined)
    first = builder.insert_element(nothing, number, _INDEX(0))
    return builder.shuffle_vector(first, nothing, _lane_numbers([0] * LANES))


def _mul_add(builder: Any, x: Any, y: Any, z: Any) -> Any:
    kind = ir.FunctionType(_LANES, [_LANES] * 3)
    name = f"llvm.fma.v{LANES}f32"
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), [x, y, z])


def _totals(builder: Any, vectors: Sequence[Any]) -> Any:
    """A vector of the sums of `vectors`, a power of two of them: each is folded in half until one
    number is left, in neighbours' registers as room becomes free, which changes no sum."""
    segment = LANES
    while segment > 1:
        segment //= 2
        folded: list[Any] = []
        for first, second in zip(vectors[::2], vectors[1::2] or vectors[:1], strict=True):
            lanes = first.type.count * min(2, len(vectors))
            low = [at + i for at in range(0, lanes, 2 * segment) for i in range(segment)]
            high = [at + segment for at in low]
            halves = (builder.shuffle_vector(first, second, _lane_numbers(n)) for n in (low, high))
            folded.append(builder.fadd(*halves))
        vectors = folded
    return vectors[0]


def _lane_numbers(numbers: Sequence[int]) -> Any:
    return ir.VectorType(_INDEX, len(numbers))(list(numbers))
