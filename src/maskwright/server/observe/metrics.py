"""Prometheus metrics of the engine, of the grammar processes and of HTTP. Each server has a
registry of its own.

Of the engine nothing is stored here: each scrape reads one snapshot of its counters and histograms,
without waiting for the engine's thread.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

from maskwright.engine import Distribution, Engine, EngineStats
from maskwright.processes import GrammarProcesses
from maskwright.server.config import Identity
from maskwright.server.exchange import Exchange, GrammarSource
from maskwright.server.observe.traces import RequestTrace
from maskwright.version import VERSION


class ProcessMetrics(Collector):
    """Reads the counts of one server's grammar processes."""

    def __init__(self, processes: GrammarProcesses) -> None:
        self._processes = processes

    def collect(self) -> Iterator[Metric]:
        stats = self._processes.stats
        memory = self._processes.memory
        about = "Physical memory of grammar processes; what they share counts for each."
        yield _gauge("grammar_processes", "Grammar processes that run.", stats.running)
        yield _gauge("grammar_process_bytes", about, memory)
        yield from _totals(
            ("grammar_process_restarts", "Grammar processes that had to be replaced.",
             stats.restarts),
            ("grammar_process_jobs", "Jobs of grammar processes, of every kind.", stats.jobs),
            ("grammar_questions", "Questions about what comes next in a text.", stats.questions),
            ("heavy_grammars", "Grammars that got a process of their own.", stats.heavy),
            ("grammar_process_limits", "Jobs that took too much time or memory.", stats.limits),
        )  # fmt: skip


HISTOGRAMS = {
    "compile": ("grammar_wait_seconds", "Waiting in the engine for a grammar, by request."),
    "queue": ("queue_seconds", "From submission, or grammar, to the first batch, by request."),
    "prefill": ("prefill_seconds", "From the first batch to the model's first token, by request."),
    "decode": ("decode_seconds", "From the model's first token to the end, without pauses."),
    "ttft": ("ttft_seconds", "From submission to the model's first token, by request."),
    "tpot": ("tpot_seconds", "Mean time of a token after the first, without pauses."),
    "total": ("request_seconds", "From submission to the end, pauses for slow readers included."),
    "inter_token": ("inter_token_seconds", "Between steps that gave tokens, without pauses."),
    "mask": ("mask_seconds", "Filling one mask."),
    "question": (
        "grammar_question_seconds",
        "From a question to a grammar process until its answer is taken in.",
    ),
    "step": ("step_seconds", "A step of the engine."),
    "tokens": ("batch_tokens", "Tokens computed in a step."),
    "sequences": ("batch_sequences", "Requests computed for in a step."),
    "decodes": ("decode_sequences", "Requests that decode in a step, of steps that have some."),
    "prompt_length": ("request_prompt_tokens", "Tokens of a prompt, by request that has ended."),
    "output_length": ("request_output_tokens", "Tokens of an answer, by request that has ended."),
}
"""The name of an observation in the engine -> its name in Prometheus and its description."""


class EngineMetrics(Collector):
    """Collects the metrics of one engine."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def collect(self) -> Iterator[Metric]:
        stats = self._engine.stats()
        yield _gauge("healthy", "1 while the engine runs.", float(stats.healthy))
        yield from _gauges(stats)
        yield from _counters(stats)
        yield from _stores(stats)
        for name, seen in stats.observations.items():
            yield _histogram(*HISTOGRAMS[name], seen)


def _gauges(stats: EngineStats) -> Iterator[Metric]:
    if stats.batch_invariant is not None:
        yield _gauge("batch_invariant",
                     "1 where logits have the same bits whatever is computed beside them, 0 where "
                     "their last digits depend on it.", float(stats.batch_invariant))  # fmt: skip
    states = ("running", "waiting", "paused", "compiling")
    blocks = {"used": stats.blocks_used, "cached": stats.blocks_cached, "free": stats.blocks_free}
    by_state = partial(_by, GaugeMetricFamily, label="state")
    yield by_state(
        "requests",
        "Requests in the engine.",
        values={name: getattr(stats, name) for name in states},
    )
    yield by_state("kv_blocks", "Blocks of the pool.", values=blocks)
    yield _gauge("kv_use", "Share of the blocks that requests hold.",
                 stats.blocks_used / stats.blocks_total)  # fmt: skip
    yield _gauge("kv_idle_positions", "Positions in running requests' blocks that hold nothing.",
                 stats.positions_idle)  # fmt: skip
    yield _gauge("prefill_queue_tokens", "Tokens of prompts that are still to be computed.",
                 stats.prefill_queue_tokens)  # fmt: skip
    yield _gauge("reserved_kv_tokens", "Positions that admission reserves for live requests.",
                 stats.reserved_kv_tokens)  # fmt: skip
    held = stats.blocks_used * stats.block_size
    yield _gauge("kv_fragmentation", "Share of the positions in held blocks that hold nothing.",
                 min(1.0, stats.positions_idle / held) if held else 0.0)  # fmt: skip


def _counters(stats: EngineStats) -> Iterator[Metric]:
    yield from _totals(
        ("requests_submitted", "Requests let in.", stats.submitted),
        ("prompt_tokens", "Tokens of their prompts.", stats.prompt_tokens),
        ("computed_tokens", "Tokens through the model.", stats.computed_tokens),
        ("prefix_asked_tokens", "Tokens looked for in the prefix cache.", stats.prefix_queries),
        ("prefix_hit_tokens", "Tokens found in the prefix cache.", stats.prefix_hits),
        ("prefix_evictions", "Blocks given up by the prefix cache.", stats.evictions),
        ("preemptions", "Requests that gave their blocks up.", stats.preemptions),
        ("swaps", "Preemptions whose blocks went to the host's memory.", stats.swaps),
        ("mask_rows", "Masks filled for grammars.", stats.mask_rows),
        ("mask_hits", "Masks of those that had been found before.", stats.mask_hits),
        ("held_rows", "Rows that waited for their mask, once for each step.", stats.held_rows),
        ("late_rows", "Rows that were computed before their mask was there.", stats.late_rows),
        ("idle_rows", "Rows computed for nothing.", stats.idle_rows),
        ("steps", "Steps of the engine.", stats.steps),
        ("device_steps", "Steps that the device computed by itself.", stats.device_steps),
    )
    by = partial(_by, CounterMetricFamily)
    sources = {"sampled": stats.sampled_tokens, "forced": stats.forced_tokens}
    yield by(
        "output_tokens", "Tokens of answers: drawn, or forced by a grammar.", "source", sources
    )
    for name, about, whole, model in (
        ("drafted_tokens", "Tokens guessed.", stats.drafted_tokens, stats.model_drafted_tokens),
        ("accepted_tokens", "Tokens guessed, and drawn.", stats.accepted_tokens,
         stats.model_accepted_tokens),
    ):  # fmt: skip
        yield by(name, about, "drafter", {"lookup": whole - model, "model": model})
    about = "Requests not let in: the queue was full, or an objective would have been missed."
    yield by("requests_refused", about, "reason", stats.refused)
    yield by("requests_finished", "Requests that have ended.", "reason", stats.finished)
    yield by("step_part_seconds", "Where steps spend their time.", "part", stats.seconds)


def _stores(stats: EngineStats) -> Iterator[Metric]:
    if not stats.tiers:
        return
    stores = stats.tiers.items()
    held = {store: counts["bytes"] for store, counts in stores}
    about = "Bytes in the stores outside the pool."
    yield _by(GaugeMetricFamily, "kv_store_bytes", about, "store", held)
    family = CounterMetricFamily(
        "maskwright_kv_store_blocks",
        "Blocks of the stores outside the pool, by what became of them.",
        labels=["store", "event"],
    )
    for store, counts in stores:
        for event, count in counts.items():
            if event != "bytes":
                family.add_metric([store, event], count)
    yield family


def _gauge(name: str, about: str, value: float) -> Metric:
    return GaugeMetricFamily(f"maskwright_{name}", about, value=value)


def _totals(*rows: tuple[str, str, float]) -> Iterator[Metric]:
    """Yield counters of (name, description, value)."""
    for name, about, value in rows:
        yield CounterMetricFamily(f"maskwright_{name}", about, value=value)


def _by(
    kind: type[GaugeMetricFamily | CounterMetricFamily],
    name: str,
    about: str,
    label: str,
    values: Mapping[str, float],
) -> Metric:
    """Return a metric with a value for each value of its label."""
    family = kind(f"maskwright_{name}", about, labels=[label])
    for each, value in values.items():
        family.add_metric([each], value)
    return family


def _histogram(name: str, about: str, seen: Distribution) -> Metric:
    """Return a histogram with cumulative buckets, as Prometheus has them."""
    buckets: list[tuple[str, float]] = []
    count = 0
    for bound, within in zip((*map(str, seen.bounds), "+Inf"), seen.counts, strict=True):
        count += within
        buckets.append((bound, count))
    family = HistogramMetricFamily(f"maskwright_{name}", about)
    family.add_metric([], buckets, seen.total)
    return family


NAMESPACE: Final = "maskwright"
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)
COMPILING = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 30.0)
PER_TOKEN = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0)


class Metrics:
    """The metrics of one server. Can be used from any thread."""

    def __init__(
        self,
        engine: Engine,
        model: str,
        processes: GrammarProcesses | None = None,
        identity: Identity | None = None,
    ) -> None:
        """`model`: its name. `identity`: what serves, for `info`."""
        self._registry = registry = CollectorRegistry()
        counter = partial(Counter, namespace=NAMESPACE, registry=registry)
        histogram = partial(Histogram, namespace=NAMESPACE, registry=registry)
        registry.register(EngineMetrics(engine))
        if processes is not None:
            registry.register(ProcessMetrics(processes))
        about = Gauge(
            "info", "What runs.",
            ["version", "model", "weights", "vocabulary", "fingerprint"],
            namespace=NAMESPACE, registry=registry,
        )  # fmt: skip
        identities = ("", "", "")
        if identity is not None:
            identities = (identity.weights, identity.vocabulary, identity.fingerprint)
        about.labels(VERSION, model, *identities).set(1)
        self._requests = counter(
            "http_requests", "Answered HTTP requests.", ["route", "method", "status"]
        )
        self._seconds = histogram(
            "http_request_seconds", "From request to end of answer.", ["route"], buckets=SECONDS
        )
        self._refusals = counter(
            "refusals", "Requests that ended with an error, by its code.", ["code"]
        )
        self._key_requests = counter(
            "key_requests", "Requests by key that its rates let in.", ["key"]
        )
        self._key_refusals = counter(
            "key_refusals", "Requests beyond the rates of their key.", ["key", "limit"]
        )
        self._grammars = counter(
            "grammars", "Grammars asked for, by where they came from.", ["source"]
        )
        self._compiling = histogram(
            "grammar_compile_seconds", "Compiling a grammar.", ["outcome"], buckets=COMPILING
        )
        self._client_ttft = histogram(
            "client_ttft_seconds",
            "From a request to its first text, when streamed.",
            buckets=SECONDS,
        )
        self._client_tpot = histogram(
            "client_tpot_seconds", "Mean time of a token after the first text.", buckets=PER_TOKEN
        )
        self._streaming = histogram(
            "stream_seconds", "From the first text to the last.", buckets=SECONDS
        )

    def answered(self, exchange: Exchange) -> None:
        """Count a request that has ended."""
        route, status = exchange.route, str(exchange.status)
        self._requests.labels(route, exchange.method, status).inc()
        self._seconds.labels(route).observe(exchange.seconds)
        if exchange.code is not None:
            self._refusals.labels(exchange.code).inc()

    def used_key(self, name: str, excess: str | None) -> None:
        """Count a request with a key, and the limit of the key that didn't let it in."""
        if excess is None:
            self._key_requests.labels(name).inc()
        else:
            self._key_refusals.labels(name, excess).inc()

    def got_grammar(self, source: GrammarSource) -> None:
        """Count a grammar that a request has got."""
        self._grammars.labels(source).inc()

    def compiled(self, seconds: float, *, failed: bool) -> None:
        """Record a compilation and whether it failed."""
        self._compiling.labels("failed" if failed else "compiled").observe(seconds)

    def traced(self, trace: RequestTrace) -> None:
        """Record the times of a choice that has ended."""
        for histogram, value in (
            (self._client_ttft, trace.client_ttft),
            (self._client_tpot, trace.client_tpot),
            (self._streaming, trace.streaming),
        ):
            if value is not None:
                histogram.observe(value)

    def samples(self) -> dict[str, float]:
        """Return the value of each sample by its name and labels, as `page` writes them, without
        `maskwright_`; times of creation are left out."""
        return {
            _sample_name(sample.name, sample.labels): sample.value
            for family in self._registry.collect()
            for sample in family.samples
            if not sample.name.endswith("_created")
        }

    def page(self, accept: str) -> tuple[bytes, str]:
        """Return all metrics in the format that the scraper accepts, and its media type."""
        encode, kind = choose_encoder(accept)
        return encode(self._registry), kind


def _sample_name(name: str, labels: Mapping[str, str]) -> str:
    pairs = ",".join(f'{label}="{value}"' for label, value in sorted(labels.items()))
    return name.removeprefix("maskwright_") + (f"{{{pairs}}}" if pairs else "")
