"""Blocks that leave the pool for host memory and disk, and come back: bits, tokens and bounds."""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
import torch

from maskwright.engine import Completion, Engine, EngineConfig, Request
from maskwright.engine.schedule.step_time import StepTimeModel
from maskwright.engine.step import tiering
from maskwright.engine.step.tiering import BlockTiers
from maskwright.engine.tiers.disk_folder import DiskFolder
from maskwright.engine.tiers.disk_thread import DiskThread
from maskwright.engine.tiers.stores import HostStore, Stores
from maskwright.kernels.kv_bytes import KvDtype
from maskwright.models import LoadedModel, load
from maskwright.sampling import SamplingParams
from tests.engine.step.test_core import random_requests, run_alone
from tests.engine.step.test_exchange import Side
from tests.engine.tiny import save_checkpoint
from tests.models.adapters import save_adapter

CONFIG = EngineConfig(blocks=26, block_size=4, max_running=3, max_batch_tokens=32, drafts=0)


class Tiered(Side):
    """A core with stores; `run` moves blocks to the end."""

    def __init__(
        self,
        loaded: LoadedModel,
        config: EngineConfig = CONFIG,
        *,
        host: int = 0,
        folder: Path | None = None,
        disk: int = 1 << 30,
        step_times: StepTimeModel | None = None,
    ) -> None:
        super().__init__(loaded, config)
        thread = None
        if folder is not None:
            opened = DiskFolder(folder, disk, config.kv_policy)
            thread = DiskThread(opened, self.post_step_work.wake)
        memory = HostStore(host, config.kv_policy) if host else None
        self.stores = Stores(f"test {config.kv_dtype}", memory, thread)
        self.tiers = BlockTiers(
            self.scheduler.tables, self.exchange, self.runner, self.stores, step_times
        )
        self.core.tiers = self.tiers
        self.scheduler.arriving = self.tiers.arriving

    def run(self) -> None:
        super().run()
        while self.tiers.waits:
            self.core.move_blocks()
            self.scheduler.check()
        if self.stores.disk is not None:
            self.stores.disk.flush()

    def answers(self, requests: list[Request], first: int = 0) -> list[Completion]:
        for number, request in enumerate(requests, first):
            self.add(request, number)
        self.run()
        return [self.completion(number) for number in range(first, first + len(requests))]

    def in_turn(self, requests: list[Request], first: int = 0) -> list[Completion]:
        """One after the other, so that each evicts those before it."""
        return [self.answers([r], n)[0] for n, r in enumerate(requests, first)]

    @property
    def fetched(self) -> int:
        return sum(self.tiers.fetched.values())


@contextmanager
def tiered(loaded: LoadedModel, config: EngineConfig = CONFIG, **stores: Any) -> Generator[Tiered]:
    side = Tiered(loaded, config, **stores)
    try:
        yield side
    finally:
        side.tiers.stop(save=False)


def prompts(count: int, length: int = 60) -> list[Request]:
    """Requests whose prompts fill most of the pool, so that each evicts the one before."""
    rng = random.Random(count)
    return [
        Request([rng.randrange(256) for _ in range(length)], SamplingParams(seed=n), 8, eos=())
        for n in range(count)
    ]


def damage(folder: Path, rng: random.Random) -> None:
    """Flip a bit, cut or remove about every third file."""
    for path in folder.glob("??/*.kv"):
        data = bytearray(path.read_bytes())
        match rng.randrange(9):
            case 0:
                data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
                path.write_bytes(data)
            case 1:
                path.write_bytes(data[: rng.randrange(len(data))])
            case 2:
                path.unlink()


@pytest.mark.parametrize("seed", range(4))
def test_no_store_changes_a_token_or_a_bit(loaded: LoadedModel, seed: int) -> None:
    compare(loaded, seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4, 100))
def test_no_store_changes_a_token_or_a_bit_at_many_seeds(loaded: LoadedModel, seed: int) -> None:
    compare(loaded, seed)


def compare(loaded: LoadedModel, seed: int) -> None:
    """In memory and on disk, with room for much and for little, as numbers and as codes, with
    blocks swapped, shared between two engines, damaged, cut off and removed."""
    rng = random.Random(seed)
    kind = cast(KvDtype, rng.choice(["auto", "int8", "fp8"]))
    block = loaded.decoder.block_bytes(4, kind)
    config = replace(
        CONFIG,
        kv_dtype=kind,
        drafts=rng.choice([0, 4]),
        kv_policy=rng.choice(["lru", "lfu"]),
        swap_bytes=rng.choice([0, 1 << 18]),
    )
    requests = random_requests(rng, loaded)[:5]
    with tempfile.TemporaryDirectory() as name:
        folder = rng.choice([Path(name), None])
        host = rng.choice([0, 3 * block, 1 << 20]) if folder else rng.choice([3 * block, 1 << 20])
        stores = {"host": host, "folder": folder, "disk": rng.choice([9 * block, 1 << 20])}
        with tiered(loaded, config, **stores) as one, tiered(loaded, config, **stores) as other:
            sides = (one, other)
            answers: list[tuple[Request, Completion]] = []
            for turn in range(4):
                side, first = sides[turn % 2], 100 * turn
                some = rng.sample(requests, rng.randint(1, len(requests)))
                answers += zip(some, side.answers(some, first), strict=True)
                if folder is not None and rng.random() < 0.5:
                    damage(folder, rng)
                if side.stores.host is not None:
                    assert side.stores.host.bytes <= host
            plains = {id(r): run_alone(loaded, r, kv_dtype=kind) for r, _ in answers}
            for request, got in answers:
                plain = plains[id(request)]
                assert got == plain.completion(1)
                for side in sides:
                    for key, row in plain.logits.items():
                        if key in side.logits:
                            assert torch.equal(row, side.logits[key])
            assert one.pool.used == other.pool.used == 0


@pytest.mark.parametrize("tier", ["host", "disk"])
def test_an_evicted_prefix_is_not_computed_again(
    loaded: LoadedModel, tier: str, tmp_path: Path
) -> None:
    stores = {"host": 1 << 20} if tier == "host" else {"folder": tmp_path}
    requests = prompts(3)
    with tiered(loaded, **stores) as side:
        first = side.in_turn(requests)
        assert side.fetched == 0
        before = side.core.counts.computed_tokens
        assert side.in_turn(requests, 10) == first
        assert 28 < side.fetched == side.tiers.counts()[tier]["fetched"]
        assert side.core.counts.computed_tokens - before == 3 * (60 + 7 - 56)
        assert first == [run_alone(loaded, request).completion(1) for request in requests]


def test_wrong_contents_would_show(loaded: LoadedModel) -> None:
    """What comes back is read: with one bit changed in memory, where no checksum is, logits
    differ."""
    requests = prompts(3)
    with tiered(loaded, host=1 << 20) as side:
        side.answers(requests)
        assert side.stores.host is not None
        blocks = side.stores.host._blocks
        for key, contents in blocks.items():
            blocks[key] = bytes([*contents[:2], contents[2] ^ 0x40, *contents[3:]])
        plain = run_alone(loaded, requests[0])
        side.logits.clear()
        side.answers(requests[:1], 10)
        assert not all(torch.equal(row, side.logits[key]) for key, row in plain.logits.items())


def test_host_memory_spills_to_disk(loaded: LoadedModel, tmp_path: Path) -> None:
    block, requests = loaded.decoder.block_bytes(4), prompts(4)
    with tiered(loaded, host=10 * block, folder=tmp_path) as side:
        first = side.in_turn(requests)
        assert side.in_turn(requests[::-1], 10) == first[::-1]
        counts = side.tiers.counts()
        assert counts["host"]["bytes"] <= 10 * block
        assert counts["host"]["evicted"] > 0 < counts["disk"]["saved"]
        assert side.tiers.fetched["host"] > 0 < side.tiers.fetched["disk"]


def test_the_bound_of_the_folder_holds(loaded: LoadedModel, tmp_path: Path) -> None:
    size = loaded.decoder.block_bytes(4) + 36
    with tiered(loaded, folder=tmp_path, disk=10 * size) as side:
        first = side.in_turn(prompts(4))
        assert side.in_turn(prompts(4), 10) == first
        files = list(tmp_path.glob("??/*"))
        assert sum(path.stat().st_size for path in files) <= 10 * size
        assert side.tiers.counts()["disk"]["evicted"] > 0


def test_another_engine_finds_a_finished_prefix(loaded: LoadedModel, tmp_path: Path) -> None:
    """Nothing was evicted: the pools have room for everything."""
    config, [request] = replace(CONFIG, blocks=64), prompts(1)
    stores = {"folder": tmp_path}
    with tiered(loaded, config, **stores) as one, tiered(loaded, config, **stores) as other:
        first = one.answers([request])
        assert one.scheduler.tree is not None
        assert one.scheduler.tree.evictions == 0
        assert other.answers([request]) == first
        assert other.fetched == 14
        assert other.core.counts.computed_tokens == 60 + 7 - 56


@pytest.mark.parametrize("lost", [0, 5, 13])
def test_what_follows_a_lost_block_is_computed_again(
    loaded: LoadedModel, lost: int, tmp_path: Path
) -> None:
    config, [request] = replace(CONFIG, blocks=64), prompts(1)
    stores = {"folder": tmp_path}
    with tiered(loaded, config, **stores) as one, tiered(loaded, config, **stores) as other:
        first = one.answers([request])
        assert one.scheduler.tree is not None
        nodes = one.scheduler.tree.along(one.admission.salt(request), request.prompt)
        name = one.stores.key(nodes[lost].digest).hex()
        path = tmp_path / name[:2] / f"{name}.kv"
        data = bytearray(path.read_bytes())
        data[-1] ^= 1
        path.write_bytes(data)
        assert other.answers([request]) == first
        assert other.fetched == lost
        assert other.tiers.counts()["disk"]["damaged"] == 1


@pytest.fixture(scope="module")
def windowed(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    directory: Path = tmp_path_factory.mktemp("windowed") / "mistral"
    return load(save_checkpoint(directory, family="Mistral", positions=512, sliding_window=24))


@pytest.mark.parametrize("host", [0, 1 << 20])
def test_with_a_window_only_the_blocks_inside_it_come_back(
    windowed: LoadedModel, host: int, tmp_path: Path
) -> None:
    requests = prompts(4, 100)
    with tiered(windowed, host=host, folder=tmp_path) as side:
        first = side.answers(requests)
        assert side.answers(requests, 10) == first
        window = side.scheduler.attention_window
        assert 0 < side.fetched <= 4 * (24 - window.blocks_outside(96))
        assert side.pool.used == 0
    with tiered(windowed, replace(CONFIG, blocks=64, max_running=1)) as plain:
        assert plain.answers(requests) == first


def test_a_request_that_ends_while_its_blocks_come_is_forgotten(
    loaded: LoadedModel, tmp_path: Path
) -> None:
    [request] = prompts(1)
    with tiered(loaded, folder=tmp_path) as side:
        side.answers([request])
    with tiered(loaded, folder=tmp_path) as side:
        side.add(request, 1)
        side.step()
        assert side.tiers._fetches
        side.core.cancel(1)
        assert not side.tiers._fetches
        assert not side.tiers._sought
        assert side.answers([request], 2) == [run_alone(loaded, request).completion(1)]


def test_requests_with_one_prefix_fetch_it_once(loaded: LoadedModel, tmp_path: Path) -> None:
    [request] = prompts(1)
    with tiered(loaded, folder=tmp_path) as side:
        [first] = side.answers([request])
    with tiered(loaded, replace(CONFIG, blocks=64), folder=tmp_path) as side:
        assert side.answers([request] * 3) == [first] * 3
        assert side.fetched == 14


def test_running_requests_are_not_delayed(
    loaded: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While others decode, a step brings in only the blocks that lengthen it by a twentieth."""
    model = StepTimeModel(32, 4.0)
    model.observe(1, 0, 0.010)
    [request] = prompts(1)
    neighbour = replace(request, prompt=[1, 2, 3], max_tokens=30)
    with tiered(loaded, replace(CONFIG, blocks=64), host=1 << 20, step_times=model) as side:
        side.answers([request])
        assert side.scheduler.tree is not None
        side.scheduler.tree.evict(side.pool.cached)
        side.add(neighbour, 10)
        side.step()
        monkeypatch.setattr(tiering, "moving_mean", lambda *_: 0.000_2)  # two in 0.5 ms
        side.tiers._land_seconds = 0.000_2
        side.add(request, 11)
        side.step()
        for count in range(2, 15, 2):
            side.step()
            assert side.fetched == count
        side.run()
        assert side.completion(11) == run_alone(loaded, request).completion(1)
        assert side.completion(10) == run_alone(loaded, neighbour).completion(1)


def test_what_takes_longer_to_fetch_is_computed_and_tried_again_later(
    loaded: LoadedModel,
) -> None:
    model = StepTimeModel(32, 4.0)
    model.observe(0, 32, 0.032)  # a millisecond a token
    requests = prompts(3)
    with tiered(loaded, host=1 << 20, step_times=model) as side:
        first = side.in_turn(requests)
        side.tiers._land_seconds = 0.005  # a block of four tokens
        before = side.core.counts.computed_tokens
        assert side.answers(requests[:1], 10) == first[:1]
        assert side.tiers.declined == {"host": 14, "disk": 0}
        assert side.fetched == 0
        assert side.core.counts.computed_tokens - before == 67
        for number in range(20, 30):
            side.answers([requests[number % 3]], number)
        assert side.fetched > 0


def test_an_engine_that_stops_at_once_has_written_what_it_answered(
    loaded: LoadedModel, tmp_path: Path
) -> None:
    config = replace(CONFIG, blocks=64, kv_disk=tmp_path)
    with Engine(loaded, config) as engine:
        for request in prompts(3):
            engine.submit(request).result()
    assert len(list(tmp_path.glob("??/*.kv"))) == 3 * 16
    Engine(loaded, config).stop()  # one that was never started


def test_the_engine_tells_how_long_prefixes_stay(loaded: LoadedModel) -> None:
    """Nothing before the first eviction, then an age, and nothing where stores keep what is
    evicted."""
    for config, tells in ((CONFIG, True), (replace(CONFIG, kv_host_bytes=1 << 20), False)):
        with Engine(loaded, config) as engine:
            begin = time.monotonic()
            for number, request in enumerate(prompts(3)):
                engine.submit(request).result()
                assert number or engine.cached_seconds() is None
            seconds = engine.cached_seconds()
            assert (seconds is not None) == tells
            assert seconds is None or 0 <= seconds <= time.monotonic() - begin


def test_the_engine_with_stores_and_adapters(loaded: LoadedModel, tmp_path: Path) -> None:
    """Two engines, one after the other, on one folder; adapters have prefixes of their own."""
    save_adapter(tmp_path / "a", loaded.decoder.adapter_shapes, ["q_proj", "v_proj"], seed=1)
    config = replace(CONFIG, kv_host_bytes=1 << 16, kv_disk=tmp_path / "kv")
    mixed = [replace(r, adapter=name) for r in prompts(2) for name in ("a", None)]
    answers: list[list[Completion]] = []
    for settings_ in (replace(config, kv_host_bytes=0, kv_disk=None), config, config):
        with Engine(loaded, settings_, {"a": tmp_path / "a"}) as engine:
            answers.append([engine.submit(request).result() for request in mixed])
            stats = engine.stats()
    texts = [[answer.token_ids for answer in some] for some in answers]
    assert texts[0] == texts[1] == texts[2]
    assert answers[0][0].token_ids != answers[0][1].token_ids, "the adapter matters"
    assert 0 < stats.tiers["disk"]["fetched"] * 4 == stats.prefix_hits
