"""Outputs that another engine has begun: they go on as they would have there."""

from __future__ import annotations

from dataclasses import replace

import pytest

from maskwright.engine import Completion, Delta, Engine, EngineConfig, Request
from maskwright.errors import GenerationError, InputError
from maskwright.mask import compile_json_schema
from maskwright.models import LoadedModel
from maskwright.processes import GrammarProcesses
from maskwright.processes.messages import Build
from maskwright.sampling import SamplingParams
from tests.engine.test_constrained import SCHEMAS, SMALL

CONFIG = EngineConfig(blocks=64, block_size=4, max_running=8, max_batch_tokens=24)


def requests(loaded: LoadedModel) -> list[Request]:
    """With and without a grammar, stop strings among them."""
    grammars = [compile_json_schema(schema, loaded.vocab) for schema in SCHEMAS]
    prompt = loaded.encode("the cat sat on the mat")
    shaped = [
        Request(prompt, SamplingParams(seed=seed), 40, grammar=grammar)
        for seed, grammar in enumerate(grammars)
    ]
    free = Request(prompt, SamplingParams(seed=9, temperature=1.5), 40)
    return [*shaped, free, replace(free, stop=("a", "e", "top"), params=SamplingParams(seed=3))]


def deltas_of(engine: Engine, request: Request) -> list[Delta]:
    return list(engine.submit(request))


def ends_of(deltas: list[Delta]) -> list[int]:
    """The number of output tokens after each delta but the last one."""
    ends: list[int] = []
    for delta in deltas[:-1]:
        ends.append(len(delta.token_ids) + (ends[-1] if ends else 0))
    return ends


def tokens_of(deltas: list[Delta]) -> tuple[int, ...]:
    return tuple(token for delta in deltas for token in delta.token_ids)


@pytest.mark.parametrize("config", [CONFIG, SMALL], ids=["roomy", "preempting"])
def test_an_output_goes_on_in_another_engine(loaded: LoadedModel, config: EngineConfig) -> None:
    asked = requests(loaded)
    with Engine(loaded, config) as first:
        whole = [deltas_of(first, request) for request in asked]
    with Engine(loaded, config) as second:
        work: list[tuple[list[Delta], int, Request]] = []
        for request, deltas in zip(asked, whole, strict=True):
            ends = ends_of(deltas)
            for sent in sorted({0, 1, len(ends) // 2, len(ends)}):
                cuts = tuple(ends[:sent])
                begun = tokens_of(deltas)[: cuts[-1] if cuts else 0]
                at = Delta.join(deltas[:sent]).shortened_at if sent else None
                asked_on = replace(request.going_on(begun, at), cuts=cuts)
                work.append((deltas, len(cuts), asked_on))
        running = [(deltas, sent, second.submit(one)) for deltas, sent, one in work]
        for deltas, sent, generation in running:
            again = list(generation)
            assert again[:sent] == deltas[:sent]
            assert tokens_of(again) == tokens_of(deltas)
            assert "".join(delta.text for delta in again) == "".join(d.text for d in deltas)
            assert again[-1].finish_reason == deltas[-1].finish_reason
            assert again[-1].shortened_at == deltas[-1].shortened_at
        assert second.stats().blocks_used == 0


def test_an_output_that_was_complete_ends_at_once(loaded: LoadedModel) -> None:
    for request in requests(loaded):
        with Engine(loaded, CONFIG) as engine:
            expected = engine.submit(request).result()
            steps = engine.stats().sampled_tokens
            going_on = request.going_on(expected.token_ids, expected.shortened_at)
            again = engine.submit(going_on).result()
            assert again == expected
            assert engine.stats().sampled_tokens == steps


def test_grammars_in_processes_are_replayed(loaded: LoadedModel) -> None:
    [request, *_] = requests(loaded)
    processes = GrammarProcesses(loaded.vocab)
    try:
        grammar = processes.compile(Build(compile_json_schema, (SCHEMAS[0],), {})).result()
        request = replace(request, grammar=grammar)
        with Engine(loaded, CONFIG) as engine:
            deltas = deltas_of(engine, request)
            grammar.forget()
            end = ends_of(deltas)[len(deltas) // 2]
            again = engine.submit(replace(request, begun=tokens_of(deltas)[:end])).result()
        assert again.token_ids == tokens_of(deltas)
    finally:
        processes.close()


def test_with_scores_the_output_is_generated_again_in_the_same_pieces(loaded: LoadedModel) -> None:
    for request in requests(loaded):
        request = replace(request, params=replace(request.params, logprobs=1))
        with Engine(loaded, CONFIG) as engine:
            deltas = deltas_of(engine, request)
            ends = ends_of(deltas)
            again = deltas_of(engine, replace(request, cuts=tuple(ends[: len(ends) // 2 + 1])))
        sent = len(ends[: len(ends) // 2 + 1])
        assert again[:sent] == deltas[:sent]
        assert Delta.join(again) == Delta.join(deltas)


def test_a_beginning_that_the_grammar_forbids_is_an_error(loaded: LoadedModel) -> None:
    [request, *_] = requests(loaded)
    with Engine(loaded, CONFIG) as engine:
        generation = engine.submit(replace(request, begun=tuple(loaded.encode("cat"))))
        with pytest.raises(GenerationError, match="refused token"):
            generation.result()
        after: Completion = engine.submit(request).result()
        assert after.token_ids


@pytest.mark.parametrize(
    ("changes", "param"),
    [
        ({"begun": (1,) * 41}, "begun"),
        ({"begun": (1,), "params": SamplingParams(logprobs=1)}, "begun"),
    ],
)
def test_what_can_not_be_gone_on_with_is_refused(
    loaded: LoadedModel, changes: dict[str, object], param: str
) -> None:
    with pytest.raises(InputError) as caught:
        replace(requests(loaded)[-2], **changes)  # pyright: ignore[reportArgumentType]
    assert caught.value.param == param


def test_a_beginning_outside_the_vocabulary_is_refused(loaded: LoadedModel) -> None:
    request = replace(requests(loaded)[-2], begun=(loaded.vocab.size,))
    with Engine(loaded, CONFIG) as engine, pytest.raises(InputError, match="begun"):
        engine.submit(request)
