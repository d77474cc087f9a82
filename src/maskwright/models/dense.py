"""A dense decoder (Llama, Mistral, Qwen2, Qwen3 shapes) that reads its keys and values from a paged
pool.

Query, key and value projections are one product, gate and up projections another. The rows of all
requests in a step follow each other in one batch; only the attention plan says which row belongs to
which request. The rotary position embedding may be of each kind that a configuration names; its
frequencies have the float32 bits that the transformers library computes (`modeling_rope_utils`),
since checkpoints were trained with these.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import accumulate
from typing import Any, assert_never

import torch
import torch.nn.functional as F
from torch import Tensor

from maskwright.errors import InputError
from maskwright.kernels.device import new_logits, numbered
from maskwright.kernels.few_rows import linear
from maskwright.kernels.fp8.product import encode_rows
from maskwright.kernels.kv_pool import KvPool
from maskwright.kernels.norm_rope import add_norm, norm_rope_store
from maskwright.kernels.noting import Noted
from maskwright.kernels.paged_attention import Scores
from maskwright.kernels.paged_plan import DevicePlan
from maskwright.kernels.reference import Span, paged_attention
from maskwright.model_options import WeightDtype
from maskwright.models.adapter import Shapes
from maskwright.models.batch_invariance import (
    AttentionShape,
    LibraryOperations,
    Product,
    one_of_each_shape,
)
from maskwright.models.compiled.decoder import CompiledDense
from maskwright.models.config import ModelConfig, RopeConfig
from maskwright.models.decoder import Decoder, ForwardBatch, Plan
from maskwright.models.device import check_fp8
from maskwright.models.layer import Layer, Linear, Updates
from maskwright.models.runs import CompiledPlan, plan_compiled


def rope_table(config: RopeConfig, head_dim: int, positions: int) -> tuple[Tensor, Tensor]:
    """Return cosines and sines, float32 `[positions, 1, head_dim]`; the first half of the sines is
    negated.

    They are computed once, because the last bit of a vectorised cosine may depend on its place in
    the batch.
    """
    frequencies, factor = inverse_frequencies(config, head_dim)
    angles = torch.arange(positions, dtype=torch.float32)[:, None] * frequencies
    cos, sin = angles.cos() * factor, angles.sin() * factor
    return torch.cat((cos, cos), dim=-1)[:, None], torch.cat((-sin, sin), dim=-1)[:, None]


def inverse_frequencies(config: RopeConfig, head_dim: int) -> tuple[Tensor, float]:
    """Return the angle by which each pair of dimensions turns per position, float32
    `[head_dim / 2]`, and the factor of the cosines and sines."""
    plain = 1.0 / (
        config.theta ** (torch.arange(0, head_dim, 2, dtype=torch.int64).float() / head_dim)
    )
    match config.kind:
        case "default":
            return plain, 1.0
        case "linear":
            return plain / config.parameters["factor"], 1.0
        case "llama3":
            return _llama3(plain, config.parameters), 1.0
        case "yarn":
            return _yarn(config, head_dim)
        case _:
            assert_never(config.kind)


def _llama3(plain: Tensor, parameters: Mapping[str, Any]) -> Tensor:
    """Llama 3: divide low frequencies by the factor, keep high ones, and interpolate in between."""
    factor = parameters["factor"]
    low, high = parameters["low_freq_factor"], parameters["high_freq_factor"]
    context = parameters["original_max_position_embeddings"]
    wavelength = 2 * math.pi / plain
    scaled = torch.where(wavelength > context / low, plain / factor, plain)
    ramp = (context / wavelength - low) / (high - low)
    between = (1 - ramp) * scaled / factor + ramp * scaled
    medium = (wavelength >= context / high) & (wavelength <= context / low)
    return torch.where(medium, between, scaled)


def _yarn(config: RopeConfig, head_dim: int) -> tuple[Tensor, float]:
    """YaRN (arXiv 2309.00071): divide low frequencies by the factor, keep high ones."""
    parameters = config.parameters
    factor = parameters["factor"]
    context = parameters["original_max_position_embeddings"]

    def dimension(rotations: float) -> float:
        return (head_dim * math.log(context / (rotations * 2 * math.pi))) / (
            2 * math.log(config.theta)
        )

    low = dimension(parameters.get("beta_fast") or 32)
    high = dimension(parameters.get("beta_slow") or 1)
    if parameters.get("truncate", True):
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, head_dim - 1)
    if low == high:
        high += 0.001
    ramp = torch.clamp(
        (torch.arange(head_dim // 2, dtype=torch.float32) - low) / (high - low), 0, 1
    )
    powers = config.theta ** (torch.arange(0, head_dim, 2, dtype=torch.float) / head_dim)
    kept = 1 - ramp
    frequencies = 1.0 / (factor * powers) * (1 - kept) + 1.0 / powers * kept
    return frequencies, _yarn_factor(factor, parameters)


def _yarn_factor(factor: float, parameters: Mapping[str, Any]) -> float:
    def scale(weight: float) -> float:
        return 1.0 if factor <= 1 else 0.1 * weight * math.log(factor) + 1.0

    given = parameters.get("attention_factor")
    if given is not None:
        return float(given)
    weight, all_dims = parameters.get("mscale"), parameters.get("mscale_all_dim")
    if weight and all_dims:
        return scale(weight) / scale(all_dims)
    return scale(1.0)


class DenseDecoder(Decoder):
    """Embedding, layers, norm and head; see `Decoder`."""

    def __init__(
        self,
        config: ModelConfig,
        weights: Mapping[str, Tensor],
        dtype: torch.dtype,
        *,
        compiled: bool | None = None,
        device: torch.device | None = None,
        weight_dtype: WeightDtype = "auto",
    ):
        """`compiled`: use compiled operations, which are for small float32 models on a CPU. By
        default, all such models use them where no kernels run. `device`: where the weights and the
        pool are, by default the CPU. `weight_dtype`: of the products in layers; with "fp8" these
        weights become codes. Embedding, norms and head keep `dtype`."""
        self.config = config
        self.vocab_size, self.max_positions = config.vocab_size, config.max_positions
        self.kv_shape = config.layers, config.kv_heads, config.head_dim
        windows = [window for window in config.windows if window is not None]
        self.window = max(windows) if len(windows) == config.layers else None
        self.dtype = dtype
        self.device = torch.device("cpu") if device is None else numbered(device)
        fp8 = weight_dtype == "fp8"
        if fp8:
            sizes = {size for product in config.product_sizes for size in product}
            check_fp8(self.device, dtype, sizes)
        take = _Weights(weights, dtype, self.device, fp8=fp8)
        self.embedding = take("model.embed_tokens.weight")
        self.layers = tuple(_layer(config, take, number) for number in range(config.layers))
        self._tensors = [layer.tensors for layer in self.layers]
        kinds = [layer.kind for layer in self.layers]
        self._kinds = [kinds.index(kind) for kind in kinds]
        self.norm = take("model.norm.weight")
        self.head = self.embedding if config.tied_embeddings else take("lm_head.weight")
        cos, sin = rope_table(config.rope, config.head_dim, config.max_positions)
        self._cos, self._sin = (table.to(self.device, dtype) for table in (cos, sin))
        self._scale = config.head_dim**-0.5
        self.adapter_shapes = _module_shapes(self.layers)
        self._compiled: CompiledDense | None = None
        if compiled is None:
            plain = dtype == torch.float32 and not fp8
            compiled = self.small and plain and not self.runs_kernels
        if compiled:
            self._compiled = CompiledDense(
                *(config, self.embedding, self.layers, self.norm, self.head, self._cos, self._sin)
            )

    @property
    def row_bytes(self) -> int:
        return self.config.row_numbers * self.dtype.itemsize

    @property
    def recordable(self) -> bool:
        return self._compiled is None and self.runs_kernels

    def plan(self, spans: Sequence[Span], block_size: int) -> Plan:
        if self._compiled is not None:
            return plan_compiled(spans, block_size)
        return super().plan(spans, block_size)

    @property
    def library_operations(self) -> LibraryOperations:
        """The products and attention of a library on a CPU; nothing if they are computed in
        compiled operations or on another device."""
        if self._compiled is not None or self.device.type != "cpu":
            return LibraryOperations()
        linears = [each for layer in self.layers for each in layer.products]
        products = [Product(each.weight, each.bias) for each in linears]
        # The product of codes is computed in float32; its bias is added later.
        of_layers = [
            product if product.weight.dtype == self.dtype else Product(product.weight.float())
            for product in one_of_each_shape(products)
        ]
        config = self.config
        group = config.heads // config.kv_heads
        return LibraryOperations(
            one_of_each_shape([*of_layers, Product(self.head)]),
            (AttentionShape(config.kv_heads, group, config.head_dim, self.dtype),),
        )

    @property
    def weight_bytes(self) -> int:
        return self.plain_bytes + (0 if self._compiled is None else self._compiled.nbytes)

    @property
    def plain_bytes(self) -> int:
        parts: list[Tensor | Linear] = [self.embedding, self.norm]
        parts += [] if self.config.tied_embeddings else [self.head]
        for layer in self.layers:
            parts += [layer.input_norm, layer.mlp_norm, *layer.products]
        return sum(part.nbytes for part in parts)

    @torch.inference_mode()
    def forward(self, batch: ForwardBatch, pool: KvPool, out: Tensor | None = None) -> Tensor:
        if self._compiled is not None:
            logits = self._compiled.forward(batch, pool)
            return logits if out is None else out.copy_(logits)
        adapters = self.updates(batch)
        batch = batch.to(self.device)
        eps = self.config.norm_eps
        hidden, mixed = self._layers(batch, pool, adapters)
        selected = hidden[batch.select], None if mixed is None else mixed[batch.select]
        _, normed = add_norm(*selected, self.norm, eps)
        if out is None and self.runs_kernels:
            out = new_logits(len(normed), self.vocab_size, self.device)
        logits = linear(normed, self.head, out=out)
        return logits.float() if out is None else logits

    def _layers(
        self, batch: ForwardBatch, pool: KvPool, adapters: Updates
    ) -> tuple[Tensor, Tensor | None]:
        """Return what all layers give: the sum so far, and what is to be added. What the first of
        several layers of a kind launches is noted, and others repeat it."""
        hidden, mixed = F.embedding(batch.tokens, self.embedding), None
        noted: dict[object, tuple[Noted, int]] = {}
        notes = self.runs_kernels and len(hidden) > 0
        for number, layer in enumerate(self.layers):
            step = partial(self._layer, number, hidden, mixed, batch, pool, adapters)
            if not notes or mixed is None:
                hidden, mixed = step()
                continue
            given = hidden, mixed, *self._tensors[number], *pool.of_layer(number)
            adapted = (product.is_adapted(adapters) for product in layer.products)
            kind = self._kinds[number], *adapted
            modules = self.module_order[layer.qkv.parts[0][0]]
            if kind not in noted:
                noted[kind] = Noted(step, given), modules
            elif not noted[kind][0].repeat(given, modules - noted[kind][1]):
                hidden, mixed = step()
                continue
            hidden, mixed = noted[kind][0].results
        return hidden, mixed

    def _layer(
        self,
        number: int,
        hidden: Tensor,
        mixed: Tensor | None,
        batch: ForwardBatch,
        pool: KvPool,
        adapters: Updates,
    ) -> tuple[Tensor, Tensor]:
        """Return what layer `number` makes of the sum so far and what is to be added."""
        layer, eps = self.layers[number], self.config.norm_eps
        hidden, normed = add_norm(hidden, mixed, layer.input_norm, eps)
        mixed = self._attend(layer, number, normed, batch, pool, adapters)
        hidden, normed = add_norm(hidden, mixed, layer.mlp_norm, eps)
        return hidden, layer.down(layer.gate_up.activated(normed, adapters), adapters)

    def _attend(
        self,
        layer: Layer,
        number: int,
        normed: Tensor,
        batch: ForwardBatch,
        pool: KvPool,
        adapters: Updates,
    ) -> Tensor:
        config = self.config
        heads, kv_heads = config.heads, config.kv_heads
        qkv = layer.qkv(normed, adapters).view(len(normed), heads + 2 * kv_heads, config.head_dim)
        norms = None
        if layer.query_norm is not None and layer.key_norm is not None:
            norms = layer.query_norm, layer.key_norm
        query = norm_rope_store(
            *(qkv, (self._cos, self._sin), batch.positions),
            *(pool, number, (batch.blocks, batch.offsets), norms, config.norm_eps),
        )
        plan = batch.attention
        if isinstance(plan, DevicePlan):
            mixed = plan.attend(query, pool, number, Scores(self._scale, layer.window))
        else:
            assert not isinstance(plan, CompiledPlan)
            mixed = paged_attention(
                *(query, pool, number, plan), scale=self._scale, window=layer.window
            )
        return layer.output(mixed.view(len(normed), heads * config.head_dim), adapters)


class _Weights:
    """Weights by name, cast to one data type, on one device. With `fp8`, weights of products become
    codes. Raises `InputError` if the checkpoint lacks one."""

    def __init__(
        self,
        weights: Mapping[str, Tensor],
        dtype: torch.dtype,
        device: torch.device,
        *,
        fp8: bool = False,
    ):
        self._weights = weights
        self._fp8 = fp8
        self._dtype = dtype
        self._device = device

    def __call__(self, *names: str) -> Tensor:
        missing = [name for name in names if name not in self._weights]
        if missing:
            raise InputError(f"The checkpoint lacks the tensor {missing[0]}.", param="model")
        tensors = [self._weights[name].to(self._device, self._dtype) for name in names]
        return (tensors[0] if len(tensors) == 1 else torch.cat(tensors)).contiguous()

    def linear(self, prefix: str, *names: str, bias: bool) -> Linear:
        modules = [f"{prefix}.{name}" for name in names]
        weights = [self(f"{module}.weight") for module in modules]
        ends = accumulate(len(weight) for weight in weights)
        weight = weights[0] if len(weights) == 1 else torch.cat(weights)
        scales = None
        if self._fp8:
            weight, scales = encode_rows(weight)
        return Linear(
            weight,
            self(*(f"{module}.bias" for module in modules)) if bias else None,
            tuple(zip(modules, ends, strict=True)),
            scales,
        )


def _module_shapes(layers: Iterable[Layer]) -> Shapes:
    shapes: dict[str, tuple[int, int]] = {}
    for layer in layers:
        for each in layer.products:
            start = 0
            for name, end in each.parts:
                shapes[name] = (end - start, each.weight.shape[1])
                start = end
    return shapes


def _layer(config: ModelConfig, take: _Weights, number: int) -> Layer:
    prefix = f"model.layers.{number}"
    attention, mlp = f"{prefix}.self_attn", f"{prefix}.mlp"
    return Layer(
        input_norm=take(f"{prefix}.input_layernorm.weight"),
        qkv=take.linear(attention, "q_proj", "k_proj", "v_proj", bias=config.qkv_bias),
        query_norm=take(f"{attention}.q_norm.weight") if config.qk_norm else None,
        key_norm=take(f"{attention}.k_norm.weight") if config.qk_norm else None,
        output=take.linear(attention, "o_proj", bias=config.output_bias),
        mlp_norm=take(f"{prefix}.post_attention_layernorm.weight"),
        gate_up=take.linear(mlp, "gate_proj", "up_proj", bias=config.mlp_bias),
        down=take.linear(mlp, "down_proj", bias=config.mlp_bias),
        window=config.windows[number],
    )
