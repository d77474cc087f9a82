"""The last answers' traces, kept in memory for the dashboard: numbers and ids, no text."""

from __future__ import annotations

import itertools
import threading
from collections import deque
from typing import Final

from maskwright.server.json import Json
from maskwright.server.observe.traces import RequestTrace

MOST_ANSWERS: Final = 100

NAMES: Final = frozenset({"request_id", "traceparent", "key"})
"""Fields that only the holder of the request's own key may read."""

FIELDS: Final = (
    *("request_id", "key", "received", "route", "stream", "index", "choices", "shape", "grammar"),
    *("service", "adapter", "finish_reason", "shortened_at", "error", "prompt_tokens"),
    *("cached_tokens", "completion_tokens", "sampled_tokens", "forced_tokens", "drafted_tokens"),
    *("accepted_tokens", "steps", "preemptions", "kv_blocks_peak", "mask_rows", "mask_hits"),
    *("mask_ms", "questions", "late_rows", "late_ms", "preempted_ms", "compile_ms", "render_ms"),
    *("queue_ms", "prefill_ms", "decode_ms", "paused_ms", "total_ms", "ttft_ms", "tpot_ms"),
    *("longest_gap_ms", "client_ttft_ms", "stream_ms", "request_ms"),
)
"""Fields of a trace that are kept."""


class RecentAnswers:
    """A sink of traces that keeps the last ones. Can be used from any thread."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._kept: deque[tuple[int, Json]] = deque(maxlen=MOST_ANSWERS)
        self._lock = threading.Lock()

    def __call__(self, trace: RequestTrace) -> None:
        told = trace.body()
        record = trace.exchange.generations[trace.index].record
        kept: Json = {name: told[name] for name in FIELDS}
        kept["step_ms"] = [round(1000 * at, 2) for at in record.given_at]
        kept["step_tokens"] = record.given.tolist()
        with self._lock:
            count = next(self._numbers)
            self._kept.append((count, {"number": count, **kept}))

    def after(self, number: int, key: str | None) -> list[Json]:
        """Return the answers with greater numbers, oldest first. Those of other keys than `key` are
        without their names."""
        with self._lock:
            newest = [one for count, one in self._kept if count > number]
        return [
            one if one["key"] == key else {name: one[name] for name in one.keys() - NAMES}
            for one in newest
        ]
