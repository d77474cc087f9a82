"""The end of a request that meets its own last token, and what is left of it then: nothing."""

from __future__ import annotations

import gc
import json
import weakref
from dataclasses import replace

import pytest
from transformers import AutoTokenizer

from maskwright.engine import EngineConfig, FinishReason, Request
from maskwright.mask import compile_regex
from maskwright.models import LoadedModel, load
from maskwright.sampling import SamplingParams
from tests.engine.step.test_core import Harness, NoPlainRows, alone
from tests.engine.tiny import LiteralGrammar, LiteralMatcher, save_checkpoint

CONFIG = EngineConfig(block_size=4, blocks=24, max_running=2, max_batch_tokens=8)
TOKENS = 6


def asked(number: int) -> Request:
    return Request([65] * 20, SamplingParams(seed=number), TOKENS, eos=())


@pytest.mark.parametrize("after", range(14))
@pytest.mark.parametrize("how", ["cancel", "timeout"])
def test_an_end_while_a_token_is_under_way_frees_once(
    loaded: LoadedModel, how: str, after: int
) -> None:
    """Tokens have been drawn and are being digested when the request is ended, its last one among
    them: what comes of that is for nobody, and the blocks, which others have now, stay theirs."""
    harness = Harness(loaded, replace(CONFIG, drafts=0))
    harness.core._plain = NoPlainRows()  # plain ones are digested in the step that draws them
    harness.add(asked(0), 0)
    harness.add(replace(asked(1), timeout=1.0 if how == "timeout" else None), 1)
    for _ in range(after):
        harness.step()
    collect, harness.post_step_work.collect = (
        harness.post_step_work.collect,
        lambda wait=0.0: iter(()),
    )
    harness.step()
    drawn = len(list(harness.deltas[1]))
    ended = 1 not in harness.core._active
    if how == "cancel":
        harness.core.cancel(1)
    else:
        harness.now = 2.0
        harness.core.expire()
    harness.scheduler.check()
    harness.add(asked(2), 2)  # takes the blocks that are free now
    harness.core.step()
    harness.post_step_work.collect = collect
    harness.run()
    harness.core.cancel(1)
    harness.scheduler.check()
    assert harness.pool.used == 0
    assert sum(harness.core.finished.values()) == 3
    last = harness.deltas[1][-1].finish_reason
    assert [d.finish_reason for d in harness.deltas[1]].count(None) == len(harness.deltas[1]) - 1
    if ended:
        assert last is FinishReason.LENGTH
    else:
        assert last is (FinishReason.CANCELLED if how == "cancel" else FinishReason.TIMEOUT)
        assert len(harness.deltas[1]) <= drawn + 1, "something was sent after the end"
        got = harness.completion(1).token_ids
        assert alone(loaded, asked(1)).token_ids[: len(got)] == got
    for number in (0, 2):
        assert harness.completion(number) == alone(loaded, asked(number))


class Unwilling(LiteralMatcher):
    """Notes when it is asked for a mask although nothing can come."""

    asked_in_vain = 0

    def fill_mask(self, out, budget=None):
        if self.complete or self.terminated or budget == 0:
            Unwilling.asked_in_vain += 1
        super().fill_mask(out, budget)


class UnwillingGrammar(LiteralGrammar):
    def matcher(self):
        return Unwilling(self)


@pytest.mark.parametrize("canonical", [True, False])
@pytest.mark.parametrize("overlap", [True, False])
@pytest.mark.parametrize("drafts", [0, 6])
def test_no_mask_is_asked_for_behind_an_end(
    loaded: LoadedModel, drafts: int, overlap: bool, canonical: bool
) -> None:
    """Whether the grammar is complete, an end token was drawn or the limit is reached."""
    Unwilling.asked_in_vain = 0
    config = replace(CONFIG, blocks=60, drafts=drafts, overlap=overlap, canonical=canonical)
    harness = Harness(loaded, config)
    requests = []
    for number, (text, more) in enumerate([(b"the cat", False), (b"the cat", True), (b"xy", True)]):
        grammar = UnwillingGrammar(loaded.vocab, text, more)
        bias = {loaded.eos[0]: -100.0 if text == b"xy" else 5.0}
        params = SamplingParams(seed=number, logit_bias=bias)
        requests.append(Request([66] * 5, params, 20, grammar=grammar))
    for number, request in enumerate(requests):
        harness.add(request, number)
    harness.run()
    harness.post_step_work.stop()
    ends = [harness.completion(number).finish_reason for number in range(len(requests))]
    assert ends == [FinishReason.GRAMMAR, FinishReason.STOP, FinishReason.LENGTH]
    assert Unwilling.asked_in_vain == 0


@pytest.mark.parametrize("after", [0, 1, 3, 100])
def test_nothing_holds_a_matcher_that_has_ended(loaded: LoadedModel, after: int) -> None:
    """Cancelled in the queue, in its prompt, at work, and after its own end."""
    harness = Harness(loaded, replace(CONFIG, drafts=0, canonical=False))
    for number in range(3):
        grammar = LiteralGrammar(loaded.vocab, b"the cat sat")
        harness.add(Request([66] * 20, SamplingParams(seed=number), 20, grammar=grammar), number)
    matchers = [weakref.ref(active.matcher) for active in harness.core._active.values()]
    for _ in range(after):
        if not harness.core.idle:
            harness.step()
    for number in range(3):
        harness.core.cancel(number)
    harness.run()
    gc.collect()
    assert [matcher() for matcher in matchers] == [None] * 3


@pytest.mark.parametrize("constrained", [False, True])
def test_every_end_token_ends_an_answer(
    tmp_path_factory: pytest.TempPathFactory, constrained: bool
) -> None:
    """Of a checkpoint that names several; with a grammar, where its text may end."""
    directory = save_checkpoint(tmp_path_factory.mktemp("checkpoint") / "ends")
    tokenizer = AutoTokenizer.from_pretrained(directory)
    ends = [tokenizer.eos_token_id, tokenizer.pad_token_id, len(tokenizer) + 5]
    settings = directory / "generation_config.json"
    settings.write_text(json.dumps({**json.loads(settings.read_text()), "eos_token_id": ends}))
    loaded = load(directory)
    assert loaded.eos == tuple(ends)
    grammar = compile_regex("aa+", loaded.vocab) if constrained else None
    for end in ends:
        params = SamplingParams(temperature=0, logit_bias={end: 100.0})
        completion = alone(loaded, Request([65] * 3, params, 9, grammar=grammar))
        assert completion.finish_reason is FinishReason.STOP
        assert completion.token_ids[-1] == end
        assert completion.text == ("aa" if constrained else "")
