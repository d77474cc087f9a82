"""The decoder against transformers' plain eager forward, under random schedules."""

import json
import random
from collections.abc import Iterator

import pytest
import torch
import transformers

from maskwright.engine.kv.blocks import BlockPool
from maskwright.engine.schedule.chunk import Chunk
from maskwright.engine.schedule.sequence import Sequence
from maskwright.engine.step.batch import build_runs
from maskwright.kernels.kv_bytes import KvDtype
from maskwright.kernels.kv_pool import clear_blocks, encode
from maskwright.models import DEMO_PATH, Run, lay_out, load
from maskwright.models.config import parse_config
from maskwright.models.dense import DenseDecoder
from tests.models.products import comparison

BLOCK_SIZE = 16

SHAPE = {
    "vocab_size": 203,
    "hidden_size": 64,
    "intermediate_size": 120,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 512,
    "bos_token_id": None,
    "eos_token_id": 1,
}
LLAMA3 = {
    "rope_type": "llama3",
    "rope_theta": 10000.0,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 64,
}
YARN = {
    "rope_type": "yarn",
    "rope_theta": 10000.0,
    "factor": 4.0,
    "original_max_position_embeddings": 128,
}
LINEAR = {"rope_type": "linear", "rope_theta": 10000.0, "factor": 2.0}
SLIDING = {"use_sliding_window": True, "sliding_window": 24, "max_window_layers": 1}

CASES = {
    "llama": ("Llama", {}),
    "llama tied": ("Llama", {"tie_word_embeddings": True}),
    "llama biases": ("Llama", {"attention_bias": True, "mlp_bias": True}),
    "llama llama3": ("Llama", {"rope_parameters": LLAMA3}),
    "llama linear": ("Llama", {"rope_parameters": LINEAR}),
    "llama yarn": ("Llama", {"rope_parameters": YARN}),
    "llama one kv head": ("Llama", {"num_key_value_heads": 1}),
    "llama no groups": ("Llama", {"num_key_value_heads": 4, "head_dim": 24}),
    "qwen2": ("Qwen2", {}),
    "qwen2 window": ("Qwen2", SLIDING),
    "qwen3": ("Qwen3", {"head_dim": 32}),
    "qwen3 window": ("Qwen3", {**SLIDING, "attention_bias": True, "head_dim": 32}),
    "mistral": ("Mistral", {"sliding_window": None}),
    "mistral window": ("Mistral", {"sliding_window": 20}),
    "mistral wide groups": ("Mistral", {"num_attention_heads": 6, "head_dim": 16}),
}


def build(family: str, extra: dict, *, compiled: bool) -> tuple[torch.nn.Module, DenseDecoder]:
    torch.manual_seed(0)
    config = getattr(transformers, f"{family}Config")(
        **{**SHAPE, "initializer_range": 0.2, **extra}, attn_implementation="eager"
    )
    model = getattr(transformers, f"{family}ForCausalLM")(config).eval()
    with torch.no_grad():  # biases and norms start as constants, which would hide mistakes
        for parameter in model.parameters():
            if parameter.dim() == 1:
                parameter.add_(torch.randn_like(parameter) * 0.1)
    raw = json.loads(config.to_json_string(use_diff=False))
    raw["architectures"] = [f"{family}ForCausalLM"]
    weights = {name: tensor.detach() for name, tensor in model.state_dict().items()}
    return model, DenseDecoder(parse_config(raw), weights, torch.float32, compiled=compiled)


def run_schedule(
    decoder: DenseDecoder,
    prompts: list[list[int]],
    *,
    chunk: int,
    together: int,
    seed: int,
    kind: KvDtype = "auto",
) -> list[dict[int, torch.Tensor]]:
    """Logits by position of every prompt, computed in random chunks beside random neighbours over
    shuffled blocks of a pool full of NaN (block 0 excepted)."""
    rng = random.Random(seed)
    pool = BlockPool(sum(len(p) // BLOCK_SIZE + 1 for p in prompts) + 7, BLOCK_SIZE)
    memory = decoder.new_pool(pool.total + 1, BLOCK_SIZE, kind)
    (memory.data if memory.scales is None else memory.scales)[1:] = float("nan")
    sequences = [Sequence(i, prompt, 0, 512) for i, prompt in enumerate(prompts)]
    blocks = pool.allocate(pool.total)
    rng.shuffle(blocks)
    for sequence in sequences:
        for _ in range(pool.needed(len(sequence.tokens))):
            sequence.table.append(blocks.pop())
        clear_blocks(memory, sequence.table)
    logits: list[dict[int, torch.Tensor]] = [{} for _ in prompts]
    while left := [s for s in sequences if s.pending]:
        chunks = [
            Chunk(s, s.computed, rng.randint(1, min(chunk, s.pending)), True)
            for s in rng.sample(left, rng.randint(1, min(together, len(left))))
        ]
        batch = lay_out(build_runs(chunks), BLOCK_SIZE, decoder.plan)
        rows = decoder.forward(batch, memory)
        for row, part in zip(rows, chunks, strict=False):
            part.sequence.computed += part.count
            logits[part.sequence.arrival][part.sequence.computed - 1] = row
    return logits


def prompts_of(lengths: list[int]) -> list[list[int]]:
    rng = random.Random(7)
    return [[rng.randrange(SHAPE["vocab_size"]) for _ in range(n)] for n in lengths]


@pytest.fixture
def threads(request: pytest.FixtureRequest) -> Iterator[None]:
    """Most cases take one thread: where the cores are busy, two make such small products slow,
    and have fewer and shorter prompts without `--slow`."""
    before = torch.get_num_threads()
    torch.set_num_threads(2 if request.node.callspec.params["case"] == "llama" else 1)
    yield
    torch.set_num_threads(before)


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize("compiled", [False, True], ids=["torch", "compiled"])
@pytest.mark.parametrize("case", CASES)
def test_logits_equal_transformers_under_any_schedule(
    case: str, compiled: bool, pytestconfig: pytest.Config
) -> None:
    model, decoder = build(*CASES[case], compiled=compiled)
    compare = comparison(decoder)
    few = torch.get_num_threads() > 1 and not pytestconfig.getoption("--slow")
    prompts = prompts_of([1, 5, 33] if few else [1, 5, 33, 70, 150])
    with torch.no_grad():
        expected = [model(torch.tensor([p]), use_cache=False).logits[0] for p in prompts]
    alone = [run_schedule(decoder, [p], chunk=1, together=1, seed=0)[0] for p in prompts]
    for rows, plain in zip(alone, expected, strict=True):
        assert sorted(rows) == list(range(len(plain)))
        for position, row in rows.items():
            torch.testing.assert_close(row, plain[position], atol=1e-4, rtol=1e-4)
    for seed, (chunk, together) in enumerate([(200, 5), (40, 3), (7, 5)]):
        for rows, reference in zip(
            run_schedule(decoder, prompts, chunk=chunk, together=together, seed=seed),
            alone,
            strict=True,
        ):
            for position, row in rows.items():
                compare(row, reference[position], "logits depend on the schedule")


@pytest.fixture(params=["llama", "qwen2"])
def in_fp8(request: pytest.FixtureRequest) -> tuple[DenseDecoder, DenseDecoder]:
    """A decoder with weights in fp8, and one with the numbers that they stand for."""
    _, plain = build(*CASES[request.param], compiled=False)
    weights = _weights(plain)
    coded = DenseDecoder(plain.config, weights, torch.float32, weight_dtype="fp8")
    for name in weights:
        if name.endswith("_proj.weight"):
            codes, scales = encode(weights[name], torch.float8_e4m3fn)
            weights[name] = codes.float() * scales[:, None]
    return coded, DenseDecoder(plain.config, weights, torch.float32, compiled=False)


def _weights(decoder: DenseDecoder) -> dict[str, torch.Tensor]:
    """The weights by name, taken apart again."""
    found = {"model.embed_tokens.weight": decoder.embedding, "model.norm.weight": decoder.norm}
    found["lm_head.weight"] = decoder.head
    for number, layer in enumerate(decoder.layers):
        prefix = f"model.layers.{number}"
        found[f"{prefix}.input_layernorm.weight"] = layer.input_norm
        found[f"{prefix}.post_attention_layernorm.weight"] = layer.mlp_norm
        for linear in (layer.qkv, layer.output, layer.gate_up, layer.down):
            begin = 0
            for name, end in linear.parts:
                found[f"{name}.weight"] = linear.weight[begin:end]
                if linear.bias is not None:
                    found[f"{name}.bias"] = linear.bias[begin:end]
                begin = end
    return found


def test_logits_with_weights_in_fp8_are_equal_under_any_schedule(
    in_fp8: tuple[DenseDecoder, DenseDecoder],
) -> None:
    coded, _ = in_fp8
    # Where bits may differ, an activation between two codes may be rounded to either.
    compare = comparison(coded, tolerance=0.5)
    prompts = prompts_of([1, 33, 70])
    alone = [run_schedule(coded, [p], chunk=1, together=1, seed=0)[0] for p in prompts]
    mixed = run_schedule(coded, prompts, chunk=9, together=3, seed=1)
    for mine, whole in zip(mixed, alone, strict=True):
        assert mine
        for position, row in mine.items():
            compare(row, whole[position], f"position {position}")


def test_logits_with_weights_in_fp8_are_near_those_of_bfloat16() -> None:
    found: list[torch.Tensor] = []
    text = '{"name": "Ada Lovelace", "born": 1815, "tags": ["poetry", "mathematics"]}'
    for weight_dtype in ("auto", "fp8"):
        loaded = load(DEMO_PATH, dtype="bfloat16", weight_dtype=weight_dtype)
        tokens, decoder = loaded.encode(text), loaded.decoder
        blocks = len(tokens) // BLOCK_SIZE + 2
        pool = decoder.new_pool(blocks, BLOCK_SIZE)
        runs = [Run(tokens, 0, range(1, blocks), len(tokens))]
        found.append(decoder.forward(lay_out(runs, BLOCK_SIZE, decoder.plan), pool)[: len(tokens)])
    plain, coded = found
    errors = (coded - plain).norm(dim=1) / plain.norm(dim=1)
    assert 0.01 < errors.median() < 0.08
    assert (coded.argmax(1) == plain.argmax(1)).float().mean() > 0.8


def test_weights_in_fp8_take_a_byte_each(in_fp8: tuple[DenseDecoder, DenseDecoder]) -> None:
    coded, plain = in_fp8
    sizes = coded.config.product_sizes
    codes = coded.config.layers * sum(outputs * inputs for outputs, inputs in sizes)
    scales = coded.config.layers * sum(outputs for outputs, _ in sizes)
    assert plain.weight_bytes - coded.weight_bytes == 3 * codes - 4 * scales
    assert [linear.weight.dtype for linear in (coded.layers[0].qkv, coded.layers[1].down)] == [
        torch.float8_e4m3fn
    ] * 2
