"""Traces of made-up requests, whose times are known."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

TYPICAL: dict[str, Any] = {
    "compile_ms": 0.2, "render_ms": 0.5, "queue_ms": 2.0, "prefill_ms": 20.0, "decode_ms": 200.0,
    "paused_ms": 0.0, "late_ms": 0.0, "preempted_ms": 0.0, "preemptions": 0, "questions": 3,
    "prompt_tokens": 120, "cached_tokens": 60, "completion_tokens": 50, "stream": False,
    "service": "interactive",
}  # fmt: skip

PARTS = ("compile_ms", "queue_ms", "prefill_ms", "decode_ms", "paused_ms")

SLOW: dict[str, dict[str, Any]] = {
    "compile": {"compile_ms": 1500.0},
    "queue": {"queue_ms": 1500.0},
    "prefill": {"prefill_ms": 1500.0, "prompt_tokens": 4000, "cached_tokens": 0},
    "decode": {"decode_ms": 1500.0, "completion_tokens": 400},
    "masks": {"decode_ms": 1500.0, "late_ms": 1300.0},
    "preemption": {"decode_ms": 1500.0, "preempted_ms": 1300.0, "preemptions": 2},
    "reader": {"paused_ms": 1500.0},
    "server": {"request_ms": 1800.0},
}
"""What a slow request of each culprit has that a typical one hasn't."""


def trace(number: int, received: float, **changes: Any) -> dict[str, Any]:
    """The trace of one request; times that must add up do."""
    fields = {**TYPICAL, **changes, "request_id": f"req_{number}", "received": received}
    fields["total_ms"] = sum(fields[name] for name in PARTS[1:])
    whole = fields["total_ms"] + fields["compile_ms"] + 1.0
    return {"request_ms": whole, **fields}


def steady(count: int, rate: float, *, every: int = 50, **slow: Any) -> list[dict[str, Any]]:
    """Requests that arrive at random, `rate` a second; each `every`-th is slow. Times vary by up
    to a tenth."""
    rng = random.Random(3)
    at, traces = 1_700_000_000.0, []
    for number in range(count):
        at += rng.expovariate(rate)
        changes = dict(slow) if number % every == every - 1 else {}
        scale = {name: TYPICAL[name] * rng.uniform(0.9, 1.1) for name in PARTS}
        traces.append(trace(number, at, **{**scale, **changes}))
    return traces


def write(path: Path, traces: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(each) + "\n" for each in traces))
    return path
