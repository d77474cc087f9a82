"""All workers of a router: their checks, and the choice among them, which may be two: one computes
the prompt, and the other gives the answer. And the metrics of the router and of its workers.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final, TypeAlias

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from maskwright.dist.front.wire import Address, Headers, WorkerLostError
from maskwright.dist.front.worker import RemoteServer, StoredPrompts, WorkerTraits
from maskwright.dist.routing.replica_state import Decision, Role, RouteRequest
from maskwright.dist.routing.router import RequestRouter, Router, pair
from maskwright.immutable import Immutable

NAMESPACE: Final = "maskwright_router"
SECONDS = (0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.05)


class FrontMetrics:
    """Metrics of one router; their names begin with `maskwright_router_`."""

    def __init__(self) -> None:
        self._registry = registry = CollectorRegistry()
        counter = partial(Counter, namespace=NAMESPACE, registry=registry)
        gauge = partial(Gauge, namespace=NAMESPACE, registry=registry)
        self.requests = counter("requests", "Requests by worker and status.", ["worker", "status"])
        self.retries = counter(
            "retries",
            "Requests sent to another worker before their first byte.",
            ["worker", "reason"],
        )
        self.continued = counter(
            "continued",
            "Streams that another worker went on with, by the lost worker.",
            ["worker"],
        )
        self.failed = counter(
            "failed", "Requests that the router itself answered with an error.", ["code"]
        )
        self.choices = counter("choices", "Choices of a worker by what decided.", ["reason"])
        self.handed = counter(
            "hand_offs",
            "Requests that a worker computed the prompt of for another one, by what became of its "
            "blocks.",
            ["worker", "outcome"],
        )
        self.handed_bytes = counter(
            "hand_off_bytes", "Bytes of keys and values that a worker sent to others.", ["worker"]
        )
        self.ready = gauge("worker_ready", "Whether a worker takes requests.", ["worker"])
        self.running = gauge("worker_running", "Requests that a worker is answering.", ["worker"])
        self.deciding = Histogram(
            "choice_seconds", "Time to read a request and to choose its worker.",
            namespace=NAMESPACE, buckets=SECONDS, registry=registry,
        )  # fmt: skip

    def note_hand_off(self, worker: str, outcome: str, nbytes: int) -> None:
        self.handed.labels(worker, outcome).inc()
        self.handed_bytes.labels(worker).inc(nbytes)

    def page(self, pages: Mapping[str, str]) -> bytes:
        """Return the router's metrics and the workers', given by name, in Prometheus' text
        format."""
        return generate_latest(self._registry) + joined(pages).encode()


def joined(pages: Mapping[str, str]) -> str:
    """Join the pages of workers: each sample gets a label `worker`, and the samples of a metric
    stand together after one description."""
    families: dict[str, list[str]] = {}
    for name, page in pages.items():
        family, described = "", False
        for line in page.splitlines():
            if line.startswith("# "):
                parts = line.split(" ", 3)
                if len(parts) > 2 and parts[1] == "HELP":
                    family, described = parts[2], parts[2] in families
                if family and not described:
                    families.setdefault(family, []).append(line)
            elif line:
                families.setdefault(family, []).append(_labelled(line, name))
    return "".join(f"{line}\n" for lines in families.values() for line in lines)


def _labelled(sample: str, worker: str) -> str:
    name, brace, rest = sample.partition("{")
    if brace and " " not in name:
        return f'{name}{{worker="{worker}",{rest}'
    name, _, value = sample.partition(" ")
    return f'{name}{{worker="{worker}"}} {value}'


CHECK_SECONDS: Final = 0.5
"""Time between two checks of a worker."""

ANSWER_SECONDS: Final = 5.0
"""Time within which a check must be answered."""

HUNG: Final = 3
"""Checks in a row without an answer after which the requests that a worker holds are ended."""

POLL_SECONDS: Final = 0.05

log = logging.getLogger(__name__)


class Chosen(Immutable):
    """The worker that answers a request; None if there is none. `prefill`: another one, which
    computes its prompt."""

    worker: RemoteServer | None
    decision: Decision
    prefill: RemoteServer | None = None


class WorkerGroup:
    """The workers of one router. To be used from one event loop."""

    def __init__(
        self,
        addresses: Sequence[Address],
        router: RequestRouter | None = None,
        key: str | None = None,
        *,
        roles: Sequence[Role] | None = None,
        traits: Sequence[WorkerTraits] | None = None,
        handoff_key: str | None = None,
    ) -> None:
        """`key`: sent with checks, to workers that tell their models only to clients with one.
        `roles`: of the workers; by default, all compute prompts and answers. `traits`: what else is
        known of each. `handoff_key`: the one that workers of other roles have in common."""
        both: list[Role] = ["both"] * len(addresses)
        known = traits or [WorkerTraits()] * len(addresses)
        every = zip(addresses, roles or both, known, strict=True)
        stored = StoredPrompts()
        self.workers = [
            RemoteServer(one.name or f"w{index}", address, role, one, stored)
            for index, (address, role, one) in enumerate(every)
        ]
        self.models = frozenset(one.model for one in known if one.model)
        """The models that only workers with their names serve."""
        self.metrics = FrontMetrics()
        self.handoff_key = handoff_key
        self._router = router or Router()
        self._headers = [] if key is None else [(b"authorization", f"Bearer {key}".encode())]
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Check all workers once, and go on doing so."""
        await asyncio.gather(*(self._check(worker) for worker in self.workers))
        self._tasks = [asyncio.create_task(self._watch(worker)) for worker in self.workers]

    async def stop(self) -> None:
        """End the checks and all connections."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for worker in self.workers:
            worker.client.abort()

    def replace(self, name: str, address: Address) -> None:
        """Let the worker `name` be the one at another address, after the old one has ended."""
        for worker in self.workers:
            if worker.name == name:
                worker.move(address)

    @property
    def adapters(self) -> frozenset[str]:
        """The adapters that any worker serves."""
        return frozenset[str]().union(*(worker.adapters for worker in self.workers))

    @property
    def cards(self) -> list[dict[str, Any]]:
        """The models of all workers that answer, each once."""
        cards: dict[str, dict[str, Any]] = {}
        for worker in self.workers:
            if worker.healthy:
                for card in worker.cards:
                    cards.setdefault(card["id"], card)
        return list(cards.values())

    @property
    def ready(self) -> bool:
        """Whether any worker takes requests."""
        return any(worker.ready for worker in self.workers)

    def choose(self, request: RouteRequest) -> Chosen:
        """Return the workers for a request, and the decision."""
        states = [worker.state() for worker in self.workers]
        pairing = pair(self._router, request, states, time.monotonic())
        named = {worker.name: worker for worker in self.workers}
        prefill = None if pairing.prefill is None else named[pairing.prefill.replica or ""]
        worker = named.get(pairing.decision.replica or "")
        return Chosen(worker, pairing.decision, prefill)

    async def choose_within(self, request: RouteRequest, seconds: float) -> Chosen:
        """As `choose`, but wait for a worker to come back for up to `seconds` seconds."""
        end = time.monotonic() + seconds
        chosen = self.choose(request)
        while chosen.worker is None and time.monotonic() < end:
            if chosen.decision.retry_after is None:  # no worker that is out could answer
                break
            await asyncio.sleep(POLL_SECONDS)
            chosen = self.choose(request)
        return chosen

    async def _watch(self, worker: RemoteServer) -> None:
        while True:
            await asyncio.sleep(CHECK_SECONDS)
            await self._check(worker)

    async def _check(self, worker: RemoteServer) -> None:
        was = worker.ready
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                await worker.check(self._headers)
        except TimeoutError:
            worker.lose()
        if worker.failures == HUNG:
            worker.client.abort()
        if worker.ready is not was:
            log.info("worker %s %s", worker.name, "is ready" if worker.ready else "is not ready")
        self.metrics.ready.labels(worker.name).set(worker.ready)
        self.metrics.running.labels(worker.name).set(worker.running)


PAGE_SECONDS: Final = 5.0
"""Seconds after which a worker that has not answered is left out."""

Answer: TypeAlias = tuple[int, Headers, bytes]
"""Status, headers and body of a response."""


async def gather_pages(
    workers: Iterable[RemoteServer], target: str, headers: Headers
) -> tuple[dict[str, bytes], Answer | None]:
    """Ask all healthy workers for the page `target`, with the headers of a client. Returns the
    pages of those that have answered, by their names; and a response of one that has answered
    otherwise, for instance since it needs a key."""
    asked = [worker for worker in workers if worker.healthy]
    answers = await asyncio.gather(*(_answer(worker, target, headers) for worker in asked))
    pages: dict[str, bytes] = {}
    refusal: Answer | None = None
    for worker, answer in zip(asked, answers, strict=True):
        if answer is not None and answer[0] == 200:
            pages[worker.name] = answer[2]
        elif answer is not None:
            refusal = answer
    return pages, refusal


async def _answer(worker: RemoteServer, target: str, headers: Headers) -> Answer | None:
    try:
        async with asyncio.timeout(PAGE_SECONDS):
            response = await worker.client.send("GET", target, headers)
            return response.status, response.headers, await response.body()
    except (WorkerLostError, TimeoutError):
        return None
