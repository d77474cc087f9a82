"""The engine on a device: forward and draws by kernels, in Triton's interpreter, which computes on
the CPU, and on a GPU. Its tokens and scores are those of the engine without kernels, also where
decode steps are recorded: as graphs on a GPU, elsewhere by a stand-in that does recorded operations
again."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from maskwright import compile_json_schema
from maskwright.engine import Engine, EngineConfig, Request
from maskwright.kernels.device import INTERPRETED
from maskwright.kernels.kv_bytes import KvDtype
from maskwright.models import load
from maskwright.sampling import SamplingParams, TokenScore
from tests.bounds import wait_until
from tests.engine.step.held import held_steps
from tests.engine.tiny import save_checkpoint
from tests.models.adapters import save_adapter
from tests.models.graphs.tape import TapeRecorder

ROOT = Path(__file__).resolve().parents[3]
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "b": {"enum": ["the cat", "the end"]}},
    "required": ["a", "b"],
}
PARAMS = (
    SamplingParams(temperature=0),
    SamplingParams(temperature=0.8, seed=1, top_k=7),
    SamplingParams(temperature=1.2, seed=2, top_p=0.8, repetition_penalty=1.3),
    SamplingParams(temperature=1.0, seed=3, logprobs=2, scale="masked", min_p=0.01),
    SamplingParams(temperature=0.9, seed=4, logit_bias={5: 3.0}, frequency_penalty=0.4, logprobs=3),
)
SCORED = sum(params.logprobs is not None for params in PARAMS)

ADAPTERS = {"wide": ("q_proj", "v_proj"), "narrow": ("v_proj", "o_proj")}
RANKS = {"wide": 17, "narrow": 3}
FAMILIES: dict[str, dict] = {
    "Llama": {},
    "Qwen3": {"num_hidden_layers": 3, "head_dim": 8},  # the last layer repeats the second
    # Of the transformers backend: windows and capped scores; windows, sinks and experts.
    "Gemma2": {"sliding_window": 6, "attn_logit_softcapping": 0.5, "head_dim": 8},
    "GptOss": {
        "sliding_window": 6,
        "head_dim": 8,
        "num_local_experts": 4,
        "num_experts_per_tok": 2,
    },
}


def checkpoint(directory: Path, family: str = "Llama") -> Path:
    """A tiny model with its adapters."""
    save_checkpoint(directory, family=family, **FAMILIES[family])
    shapes = load(directory, dtype="float32").decoder.adapter_shapes
    for seed, (name, targets) in enumerate(ADAPTERS.items()):
        save_adapter(directory / name, shapes, [*targets], seed=seed, r=RANKS[name])
    return directory


Answer = tuple[list[int], list[list[Any]]]
"""The tokens of a request, and the scores of each; `exact` and `numbers` take a score apart."""


def exact(score: list[Any]) -> list[Any]:
    """What of a score can't differ in its last digits."""
    (token, support, allowed, forced, mask), _, top = score
    return [
        token,
        support,
        allowed,
        forced,
        mask,
        [(each, masked is None) for each, _, masked in top],
    ]


def numbers(score: list[Any]) -> list[float]:
    _, found, top = score
    return [*found, *(value for each in top for value in each[1:] if value is not None)]


def as_lists(score: TokenScore) -> list[Any]:
    return [
        [score.token, score.support, score.allowed, score.forced, score.mask],
        [score.raw, score.masked, score.kept, score.processed],
        [[other.token, other.raw, other.masked] for other in score.top],
    ]


def assert_equal(found: list[Answer], expected: list[Answer]) -> None:
    """Tokens are equal, and so are scores but for the rounding of sums."""
    assert [tokens for tokens, _ in found] == [tokens for tokens, _ in expected]
    for (tokens, mine), (_, others) in zip(found, expected, strict=True):
        assert len(mine) in (0, len(tokens))
        for score, other in zip(mine, others, strict=True):
            assert exact(score) == exact(other)
            assert numbers(score) == pytest.approx(numbers(other), rel=1e-4, abs=1e-4)
    assert sum(bool(scores) for _, scores in found) == SCORED


def answers(
    directory: Path, kv_dtype: KvDtype, device: str = "cpu", *, graphs: bool = True
) -> list[Answer]:
    """The answers of several requests at a time, with two adapters and none, whose prompts are cut,
    share a beginning and don't all fit into the blocks. `graphs`: decode steps are recorded where
    they can be, which they are before those with adapters run."""
    loaded = load(directory, dtype="float32", device=device)
    grammar = compile_json_schema(SCHEMA, loaded.vocab)
    config = EngineConfig(
        blocks=9,
        block_size=8,
        kv_dtype=kv_dtype,
        max_running=3,
        max_batch_tokens=24,
        swap_bytes=1 << 20,
        drafts=4,
        graphs=graphs,
    )
    requests = [
        Request(
            prompt=[*range(30), 40 + number],
            params=params,
            max_tokens=13 if number % 2 else 9,
            grammar=grammar if number % 2 else None,
            adapter=(None, None, None, "wide", "narrow")[number],
        )
        for number, params in enumerate(PARAMS)
    ]
    folders = {name: directory / name for name in ADAPTERS}
    with Engine(loaded, config, folders) as engine:
        with held_steps(engine):  # all are there before one is done
            generations = [engine.submit(request) for request in requests]
        results = [generation.result() for generation in generations]
        core, stats = engine._core, engine.stats()
    on_device = INTERPRETED or device != "cpu"
    assert (engine._device_steps is not None) == on_device  # by default
    assert stats.preemptions
    assert stats.prefix_hits
    table = core._runner.mask_table
    if on_device:
        assert table is not None
        # Requests without a grammar have one mask, and the others pass the same positions.
        assert 2 < table.copied < core.counts.sampled_tokens / 2
    else:
        assert table is None
    recorded = core._runner.graphs
    if graphs and on_device:
        assert recorded is not None
        # Steps with pieces of prompts or adapters are not recorded, all others are.
        assert core.counts.steps / 6 < recorded.replayed < core.counts.steps
    else:
        assert recorded is None
    return [(list(one.token_ids), [as_lists(score) for score in one.scores]) for one in results]


def ahead_answers(
    directory: Path, device_steps: int, device: str = "cpu", *, graphs: bool = False
) -> list[list[int]]:
    """The tokens of requests whose steps the device can compute by itself, so many at each launch.
    `graphs`: they are recorded."""
    loaded = load(directory, dtype="float32", device=device)
    grammar = compile_json_schema(SCHEMA["properties"]["b"], loaded.vocab)
    config = EngineConfig(
        blocks=40, drafts=0, max_running=4, device_steps=device_steps, graphs=graphs
    )
    requests = [
        Request([40 + number], params, limit, grammar=grammar if number < 2 else None)
        for number, (params, limit) in enumerate(zip(PARAMS[:2] * 2, (12, 12, 7, 10), strict=True))
    ]
    with Engine(loaded, config) as engine:
        with held_steps(engine):
            generations = [engine.submit(request) for request in requests]
        found = [list(generation.result().token_ids) for generation in generations]
        # Steps may have been launched before the last ends were known.
        wait_until(lambda: engine.call(lambda: not engine._core._flights).result())
        # How many depends on the tokens: rows whose grammar has to be asked take ordinary steps.
        assert (engine.stats().device_steps > 3) == (device_steps > 0)
        recorded = engine._core._runner.recorded_steps
        # All runs but those whose tables didn't fit are replayed.
        replayed = 0 if recorded is None else recorded.replayed
        assert replayed == (engine.stats().device_steps if graphs else 0)
    return found


@pytest.mark.skipif(
    importlib.util.find_spec("triton") is None, reason="needs triton, of the extra gpu"
)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("family", "kv_dtype", "steps", "count"),
    [
        ("Llama", "auto", "recorded", 1),
        ("Llama", "auto", "recorded", 4),
        ("Llama", "auto", "launched", 1),
        ("Llama", "int8", "recorded", 4),
        ("Qwen3", "auto", "recorded", 1),
        ("Gemma2", "auto", "recorded", 4),
        ("GptOss", "auto", "launched", 4),
        ("GptOss", "int8", "recorded", 1),
    ],
)
def test_tokens_are_those_of_the_engine_without_kernels(
    family: str, kv_dtype: KvDtype, steps: str, count: int, tmp_path: Path
) -> None:
    """`count`: steps of a launch, in the answers that the device gives by itself."""
    directory = checkpoint(tmp_path / "tiny", family)
    expected = answers(directory, kv_dtype), ahead_answers(directory, 0)
    module = "tests.engine.step.test_device"
    run = subprocess.run(
        [sys.executable, "-m", module, directory, kv_dtype, steps, str(count)],
        cwd=ROOT,
        env={**os.environ, "TRITON_INTERPRET": "1"},
        capture_output=True,
        text=True,
        timeout=550,
    )
    assert run.returncode == 0, run.stderr
    found, ahead = json.loads(run.stdout.splitlines()[-1])
    assert_equal(found, expected[0])
    assert ahead == expected[1]


@pytest.mark.gpu
@pytest.mark.parametrize("graphs", [True, False])
@pytest.mark.parametrize("family", FAMILIES)
def test_tokens_on_a_gpu_are_those_of_the_cpu(family: str, graphs: bool, tmp_path: Path) -> None:
    """In float32. The logits differ in their last bits, which seldom changes a draw."""
    directory = checkpoint(tmp_path / "tiny", family)
    assert_equal(answers(directory, "auto", "cuda", graphs=graphs), answers(directory, "auto"))
    expected = ahead_answers(directory, 0)
    for count in (1, 4):
        assert ahead_answers(directory, count, "cuda", graphs=graphs) == expected


if __name__ == "__main__":
    assert INTERPRETED
    kind: KvDtype = "int8" if sys.argv[2] == "int8" else "auto"
    # The self-check takes a minute in the interpreter, and `test_self_check.py` runs it there.
    self_check = "maskwright.models.transformers_backend.load.check_architecture"
    with (
        # Recorded steps have a program for each tile of a split, with keys or without: two.
        patch("maskwright.kernels.attention.tiles.FLOAT32_TILE", 64),
        patch("maskwright.kernels.paged_attention.SPLIT", 128),
        patch("maskwright.models.graphs.SPLIT", 128),
        patch("maskwright.engine.step.runner.find_recorder", lambda _: TapeRecorder()),
        patch(self_check, lambda *_: None),
    ):
        folder, recorded = Path(sys.argv[1]), sys.argv[3] == "recorded"
        ahead = ahead_answers(folder, int(sys.argv[4]), graphs=recorded)
        print(json.dumps([answers(folder, kind, graphs=recorded), ahead]))
