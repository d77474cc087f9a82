"""Metrics, traces and spans of requests and of the engine.

- `figures`: The dashboard's figures, of the last hour too, and of several servers as one.
- `metrics`: The page of metrics for Prometheus, and the metrics of HTTP requests.
- `spans`: Traces as OpenTelemetry spans.
- `state_route`: The endpoint `/state`: what the dashboard shows, in one document.
- `traces`: A JSON trace of each choice of each request, a file of them, and the last ones.
"""
