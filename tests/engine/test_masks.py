"""Which mask each row is sampled under: that of the text before it, whoever stands beside it and
wherever in the text a grammar begins."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
import torch

from maskwright import compile_json_schema, compile_regex, compile_structural_tag
from maskwright.engine import EngineConfig, Request
from maskwright.mask import Grammar
from maskwright.models import LoadedModel
from maskwright.sampling import SamplingParams
from tests.bounds import PATIENCE
from tests.engine.step.test_core import Harness, run_alone
from tests.engine.tiny import PAD

MARK = ";"
"""Where free text ends. The model is biased towards it, so that it comes soon but by choice."""

SPECIAL = PAD
"""The same as a special token."""

FREE = {"type": "tag", "begin": "", "content": {"type": "any_text"}, "end": MARK}
SECTION = {"type": "regex", "pattern": "(yes|no|[0-9]{3,8})"}
SCHEMA = {
    "type": "object",
    "properties": {"n": {"type": "integer"}, "s": {"enum": ["the", "cat", "sat"]}},
    "required": ["n", "s"],
}
FORMATS = {
    "a pattern behind text": {"type": "sequence", "elements": [FREE, SECTION]},
    "what is forced behind text": {
        "type": "sequence",
        "elements": [FREE, {"type": "json_schema", "json_schema": SCHEMA}],
    },
    "a special token between": {
        "type": "sequence",
        "elements": [
            {**FREE, "end": {"type": "token", "token": SPECIAL}},
            SECTION,
        ],
    },
    "text again": {
        "type": "triggered_tags",
        "triggers": [MARK],
        "tags": [{"begin": MARK, "content": SECTION, "end": "!"}],
    },
}
CONFIG = EngineConfig(block_size=4, blocks=120, max_running=6, max_batch_tokens=16)


class Watched(Harness):
    """Holds each sampled row against a fresh matcher that reads the row's text. Requests are known
    by their seeds; `kinds` counts rows with a grammar and without."""

    def __init__(self, loaded: LoadedModel, config: EngineConfig) -> None:
        super().__init__(loaded, config)
        self.asked: dict[int, Request] = {}
        self.kinds: Counter[str] = Counter()
        forward = self.runner.forward

        def counted(plan):
            logits = forward(plan)
            padding = len(logits) - sum(chunk.rows for chunk in plan.chunks)
            assert 0 <= padding < 4, "other rows than were planned"
            for chunk in plan.chunks:
                whole = chunk.start + chunk.count - chunk.drafted == len(chunk.sequence.tokens)
                assert bool(chunk.rows) == whole, "a row in the middle of a prompt"
            return logits

        self.runner.forward = counted
        self.limited = True
        draw = self.runner.draw_without_limit

        def compared(logits, rows, free):
            before, self.limited = logits.clone(), False
            drawn = draw(logits, rows, free)
            self.limited = True
            assert torch.equal(before, logits), "the logits of the draw that counts"
            return drawn

        self.runner.draw_without_limit = compared

    def add(self, request: Request, number: int) -> None:
        self.asked[request.params.seed or 0] = request
        super().add(request, number)

    def record(self, sample):
        sample = super().record(sample)

        def watching(logits, rows, words):
            assert len(logits) == len(rows) == len(words)
            for row, mask in zip(rows, words, strict=True):
                self.hold(self.asked[row.seed], list(row.tokens[row.prompt_length :]), mask)
            return sample(logits, rows, words)

        return watching

    def record_plain(self, draw):
        draw = super().record_plain(draw)

        def watching(logits, rows):
            for active, drafted, _ in rows.places:
                output = active.sequence.tokens[active.sequence.prompt_length :]
                output += active.sequence.draft[:drafted]
                request = self.asked[active.generation.seed]
                self.hold(request, output, active.masks.words[drafted])
            draw(logits, rows)

        return watching

    def hold(self, request: Request, output: list[int], mask: np.ndarray) -> None:
        eos = self.admission._vocab.eos if request.eos is None else request.eos
        grammar = request.grammar
        expected = self.admission.free_words(eos)
        if grammar is not None:
            matcher = grammar.matcher()
            assert all(matcher.accept(token) for token in output), "the grammar was left"
            expected = np.zeros_like(expected)
            left = request.max_tokens - len(output)
            matcher.fill_mask(expected, budget=left if self.limited else None)
            if not self.limited:
                bounded = np.zeros_like(expected)
                matcher.fill_mask(bounded, budget=left)
                assert not np.array_equal(bounded, expected), "a row that the limit doesn't concern"
                self.kinds["compared"] += 1
            ends = any(expected[token // 32] >> (token % 32) & 1 for token in eos)
            assert ends <= matcher.accepting, "an end token where the text is not whole"
            self.kinds["may end"] += ends
        self.kinds["free" if grammar is None else "constrained"] += 1
        assert np.array_equal(mask, expected), "not the mask of this text"


class Prophet:
    """Guesses what the request will be answered with, for as many tokens as chance will have it,
    and then something else: so that a mark is at every place of a draft."""

    most = 6

    def __init__(self, rng: random.Random, answers: dict[tuple[int, ...], tuple[int, ...]]) -> None:
        self.rng, self.answers = rng, answers

    def propose(self, tokens: list[int]) -> list[int]:
        for prompt, answer in self.answers.items():
            if tuple(tokens[: len(prompt)]) == prompt:
                rest = answer[len(tokens) - len(prompt) :][: self.rng.randint(0, 5)]
                return [*rest, self.rng.randrange(250)]
        return []

    def judge(self, proposed: int, accepted: int) -> None:
        """Goes on as before."""


def requests(loaded: LoadedModel, grammars: list[Grammar | None], count: int) -> list[Request]:
    """Prompts of several chunks, no two alike."""
    rng = random.Random(count)
    bias = {ord_of(loaded, MARK): 6.0, loaded.vocab.special_tokens[SPECIAL]: 6.0}
    eager = {**bias, loaded.eos[0]: 90.0}  # would end at once if no mask forbade it
    return [
        Request(
            [number, *(rng.randrange(256) for _ in range(rng.choice([2, 25, 50])))],
            SamplingParams(
                seed=number + 1,
                logit_bias=eager if number % 4 == 1 and grammars[number % len(grammars)] else bias,
            ),
            max_tokens=rng.randint(20, 40),
            grammar=grammars[number % len(grammars)],
        )
        for number in range(count)
    ]


def ord_of(loaded: LoadedModel, text: str) -> int:
    return loaded.vocab.tokens.index(text.encode())


def test_every_row_is_sampled_under_the_mask_of_its_text(
    loaded: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Constrained and free requests side by side, prompts in chunks, drafts of any length that
    end anywhere, a pool that is too small: each row has the mask that a matcher of its own gives
    for the text before it, free ones the free one, and there are as many rows as planned."""
    vocab = loaded.vocab
    grammars: list[Grammar | None] = [
        None,
        compile_regex("(yes|no), [0-9]{2,9}", vocab),
        compile_json_schema(SCHEMA, vocab),
        None,
        compile_structural_tag(tag(FORMATS["text again"]), vocab),
    ]
    asked = requests(loaded, grammars, 20)
    plain = [run_alone(loaded, request).completion(1) for request in asked]
    rng = random.Random(3)
    answers = {tuple(r.prompt): one.token_ids for r, one in zip(asked, plain, strict=True)}
    monkeypatch.setattr(
        "maskwright.engine.admit.admission.LookBack", lambda _: Prophet(rng, answers)
    )
    harness = Watched(loaded, replace(CONFIG, blocks=40))
    for number, request in enumerate(asked):
        harness.add(request, number)
    harness.run()
    assert [harness.completion(number) for number in range(len(asked))] == plain
    counts = harness.core.counts
    assert 60 < counts.accepted_tokens < counts.drafted_tokens
    assert harness.scheduler.preemptions > 0
    assert min(harness.kinds["free"], harness.kinds["constrained"]) > 100
    assert harness.kinds["may end"] > 10
    assert harness.kinds["compared"] > 10


@pytest.mark.parametrize("overlap", [False, True])
@pytest.mark.parametrize("canonical", [True, False])
@pytest.mark.parametrize("kind", FORMATS)
def test_a_constraint_that_begins_in_the_middle_holds_from_there_on(
    loaded: LoadedModel, monkeypatch: pytest.MonkeyPatch, kind: str, canonical: bool, overlap: bool
) -> None:
    """Free text, a mark or a special token, then a shape: wherever in a draft or before a forced
    run the mark stands, the rows behind it have the shape's masks, and those before it have not.
    Steps wait for every draft, however late its thread is."""
    monkeypatch.setattr("maskwright.engine.step.core.GRACE", PATIENCE)
    grammar = compile_structural_tag(tag(FORMATS[kind]), loaded.vocab)
    asked = requests(loaded, [grammar], 16)
    plain = [run_alone(loaded, r, canonical=canonical).completion(1) for r in asked]
    rng = random.Random(5)
    answers = {tuple(r.prompt): one.token_ids for r, one in zip(asked, plain, strict=True)}
    monkeypatch.setattr(
        "maskwright.engine.admit.admission.LookBack", lambda _: Prophet(rng, answers)
    )
    harness = Watched(loaded, replace(CONFIG, canonical=canonical, overlap=overlap))
    across = watch_marks(harness, loaded)
    for number, request in enumerate(asked):
        harness.add(request, number)
    harness.run()
    harness.post_step_work.stop()
    assert [harness.completion(number) for number in range(len(asked))] == plain
    for one in plain:
        matcher = grammar.matcher()
        assert all(map(matcher.accept, one.token_ids))
        assert matcher.accepting, "whether or not the limit has shortened it, the text is whole"
    forced = kind == "what is forced behind text" and canonical  # drafts end before such text
    if kind == "a special token between":  # never drafted
        special = loaded.vocab.special_tokens[SPECIAL]
        assert all(special in one.token_ids for one in plain)
    elif forced:
        assert harness.core.counts.forced_tokens > 20
    else:
        assert min(across["before"], across["behind"]) > 5


def watch_marks(harness: Watched, loaded: LoadedModel) -> Counter[str]:
    """Counts draft rows before and behind a mark that is a guess itself."""
    mark, seen = ord_of(loaded, MARK), Counter()
    forward = harness.runner.forward

    def watched(plan):
        for chunk in plan.chunks:
            draft = chunk.sequence.draft[: chunk.drafted]
            if mark in draft:
                seen["before"] += draft.index(mark) + 1
                seen["behind"] += len(draft) - draft.index(mark)
        return forward(plan)

    harness.runner.forward = watched
    return seen


def tag(format: object) -> dict[str, object]:
    return {"type": "structural_tag", "format": format}
