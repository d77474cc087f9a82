"""Around a request: its id, what is noted of it, and what becomes of a defect."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from maskwright.server.exchange import CURRENT, KEY, Exchange
from maskwright.server.middleware import NO_ROUTE, Exchanges

PARENT = "00-" + "a" * 32 + "-" + "b" * 16 + "-01"


class Noted:
    """Stands in for the observer."""

    def __init__(self) -> None:
        self.ended_with: list[Exchange] = []

    def ended(self, exchange: Exchange) -> None:
        assert CURRENT.get() is exchange, "logs of the end name the request too"
        self.ended_with.append(exchange)


def call(app: Any, headers: dict[str, str] | None = None, **scope: Any) -> tuple[Any, Any]:
    """The messages that are sent for one request, and the exchange that was noted."""
    pairs = [(name.encode(), value.encode("latin-1")) for name, value in (headers or {}).items()]
    whole = {"type": "http", "method": "GET", "path": "/x", "headers": pairs, **scope}
    noted, sent = Noted(), []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    try:
        asyncio.run(Exchanges(app, noted)(whole, receive, send))  # type: ignore[arg-type]
    finally:
        assert CURRENT.get() is None
    return sent, noted.ended_with


async def answer(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body", "body": b""})


async def broken(scope: Any, receive: Any, send: Any) -> None:
    raise ZeroDivisionError("secret inside")


async def broken_midway(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    raise ZeroDivisionError("secret inside")


def header(messages: Any, name: bytes) -> str:
    return dict(messages[0]["headers"])[name].decode()


@pytest.mark.parametrize(
    ("asked", "kept"),
    [
        ("mine-7", True),
        ("!~", True),
        ("x" * 128, True),
        ("x" * 129, False),
        ("", False),
        ("two words", False),
        ("a\tb", False),
        ("é", False),
    ],
)
def test_the_clients_own_id_is_kept_if_it_is_harmless(asked: str, kept: bool) -> None:
    sent, (exchange,) = call(answer, {"x-request-id": asked})
    assert (exchange.request_id == asked) is kept
    assert kept or exchange.request_id.startswith("req_")
    assert header(sent, b"x-request-id") == exchange.request_id
    assert exchange.status == 204


def test_requests_without_an_id_get_different_ones() -> None:
    ids = {call(answer)[1][0].request_id for _ in range(3)}
    assert len(ids) == 3


@pytest.mark.parametrize(
    ("parent", "kept"),
    [(PARENT, True), (PARENT[:-1], False), (PARENT.upper(), False), ("nonsense", False)],
)
def test_a_parent_is_kept_if_it_is_one(parent: str, kept: bool) -> None:
    _, (exchange,) = call(answer, {"traceparent": parent})
    assert exchange.traceparent == (parent if kept else None)


@pytest.mark.parametrize(("method", "noted"), [("POST", "POST"), ("BREW", "other")])
def test_metrics_know_the_usual_methods_alone(method: str, noted: str) -> None:
    assert call(answer, method=method)[1][0].method == noted


def test_the_route_is_the_one_that_answered() -> None:
    class Route:
        path = "/models/{name}"

    async def routed(scope: Any, receive: Any, send: Any) -> None:
        scope["route"] = Route
        assert scope[KEY] is CURRENT.get()
        await answer(scope, receive, send)

    assert call(routed)[1][0].route == "/models/{name}"
    assert call(answer)[1][0].route == NO_ROUTE


def test_a_defect_is_answered_and_noted() -> None:
    sent, (exchange,) = call(broken)
    assert sent[0]["status"] == exchange.status == 500
    assert header(sent, b"x-request-id") == exchange.request_id
    assert exchange.code == "internal_error"
    assert b"secret" not in sent[1]["body"]


def test_a_response_that_has_begun_is_broken_off() -> None:
    with pytest.raises(ZeroDivisionError):
        call(broken_midway)


def test_what_is_no_request_passes() -> None:
    seen: list[str] = []

    async def lifespan(scope: Any, receive: Any, send: Any) -> None:
        seen.append(scope["type"])

    assert call(lifespan, type="lifespan") == ([], [])
    assert seen == ["lifespan"]
