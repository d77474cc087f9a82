"""Requests to several engines of one process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace

import pytest

from maskwright.dist.engine_group import EngineGroup
from maskwright.engine import Delta, Engine, EngineConfig, FinishReason, Generation, Request
from maskwright.errors import EngineStoppedError, InputError, OverloadedError
from maskwright.mask import compile_json_schema
from maskwright.models import LoadedModel, load
from maskwright.sampling import SamplingParams
from tests.engine.tiny import save_checkpoint

CONFIG = EngineConfig(blocks=160, block_size=4, max_batch_tokens=64, reader_tokens=4)
SCHEMA = {"type": "array", "items": {"type": "string", "maxLength": 9}, "minItems": 6}


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    return load(save_checkpoint(tmp_path_factory.mktemp("checkpoint") / "tiny"))


@pytest.fixture
def group(loaded: LoadedModel) -> Iterator[EngineGroup]:
    with ExitStack() as stack:
        engines = {name: stack.enter_context(Engine(loaded, CONFIG)) for name in "abc"}
        yield EngineGroup(engines)


def asking(loaded: LoadedModel, text: str = "the cat sat on the mat, " * 4) -> Request:
    return Request(loaded.encode(text), SamplingParams(seed=7), 40, eos=())


def text_and_tokens(deltas: list[Delta]) -> tuple[str, list[int]]:
    return "".join(delta.text for delta in deltas), [i for delta in deltas for i in delta.token_ids]


def test_a_known_prompt_goes_where_it_is_cached(group: EngineGroup, loaded: LoadedModel) -> None:
    first, generation = group.submit(asking(loaded))
    generation.result()
    other, generation = group.submit(asking(loaded, "what came after that was not the same. " * 3))
    generation.result()
    for _ in range(3):
        name, generation = group.submit(asking(loaded))
        whole = generation.result()
        assert name == first
        assert whole.finish_reason is FinishReason.LENGTH
    cached = {state.name: 80 in state.prefixes for state in group.states(asking(loaded))}
    assert cached[first]
    assert other == first or not cached[other]


def test_a_draining_engine_gets_nothing_new(group: EngineGroup, loaded: LoadedModel) -> None:
    first, generation = group.submit(asking(loaded))
    group.drain(first)
    assert group.submit(asking(loaded))[0] != first
    assert generation.result().finish_reason is FinishReason.LENGTH


def test_an_engine_that_refuses_is_passed_over(
    group: EngineGroup, loaded: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(request: Request) -> Generation:
        raise OverloadedError("The queue is full.", retry_after=2.0)

    for name in "ab":
        monkeypatch.setattr(group.engines[name], "submit", refuse)
    name, generation = group.submit(asking(loaded))
    assert name == "c"
    generation.result()
    group.drain("c")
    with pytest.raises(OverloadedError, match="c: it is draining"):
        group.submit(asking(loaded))


def test_what_no_engine_could_serve_is_the_request_s_own_error(
    group: EngineGroup, loaded: LoadedModel
) -> None:
    with pytest.raises(InputError, match="context"):
        group.submit(replace(asking(loaded), max_tokens=10_000))
    with pytest.raises(InputError, match="adapter"):
        group.submit(replace(asking(loaded), adapter="absent"))


@pytest.mark.parametrize("shaped", [False, True])
@pytest.mark.parametrize("logprobs", [None, 2])
def test_another_engine_goes_on_where_one_stops(
    group: EngineGroup, loaded: LoadedModel, shaped: bool, logprobs: int | None
) -> None:
    request = replace(
        asking(loaded), params=SamplingParams(seed=7, logprobs=logprobs), max_tokens=60
    )
    if shaped:
        grammar = compile_json_schema(SCHEMA, loaded.vocab)
        request = replace(request, grammar=grammar, eos=None)
    expected = text_and_tokens(list(group.answer(request)))
    stopped = 0
    got: list[Delta] = []
    for delta in group.answer(request):
        got.append(delta)
        if len(got) in (2, 3):
            [busy] = [engine for engine in group.engines.values() if not engine.idle]
            busy.stop()
            stopped += 1
    assert stopped == 2
    assert text_and_tokens(got) == expected
    assert got[-1].finish_reason is not None
    assert got[-1].error is None


def test_the_last_delta_says_that_no_engine_is_left(
    group: EngineGroup, loaded: LoadedModel
) -> None:
    deltas: list[Delta] = []
    for delta in group.answer(asking(loaded)):
        if not deltas:
            for engine in group.engines.values():
                engine.stop()
        deltas.append(delta)
    assert deltas[-1].finish_reason is FinishReason.ERROR
    assert isinstance(deltas[-1].error, EngineStoppedError)
