"""The operations of a forward that a library computes, which chooses the order of their sums."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True)
class Product:
    """The product `x @ weight.T + bias`. `weight`: `[outputs, inputs]`, with the strides that it
    has in the forward; `bias`: `[outputs]`, or None."""

    weight: Tensor
    bias: Tensor | None = None


@dataclass(frozen=True, slots=True)
class AttentionShape:
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
