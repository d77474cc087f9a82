"""Requests that move between two running engines."""

from __future__ import annotations

import itertools
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import cast

import pytest
import torch

from maskwright.dist.handoff.move import Carry, HandedOver, hand_over
from maskwright.dist.handoff.pieces import CHUNK_BLOCKS, Cutting
from maskwright.engine import Completion, Engine, EngineConfig, FinishReason, Generation, Request
from maskwright.errors import OverloadedError
from maskwright.kernels.kv_bytes import KvDtype
from maskwright.mask import Grammar, compile_json_schema
from maskwright.models import LoadedModel, load
from maskwright.sampling import SamplingParams
from tests.engine.tiny import save_checkpoint

CONFIG = EngineConfig(blocks=160, block_size=4, max_batch_tokens=64, reader_tokens=4)
SCHEMA = {"type": "array", "items": {"type": "string", "maxLength": 9}, "minItems": 6}
SIZE = 4


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    return load(save_checkpoint(tmp_path_factory.mktemp("checkpoint") / "tiny"))


@pytest.fixture(scope="module")
def grammars(loaded: LoadedModel) -> dict[str, Grammar]:
    return {"words": compile_json_schema(SCHEMA, loaded.vocab)}


@contextmanager
def two(loaded: LoadedModel, config: EngineConfig = CONFIG) -> Generator[tuple[Engine, Engine]]:
    with Engine(loaded, config) as source, Engine(loaded, config) as target:
        yield source, target


def free(loaded: LoadedModel, seed: int = 7) -> Request:
    prompt = loaded.encode("the cat sat on the mat, " * 4)
    return Request(prompt, SamplingParams(seed=seed), 60, eos=())


def running(engine: Engine, request: Request, tokens: int) -> Generation:
    """The request with at least so many tokens; its reader then stops, and so it pauses there."""
    generation = engine.submit(request)
    got = 0
    for delta in generation:
        got += len(delta.token_ids)
        if got >= tokens:
            break
    return generation


def handed(
    source: Engine,
    target: Engine,
    request: Request,
    grammars: dict[str, Grammar],
    *,
    tokens: int = 9,
    cut: Cutting = Cutting.WHOLE,
    carry: Carry = lambda message: message,
) -> HandedOver:
    generation = running(source, request, tokens)
    name = None if request.grammar is None else "words"
    moved = hand_over(
        generation,
        source,
        target,
        grammar=name,
        find_grammar=grammars.__getitem__,
        cut=cut,
        carry=carry,
    )
    assert moved is not None
    assert moved.begun >= tokens
    assert generation.result().finish_reason is FinishReason.CANCELLED
    return moved


def alone(loaded: LoadedModel, request: Request, config: EngineConfig = CONFIG) -> Completion:
    with Engine(loaded, config) as engine:
        return engine.submit(request).result()


@pytest.mark.parametrize("kind", ["auto", "int8"])
@pytest.mark.parametrize("cut", Cutting)
def test_what_is_sent_is_what_lacks(
    loaded: LoadedModel, grammars: dict[str, Grammar], cut: Cutting, kind: str
) -> None:
    """A free request, a constrained one, and one whose beginning the other engine has already."""
    config = replace(CONFIG, kv_dtype=cast(KvDtype, kind))
    plain = free(loaded)
    shaped = replace(plain, grammar=grammars["words"], eos=None)
    block = loaded.decoder.block_bytes(SIZE, cast(KvDtype, kind))
    with two(loaded, config) as (source, target):
        shared = len(plain.prompt) // SIZE
        for request, known in ((plain, 0), (shaped, shared)):
            sent: list[bytes] = []

            def carry(message: bytes, sent: list[bytes] = sent) -> bytes:
                sent.append(message)
                return message

            moved = handed(source, target, request, grammars, cut=cut, carry=carry)
            blocks = (len(request.prompt) + moved.begun - 1) // SIZE
            assert moved.lacking == blocks - known
            assert moved.sent_bytes == moved.lacking * block
            assert moved.arrived == blocks
            chunks = -(-moved.lacking // CHUNK_BLOCKS)
            assert (
                len(sent) == {Cutting.WHOLE: 1, Cutting.BY_LAYER: 2, Cutting.BY_CHUNK: chunks}[cut]
            )
            pieces = moved.lacking * (2 if cut is Cutting.BY_LAYER else 1)
            assert sum(map(len, sent)) == moved.sent_bytes + 32 * pieces
            assert moved.generation.result() == alone(loaded, request, config)
            trace = moved.generation.trace
            assert trace is not None
            assert trace.cached_tokens >= blocks * SIZE


@pytest.mark.parametrize("cut", Cutting)
@pytest.mark.parametrize("damage", ["a byte", "the end", "all"])
def test_what_is_damaged_is_computed_again(
    loaded: LoadedModel, grammars: dict[str, Grammar], cut: Cutting, damage: str
) -> None:
    request = replace(free(loaded), grammar=grammars["words"], eos=None)
    number = itertools.count()

    def carry(message: bytes) -> bytes | None:
        if next(number) != (0 if cut is Cutting.WHOLE else 1):
            return message
        if damage == "a byte":
            middle = len(message) // 2
            return message[:middle] + bytes([message[middle] ^ 1]) + message[middle + 1 :]
        return message[: len(message) // 2] if damage == "the end" else None

    with two(loaded) as (source, target):
        moved = handed(source, target, request, grammars, cut=cut, carry=carry)
        assert moved.arrived < moved.lacking
        if damage != "all":
            assert moved.arrived > 0
        assert moved.generation.result() == alone(loaded, request)
        trace = moved.generation.trace
        assert trace is not None
        assert trace.cached_tokens < moved.lacking * SIZE


@pytest.mark.parametrize(
    ("changes", "of_weights"),
    [({"kv_dtype": "int8"}, False), ({"block_size": 8}, False), ({}, True)],
    ids=["stored otherwise", "other blocks", "other weights"],
)
def test_an_engine_that_differs_gets_no_blocks(
    loaded: LoadedModel,
    grammars: dict[str, Grammar],
    changes: dict[str, object],
    of_weights: bool,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Its own tokens follow those that are given."""
    other = loaded
    if of_weights:
        directory = tmp_path_factory.mktemp("checkpoint") / "tiny"
        other = load(save_checkpoint(directory, seed=5))
        assert other.name == loaded.name
    config = replace(CONFIG, **changes)  # pyright: ignore[reportArgumentType]
    request = free(loaded)
    with Engine(loaded, CONFIG) as source, Engine(other, config) as target:
        moved = handed(source, target, request, grammars)
        assert (moved.lacking, moved.sent_bytes, moved.arrived) == (0, 0, 0)
        output = moved.generation.result().token_ids
        begun = replace(request, begun=output[: moved.begun])
        assert output == alone(other, begun, config).token_ids


def test_a_refusal_leaves_the_request_where_it_is(loaded: LoadedModel) -> None:
    request = free(loaded)
    tight = replace(CONFIG, max_running=1, max_waiting=1)
    with Engine(loaded, CONFIG) as source, Engine(loaded, tight) as target:
        busy = [running(target, free(loaded, seed), 1) for seed in (1, 2)]
        generation = running(source, request, 5)
        with pytest.raises(OverloadedError):
            hand_over(generation, source, target, grammar=None, find_grammar={}.__getitem__)
        for one in busy:
            one.cancel()
        rest = [delta.text for delta in generation]
        assert generation.trace is not None
        assert generation.trace.finish_reason is FinishReason.LENGTH
        assert alone(loaded, request).text.endswith("".join(rest))


def test_the_seed_that_the_first_engine_drew_goes_along(
    loaded: LoadedModel, grammars: dict[str, Grammar]
) -> None:
    request = replace(free(loaded), params=SamplingParams(temperature=2.0))
    with two(loaded) as (source, target):
        moved = handed(source, target, request, grammars)
        seeded = replace(
            request, params=SamplingParams(temperature=2.0, seed=moved.generation.seed)
        )
        expected = alone(loaded, seeded)
        assert moved.generation.result() == expected


def test_what_has_ended_is_not_handed_over(loaded: LoadedModel) -> None:
    with two(loaded) as (source, target):
        generation = source.submit(free(loaded))
        generation.result()
        moved = hand_over(generation, source, target, grammar=None, find_grammar={}.__getitem__)
        assert moved is None
        assert target.stats().submitted == 0
