"""Engines behind a routing policy. Each of them serves whole requests."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from maskwright.engine.schedule.sequence import Sequence as LiveSequence
from maskwright_sim.engine.simulated_engine import SimulatedEngine
from maskwright_sim.fleet.clock import EventClock
from maskwright_sim.fleet.driver import Driver
from maskwright_sim.fleet.routing import Routing
from maskwright_sim.load.demand import Demand
from maskwright_sim.outcome.served import Served


class Fleet:
    """`engines` behind `routing`."""

    def __init__(self, engines: Sequence[SimulatedEngine], routing: Routing) -> None:
        self.engines = list(engines)
        self.clock = EventClock()
        self.served: dict[int, Served] = {}
        self._routing = routing
        self._drivers = [Driver(engine, self.clock, self._end) for engine in engines]
        self._next: dict[int, Demand] = {}

    def run(self, demands: Sequence[Demand]) -> list[Served]:
        """Serve the requests; returns what became of each, by number."""
        for demand in demands:
            if demand.after is None:
                self.clock.at(demand.time, partial(self._arrive, demand))
            else:
                self._next[demand.after] = demand
        self.clock.run()
        return [self.served[number] for number in sorted(self.served)]

    def _arrive(self, demand: Demand) -> None:
        one = self.served[demand.number] = Served(demand, self.clock.now)
        chosen = self._routing.choose(demand, self.engines)
        one.replica = one.decoder = chosen
        engine = self.engines[chosen]
        engine.now = self.clock.now
        one.times = engine.times.setdefault(demand.number, [])
        engine.add(demand.sequence(), demand.answer)
        self._drivers[chosen].wake()

    def _end(self, sequence: LiveSequence) -> None:
        self.served[sequence.arrival].cached = sequence.cached_tokens
        following = self._next.pop(sequence.arrival, None)
        if following is not None:
            self.clock.at(self.clock.now + following.time, partial(self._arrive, following))


def run_engine(engine: SimulatedEngine, demands: Sequence[Demand]) -> list[Served]:
    """Serve requests by one engine."""
    return Fleet([engine], OnlyOne()).run(demands)


class OnlyOne:
    """Every request goes to the first engine."""

    def choose(self, demand: Demand, engines: Sequence[SimulatedEngine]) -> int:
        """The first engine."""
        return 0
