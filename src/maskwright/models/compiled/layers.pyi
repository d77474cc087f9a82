"""The layers of a small model on a CPU: products, norms, activation, rope and attention.

All stages of all layers are one call, in which the interpreter's lock is free. A call for each
operation would take the lock back after each of them, and wait for it where another thread, such
as that of an event loop, has taken it in the meantime.

**Threads.** The rows of a call are divided into pieces of some 16 rows, and each is taken through
all stages by one thread, which meets no other one on the way: only the first sequence of a piece
may begin in the piece before, whose keys and values are waited for in each layer. The thread that
calls takes pieces too, so it never waits for a thread that hasn't begun. The bits of a row don't
depend on the pieces.

**Products.** A library chooses its kernel, and with it the order of its sums, by the number of
rows, and takes two to four times as long as the multiplications need for fewer than some thirty.
Here weights are packed once, and each number of a result is one sum in order of the inputs, which
does not depend on the other rows.

**Attention.** The reference in torch (`kernels/reference.py`) copies keys and values into tiles
before it multiplies them; for a model of a few million parameters, copying takes half of a step.
Here every query reads the blocks of its sequence in place and computes the scores, their maximum,
the weights and the weighted sum, each in order of position. The bounds of a query's sums depend
neither on other rows nor on how its prompt was divided into chunks, so its bits don't depend on
the schedule. (They differ from the reference's.)

A pool of keys and values is `[blocks, layers, 2, block_size, kv_heads, head_dim]`; `positions`,
`starts` and `tables` come from a `CompiledPlan`. All arrays are contiguous, floats are float32.
Sizes that don't match are not found out.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maskwright.models.runs import Ints

Floats = NDArray[np.float32]

ROWS: Final[int]
"""Rows of a tile; arrays with fewer rows are padded to a multiple of it."""

COLUMNS: Final[int]
"""Columns of a tile, which depend on the processor's registers."""

QKV: Final[int]
ROTATE: Final[int]
ATTEND: Final[int]
OUTPUT: Final[int]
GATE_UP: Final[int]
DOWN: Final[int]
STAGES: Final[int]
"""The number of stages of a layer, which are, in their order: norm and the product for queries,
keys and values; rope; storing and attention; the product of its output; norm and the product for
gate and up; activation and the last product."""

class LayerWeights:
    """The weights of all layers, one layer after another in each array, and what they share.
    Products are packed. What the model doesn't have (biases, norms of queries and keys) is
    `[layers, 0]`."""

    def __init__(
        self,
        *,
        input_norm: Floats,
        qkv: Floats,
        qkv_bias: Floats,
        query_norm: Floats,
        key_norm: Floats,
        output: Floats,
        output_bias: Floats,
        mlp_norm: Floats,
        gate_up: Floats,
        gate_up_bias: Floats,
        down: Floats,
        down_bias: Floats,
        window: Ints,
        cos: Floats,
        sin: Floats,
        eps: float,
        scale: float,
    ) -> None:
        """`window`: positions that a query of the layer sees, 0 for all. `cos`, `sin`:
        `[positions, head_dim]`, the first half of `sin` negated. `eps` of the norms, `scale` of the
        scores."""

    @property
    def nbytes(self) -> int:
        """Bytes of the products."""

def set_threads(threads: int) -> None:
    """Have at most so many threads share the rows of `run_stages` and `multiply`, the calling one
    included: one until this is called, and never more than 16. It holds for the process, whose
    calls are shared one at a time: a call while another one is shared takes its own thread alone.
    Raises `ValueError` if `threads` is less than 1."""

class LayerRows(NamedTuple):
    """What is computed for the rows of one step, float32 `[rows, …]`; padding rows included, of
    which only `mixed` has to be finite at the beginning. `qkv` and `mixed` are views of `qkv_heads`
    and `mixed_heads`, `[rows, heads, head_dim]`."""

    hidden: Floats
    update: Floats
    normed: Floats
    qkv: Floats
    qkv_heads: Floats
    mixed: Floats
    mixed_heads: Floats
    gate_up: Floats
    inner: Floats

def run_stages(
    first: int,
    end: int,
    weights: LayerWeights,
    rows: LayerRows,
    pool: Floats | None,
    positions: Ints,
    starts: Ints,
    tables: Ints,
) -> None:
    """Run the stages from `first` to `end`, counted from the first layer on. `pool` is None where
    codes are kept, and `ATTEND` is not among these stages."""

def pack(weights: Sequence[Floats]) -> Floats:
    """Copy `weights`, each `[outputs, inputs]`, into the order in which `multiply` reads them:
    `[weights, panels, inputs, COLUMNS]`, with zeros after the last output."""

def multiply(x: Floats, packed: Floats, bias: Floats, out: Floats) -> None:
    """Compute `out = x @ weight.T + bias`. `x`: `[rows, inputs]`; `out`: `[rows, outputs]`; `bias`:
    `[outputs]`, or empty. Raises `ValueError` if the number of rows is no multiple of `ROWS`."""

def add_and_norm(
    hidden: Floats, update: Floats, weight: Floats, eps: float, normed: Floats
) -> None:
    """Add `update` to `hidden`, and write the root-mean-square norm of the sum, scaled by `weight`,
    to `normed`. `weight`: `[width]`; the other arrays: `[rows, width]`."""

def silu_multiply(gate_up: Floats, out: Floats) -> None:
    """Write `silu(gate) * up` to `out` `[rows, width]`. `gate_up`: `[rows, 2 * width]`, gate
    first."""

def exp(x: Floats, out: Floats) -> None:
    """Write e to the power of `x` to `out`, both `[count]`, with an error of at most two units in
    the last place; 0 for `x` below -87 and NaN, and the value at 88 above. The weights of attention
    and the activation are computed so."""

def store(
    qkv: Floats, pool: Floats, layer: int, positions: Ints, starts: Ints, tables: Ints
) -> None:
    """Write the keys and values of `qkv` `[rows, heads + 2 * kv_heads, head_dim]` to the pool."""

def attend(
    qkv: Floats,
    pool: Floats,
    layer: int,
    positions: Ints,
    starts: Ints,
    tables: Ints,
    scale: float,
    window: int,
    out: Floats,
) -> None:
    """Compute the causal attention of all rows. `out`: `[rows, heads, head_dim]`, whose padding
    rows are not changed."""

def attend_codes(
    qkv: Floats,
    codes: NDArray[np.uint8],
    scales: Floats,
    levels: Floats,
    layer: int,
    positions: Ints,
    starts: Ints,
    tables: Ints,
    scale: float,
    window: int,
    out: Floats,
) -> None:
    """Do what `attend` does with a pool of codes: each means the number in `levels` `[256]` times
    the scale of its head, `scales` `[blocks, layers, 2, block_size, kv_heads]`."""
