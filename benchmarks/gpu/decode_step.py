"""Whole decode steps on a GPU, of models with random weights in the shapes of real ones."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

import torch
from torch import Tensor

from benchmarks.gpu.timing import Bench
from benchmarks.vocabularies import tekken
from maskwright.engine import Engine, EngineConfig, Request
from maskwright.kernels.kv_pool import KvPool
from maskwright.mask import Grammar, compile_json_schema
from maskwright.models import DEMO_PATH, LoadedModel, load
from maskwright.models.config import ModelConfig, parse_config
from maskwright.models.decoder import lay_out
from maskwright.models.dense import DenseDecoder
from maskwright.models.graphs import DecodeGraphs, find_recorder
from maskwright.models.runs import Run
from maskwright.sampling import SamplingParams

BLOCK: Final = 16
SHAPES: Final[dict[str, dict[str, Any]]] = {
    "8B": {
        "architectures": ["LlamaForCausalLM"],
        "vocab_size": 128_256,
        "hidden_size": 4096,
        "intermediate_size": 14_336,
        "num_hidden_layers": 32,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "tie_word_embeddings": False,
    },
    "0.6B": {
        "architectures": ["Qwen3ForCausalLM"],
        "vocab_size": 151_936,
        "hidden_size": 1024,
        "intermediate_size": 3072,
        "num_hidden_layers": 28,
        "num_attention_heads": 16,
        "num_key_value_heads": 8,
        "head_dim": 128,
        "tie_word_embeddings": True,
    },
}
TINY: Final[dict[str, dict[str, Any]]] = {
    "tiny": {
        "architectures": ["Qwen3ForCausalLM"],
        "vocab_size": 300,
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 16,
        "tie_word_embeddings": True,
    }
}
COMMON: Final = {
    "max_position_embeddings": 8192,
    "rms_norm_eps": 1e-6,
    "rope_theta": 500_000.0,
    "hidden_act": "silu",
}
SCHEMA: Final = {"type": "array", "items": {"type": "string"}}


class RandomWeights(Mapping[str, Tensor]):
    """The weights of a shape, each of them made when it is asked for."""

    def __init__(self, config: ModelConfig, device: torch.device, dtype: torch.dtype) -> None:
        self._shapes = weight_shapes(config)
        self._device, self._dtype = device, dtype

    def __getitem__(self, name: str) -> Tensor:
        weight = torch.empty(self._shapes[name], dtype=self._dtype, device=self._device)
        return weight.fill_(1) if weight.ndim == 1 else weight.normal_(std=0.02)

    def __iter__(self) -> Iterator[str]:
        return iter(self._shapes)

    def __len__(self) -> int:
        return len(self._shapes)


def weight_shapes(config: ModelConfig) -> dict[str, tuple[int, ...]]:
    """Return the shape of every tensor by the name that it has in a checkpoint."""
    hidden, inner = config.hidden, config.intermediate
    queries, keys = config.heads * config.head_dim, config.kv_heads * config.head_dim
    shapes: dict[str, tuple[int, ...]] = {
        "model.embed_tokens.weight": (config.vocab_size, hidden),
        "model.norm.weight": (hidden,),
    }
    if not config.tied_embeddings:
        shapes["lm_head.weight"] = (config.vocab_size, hidden)
    of_layer: dict[str, tuple[int, ...]] = {
        "input_layernorm": (hidden,),
        "post_attention_layernorm": (hidden,),
        "self_attn.q_proj": (queries, hidden),
        "self_attn.k_proj": (keys, hidden),
        "self_attn.v_proj": (keys, hidden),
        "self_attn.o_proj": (hidden, queries),
        "mlp.gate_proj": (inner, hidden),
        "mlp.up_proj": (inner, hidden),
        "mlp.down_proj": (hidden, inner),
    }
    if config.qk_norm:
        of_layer |= {f"self_attn.{part}_norm": (config.head_dim,) for part in "qk"}
    for layer in range(config.layers):
        for name, shape in of_layer.items():
            shapes[f"model.layers.{layer}.{name}.weight"] = shape
    return shapes


def random_decoder(bench: Bench, shape: Mapping[str, Any]) -> DenseDecoder:
    """Return a decoder with random weights, which always runs the operations of a GPU."""
    dtype = torch.float32 if bench.tiny else torch.bfloat16
    config = parse_config({**COMMON, **shape})
    weights = RandomWeights(config, bench.device, dtype)
    return DenseDecoder(config, weights, dtype, compiled=False, device=bench.device)


def measure_steps(bench: Bench) -> None:
    """Time a step's forward, launched kernel by kernel and as a graph, and as the engine does it,
    from its runs on: until the device is done. The share of reading's bandwidth counts one read of
    weights, keys and values."""
    (length,) = bench.sizes((1024,), (24,))
    for name, shape in (TINY if bench.tiny else SHAPES).items():
        decoder = random_decoder(bench, shape)
        embedded = 0 if decoder.config.tied_embeddings else decoder.embedding.nbytes
        for count in bench.sizes((1, 8, 64), (2,)):
            each = -(-length // BLOCK)
            pool = decoder.new_pool(2 + count * each, BLOCK)  # the last one is of no sequence
            runs = [
                Run([7], length - 1, range(1 + number * each, 1 + (number + 1) * each), 1)
                for number in range(count)
            ]
            batch = lay_out(runs, BLOCK, decoder.plan).to(bench.device)
            step = partial(decoder.forward, batch, pool)
            launched, recorded = bench.by_launches(step), bench.by_graph(step)
            read = decoder.weight_bytes - embedded + pool.data[1:-1].nbytes
            bench.add(
                f"step, {name}",
                sequences=count,
                positions=length,
                MB=read / 1e6,
                launches_us=launched,
                graph_us=recorded,
                **{
                    "launches_%": bench.share(read, launched),
                    "graph_%": bench.share(read, recorded),
                },
                **_from_runs(bench, decoder, pool, runs, length),
            )
            del pool, batch, step


def _from_runs(
    bench: Bench, decoder: DenseDecoder, pool: KvPool, runs: Sequence[Run], length: int
) -> dict[str, float]:
    """Return the microseconds of a step from its runs on, without and with a recorded step."""

    def launch() -> Tensor:
        return decoder.forward(lay_out(runs, BLOCK, decoder.plan), pool)

    times = {"from_runs_us": bench.to_end(launch)}
    recorder = find_recorder(bench.device)
    if recorder is not None:
        graphs = DecodeGraphs(
            *(decoder, pool, recorder),
            spare=len(pool.data) - 1,
            most_rows=len(runs),
            most_positions=length,
        )
        assert graphs.forward(runs) is not None
        times["from_runs_recorded_us"] = bench.to_end(lambda: graphs.forward(runs))
    return times


def measure_structured(bench: Bench) -> None:
    """Time the engine's answers, without a schema and with one for every request."""
    if bench.tiny:
        loaded = load(DEMO_PATH)
    else:
        shape = {**SHAPES["0.6B"], "vocab_size": tekken().size}
        decoder = random_decoder(bench, shape)
        loaded = LoadedModel("random 0.6B", decoder, None, tekken())  # type: ignore[arg-type]
    (count,) = bench.sizes((256,), (2,))
    (tokens,) = bench.sizes((128,), (6,))
    (blocks,) = bench.sizes((8192,), (64,))
    grammar = compile_json_schema(SCHEMA, loaded.vocab)
    config = EngineConfig(blocks=blocks, block_size=BLOCK, max_running=count)
    with Engine(loaded, config) as engine:
        kinds: dict[str, Grammar | None] = {"unstructured": None, "structured": grammar}
        rates = dict.fromkeys(kinds, 0.0)
        for _ in range(1 if bench.tiny else 3):  # the first one warms up
            for kind, asked in kinds.items():
                rates[kind] = _rate(engine, count, tokens, asked)
    for kind, rate in rates.items():
        loss = 100 * (1 - rate / rates["unstructured"])
        bench.add(f"engine, {kind}", requests=count, tokens_per_s=rate, **{"loss_%": loss})


def _rate(engine: Engine, count: int, tokens: int, grammar: Grammar | None) -> float:
    """Return the tokens a second of `count` requests at a time."""
    begin = time.perf_counter()
    answers = [
        engine.submit(
            Request(
                prompt=[number + 1, 5, 6],
                params=SamplingParams(temperature=1.0, seed=number, ignore_eos=True),
                max_tokens=tokens,
                grammar=grammar,
            )
        )
        for number in range(count)
    ]
    found = sum(len(answer.result().token_ids) for answer in answers)
    return found / (time.perf_counter() - begin)
