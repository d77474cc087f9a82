"""Steps in flight while the host works on the tokens of those before: the tokens are the same, and
the device is not idle meanwhile."""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pytest
import torch

from maskwright.engine import Completion, EngineConfig, FinishReason, Request
from maskwright.engine.on_device.automaton import AheadRow, free_automaton
from maskwright.engine.on_device.decode import DrawnAhead
from maskwright.engine.request.active import Active, Masks
from maskwright.engine.schedule.chunk import Chunk
from maskwright.engine.schedule.plan import StepPlan
from maskwright.engine.schedule.sequence import Sequence as TokenSequence
from maskwright.engine.step.flights import Flights, FlownRow, Landed
from maskwright.engine.step.plain_rows import PlainRows
from maskwright.engine.step.runner import Runner
from maskwright.mask import Grammar, compile_json_schema, compile_regex
from maskwright.models import LoadedModel
from maskwright.sampling import SampleRow, SamplingParams
from tests.bounds import PATIENCE, wait_until
from tests.engine.step.host_waits import HostWaits
from tests.engine.step.late_device import LateDevice
from tests.engine.step.test_core import Harness, alone, poison
from tests.engine.step.test_runner import device_decoder
from tests.models.test_device import recorded

FORM: object = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "b": {"enum": ["the cat", "the end"]}},
    "required": ["a", "b"],
    "additionalProperties": False,
}
CONFIG = EngineConfig(drafts=0, device_steps=3)


class LateHarness(Harness):
    """A core over a device that answers in the last moment, and has what the host does to its
    memory done in order."""

    def __init__(self, loaded: LoadedModel, config: EngineConfig, device: LateDevice) -> None:
        self.device: LateDevice | None = None
        self.threaded = config.overlap
        super().__init__(loaded, config)
        self.device = device
        self.runner.arrange = device.in_order(self.runner.arrange)  # type: ignore[method-assign]
        forward = self.runner.forward

        def after_all(plan: StepPlan) -> torch.Tensor:
            device.finish()
            return forward(plan)

        self.runner.forward = after_all  # type: ignore[method-assign]

    def poison(self) -> None:
        if self.device is None:
            super().poison()
            return
        with torch.inference_mode():
            self.device.in_order(poison)(self.runner._pool, list(self.pool._free))


class HandedOver(PlainRows):
    """Hands rows with a grammar over to the thread of post-step work, as rows of rare kinds are."""

    def land(self, rows: list[tuple[Active, list[int]]]) -> list[int]:
        over = {at for at, (active, _) in enumerate(rows) if active.matcher is not None}
        kept = [at for at in range(len(rows)) if at not in over]
        left = super().land([rows[at] for at in kept])
        return sorted([*over, *(kept[at] for at in left)])


def flights_of(harness: Harness) -> Flights:
    assert harness.core._flights is not None
    return harness.core._flights


@pytest.fixture(scope="module")
def grammars(loaded: LoadedModel) -> list[Grammar | None]:
    regex = compile_regex("(yes|no|the (cat|sat)) [0-9]{6,20}x?", loaded.vocab)
    return [compile_json_schema(FORM, loaded.vocab), regex, None, None]


def random_request(rng: random.Random, grammars: Sequence[Grammar | None]) -> Request:
    """Mostly one whose steps can run in a row."""
    grammar = rng.choice(grammars)
    params = SamplingParams(
        temperature=rng.choice([0.0, 0.9, 1.4]),
        top_k=rng.choice([0, 9]),
        top_p=rng.choice([1.0, 0.8]),
        seed=rng.getrandbits(64),
    )
    if rng.random() < 0.05:
        params = replace(params, repetition_penalty=1.2)
    limit = rng.randint(1, 40) + (0 if grammar is None else grammar.min_tokens)
    return Request(
        prompt=[rng.randrange(250) for _ in range(rng.randint(1, 20))],
        params=params,
        max_tokens=limit,
        grammar=grammar,
        stop=rng.choice([(), (), (), (), ("zzz",), ("7", "the c"), ("e",)]),
        stop_tokens=(rng.randrange(200),) if rng.random() < 0.3 else (),
        eos=() if grammar is None and rng.random() < 0.5 else None,
    )


def random_config(rng: random.Random) -> EngineConfig:
    return EngineConfig(
        block_size=4,
        blocks=rng.choice([20, 20, 40]),
        max_running=rng.choice([2, 5, 9, 9]),
        prefix_cache=rng.random() < 0.6,
        canonical=rng.random() < 0.6,
        drafts=rng.choice([0, 0, 4]),
        device_steps=rng.choice([1, 1, 2, 8]),
        overlap=rng.random() < 0.3,
    )


def disturb(rng: random.Random, harness: Harness, cancelled: set[int]) -> None:
    """Cancel a request, or let a reader be behind or go on, between two steps."""
    numbers = sorted(harness.core._active)
    if not numbers or rng.random() < 0.7:
        return
    number = rng.choice(numbers)
    active = harness.core._active[number]
    if rng.random() < 0.3:
        cancelled.add(number)
        harness.core.cancel(number)
    elif rng.random() < 0.5:
        active.generation.record.pause(harness.now)
        harness.scheduler.pause(active.sequence)
    else:
        harness.core.resume(number)


def drive(harness: Harness, requests: list[Request], rng: random.Random) -> set[int]:
    """Submit all at a few moments, and step until nothing is left; returns who was cancelled."""
    todo, cancelled = list(enumerate(requests)), set[int]()
    while todo or harness.core.live:
        while todo and (rng.random() < 0.1 or harness.core.idle):
            harness.add(todo[0][1], todo.pop(0)[0])
        if harness.core.idle:  # all readers are behind
            for number in sorted(harness.core._active):
                harness.core.resume(number)
        harness.step()
        disturb(rng, harness, cancelled)
    harness.run()
    return cancelled


def noted(counts: Counter[str]) -> AbstractContextManager[object]:
    """Have `counts` count the rows that land, and those whose tokens are kept or thrown away."""
    land = FlownRow.land

    def noting(row: FlownRow, drawn: DrawnAhead) -> DrawnAhead | None:
        taken = land(row, drawn)
        lost = drawn.tokens and not row.kept.tokens
        kind = "taken" if taken else "lost" if lost else "kept" if drawn.tokens else "stopped"
        counts[kind] += 1
        return taken

    return patch.object(FlownRow, "land", noting)


@contextmanager
def late_masks(harness: LateHarness, rng: random.Random) -> Iterator[None]:
    """Have the thread of post-step work, if there is one, be late with some masks by a whole step,
    as it is now and then on a busy machine."""
    prepare, step = Active.prepare, harness.step
    behind: list[threading.Event] = []
    over = threading.Event()

    def waiting(active: Active, draft: tuple[int, ...]) -> Masks:
        if harness.threaded and flights_of(harness) and rng.random() < 0.3:
            behind.append(threading.Event())
            assert over.is_set() or behind[-1].wait(PATIENCE)
        return prepare(active, draft)

    def stepping() -> None:
        before = list(behind)
        step()
        for each in before:
            each.set()

    with patch.object(Active, "prepare", waiting), patch.object(harness, "step", stepping):
        yield
    over.set()
    for each in behind:
        each.set()


KINDS = {"followed", "preempted", "taken", "lost", "stopped"}


def test_what_is_in_flight_changes_no_token(
    loaded: LoadedModel, grammars: list[Grammar | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a device that computes in the last moment. Meanwhile requests end, are cancelled, pause,
    go on and are preempted; their blocks are given to others at once. No mask is late unless a
    thread fills them."""
    counts: dict[bool, Counter[str]] = {False: Counter(), True: Counter()}
    device = LateDevice(monkeypatch)
    for seed in range(30):
        rng = random.Random(seed)
        config = random_config(rng)
        harness = LateHarness(loaded, config, device)
        if config.overlap or seed % 2:
            harness.core._plain = HandedOver()
        requests = [random_request(rng, grammars) for _ in range(rng.randint(1, 9))]
        seen = counts[config.overlap]
        with noted(seen), late_masks(harness, random.Random(seed)):
            cancelled = drive(harness, requests, rng)
        harness.post_step_work.stop()
        seen["followed"] += flights_of(harness).followed
        seen["preempted"] += harness.scheduler.preemptions
        assert harness.pool.used == 0
        assert device.unread == 0
        for number, request in enumerate(requests):
            found, gone = harness.completion(number), number in cancelled
            check(found, request, loaded, config, cancelled=gone)
    assert device.most_unread == 2
    assert counts[False].keys() == KINDS
    assert counts[True].keys() == KINDS | {"kept"}
    assert all(counts[False].values()), "a case that did not come"


def check(
    found: Completion,
    request: Request,
    loaded: LoadedModel,
    config: EngineConfig,
    *,
    cancelled: bool,
) -> None:
    expected = expected_of(request, loaded, config)
    if found.finish_reason is FinishReason.CANCELLED:
        assert cancelled
        assert found.token_ids == expected.token_ids[: len(found.token_ids)]
    else:
        assert found == expected


def expected_of(request: Request, loaded: LoadedModel, config: EngineConfig) -> Completion:
    """The request alone, one token a step."""
    harness = Harness(loaded, replace(config, device_steps=0, blocks=64, overlap=False, drafts=0))
    harness.add(request, 1)
    harness.run()
    return harness.completion(1)


LONG = "[a-z ]{90}[a-z ]*"


@pytest.mark.parametrize("steps", [1, 3])
def test_a_row_whose_mask_is_late_holds_no_other(
    loaded: LoadedModel, monkeypatch: pytest.MonkeyPatch, steps: int
) -> None:
    """Where the host isn't done with the tokens of a row, the device goes on with it and all
    others, up to a bound; what it draws is kept, and none of it is lost."""
    counts: Counter[str] = Counter()
    prepare, go = Active.prepare, threading.Event()
    config = replace(CONFIG, overlap=True, device_steps=steps)
    harness = Harness(loaded, config)
    flights = flights_of(harness)

    def waiting(active: Active, draft: tuple[int, ...]) -> Masks:
        assert go.wait(PATIENCE)
        return prepare(active, draft)

    monkeypatch.setattr(Active, "prepare", waiting)
    harness.core._plain = HandedOver()
    requests = [
        Request([65], SamplingParams(seed=1), 150, grammar=compile_regex(LONG, loaded.vocab)),
        *(Request([65 + n], SamplingParams(seed=n), 150, eos=()) for n in (1, 2)),
    ]
    go.set()
    for number, request in enumerate(requests):
        harness.add(request, number)
    actives = [harness.core._active[number] for number in range(3)]
    wait_until(lambda: bool(harness.step() or flights.followed))
    with noted(counts):
        go.clear()
        drawn = [len(active.sequence.tokens) for active in actives]
        for _ in range(9):
            harness.step()
        others = [len(a.sequence.tokens) - n for a, n in zip(actives, drawn, strict=True)]
        assert others[0] <= 2 * steps
        assert min(others[1:]) >= 9 * steps
        assert counts["kept"] >= 7
        go.set()
        harness.run()
        assert not counts["lost"]
    harness.post_step_work.stop()
    for number, request in enumerate(requests):
        check(harness.completion(number), request, loaded, config, cancelled=False)


def test_no_more_is_kept_of_a_row_than_a_bound(
    loaded: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then the others take ordinary steps, in which the row waits; its tokens are drawn again."""
    monkeypatch.setattr("maskwright.engine.step.flights.MOST_KEPT", 3)
    counts: Counter[str] = Counter()
    prepare, go = Active.prepare, threading.Event()
    config = replace(CONFIG, overlap=True, device_steps=1)
    harness = Harness(loaded, config)

    def waiting(active: Active, draft: tuple[int, ...]) -> Masks:
        assert go.wait(PATIENCE)
        return prepare(active, draft)

    monkeypatch.setattr(Active, "prepare", waiting)
    harness.core._plain = HandedOver()
    requests = [
        Request([65], SamplingParams(seed=1), 150, grammar=compile_regex(LONG, loaded.vocab)),
        Request([66], SamplingParams(seed=2), 150, eos=()),
    ]
    go.set()
    for number, request in enumerate(requests):
        harness.add(request, number)
    wait_until(lambda: bool(harness.step() or flights_of(harness).followed))
    with noted(counts):
        go.clear()
        other = harness.core._active[1].sequence
        drawn = len(other.tokens)
        for _ in range(30):
            harness.step()
        assert not flights_of(harness)
        assert len(other.tokens) == drawn + 30
        assert 3 < counts["kept"] + counts["lost"] <= 3 + 3
        go.set()
        harness.run()
    harness.post_step_work.stop()
    for number, request in enumerate(requests):
        check(harness.completion(number), request, loaded, config, cancelled=False)


WORK = 0.4
"""The host's seconds for each token in the tests of time, where a device's step takes one."""


def timed(
    loaded: LoadedModel,
    config: EngineConfig,
    device: LateDevice,
    requests: list[Request],
    *,
    follows: bool,
) -> LateHarness:
    """Run all, where the host needs some time for each token."""
    harness = LateHarness(loaded, config, device)
    take_drawn = harness.core._take_drawn

    def taking(landed: Landed) -> None:
        device.work(WORK * sum(len(drawn.tokens) for _, drawn in landed.rows))
        take_drawn(landed)

    harness.core._take_drawn = taking  # type: ignore[method-assign]
    if not follows:
        flights_of(harness).follow = lambda: None  # type: ignore[method-assign]
    for number, request in enumerate(requests):
        harness.add(request, number)
    harness.run()
    return harness


@pytest.mark.parametrize(("config", "steps"), [(CONFIG, 3), (EngineConfig(), 1)])
def test_a_launch_does_not_wait_for_the_work_on_tokens(
    loaded: LoadedModel, monkeypatch: pytest.MonkeyPatch, config: EngineConfig, steps: int
) -> None:
    """Two requests of 31 tokens, ten launches of three steps, or 30 of one, which is the default on
    a device. With one in flight at a time the device waits for the host after each; with two, for
    as long as that takes the host longer."""
    monkeypatch.setattr("maskwright.engine.on_device.steps.kernels_run_on", lambda _: True)
    requests = [Request([65 + n], SamplingParams(seed=n), 31, eos=()) for n in range(2)]
    times: dict[bool, LateDevice] = {}
    for follows in (False, True):
        with monkeypatch.context() as patched:
            device = times[follows] = LateDevice(patched)
            harness = timed(loaded, config, device, requests, follows=follows)
        assert [harness.completion(n) for n in range(2)] == [alone(loaded, r) for r in requests]
        assert device.launches == 30 // steps
    count, work = 30 // steps, 2 * steps * WORK  # between two launches
    assert times[False].idle == pytest.approx((count - 1) * work)
    assert times[False].host == pytest.approx(count * (steps + work))
    assert times[True].idle == 0
    assert times[True].host == pytest.approx(count * steps + work)


def test_a_queue_that_nobody_leaves_stops_no_launch(loaded: LoadedModel) -> None:
    """All slots are taken, so nobody can be admitted before a request ends. One of a better class
    that waits stops launches: it may be given a slot."""
    config = replace(CONFIG, max_running=2, device_steps=1)
    harness = Harness(loaded, config)
    requests = [Request([65 + n], SamplingParams(seed=n), 20, eos=()) for n in range(4)]
    requests[3] = replace(requests[3], service=config.classes[0].name)
    requests[:3] = [replace(each, service=config.classes[-1].name) for each in requests[:3]]
    for number, request in enumerate(requests[:3]):
        harness.add(request, number)
    for _ in range(10):
        harness.step()
    assert len(harness.scheduler.waiting) == 1
    assert not harness.scheduler.may_admit
    before = flights_of(harness).followed
    assert before >= 7
    harness.add(requests[3], 3)
    assert harness.scheduler.may_admit
    harness.step()
    assert flights_of(harness).followed == before
    harness.run()
    for number, request in enumerate(requests):
        check(harness.completion(number), request, loaded, config, cancelled=False)


@pytest.mark.parametrize("acceptance", [0.0, 1.0])
def test_only_drafts_that_pay_stop_launches(loaded: LoadedModel, acceptance: float) -> None:
    """Of texts that repeat themselves, where the device draws the same tokens without drafts."""
    config = replace(CONFIG, device_steps=1, drafts=4)
    harness = Harness(loaded, config)
    requests = [
        Request([65, 66] * 8, SamplingParams(seed=n, temperature=0), 80, eos=()) for n in range(2)
    ]
    for number, request in enumerate(requests):
        harness.add(request, number)
    drafted = 0
    while not harness.core.idle:
        for sequence in harness.scheduler.running:
            sequence.acceptance = acceptance
            drafted += bool(sequence.draft)
        harness.step()
    assert drafted > 3
    counts = harness.core.counts
    assert (counts.drafted_tokens > 3) if acceptance else (counts.drafted_tokens == 0)
    assert counts.device_steps == 79 or (acceptance and 0 < counts.device_steps < 79)
    for number, request in enumerate(requests):
        check(harness.completion(number), request, loaded, config, cancelled=False)


def test_the_host_waits_only_for_what_it_reads() -> None:
    """Launching, giving other tables and stopping rows waits for nothing on a device; the tokens
    come in one copy."""
    decoder = device_decoder()
    runner = Runner(decoder, 9, 16)
    sequences = [TokenSequence(n, [5] * 20, 8, 99, computed=19, table=[n + 1]) for n in range(3)]
    for each in sequences:
        each.table = [each.arrival + 1, each.arrival + 4]
    plan = StepPlan(tuple(Chunk(s, 19, 1, samples=True) for s in sequences), (), (5, 6), (), ())
    words = np.full(-(-decoder.vocab_size // 32), -1, np.int32)
    sample = SampleRow(SamplingParams(temperature=1.0), (5,) * 20, 8, 0)
    rows = [AheadRow(free_automaton(words), 0, sample, 40, [7]) for _ in sequences]
    tables = [each.table for each in sequences]
    with (
        patch("maskwright.models.decoder.kernels_run_on", return_value=True),
        recorded() as kernels,
    ):
        begun = runner.begin_steps(plan, rows, 2)
        assert begun is not None
        with HostWaits() as waits:
            first = begun.launch(2, tables)
            second = begun.launch(2, [[*tables[0], 8], None, tables[2]])
            assert waits.waits == []
            assert first is not None
            assert second is not None
            assert [len(each.tokens) for each in first.read()] == [2, 2, 2]
    assert len(kernels["advance_kernel"].launches) == 4
