"""Which engine a request goes to."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Literal, Protocol, TypeAlias

from maskwright.errors import InputError
from maskwright_sim.engine.simulated_engine import SimulatedEngine
from maskwright_sim.fleet.by_router import ByRouter
from maskwright_sim.fleet.loads import cached_tokens, load
from maskwright_sim.load.demand import Demand

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
