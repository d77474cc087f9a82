"""What is told of requests and of the engine: metrics, traces, spans.

- `engine_metrics`: What the engine has counted, as Prometheus reads it.
- `metrics`: Prometheus metrics.
- `observer`: Where everything goes that is told of a request.
- `spans`: Traces as OpenTelemetry spans.
- `traces`: A JSON trace of each choice of each request.
"""
