"""A test at load: a tiny random copy of the model, computed from a paged pool in random chunks
beside each other, must equal the library's plain forward. So what the guard lets through is tested,
not trusted, with the installed version of the library."""

from __future__ import annotations

import copy
import random
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any, cast

import torch
from torch import Tensor
from transformers import PreTrainedConfig, PreTrainedModel

from maskwright.kernels.kv_pool import clear_blocks
from maskwright.models.adapter import Adapter
from maskwright.models.batch import Run, lay_out
from maskwright.models.decoder import Decoder
from maskwright.models.transformers_backend.decoder import TransformersDecoder
from maskwright.models.transformers_backend.guard import unsupported

TOLERANCE = 1e-3
"""Of the largest logit. Sums in another order differ by 1e-6 to 1e-5; what is computed wrongly, by
a tenth and more."""

BLOCK_SIZE = 4
LENGTHS = (3, 11, 26, 43)
"""Tokens of the sequences; longer than the tiny copy's window."""

HEADS, WINDOW, LAYERS, VOCABULARY, INNER = 2, 8, 4, 211, 32


def check_architecture(kind: type[PreTrainedModel], config: PreTrainedConfig) -> None:
    """Raise `InputError` if a tiny model of this shape isn't computed as it should be."""
    try:
        error = worst_error(kind, tiny_copy(config))
    except Exception as failure:
        raise unsupported(
            f"{kind.__name__} is not supported: its self-check failed: "
            f"{type(failure).__name__}: {failure}"
        ) from failure
    if not error <= TOLERANCE:
        raise unsupported(
            f"{kind.__name__} is not supported: computed from a paged pool, its logits differ by "
            f"{error:.1e} of the largest."
        )


def worst_error(kind: type[PreTrainedModel], config: PreTrainedConfig, seed: int = 0) -> float:
    """The largest difference between a logit computed from the pool and the plain one, as a part
    of the largest logit; of a random model of exactly this `config`."""
    with _one_thread(), torch.random.fork_rng(devices=()), torch.inference_mode():
        torch.manual_seed(seed)
        model = random_model(kind, config)
        rng = random.Random(seed)
        vocab_size = int(cast(torch.nn.Embedding, model.get_input_embeddings()).num_embeddings)
        prompts = [[rng.randrange(vocab_size) for _ in range(n)] for n in LENGTHS]
        plain = [model(torch.tensor([p]), use_cache=False).logits[0].float() for p in prompts]
        paged = computed_in_parts(TransformersDecoder(model), prompts, rng)
    largest = max(float(rows.abs().max()) for rows in plain)
    errors = [float((a - b).abs().max()) for a, b in zip(plain, paged, strict=True)]
    return max(errors) / largest


def computed_in_parts(
    decoder: Decoder,
    prompts: list[list[int]],
    rng: random.Random,
    chunk: int = 9,
    adapters: Sequence[Adapter | None] = (),
) -> list[Tensor]:
    """Logits `[tokens, vocab]` of every prompt, computed in random chunks beside random neighbours,
    over shuffled blocks; what isn't written yet holds NaN until a table takes it. `adapters`: one
    for each prompt, none if empty."""
    needed = [-(-len(prompt) // BLOCK_SIZE) for prompt in prompts]
    numbers = list(range(1, sum(needed) + 1))
    rng.shuffle(numbers)
    pool = decoder.new_pool(len(numbers) + 1, BLOCK_SIZE)
    pool.data[1:] = float("nan")
    tables = [[numbers.pop() for _ in range(count)] for count in needed]
    done = [0] * len(prompts)
    logits: list[list[Tensor]] = [[] for _ in prompts]
    while left := [i for i, prompt in enumerate(prompts) if done[i] < len(prompt)]:
        runs: list[Run] = []
        mine = rng.sample(left, rng.randint(1, len(left)))
        for i in mine:
            end = min(len(prompts[i]), done[i] + rng.choice((1, rng.randint(1, chunk))))
            fresh = tables[i][-(-done[i] // BLOCK_SIZE) : -(-end // BLOCK_SIZE)]
            clear_blocks(pool, fresh)
            adapter = adapters[i] if adapters else None
            runs.append(Run(prompts[i][done[i] : end], done[i], tables[i], end - done[i], adapter))
        rows = decoder.forward(lay_out(runs, BLOCK_SIZE, decoder.plan), pool)
        for i, run in zip(mine, runs, strict=True):
            done[i] += run.rows
            logits[i].append(rows[: run.rows])
            rows = rows[run.rows :]
    return [torch.cat(parts) for parts in logits]


@contextmanager
def _one_thread() -> Generator[None]:
    """Products so small take a hundred times as long where several threads wait for each other."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def random_model(kind: type[PreTrainedModel], config: PreTrainedConfig) -> PreTrainedModel:
    """Weights wide enough that every part of the model shows in its logits."""
    model = kind(copy.deepcopy(config)).eval()
    model.set_attn_implementation("eager")
    for weight in model.parameters():
        if weight.dim() == 1:  # norms and biases begin as constants, which would hide mistakes
            weight.add_(torch.randn_like(weight) * 0.1)
        else:
            weight.normal_(std=weight.shape[-1] ** -0.5)
    return model


def tiny_copy(config: PreTrainedConfig) -> PreTrainedConfig:
    """The same kind of model with few, narrow layers: everything that makes a kind of layer is
    kept, and the sizes that only cost time are not."""
    tiny: Any = copy.deepcopy(config)
    small: dict[str, Any] = {"dtype": torch.float32, **_shallow(tiny), **_narrow(tiny)}
    for name in ("vocab_size", "vocab_size_per_layer_input"):
        small[name] = VOCABULARY
    for name in ("bos_token_id", "eos_token_id", "pad_token_id"):
        small[name] = None
    window: int | None = getattr(tiny, "sliding_window", None)
    if window is not None:
        small["sliding_window"] = min(window, WINDOW)
    for name, value in small.items():
        if hasattr(tiny, name):
            setattr(tiny, name, value)
    return tiny


def _narrow(config: Any) -> dict[str, Any]:
    """Few heads, as wide as they are, and as many queries to a key as there are, up to two; few
    inner dimensions and experts."""
    heads: int = config.num_attention_heads
    kv_heads: int = getattr(config, "num_key_value_heads", None) or heads
    width: int = getattr(config, "head_dim", None) or config.hidden_size // heads
    few = HEADS * min(2, heads // kv_heads)
    small: dict[str, Any] = {"num_attention_heads": few, "hidden_size": few * width}
    if getattr(config, "num_key_value_heads", None) is not None:
        small["num_key_value_heads"] = HEADS
    for name in ("intermediate_size", "moe_intermediate_size", "ffn_dim", "n_inner"):
        if isinstance(getattr(config, name, None), int):
            small[name] = INNER
    chosen: int = getattr(config, "num_experts_per_tok", None) or 1
    for name in ("num_local_experts", "num_experts"):
        if isinstance(getattr(config, name, None), int):
            small[name] = min(getattr(config, name), 2 * chosen)
    return small


def _shallow(config: Any) -> dict[str, Any]:
    """So many layers that there is one of each type; twice as many where some take over the keys
    of others. Everything that is listed by layer is cut to that."""
    layers = int(config.num_hidden_layers)
    kinds: list[str] = getattr(config, "layer_types", None) or ["full_attention"] * layers
    first = max(kinds.index(kind) for kind in set(kinds)) + 1
    few = min(layers, max(first, LAYERS))
    small: dict[str, Any] = {}
    if getattr(config, "num_kv_shared_layers", 0):
        small["num_kv_shared_layers"] = few
        kinds, few = kinds[:few] * 2, 2 * few
    for name, value in vars(config).items():
        if isinstance(value, list) and len(cast(list[object], value)) == layers:
            small[name] = value[:few]
    listed = small.get("intermediate_size")
    if listed:
        small["intermediate_size"] = [INNER] * few
    if "layer_types" in small:
        small["layer_types"] = kinds[:few]
    return small | {"num_hidden_layers": few}
