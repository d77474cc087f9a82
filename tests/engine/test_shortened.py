"""What the token limit changes of an output is reported: which token is the first that would be
another one without the limit, and that the limit ended the answer."""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from maskwright.engine import Completion, Delta, EngineConfig, FinishReason, Request
from maskwright.engine.request.active import Active
from maskwright.errors import BudgetError, InputError, MaskwrightError
from maskwright.mask import (
    Grammar,
    compile_choice,
    compile_grammar,
    compile_json_schema,
    compile_regex,
    compile_structural_tag,
)
from maskwright.models import LoadedModel
from maskwright.sampling import SamplingParams
from tests.engine.step.test_core import PLAIN, Harness, alone
from tests.processes.shapes import TAG
from tests.properties.schemas import schema as random_schema

CONFIGS = {
    "one token a step": PLAIN,
    "forced runs and drafts": replace(PLAIN, drafts=6),
    "forced text is drawn": replace(PLAIN, canonical=False, drafts=6),
    "small steps": EngineConfig(blocks=80, block_size=4, max_running=4, max_batch_tokens=16),
}
FAR = 160
"""More tokens than most texts take; beyond these one is not followed."""


def completed(loaded: LoadedModel, config: EngineConfig, request: Request) -> Completion:
    harness = Harness(loaded, config)
    harness.add(request, 1)
    harness.run()
    return harness.completion(1)


def bias(loaded: LoadedModel, text: str, value: float = 100.0) -> dict[int, float]:
    """Makes the tokens that are bytes of `text` likelier than all others."""
    return {loaded.vocab.tokens.index(bytes([byte])): value for byte in text.encode()}


def check_against_no_limit(
    loaded: LoadedModel, config: EngineConfig, request: Request, found: Completion
) -> str:
    """Hold an answer against the one that the request has with many more tokens."""
    ample = completed(loaded, config, replace(request, max_tokens=request.max_tokens + FAR))
    at, tokens = found.shortened_at, found.token_ids
    if at is None:
        assert found.finish_reason is not FinishReason.LENGTH
        assert found.text == ample.text, "a text that the limit has changed without a word"
        assert found.finish_reason is ample.finish_reason
        return "whole"
    assert found.finish_reason is FinishReason.LENGTH
    assert 0 <= at <= len(tokens)
    if ample.shortened_at is not None and ample.shortened_at <= at:
        return "unknown"  # the larger limit changes this token too
    assert tokens[:at] == ample.token_ids[:at]
    assert len(ample.token_ids) > at, "the text ends here without a limit too"
    if at < len(tokens):
        assert tokens[at] != ample.token_ids[at]
        return "changed"
    assert len(tokens) == request.max_tokens
    return "cut"


@pytest.mark.parametrize("name", CONFIGS)
def test_the_first_token_that_the_limit_changes_is_reported(loaded: LoadedModel, name: str) -> None:
    """Over random schemas, seeds and limits: the tokens before it are those of the same request
    with more tokens, and it is not; where none is reported, the text is the same. The text is whole
    in any case."""
    rng, kinds = random.Random(name), Counter[str]()
    while kinds.total() < 60:
        document = random_schema(rng)
        try:
            grammar = compile_json_schema(document, loaded.vocab)
        except MaskwrightError:
            continue
        extra = rng.choice([0, 1, 2, 3, 5, 8, 20])
        params = SamplingParams(
            seed=rng.getrandbits(32),
            temperature=rng.choice([0.0, 1.0, 2.0]),
            top_k=rng.choice([0, 0, 20]),
            top_p=rng.choice([1.0, 1.0, 0.9]),
            repetition_penalty=rng.choice([1.0, 1.2]),
            logprobs=rng.choice([None, None, 2]),
        )
        prompt = loaded.encode(rng.choice(["the cat", "sat"]))
        request = Request(prompt, params, max(1, grammar.min_tokens) + extra, grammar=grammar)
        try:
            found = completed(loaded, CONFIGS[name], request)
        except BudgetError:
            continue
        json.loads(found.text)
        matcher = grammar.matcher()
        assert all(map(matcher.accept, found.token_ids))
        assert matcher.accepting
        kinds[check_against_no_limit(loaded, CONFIGS[name], request, found)] += 1
    assert min(kinds["whole"], kinds["changed"]) > 10
    assert kinds["unknown"] < 10


def shapes(loaded: LoadedModel) -> dict[str, Grammar]:
    vocab = loaded.vocab
    free = {"type": "structural_tag", "format": {"type": "any_text"}}
    return {
        "a grammar": compile_grammar('start: "(" start ")" | /[a-c]+/ start | "x"', vocab),
        "a choice": compile_choice(["the cat", "the cat sat", "stop", "st"], vocab),
        "an open pattern": compile_regex("(the|a)( cat)*[0-9]*", vocab),
        "a closed pattern": compile_regex("(the|a)( cat){1,9}!", vocab),
        "any characters": compile_regex(r"(.|\n)*", vocab),
        "triggered tags": compile_structural_tag(TAG, vocab),
        "any text": compile_structural_tag(free, vocab),
    }


@pytest.mark.parametrize("name", CONFIGS)
def test_shapes_of_every_kind(loaded: LoadedModel, name: str) -> None:
    kinds = Counter[str]()
    for grammar in shapes(loaded).values():
        for seed in range(8):
            limit = max(1, grammar.min_tokens) + seed % 4
            params = SamplingParams(seed=seed, temperature=1.5)
            request = Request(loaded.encode("the cat"), params, limit, grammar=grammar)
            found = completed(loaded, CONFIGS[name], request)
            matcher = grammar.matcher()
            assert all(map(matcher.accept, found.token_ids))
            assert matcher.accepting
            kinds[check_against_no_limit(loaded, CONFIGS[name], request, found)] += 1
    assert min(kinds["whole"], kinds["changed"], kinds["cut"]) > 5


@pytest.mark.parametrize("name", CONFIGS)
@pytest.mark.parametrize(
    ("pattern", "limit", "text", "at"),
    [
        ("x[0-9]{1,5}y", 7, "x77777y", None),  # both neighbours of the limit that suffices
        ("x[0-9]{1,5}y", 6, "x7777y", 5),
        ("x[0-9]{1,5}y", 3, "x7y", 2),
        ("x[0-9]{1,5}", 6, "x77777", None),
        ("x[0-9]{1,5}", 5, "x7777", 5),
        ("[0-9]+", 4, "7777", 4),
    ],
)
def test_both_sides_of_the_limit_that_suffices(
    loaded: LoadedModel, name: str, pattern: str, limit: int, text: str, at: int | None
) -> None:
    params = SamplingParams(temperature=0, logit_bias=bias(loaded, "7"))
    grammar = compile_regex(pattern, loaded.vocab)
    request = Request([65], params, limit, grammar=grammar)
    found = completed(loaded, CONFIGS[name], request)
    assert (found.text, found.shortened_at) == (text, at)
    whole = FinishReason.GRAMMAR
    assert found.finish_reason is (whole if at is None else FinishReason.LENGTH)
    kept = completed(loaded, CONFIGS[name], replace(request, length_if_shortened=False))
    assert kept == replace(found, finish_reason=whole)


@pytest.mark.parametrize("drafts", [0, 6])
def test_a_text_of_which_nothing_is_free_is_whole_at_every_limit(
    loaded: LoadedModel, drafts: int
) -> None:
    """A small limit only cuts it into other tokens, up to its last character or to what may follow
    it; what comes behind a choice is drawn after other tokens."""
    for text in ("the cat sat", 'the cat{"the":" cat"}', "xyz"):
        grammar = compile_choice([text], loaded.vocab)
        cuts = set[tuple[int, ...]]()
        for limit in range(grammar.min_tokens, 2 + len(text)):
            request = Request([65], SamplingParams(seed=limit), limit, grammar=grammar)
            found = completed(loaded, replace(PLAIN, drafts=drafts), request)
            assert (found.text, found.finish_reason) == (text, FinishReason.GRAMMAR)
            assert found.shortened_at is None
            cuts.add(found.token_ids)
        assert len(cuts) > 1 or text == "xyz"


def test_without_a_shape_the_limit_cuts(loaded: LoadedModel) -> None:
    for keeps in (False, True):
        request = Request([65], SamplingParams(seed=1), 5, eos=(), length_if_shortened=not keeps)
        found = alone(loaded, request)
        assert (found.finish_reason, found.shortened_at) == (FinishReason.LENGTH, 5)
    ended = alone(loaded, replace(request, eos=None, params=SamplingParams(
        temperature=0, logit_bias={loaded.eos[0]: 100.0})))  # fmt: skip
    assert (ended.finish_reason, ended.shortened_at) == (FinishReason.STOP, None)


def test_an_end_token_behind_a_changed_one(loaded: LoadedModel) -> None:
    """The end is the model's own, but not the text."""
    grammar = compile_regex("(ab){3,9}c*|d", loaded.vocab)
    likely = {**bias(loaded, "ab", 20.0), loaded.eos[0]: 50.0}
    request = Request([65], SamplingParams(temperature=0, logit_bias=likely), 8, grammar=grammar)
    found = alone(loaded, request)
    assert (found.text, found.finish_reason) == ("ababab", FinishReason.STOP)
    short = alone(loaded, replace(request, max_tokens=5))
    assert (short.text, short.shortened_at) == ("d", 0)
    assert short.finish_reason is FinishReason.LENGTH


def test_a_stop_string_behind_a_changed_token(loaded: LoadedModel) -> None:
    """The text is neither the one without a limit nor whole: the reason tells of the limit, and
    `stop` of the string."""
    grammar = compile_regex("x[0-9]{1,5}yz", loaded.vocab)
    params = SamplingParams(temperature=0, logit_bias=bias(loaded, "7"))
    request = Request([65], params, 5, stop=("y",), grammar=grammar)
    found = alone(loaded, request)
    assert (found.text, found.shortened_at, found.stop) == ("x77", 3, "y")
    assert found.finish_reason is FinishReason.LENGTH
    kept = alone(loaded, replace(request, length_if_shortened=False))
    assert kept.finish_reason is FinishReason.STOP_STRING
    ample = alone(loaded, replace(request, max_tokens=8))
    assert (ample.text, ample.finish_reason) == ("x77777", FinishReason.STOP_STRING)
    assert ample.shortened_at is None


class Counting(Harness):
    """Counts the rows that are drawn without a limit too."""

    def __init__(self, loaded: LoadedModel, config: EngineConfig) -> None:
        super().__init__(loaded, config)
        self.drawn = 0
        draw, draw_plain = self.runner.draw_without_limit, self.runner.draw_plain

        def counted(logits: Any, rows: Any, free: Any) -> Any:
            self.drawn += len(free)
            return draw(logits, rows, free)

        def counted_plain(logits: Any, rows: Any) -> None:
            self.drawn += sum(len(active.masks.free) for active, _, _ in rows.places)
            draw_plain(logits, rows)

        self.runner.draw_without_limit = counted
        self.runner.draw_plain = counted_plain


@pytest.mark.parametrize("config", [CONFIGS["one token a step"], CONFIGS["small steps"]])
def test_only_rows_near_the_limit_are_drawn_twice(
    loaded: LoadedModel, config: EngineConfig
) -> None:
    """And those only until a token has been changed."""
    grammar = compile_regex("x[0-9]{1,30}y", loaded.vocab)
    params = SamplingParams(temperature=0, logit_bias=bias(loaded, "7"))
    for limit, twice in [(40, 0), (32, 0), (20, 1), (3, 1)]:
        harness = Counting(loaded, config)
        harness.add(Request([65], params, limit, grammar=grammar), 1)
        harness.run()
        assert harness.completion(1).shortened_at == (limit - 1 if twice else None)
        assert harness.drawn == twice


def test_a_delta_tells_of_a_changed_token_as_soon_as_it_holds_it(loaded: LoadedModel) -> None:
    grammar = compile_regex("x[0-9]{1,30}yyyy[0-9]", loaded.vocab)
    params = SamplingParams(temperature=0, logit_bias=bias(loaded, "7"))
    harness = Harness(loaded, PLAIN)
    harness.add(Request([65], params, 9, grammar=grammar), 1)
    harness.run()
    tokens = 0
    for delta in harness.deltas[1]:
        tokens += len(delta.token_ids)
        assert delta.shortened_at == (4 if tokens > 4 else None)
    assert Delta.join(harness.deltas[1]).shortened_at == 4


def test_what_comes_after_the_end_is_not_told(loaded: LoadedModel) -> None:
    """Tokens that a step draws behind the end are dropped, whatever the limit does to them."""
    harness = Harness(loaded, PLAIN)
    request = Request([65], SamplingParams(), 9, eos=())
    harness.add(request, 1)
    active: Active = harness.core._active[1]
    active.note_shortened(3)
    assert active.close(FinishReason.CANCELLED).shortened_at is None


def test_a_place_outside_of_what_has_begun_is_refused() -> None:
    for begun, at in [((), 0), ((1, 2), 2), ((1, 2), -1)]:
        with pytest.raises(InputError) as caught:
            Request([65], SamplingParams(), 9, begun=begun, shortened_at=at)
        assert caught.value.param == "shortened_at"
    request = Request([65], SamplingParams(), 9)
    assert request.going_on((1, 2), 1).shortened_at == 1
    assert request.going_on((1, 2), 2).shortened_at is None  # it is drawn again
