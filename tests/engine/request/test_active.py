"""A request between two tokens: what it writes by itself, and what it still says after its end."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from maskwright.engine import Delta, EngineConfig, FinishReason, Generation, Request
from maskwright.engine.request.active import Active
from maskwright.errors import GenerationError
from maskwright.mask import compile_regex
from maskwright.models import LoadedModel
from maskwright.sampling import SamplingParams
from tests.engine.step.test_core import PLAIN, Harness


def activate(loaded: LoadedModel, request: Request) -> tuple[Active, list[Delta]]:
    """A request that has been admitted, and the list that its deltas are published to."""
    generation = Generation(1, 0, len(request.prompt), lambda number: None)
    published: list[Delta] = []
    generation.publish = published.append
    admission = Harness(loaded, EngineConfig(blocks=8)).admission
    return admission.admit(request, generation, request.grammar), published


def take(active: Active, text: bytes) -> None:
    """Let the model choose the bytes of `text`; each byte is a token of the tiny tokenizer."""
    for byte in text:
        token = active.texts.index(bytes([byte]))
        active.sequence.tokens.append(token)
        active.advance([token])


def test_text_is_published_once_and_ends_with_the_last_delta(loaded: LoadedModel) -> None:
    active, published = activate(loaded, Request([65], SamplingParams(), 9, eos=()))
    active.advance([])
    take(active, b"ab")
    active.prepare(())
    take(active, b"c")
    last = active.close(FinishReason.CANCELLED)
    assert [delta.text for delta in published] == ["ab"]
    assert (last.text, last.finish_reason) == ("c", FinishReason.CANCELLED)


@pytest.mark.parametrize("error", [None, GenerationError("a defect")])
def test_nothing_is_published_or_counted_after_the_end(
    loaded: LoadedModel, error: GenerationError | None
) -> None:
    """A token may be in the thread of post-step work when its request is cancelled or fails."""
    active, published = activate(loaded, Request([65], SamplingParams(), 9, eos=()))
    active.advance([])
    take(active, b"ab")
    active.close(FinishReason.CANCELLED if error is None else FinishReason.ERROR, error)
    take(active, b"cd")
    active.prepare(())
    active.note_end()
    assert published == []
    assert active.generation.record.completion == 2


@pytest.mark.parametrize("drafts", [0, 6])
def test_a_forced_run_leaves_enough_tokens_for_the_rest(loaded: LoadedModel, drafts: int) -> None:
    """The tokenizer cuts the forced text into 11 tokens, where three longer ones spell it too.
    Within every limit that the grammar can meet the answer is whole; only where the limit leaves
    room for it is the forced text written as the tokenizer cuts it. Elsewhere the digits are drawn
    after other tokens than without the limit, which is its doing."""
    grammar = compile_regex("the cat sat[0-9]{3}", loaded.vocab)
    canonical = tuple(loaded.encode("the cat sat"))
    assert (len(canonical), grammar.min_tokens) == (11, 6)
    config = replace(PLAIN, drafts=drafts)
    for limit in range(grammar.min_tokens, 18):
        harness = Harness(loaded, config)
        harness.add(Request([65], SamplingParams(seed=limit), limit, grammar=grammar), 1)
        harness.run()
        completion = harness.completion(1)
        assert completion.text.startswith("the cat sat")
        assert len(completion.text) == 14
        if limit >= 14:
            assert completion.token_ids[:11] == canonical
            assert completion.finish_reason is FinishReason.GRAMMAR
            assert completion.shortened_at is None
        else:
            assert completion.finish_reason is FinishReason.LENGTH
            assert completion.shortened_at is not None
            assert (
                completion.token_ids[: completion.shortened_at + 1]
                != canonical[: completion.shortened_at + 1]
            )


@pytest.mark.parametrize(
    ("options", "text", "said", "reason"),
    [
        ({}, b"abx", "ab", FinishReason.STOP_TOKEN),
        ({"include_stop": True}, b"abx", "abx", FinishReason.STOP_TOKEN),
        ({"params": SamplingParams(min_tokens=3)}, b"abxcx", "abxc", FinishReason.STOP_TOKEN),
        ({"stop": ("bx",), "include_stop": True}, b"abx", "abx", FinishReason.STOP_STRING),
        (
            {"stop": ("b",), "params": SamplingParams(min_tokens=2)},
            b"abcb",
            "abc",
            FinishReason.STOP_STRING,
        ),
    ],
)
def test_a_stop_token_ends_the_text(
    loaded: LoadedModel, options: dict[str, Any], text: bytes, said: str, reason: FinishReason
) -> None:
    x = loaded.vocab.tokens.index(b"x")
    asked = Request([65], SamplingParams(), 9, eos=(), stop_tokens=(x,))
    active, _ = activate(loaded, replace(asked, **options))
    active.advance([])
    ends: list[FinishReason | None] = []
    for byte in text:
        token = active.texts.index(bytes([byte]))
        active.sequence.tokens.append(token)
        ends.append(active.advance([token]).reason)
    assert ends == [None] * (len(text) - 1) + [reason]
    assert active.close(reason).text == said
