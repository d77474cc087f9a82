"""The places to which `serve` sends traces."""

from __future__ import annotations

from typing import TYPE_CHECKING

from maskwright.errors import InputError
from maskwright.server.observe.traces import TraceFile

if TYPE_CHECKING:
    from maskwright.server.observe.spans import Spans


def open_sinks(
    trace: str | None, otel: str | None, requests: bool = False
) -> list[TraceFile | Spans]:
    """The places to which traces are sent; `requests`: the file gets whole requests. Raises
    InputError for a place that can't be opened."""
    if requests and trace is None:
        raise InputError("--trace-requests needs --trace FILE", param="trace_requests")
    sinks: list[TraceFile | Spans] = []
    if otel is not None:
        if not otel.startswith(("http://", "https://")):
            raise InputError(
                f"--otel {otel}: an address that begins with http:// or https:// is needed",
                param="otel",
            )
        try:
            from maskwright.server.observe.spans import Spans  # noqa: PLC0415 - the extra may be missing
        except ModuleNotFoundError as error:
            raise InputError(
                f"--otel needs {error.name}, which is not installed; "
                "pip install 'maskwright[otel]' brings it",
                param="otel",
            ) from None
        sinks.append(Spans.sent_to(otel))
    if trace is not None:
        sinks.append(TraceFile(trace, requests=requests))
    return sinks
