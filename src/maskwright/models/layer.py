"""The weights of one layer of a dense decoder."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from maskwright.immutable import Immutable
from maskwright.kernels.few_rows import linear, linear_silu_mul
from maskwright.kernels.fp8.product import multiply
from maskwright.kernels.low_rank import add_low_rank
from maskwright.kernels.silu_mul import silu_mul
from maskwright.models.adapter import AdapterRows, GroupedAdapters

Updates = GroupedAdapters | Sequence[AdapterRows]
"""What adapters add in a step: together by kernels, or one adapter after another."""


def add_updates(
    out: Tensor, x: Tensor, parts: Sequence[tuple[str, int]], adapters: Updates
) -> None:
    """Add the updates of `adapters` for the input `x` to their rows of `out`, in place. `parts`:
    the modules that are stacked in `out`, each with the end of its outputs."""
    if isinstance(adapters, GroupedAdapters):
        adapters.add(out, x.contiguous(), parts)
        return
    for group in adapters:
        start = 0
        for name, end in parts:
            part = group.adapter.modules.get(name)
            if part is not None:
                mine = out[:, start:end]
                add_low_rank(mine, x, group.rows, group.count, part.down, part.up)
            start = end


class Linear(Immutable):
    """The product `x @ weight.T + bias`; weight `[out, in]`. `parts` names the modules that are
    stacked in it, each with the end of its outputs. With `scales`, float32 `[out]`, the weight is
    codes of fp8, and each of its rows is the codes times the row's scale."""

    weight: Tensor
    bias: Tensor | None
    parts: tuple[tuple[str, int], ...]
    scales: Tensor | None = None

    def __call__(self, x: Tensor, adapters: Updates = ()) -> Tensor:
        if self.scales is None:
            out = linear(x, self.weight, self.bias)
        else:
            out = multiply(x, self.weight, self.scales, self.bias)
        add_updates(out, x, self.parts, adapters)
        return out

    def activated(self, x: Tensor, adapters: Updates = ()) -> Tensor:
        """Return `silu_mul` of the product, in one launch where it has few rows and no updates."""
        if adapters:
            return silu_mul(self(x, adapters))
        if self.scales is None:
            return linear_silu_mul(x, self.weight, self.bias)
        return multiply(x, self.weight, self.scales, self.bias, gated=True)

    @property
    def nbytes(self) -> int:
        return self.weight.nbytes + (0 if self.scales is None else self.scales.nbytes)

    def is_adapted(self, adapters: Updates) -> bool:
        """Whether any of `adapters` changes a module of this product."""
        return isinstance(adapters, GroupedAdapters) and adapters.change(self.parts)

    @property
    def tensors(self) -> tuple[Tensor | None, ...]:
        return self.weight, self.bias, self.scales


class Layer(Immutable):
    """The weights of one layer. `qkv` stacks query, key and value heads; `gate_up` the gate and up
    projections, in this order."""

    input_norm: Tensor
    qkv: Linear
    query_norm: Tensor | None
    key_norm: Tensor | None
    output: Linear
    mlp_norm: Tensor
    gate_up: Linear
    down: Linear
    window: int | None

    @property
    def products(self) -> tuple[Linear, ...]:
        return self.qkv, self.output, self.gate_up, self.down

    @property
    def tensors(self) -> tuple[Tensor | None, ...]:
        norms = self.input_norm, self.query_norm, self.key_norm, self.mlp_norm
        return (*norms, *(each for product in self.products for each in product.tensors))

    @property
    def kind(self) -> object:
        """Equal for layers that launch the same on other weights."""
        tensors = [
            None if each is None else (each.dtype, each.shape, each.stride())
            for each in self.tensors
        ]
        return self.window, *tensors
