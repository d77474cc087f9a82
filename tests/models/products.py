"""Matrix products whose bits depend on the number of rows, and comparisons that allow for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from unittest import mock

import torch
from torch import Tensor

from maskwright.kernels.reference import ROW_MULTIPLE
from maskwright.models import Adapter, Decoder, LibraryOperations, Product, probe_batch_invariance

ROUNDING = 1e-4
"""The most that logits computed in two schedules may differ where their bits may, absolutely and of
their size. Sums in another order move them by 1e-6 to 1e-5 here; a mistake, by a tenth and more."""

Compare = Callable[[Tensor, Tensor, str], None]


def comparison(decoder: Decoder, *adapters: Adapter | None, tolerance: float = ROUNDING) -> Compare:
    """`comparison_by` for logits of `decoder` with `adapters`."""
    parts = [part for adapter in adapters if adapter for part in adapter.modules.values()]
    products = [Product(weight) for part in parts for weight in (part.down, part.up)]
    operations = decoder.library_operations
    products = (*operations.products, *products)
    return comparison_by(replace(operations, products=products), tolerance)


def comparison_by(operations: LibraryOperations, tolerance: float = ROUNDING) -> Compare:
    """A function that asserts that two tensors are equal: bit for bit where the probe finds that
    `operations` allows it, else within `tolerance`."""
    equal = probe_batch_invariance(operations).holds

    def compare(mine: Tensor, reference: Tensor, message: str) -> None:
        if equal:
            assert torch.equal(mine, reference), message
        else:
            torch.testing.assert_close(
                mine, reference, atol=tolerance, rtol=tolerance, msg=lambda m: f"{message}: {m}"
            )

    return compare


@contextmanager
def even_products() -> Iterator[None]:
    """Let torch compute products row by row, so that on any processor a row's bits are independent
    of the rows beside it."""

    def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
        rows = [weight @ row for row in x.reshape(-1, x.shape[-1])]
        out = torch.stack(rows).view(*x.shape[:-1], len(weight))
        return out if bias is None else out + bias

    def bmm(a: Tensor, b: Tensor, *, out: Tensor | None = None) -> Tensor:
        rows = torch.stack(
            [torch.stack([y.t() @ row for row in x]) for x, y in zip(a, b, strict=True)]
        )
        return rows if out is None else out.copy_(rows)

    def baddbmm(bias: Tensor, a: Tensor, b: Tensor, *, beta=1, alpha=1, out=None) -> Tensor:
        total = bmm(a, b) * alpha + (bias if beta else 0)
        return total if out is None else out.copy_(total)

    with (
        mock.patch.object(torch.nn.functional, "linear", linear),
        mock.patch.object(torch, "bmm", bmm),
        mock.patch.object(torch, "baddbmm", baddbmm),
    ):
        yield


@contextmanager
def uneven_products(rows: int = ROW_MULTIPLE) -> Iterator[None]:
    """Let torch's products of more than `rows` rows add up the two halves of their inputs one
    after the other, so that their last digits differ from those of fewer rows: what libraries do
    whose kernel depends on the number of rows."""
    with (
        mock.patch.object(torch.nn.functional, "linear", _uneven_linear(rows)),
        mock.patch.object(torch, "addmm", _uneven_addmm(rows)),
        mock.patch.object(torch, "baddbmm", _uneven_baddbmm(rows)),
        mock.patch.object(torch, "bmm", _uneven_bmm(rows)),
    ):
        yield


def _uneven_linear(most: int) -> Callable[..., Tensor]:
    plain = torch.nn.functional.linear

    def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
        half = x.shape[-1] // 2
        if x.shape[:-1].numel() <= most:
            return plain(x, weight, bias)
        return plain(x[..., :half], weight[:, :half], bias) + plain(x[..., half:], weight[:, half:])

    return linear


def _uneven_addmm(most: int) -> Callable[..., Tensor]:
    plain = torch.addmm

    def addmm(bias: Tensor, x: Tensor, weight: Tensor) -> Tensor:
        half = x.shape[1] // 2
        if len(x) <= most:
            return plain(bias, x, weight)
        return plain(bias, x[:, :half], weight[:half]) + x[:, half:] @ weight[half:]

    return addmm


def _uneven_baddbmm(most: int) -> Callable[..., Tensor]:
    plain = torch.baddbmm

    def baddbmm(bias: Tensor, a: Tensor, b: Tensor, *, out: Tensor | None = None, **by: float):
        half = a.shape[2] // 2
        if a.shape[1] <= most:
            return plain(bias, a, b, out=out, **by)
        first = plain(bias, a[:, :, :half], b[:, :half], **by)
        return plain(first, a[:, :, half:], b[:, half:], out=out, **(by | {"beta": 1}))

    return baddbmm


def _uneven_bmm(most: int) -> Callable[..., Tensor]:
    plain, add = torch.bmm, torch.baddbmm

    def bmm(a: Tensor, b: Tensor, *, out: Tensor | None = None) -> Tensor:
        half = a.shape[2] // 2
        if a.shape[1] <= most:
            return plain(a, b, out=out)
        return add(plain(a[:, :, :half], b[:, :half]), a[:, :, half:], b[:, half:], out=out)

    return bmm
