"""Prometheus metrics of the engine and of HTTP. Each server has a registry of its own."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.exposition import choose_encoder

from maskwright.engine import Engine
from maskwright.processes import GrammarProcesses
from maskwright.server.exchange import Exchange, GrammarSource
from maskwright.server.identity import Identity
from maskwright.server.observe.engine_metrics import EngineMetrics
from maskwright.server.observe.process_metrics import ProcessMetrics
from maskwright.server.observe.traces import RequestTrace

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
        registry.register(EngineMetrics(engine))
        if processes is not None:
            registry.register(ProcessMetrics(processes))
        about = Gauge(
            "maskwright_info", "What runs.",
            ["version", "model", "weights", "vocabulary", "fingerprint"], registry=registry,
        )  # fmt: skip
        told = ("", "", "")
        if identity is not None:
            told = (identity.weights, identity.vocabulary, identity.fingerprint)
        about.labels(version("maskwright"), model, *told).set(1)
        self._requests = Counter(
            "maskwright_http_requests", "Answered HTTP requests.", ["route", "method", "status"],
            registry=registry,
        )  # fmt: skip
        self._seconds = Histogram(
            "maskwright_http_request_seconds", "From request to end of answer.", ["route"],
            buckets=SECONDS, registry=registry,
        )  # fmt: skip
        self._refusals = Counter(
            "maskwright_refusals", "Requests that ended with an error, by its code.", ["code"],
            registry=registry,
        )  # fmt: skip
        self._key_requests = Counter(
            "maskwright_key_requests", "Requests by key that its rates let in.", ["key"],
            registry=registry,
        )  # fmt: skip
        self._key_refusals = Counter(
            "maskwright_key_refusals", "Requests beyond the rates of their key.", ["key", "limit"],
            registry=registry,
        )  # fmt: skip
        self._grammars = Counter(
            "maskwright_grammars", "Grammars asked for, by where they came from.", ["source"],
            registry=registry,
        )  # fmt: skip
        self._compiling = Histogram(
            "maskwright_grammar_compile_seconds", "Compiling a grammar.", ["outcome"],
            buckets=COMPILING, registry=registry,
        )  # fmt: skip
        self._client_ttft = Histogram(
            "maskwright_client_ttft_seconds", "From a request to its first text, when streamed.",
            buckets=SECONDS, registry=registry,
        )  # fmt: skip
        self._client_tpot = Histogram(
            "maskwright_client_tpot_seconds", "Mean time of a token after the first text.",
            buckets=PER_TOKEN, registry=registry,
        )  # fmt: skip
        self._streaming = Histogram(
            "maskwright_stream_seconds", "From the first text to the last.",
            buckets=SECONDS, registry=registry,
        )  # fmt: skip

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
    told = ",".join(f'{label}="{value}"' for label, value in sorted(labels.items()))
    return name.removeprefix("maskwright_") + (f"{{{told}}}" if told else "")
