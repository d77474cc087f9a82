"""What of a decoder's forward is left to a library, which chooses the order of its sums."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True)
class Product:
    """`x @ weight.T + bias`: `weight` `[outputs, inputs]` with the strides that it is computed
    with, `bias` `[outputs]` or None."""

    weight: Tensor
    bias: Tensor | None = None


@dataclass(frozen=True, slots=True)
class AttentionShape:
    """The products of `kernels.reference.paged_attention`: heads of keys and values in the pool,
    query heads that share each of them, and their width."""

    kv_heads: int
    group: int
    width: int
    dtype: torch.dtype


@dataclass(frozen=True, slots=True)
class LibraryOperations:
    """Products and attention, one of each shape. `routed`: experts compute as many rows as tokens
    chose them, so that no padding fixes the number of rows. Empty where all is computed in compiled
    operations, whose sums have one order by what is written down."""

    products: tuple[Product, ...] = ()
    attention: tuple[AttentionShape, ...] = ()
    routed: bool = False


def one_of_each_shape(products: list[Product]) -> tuple[Product, ...]:
    """The first of those whose weights have one shape and layout, with or without a bias."""
    found: dict[tuple[object, ...], Product] = {}
    for product in products:
        weight = product.weight
        key = (weight.shape, weight.stride(), weight.dtype, product.bias is None)
        found.setdefault(key, product)
    return tuple(found.values())
