"""Where every layer has a sliding window, blocks behind it are given up while decoding."""

from pathlib import Path

import pytest
import torch
import transformers

from maskwright.engine import EngineConfig, FinishReason, Request
from maskwright.errors import InputError
from maskwright.models import LoadedModel, load
from maskwright.sampling import SamplingParams
from tests.engine.step.test_core import Harness
from tests.engine.tiny import save_checkpoint

WINDOW = 24


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("windowed") / "mistral"
    return save_checkpoint(directory, family="Mistral", positions=512, sliding_window=WINDOW)


@pytest.fixture(scope="module")
def windowed(checkpoint: Path) -> LoadedModel:
    return load(checkpoint)


CONFIG = EngineConfig(block_size=4, blocks=24, max_running=4, max_batch_tokens=16)


def long(number: int, *, shared: int = 40) -> Request:
    prompt = [*range(70, 70 + shared), *([80 + number] * 50)]
    return Request(prompt, SamplingParams(seed=number), max_tokens=60, eos=())


def test_logits_are_those_of_the_plain_forward(checkpoint: Path, windowed: LoadedModel) -> None:
    """Contexts six times the window, more of them than the pool could hold whole, preempted, with a
    shared beginning that is found in the cache: every sampled row against transformers, and freed
    blocks are full of NaN."""
    harness = Harness(windowed, CONFIG)
    assert harness.admission.max_context == 512, "more than the 96 positions in the pool"
    for number in range(5):
        harness.add(long(number), number)
    most = harness.scheduler.attention_window.most_blocks(150)
    assert most * 4 < 150, "a sequence would fill more if it kept everything"
    while not harness.core.idle:
        harness.step()
        for sequence in harness.scheduler.running:
            assert len(harness.scheduler.tables.held(sequence)) <= most
    harness.add(long(0), 9)
    harness.run()
    assert harness.completion(9) == harness.completion(0)
    tree = harness.scheduler.tree
    assert tree is not None
    assert tree.hits > 0
    assert tree.evictions > 0
    model = transformers.AutoModelForCausalLM.from_pretrained(
        checkpoint, attn_implementation="eager"
    )
    for number in range(5):
        completion = harness.completion(number)
        assert completion.finish_reason is FinishReason.LENGTH
        tokens = [*long(number).prompt, *completion.token_ids]
        with torch.no_grad():
            plain = model(torch.tensor([tokens]), use_cache=False).logits[0]
        rows = {len(key[1]): row for key, row in harness.logits.items() if key[0] == number}
        assert sorted(rows) == list(range(90, 150))
        for length, row in rows.items():
            torch.testing.assert_close(row, plain[length - 1], atol=1e-4, rtol=1e-4)


def test_a_hit_and_a_miss_give_the_same_bits(windowed: LoadedModel) -> None:
    """The second goes on from blocks that the first had long given up, where they are still there,
    and computes them again where they are not."""
    got = []
    for config, before in (
        (CONFIG, ()),
        (EngineConfig(block_size=4, blocks=64, max_running=2, max_batch_tokens=32), (0,)),
        (EngineConfig(block_size=4, blocks=26, max_running=2, max_batch_tokens=32), (0, 2)),
    ):
        harness = Harness(windowed, config)
        for number in before:
            harness.add(long(number), number)
            harness.run()
        harness.add(long(1), 1)
        harness.run()
        logits = {key: row for key, row in harness.logits.items() if key[0] == 1}
        got.append((harness.completion(1), logits, harness.scheduler.tree.hits))
    (plain, bits, hits), *others = got
    assert hits == 0
    assert others[0][2] >= 36
    for completion, logits, _ in others:
        assert completion == plain
        assert all(torch.equal(row, bits[key]) for key, row in logits.items())


def test_one_layer_that_sees_everything_keeps_everything(tmp_path: Path) -> None:
    mixed = load(
        save_checkpoint(
            tmp_path / "qwen",
            family="Qwen2",
            use_sliding_window=True,
            sliding_window=WINDOW,
            max_window_layers=1,
        )
    )
    assert sorted(mixed.decoder.config.windows, key=str) == [WINDOW, None]
    assert mixed.decoder.window is None
    harness = Harness(mixed, CONFIG)
    with pytest.raises(InputError, match="exceed the context of 96"):
        harness.add(long(1), 1)
