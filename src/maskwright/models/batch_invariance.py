"""A probe for batch invariance: has a row the same bits whatever rows are computed beside it?

The engine pads the rows of a step, and attention reads tiles of fixed shape (`kernels.reference`).
That suffices where a library orders the sums of a product independently of the number of rows.
Whether it does depends on library, processor, data type, number of threads and shape. So it is
tried, with the model's own weights, in the thread that will compute them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import torch
import torch.nn.functional as F
from torch import Tensor

from maskwright.kernels.kv_pool import KvPool
from maskwright.kernels.reference import (
    ROW_MULTIPLE,
    TILE,
    Span,
    pad_rows,
    paged_attention,
    plan_attention,
)
from maskwright.models.library_operations import AttentionShape, LibraryOperations, Product

ROWS: Final = (8, 12, 16, 20, 28, 64, 100, 256, 512)
"""Numbers of rows that are compared with the least one, `ROW_MULTIPLE`: few rows of every remainder
that kernels of 8 and 16 rows leave, and many."""

DIFFERENT_ROWS: Final = 2 * ROW_MULTIPLE
"""Rows that are computed in every number and place."""

WORK: Final = 1 << 25
"""Multiplications of one product. Of a wider one the first outputs alone are computed, so that a
model of billions of weights takes a few tenths of a second and not minutes."""

POSITIONS: Final = TILE + 9
"""Of the sequence whose attention is computed: a tile of keys and a part of another."""

COMPARED: Final = (0, 5, TILE - 1, TILE, POSITIONS - 1)
"""Positions whose attention is computed alone, and then beside others."""

CHUNKS: Final = (9, 24, POSITIONS)
"""Numbers of queries of one sequence that are computed together, as of a prompt."""


@dataclass(frozen=True, slots=True)
class BatchInvariance:
    """What the probe found. `violation` names the first operation whose bits depend on the rows
    beside a row; it is empty where none was found."""

    violation: str = ""

    @property
    def holds(self) -> bool:
        """Whether logits have the same bits under any schedule."""
        return not self.violation


@torch.inference_mode()
def probe_batch_invariance(
    operations: LibraryOperations, most_rows: int = ROWS[-1]
) -> BatchInvariance:
    """Try all `operations` with up to `most_rows` rows, in the calling thread and with its number
    of threads."""
    if operations.routed:
        return BatchInvariance("experts, which compute as many rows as tokens chose them")
    generator = torch.Generator().manual_seed(0)
    counts = sorted({*(rows for rows in ROWS if rows <= most_rows), pad_rows(most_rows)})
    for product in operations.products:
        rows = _first_violation(product, counts, generator)
        if rows is not None:
            outputs, inputs = product.weight.shape
            return BatchInvariance(
                f"the product of {inputs} inputs and {outputs} outputs in {product.weight.dtype}, "
                f"which has other bits among {rows} rows than among {ROW_MULTIPLE}"
            )
    for shape in operations.attention:
        if not _attends_alike(shape, generator):
            return BatchInvariance(
                f"attention of {shape.group} query heads to each of {shape.kv_heads} "
                f"with {shape.width} numbers in {shape.dtype}"
            )
    return BatchInvariance()


def _first_violation(
    product: Product, counts: Sequence[int], generator: torch.Generator
) -> int | None:
    """The first number of rows among which some row has other bits than among the fewest. The rows
    are copies of a few different ones in a random order: each comes in many places, beside many."""
    inputs = product.weight.shape[1]
    x = _normal(generator, DIFFERENT_ROWS, inputs).to(product.weight.dtype)
    outputs = 0
    few = x
    for rows in counts:
        weight, bias = _within_work(product, rows)
        if len(weight) != outputs:
            outputs = len(weight)
            few = torch.cat([F.linear(part, weight, bias) for part in x.split(ROW_MULTIPLE)])
        chosen = torch.randint(DIFFERENT_ROWS, (rows,), generator=generator)
        if not torch.equal(F.linear(x[chosen], weight, bias), few[chosen]):
            return rows
    return None


def _within_work(product: Product, rows: int) -> tuple[Tensor, Tensor | None]:
    """Weight and bias of so many outputs that `rows` rows take at most `WORK`."""
    most = max(ROW_MULTIPLE, WORK // (rows * product.weight.shape[1]))
    return product.weight[:most], None if product.bias is None else product.bias[:most]


def _attends_alike(shape: AttentionShape, generator: torch.Generator) -> bool:
    """Compute the attention of one sequence's queries each alone, then beside others: as decodes,
    and in chunks."""
    blocks = -(-POSITIONS // TILE)
    pool = KvPool(
        _normal(generator, blocks + 1, 1, 2, TILE, shape.kv_heads, shape.width).to(shape.dtype)
    )
    table = range(1, blocks + 1)
    heads = shape.kv_heads * shape.group
    query = _normal(generator, POSITIONS, heads, shape.width).to(shape.dtype)
    compared = torch.tensor(COMPARED)

    def attend(rows: Tensor, spans: Sequence[Span]) -> Tensor:
        plan = plan_attention(spans, TILE)
        return paged_attention(query[rows], pool, 0, plan, scale=shape.width**-0.5, window=None)

    alone = torch.cat([attend(row[None], [Span(0, int(row), 1, table)]) for row in compared])
    decoded = [Span(number, row, 1, table) for number, row in enumerate(COMPARED)]
    if not torch.equal(attend(compared, decoded), alone):
        return False
    everything = torch.arange(POSITIONS)
    return all(
        torch.equal(attend(everything, list(_chunks(count, table)))[compared], alone)
        for count in CHUNKS
    )


def _chunks(count: int, table: Sequence[int]) -> Iterator[Span]:
    """All positions, as spans of `count` queries; the last may have fewer."""
    for start in range(0, POSITIONS, count):
        yield Span(start, start, min(count, POSITIONS - start), table)


def _normal(generator: torch.Generator, *shape: int) -> Tensor:
    return torch.randn(*shape, generator=generator)
