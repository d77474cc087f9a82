"""The page of metrics: what is counted of HTTP, of grammars and of clients."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
from prometheus_client.parser import text_string_to_metric_families

from maskwright.server.exchange import Exchange
from maskwright.server.observe.metrics import Metrics
from tests.server.observe.test_engine_metrics import STATS, ScriptedStats


def metrics() -> Metrics:
    return Metrics(cast(Any, ScriptedStats(STATS)), "m")


def values(of: Metrics) -> dict[tuple[str, ...], float]:
    """Values by name and label values, these in the order of their labels' names."""
    page, _ = of.page("text/plain")
    return {
        (sample.name.removeprefix("maskwright_"), *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(page.decode())
        for sample in family.samples
    }


def answered(**fields: Any) -> Exchange:
    return Exchange("r", **{"method": "POST", "route": "/x", "status": 200, **fields})


def test_requests_by_route_method_and_status() -> None:
    found = metrics()
    for exchange in (
        answered(seconds=0.5),
        answered(seconds=1.5),
        answered(status=400, code="invalid_value"),
        answered(method="GET", route="/y", status=500, code="internal_error"),
    ):
        found.answered(exchange)
    samples = values(found)
    assert samples["http_requests_total", "POST", "/x", "200"] == 2
    assert samples["http_requests_total", "POST", "/x", "400"] == 1
    assert samples["http_requests_total", "GET", "/y", "500"] == 1
    assert samples["http_request_seconds_sum", "/x"] == 2.0
    assert samples["http_request_seconds_count", "/x"] == 3
    refusals = {key[1]: value for key, value in samples.items() if key[0] == "refusals_total"}
    assert refusals == {"invalid_value": 1, "internal_error": 1}, "answers are no refusals"


def test_grammars_by_where_they_came_from() -> None:
    found = metrics()
    for source in ("none", "kept", "kept", "shared", "compiled"):
        found.got_grammar(source)  # type: ignore[arg-type]
    found.compiled(0.25, failed=False)
    found.compiled(0.5, failed=True)
    samples = values(found)
    counts = {key[1]: value for key, value in samples.items() if key[0] == "grammars_total"}
    assert counts == {"none": 1, "kept": 2, "shared": 1, "compiled": 1}
    assert samples["grammar_compile_seconds_sum", "compiled"] == 0.25
    assert samples["grammar_compile_seconds_sum", "failed"] == 0.5


@pytest.mark.parametrize(
    ("times", "counts"),
    [((None, None, None), (0, 0, 0)), ((0.5, None, 0.0), (1, 0, 1)), ((0.5, 0.1, 2.0), (1, 1, 1))],
)
def test_times_of_clients_are_counted_where_they_are_known(
    times: tuple[float | None, ...], counts: tuple[int, ...]
) -> None:
    found = metrics()
    ttft, tpot, streaming = times
    trace = SimpleNamespace(client_ttft=ttft, client_tpot=tpot, streaming=streaming)
    found.traced(cast(Any, trace))
    samples = values(found)
    names = ("client_ttft", "client_tpot", "stream")
    assert tuple(samples[f"{name}_seconds_count",] for name in names) == counts
    assert samples["client_ttft_seconds_sum",] == (ttft or 0.0)


def test_each_server_counts_for_itself() -> None:
    one, other = metrics(), metrics()
    one.answered(answered())
    key = ("http_requests_total", "POST", "/x", "200")
    assert (key in values(one), key in values(other)) == (True, False)


@pytest.mark.parametrize("kind", ["text/plain", "application/openmetrics-text"])
def test_the_page_is_in_the_format_that_is_asked_for(kind: str) -> None:
    page, media_type = metrics().page(kind)
    assert media_type.startswith(kind)
    assert page.endswith(b"# EOF\n") is (kind != "text/plain")
