"""Adapters in the engine: which are in memory, whose prefixes are whose, what neighbours change."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from maskwright.engine import Completion, Engine, EngineConfig, Request
from maskwright.engine.adapters import Adapters
from maskwright.errors import InputError, OverloadedError
from maskwright.models import LoadedModel
from maskwright.sampling import SamplingParams
from tests.engine.step.held import held_steps
from tests.models.adapters import save_adapter

TARGETS = ["q_proj", "v_proj", "down_proj"]


@pytest.fixture(scope="module")
def folders(loaded: LoadedModel, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    base = tmp_path_factory.mktemp("adapters")
    for seed, name in enumerate("abc"):
        save_adapter(base / name, loaded.decoder.adapter_shapes, TARGETS, seed=seed)
    return {name: base / name for name in "abc"}


@pytest.fixture
def size(loaded: LoadedModel, folders: dict[str, Path]) -> int:
    return Adapters({"a": folders["a"]}, loaded.decoder, 1 << 20).nbytes


def test_the_one_used_longest_ago_goes_first(
    loaded: LoadedModel, folders: dict[str, Path], size: int
) -> None:
    adapters = Adapters(folders, loaded.decoder, 2 * size)
    assert list(adapters) == ["a", "b", "c"]
    assert (adapters.loads, adapters.evictions, adapters.nbytes) == (3, 1, 2 * size)
    for name in ("b", "a"):  # c goes for a, since b was used after it
        adapters.take(name)
        adapters.give_back(name)
    assert (adapters.loads, adapters.evictions) == (4, 2)
    adapters.take("b")
    adapters.take("a")
    assert adapters.loads == 4


def test_none_in_use_is_given_up(loaded: LoadedModel, folders: dict[str, Path], size: int) -> None:
    adapters = Adapters(folders, loaded.decoder, 2 * size)
    for name in ("a", "b", "b"):
        adapters.take(name)
    with pytest.raises(OverloadedError, match="no room for another"):
        adapters.take("c")
    adapters.give_back("b")
    with pytest.raises(OverloadedError):
        adapters.take("c")
    adapters.give_back("b")
    adapters.take("c")
    assert adapters["c"].nbytes == adapters["a"].nbytes == size
    with pytest.raises(KeyError):
        adapters["b"]


def test_one_that_never_fits_is_reported_at_the_start(
    loaded: LoadedModel, folders: dict[str, Path], size: int
) -> None:
    with pytest.raises(InputError, match=f"Adapter a takes {size} bytes") as caught:
        Engine(loaded, EngineConfig(adapter_bytes=size - 1), folders)
    assert caught.value.param == "adapter_bytes"


def test_files_that_changed_are_refused(loaded: LoadedModel, tmp_path: Path, size: int) -> None:
    for seed, name in enumerate("ab"):
        save_adapter(tmp_path / name, loaded.decoder.adapter_shapes, TARGETS, seed=seed)
    adapters = Adapters({n: tmp_path / n for n in "ab"}, loaded.decoder, size)
    save_adapter(tmp_path / "a", loaded.decoder.adapter_shapes, TARGETS, seed=9)
    with pytest.raises(InputError, match="changed since the start"):
        adapters.take("a")


def requests() -> Iterator[Request]:
    """The same prompts, as each adapter and the model itself answer them."""
    for number in range(8):
        yield Request(
            prompt=[*range(60, 100), number // 4],
            params=SamplingParams(seed=number, temperature=1.0 if number % 2 else 0.0),
            max_tokens=12,
            adapter=(None, "a", "b", "c")[number % 4],
        )


def run(engine: Engine, together: bool) -> list[Completion]:
    if together:
        return [generation.result() for generation in list(map(engine.submit, requests()))]
    return [engine.submit(request).result() for request in requests()]


def test_prefixes_are_not_shared_and_neighbours_change_nothing(
    loaded: LoadedModel, folders: dict[str, Path]
) -> None:
    plain = EngineConfig(max_running=1, prefix_cache=False, drafts=0)
    with Engine(loaded, plain, folders) as engine:
        expected = run(engine, together=False)
    assert len({answer.token_ids for answer in expected[0:8:2]}) == 4, "adapters change nothing"
    with Engine(loaded, EngineConfig(), folders) as engine:
        assert run(engine, together=True) == expected
        hits = engine.stats().prefix_hits
        assert run(engine, together=False) == expected
        # All but the last token of each prompt is there now, under its own adapter.
        assert engine.stats().prefix_hits - hits == 8 * 40


def test_every_end_gives_the_adapter_back(
    loaded: LoadedModel, folders: dict[str, Path], size: int
) -> None:
    """With room for one, the next can be taken only once nobody uses it."""
    config = EngineConfig(adapter_bytes=size, max_running=1, max_waiting=1, drafts=0)
    ask = list(requests())
    with Engine(loaded, config, folders) as engine:
        engine.submit(ask[1]).result()
        engine.submit(ask[2]).result()
        long = Request(ask[3].prompt, ask[3].params, max_tokens=150, adapter="c")
        with held_steps(engine):
            first, second = engine.submit(long), engine.submit(long)
            with pytest.raises(OverloadedError, match="queue is full"):
                engine.submit(long)
            with pytest.raises(OverloadedError, match="no room for another"):
                engine.submit(ask[1])
            first.cancel()
            second.cancel()
        first.result()
        second.result()
        engine.submit(ask[1]).result()
    with pytest.raises(Exception, match="stopped"):
        engine.submit(ask[1])
    assert all(not one.users for one in engine.adapters._loaded.values())


def test_an_adapter_that_is_not_there(loaded: LoadedModel, folders: dict[str, Path]) -> None:
    request = Request([1], SamplingParams(), max_tokens=1, adapter="d")
    with Engine(loaded, None, folders) as engine, pytest.raises(InputError, match="adapter 'd'"):
        engine.submit(request)
