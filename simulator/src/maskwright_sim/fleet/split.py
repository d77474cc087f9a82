"""Engines that compute prompts, and engines that decode: prefill and decode apart.

A request's prompt is computed by one engine, which also draws the first token. Its keys and values
go to another engine over the first one's link, and the answer is decoded there. An engine may be
in both lists; the policy then says when it does what.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from msgspec import field

from maskwright.engine.schedule.sequence import Sequence as LiveSequence
from maskwright.immutable import Immutable
from maskwright_sim.engine.simulated_engine import SimulatedEngine
from maskwright_sim.fleet.clock import EventClock
from maskwright_sim.fleet.driver import Driver
from maskwright_sim.fleet.loads import cached_tokens
from maskwright_sim.fleet.routing import LeastLoaded, Routing
from maskwright_sim.fleet.store import Conductor, TieredStore
from maskwright_sim.fleet.transfer import NOTHING, Transfer
from maskwright_sim.load.demand import Demand
from maskwright_sim.outcome.served import Served

Admits = Callable[["SplitFleet", Demand], bool]


class SplitPolicy(Immutable):
    """`prefill`, `decode`: how the engine for each phase is chosen. `transfer`: how keys and values
    move. `reuses`: the decoding engine's prefix tree is asked, and only what it lacks is sent
    (MemServe's Caching-2). `returns`: after an answer its keys and values go back to the prefill
    engine's tree (Caching-3). `conductor`: asked for the engine from which what it knows of a
    prompt is copied. `store`: memory and disks that keep the prompts of all engines. `admits`:
    asked when a request arrives; `rechecks`: asked again after its prefill. Refused requests are
    not served further."""

    prefill: Routing = field(default_factory=LeastLoaded)
    decode: Routing = field(default_factory=LeastLoaded)
    transfer: Transfer = NOTHING
    reuses: bool = False
    returns: bool = False
    conductor: Conductor | None = None
    store: TieredStore | None = None
    admits: Admits | None = None
    rechecks: Admits | None = None


class SplitFleet:
    """`prefills` and `decodes` are the engines of the two phases."""

    def __init__(
        self,
        prefills: Sequence[SimulatedEngine],
        decodes: Sequence[SimulatedEngine],
        policy: SplitPolicy | None = None,
    ) -> None:
        self.prefills, self.decodes = list(prefills), list(decodes)
        self.policy = policy or SplitPolicy()
        self.clock = EventClock()
        self.served: dict[int, Served] = {}
        self.moved = 0
        """Tokens whose keys and values were sent to decoding engines."""
        self.calls = 0
        """Pieces in which they were sent."""
        self.copied = 0
        """Tokens whose keys and values were copied between engines for prompts."""
        self.in_transfer = 0
        self._links = [0.0] * len(prefills)
        self._drivers = {id(e): Driver(e, self.clock, self._ended) for e in self.engines}
        self._next: dict[int, Demand] = {}

    @property
    def engines(self) -> list[SimulatedEngine]:
        """All engines, each once."""
        return list({id(engine): engine for engine in (*self.prefills, *self.decodes)}.values())

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
        if self.policy.admits is not None and not self.policy.admits(self, demand):
            one.refused = True
            return
        chosen = one.replica = self.policy.prefill.choose(demand, self.prefills)
        engine = self.prefills[chosen]
        one.times = engine.times.setdefault(demand.number, [])
        sequence = demand.sequence()
        sequence.limit = len(demand.prompt) + 1
        self._fetch(demand, chosen)
        engine.add(sequence, demand.answer[:1])
        self._wake(engine)

    def _fetch(self, demand: Demand, chosen: int) -> None:
        """Begin to fetch what the chosen engine lacks of the prompt, if another engine or the store
        has it."""
        engine, now, policy = self.prefills[chosen], self.clock.now, self.policy
        known = cached_tokens(engine, demand)
        found, there = known, now
        source = policy.conductor and policy.conductor.source(demand, self.prefills, chosen)
        if policy.conductor is not None and source is not None:
            found = cached_tokens(self.prefills[source], demand)
            seconds = (found - known) * policy.conductor.per_copied
            there = self._links[source] = max(self._links[source], now) + seconds
            self.copied += found - known
        elif policy.store is not None:
            found, seconds = policy.store.find(demand.prompt, known)
            there = now + seconds
        if found > known:
            engine.deposit(list(demand.prompt[:found]))
            engine.fetched[demand.number] = there

    def _wake(self, engine: SimulatedEngine) -> None:
        self._drivers[id(engine)].wake()

    def _ended(self, sequence: LiveSequence) -> None:
        if sequence.limit == sequence.prompt_length + 1:
            self._prefilled(sequence)
        else:
            self._decoded(sequence)

    def _prefilled(self, sequence: LiveSequence) -> None:
        one = self.served[sequence.arrival]
        one.cached = sequence.cached_tokens
        if self.policy.store is not None:
            self.policy.store.keep(one.demand.prompt)
        if one.demand.output == 1:
            self._follow(one.demand)
            return
        if self.policy.rechecks is not None and not self.policy.rechecks(self, one.demand):
            one.refused, one.wasted = True, len(one.demand.prompt) - one.cached
            return
        chosen = one.decoder = self.policy.decode.choose(one.demand, self.decodes)
        source, target = self.prefills[one.replica], self.decodes[chosen]
        target.inbound += 1
        self.in_transfer += 1
        if source is target:
            self._receive(one)
            return
        tokens = len(one.demand.prompt)
        if self.policy.reuses:
            tokens -= cached_tokens(target, one.demand)
        began = self._drivers[id(source)].began
        there, self._links[one.replica] = self.policy.transfer.arrival(
            began, self.clock.now, tokens, self._links[one.replica]
        )
        self.moved += tokens
        self.calls += self.policy.transfer.calls(tokens)
        one.transfer = there - self.clock.now
        self.clock.at(there, partial(self._receive, one))

    def _receive(self, one: Served) -> None:
        self.in_transfer -= 1
        engine, demand = self.decodes[one.decoder], one.demand
        engine.inbound -= 1
        engine.receive(demand.sequence(), demand.answer, one.times)
        self._wake(engine)

    def _decoded(self, sequence: LiveSequence) -> None:
        one = self.served[sequence.arrival]
        if self.policy.returns:
            self.prefills[one.replica].deposit(sequence.tokens[:-1])
        self._follow(one.demand)

    def _follow(self, demand: Demand) -> None:
        following = self._next.pop(demand.number, None)
        if following is not None:
            self.clock.at(self.clock.now + following.time, partial(self._arrive, following))
