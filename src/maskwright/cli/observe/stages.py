"""The times of one request, divided into stages that add up to the whole."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from maskwright.cli.observe.trace_file import TraceFields

STAGES: Final[Mapping[str, str]] = {
    "compile": "waiting for its shape to be compiled",
    "queue": "waiting in the queue",
    "prefill": "computing the prompt",
    "decode": "decoding",
    "masks": "waiting for masks from a grammar process",
    "preemption": "having lost its blocks to others (preemption)",
    "reader": "waiting for a slow reader",
    "server": "in the server before and after the engine",
}
"""The stages, in the order in which a request passes them, and what a request does in each."""


@dataclass(frozen=True, slots=True)
class TimedRequest:
    """One request: its slowest choice stands for it. `received` is in seconds since 1970, all times
    are in milliseconds, and `stages` has one for each of `STAGES`; they add up to `whole`."""

    request_id: str
    received: float
    whole: float
    stages: Mapping[str, float]
    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int
    preemptions: int
    questions: int


def timed_requests(traces: Iterable[TraceFields]) -> list[TimedRequest]:
    """Return the requests of some choices, in the order of their arrival."""
    slowest: dict[str, TraceFields] = {}
    for trace in traces:
        known = slowest.get(trace["request_id"])
        if known is None or trace["total_ms"] > known["total_ms"]:
            slowest[trace["request_id"]] = trace
    return sorted(map(_timed, slowest.values()), key=lambda one: one.received)


def _timed(trace: TraceFields) -> TimedRequest:
    stages = _stages(trace)
    # The request of several choices lasts until the last of them, which is this one.
    whole = max(_number(trace, "request_ms"), sum(stages.values()))
    rest = whole - sum(stages.values())
    stages["server"] = min(rest, _before_first_text(trace)) if trace.get("stream") else rest
    stages["reader"] += rest - stages["server"]
    return TimedRequest(
        request_id=trace["request_id"],
        received=trace["received"],
        whole=whole,
        stages={name: stages[name] for name in STAGES},
        prompt_tokens=int(_number(trace, "prompt_tokens")),
        cached_tokens=int(_number(trace, "cached_tokens")),
        completion_tokens=int(_number(trace, "completion_tokens")),
        preemptions=int(_number(trace, "preemptions")),
        questions=int(_number(trace, "questions")),
    )


def _stages(trace: TraceFields) -> dict[str, float]:
    """The stages but that of the server. Waits for masks and preemptions are parts of prefill and
    decoding; they are taken off decoding first, where most of them are."""
    lost = {"masks": _number(trace, "late_ms"), "preemption": _number(trace, "preempted_ms")}
    prefill, decode = _number(trace, "prefill_ms"), _number(trace, "decode_ms")
    off = sum(lost.values())
    return {
        "compile": _number(trace, "compile_ms"),
        "queue": _number(trace, "queue_ms"),
        "prefill": max(0.0, prefill - max(0.0, off - decode)),
        "decode": max(0.0, decode - off),
        **lost,
        "reader": _number(trace, "paused_ms"),
    }


def _before_first_text(trace: TraceFields) -> float:
    """Milliseconds that a streamed request spent in the server before its first text was sent. What
    it spent there later, it waited for its reader."""
    engine = ("compile_ms", "queue_ms", "prefill_ms")
    return max(0.0, _number(trace, "client_ttft_ms") - sum(_number(trace, n) for n in engine))


def _number(trace: TraceFields, name: str) -> float:
    """A field, 0 if the request ended before that part of it began."""
    return float(trace.get(name) or 0.0)
