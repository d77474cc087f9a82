"""Metrics, traces and spans of requests and of the engine.

- `figures`: Figures that are computed from metrics and recent answers.
- `history`: What the engine did in the last hour, every five seconds.
- `joined_state`: The documents of `/state` of several servers as one.
- `metrics`: The page of metrics for Prometheus, and the metrics of HTTP requests.
- `observer`: Hands each finished request to metrics, traces and logs.
- `spans`: Traces as OpenTelemetry spans.
- `state_route`: The endpoint `/state`: what the dashboard shows, in one document.
- `traces`: A JSON trace of each choice of each request.
"""
