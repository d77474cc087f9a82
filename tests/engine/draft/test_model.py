"""A draft model: what it guesses, when it rests, what it holds. That it changes no token is in
`test_core.py`, where it is among all else that must not."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from maskwright import compile_json_schema
from maskwright.engine import Engine, EngineConfig, FinishReason, Request
from maskwright.engine.capacity import plan_capacity
from maskwright.engine.draft.model import check_vocabulary
from maskwright.engine.step.core import Core
from maskwright.errors import GenerationError, InputError
from maskwright.models import LoadedModel, load
from maskwright.sampling import SamplingParams
from tests.bounds import PATIENCE
from tests.engine.request.test_trace import hold, random_load, serve_all
from tests.engine.step.test_core import BrokenMatcher, Harness, alone, run_alone
from tests.engine.tiny import LiteralGrammar, LiteralMatcher, save_checkpoint
from tests.models.adapters import save_adapter

SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "string"}, "n": {"type": "integer"}},
    "required": ["a"],
}
CONFIG = EngineConfig(block_size=4, blocks=80, max_running=4, max_batch_tokens=24)


def requests(loaded: LoadedModel, count: int) -> list[Request]:
    """Free and constrained, drawn and greedy, with prompts that need several steps."""
    rng = random.Random(count)
    schema = compile_json_schema(SCHEMA, loaded.vocab)
    return [
        Request(
            [rng.randrange(200) for _ in range(rng.choice([2, 50]))],
            SamplingParams(
                seed=number,
                temperature=[0.0, 1.0, 1.5][number % 3],
                top_p=0.9,
                frequency_penalty=0.3,
                logprobs=2 if number % 4 == 0 else None,
            ),
            max_tokens=30,
            grammar=schema if number % 2 else None,
        )
        for number in range(count)
    ]


class NoLookup:
    """Finds nothing, so that all guesses are the model's."""

    most = 6

    def propose(self, tokens: object) -> list[int]:
        return []

    def judge(self, proposed: int, accepted: int) -> None:
        raise AssertionError("nothing was looked up")


def run_all(harness: Harness, asked: list[Request]) -> Core:
    for number, request in enumerate(asked):
        harness.add(request, number)
    harness.run()
    assert harness.pool.used == 0
    assert harness.draft_model is not None
    assert harness.draft_model.blocks.used == 0
    return harness.core


@pytest.fixture
def no_lookup(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("maskwright.engine.admit.admission.LookBack", lambda _: NoLookup())


@pytest.mark.usefixtures("no_lookup")
@pytest.mark.parametrize("kv_dtype", ["auto", "int8"])
def test_the_same_weights_guess_every_token(loaded: LoadedModel, kv_dtype) -> None:
    """With the seed, the position, the mask and the chain of the large model's own draw."""
    asked = requests(loaded, 8)
    config = replace(CONFIG, kv_dtype=kv_dtype, drafts=5)
    plain = Harness(loaded, config)
    for number, request in enumerate(asked):
        plain.add(request, number)
    plain.run()
    harness = Harness(loaded, replace(config, draft_model=loaded))
    counts = run_all(harness, asked).counts
    assert [harness.completion(n) for n in range(8)] == [plain.completion(n) for n in range(8)]
    assert (
        counts.model_drafted_tokens == counts.model_accepted_tokens == counts.accepted_tokens > 100
    )
    assert counts.steps < plain.core.counts.steps / 2


@pytest.mark.usefixtures("no_lookup")
@pytest.mark.parametrize("good", [True, False])
@pytest.mark.parametrize("overlap", [True, False])
def test_tokens_and_logits_are_those_of_plain_decoding(
    loaded: LoadedModel,
    other_weights: LoadedModel,
    monkeypatch: pytest.MonkeyPatch,
    good: bool,
    overlap: bool,
) -> None:
    """Under preemption too: the pool is too small for all. Guesses wait for every mask, however
    late its thread is."""
    monkeypatch.setattr("maskwright.engine.step.core.GRACE", PATIENCE)
    asked = [replace(r, prompt=r.prompt[:12], max_tokens=40) for r in requests(loaded, 8)]
    draft = loaded if good else other_weights
    config = replace(CONFIG, blocks=16, overlap=overlap, draft_model=draft)
    harness = Harness(loaded, config)
    counts = run_all(harness, asked).counts
    harness.post_step_work.stop()
    assert harness.scheduler.preemptions > 0
    assert counts.model_drafted_tokens > 20
    assert (counts.model_accepted_tokens > counts.model_drafted_tokens / 2) == good
    for number, request in enumerate(asked):
        plain = run_alone(loaded, request)
        assert harness.completion(number) == plain.completion(1)
        both = plain.logits.keys() & harness.logits.keys()  # of what is forced, plain has them too
        assert len(both) >= len(plain.logits) / 2
        assert all(torch.equal(harness.logits[key], plain.logits[key]) for key in both)


@pytest.mark.usefixtures("no_lookup")
@pytest.mark.parametrize("how", ["cancel", "pause", "preempt"])
@pytest.mark.parametrize("after", [1, 2, 4])
def test_blocks_are_given_back(loaded: LoadedModel, how: str, after: int) -> None:
    harness = Harness(loaded, replace(CONFIG, draft_model=loaded))
    assert harness.draft_model is not None
    asked = [Request([65 + n] * 5, SamplingParams(seed=n), 40, eos=()) for n in range(2)]
    for number, request in enumerate(asked):
        harness.add(request, number)
    for _ in range(after):
        harness.step()
    sequence = harness.core._active[0].sequence
    if how == "cancel":
        harness.core.cancel(0)
    else:
        harness.scheduler.pause(sequence)
        if how == "preempt":
            harness.scheduler.release(sequence)
        harness.step()
    assert sequence not in harness.draft_model._pasts
    harness.core.resume(0)
    harness.run()
    assert harness.draft_model.blocks.used == harness.pool.used == 0
    for number in (0, 1):
        if (how, number) != ("cancel", 0):
            assert harness.completion(number) == alone(loaded, asked[number])


@pytest.mark.usefixtures("no_lookup")
def test_without_room_there_are_no_guesses(loaded: LoadedModel) -> None:
    """A pool for one: the others go on without, and whoever rests makes room."""
    harness = Harness(loaded, replace(CONFIG, draft_model=loaded))
    model = harness.draft_model
    assert model is not None
    model.blocks.allocate(model.blocks.free - 5)
    asked = [Request([65 + n] * 5, SamplingParams(seed=n), 20, eos=()) for n in range(3)]
    for number, request in enumerate(asked):
        harness.add(request, number)
    for _ in range(2):
        harness.core.step()
    assert len([past for past in model._pasts.values() if past.table]) == 1
    model.length_model.lengths = lambda: 0
    harness.core.step()
    model.length_model.lengths = iter([0, 6, 0, *[6] * 999]).__next__
    holders = [s for s, past in model._pasts.items() if past.table]
    harness.core.step()
    assert [s for s, past in model._pasts.items() if past.table] != holders
    while not harness.core.idle:
        harness.core.step()
    assert [harness.completion(n) for n in range(3)] == [alone(loaded, r) for r in asked]


@pytest.mark.usefixtures("no_lookup")
def test_a_draft_model_with_fewer_positions_stops_there(
    loaded: LoadedModel, tmp_path: Path
) -> None:
    short = load(save_checkpoint(tmp_path / "short", positions=20))
    harness = Harness(loaded, replace(CONFIG, draft_model=short))
    request = Request([65] * 5, SamplingParams(seed=1), 60, eos=())
    counts = run_all(harness, [request]).counts
    assert harness.completion(0) == alone(loaded, request)
    assert 0 < counts.model_drafted_tokens <= 15


@pytest.fixture(scope="module")
def patient(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    """A model for long contexts."""
    return load(save_checkpoint(tmp_path_factory.mktemp("long"), positions=4096))


@pytest.mark.parametrize("looked_up", [False, True])
def test_drafts_come_true_in_long_contexts_as_in_short_ones(
    patient: LoadedModel, monkeypatch: pytest.MonkeyPatch, looked_up: bool
) -> None:
    """Looked up, in an answer that repeats itself; of a draft model with the same weights."""
    if not looked_up:
        monkeypatch.setattr("maskwright.engine.admit.admission.LookBack", lambda _: NoLookup())
    config = replace(CONFIG, blocks=1000, max_batch_tokens=256, drafts=6, prefix_cache=False)
    counts = []
    for length in (8, 300, 2000):
        harness = Harness(patient, replace(config, draft_model=None if looked_up else patient))
        rng = random.Random(length)
        bias = {70: 90.0} if looked_up else {}
        params = SamplingParams(seed=1, temperature=0.0 if looked_up else 1.0, logit_bias=bias)
        prompt = [rng.randrange(256) for _ in range(length)]
        harness.add(Request(prompt, params, 60, eos=()), 0)
        harness.run()
        totals = harness.core.counts
        assert totals.accepted_tokens == totals.drafted_tokens
        counts.append(totals.accepted_tokens)
    assert min(counts) > (25 if looked_up else 35), "the longest are caught up with in 8 steps"


@pytest.mark.usefixtures("no_lookup")
def test_one_beyond_the_draft_model_stops_no_other(loaded: LoadedModel, tmp_path: Path) -> None:
    """A draft model with fewer positions guesses nothing for a text that is longer, and all the
    same for its neighbours; nothing is made up in its place."""
    short = load(save_checkpoint(tmp_path / "short", positions=40))
    config = replace(CONFIG, draft_model=short, max_batch_tokens=64)
    near = Request([65] * 5, SamplingParams(seed=1), 30, eos=())
    far = Request([66] * 60, SamplingParams(seed=2), 60, eos=())
    alone_counts = run_all(Harness(loaded, config), [near]).counts
    harness = Harness(loaded, config)
    counts = run_all(harness, [near, far]).counts
    assert [harness.completion(n) for n in range(2)] == [alone(loaded, near), alone(loaded, far)]
    assert (counts.model_drafted_tokens, counts.model_accepted_tokens) == (
        alone_counts.model_drafted_tokens,
        alone_counts.model_accepted_tokens,
    )
    assert counts.model_drafted_tokens > 0


def test_an_adapter_has_no_guesses_of_the_model(loaded: LoadedModel, tmp_path: Path) -> None:
    save_adapter(tmp_path / "a", loaded.decoder.adapter_shapes, ["q_proj", "down_proj"], seed=1)
    config = replace(CONFIG, draft_model=loaded)
    request = Request([65] * 5, SamplingParams(seed=1), 30, eos=(), adapter="a")
    with Engine(loaded, config, {"a": tmp_path / "a"}) as engine:
        got = engine.submit(request).result()
        assert engine.stats().model_drafted_tokens == 0
    with Engine(loaded, replace(CONFIG, drafts=0), {"a": tmp_path / "a"}) as engine:
        assert engine.submit(request).result() == got


@pytest.mark.parametrize("fault", ["raises", "empty", "refuses"])
def test_a_grammar_that_fails_under_guesses_ends_its_request_alone(
    loaded: LoadedModel, fault: str
) -> None:
    class BrokenGrammar(LiteralGrammar):
        def matcher(self):
            return BrokenMatcher(self, fault)

    config = replace(CONFIG, canonical=False, draft_model=loaded)
    harness = Harness(loaded, config)
    good = Request([65] * 5, SamplingParams(seed=9), 10)
    grammar = BrokenGrammar(loaded.vocab, b"the cat sat", more=True)
    run_all(harness, [good, Request([66] * 5, SamplingParams(seed=8), 20, grammar=grammar)])
    assert harness.completion(0) == alone(loaded, good)
    last = harness.deltas[1][-1]
    assert last.finish_reason is FinishReason.ERROR
    assert isinstance(last.error, GenerationError)


@pytest.mark.usefixtures("no_lookup")
def test_a_grammar_that_fails_where_only_guesses_come_ends_nothing(
    loaded: LoadedModel, other_weights: LoadedModel
) -> None:
    visited: set[bytes] = set()
    failures: list[bytes] = []

    class Matcher(LiteralMatcher):
        known_only = False

        def fill_mask(self, out, budget=None):
            if self.known_only and self.done not in visited:
                failures.append(self.done)
                raise ZeroDivisionError
            visited.add(self.done)
            super().fill_mask(out, budget)

    class Grammar(LiteralGrammar):
        def matcher(self):
            return Matcher(self)

    grammar = Grammar(loaded.vocab, b"the cat sat", more=True)
    request = Request([66] * 5, SamplingParams(seed=8), 40, grammar=grammar)
    expected = run_alone(loaded, request, canonical=False).completion(1)
    Matcher.known_only = True
    harness = Harness(loaded, replace(CONFIG, canonical=False, draft_model=other_weights))
    run_all(harness, [request])
    assert harness.completion(0) == expected
    assert failures


def test_metrics_equal_the_sums_of_traces_with_a_draft_model(loaded: LoadedModel) -> None:
    asked = random_load(random.Random(3), loaded, 20)
    with Engine(loaded, replace(CONFIG, draft_model=loaded, reader_tokens=64)) as engine:
        engine._core._draft_model.length_model.length = lambda acceptance, decoding: (
            3
        )  # as if it paid
        traces = serve_all(engine, asked, cancel=frozenset({4, 9}))
        stats = engine.stats()
        hold(stats, traces)
    assert stats.model_drafted_tokens >= stats.model_accepted_tokens > 0
    assert stats.drafted_tokens >= stats.model_drafted_tokens
    assert stats.seconds["draft"] > 0


# Which draft models there can be ------------------------------------------------------------------


def test_other_tokens_are_refused(loaded: LoadedModel, other_weights: LoadedModel) -> None:
    check_vocabulary(loaded, other_weights)  # padded otherwise, and that is all
    tokens = list(loaded.vocab.tokens)
    tokens[70], tokens[71] = tokens[71], tokens[70]
    other = replace(loaded, name="swapped", vocab=type(loaded.vocab)(tokens, eos=loaded.eos))
    with pytest.raises(InputError, match="id 70") as caught:
        Engine(loaded, EngineConfig(draft_model=other))
    assert caught.value.param == "draft_model"


def test_without_drafts_a_draft_model_is_refused(loaded: LoadedModel) -> None:
    with pytest.raises(InputError, match="drafts 0"):
        EngineConfig(draft_model=loaded, drafts=0)


def test_its_memory_is_reported(loaded: LoadedModel) -> None:
    config = EngineConfig(memory_fraction=0.5)
    plain = plan_capacity(loaded, config)
    both = plan_capacity(loaded, replace(config, draft_model=loaded))
    assert "draft model" in both.report()
    assert "draft model" not in plain.report()
    assert both.blocks == pytest.approx(plain.blocks / 2, rel=0.01)
