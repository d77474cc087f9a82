"""Which engine a request goes to: simple rules, and the router of `maskwright.dist` on simulated
engines.
"""

from __future__ import annotations

import random
from collections.abc import Hashable, Sequence
from typing import Literal, Protocol, TypeAlias

from maskwright.dist.routing.replica_state import ReplicaState, RouteRequest
from maskwright.dist.routing.router import Router
from maskwright.errors import InputError
from maskwright_sim.engine.simulated_engine import SimulatedEngine
from maskwright_sim.fleet.loads import HasScheduler, cached_tokens, load
from maskwright_sim.fleet.store import TieredStore
from maskwright_sim.load.demand import Demand


class ByRouter:
    """Asks the router of a running cluster. `prefill_rate`: prompt tokens that an engine computes
    in a second; `step_seconds`: what each running request adds to a step; `salt`: under which the
    prefix trees have the prompts; `store`: what all engines can fetch prompts from."""

    def __init__(
        self,
        router: Router | None = None,
        prefill_rate: float = 5000.0,
        step_seconds: float = 0.001,
        salt: Hashable = None,
        store: TieredStore | None = None,
    ) -> None:
        self._router = router or Router()
        self._prefill_rate = prefill_rate
        self._step_seconds = step_seconds
        self._salt = salt
        self._store = store

    def choose(self, demand: Demand, engines: Sequence[HasScheduler]) -> int:
        """The engine that the router chooses; where it chooses none, the least loaded one."""
        size = engines[0].scheduler.pool.block_size
        request = RouteRequest(
            str(demand.number),
            len(demand.prompt),
            # The simulation knows what is cached, so numbers stand for digests: the engine that
            # has the first n blocks has the digests below n.
            digests=tuple(range(len(demand.prompt) // size)),
            digest_tokens=size,
            reserve=demand.cap or demand.output,
            deadline=demand.deadline,
        )
        states = [self._state(str(at), engine, demand) for at, engine in enumerate(engines)]
        decision = self._router.route(request, states, demand.time)
        if decision.replica is None:
            return min(range(len(engines)), key=lambda at: (*load(engines[at]), at))
        return int(decision.replica)

    def _state(self, name: str, engine: HasScheduler, demand: Demand) -> ReplicaState:
        scheduler = engine.scheduler
        cached, size = cached_tokens(engine, demand, self._salt), scheduler.pool.block_size
        found, seconds = cached, 0.0
        if self._store is not None:
            found, seconds = self._store.find(demand.prompt, cached)
        return ReplicaState(
            name,
            "simulated",
            block_size=size,
            blocks_total=scheduler.pool.total,
            blocks_free=scheduler.pool.available,
            waiting_tokens=load(engine)[0],
            running=len(scheduler.running),
            waiting=len(scheduler.waiting),
            prefixes=range(cached // size),
            stored=range(found // size),
            prefill_rate=self._prefill_rate,
            fetch_rate=(found - cached) / seconds if seconds else self._prefill_rate,
            step_seconds=self._step_seconds,
        )


RoutingName: TypeAlias = Literal["round-robin", "random", "least-loaded", "cached", "router"]


class Routing(Protocol):
    """Chooses an engine for each request."""

    def choose(self, demand: Demand, engines: Sequence[SimulatedEngine]) -> int:
        """The number of the engine that serves `demand`."""
        ...


class RoundRobin:
    """One engine after the other."""

    def __init__(self) -> None:
        self._next = 0

    def choose(self, demand: Demand, engines: Sequence[SimulatedEngine]) -> int:
        """The engine after the last one."""
        self._next += 1
        return (self._next - 1) % len(engines)


class RandomEngine:
    """An engine at random, by a seed."""

    def __init__(self, seed: int = 0) -> None:
        self._rng = random.Random(seed)

    def choose(self, demand: Demand, engines: Sequence[SimulatedEngine]) -> int:
        """Any engine."""
        return self._rng.randrange(len(engines))


class LeastLoaded:
    """The engine with the fewest tokens still to compute for prompts, then the fewest requests."""

    def choose(self, demand: Demand, engines: Sequence[SimulatedEngine]) -> int:
        """The least loaded engine; of equal ones the first."""
        return min(range(len(engines)), key=lambda at: (*load(engines[at]), at))


class LongestCached:
    """The engine that would compute the prompt's first token soonest: tokens that are not in its
    cache and, weighted by `weight`, tokens that wait there (SGLang's router, Mooncake's
    Conductor)."""

    def __init__(self, weight: float = 1.0) -> None:
        self._weight = weight

    def choose(self, demand: Demand, engines: Sequence[SimulatedEngine]) -> int:
        """The engine with the least to compute until then."""
        return min(range(len(engines)), key=lambda at: (self._cost(demand, engines[at]), at))

    def _cost(self, demand: Demand, engine: SimulatedEngine) -> float:
        queued, requests = load(engine)
        missing = len(demand.prompt) - cached_tokens(engine, demand)
        return missing + self._weight * (queued + requests)


def routing(name: RoutingName, seed: int = 0) -> Routing:
    """The routing of a name. Raises InputError for an unknown one."""
    match name:
        case "round-robin":
            return RoundRobin()
        case "random":
            return RandomEngine(seed)
        case "least-loaded":
            return LeastLoaded()
        case "cached":
            return LongestCached()
        case "router":
            return ByRouter()
        case _:
            raise InputError(f"there is no routing {name!r}", param="routing")
