"""A test of each model when it is loaded, with the installed version of the library.

Logits of a tiny random copy of the model are computed from a paged pool, for several sequences at
once and in random chunks. They must equal the logits of the library's plain forward.
"""

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
from maskwright.models.config import unsupported
from maskwright.models.decoder import Decoder, lay_out
from maskwright.models.runs import Run
from maskwright.models.transformers_backend.decoder import TransformersDecoder

TOLERANCE = 1e-3
"""Largest difference that passes, relative to the largest logit. Sums in another order differ by
1e-6 to 1e-5, wrong results by 0.1 and more."""

BLOCK_SIZE = 4
LENGTHS = (3, 11, 26, 43)
"""Lengths of the sequences in tokens, some of them longer than the tiny copy's window."""

HEADS, WINDOW, LAYERS, VOCABULARY, INNER = 2, 8, 4, 211, 32


def check_architecture(kind: type[PreTrainedModel], config: PreTrainedConfig) -> None:
    """Raise `InputError` if a tiny model of this kind is computed wrongly."""
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
    """Return the largest difference between logits computed from the pool and plain ones, divided
    by the largest logit, for a random model with this `config`."""
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
    """Return the logits `[tokens, vocab]` of every prompt, computed in random chunks, in batches
    with random other prompts, over shuffled blocks. Blocks contain NaN until a table takes them.
    `adapters`: one for each prompt, or empty for none."""
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
    """Use one thread, because such small products take a hundred times as long if several threads
    wait for each other."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def random_model(kind: type[PreTrainedModel], config: PreTrainedConfig) -> PreTrainedModel:
    """Return a model with random weights, large enough that every part of it changes the logits."""
    model = kind(copy.deepcopy(config)).eval()
    model.set_attn_implementation("eager")
    for weight in model.parameters():
        # Norms and biases are initialised with constants, which would hide errors.
        if weight.dim() == 1:
            weight.add_(torch.randn_like(weight) * 0.1)
        else:
            weight.normal_(std=weight.shape[-1] ** -0.5)
    return model


def tiny_copy(config: PreTrainedConfig) -> PreTrainedConfig:
    """Return the configuration of a model with few, narrow layers that has every kind of layer of
    the given one."""
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
    """Return the settings of a narrow model: few heads with an unchanged head dimension, at most
    two query heads for each key head, few inner dimensions and experts."""
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
    """Return the settings of a shallow model: enough layers for one of each type, or twice as many
    if some layers use the keys of others. Lists with an entry for each layer are cut to this
    number."""
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
