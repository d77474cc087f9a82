"""The engine with several steps in a row on the device: the tokens equal those of single steps."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from unittest.mock import patch

import pytest
import torch

from maskwright.engine import Completion, Engine, EngineConfig, FinishReason, Request
from maskwright.engine.on_device.steps import is_steady, open_device_steps
from maskwright.engine.step.flights import Flights
from maskwright.mask import Grammar, compile_json_schema, compile_regex
from maskwright.models import LoadedModel
from maskwright.sampling import SamplingParams
from tests.engine.step.held import held_steps

FORM: object = {
    "type": "object",
    "properties": {
        "a": {"type": "integer"},
        "b": {"enum": ["the cat", "the end"]},
        "c": {"type": "boolean"},
        "d": {"type": "string", "format": "date"},
    },
    "required": ["a", "b", "c", "d"],
    "additionalProperties": False,
}
CONFIG = EngineConfig(max_running=32, drafts=0)


@pytest.fixture(scope="module")
def grammars(loaded: LoadedModel) -> list[Grammar | None]:
    schemas = [FORM, {"enum": ["the cat", "the end", 7, None]}, {"type": "boolean"}]
    regex = compile_regex("(yes|no|the (cat|sat)) [0-9]{6}x?", loaded.vocab)
    return [*(compile_json_schema(schema, loaded.vocab) for schema in schemas), regex, None]


def requests(grammars: Sequence[Grammar | None], seed: int) -> list[Request]:
    """Of every grammar with various limits, some of which leave no token to spare, and various
    parameters. A row that needs the host is nearly always the last that runs."""
    rng = random.Random(seed)
    found: list[Request] = []
    for number, grammar in enumerate(grammars):
        for extra in (0, 1, 40):
            params = rng.choice(
                [
                    SamplingParams(temperature=0),
                    SamplingParams(seed=rng.randrange(99)),
                    SamplingParams(seed=rng.randrange(99), temperature=1.4, top_k=9),
                    SamplingParams(seed=rng.randrange(99), top_p=0.8, min_p=0.01),
                ]
            )
            limit = (8 if grammar is None else grammar.min_tokens) + extra
            stops = (rng.randrange(200),) if rng.random() < 0.3 else ()
            prompt = [rng.randrange(250) for _ in range(5 + number)]
            found.append(Request(prompt, params, limit, grammar=grammar, stop_tokens=stops))
    return found


def answers(
    loaded: LoadedModel, config: EngineConfig, asked: Sequence[Request]
) -> tuple[list[Completion], int]:
    with Engine(loaded, config) as engine:
        with held_steps(engine):
            generations = [engine.submit(request) for request in asked]
        found = [generation.result() for generation in generations]
        stats = engine.stats()
    assert stats.blocks_used == 0
    assert stats.device_steps <= stats.steps
    return found, stats.device_steps


@pytest.mark.parametrize("canonical", [True, False])
@pytest.mark.parametrize("seed", range(2))
def test_the_tokens_are_those_of_single_steps(
    seed: int, canonical: bool, loaded: LoadedModel, grammars: list[Grammar | None]
) -> None:
    config = replace(CONFIG, canonical=canonical)
    asked = requests(grammars, seed)
    expected, none = answers(loaded, config, asked)
    assert none == 0
    found, steps = answers(loaded, replace(config, device_steps=5), asked)
    assert found == expected
    assert steps > 0
    reasons = {completion.finish_reason for completion in found}
    assert {FinishReason.GRAMMAR, FinishReason.LENGTH} <= reasons


@pytest.mark.slow
@pytest.mark.parametrize("overlap", [False, True])
@pytest.mark.parametrize("drafts", [0, 4])
@pytest.mark.parametrize("most", [2, 9, 64])
def test_many_seeds(
    most: int, drafts: int, overlap: bool, loaded: LoadedModel, grammars: list[Grammar | None]
) -> None:
    config = replace(CONFIG, drafts=drafts, overlap=overlap)
    for seed in range(20):
        asked = requests(grammars, seed)
        expected, _ = answers(loaded, config, asked)
        assert answers(loaded, replace(config, device_steps=most), asked)[0] == expected


@pytest.mark.parametrize("number", range(4))
def test_one_request_takes_nearly_all_steps_on_the_device(
    number: int, loaded: LoadedModel, grammars: list[Grammar | None]
) -> None:
    """An answer ends inside a run of steps, and nothing that was drawn after its end is seen."""
    asked = [Request([65, 66], SamplingParams(seed=3), 80, grammar=grammars[number])]
    expected, _ = answers(loaded, CONFIG, asked)
    found, steps = answers(loaded, replace(CONFIG, device_steps=4), asked)
    assert found == expected
    most = expected[0].completion_tokens - 1  # the first is drawn after the prompt
    if most > 8:
        assert steps > most / 2


def test_a_limit_and_a_stop_token_inside_a_run(loaded: LoadedModel) -> None:
    plain = Request([65, 66], SamplingParams(seed=3), 7, eos=())
    [whole], steps = answers(loaded, replace(CONFIG, device_steps=4), [plain])
    assert (whole.finish_reason, whole.completion_tokens) == (FinishReason.LENGTH, 7)
    assert steps >= 6
    stop = next(t for i, t in enumerate(whole.token_ids) if i > 2 and t not in whole.token_ids[:i])
    stopping = replace(plain, stop_tokens=(stop,), max_tokens=50)
    expected, _ = answers(loaded, CONFIG, [stopping])
    found, steps = answers(loaded, replace(CONFIG, device_steps=4), [stopping])
    assert found == expected
    assert found[0].finish_reason is FinishReason.STOP_TOKEN
    assert steps > 0


@pytest.mark.parametrize("steps", [1, 4])
def test_a_stop_string_inside_a_run(loaded: LoadedModel, steps: int) -> None:
    """What the device draws after it is dropped."""
    plain = Request([65, 66], SamplingParams(seed=3), 30, eos=())
    [whole], _ = answers(loaded, CONFIG, [plain])
    middle = len(whole.text) // 2
    stopping = replace(plain, stop=(whole.text[middle : middle + 3],))
    expected, _ = answers(loaded, CONFIG, [stopping])
    found, taken = answers(loaded, replace(CONFIG, device_steps=steps), [stopping])
    assert found == expected
    assert found[0].finish_reason is FinishReason.STOP_STRING
    assert found[0].completion_tokens - 1 <= taken <= found[0].completion_tokens + 2 * steps


def test_a_request_that_needs_the_host_keeps_all_on_single_steps(loaded: LoadedModel) -> None:
    asked = [
        Request([65], SamplingParams(seed=1), 12),
        Request([65], SamplingParams(seed=1, repetition_penalty=1.1), 12),
    ]
    expected, _ = answers(loaded, CONFIG, asked)
    found, steps = answers(loaded, replace(CONFIG, device_steps=4), asked)
    assert found == expected
    assert steps == 0


def test_a_cancel_during_a_run(loaded: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    config = replace(CONFIG, device_steps=4)
    asked = [Request([65 + n], SamplingParams(seed=n), 40) for n in range(2)]
    expected, _ = answers(loaded, config, asked)
    with Engine(loaded, config) as engine:
        follow, runs = Flights.follow, []

        def cancelling(flights):
            runs.append(flights)
            if len(runs) == 2:
                generations[0].cancel()
            follow(flights)

        monkeypatch.setattr(Flights, "follow", cancelling)
        with held_steps(engine):
            generations = [engine.submit(request) for request in asked]
        cancelled, other = (generation.result() for generation in generations)
        assert engine.stats().blocks_used == 0
    assert cancelled.finish_reason is FinishReason.CANCELLED
    count = cancelled.completion_tokens
    assert 1 < count < 40
    assert cancelled.token_ids == expected[0].token_ids[:count]
    assert other == expected[1]


def test_blocks_that_do_not_suffice_for_a_run(
    loaded: LoadedModel, grammars: list[Grammar | None]
) -> None:
    config = replace(CONFIG, blocks=9, block_size=4, prefix_cache=False)
    asked = [
        Request([65 + n] * 7, SamplingParams(seed=n), 20, grammar=grammars[3]) for n in range(3)
    ]
    expected, _ = answers(loaded, config, asked)
    assert answers(loaded, replace(config, device_steps=8), asked)[0] == expected


@pytest.mark.parametrize(
    "params",
    [
        SamplingParams(repetition_penalty=1.1),
        SamplingParams(presence_penalty=0.1),
        SamplingParams(frequency_penalty=0.1),
        SamplingParams(logit_bias={3: 1.0}),
        SamplingParams(bad_words=((3, 4),)),
        SamplingParams(no_repeat_ngram=2),
        SamplingParams(allowed_tokens=frozenset({3})),
        SamplingParams(min_tokens=2),
        SamplingParams(ignore_eos=True),
        SamplingParams(logprobs=1),
    ],
)
def test_parameters_that_need_the_host(params: SamplingParams) -> None:
    assert not is_steady(params)
    assert is_steady(SamplingParams(top_k=3, top_p=0.5, min_p=0.1, temperature=0.3))


def test_the_default_depends_on_the_device(loaded: LoadedModel) -> None:
    """One step a launch where kernels run, none elsewhere; a setting says otherwise."""
    assert Engine(loaded, CONFIG)._device_steps is None
    gpu, cpu = torch.device("cuda"), torch.device("cpu")
    for asked, device, expected in [
        (None, cpu, None),
        (None, gpu, 1),
        (0, gpu, None),
        (1, cpu, 1),
        (3, gpu, 3),
    ]:
        config = replace(CONFIG, device_steps=asked)
        with patch("maskwright.kernels.device.AVAILABLE", True):
            found = open_device_steps(config, device)
        assert (None if found is None else found.most) == expected
        if found is not None:
            found.stop()
