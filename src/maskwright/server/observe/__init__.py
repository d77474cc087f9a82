"""Metrics, traces and spans of requests and of the engine.

- `engine_metrics`: The engine's counters and histograms for Prometheus.
- `metrics`: The server's own metrics for Prometheus.
- `observer`: Hands each finished request to metrics, traces and logs.
- `process_metrics`: The counts of grammar processes for Prometheus.
- `spans`: Traces as OpenTelemetry spans.
- `traces`: A JSON trace of each choice of each request.
"""
