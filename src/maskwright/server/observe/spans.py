"""Traces as OpenTelemetry spans. Needs the extra `otel`; imported only if spans are switched on."""

from __future__ import annotations

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import SpanKind, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from maskwright.server.observe.traces import RequestTrace
from maskwright.version import VERSION


class Spans:
    """Makes a span for each choice of each request, with its trace as attributes `maskwright.…`.
    Its parent is the client's span, if the request names one in `traceparent`."""

    def __init__(self, processor: SpanProcessor) -> None:
        self._provider = TracerProvider(resource=Resource.create({SERVICE_NAME: "maskwright"}))
        self._provider.add_span_processor(processor)
        self._tracer = self._provider.get_tracer("maskwright", VERSION)
        self._parents = TraceContextTextMapPropagator()

    @classmethod
    def sent_to(cls, endpoint: str) -> Spans:
        """Send spans to a collector by OTLP over HTTP, in batches, from a thread of their own."""
        return cls(BatchSpanProcessor(OTLPSpanExporter(endpoint=endpoint)))

    def __call__(self, trace: RequestTrace) -> None:
        body = trace.body()
        parent = trace.exchange.traceparent
        start = int(trace.exchange.received * 1e9)
        seconds = trace.exchange.seconds
        span = self._tracer.start_span(
            f"{trace.exchange.method} {trace.exchange.route}",
            context=self._parents.extract({"traceparent": parent} if parent else {}),
            kind=SpanKind.SERVER,
            attributes={
                # OTLP has no unsigned integers.
                f"maskwright.{name}": str(value) if name == "seed" else value
                for name, value in body.items()
                if name != "traceparent" and isinstance(value, str | bool | int | float)
            },
            start_time=start,
        )
        if trace.engine.error is not None:
            span.set_status(Status(StatusCode.ERROR, trace.engine.error))
        span.end(start + int(seconds * 1e9))

    def close(self) -> None:
        """Send the remaining spans."""
        self._provider.shutdown()
