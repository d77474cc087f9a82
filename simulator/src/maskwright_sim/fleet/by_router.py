"""The router of `maskwright.dist` on simulated engines."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from maskwright.dist.routing.replica_state import ReplicaState, RouteRequest
from maskwright.dist.routing.router import Router
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
