"""The whole engine, stepped by hand: what neighbours, preemption and cancels may not change."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from maskwright.engine import Completion, Delta, EngineConfig, FinishReason, Generation, Request
from maskwright.engine.admit.admission import Admission
from maskwright.engine.draft.length import DraftLengthModel
from maskwright.engine.draft.model import DraftModel
from maskwright.engine.kv.blocks import TRASH, BlockPool
from maskwright.engine.on_device.steps import open_device_steps
from maskwright.engine.schedule.plan import StepPlan
from maskwright.engine.schedule.scheduler import Scheduler
from maskwright.engine.step.core import STRAGGLER, Core
from maskwright.engine.step.plain_rows import PlainRows
from maskwright.engine.step.post_step import PostStepWork
from maskwright.engine.step.runner import CopyStream, Runner
from maskwright.errors import GenerationError
from maskwright.kernels.kv_bytes import KvDtype
from maskwright.kernels.kv_pool import KvPool
from maskwright.models import LoadedModel
from maskwright.sampling import SamplingParams
from tests.bounds import wait_until
from tests.engine.step.late_copies import LateCopies
from tests.engine.tiny import LiteralGrammar, LiteralMatcher, SlowGrammar


def poison(memory: KvPool, blocks: list[int]) -> None:
    """Fill `blocks` with NaN: codes by their scales."""
    (memory.data if memory.scales is None else memory.scales)[blocks] = float("nan")


class AnyLength(DraftLengthModel):
    """Guesses as many tokens as `lengths` says, whatever it costs."""

    def __init__(self, lengths: Callable[[], int]) -> None:
        super().__init__(6, fixed_rows=8, ratio=0.1)
        self.lengths = lengths

    def length(self, acceptance: float, decoding: int) -> int:
        return self.lengths()


class Harness:
    """A core with its parts at hand."""

    def __init__(
        self,
        loaded: LoadedModel,
        config: EngineConfig,
        copy_stream: CopyStream | None = None,
    ) -> None:
        self.pool = BlockPool(config.blocks or 64, config.block_size)
        self.scheduler = Scheduler(
            self.pool,
            max_running=config.max_running,
            max_batch_tokens=config.max_batch_tokens,
            classes=config.classes,
            prefix_cache=config.prefix_cache,
            window=loaded.decoder.window,
            host_blocks=config.swap_bytes // loaded.decoder.block_bytes(config.block_size),
            beside_steps=copy_stream is not None,
        )
        self.runner = Runner(
            loaded.decoder,
            self.pool.total,
            config.block_size,
            config.kv_dtype,
            self.scheduler.host.total,
            copy_stream=copy_stream,
        )
        self.post_step_work = PostStepWork(overlap=config.overlap)
        self.now = 0.0
        self.draft_model = self.new_draft_model(loaded, config)
        self.poison()
        self.core = Core(
            self.scheduler,
            self.runner,
            self.post_step_work,
            draft_model=self.draft_model,
            device_steps=open_device_steps(config, loaded.decoder.device),
            clock=lambda: self.now,
        )
        self.admission = Admission(loaded, self.pool, config)
        self.generations: dict[int, Generation] = {}
        self._deltas: dict[int, list[Delta]] = {}
        self.logits: dict[tuple[int, tuple[int, ...]], torch.Tensor] = {}
        self.empty_masks = 0
        self.runner.sample = self.record(self.runner.sample)
        self.runner.draw_plain = self.record_plain(self.runner.draw_plain)

    def new_draft_model(self, loaded: LoadedModel, config: EngineConfig) -> DraftModel | None:
        if config.draft_model is None:
            return None
        return DraftModel(
            config.draft_model.decoder,
            AnyLength(lambda: config.drafts),
            vocab_size=loaded.decoder.vocab_size,
            blocks=self.pool.total,
            block_size=config.block_size,
            most_rows=config.max_batch_tokens,
            kv_dtype=config.kv_dtype,
        )

    def record(self, sample):
        """Keep every sampled row's logits, by seed and tokens before; count empty masks."""

        def recording(logits, rows, words):
            for row, mine, mask in zip(rows, logits, words, strict=True):
                self.logits[row.seed, tuple(row.tokens)] = mine.clone()
                assert mine.isfinite().all(), "a block that nobody holds was read"
                self.empty_masks += not mask.any()
            return sample(logits, rows, words)

        return recording

    def record_plain(self, draw):
        """As `record`, for plain rows."""

        def recording(logits, rows):
            for active, drafted, number in rows.places:
                sequence = active.sequence
                tokens = (*sequence.tokens, *sequence.draft[:drafted])
                self.logits[active.generation.seed, tokens] = logits[number].clone()
                assert logits[number].isfinite().all(), "a block that nobody holds was read"
                self.empty_masks += not active.masks.words[drafted].any()
            draw(logits, rows)

        return recording

    @property
    def deltas(self) -> dict[int, list[Delta]]:
        """What each request has published so far, a delta for all that one call of this found."""
        for number, generation in self.generations.items():
            self._deltas[number] += generation._take_unread()
        return self._deltas

    def add(self, request: Request, number: int) -> None:
        self.admission.check(request)
        seed = (request.params.seed or 0) % 2**64
        deadline = None if request.timeout is None else self.now + request.timeout
        generation = Generation(
            number, seed, len(request.prompt), self.core.cancel, deadline=deadline
        )
        self.generations[number] = generation
        self._deltas[number] = []
        self.core.add(self.admission.admit(request, generation, request.grammar))

    def poison(self) -> None:
        """Fill free blocks with NaN, so that reading one shows at once; and the trash block, unless
        torch computes attention, which reads that with no weight."""
        trash = [] if self.runner._decoder.library_operations.attention else [TRASH]
        with torch.inference_mode():
            poison(self.runner._pool, [*trash, *self.pool._free])
            poison(self.runner._host, list(self.scheduler.host._free))
            if self.draft_model is not None:
                poison(self.draft_model._pool, list(self.draft_model.blocks._free))

    def step(self) -> None:
        self.core.step()
        self.scheduler.check()
        if self.draft_model is not None:
            self.draft_model.check()
        self.poison()

    def run(self) -> None:
        while not self.core.idle:
            self.step()

    def completion(self, number: int) -> Completion:
        deltas = self.deltas[number]
        assert [d.finish_reason for d in deltas[:-1]] == [None] * (len(deltas) - 1)
        whole = Delta.join(deltas)
        assert whole.finish_reason is not None
        return Completion(
            whole.text,
            whole.token_ids,
            whole.finish_reason,
            0,
            whole.scores,
            whole.stop,
            whole.shortened_at,
        )


PLAIN = EngineConfig(
    blocks=64, max_running=1, max_batch_tokens=256, prefix_cache=False, drafts=0, overlap=False
)
"""One request alone, every token in a step of its own, no cache: what all else must equal."""


class NoPlainRows(PlainRows):
    """Has all rows sampled and taken on one by one, in Python."""

    def collect(self, chunks, active, held, place):
        return super().collect(chunks, active, held, None)


def run_alone(
    loaded: LoadedModel, request: Request, *, canonical: bool = True, kv_dtype: KvDtype = "auto"
) -> Harness:
    harness = Harness(loaded, replace(PLAIN, canonical=canonical, kv_dtype=kv_dtype))
    harness.core._plain = NoPlainRows()
    harness.add(request, 1)
    harness.run()
    assert harness.pool.used == 0
    return harness


def alone(loaded: LoadedModel, request: Request) -> Completion:
    return run_alone(loaded, request).completion(1)


def rare_params(rng: random.Random) -> SamplingParams:
    return SamplingParams(
        temperature=rng.choice([0.0, 0.7, 1.0, 1.5]),
        top_k=rng.choice([0, 0, 5]),
        top_p=rng.choice([1.0, 0.8]),
        min_p=rng.choice([0.0, 0.05]),
        repetition_penalty=rng.choice([1.0, 1.3]),
        presence_penalty=rng.choice([0.0, 0.5]),
        frequency_penalty=rng.choice([0.0, 0.5]),
        no_repeat_ngram=rng.choice([0, 0, 3]),
        logit_bias=rng.choice([{}, {65: 3.0}]),
        bad_words=rng.choice([(), ((66,), (67, 68))]),
        seed=rng.getrandbits(64),
        logprobs=rng.choice([None, None, 0, 3]),
    )


def random_request(rng: random.Random, loaded: LoadedModel) -> Request:
    letters = [i for i, token in enumerate(loaded.vocab.tokens) if token]
    params = SamplingParams(
        temperature=rng.choice([0.0, 0.7, 1.0, 1.5]),
        top_p=rng.choice([1.0, 0.8]),
        seed=rng.getrandbits(64),
    )
    if rng.random() < 0.5:
        params = rare_params(rng)
    grammar = None
    max_tokens = rng.randint(1, 24)
    if rng.random() < 0.4:
        text = rng.choice([b'{"the":"cat"}', b"the cat sat", b"xy"])
        more = rng.random() < 0.5
        grammar = LiteralGrammar(loaded.vocab, text, more)
        max_tokens = rng.randint(grammar.min_tokens, grammar.min_tokens + 15)
        params = replace(params, no_repeat_ngram=0, bad_words=())
    return Request(
        prompt=[rng.choice(letters) for _ in range(rng.randint(1, 60))],
        params=params,
        max_tokens=max_tokens,
        stop=rng.choice([(), (), ("a",), ("the", "c")]),
        grammar=grammar,
    )


def random_config(rng: random.Random, draft_models: Sequence[LoadedModel]) -> EngineConfig:
    block_size = rng.choice([4, 16])
    draft_model = rng.choice([None, *draft_models])
    return EngineConfig(
        block_size=block_size,
        blocks=max(rng.choice([32, 48, 120]) // block_size, 90 // block_size + 2),
        max_running=rng.choice([2, 5, 16]),
        max_batch_tokens=rng.choice([16, 20, 100]),
        swap_bytes=rng.choice([0, 0, 1 << 14, 1 << 18]),
        kv_dtype=rng.choice(["auto", "auto", "int8", "fp8"]),
        prefix_cache=rng.random() < 0.7,
        canonical=rng.random() < 0.5,
        drafts=rng.choice([0, 1, 6] if draft_model is None else [1, 6]),
        draft_model=draft_model,
        overlap=rng.random() < 0.3,
        device_steps=rng.choice([0, 1, 2, 5]),
    )


@dataclass(frozen=True)
class Driven:
    """What came of random requests under a random schedule; `cancelled` are numbers of them."""

    harness: Harness
    config: EngineConfig
    requests: list[Request]
    cancelled: set[int]


def drive(
    loaded: LoadedModel, config: EngineConfig, rng: random.Random, requests: list[Request]
) -> Driven:
    """Submit `requests` at random moments, cancel some, and step until nothing is left to do."""
    late = LateCopies(rng) if rng.random() < 0.5 else None
    harness = Harness(loaded, config, late)
    if harness.draft_model is not None and rng.random() < 0.5:
        harness.draft_model.length_model.lengths = lambda: rng.randint(0, config.drafts)
    cancelled = set()
    todo = list(enumerate(requests))
    while todo or not harness.core.idle:
        while todo and (rng.random() < 0.4 or harness.core.idle):
            number, request = todo.pop(0)
            harness.add(request, number)
            if rng.random() < 0.05:
                harness.core.cancel(number)
                cancelled.add(number)
        if harness.core.idle:
            continue
        harness.step()
        if rng.random() < 0.03:
            number = rng.randrange(len(requests))
            harness.core.cancel(number)
            cancelled.add(number)
    harness.post_step_work.stop()
    assert harness.empty_masks == 0
    assert harness.pool.used == 0
    assert harness.draft_model is None or harness.draft_model.blocks.used == 0
    assert harness.core.live == 0
    return Driven(harness, config, requests, cancelled)


def random_requests(rng: random.Random, loaded: LoadedModel) -> list[Request]:
    """Some of whose prompts share a beginning."""
    requests = [random_request(rng, loaded) for _ in range(rng.randint(2, 12))]
    for request in requests[1:]:
        if rng.random() < 0.4:
            other = rng.choice(requests).prompt
            request.prompt[: len(other)] = other[: rng.randint(1, len(request.prompt))]
    return requests


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 2**32))
def test_nothing_but_the_request_decides_its_tokens(
    loaded: LoadedModel, other_weights: LoadedModel, seed: int
) -> None:
    """Neighbours, chunks, preemption, cancels, cached prefixes, drafts looked up and of a model
    (good, bad, as many as there is room for or any number), forced runs and overlap change no
    token and no bit of a logit of any request. (With overlap the steps depend on time,
    so the generator is not hypothesis' own.)"""
    rng = random.Random(seed)
    config = random_config(rng, [loaded, other_weights])
    driven = drive(loaded, config, rng, random_requests(rng, loaded))
    harness = driven.harness
    for number, request in enumerate(driven.requests):
        got = harness.completion(number)
        plain = run_alone(loaded, request, canonical=config.canonical, kv_dtype=config.kv_dtype)
        expected = plain.completion(1)
        for key, row in plain.logits.items():
            if key in harness.logits:
                assert torch.equal(row, harness.logits[key]), "bits depend on the schedule"
        if got.finish_reason is FinishReason.CANCELLED:
            assert number in driven.cancelled
            assert expected.token_ids[: len(got.token_ids)] == got.token_ids
        else:
            assert got == expected
        if request.grammar is not None and got.finish_reason is not FinishReason.CANCELLED:
            check_grammar(request.grammar, got)


def check_grammar(grammar: LiteralGrammar, completion: Completion) -> None:
    """A fresh matcher accepts every token; the text is complete, unless a stop string cuts it."""
    matcher = grammar.matcher()
    assert all(matcher.accept(token) for token in completion.token_ids)
    if completion.stop is None:
        assert matcher.accepting


def test_preemption_happens_and_changes_nothing(loaded: LoadedModel) -> None:
    """A pool too small for two: the younger is computed again, with the same tokens."""
    harness = Harness(
        loaded, EngineConfig(block_size=4, blocks=16, max_running=4, max_batch_tokens=64)
    )
    requests = [
        Request([65 + i] * 12, SamplingParams(seed=i), max_tokens=40, eos=()) for i in range(4)
    ]
    for number, request in enumerate(requests):
        harness.add(request, number)
    harness.run()
    assert harness.scheduler.preemptions > 0
    assert [harness.completion(i) for i in range(4)] == [alone(loaded, r) for r in requests]


@pytest.mark.parametrize("after", range(9))
def test_a_cancel_at_any_step_frees_everything(loaded: LoadedModel, after: int) -> None:
    harness = Harness(loaded, EngineConfig(blocks=16, max_running=2, max_batch_tokens=8))
    for number in range(3):
        harness.add(Request([65] * 30, SamplingParams(seed=number), 4, eos=()), number)
    for _ in range(after):
        harness.step()
    for number in (0, 2, 0):
        harness.core.cancel(number)
        harness.scheduler.check()
    harness.run()
    assert harness.pool.used == 0
    assert [len([d for d in ds if d.finish_reason]) for ds in harness.deltas.values()] == [1, 1, 1]
    assert harness.completion(1).finish_reason is FinishReason.LENGTH


def test_finish_reasons(loaded: LoadedModel) -> None:
    eos = loaded.eos
    free = SamplingParams(seed=5)
    text = alone(loaded, Request([70], free, 20, eos=())).text
    cases = [
        (Request([70], free, 20, eos=()), FinishReason.LENGTH, text),
        (Request([70], free, 20, eos=(), stop=(text[8:10],)), FinishReason.STOP_STRING,
         text[: text.index(text[8:10])]),
        (Request([70], SamplingParams(temperature=0, logit_bias={eos[0]: 100.0}), 20),
         FinishReason.STOP, ""),
        (Request([70], free, 20, grammar=LiteralGrammar(loaded.vocab, b"the cat")),
         FinishReason.GRAMMAR, "the cat"),
        (Request([70], free, 9, grammar=LiteralGrammar(loaded.vocab, b"sat")),
         FinishReason.GRAMMAR, "sat"),
        (Request([70], SamplingParams(seed=5, logit_bias={eos[0]: -100.0}), 9,
                 grammar=LiteralGrammar(loaded.vocab, b"xyz", more=True)),
         FinishReason.LENGTH, "xyzxyzxyz"),
    ]  # fmt: skip
    for request, reason, expected in cases:
        got = alone(loaded, request)
        assert (got.finish_reason, got.text) == (reason, expected)


def test_only_writable_tokens_are_sampled_without_grammar(loaded: LoadedModel) -> None:
    """Padding of the vocabulary and special tokens other than the end never appear."""
    params = SamplingParams(temperature=100.0, seed=1)
    completion = alone(loaded, Request([65], params, 200))
    eos = set(loaded.eos)
    assert all(loaded.vocab.tokens[t] or t in eos for t in completion.token_ids)
    hidden = {i for i, text in enumerate(loaded.vocab.tokens) if not text} - eos
    assert hidden, "the checkpoint has such tokens"
    words = Harness(loaded, EngineConfig(blocks=8)).admission.free_words(loaded.eos)
    assert not any(words[t // 32] >> (t % 32) & 1 for t in hidden)


class BrokenMatcher(LiteralMatcher):
    """Fails in one of the ways a grammar can."""

    def __init__(self, grammar: LiteralGrammar, fault: str) -> None:
        super().__init__(grammar)
        self.fault = fault

    def fill_mask(self, out, budget=None):
        if self.fault == "raises" and self.done:
            raise ZeroDivisionError("boom")
        super().fill_mask(out, budget)
        if self.fault == "empty" and self.done:
            out[:] = 0

    def accept(self, token_id):
        return not (self.fault == "refuses" and self.done) and super().accept(token_id)


def test_a_row_that_waited_for_its_mask_is_not_sampled_beside_its_successor(
    loaded: LoadedModel,
) -> None:
    """Late for its mask, then paused, out of its blocks, and computed again in one step."""
    harness = Harness(loaded, EngineConfig(drafts=0))
    harness.add(Request([1, 2, 3], SamplingParams(seed=1), 6, eos=()), 0)
    harness.step()
    (active,) = harness.core._active.values()
    masks, active.masks = active.masks, None
    harness.core.step()
    assert harness.core.counts.held_rows == 1
    harness.scheduler.pause(active.sequence)
    harness.scheduler.tables.let_go(active.sequence)
    harness.core.resume(0)
    active.masks = masks
    harness.run()
    alone = Harness(loaded, EngineConfig(drafts=0))
    alone.add(Request([1, 2, 3], SamplingParams(seed=1), 6, eos=()), 0)
    alone.run()
    assert harness.completion(0).token_ids == alone.completion(0).token_ids


def test_a_request_that_is_paused_during_a_forward_gets_no_token(loaded: LoadedModel) -> None:
    """Its reader is full, which shows only once the mask is there: the row is kept, and sampled
    when the reader goes on."""
    harness = Harness(loaded, EngineConfig(drafts=0, overlap=False))
    request = Request([1, 2, 3], SamplingParams(seed=1), 6, eos=())
    harness.add(request, 0)
    harness.step()
    (active,) = harness.core._active.values()
    commit = harness.scheduler.commit

    def commit_and_pause(plan: StepPlan) -> None:
        commit(plan)
        harness.scheduler.pause(active.sequence)

    harness.scheduler.commit = commit_and_pause
    harness.core.step()
    harness.scheduler.commit = commit
    assert harness.core.idle, "nothing is left to do before the reader goes on"
    assert (harness.core.counts.held_rows, harness.core.counts.sampled_tokens) == (1, 1)
    harness.core.resume(0)
    harness.run()
    assert harness.completion(0) == alone(loaded, request)


@pytest.mark.parametrize(
    ("fault", "message"), [("raises", "boom"), ("empty", "No token"), ("refuses", "refused token")]
)
def test_a_failing_grammar_ends_its_request_alone(
    loaded: LoadedModel, fault: str, message: str
) -> None:
    class BrokenGrammar(LiteralGrammar):
        def matcher(self):
            return BrokenMatcher(self, fault)

    config = EngineConfig(blocks=32, max_running=4, max_batch_tokens=64, canonical=False)
    harness = Harness(loaded, config)
    good = Request([65] * 5, SamplingParams(seed=9), 10)
    harness.add(good, 1)
    grammar = BrokenGrammar(loaded.vocab, b"the cat sat")
    harness.add(Request([66] * 5, SamplingParams(seed=8), 20, grammar=grammar), 2)
    harness.add(replace(good, prompt=[67] * 9), 3)
    harness.run()
    last = harness.deltas[2][-1]
    assert last.finish_reason is FinishReason.ERROR
    assert isinstance(last.error, GenerationError)
    assert message in str(last.error)
    assert harness.completion(1) == alone(loaded, good)
    assert harness.completion(3) == alone(loaded, replace(good, prompt=[67] * 9))
    assert harness.pool.used == 0


def test_a_kept_row_whose_mask_has_come_is_not_waited_for(loaded: LoadedModel) -> None:
    """The mask comes between two steps, and the next one has nothing to compute."""
    grammar = SlowGrammar(loaded.vocab, b"xyz")
    harness = Harness(loaded, replace(PLAIN, canonical=False, overlap=True))
    try:
        harness.add(Request([70], SamplingParams(seed=1), 9, grammar=grammar), 1)
        wait_until(lambda: harness.step() or harness.core.counts.held_rows > 0)
        wait_until(lambda: harness.step() or not harness.core._advancing)
        before = harness.post_step_work.waited
        harness.step()
        assert harness.post_step_work.waited - before > 0.9 * STRAGGLER, "nothing to do but to wait"
        grammar.go.set()
        wait_until(lambda: harness.post_step_work.has_results)
        before = harness.post_step_work.waited
        harness.step()
        assert harness.core.counts.sampled_tokens == 1
        assert harness.post_step_work.waited - before < 0.5 * STRAGGLER
        harness.run()
        assert harness.completion(1).text == "xyz"
    finally:
        grammar.go.set()
