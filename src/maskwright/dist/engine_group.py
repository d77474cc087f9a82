"""Several engines of one process, among which the router chooses.

For programs that have engines in them, one for each device for example. Each engine is a replica in
process; requests are submitted here instead of to one of them. The router gets the state of each
engine from the engine itself: what it has cached of the very prompt, its blocks and its queue.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Mapping
from concurrent.futures import Future
from dataclasses import replace
from functools import partial

from maskwright.dist.routing.replica_state import Decision, ReplicaState, RouteRequest
from maskwright.dist.routing.router import RequestRouter, Router
from maskwright.engine import Delta, Engine, Generation, Request
from maskwright.errors import EngineStoppedError, OverloadedError

PREFILL_RATE = 5000.0
"""Tokens of prompts that an engine is taken to compute in a second, before it has computed any."""


class EngineGroup:
    """Engines with one model, by name. Who started them stops them."""

    def __init__(self, engines: Mapping[str, Engine], router: RequestRouter | None = None) -> None:
        self.engines = dict(engines)
        self._router = router or Router()
        self._draining = set[str]()
        self._numbers = 0

    def drain(self, name: str) -> None:
        """Give an engine no new requests. Those that it has are finished there."""
        self._draining.add(name)

    def states(self, request: Request) -> list[ReplicaState]:
        """The state of each engine, for the router. Numbers stand for digests of the prompt's
        beginnings: an engine that has its first n tokens cached has the digests below n."""
        # All engines are asked before the first one answers: an answer comes between two steps.
        looked_up = [_look_up(engine, request) for engine in self.engines.values()]
        return [
            self._state(name, _cached_tokens(engine, found))
            for (name, engine), found in zip(self.engines.items(), looked_up, strict=True)
        ]

    def submit(
        self, request: Request, *, excluded: frozenset[str] = frozenset()
    ) -> tuple[str, Generation]:
        """Submit a request to the engine that the router chooses. Returns that engine's name, and
        the generation. An engine that refuses is passed over.

        Raises `OverloadedError` if no engine takes the request at present, and what `Engine.submit`
        raises for a request that can't be served under any load.
        """
        self._numbers += 1
        number = str(self._numbers)
        while True:
            states = self.states(request)
            asked = _route_request(number, request, excluded)
            decision = self._router.route(asked, states, time.monotonic())
            if decision.replica is None and decision.retry_after is None:
                return self._submit_to(next(iter(self.engines)), request)  # which says why not
            if decision.replica is None:
                raise _refusal(decision)
            try:
                return self._submit_to(decision.replica, request)
            except (OverloadedError, EngineStoppedError):
                excluded |= {decision.replica}

    def answer(self, request: Request) -> Iterator[Delta]:
        """Submit a request and yield its deltas. Where an engine stops in the middle, another one
        continues after the tokens so far: draws depend on seed and position alone, so the answer is
        the one that it would have been. With `logprobs`, the other one draws these tokens again.

        Raises what `submit` raises. Where the first engine has stopped and no other one takes the
        request, the last delta says so.
        """
        name, generation = self.submit(request)
        request = replace(request, params=replace(request.params, seed=generation.seed))
        failed = frozenset[str]()
        given = _Given()
        while True:
            stopped = yield from given.what_is_new(generation)
            if stopped is None:
                return
            failed |= {name}
            begun = max(given.tokens, request.begun, key=len)
            if request.params.logprobs is not None:
                begun = ()
            at = request.shortened_at if given.shortened_at is None else given.shortened_at
            try:
                name, generation = self.submit(request.going_on(begun, at), excluded=failed)
            except (OverloadedError, EngineStoppedError):
                yield stopped
                return

    def _submit_to(self, name: str, request: Request) -> tuple[str, Generation]:
        return name, self.engines[name].submit(request)

    def _state(self, name: str, cached: int) -> ReplicaState:
        engine = self.engines[name]
        stats = engine.stats()
        seconds = sum(stats.seconds.values())
        rate = stats.computed_tokens / seconds if seconds > 0.1 else PREFILL_RATE
        return ReplicaState(
            name,
            engine.loaded.name,
            healthy=engine.alive,
            draining=name in self._draining,
            adapters=frozenset(engine.adapters),
            max_context=engine.max_context,
            block_size=stats.block_size,
            blocks_total=stats.blocks_total,
            blocks_free=stats.blocks_free + stats.blocks_cached,
            waiting_tokens=stats.prefill_queue_tokens,
            running=stats.running,
            waiting=stats.waiting,
            max_waiting=engine.config.max_waiting,
            prefixes=range(cached),
            prefill_rate=rate,
            step_seconds=seconds / max(1, stats.steps) / max(1, stats.running),
        )


class _Given:
    """What the reader of an answer has got, of however many generations of it."""

    def __init__(self) -> None:
        self.tokens: tuple[int, ...] = ()
        self.shortened_at: int | None = None
        """The first of them that the token limit has changed."""
        self._text = ""

    def what_is_new(self, generation: Generation) -> Generator[Delta, None, Delta | None]:
        """Yield what the deltas of a generation add, which begins with the answer's first token.
        Returns the delta that says so if the engine stops before the answer ends."""
        text = tokens = 0
        for delta in generation:
            if isinstance(delta.error, EngineStoppedError):
                return delta
            known = max(0, len(self.tokens) - tokens)
            new = replace(
                delta,
                text=delta.text[max(0, len(self._text) - text) :],
                token_ids=delta.token_ids[known:],
                scores=delta.scores[known:],
            )
            text, tokens = text + len(delta.text), tokens + len(delta.token_ids)
            self._text += new.text
            self.tokens += new.token_ids
            self.shortened_at = new.shortened_at
            if new.text or new.token_ids or new.finish_reason is not None:
                yield new
        return None


def _route_request(number: str, request: Request, excluded: frozenset[str]) -> RouteRequest:
    size = len(request.prompt) + len(request.begun)
    return RouteRequest(
        number,
        size,
        digests=tuple(range(size)),
        digest_tokens=1,
        reserve=request.max_tokens - len(request.begun),
        deadline=None if request.timeout is None else time.monotonic() + request.timeout,
        service=request.service,
        adapter=request.adapter,
        excluded=excluded,
    )


def _look_up(engine: Engine, request: Request) -> tuple[int, Future[list[int]]] | None:
    """Begin to ask an engine which blocks it lacks of the request's prompt. Returns with that the
    number of tokens asked about; None if nothing can be cached."""
    known = request.adapter is None or request.adapter in engine.adapters
    if not (known and engine.config.prefix_cache):
        return None
    prefix = engine.kv_prefix(request)
    try:
        return len(prefix.tokens), engine.call(partial(engine.exchange.lacking, prefix))
    except EngineStoppedError:
        return None


def _cached_tokens(engine: Engine, found: tuple[int, Future[list[int]]] | None) -> int:
    """Tokens of the prompt whose keys and values the engine has, from the first on."""
    if found is None:
        return 0
    count, future = found
    try:
        lacking = future.result()
    except EngineStoppedError:
        return 0
    return min(lacking) * engine.config.block_size if lacking else count


def _refusal(decision: Decision) -> OverloadedError:
    whys = "; ".join(f"{name}: {why}" for name, why in decision.obstacles)
    message = f"No engine takes the request: {decision.reason} ({whys})."
    return OverloadedError(message, retry_after=decision.retry_after or 1.0)
