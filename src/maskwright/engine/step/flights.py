"""Steps that the device computes by itself: they have been launched, and their tokens have not been
read yet.

The next steps are launched before the tokens of the ones before are read, so that the device
computes while the host works on those. That needs nothing but blocks: where a row goes on, and
whether it does, the device finds out by itself. What only the host knows (a cancel, a stop string,
a reader that is behind) it says with the next launch. Nobody waits for a row on whose tokens the
host is still working: what is drawn for it meanwhile is kept.

A device does what it is asked for in order. So the blocks of a request that has ended may be given
to another at once: what is in flight writes them before the other one's steps do, and no later
launch has them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from maskwright.engine.on_device.decode import DecodingRows, DrawnAhead, DrawnLater
from maskwright.engine.on_device.steps import DeviceSteps
from maskwright.engine.request.active import Active
from maskwright.engine.schedule.batch_work import draft_pays
from maskwright.engine.schedule.scheduler import Scheduler
from maskwright.engine.schedule.sequence import Phase
from maskwright.engine.step.runner import Runner
from maskwright.immutable import Immutable

MOST_ENDED: Final = 2
"""The rows of a launch are laid out anew when only one of so many is still decoded."""

MOST_KEPT: Final = 64
"""Tokens of a row that are kept at most. Then nothing is launched before the host has done its
work."""

NOTHING: Final = DrawnAhead([])

GONE: Final = -1
"""In place of the length of a sequence that no longer stands where the device took it on, even if
it should come to have as many tokens again."""


class FlownRow(Struct):
    """A row that the device decodes. Its sequence has `length` tokens before those that are `kept`,
    which come after tokens on which the host is still working. `left` more can be drawn after them.
    `stopped`: the device takes it no further than what has been launched."""

    active: Active
    length: int
    left: int
    stopped: bool = False
    kept: DrawnAhead = NOTHING

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

    def land(self, drawn: DrawnAhead) -> DrawnAhead | None:
        """Note what the next steps have drawn. Returns all that the host can go on with now, None
        for nothing: it is kept, or thrown away where the request stands elsewhere."""
        self.left -= len(drawn.tokens)
        self.stopped = self.stopped or drawn.stopped
        drawn, self.kept = self.kept.then(drawn), NOTHING
        if not self.stands:
            self.length = GONE
        elif self.late:
            self.kept = drawn
        elif drawn.tokens or drawn.error:
            self.length += len(drawn.tokens)
            return drawn
        return None


class Flight(Immutable):
    """`steps` steps of `rows`, launched at the time `begun`."""

    rows: Sequence[FlownRow]
    on_device: DecodingRows
    drawn: DrawnLater
    steps: int
    begun: float


class Landed(Immutable):
    """What `steps` steps have drawn for each row, in so many `seconds` a step."""

    rows: list[tuple[FlownRow, DrawnAhead]]
    steps: int
    seconds: float


class Flights:
    """Launches steps of running requests. Up to two launches are in flight: one whose tokens are
    read next, and one after it. `now` returns the time."""

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
        running = self._scheduler.running
        if len(going) < max(len(running), len(flight.rows) / MOST_ENDED) or draft_pays(running):
            return
        steps = self._device_steps.at_most(row.left - flight.steps for row in going)
        if steps < 1 or any(len(row.kept.tokens) > MOST_KEPT for row in going):
            return
        most = flight.steps + steps
        plan = self._scheduler.plan_ahead(
            {r.active.sequence: len(r.kept.tokens) + min(most, r.left) for r in going}
        )
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
