"""Early refusal on a clock that a machine with known costs moves on."""

from __future__ import annotations

import random
from concurrent.futures import Future
from dataclasses import dataclass, replace

import pytest
from hypothesis import Phase as Generation
from hypothesis import given, settings
from hypothesis import strategies as st

from maskwright.engine import Engine, EngineConfig
from maskwright.engine.admit.gate import UNKNOWN_SECONDS, Claim, Forecast, Gate
from maskwright.engine.kv.blocks import BlockPool
from maskwright.engine.schedule.scheduler import Scheduler
from maskwright.engine.schedule.sequence import Phase, Sequence
from maskwright.engine.schedule.service import ServiceClass
from maskwright.engine.schedule.step_time import StepTimeModel
from maskwright.errors import InputError, OverloadedError
from maskwright.models import LoadedModel
from maskwright_sim.costs.linear import LinearCosts
from maskwright_sim.engine.simulated_engine import SimulatedEngine
from maskwright_sim.engine.step_times import measured_step_times
from tests.bounds import PATIENCE, wait_until
from tests.engine.step.held import held_steps
from tests.engine.step.test_loop import request
from tests.engine.tiny import LiteralGrammar

COSTS = LinearCosts()


@dataclass
class Asked:
    """One request of a load: when it comes, and what it wants."""

    at: float
    prompt: int
    output: int
    cap: int
    rank: int = 0
    client: str = ""
    refused: float | None = None
    """Seconds after which it was missed to come back."""
    expected: Forecast | None = None
    """What was foretold when it came."""


@dataclass
class Machine:
    """A simulated engine, with its gate open or at work."""

    classes: tuple[ServiceClass, ...]
    refusing: bool
    slots: int = 8
    blocks: int = 400

    def __post_init__(self) -> None:
        self.step_times = StepTimeModel(256, 4.0)
        pool = BlockPool(self.blocks, 16)
        self.scheduler = Scheduler(
            pool, max_running=self.slots, max_batch_tokens=256, classes=self.classes
        )
        self.simulation = SimulatedEngine(self.scheduler, self.step_times, COSTS)
        self.gate = Gate(
            self.classes, self.step_times, slots=self.slots, positions=self.blocks * 16
        )
        self.live: dict[int, tuple[Asked, Sequence]] = {}
        self.taken: dict[int, Asked] = {}
        self.number = 0

    def submit(self, asked: Asked) -> None:
        number = self.number = self.number + 1
        claim = Claim(asked.rank, asked.client, asked.prompt, asked.cap)
        asked.expected = self.gate.expect(claim)
        try:
            if self.refusing:
                self.gate.check(claim)
        except OverloadedError as error:
            asked.refused = error.retry_after
            return
        tokens = [number * 5000 + place for place in range(asked.prompt)]
        sequence = Sequence(
            number, tokens, asked.prompt, asked.prompt + asked.output, asked.rank, asked.client
        )
        claim.sequence = sequence
        self.gate.enter(number, claim)
        self.live[number] = (asked, sequence)
        self.taken[number] = asked
        self.simulation.add(sequence, [1] * asked.output)

    def step(self) -> None:
        self.simulation.step()
        for number, (asked, sequence) in list(self.live.items()):
            if sequence.phase is Phase.ENDED:
                self.gate.leave(number, steps=asked.output, output=asked.output, cached=0,
                                whole=True)  # fmt: skip
                del self.live[number]

    def run(self, load: list[Asked]) -> None:
        todo = sorted(load, key=lambda asked: asked.at)
        while todo or self.live:
            if not self.live:
                self.simulation.now = max(self.simulation.now, todo[0].at)
            while todo and todo[0].at <= self.simulation.now:
                self.submit(todo.pop(0))
            if self.live:
                self.step()

    def good(self, load: list[Asked]) -> int:
        """Requests that met the objectives of their class."""
        count = 0
        taken = {id(asked): number for number, asked in self.taken.items()}
        for asked in load:
            if id(asked) in taken:
                times = self.simulation.times[taken[id(asked)]]
                service = self.classes[asked.rank]
                tpot = (times[-1] - times[0]) / max(1, len(times) - 1)
                count += (service.ttft is None or times[0] - asked.at <= service.ttft) and (
                    service.tpot is None or tpot <= service.tpot
                )
        return count


def random_load(rng: random.Random, rate: float, seconds: float, long: bool) -> list[Asked]:
    load, at = [], 0.0
    while at < seconds:
        at += rng.expovariate(rate)
        output = max(1, int(rng.expovariate(1 / 40)))
        prompt = rng.randint(300, 900) if long and rng.random() < 0.2 else rng.randint(20, 120)
        load.append(Asked(at, prompt, output, cap=max(output, 200), client=rng.choice("abc")))
    return load


# Seeds can't be made simpler, and shrinking one takes minutes.
@settings(max_examples=6, deadline=None, phases=[Generation.generate])
@given(st.integers(0, 2**32), st.sampled_from([0.3, 0.6]), st.sampled_from([None, 0.02]))
def test_refusing_early_serves_more_in_time(seed: int, ttft: float, tpot: float | None) -> None:
    """Under overload at least as many of the same requests meet the objectives as where everybody
    is let in; the others are missed at once, and a sensible time."""
    rng = random.Random(seed)
    load = random_load(rng, rate=rng.uniform(26, 40), seconds=9, long=rng.random() < 0.5)
    classes = (ServiceClass("only", 1.0, ttft=ttft, tpot=tpot),)
    open_to_all, gated = Machine(classes, refusing=False), Machine(classes, refusing=True)
    open_to_all.run(load)
    late = open_to_all.good(load)
    gated.run(load)
    assert gated.good(load) >= late
    assert gated.good(load) > 0.3 * len(gated.taken)
    refused = [asked for asked in load if asked.refused is not None]
    assert refused, "no overload"
    for asked in refused:
        assert asked.expected is not None
        if asked.expected.ttft > ttft:
            assert asked.refused == pytest.approx(asked.expected.ttft - ttft)
        else:
            assert tpot is not None
            assert asked.expected.tpot > tpot
            assert asked.refused in asked.expected.ends, "when one of those at work has ended"


@pytest.mark.parametrize("slots", [1, 4, 8])
@pytest.mark.parametrize("ttft", [0.03, 0.06, 0.12])
def test_the_forecast_is_the_time_that_it_takes(slots: int, ttft: float) -> None:
    """Answers of a length that is known wait for a slot: had nobody else come, the last of those
    refused would be let in at the time that it was missed, and not sooner."""
    prompt, output = 20, 100
    machine = Machine((ServiceClass("only", 1.0, ttft=ttft),), refusing=False, slots=slots)
    machine.run([Asked(0.01 * n, prompt, output, output) for n in range(60)])  # to know speeds
    machine.refusing = True
    start = machine.simulation.now
    load = [Asked(start, prompt, output, output) for _ in range(40)]
    for asked in load:
        machine.submit(asked)
    last = load[-1]
    assert last.refused is not None
    refused = True
    while refused:
        machine.step()
        try:
            machine.gate.check(Claim(0, "", prompt, output))
        except OverloadedError:
            continue
        refused = False
    assert last.refused == pytest.approx(machine.simulation.now - start, rel=0.05)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 2**32))
def test_nobody_is_refused_where_nobody_is_at_work(seed: int) -> None:
    """However long it takes: it won't be sooner later."""
    rng = random.Random(seed)
    machine = Machine((ServiceClass("only", 1.0, ttft=1e-6, tpot=1e-6),), refusing=True)
    load = [Asked(1e3 * n, rng.randint(1, 900), rng.randint(1, 60), 60) for n in range(20)]
    machine.run(load)
    assert len(machine.taken) == len(load)


def test_who_comes_back_when_told_is_let_in() -> None:
    """A burst; the refused come back after their time and nobody else comes: most are let in by
    then, all in the end."""
    classes = (ServiceClass("only", 1.0, ttft=0.3),)
    machine = Machine(classes, refusing=True, slots=4)
    machine.run([Asked(0.01 * n, 60, 30, 60) for n in range(60)])  # so that speeds are known
    start = machine.simulation.now
    load = [Asked(start + 0.001 * n, 60, 30, 60) for n in range(40)]
    machine.run(load)
    rounds = []
    while refused := [asked for asked in load if asked.refused is not None]:
        rounds.append(len(refused))
        load = [replace(asked, at=asked.at + asked.refused, refused=None) for asked in refused]
        machine.run(load)
        assert len(rounds) < 12
    assert rounds[0] > 20
    assert rounds[1] < rounds[0]


def test_forecasts_are_what_comes() -> None:
    """Steady load below capacity, and lengths that are known: the mean error is small."""
    rng = random.Random(5)
    machine = Machine((ServiceClass("only", 1.0),), refusing=False, slots=4)
    load = [Asked(rng.uniform(0, 40), 80, 40, 40) for _ in range(400)]
    machine.run(load)
    pairs = [
        (machine.simulation.times[number][0] - asked.at, asked.expected.ttft)
        for number, asked in machine.taken.items()
        if asked.expected is not None and asked.at > 4
    ]
    real, missed = sum(r for r, _ in pairs), sum(t for _, t in pairs)
    assert len(pairs) > 200
    assert missed == pytest.approx(real, rel=0.35)
    assert max(seconds for seconds, _ in pairs) > 0.1, "somebody waited"


# In the engine ------------------------------------------------------------------------------------


def test_the_engine_refuses_what_would_come_too_late(loaded: LoadedModel) -> None:
    classes = (ServiceClass("strict", 4.0, ttft=1e-5), ServiceClass("patient", 1.0))
    config = EngineConfig(blocks=64, max_running=2, max_batch_tokens=32, classes=classes)
    with Engine(loaded, config) as engine:
        for seed in range(2):
            engine.submit(request(loaded, seed, service="strict")).result()
        with held_steps(engine):
            patient = [engine.submit(request(loaded, n, 90, service="patient")) for n in range(6)]
            with pytest.raises(OverloadedError, match="'strict' are let in up to 1e-05") as refused:
                engine.submit(request(loaded, service="strict"))
        for generation in patient:
            generation.result()
        engine.submit(request(loaded, service="strict")).result()
        stats = engine.stats()
    assert refused.value.retry_after > 0
    assert stats.refused == {"queue": 0, "objective": 1}
    assert stats.submitted == 9


def test_a_late_grammar_is_a_claim_too(loaded: LoadedModel) -> None:
    late: Future = Future()
    with Engine(loaded, EngineConfig(blocks=64, max_running=2, max_batch_tokens=32)) as engine:
        first = engine.submit(request(loaded, grammar=late, eos=None))
        (claim,) = engine._gate._claims.values()
        assert claim.sequence is None
        late.set_result(LiteralGrammar(loaded.vocab, b"the cat"))
        assert first.result().text == "the cat"
        assert claim.sequence is not None
        gone = engine.submit(request(loaded, grammar=Future(), eos=None))
        gone.cancel()
        gone.result()
        assert not engine._gate._claims


def test_when_tokens_would_come_too_slowly() -> None:
    step_times = measured_step_times(COSTS)
    gate = Gate(
        [ServiceClass("only", 1.0, tpot=COSTS.of(5, 0))], step_times, slots=8, positions=9999
    )
    claim = Claim(0, "", 20, 40)
    for number in range(8):
        if number < 4:
            gate.check(claim)
        sequence = Sequence(number, [1] * 21, 20, 60, phase=Phase.RUNNING, computed=20)
        gate.enter(number, Claim(0, "", 20, 40, sequence))
    with pytest.raises(
        OverloadedError, match=r"^At this load each further token would take"
    ) as refused:
        gate.check(claim)
    assert 30 * COSTS.of(4, 0) < refused.value.retry_after < 90 * COSTS.of(8, 0)
    for number in range(4):
        gate.leave(number, steps=40, output=40, cached=0, whole=True)
    gate.check(claim)


@pytest.mark.parametrize("objective", ["ttft", "tpot"])
def test_an_objective_is_a_time(objective: str) -> None:
    with pytest.raises(InputError, match=f"has the {objective} 0"):
        ServiceClass("a", 1.0, **{objective: 0})


def test_a_backlog_is_what_is_still_to_be_computed_and_reserved() -> None:
    gate = Gate((ServiceClass("one", 1.0),), StepTimeModel(64, None), slots=4, positions=100)
    waiting = Sequence(1, list(range(20)), 20, 50)
    claim = Claim(0, "", prompt=20, cap=30, sequence=waiting)
    assert gate.enter(1, claim) == 50
    assert gate.enter(2, Claim(0, "", prompt=40, cap=90)) == 100  # all that there is
    assert gate.backlog() == (60, 150)
    waiting.phase, waiting.computed = Phase.RUNNING, 12
    assert gate.backlog() == (48, 150)
    waiting.computed = 20
    waiting.tokens.append(7)  # it decodes
    assert gate.backlog() == (40, 150)
    waiting.phase, waiting.computed = Phase.WAITING, 0  # it was preempted
    assert gate.backlog() == (61, 150)
    gate.leave(2, steps=0, output=0, cached=0, whole=False)
    gate.leave(1, steps=1, output=1, cached=0, whole=True)
    assert gate.backlog() == (0, 0)


def test_a_full_queue_has_room_when_the_first_of_the_running_requests_ends() -> None:
    gate = Gate([ServiceClass("only", 1.0)], measured_step_times(COSTS), slots=8, positions=9999)
    claim = Claim(0, "", 20, 40)
    assert gate.seconds_to_end(claim) == UNKNOWN_SECONDS
    for number, left in enumerate((400, 100, 200)):
        sequence = Sequence(number, [1] * 21, 20, 20 + left, phase=Phase.RUNNING, computed=20)
        gate.enter(number, Claim(0, "", 20, left, sequence))
    waiting = Sequence(9, [1] * 20, 20, 60, phase=Phase.WAITING)
    gate.enter(9, Claim(0, "", 20, 40, waiting))
    expected = gate.expect(claim)
    assert expected is not None
    assert gate.seconds_to_end(claim) == pytest.approx(expected.ends[0], rel=0.2)
    assert 80 * COSTS.of(3, 0) < gate.seconds_to_end(claim) < 120 * COSTS.of(5, 0)
    gate.leave(1, steps=100, output=100, cached=0, whole=False)
    assert gate.seconds_to_end(claim) > 150 * COSTS.of(2, 0)


def test_what_a_full_queue_says_is_the_forecast(loaded: LoadedModel) -> None:
    config = EngineConfig(blocks=64, max_running=1, max_waiting=1, max_batch_tokens=32)
    with Engine(loaded, config) as engine:
        for seed in range(2):
            engine.submit(request(loaded, seed)).result()
        waits = list[float]()
        for tokens in (10, 90):
            with held_steps(engine):
                running = [engine.submit(request(loaded, n, tokens)) for n in range(2)]
                wait_until(lambda: engine.stats().running)
                with pytest.raises(OverloadedError, match="Come back in") as refused:
                    engine.submit(request(loaded))
                waits.append(refused.value.retry_after)
            for generation in running:
                generation.cancel()
                generation.result()
        assert 0 < waits[0] < waits[1] < PATIENCE
