"""Operations on one row after another: norm, activation, exponentials."""

# In compiled code array elements are plain numbers, which numpy's type stubs don't express.
# pyright: reportArgumentType=false, reportReturnType=false, reportCallIssue=false
from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from maskwright.compiled import compiled
from maskwright.models.compiled.tiles import power_of_two

Floats = NDArray[np.float32]

_ONE, _HALF = np.float32(1.0), np.float32(0.5)
_LOG2_E = np.float32(1.4426950408889634)
_LN2_HIGH, _LN2_LOW = np.float32(0.693359375), np.float32(-2.12194440e-4)
_LEAST, _MOST = np.float32(-87.0), np.float32(88.0)
_THIRD, _FOURTH, _FIFTH, _SIXTH, _SEVENTH = (
    np.float32(1.6666665459e-1),
    np.float32(4.1665795894e-2),
    np.float32(8.3334519073e-3),
    np.float32(1.3981999507e-3),
    np.float32(1.9875691500e-4),
)


@compiled(nogil=True)
def exp(x: np.float32) -> np.float32:
    """Return e to the power of `x` with an error of at most two units in the last place; 0 for `x`
    below -87, and the value at 88 above. It has no branches, so the compiler can vectorise it."""
    bounded = min(max(x, _LEAST), _MOST)
    twos = np.floor(bounded * _LOG2_E + _HALF)
    rest = bounded - twos * _LN2_HIGH - twos * _LN2_LOW
    series = _SEVENTH * rest + _SIXTH
    series = series * rest + _FIFTH
    series = series * rest + _FOURTH
    series = series * rest + _THIRD
    series = series * rest + _HALF
    value = (series * rest * rest + rest + _ONE) * power_of_two(np.int32(twos))
    return value if x >= _LEAST else np.float32(0.0)


@compiled(nogil=True)
def add_and_norm(
    hidden: Floats, update: Floats, weight: Floats, eps: np.float32, normed: Floats
) -> None:
    """Add `update` to `hidden`, and write the root-mean-square norm of the sum, scaled by `weight`,
    to `normed`. `weight`: `[width]`; the other arrays: `[rows, width]`."""
    for row in range(len(hidden)):
        for d in range(len(weight)):
            hidden[row, d] += update[row, d]
        norm(hidden[row], weight, eps, normed[row])


@compiled(nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})
def norm(row: Floats, weight: Floats, eps: np.float32, normed: Floats) -> None:
    """Write the root-mean-square norm of one row to `normed`, which may be the row itself."""
    squares = np.float32(0.0)
    for d in range(len(weight)):
        squares += row[d] * row[d]
    factor = _ONE / np.sqrt(squares / np.float32(len(weight)) + eps)
    for d in range(len(weight)):
        normed[d] = row[d] * factor * weight[d]


@compiled(nogil=True, error_model="numpy")
def silu_multiply(gate_up: Floats, out: Floats) -> None:
    """Write `silu(gate) * up` to `out` `[rows, width]`. `gate_up`: `[rows, 2 * width]`, gate
    first."""
    rows, width = out.shape
    for row in range(rows):
        gate, up, mine = gate_up[row, :width], gate_up[row, width:], out[row]
        for d in range(width):
            mine[d] = gate[d] / (_ONE + exp(-gate[d])) * up[d]
