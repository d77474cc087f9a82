"""Blocks that go from one engine to another: bits, tokens, and what is left in the pools."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from maskwright.engine import EngineConfig, Request
from maskwright.engine.step.exchange import BlockExchange, KvPrefix
from maskwright.kernels.kv_bytes import KvDtype
from maskwright.models import LoadedModel, load
from maskwright.sampling import SamplingParams
from tests.engine.step.test_core import Harness, random_request, run_alone
from tests.engine.tiny import save_checkpoint

CONFIG = EngineConfig(blocks=64, block_size=4, max_running=4, max_batch_tokens=32)
PLAIN = Request(list(range(65, 91)), SamplingParams(seed=5), 20, eos=())


class Side(Harness):
    """A core with its exchange."""

    def __init__(self, loaded: LoadedModel, config: EngineConfig = CONFIG) -> None:
        super().__init__(loaded, config)
        self.size = config.block_size
        self.exchange = BlockExchange(self.scheduler.tables, self.runner)

    def prefix(self, request: Request) -> KvPrefix:
        """As `Engine.kv_prefix`."""
        tokens = [*request.prompt, *request.begun]
        return KvPrefix(self.admission.salt(request), tokens[: (len(tokens) - 1) // 4 * 4])

    def begin(self, request: Request, steps: int) -> Request:
        """The request after some steps, as another engine has to run it."""
        self.add(request, 1)
        snapshot = self.core.snapshot(1) or request  # one that a grammar forces has ended already
        for _ in range(steps):
            if self.core.idle:
                break
            self.step()
            snapshot = self.core.snapshot(1) or snapshot
        return snapshot


def moved(source: Side, target: Side, request: Request, lost: frozenset[int] = frozenset()) -> int:
    """Move what `target` lacks of a request; returns the number of blocks."""
    prefix = source.prefix(request)
    lacking = target.exchange.lacking(prefix)
    contents = source.exchange.read(prefix, lacking)
    assert set(contents) <= set(lacking)
    target.exchange.write(prefix, {i: contents[i] for i in contents if i not in lost})
    for side in (source, target):
        side.scheduler.check()
        side.poison()
    return len(contents)


@settings(max_examples=25)
@given(seed=st.integers(0, 10**6), data=st.data())
def test_tokens_and_bits_are_those_of_one_engine(
    loaded: LoadedModel, seed: int, data: st.DataObject
) -> None:
    """At every position, with shared beginnings, with and without grammars, as numbers and as
    codes, with blocks lost on the way."""
    kind = cast(KvDtype, data.draw(st.sampled_from(["auto", "int8", "fp8"])))
    config = replace(CONFIG, kv_dtype=kind, drafts=data.draw(st.sampled_from([0, 4])))
    request = replace(random_request(random.Random(seed), loaded), timeout=None, cache_salt="")
    source, target = Side(loaded, config), Side(loaded, config)
    shared = data.draw(st.integers(0, len(request.prompt)))
    if shared:
        params = SamplingParams(seed=3)
        target.add(Request([*request.prompt[:shared], 65], params, 3, adapter=None), 2)
        target.run()
    begun = source.begin(request, data.draw(st.integers(0, 30)))
    lost = data.draw(st.frozensets(st.integers(0, 20), max_size=3))
    moved(source, target, begun, lost)
    target.add(begun, 1)
    target.run()
    plain = run_alone(loaded, request, kv_dtype=kind)
    assert target.completion(1).token_ids == plain.completion(1).token_ids
    assert target.completion(1).text == plain.completion(1).text
    assert target.completion(1).finish_reason == plain.completion(1).finish_reason
    for key, row in target.logits.items():
        if key[0] == request.params.seed and key in plain.logits:
            assert torch.equal(row, plain.logits[key])
    assert target.pool.used == 0
    source.run()
    assert source.completion(1) == plain.completion(1), "the first engine goes on unharmed"


def test_only_what_lacks_is_moved_and_only_that_is_not_computed(loaded: LoadedModel) -> None:
    """26 tokens of a prompt are 6 whole blocks; the second engine has two of them."""
    source, target = Side(loaded), Side(loaded)
    target.add(replace(PLAIN, prompt=PLAIN.prompt[:9], max_tokens=1), 2)
    target.run()
    begun = source.begin(PLAIN, 2)
    tokens = len(PLAIN.prompt) + len(begun.begun)
    assert target.exchange.lacking(source.prefix(begun)) == [2, 3, 4, 5]
    assert moved(source, target, begun) == 4
    assert target.exchange.lacking(source.prefix(begun)) == []
    before = target.core.counts.computed_tokens
    target.add(begun, 1)
    target.step()
    assert target.core.counts.computed_tokens - before == tokens - 24
    assert target.scheduler.tree is not None
    target.run()
    assert target.completion(1) == run_alone(loaded, PLAIN).completion(1)


@pytest.mark.parametrize("lost", range(6))
def test_what_follows_a_lost_block_is_computed_again(loaded: LoadedModel, lost: int) -> None:
    source, target = Side(loaded), Side(loaded)
    begun = source.begin(PLAIN, 2)
    tokens = len(PLAIN.prompt) + len(begun.begun)
    moved(source, target, begun, frozenset([lost]))
    target.add(begun, 1)
    target.step()
    assert target.core.counts.computed_tokens == tokens - 4 * lost
    target.run()
    assert target.completion(1) == run_alone(loaded, PLAIN).completion(1)


def test_wrong_contents_would_show(loaded: LoadedModel) -> None:
    """The second engine reads what has arrived: with one byte changed, logits differ."""
    source, target = Side(loaded), Side(loaded)
    begun = source.begin(PLAIN, 2)
    prefix = source.prefix(begun)
    contents = source.exchange.read(prefix, range(6))
    changed = contents[3].copy()
    changed[0, 3] ^= 0x40  # the exponent of a number
    target.exchange.write(prefix, contents | {3: changed})
    target.add(begun, 1)
    target.step()
    plain = run_alone(loaded, PLAIN)
    assert not all(torch.equal(row, plain.logits[key]) for key, row in target.logits.items())


def test_a_full_pool_takes_what_has_room(loaded: LoadedModel) -> None:
    """A running request keeps its blocks, and those that only the tree holds give way."""
    source, target = Side(loaded), Side(loaded, replace(CONFIG, blocks=12))
    begun = source.begin(PLAIN, 2)
    target.add(replace(PLAIN, prompt=[1] * 33, max_tokens=8), 2)
    target.step()
    target.step()
    assert target.pool.used == 9
    assert moved(source, target, begun) == 6
    assert target.exchange.lacking(source.prefix(begun)) == [3, 4, 5]
    assert (target.pool.used, target.pool.cached) == (9, 3)
    target.add(begun, 1)
    target.run()
    assert target.completion(1) == run_alone(loaded, PLAIN).completion(1)


@pytest.mark.parametrize("sides", ["source", "target"])
def test_without_a_prefix_cache_all_is_computed_again(loaded: LoadedModel, sides: str) -> None:
    without = replace(CONFIG, prefix_cache=False)
    source = Side(loaded, without if sides == "source" else CONFIG)
    target = Side(loaded, without if sides == "target" else CONFIG)
    begun = source.begin(PLAIN, 2)
    assert moved(source, target, begun) == 0
    target.add(begun, 1)
    target.run()
    assert target.completion(1) == run_alone(loaded, PLAIN).completion(1)


def test_a_snapshot_has_seed_output_and_the_time_left(loaded: LoadedModel) -> None:
    side = Side(loaded, replace(CONFIG, drafts=0))
    request = replace(PLAIN, timeout=10.0)
    side.add(request, 1)
    for _ in range(4):
        side.step()
    side.now = 4.0
    snapshot = side.core.snapshot(1)
    expected = run_alone(loaded, PLAIN).completion(1).token_ids[:4]
    assert snapshot == replace(request, timeout=6.0, begun=expected)
    side.now = 12.0
    late = side.core.snapshot(1)
    assert late is not None
    assert late.timeout == 1e-3
    side.core.cancel(1)
    assert side.core.snapshot(1) is None


def test_an_output_with_scores_is_generated_anew(loaded: LoadedModel) -> None:
    source, target = Side(loaded), Side(loaded)
    request = replace(PLAIN, params=SamplingParams(seed=5, logprobs=2))
    begun = source.begin(request, 5)
    assert begun == request
    assert moved(source, target, begun) == 6
    target.add(begun, 1)
    target.run()
    assert target.completion(1) == run_alone(loaded, request).completion(1)


@pytest.fixture(scope="module")
def windowed(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    directory: Path = tmp_path_factory.mktemp("windowed") / "mistral"
    return load(save_checkpoint(directory, family="Mistral", positions=512, sliding_window=24))


@pytest.mark.parametrize("steps", [1, 4, 8, 40])
@pytest.mark.parametrize("neighbours", [0, 3])
def test_with_a_window_only_the_blocks_inside_it_are_moved(
    windowed: LoadedModel, steps: int, neighbours: int
) -> None:
    """The second engine's pool is so small that its neighbours leave gaps in what it has."""
    prompt = [*range(70, 110), *([80] * 50)]
    request = Request(prompt, SamplingParams(seed=1), 60, eos=())
    config = replace(CONFIG, blocks=24, max_batch_tokens=16, drafts=0)
    source, target = Side(windowed, config), Side(windowed, config)
    for number in range(2, 2 + neighbours):
        target.add(replace(request, prompt=[*prompt[: 15 * number], number]), number)
    target.run()
    begun = source.begin(request, steps)
    prefix = source.prefix(begun)
    lacking = target.exchange.lacking(prefix)
    window = target.scheduler.attention_window
    outside = window.blocks_outside(len(prefix.tokens))
    assert min(lacking, default=outside) >= outside
    held = source.exchange.read(prefix, lacking)
    assert moved(source, target, begun) == len(held)
    if len(held) == len(lacking):
        assert target.exchange.lacking(prefix) == []
    target.add(begun, 1)
    target.run()
    alone = Side(windowed, config)
    alone.add(request, 1)
    alone.run()
    assert target.completion(1) == alone.completion(1)
    assert target.pool.used == 0
