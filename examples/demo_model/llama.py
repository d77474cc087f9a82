"""A small Llama for training on a CPU, with parameters named as in transformers.

Logits are computed only at the positions that are asked for: the last layer's MLP and the head run
at the answer's positions alone, which are a quarter of the tokens.
"""

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from safetensors.torch import load_file, save_file
from torch import Tensor, nn


@dataclass(frozen=True, slots=True)
class Shape:
    """The sizes of the model."""

    vocabulary: int = 4000
    hidden: int = 192
    inner: int = 448
    layers: int = 6
    heads: int = 6
    kv_heads: int = 3
    positions: int = 2048
    theta: float = 10000.0
    epsilon: float = 1e-6

    @property
    def head(self) -> int:
        """The size of a head."""
        return self.hidden // self.heads

    def config(self, end: int, pad: int) -> dict[str, object]:
        """The config.json of a transformers LlamaForCausalLM of this shape."""
        return {
            "architectures": ["LlamaForCausalLM"],
            "model_type": "llama",
            "vocab_size": self.vocabulary,
            "hidden_size": self.hidden,
            "intermediate_size": self.inner,
            "num_hidden_layers": self.layers,
            "num_attention_heads": self.heads,
            "num_key_value_heads": self.kv_heads,
            "head_dim": self.head,
            "max_position_embeddings": self.positions,
            "rope_theta": self.theta,
            "rms_norm_eps": self.epsilon,
            "hidden_act": "silu",
            "attention_bias": False,
            "mlp_bias": False,
            "attention_dropout": 0.0,
            "tie_word_embeddings": True,
            "use_cache": True,
            "bos_token_id": None,
            "eos_token_id": end,
            "pad_token_id": pad,
            "dtype": "float16",
        }


class _HalfProduct(torch.autograd.Function):
    """``x @ weight.T`` for matrices in float32, multiplied in bfloat16: twice as fast on a CPU."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor) -> Tensor:
        x, weight = x.bfloat16(), weight.bfloat16()
        ctx.save_for_backward(x, weight)
        return (x @ weight.T).float()

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor]:
        x, weight = ctx.saved_tensors
        gradient = gradients[0].bfloat16()
        return (gradient @ weight).float(), (gradient.T @ x).float()


class Linear(nn.Linear):
    """A linear map without bias; bfloat16 products while training, float32 otherwise."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__(inputs, outputs, bias=False)

    def forward(self, input: Tensor) -> Tensor:
        """input [..., inputs]."""
        return _product(input, self.weight)


def _product(x: Tensor, weight: Tensor) -> Tensor:
    if not torch.is_grad_enabled():
        return F.linear(x, weight)
    return _HalfProduct.apply(x.reshape(-1, x.shape[-1]), weight).view(*x.shape[:-1], -1)


class Attention(nn.Module):
    """Grouped-query attention with rotary positions."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        wide, narrow = shape.heads * shape.head, shape.kv_heads * shape.head
        self.q_proj = Linear(shape.hidden, wide)
        self.k_proj = Linear(shape.hidden, narrow)
        self.v_proj = Linear(shape.hidden, narrow)
        self.o_proj = Linear(wide, shape.hidden)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        """x [batch, length, hidden]; cos and sin [length, head]."""
        batch, length, _ = x.shape
        q = self.q_proj(x).view(batch, length, -1, self.shape.head).transpose(1, 2)
        k = self.k_proj(x).view(batch, length, -1, self.shape.head).transpose(1, 2)
        v = self.v_proj(x).view(batch, length, -1, self.shape.head).transpose(1, 2)
        q, k = _rotate(q, cos, sin), _rotate(k, cos, sin)
        group = self.shape.heads // self.shape.kv_heads
        k, v = k.repeat_interleave(group, 1), v.repeat_interleave(group, 1)
        out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o_proj(out.transpose(1, 2).reshape(batch, length, -1))


def _rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    left, right = x.chunk(2, -1)
    return x * cos + torch.cat((-right, left), -1) * sin


class Mlp(nn.Module):
    """The gated MLP."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.gate_proj = Linear(shape.hidden, shape.inner)
        self.up_proj = Linear(shape.hidden, shape.inner)
        self.down_proj = Linear(shape.inner, shape.hidden)

    def forward(self, x: Tensor) -> Tensor:
        """x [..., hidden]."""
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class Layer(nn.Module):
    """One decoder layer."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.self_attn = Attention(shape)
        self.mlp = Mlp(shape)
        self.input_layernorm = nn.RMSNorm(shape.hidden, eps=shape.epsilon)
        self.post_attention_layernorm = nn.RMSNorm(shape.hidden, eps=shape.epsilon)


class Model(nn.Module):
    """``LlamaModel`` with a tied head."""

    cos: Tensor
    sin: Tensor

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.embed_tokens = nn.Embedding(shape.vocabulary, shape.hidden)
        self.layers = nn.ModuleList(Layer(shape) for _ in range(shape.layers))
        self.norm = nn.RMSNorm(shape.hidden, eps=shape.epsilon)
        exponent = torch.arange(0, shape.head, 2).float() / shape.head
        frequency = shape.theta**-exponent
        angle = torch.outer(torch.arange(shape.positions).float(), frequency)
        angle = torch.cat((angle, angle), -1)
        self.register_buffer("cos", angle.cos(), persistent=False)
        self.register_buffer("sin", angle.sin(), persistent=False)
        self._initialise(frequency)

    def forward(self, ids: Tensor, at: Tensor) -> Tensor:
        """Logits [n, vocabulary] at the flat positions ``at`` [n] of ``ids`` [batch, length]."""
        x = self.embed_tokens(ids)
        cos, sin = self.cos[: ids.shape[1]], self.sin[: ids.shape[1]]
        for layer in self.layers:
            assert isinstance(layer, Layer)
            x = x + layer.self_attn(layer.input_layernorm(x), cos, sin)
            if layer is self.layers[-1]:
                x = x.flatten(0, 1)[at]
            x = x + layer.mlp(layer.post_attention_layernorm(x))
        return _product(self.norm(x), self.embed_tokens.weight)

    @torch.no_grad()
    def _initialise(self, frequency: Tensor) -> None:
        """Normal weights, but two heads of the first layer already look one and two tokens back.

        Copying needs "which token came before this one" first, and learns the rest quickly once it
        is there. Dimension 0 of every embedding is one constant; these heads turn it into queries
        and keys whose rotary phases agree at a distance of one (two) tokens.
        """
        shape = self.shape
        for name, parameter in self.named_parameters():
            if parameter.ndim == 2:
                std = 0.02 if "embed" in name else 0.5 / math.sqrt(parameter.shape[1])
                if "o_proj" in name or "down_proj" in name:
                    std /= math.sqrt(2 * shape.layers)
                nn.init.normal_(parameter, std=std)
        self.embed_tokens.weight[:, 0] = 0.06
        first = self.layers[0]
        assert isinstance(first, Layer)
        attention, half, used = first.self_attn, shape.head // 2, shape.head // 4
        attention.k_proj.weight[: shape.head] = 0
        attention.k_proj.weight[:used, 0] = 2.0
        for head in range(shape.heads // shape.kv_heads):
            rows = attention.q_proj.weight[head * shape.head : (head + 1) * shape.head]
            rows.zero_()
            rows[:used, 0] = 2.0 * torch.cos((head + 1) * frequency[:used])
            rows[half : half + used, 0] = -2.0 * torch.sin((head + 1) * frequency[:used])


def save(model: Model, folder: Path, end: int, pad: int) -> None:
    """Write config.json, generation_config.json and model.safetensors in half precision."""
    folder.mkdir(parents=True, exist_ok=True)
    weights = {f"model.{k}": v.detach().half().contiguous() for k, v in model.state_dict().items()}
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    config = model.shape.config(end, pad)
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    generation = {"eos_token_id": end, "pad_token_id": pad, "do_sample": False}
    (folder / "generation_config.json").write_text(json.dumps(generation, indent=2) + "\n")


def load(model: Model, folder: Path) -> None:
    """Take the weights of a checkpoint that `save` wrote, to go on from them."""
    weights = load_file(folder / "model.safetensors")
    model.load_state_dict({k.removeprefix("model."): v.float() for k, v in weights.items()})
