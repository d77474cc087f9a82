"""Sums of products in vector instructions, for compiled loops that the compiler does not vectorise
well by itself.

Arrays of any shape are addressed as flat memory in C order: `at` is an offset in elements from the
beginning, and `stride` the distance in elements between two rows. Nothing is checked.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import binding, ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

_FEATURES = binding.get_host_cpu_features()
LANES = 16 if _FEATURES.get("avx512f") else 8
"""Numbers in a vector."""

ROWS = 4
"""Rows of a tile; arrays with fewer rows are padded."""

COLUMNS = (4 if _FEATURES.get("avx512f") else 3) * LANES
"""Columns of a tile, so many that its sums, one row of factors and one more vector just fit into
the 32 or 16 registers."""

Vectors = tuple[tuple[int, ...], ...]


def in_vectors(width: int) -> Vectors:
    """Return the division of `width` numbers into vectors of one length, `LANES` if it divides
    `width`: a tuple for each vector, with an element for each number. Only the lengths of the
    tuples have a meaning; they are part of the type, and so known when loops are compiled."""
    lanes = math.gcd(width, LANES)
    return ((0,) * lanes,) * (width // lanes)


_FUSED = bool(_FEATURES.get("fma", True))  # not listed for processors that always have it
_FLOAT = ir.FloatType()
_LANES = ir.VectorType(_FLOAT, LANES)
_INDEX = ir.IntType(32)


@intrinsic
def multiply_tile(
    typing: Any, x: Any, x_at: Any, x_stride: Any, y: Any, y_at: Any, y_stride: Any,
    depth: Any, out: Any, out_at: Any, out_stride: Any,
) -> Any:  # fmt: skip
    """Compute `out[r, c]`, the sum of `x[r, k] * y[k, c]` over k from 0 to `depth` in this order,
    for a tile of `ROWS` times `COLUMNS`. `depth` is at least 1."""
    i = types.intp

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        x, x_at, x_stride, y, y_at, y_stride, depth, out, out_at, out_stride = args
        x = _from(context, builder, signature.args[0], x, x_at)
        y = _from(context, builder, signature.args[3], y, y_at)
        out = _from(context, builder, signature.args[7], out, out_at)
        x_rows = [builder.gep(x, [_times(builder, x_stride, r)]) for r in range(ROWS)]
        out_rows = [builder.gep(out, [_times(builder, out_stride, r)]) for r in range(ROWS)]
        begun = [[_zeros(_LANES)] * (COLUMNS // LANES)] * ROWS
        sums = _sums_of_products(builder, x_rows, y, y_stride, depth, begun)
        for row, done in zip(out_rows, sums, strict=True):
            _store_all(builder, row, done)
        return context.get_dummy_value()

    return types.void(x, i, i, y, i, i, i, out, i, i), generate


@intrinsic
def add_row(
    typing: Any, x: Any, x_at: Any, y: Any, y_at: Any, y_stride: Any, depth: Any, out: Any,
    out_at: Any, vectors: Any,
) -> Any:  # fmt: skip
    """Add `x[k] * y[k, c]` to `out[c]` for k from 0 to `depth` in this order, for the columns of
    `vectors`. `depth` is at least 1."""
    i = types.intp

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        x, x_at, y, y_at, y_stride, depth, out, out_at, _ = args
        x = _from(context, builder, signature.args[0], x, x_at)
        y = _from(context, builder, signature.args[2], y, y_at)
        out = _from(context, builder, signature.args[6], out, out_at)
        begun = [_load_all(builder, out, *_vectors(signature.args[8]))]
        _store_all(builder, out, _sums_of_products(builder, [x], y, y_stride, depth, begun)[0])
        return context.get_dummy_value()

    return types.void(x, i, y, i, i, i, out, i, vectors), generate


@intrinsic
def dot_rows(
    typing: Any, x: Any, x_at: Any, y: Any, y_at: Any, y_stride: Any, out: Any, out_at: Any,
    vectors: Any,
) -> Any:  # fmt: skip
    """Compute the dot products `out[r] = x · y[r]` of `ROWS` rows that are as wide as `vectors`:
    one vector of partial sums each, which is then folded in half until one number is left."""
    i = types.intp

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        x, x_at, y, y_at, y_stride, out, out_at, _ = args
        x = _from(context, builder, signature.args[0], x, x_at)
        y = _from(context, builder, signature.args[2], y, y_at)
        out = _from(context, builder, signature.args[5], out, out_at)
        kind, count = _vectors(signature.args[7])
        factors = _load_all(builder, x, kind, count)
        sums: list[Any] = []
        for r in range(ROWS):
            row = builder.gep(y, [_times(builder, y_stride, r)])
            running = _zeros(kind)
            for factor, other in zip(factors, _load_all(builder, row, kind, count), strict=True):
                running = _mul_add(builder, factor, other, running)
            sums.append(running)
        totals = _totals(builder, sums)
        builder.store(totals, builder.bitcast(out, totals.type.as_pointer()), align=4)
        return context.get_dummy_value()

    return types.void(x, i, y, i, i, out, i, vectors), generate


@intrinsic
def largest(typing: Any, x: Any, x_at: Any, count: Any) -> Any:
    """Return the largest of `count` numbers; `count` is a multiple of `LANES`."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        def larger(x: Any, y: Any) -> Any:
            return builder.select(builder.fcmp_ordered(">", x, y), x, y)

        least = float("-inf")
        return _fold(context, builder, signature.args[0], args, least, larger)

    return types.float32(x, types.intp, types.intp), generate


@intrinsic
def total(typing: Any, x: Any, x_at: Any, count: Any) -> Any:
    """Return the sum of `count` numbers; `count` is a multiple of `LANES`. It is computed as one
    vector of partial sums, which is then folded in half until one number is left."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _fold(context, builder, signature.args[0], args, 0.0, builder.fadd)

    return types.float32(x, types.intp, types.intp), generate


@intrinsic
def power_of_two(typing: Any, exponent: Any) -> Any:
    """Return 2 to the power of an int32 from -126 to 127, as float32."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        biased = builder.add(args[0], _INDEX(127))
        return builder.bitcast(builder.shl(biased, _INDEX(23)), _FLOAT)

    return types.float32(types.int32), generate


def _sums_of_products(
    builder: Any,
    x_rows: Sequence[Any],
    y: Any,
    y_stride: Any,
    depth: Any,
    begun: Sequence[Sequence[Any]],
) -> list[list[Any]]:
    """Return the rows of vectors in `begun` with `x[r, k] * y[k]` added for each k."""
    before = builder.block
    loop, after = (builder.append_basic_block(name) for name in ("depth", "done"))
    builder.branch(loop)
    builder.position_at_end(loop)
    k, y_row = builder.phi(depth.type), builder.phi(y.type)
    lanes_type = begun[0][0].type
    running = [[builder.phi(lanes_type) for _ in row] for row in begun]
    others = _load_all(builder, y_row, lanes_type, len(begun[0]))
    sums: list[list[Any]] = []
    for row, old in zip(x_rows, running, strict=True):
        factor = _splat(builder, lanes_type, builder.load(builder.gep(row, [k])))
        sums.append([_mul_add(builder, factor, y, x) for x, y in zip(old, others, strict=True)])
    further = builder.add(k, k.type(1))
    begin = [k.type(0), y, *(lanes for row in begun for lanes in row)]
    again = [further, builder.gep(y_row, [y_stride]), *(lanes for row in sums for lanes in row)]
    phis = [k, y_row, *(lanes for row in running for lanes in row)]
    for phi, first, next_ in zip(phis, begin, again, strict=True):
        phi.add_incoming(first, before)
        phi.add_incoming(next_, loop)
    builder.cbranch(builder.icmp_signed("<", further, depth), loop, after)
    builder.position_at_end(after)
    return sums


def _fold(
    context: Any,
    builder: Any,
    kind: Any,
    args: Any,
    begin: float,
    combine: Callable[[Any, Any], Any],
) -> Any:
    """Combine the numbers of an array to a vector, and then fold it in half until one number is
    left."""
    x, x_at, count = args
    x = _from(context, builder, kind, x, x_at)
    running = cgutils.alloca_once_value(builder, _LANES([begin] * LANES))
    step = count.type(LANES)
    with cgutils.for_range_slice(builder, count.type(0), count, step) as (at, _):
        (lanes,) = _load_all(builder, builder.gep(x, [at]), _LANES, 1)
        builder.store(combine(builder.load(running), lanes), running)
    folded = _totals(builder, [builder.load(running)], combine)
    return builder.extract_element(folded, _INDEX(0))


def _from(context: Any, builder: Any, kind: Any, array: Any, at: Any) -> Any:
    return builder.gep(context.make_array(kind)(context, builder, array).data, [at])


def _times(builder: Any, stride: Any, number: int) -> Any:
    return builder.mul(stride, stride.type(number))


def _vectors(kind: Any) -> tuple[Any, int]:
    """Read the type of a tuple from `in_vectors`: the type of a vector, and the number of
    vectors."""
    return ir.VectorType(_FLOAT, kind.dtype.count), kind.count


def _zeros(kind: Any) -> Any:
    return kind([0.0] * kind.count)


def _load_all(builder: Any, base: Any, kind: Any, count: int) -> list[Any]:
    """Load `count` consecutive vectors of `kind` from `base` on."""
    places = (builder.gep(base, [_INDEX(number * kind.count)]) for number in range(count))
    vectors = (builder.bitcast(place, kind.as_pointer()) for place in places)
    return [builder.load(vector, align=4) for vector in vectors]


def _store_all(builder: Any, base: Any, vectors: Sequence[Any]) -> None:
    for number, lanes in enumerate(vectors):
        place = builder.gep(base, [_INDEX(number * lanes.type.count)])
        builder.store(lanes, builder.bitcast(place, lanes.type.as_pointer()), align=4)


def _splat(builder: Any, kind: Any, number: Any) -> Any:
    nothing = kind(ir.Undefined)
    first = builder.insert_element(nothing, number, _INDEX(0))
    return builder.shuffle_vector(first, nothing, _lane_numbers([0] * kind.count))


def _mul_add(builder: Any, x: Any, y: Any, z: Any) -> Any:
    if not _FUSED:
        return builder.fadd(builder.fmul(x, y), z)
    kind = ir.FunctionType(x.type, [x.type] * 3)
    name = f"llvm.fma.v{x.type.count}f32"
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), [x, y, z])


def _totals(
    builder: Any, vectors: Sequence[Any], combine: Callable[[Any, Any], Any] | None = None
) -> Any:
    """Return one vector with the sum of each of `vectors`, whose number is a power of two. Each is
    folded in half until one number is left. Halves of different vectors share a register once
    they fit, which changes no sum."""
    segment = vectors[0].type.count
    while segment > 1:
        segment //= 2
        folded: list[Any] = []
        for first, second in zip(vectors[::2], vectors[1::2] or vectors[:1], strict=True):
            lanes = first.type.count * min(2, len(vectors))
            low = [at + i for at in range(0, lanes, 2 * segment) for i in range(segment)]
            high = [at + segment for at in low]
            halves = (builder.shuffle_vector(first, second, _lane_numbers(n)) for n in (low, high))
            folded.append((combine or builder.fadd)(*halves))
        vectors = folded
    while len(vectors) > 1:  # The vectors had fewer lanes than there are sums.
        both = _lane_numbers(range(2 * vectors[0].type.count))
        pairs = zip(vectors[::2], vectors[1::2], strict=True)
        vectors = [builder.shuffle_vector(first, second, both) for first, second in pairs]
    return vectors[0]


def _lane_numbers(numbers: Sequence[int]) -> Any:
    return ir.VectorType(_INDEX, len(numbers))(list(numbers))
