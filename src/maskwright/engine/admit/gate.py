"""Early refusal: a request that would miss its class's objective is told so at once, and when to
come back, instead of waiting for nothing and making others wait. Without a clock.

Every request that is let in is a claim on slots, positions and time: what it has reserved is its
hard cap, or what nearly all of its class took lately. A claim is a promise to nobody: if answers
turn out longer than reserved and blocks lack, the scheduler preempts.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence as SequenceOf
from dataclasses import dataclass

from maskwright.engine.admit.forecast import Forecast, Room, Task, forecast
from maskwright.engine.admit.history import History
from maskwright.engine.schedule.sequence import SHORT, Phase, Sequence
from maskwright.engine.schedule.service import ServiceClass
from maskwright.engine.schedule.step_time import StepTimeModel
from maskwright.errors import OverloadedError


@dataclass(slots=True, eq=False)
class Claim:
    """A request that asks to be let in: `prompt` tokens, and at most `cap` of an answer. `sequence`
    is there once it is."""

    rank: int
    client: str
    prompt: int
    cap: int
    sequence: Sequence | None = None


class Gate:
    """Which requests are at work, what their classes were like so far, and who else may come. To be
    used from any thread."""

    def __init__(
        self,
        classes: SequenceOf[ServiceClass],
        step_times: StepTimeModel,
        *,
        slots: int,
        positions: int,
    ) -> None:
        self._classes = classes
        self._step_times = step_times
        self._room = Room(slots, positions, tuple(item.weight for item in classes))
        self._history = [History() for _ in classes]
        self._claims: dict[int, Claim] = {}
        self._lock = threading.Lock()

    def check(self, claim: Claim) -> None:
        """Raise OverloadedError for a request that would miss an objective. Where nobody is at work
        none is refused, however long it will take: it won't be sooner later."""
        service = self._classes[claim.rank]
        if service.ttft is None and service.tpot is None:
            return
        expected = self.expect(claim)
        if expected is None:
            return
        if service.ttft is not None and expected.ttft > service.ttft:
            late = expected.ttft - service.ttft
            missed = "the first token", expected.ttft, service.ttft
        elif service.tpot is not None and expected.tpot > service.tpot:
            late = expected.slower(service.tpot)
            missed = "each further token", expected.tpot, service.tpot
        else:
            return
        raise OverloadedError(
            f"At this load {missed[0]} would take {missed[1]:.3g} seconds; requests of class "
            f"{service.name!r} are let in up to {missed[2]:g}. Come back in {late:.1f} seconds.",
            retry_after=late,
        )

    def expect(self, claim: Claim) -> Forecast | None:
        """What is foretold for a request; None where nobody is at work, or nothing is known."""
        with self._lock:
            live = self._tasks()
            asked = self._waiting(claim)
        return forecast(asked, live, self._room, self._step_times) if live else None

    def enter(self, number: int, claim: Claim) -> None:
        """Request `number` has been let in."""
        with self._lock:
            self._claims[number] = claim

    def attach(self, number: int, sequence: Sequence) -> None:
        """Request `number`, whose grammar was still being compiled, has a sequence now."""
        with self._lock:
            self._claims[number].sequence = sequence

    def leave(self, number: int, *, steps: int, output: int, cached: int, whole: bool) -> None:
        """Request `number` has ended, after `steps` steps with `output` tokens, and `cached` of its
        prompt found; `whole`: not because somebody ended it."""
        with self._lock:
            claim = self._claims.pop(number, None)
            if claim is not None and whole and steps:
                self._history[claim.rank].note(
                    output=output, steps=steps, prompt=claim.prompt, cached=cached
                )

    def _waiting(self, claim: Claim) -> Task:
        history = self._history[claim.rank]
        return Task(
            claim.rank,
            claim.client,
            prompt=max(1.0, history.computed * claim.prompt),
            output=history.to_come(0, claim.cap),
            a_step=history.a_step,
            positions=min(self._room.positions, claim.prompt + history.reserved(claim.cap)),
            running=False,
        )

    def _tasks(self) -> list[Task]:
        """What is left of all claims, but of those whose reader keeps them waiting."""
        waiting: list[Task] = []
        running: list[tuple[Claim, Sequence]] = []
        for claim in self._claims.values():
            sequence = claim.sequence
            if sequence is None or sequence.phase is Phase.WAITING:
                waiting.append(self._waiting(claim))
            elif sequence.phase is Phase.RUNNING:
                running.append((claim, sequence))
        return [
            *(
                self._running(claim, sequence, (place + 0.5) / len(running))
                for place, (claim, sequence) in enumerate(running)
            ),
            *waiting,
        ]

    def _running(self, claim: Claim, sequence: Sequence, share: float) -> Task:
        done = len(sequence.tokens) - sequence.prompt_length
        pending = sequence.pending
        return self._waiting(claim)._replace(
            prompt=float(pending) if pending > SHORT else 0.0,
            output=self._history[claim.rank].one_to_come(done, claim.cap, share),
            running=True,
        )
