"""Blocks that go to the host's memory and come back."""

import random
from dataclasses import replace

import pytest
import torch

from maskwright.engine import Engine, EngineConfig, FinishReason, Request
from maskwright.models import LoadedModel
from maskwright.sampling import SamplingParams
from tests.engine.step.late_copies import LateCopies
from tests.engine.step.test_core import Harness, alone, run_alone

CONFIG = EngineConfig(
    block_size=4, blocks=16, max_running=4, max_batch_tokens=64, swap_bytes=1 << 20, drafts=0
)


def requests(count: int) -> list[Request]:
    rng = random.Random(count)
    return [
        Request([rng.randrange(256) for _ in range(12)], SamplingParams(seed=i), 40, eos=())
        for i in range(count)
    ]


@pytest.mark.parametrize("prefix_cache", [False, True])
@pytest.mark.parametrize("kv_dtype", ["auto", "int8", "fp8"])
def test_bits_are_the_same_after_coming_back(
    loaded: LoadedModel, kv_dtype: str, prefix_cache: bool
) -> None:
    """A pool too small for four: the younger are swapped out, and no token is computed twice but
    the last of each that comes back."""
    harness = Harness(loaded, replace(CONFIG, kv_dtype=kv_dtype, prefix_cache=prefix_cache))
    for number, request in enumerate(requests(4)):
        harness.add(request, number)
    harness.run()
    assert harness.scheduler.swaps == harness.scheduler.preemptions > 0
    assert harness.core.counts.computed_tokens <= 4 * (12 + 39) + harness.scheduler.swaps
    assert harness.scheduler.host.used == 0
    for number, request in enumerate(requests(4)):
        plain = run_alone(loaded, request, kv_dtype=kv_dtype)
        assert harness.completion(number) == plain.completion(1)
        for key, row in plain.logits.items():
            assert torch.equal(row, harness.logits[key])


def test_a_full_host_pool_leaves_the_rest_to_be_computed_again(loaded: LoadedModel) -> None:
    """Seven blocks hold the shorter ones; no block stays behind."""
    block = loaded.decoder.block_bytes(4)
    harness = Harness(loaded, replace(CONFIG, swap_bytes=7 * block))
    for number, request in enumerate(requests(4)):
        harness.add(request, number)
    harness.run()
    assert 0 < harness.scheduler.swaps < harness.scheduler.preemptions
    assert [harness.completion(i) for i in range(4)] == [alone(loaded, r) for r in requests(4)]


def test_a_cancel_while_swapped_out_frees_both_pools(loaded: LoadedModel) -> None:
    harness = Harness(loaded, CONFIG)
    for number, request in enumerate(requests(4)):
        harness.add(request, number)
    while not (out := [s for s in harness.scheduler.waiting if s.host]):
        harness.step()
    for sequence in out:
        held = harness.scheduler.host.used
        harness.core.cancel(sequence.arrival)
        assert harness.scheduler.host.used < held
        harness.scheduler.check()
    harness.run()
    assert harness.scheduler.host.used == harness.pool.used == 0
    for number, request in enumerate(requests(4)):
        completion = harness.completion(number)
        if completion.finish_reason is not FinishReason.CANCELLED:
            assert completion == alone(loaded, request)


@pytest.mark.parametrize("prefix_cache", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_copies_beside_steps_change_nothing(
    loaded: LoadedModel, seed: int, prefix_cache: bool
) -> None:
    """They end late and in any order. Steps compute meanwhile, no block of theirs is read or
    written before, and none is lost. (The harness fills free blocks with NaN after each step.)"""
    late = LateCopies(random.Random(seed))
    harness = Harness(loaded, replace(CONFIG, prefix_cache=prefix_cache), late)
    for number, request in enumerate(requests(4)):
        harness.add(request, number)
    beside = 0
    while not harness.core.idle:
        in_flight, computed = late.in_flight, harness.core.counts.computed_tokens
        harness.step()
        beside += in_flight > 0 and harness.core.counts.computed_tokens > computed
    assert harness.scheduler.swaps == harness.scheduler.preemptions > 0
    assert len(late.begun) > harness.scheduler.swaps, "some came back"
    assert beside > 0
    assert harness.scheduler.host.used == harness.pool.used == late.in_flight == 0
    assert harness.core.counts.computed_tokens <= 4 * (12 + 39) + harness.scheduler.swaps
    for number, request in enumerate(requests(4)):
        plain = run_alone(loaded, request)
        assert harness.completion(number) == plain.completion(1)
        for key, row in plain.logits.items():
            assert torch.equal(row, harness.logits[key])


@pytest.mark.parametrize("after", [0, 1, 5])
def test_a_cancel_during_copies_frees_blocks_when_they_have_ended(
    loaded: LoadedModel, after: int
) -> None:
    late = LateCopies(random.Random(after))
    harness = Harness(loaded, CONFIG, late)
    for number, request in enumerate(requests(4)):
        harness.add(request, number)
    copied = 0
    while not harness.core.idle:
        harness.step()
        moving = [s for s in harness.scheduler.live() if s.transfer is not None]
        copied += bool(moving)
        if moving and copied > after:
            held = [block for t in harness.scheduler.tables.transfers for block in t.blocks]
            harness.core.cancel(moving[0].arrival)
            harness.scheduler.check()
            assert all(map(harness.pool.references, held))
    assert copied > after
    assert harness.scheduler.host.used == harness.pool.used == late.in_flight == 0
    for number, request in enumerate(requests(4)):
        completion = harness.completion(number)
        if completion.finish_reason is not FinishReason.CANCELLED:
            assert completion == alone(loaded, request)


def test_the_engine_swaps_once_it_has_seen_that_it_pays(loaded: LoadedModel) -> None:
    """With the true clock either may be cheaper; that it was tried, and that nothing is left in the
    host's pool, holds on any machine."""
    with Engine(loaded, CONFIG) as engine:
        assert "+ swap 1.0 MiB" in engine.capacity.report()
        streams = [
            engine.submit(replace(request, prompt=request.prompt * 2, max_tokens=30))
            for request in requests(6)
        ]
        assert {stream.result().finish_reason for stream in streams} == {FinishReason.LENGTH}
        stats = engine.stats()
        assert 0 < stats.swaps <= stats.preemptions
