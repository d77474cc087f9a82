"""Steps in a row on the device that have been launched, and whose tokens have not been read yet.

The next steps are launched before the tokens of the ones before are read, so that the device
computes while the host works on those. That needs nothing but blocks: where a row goes on, and
whether it does, the device finds out by itself. What only the host knows (a cancel, a reader that
is behind) it says with the next launch.

A device does what it is asked for in order. So the blocks of a request that has ended may be given
to another at once: what is in flight writes them before the other one's steps do, and no later
launch has them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from maskwright.engine.on_device.decode import DecodingRows, DrawnAhead, DrawnLater
from maskwright.engine.on_device.steps import LEAST_STEPS, DeviceSteps
from maskwright.engine.request.active import Active
from maskwright.engine.schedule.scheduler import Scheduler
from maskwright.engine.schedule.sequence import Phase
from maskwright.engine.step.runner import Runner


@dataclass(slots=True)
class FlownRow:
    """A row of steps in a row. Before the first step that hasn't been read, its sequence had
    `length` tokens, and `left` more could be drawn. `stopped`: the device takes it no further than
    what has been launched."""

    active: Active
    length: int
    left: int
    stopped: bool = False

    @property
    def stands(self) -> bool:
        """Whether the request stands where the device took it on, so that what was drawn is its
        next tokens."""
        sequence = self.active.sequence
        return sequence.phase is Phase.RUNNING and len(sequence.tokens) == self.length

    @property
    def late(self) -> bool:
        """Whether the work on the tokens before is still being done."""
        return self.stands and self.active.masks is None

    def land(self, drawn: DrawnAhead) -> bool:
        """Note what the next steps have drawn. False where that is nothing, or is thrown away:
        tokens that come too early are drawn again later, and are the same."""
        found = bool(drawn.tokens or drawn.error)
        taken = found and self.stands and not self.late
        self.length += len(drawn.tokens)
        self.left -= len(drawn.tokens)
        self.stopped = self.stopped or drawn.stopped
        return taken


@dataclass(frozen=True, slots=True)
class Flight:
    """`steps` steps of `rows`, launched at the time `begun`."""

    rows: Sequence[FlownRow]
    on_device: DecodingRows
    drawn: DrawnLater
    steps: int
    begun: float


class Landed(NamedTuple):
    """What `steps` steps in a row have drawn for each row, in so many `seconds` a step."""

    rows: list[tuple[FlownRow, DrawnAhead]]
    steps: int
    seconds: float


class Flights:
    """Launches steps in a row of running requests. Up to two launches are in flight: one whose
    tokens are read next, and one after it. `now` returns the time."""

    def __init__(
        self,
        device_steps: DeviceSteps,
        scheduler: Scheduler,
        runner: Runner,
        now: Callable[[], float],
    ) -> None:
        self._device_steps = device_steps
        self._scheduler = scheduler
        self._runner = runner
        self._now = now
        self._first: Flight | None = None
        self._second: Flight | None = None
        self._read_at = 0.0
        self.followed = 0
        """Launches before the tokens of the one before were read."""

    def __bool__(self) -> bool:
        """Whether steps are in flight."""
        return self._first is not None

    def launch(self, actives: Sequence[Active]) -> bool:
        """Launch steps of `actives`, which are all that run, have their masks and have no drafts,
        while none are in flight. False, with nothing launched, where an ordinary step is
        needed."""
        ahead = self._device_steps.plan(actives, self._scheduler)
        if ahead is None:
            return False
        begun = self._now()
        self._runner.arrange(ahead.plan)
        on_device = self._runner.begin_steps(ahead.plan, ahead.rows, ahead.steps)
        if on_device is None:
            return False
        rows = [FlownRow(each, len(each.sequence.tokens), each.left) for each in actives]
        drawn = on_device.launch(ahead.steps, [each.sequence.table for each in actives])
        assert drawn is not None, "steps that were laid out for so many"
        self._first = Flight(rows, on_device, drawn, ahead.steps, begun)
        return True

    def follow(self) -> None:
        """Launch the steps after those in flight, where these take on all that runs."""
        flight = self._first
        assert flight is not None
        for row in flight.rows:
            row.stopped = row.stopped or not row.stands
        going = [row for row in flight.rows if not row.stopped]
        drafted = any(row.active.sequence.draft for row in going)
        if drafted or len(going) < len(self._scheduler.running):
            return
        steps = self._device_steps.at_most(row.left - flight.steps for row in going)
        if steps < LEAST_STEPS:
            return
        most = flight.steps + steps
        plan = self._scheduler.plan_ahead({r.active.sequence: min(most, r.left) for r in going})
        if plan is None:
            return
        begun = self._now()
        self._runner.arrange(plan)
        tables = [None if row.stopped else row.active.sequence.table for row in flight.rows]
        drawn = flight.on_device.launch(steps, tables)
        if drawn is not None:
            self._second = replace(flight, drawn=drawn, steps=steps, begun=begun)
            self.followed += 1

    def read(self) -> Landed:
        """Wait for the first steps in flight."""
        flight = self._first
        assert flight is not None
        drawn = flight.drawn.read()
        begun, self._read_at = max(flight.begun, self._read_at), self._now()
        self._first, self._second = self._second, None
        rows = list(zip(flight.rows, drawn, strict=True))
        return Landed(rows, flight.steps, (self._read_at - begun) / flight.steps)
