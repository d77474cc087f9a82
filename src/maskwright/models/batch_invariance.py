"""A probe for batch invariance: do the bits of a row depend on the other rows of a batch?

The engine pads the rows of a step, and attention reads tiles of fixed shape (`kernels.reference`).
This makes a row independent of the others if the library orders the sums of a product independently
of the number of rows. Whether it does so depends on library, processor, data type, number of
threads and shape. Therefore the probe tries the model's own products, in the thread that will
compute them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import torch
import torch.nn.functional as F
from torch import Tensor

from maskwright.immutable import Immutable
from maskwright.kernels.kv_pool import KvPool
from maskwright.kernels.reference import (
    ROW_MULTIPLE,
    TILE,
    Span,
    pad_rows,
    paged_attention,
    plan_attention,
)


class Product(Immutable):
    """The product `x @ weight.T + bias`. `weight`: `[outputs, inputs]`, with the strides that it
    has in the forward; `bias`: `[outputs]`, or None."""

    weight: Tensor
    bias: Tensor | None = None


class AttentionShape(Immutable):
    """The sizes of the products in `kernels.reference.paged_attention`: the key/value heads in the
    pool, the query heads that share one of them (`group`), and the head dimension (`width`)."""

    kv_heads: int
    group: int
    width: int
    dtype: torch.dtype


@dataclass(frozen=True, slots=True)
class LibraryOperations:
    """Products and attention, one of each shape. `routed`: the model has experts, which compute one
    row for each token routed to them, so that padding can't fix the number of rows. Empty if all
    operations are compiled, because their code fixes the order of their sums."""

    products: tuple[Product, ...] = ()
    attention: tuple[AttentionShape, ...] = ()
    routed: bool = False


def one_of_each_shape(products: list[Product]) -> tuple[Product, ...]:
    """Return one product for each combination of shape and layout of the weight, and of whether
    there is a bias."""
    by_shape: dict[tuple[object, ...], Product] = {}
    for product in products:
        weight = product.weight
        key = (weight.shape, weight.stride(), weight.dtype, product.bias is None)
        by_shape.setdefault(key, product)
    return tuple(by_shape.values())


ROWS: Final = (8, 12, 16, 20, 28, 64, 100, 256, 512)
"""Numbers of rows whose results are compared with the results of `ROW_MULTIPLE` rows, the smallest
number: small ones with every remainder modulo 8 and 16 that occurs, and large ones."""

DIFFERENT_ROWS: Final = 2 * ROW_MULTIPLE
"""Distinct rows. Each is computed at many places and among many numbers of rows."""

WORK: Final = 1 << 25
"""Upper bound on the multiplications of one product. Of a larger product only the first outputs are
computed, so that a model of billions of weights takes tenths of a second instead of minutes."""

POSITIONS: Final = TILE + 9
"""Length of the sequence whose attention is computed: one tile of keys and a part of another."""

COMPARED: Final = (0, 5, TILE - 1, TILE, POSITIONS - 1)
"""Positions whose attention is computed alone and then in a batch."""

CHUNKS: Final = (9, 24, POSITIONS)
"""Numbers of queries of one sequence that are computed together, like the chunks of a prompt."""


class BatchInvariance(Immutable):
    """The result of the probe. `violation` names the first operation in which the bits of a row
    depend on the other rows; it is empty if there is none."""

    violation: str = ""

    @property
    def holds(self) -> bool:
        """Whether the bits of logits are independent of the schedule."""
        return not self.violation


@torch.inference_mode()
def probe_batch_invariance(
    operations: LibraryOperations, most_rows: int = ROWS[-1]
) -> BatchInvariance:
    """Try all `operations` with at most `most_rows` rows, in the calling thread and with its
    setting for the number of threads."""
    if operations.routed:
        return BatchInvariance("experts, whose products have one row for each token routed to them")
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
    """Return the first number of rows with which some row has other bits than with the smallest
    number, or None. The rows are copies of a few distinct ones in random order, so that each is
    computed at many places."""
    inputs = product.weight.shape[1]
    x = _normal(generator, DIFFERENT_ROWS, inputs).to(product.weight.dtype)
    outputs = 0
    few = x
    for rows in counts:
        most = max(ROW_MULTIPLE, WORK // (rows * inputs))
        weight = product.weight[:most]
        bias = None if product.bias is None else product.bias[:most]
        if len(weight) != outputs:
            outputs = len(weight)
            few = torch.cat([F.linear(part, weight, bias) for part in x.split(ROW_MULTIPLE)])
        chosen = torch.randint(DIFFERENT_ROWS, (rows,), generator=generator)
        if not torch.equal(F.linear(x[chosen], weight, bias), few[chosen]):
            return rows
    return None


def _attends_alike(shape: AttentionShape, generator: torch.Generator) -> bool:
    """Whether the attention of a sequence's queries has equal bits if each is computed alone, in a
    batch of decodes, and in chunks of a prompt."""
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
    for count in CHUNKS:
        starts = range(0, POSITIONS, count)
        chunks = [Span(at, at, min(count, POSITIONS - at), table) for at in starts]
        if not torch.equal(attend(torch.arange(POSITIONS), chunks)[compared], alone):
            return False
    return True


def _normal(generator: torch.Generator, *shape: int) -> Tensor:
    return torch.randn(*shape, generator=generator)
