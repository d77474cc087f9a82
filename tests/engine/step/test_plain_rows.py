"""Which rows are taken through a step in compiled code, and that these are most of them."""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest
from msgspec import structs

from maskwright.engine import Completion, Delta, Engine, EngineConfig, FinishReason, Request
from maskwright.engine.step import core, runner
from maskwright.mask import Grammar, compile_grammar, compile_json_schema, compile_regex
from maskwright.models import LoadedModel
from maskwright.processes import Build, GrammarProcesses
from maskwright.sampling import SamplingParams
from maskwright.vocab import Vocabulary
from tests.engine.step.test_core import Harness, alone

CONFIG = EngineConfig(blocks=64, max_running=4, max_batch_tokens=64, overlap=False)
PARAMS = SamplingParams(seed=3, temperature=0.9, top_p=0.9)


def count_rows(runner: Any) -> Counter[str]:
    """Count the rows that are drawn together and those that aren't, from now on."""
    counts: Counter[str] = Counter()
    sample, draw = runner.sample, runner.draw_plain

    def counted(logits, rows, masks):
        counts["other"] += len(rows)
        return sample(logits, rows, masks)

    def counted_plain(logits, rows):
        counts["plain"] += len(rows.places)
        draw(logits, rows)

    runner.sample, runner.draw_plain = counted, counted_plain
    return counts


KINDS = [
    (Request([65, 66], PARAMS, 12, eos=()), True),
    (Request([65, 66], replace(PARAMS, temperature=0.0), 12, eos=()), True),
    (Request([65, 66], replace(PARAMS, top_k=3, min_p=0.1), 12, eos=()), True),
    (Request([65, 66], PARAMS, 12, eos=(), stop_tokens=(70,)), True),
    (Request([65, 66], PARAMS, 12, eos=(), stop=("never",)), True),
    (Request([65, 66], replace(PARAMS, logprobs=0), 12, eos=()), True),
    (Request([65, 66], replace(PARAMS, logprobs=5, scale="masked"), 12, eos=()), True),
    (Request([65, 66], replace(PARAMS, logprobs=2, logit_bias={65: 4.0}), 12, eos=()), True),
    (Request([65, 66], PARAMS, 12, eos=(), prompt_logprobs=1), True),
    (Request([65, 66], replace(PARAMS, frequency_penalty=0.1), 12, eos=()), True),
    (Request([65, 66], replace(PARAMS, logit_bias={65: 4.0}, min_p=0.1), 12, eos=()), True),
    (Request([65, 66], replace(PARAMS, no_repeat_ngram=3), 12, eos=()), True),
    (Request([65, 66], replace(PARAMS, no_repeat_ngram=1, logprobs=3), 12, eos=()), True),
    (Request([65, 66], replace(PARAMS, bad_words=((1, 2), (70,))), 12, eos=()), True),
    (Request([65, 66], replace(PARAMS, allowed_tokens=(70, 71)), 12, eos=()), True),
    (Request([65, 66], replace(PARAMS, min_tokens=2), 12, stop_tokens=(70,)), True),
    (Request([65, 66], replace(PARAMS, min_tokens=12, ignore_eos=True), 12), True),
    (Request([65, 66], replace(PARAMS, ignore_eos=True), 12), True),
    (Request([65, 66], replace(PARAMS, logprobs=0), 12, eos=(), trace=True), False),
]


@pytest.mark.parametrize(("asked", "plain"), KINDS)
@pytest.mark.parametrize("drafts", [0, 6])
def test_what_is_plain(loaded: LoadedModel, asked: Request, plain: bool, drafts: int) -> None:
    harness = Harness(loaded, replace(CONFIG, drafts=drafts))
    counts = count_rows(harness.runner)
    harness.add(asked, 1)
    harness.run()
    assert counts["plain" if plain else "other"] >= 1
    assert counts["other" if plain else "plain"] == 0
    assert harness.completion(1) == alone(loaded, asked)


@pytest.mark.parametrize("drafts", [0, 6])
def test_what_is_plain_on_a_device(
    loaded: LoadedModel, drafts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All but rows whose scores are wanted; the kernels' twins draw. The requests run together, and
    prompts are cut to pieces, so that rows that are drawn from don't follow each other."""
    for module in (core, runner):
        monkeypatch.setattr(module, "runs_kernels", lambda _: True)
    harness = Harness(loaded, replace(CONFIG, drafts=drafts, max_batch_tokens=16))
    counts = count_rows(harness.runner)
    asked = [request for request, plain in KINDS if plain]
    for number, request in enumerate(asked):
        prompt = [*request.prompt, *range(40, 40 + 3 * number)]
        asked[number] = replace(request, prompt=prompt, params=replace(request.params, seed=number))
        harness.add(asked[number], number)
    harness.run()
    scored = sum(request.params.logprobs is not None for request in asked)
    assert 0 < counts["other"] <= (1 + drafts) * 12 * scored
    assert counts["plain"] > 12 * (len(asked) - scored) / 2
    assert harness.runner.mask_table is not None
    for number, request in enumerate(asked):
        expected = alone(loaded, request)
        found = harness.completion(number)
        assert found.token_ids == expected.token_ids
        assert found.text == expected.text
        assert found.finish_reason is expected.finish_reason


@pytest.mark.parametrize("drafts", [0, 6])
@pytest.mark.parametrize("include_stop", [False, True])
def test_plain_rows_end_at_stop_strings(
    loaded: LoadedModel, drafts: int, include_stop: bool
) -> None:
    """At each that a text has, whether it is part of a token or goes over several."""
    asked = Request([65, 66], PARAMS, 24, eos=(), include_stop=include_stop)
    text = alone(loaded, asked).text
    found = {text[at : at + size] for at in range(len(text)) for size in (1, 2, 5)}
    begun = {text[at : at + 3] + "\N{SNOWMAN}" for at in range(len(text))}
    for number, stop in enumerate(sorted(found), 1):
        stopping = replace(asked, stop=(stop, *sorted(begun)[:number]))
        harness = Harness(loaded, replace(CONFIG, drafts=drafts))
        counts = count_rows(harness.runner)
        harness.add(stopping, number)
        harness.run()
        expected = alone(loaded, stopping)
        assert expected.finish_reason is FinishReason.STOP_STRING
        assert harness.completion(number) == expected
        assert counts["other"] == 0 < counts["plain"]


@pytest.mark.parametrize(
    ("canonical", "drafts", "plain"),
    [(True, 0, True), (True, 6, True), (False, 0, True), (False, 6, False)],
)
def test_rows_of_a_grammar_that_has_been_learned_are_plain(
    loaded: LoadedModel, canonical: bool, drafts: int, plain: bool
) -> None:
    """Away from the token limit, where the grammar forces nothing and has been followed before;
    not where text that it forces is drafted."""
    config = replace(CONFIG, canonical=canonical, drafts=drafts)
    processes = GrammarProcesses(loaded.vocab)
    try:
        grammar = processes.compile(Build(compile_regex, ("[ab]{40,60}",), {})).result(60)
        asked = Request([65, 66], PARAMS, 120, grammar=grammar)
        with Engine(loaded, config) as engine:
            first = engine.submit(asked).result()
            counts = count_rows(engine._runner)
            assert engine.submit(asked).result() == first
        assert first.finish_reason is not FinishReason.LENGTH
        assert counts["plain"] > 4 * counts["other"] if plain else counts["plain"] == 0
    finally:
        processes.close()


@pytest.mark.parametrize(
    ("canonical", "drafts", "plain"),
    [(True, 0, True), (True, 6, True), (False, 0, True), (False, 6, False)],
)
def test_rows_of_a_grammar_in_this_process_are_plain(
    loaded: LoadedModel, canonical: bool, drafts: int, plain: bool
) -> None:
    """Where what follows has been found out before, as for a grammar in another process."""
    grammar = compile_regex("[ab]{40,60}", loaded.vocab)
    asked = Request([65, 66], PARAMS, 120, grammar=grammar)
    with Engine(loaded, replace(CONFIG, canonical=canonical, drafts=drafts)) as engine:
        first = engine.submit(asked).result()
        counts = count_rows(engine._runner)
        starts = count_starts(engine)
        assert engine.submit(asked).result() == first
    assert first.finish_reason is not FinishReason.LENGTH
    assert counts["plain"] > 4 * counts["other"] if plain else counts["plain"] == 0
    assert starts["all"] <= 3 if plain else starts["all"] > 10


def count_starts(engine: Engine) -> Counter[str]:
    """Count the times that work is handed over to the thread of post-step work, from now on."""
    counts: Counter[str] = Counter()
    start = engine._core._start

    def counted(active, tokens):
        counts["all"] += 1
        start(active, tokens)

    engine._core._start = counted
    return counts


def test_masks_that_a_count_of_tokens_bounds_are_not_looked_up_by_position(
    loaded: LoadedModel,
) -> None:
    """The count is kept with the text."""
    grammar = compile_grammar('start: part "c"\npart[max_tokens=9]: /[ab]*/', loaded.vocab)
    end = loaded.vocab.tokens.index(b"c")
    late = replace(PARAMS, logit_bias={end: -100.0})
    found = twice(loaded, Request([65, 66], late, 20, grammar=grammar))
    assert len(found.token_ids) == 9 + 1


def test_masks_of_texts_that_cannot_all_be_spelled_are_not_looked_up_by_position(
    loaded: LoadedModel,
) -> None:
    """Whether a token may follow depends on the text."""
    texts = [b"" if text == b"b" else text for text in loaded.vocab.tokens]
    loaded = replace(loaded, vocab=Vocabulary(texts, eos=loaded.vocab.eos))
    grammar = compile_regex("[ac]{6}((ac)*|b)", loaded.vocab)
    found = twice(loaded, Request([65, 66], PARAMS, 20, grammar=grammar))
    assert len(found.token_ids) > 5


def twice(loaded: LoadedModel, asked: Request) -> Completion:
    """The answer to a request that has no plain rows, not even when it comes again."""
    with Engine(loaded, replace(CONFIG, drafts=0)) as engine:
        first = engine.submit(asked).result()
        starts = count_starts(engine)
        assert engine.submit(asked).result() == first
    assert starts["all"] >= len(first.token_ids)
    return first


MEMBERS = {"additionalProperties": {"type": ["integer", "string"]}, "minProperties": 3}
"""Within names the position depends on the names before."""

SHAPES = [
    (compile_json_schema, {"type": "object", **MEMBERS}),
    (compile_json_schema, {"type": "array", "items": {"enum": ["the cat", "the end", 12]}}),
    (compile_regex, "(yes|no|the (cat|sat)) [0-9]{3,9}x?"),
    (compile_grammar, 'start: item+\nitem: "(" item* ")" | /[a-f]{1,5}/'),
]


@pytest.mark.parametrize("drafts", [0, 6])
@pytest.mark.parametrize("canonical", [True, False])
@pytest.mark.parametrize("shape", range(len(SHAPES)))
def test_plain_rows_of_a_grammar_in_this_process_are_drawn_as_others(
    loaded: LoadedModel, drafts: int, canonical: bool, shape: int
) -> None:
    """A traced request has no plain rows: its tokens, scores and end are the same, whether or not
    what follows a position was known, and whatever the token limit leaves."""
    build, source = SHAPES[shape]
    grammar: Grammar = build(source, loaded.vocab)
    config = replace(CONFIG, drafts=drafts, canonical=canonical)
    plain = 0
    with Engine(loaded, config) as engine:
        counts = count_rows(engine._runner)
        for seed in range(24):  # the second half repeats the first
            changes: dict[str, Any] = {"seed": seed % 12, "temperature": 1.0 + seed % 3 / 4}
            if seed % 4 == 1:
                changes |= {"logprobs": 2, "frequency_penalty": 0.4}
            asked = Request(
                [65, 66],
                replace(PARAMS, **changes),
                grammar.min_tokens + (2, 6, 40)[seed % 3],
                grammar=grammar,
                stop=("12", "the c") if seed % 5 == 2 else (),
            )
            before = counts["plain"]
            found = engine.submit(asked).result()
            plain += counts["plain"] - before
            before = counts["plain"]
            scored = asked.params if asked.params.logprobs else replace(asked.params, logprobs=0)
            traced = replace(asked, params=scored, trace=True)
            expected = engine.submit(traced).result()
            assert counts["plain"] == before
            assert found.text == expected.text
            assert found.token_ids == expected.token_ids
            assert found.finish_reason is expected.finish_reason
            assert found.shortened_at == expected.shortened_at
            if asked.params.logprobs:
                assert found.scores == tuple(
                    structs.replace(each, place=None) for each in expected.scores
                )
    if canonical or not drafts:
        assert plain > 50
    else:
        assert plain == 0


STRINGS = {"type": "array", "items": {"type": "string"}, "minItems": 3}
"""A schema most of whose texts are longer than the shortest."""


@pytest.mark.parametrize("drafts", [0, 6])
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"temperature": 0.0},
        {"logprobs": 2, "top_k": 30},
        {"frequency_penalty": 0.6, "logprobs": 0},
        {"no_repeat_ngram": 2, "bad_words": tuple((token,) for token in range(35, 280, 2))},
    ],
    ids=lambda changes: " and ".join(changes),
)
def test_rows_whose_masks_the_limit_makes_smaller_are_plain(
    loaded: LoadedModel, drafts: int, changes: dict[str, Any]
) -> None:
    """They are drawn under both masks: the first token that the limit changes is the one that a
    grammar in this process reports, and the deltas from there on name it."""
    here = compile_json_schema(STRINGS, loaded.vocab)
    limited = handed_over = 0
    with closing(GrammarProcesses(loaded.vocab)) as processes:
        build = Build(compile_json_schema, (STRINGS,), {})
        grammar = processes.compile(build).result(60)
        with Engine(loaded, replace(CONFIG, drafts=drafts)) as engine:
            draw = engine._runner.draw_plain

            def counted(logits, rows):
                nonlocal limited
                limited += sum(bool(active.masks.free) for active, _, _ in rows.places)
                draw(logits, rows)

            start = engine._core._start

            def counted_start(active, tokens):
                nonlocal handed_over
                handed_over += seed >= 12
                start(active, tokens)

            engine._runner.draw_plain = counted
            engine._core._start = counted_start
            changed = 0
            for seed in range(24):  # the second half repeats the first
                params = replace(PARAMS, seed=seed % 12, temperature=1.5)
                asked = Request([65, 66], replace(params, **changes), 12 + seed % 3)
                expected = alone(loaded, replace(asked, grammar=here))
                deltas = list(engine.submit(replace(asked, grammar=grammar)))
                found = Delta.join(deltas)
                assert found.text == expected.text
                assert found.token_ids == expected.token_ids
                assert found.scores == expected.scores
                assert found.finish_reason is expected.finish_reason
                assert found.shortened_at == expected.shortened_at
                taken = 0
                for delta in deltas:
                    taken += len(delta.token_ids)
                    if found.shortened_at is None or taken <= found.shortened_at:
                        assert delta.shortened_at is None
                    else:
                        assert delta.shortened_at == found.shortened_at
                changed += found.shortened_at is not None
    assert changed > 5
    assert limited > 20
    assert handed_over <= 3 * 12


def test_a_token_that_cannot_be_drawn_ends_its_own_request(loaded: LoadedModel) -> None:
    harness = Harness(loaded, CONFIG)
    asked = Request([65, 66], PARAMS, 12, eos=())
    harness.add(asked, 1)
    harness.add(replace(asked, params=replace(PARAMS, seed=4)), 2)
    forward = harness.runner.forward

    def spoiled(plan):
        logits = forward(plan).clone()
        row = 0
        for chunk in plan.chunks:
            if chunk.sequence.arrival == 1 and len(chunk.sequence.tokens) == 6:
                logits[row + chunk.first_sampled] = float("nan")
            row += chunk.rows
        return logits

    harness.runner.forward = spoiled
    del harness.runner.draw_plain  # which has the harness see that all logits are finite
    harness.run()
    assert [delta.finish_reason for delta in harness.deltas[1]][-1] is FinishReason.ERROR
    assert harness.completion(2) == alone(loaded, replace(asked, params=replace(PARAMS, seed=4)))
