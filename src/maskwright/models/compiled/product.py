"""Matrix products with weights that were packed once.

A library chooses its kernel, and with it the order of its sums, by the number of rows. With fewer
than some thirty rows it takes two to four times as long as the multiplications need. Here each
number of the result is one sum in order of the inputs, which does not depend on the other rows.
"""

# In compiled code array elements are plain numbers, which numpy's type stubs don't express.
# pyright: reportArgumentType=false, reportCallIssue=false
from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from maskwright.compiled import compiled
from maskwright.models.compiled.tiles import COLUMNS, ROWS, multiply_tile

Floats = NDArray[np.float32]


def pack(weight: Floats) -> Floats:
    """Copy `weight` `[outputs, inputs]` into the order in which `multiply` reads it: `[panels,
    inputs, COLUMNS]`, with zeros after the last output."""
    outputs, inputs = weight.shape
    panels = -(-outputs // COLUMNS)
    padded = np.zeros((panels * COLUMNS, inputs), np.float32)
    padded[:outputs] = weight
    return np.ascontiguousarray(padded.reshape(panels, COLUMNS, inputs).transpose(0, 2, 1))


@compiled(nogil=True)
def multiply(x: Floats, packed: Floats, bias: Floats, out: Floats) -> None:
    """Compute `out = x @ weight.T + bias`. `x`: `[rows, inputs]`; `out`: `[rows, outputs]`; the
    number of rows is a multiple of `ROWS`. `bias`: `[outputs]`, or empty."""
    panels, inputs = packed.shape[:2]
    rows, outputs = out.shape
    edge = np.empty((ROWS, COLUMNS), np.float32)
    for panel in range(panels):
        column = panel * COLUMNS
        weights = panel * inputs * COLUMNS
        wide = min(COLUMNS, outputs - column)
        for row in range(0, rows, ROWS):
            if wide == COLUMNS:
                home = row * outputs + column
                multiply_tile(
                    x, row * inputs, inputs, packed, weights, COLUMNS, inputs, out, home, outputs
                )
            else:
                multiply_tile(
                    x, row * inputs, inputs, packed, weights, COLUMNS, inputs, edge, 0, COLUMNS
                )
                for r in range(ROWS):
                    for c in range(wide):
                        out[row + r, column + c] = edge[r, c]
    if len(bias):
        for row in range(rows):
            for column in range(outputs):
                out[row, column] += bias[column]
