"""The router in front of workers that play a part: where requests go, and what is tried again."""

from __future__ import annotations

import asyncio
import gzip
import json
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest

from maskwright.dist.drain import Drain
from maskwright.dist.front.app import Front
from maskwright.dist.front.asked import error_bytes
from maskwright.dist.front.fleet import WorkerGroup
from maskwright.dist.front.wire import Address
from maskwright.dist.front.worker import WorkerTraits
from tests.bounds import PATIENCE, wait_until
from tests.live_server import address, live_server

Piece = bytes | None
"""A piece of a stream; None closes the connection."""

CHAT = {"model": "m", "messages": [{"role": "user", "content": "x" * 600}]}
HEAD = b': maskwright {"key":"k","created":1,"seeds":[5]}\n\n'


def event(text: str) -> bytes:
    return f"data: {text}\n\n".encode()


def record(*tokens: int, ends: bool = False) -> bytes:
    return b": maskwright " + json.dumps({"delta": [0, ends, None, *tokens]}).encode() + b"\n\n"


@dataclass
class Part:
    """A worker: what it answers to each request in turn, and what it was asked."""

    name: str
    status: int = 200
    code: str = ""
    stream: list[Piece] = field(default_factory=list)
    rest: list[Piece] = field(default_factory=list)
    """What it answers to the request to go on with a stream."""
    ready: bool = True
    cards: list[dict[str, Any]] = field(default_factory=lambda: [{"id": "m"}])
    asked: list[tuple[str, dict[bytes, bytes], bytes]] = field(default_factory=list)
    url: str = ""

    async def __call__(self, scope: Any, receive: Callable[[], Any], send: Any) -> None:
        if scope["type"] != "http":
            return
        body = (await receive()).get("body", b"")
        if scope["path"] == "/ready":
            await self._send(send, 200 if self.ready else 503, error_bytes("no", "draining"))
        elif scope["path"] == "/v1/models":
            await self._send(send, 200, json.dumps({"data": self.cards}).encode())
        elif scope["path"] == "/metrics":
            await self._send(send, 200, b"# HELP a b\n# TYPE a counter\na 1\n")
        else:
            self.asked.append((scope["path"], dict(scope["headers"]), body))
            if self.stream and self.status == 200:
                await self._send_stream(send, b'"continuation"' in body)
            else:
                whole = self.name.encode() if self.status == 200 else error_bytes("no", self.code)
                await self._send(send, self.status, whole)

    async def _send(self, send: Any, status: int, body: bytes) -> None:
        head = [(b"content-length", b"%d" % len(body)), (b"x-served-by", self.name.encode())]
        await send({"type": "http.response.start", "status": status, "headers": head})
        await send({"type": "http.response.body", "body": body})

    async def _send_stream(self, send: Any, again: bool) -> None:
        head = [(b"content-type", b"text/event-stream")]
        await send({"type": "http.response.start", "status": 200, "headers": head})
        for piece in self.rest if again else self.stream:
            if piece is None:
                return  # uvicorn closes the connection
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b""})


@contextmanager
def front_of(
    *parts: Part,
    patience: float = 0.3,
    drain: Drain | None = None,
    traits: list[WorkerTraits] | None = None,
) -> Iterator[str]:
    with ExitStack() as closing:
        addresses: list[Address] = []
        for part in parts:
            part.url = closing.enter_context(live_server(part))  # pyright: ignore
            addresses.append(Address.parse(part.url))
        front = Front(WorkerGroup(addresses, traits=traits), drain or Drain(1.0), 10_000, patience)
        yield closing.enter_context(live_server(front))  # pyright: ignore


def ask(url: str, **changes: Any) -> httpx.Response:
    return httpx.post(f"{url}/v1/chat/completions", json={**CHAT, **changes}, timeout=PATIENCE)


def test_equal_beginnings_go_to_one_worker() -> None:
    first, second = Part("a"), Part("b")
    with front_of(first, second) as url:
        for index in range(6):
            turns = [*CHAT["messages"], {"role": "user", "content": str(index)}]
            assert ask(url, messages=turns).status_code == 200
        for index in range(12):
            ask(url, messages=[{"role": "user", "content": f"{index}" * 400}])
    groups = [
        {body[60:70] for _, _, body in one.asked if b"xxx" in body} for one in (first, second)
    ]
    assert sorted(map(len, groups)) == [0, 1]
    assert min(len(first.asked), len(second.asked)) > 0


def test_headers_and_bodies_pass_through() -> None:
    part = Part("a")
    with front_of(part) as url:
        answer = httpx.post(
            f"{url}/v1/tokenize?x=1",
            content=b'{"a": 1}',
            headers={"authorization": "Bearer k", "x-request-id": "mine"},
        )
    assert answer.text == "a"
    assert answer.headers["x-served-by"] == "a"
    assert answer.headers["x-request-id"] == "mine"
    [(path, headers, body)] = part.asked
    assert (path, body) == ("/v1/tokenize", b'{"a": 1}')
    assert headers[b"authorization"] == b"Bearer k"
    assert headers[b"x-request-id"] == b"mine"
    assert b"x-maskwright-relay" not in headers


@pytest.mark.parametrize(
    ("status", "code"), [(429, "overloaded"), (503, "draining"), (503, "engine_stopped")]
)
def test_a_refusal_that_another_need_not_share(status: int, code: str) -> None:
    refusing = Part("a", status=status, code=code)
    with front_of(refusing, Part("b")) as url:
        answers = [ask(url, messages=[{"role": "user", "content": str(i)}]) for i in range(8)]
    assert {answer.text for answer in answers} == {"b"}
    assert refusing.asked


def test_a_refusal_that_all_share_is_passed_on() -> None:
    parts = Part("a", status=429, code="overloaded"), Part("b", status=429, code="overloaded")
    with front_of(*parts) as url:
        answer = ask(url)
    assert (answer.status_code, answer.json()["error"]["code"]) == (429, "overloaded")
    assert [len(part.asked) for part in parts] == [1, 1]


@pytest.mark.parametrize("code", ["draining", "engine_stopped"])
def test_the_successor_of_a_worker_that_ends_is_waited_for(code: str) -> None:
    ending, successor = Part("a", status=503, code=code), Part("b", ready=False)

    def come() -> None:
        wait_until(lambda: ending.asked)
        ending.ready, successor.ready = False, True

    with front_of(ending, successor, patience=PATIENCE) as url, ThreadPoolExecutor(1) as pool:
        coming = pool.submit(come)
        answer = ask(url)
        coming.result(PATIENCE)
    assert (answer.status_code, answer.text) == (200, "b")


def test_a_worker_that_says_it_ends_and_does_not_is_asked_twice() -> None:
    part = Part("a", status=503, code="draining")
    with front_of(part, patience=PATIENCE) as url:
        answer = ask(url)
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "draining")
    assert len(part.asked) == 2


def test_a_model_that_workers_name_goes_to_them_alone() -> None:
    small, big = Part("small"), Part("big")
    traits = [WorkerTraits("s", "small"), WorkerTraits("b", "big", 4.0)]
    with front_of(small, big, traits=traits) as url:
        for index in range(6):
            words = [{"role": "user", "content": str(index)}]
            assert ask(url, messages=words, model="big").text == "big"
            assert ask(url, messages=words, model="small").text == "small"
        assert httpx.post(f"{url}/v1/tokenize", json={"model": "big"}).text == "big"
        assert ask(url, model="another").status_code == 200
        page = httpx.get(f"{url}/metrics").text
    assert 'maskwright_router_requests_total{status="200",worker="b"}' in page


def test_a_worker_of_greater_weight_gets_more() -> None:
    slow, fast = Part("slow"), Part("fast")
    traits = [WorkerTraits(), WorkerTraits(weight=4.0)]
    with front_of(slow, fast, traits=traits) as url:
        for index in range(8):
            assert ask(url, messages=[{"role": "user", "content": str(index)}]).text == "fast"


def test_other_errors_are_not_tried_again() -> None:
    parts = Part("a", status=429, code="rate_limit"), Part("b", status=429, code="rate_limit")
    with front_of(*parts) as url:
        assert ask(url).json()["error"]["code"] == "rate_limit"
    assert sum(len(part.asked) for part in parts) == 1


def test_a_stream_goes_on_at_another_worker() -> None:
    cut: list[Piece] = [HEAD, record(1, 2), event("A"), event("B"), record(3), b"data: ha", None]
    rest: list[Piece] = [record(4), event("C"), event("[DONE]")]
    parts = Part("a", stream=cut, rest=rest), Part("b", stream=cut, rest=rest)
    with front_of(*parts, patience=5) as url:
        first = ask(url, stream=True).text.split("\n\n")
    assert [line for line in first if line] == ["data: A", "data: B", "data: C", "data: [DONE]"]
    asked = [*parts[0].asked, *parts[1].asked]
    assert len(asked) == 2
    [(_, headers, again)] = [one for one in asked if b"continuation" in one[2]]
    assert headers[b"x-maskwright-relay"] == b"1"
    assert json.loads(again)["maskwright"]["continuation"] == {
        "key": "k",
        "created": 1,
        "seeds": [5],
        "deltas": [[0, False, None, 1, 2], [0, False, None, 3]],
        "events": 2,
    }


@pytest.mark.parametrize(
    "cut",
    [
        [None],
        [b": ping\n\n", None],
        [HEAD[:20], None],
        [b"data: ha", None],
    ],
    ids=["the head of the response", "a comment", "a part of a record", "a part of an event"],
)
@pytest.mark.parametrize("options", [{}, {"maskwright": {"timeout": 60.0}}])
def test_a_stream_without_an_event_begins_at_another_worker(
    cut: list[Piece], options: dict[str, Any]
) -> None:
    """Its first worker is lost after so much, before it has sent names and seeds."""
    whole: list[Piece] = [HEAD, record(1), event("A"), event("[DONE]")]

    class Killed(Part):
        async def _send_stream(self, send: Any, again: bool) -> None:
            self.stream = whole if self.others() else cut
            await super()._send_stream(send, again)

        def others(self) -> bool:
            return sum(len(part.asked) for part in parts) > 1

    parts = Killed("a", stream=[b""]), Killed("b", stream=[b""])
    with front_of(*parts, patience=5) as url:
        text = ask(url, stream=True, **options).text
    assert [line for line in text.split("\n\n") if line != ": ping"] == [
        *("data: A", "data: [DONE]", "")
    ]
    first, again = (json.loads(body) for part in parts for _, _, body in part.asked)
    left = [body.pop("maskwright", {}).get("timeout") for body in (first, again)]
    assert first == again == {**CHAT, "stream": True}
    assert left == [None, None] if not options else 0 < min(left) < max(left) == 60.0


def test_a_stream_that_nobody_can_go_on_with_ends_with_an_error() -> None:
    part = Part("a", stream=[event("A"), None])  # without records
    with front_of(part) as url:
        lines = [line for line in ask(url, stream=True).text.split("\n\n") if line]
    assert lines[0] == "data: A"
    assert json.loads(lines[1].removeprefix("data: "))["error"]["code"] == "worker_lost"


def test_without_a_worker_the_answer_says_what_to_do() -> None:
    with front_of(Part("a", ready=False)) as url:
        assert httpx.get(f"{url}/ready").status_code == 503
        answer = ask(url)
    assert answer.status_code == 503
    assert answer.headers["retry-after"]
    assert "w0: it is draining" in answer.json()["error"]["message"]


def test_a_worker_that_comes_back_is_waited_for() -> None:
    part = Part("a", ready=False)
    with front_of(part, patience=PATIENCE) as url:
        part.ready = True
        assert ask(url).text == "a"


def test_what_the_router_answers_itself() -> None:
    parts = Part("a"), Part("b", cards=[{"id": "m"}, {"id": "x", "parent": "m"}])
    with front_of(*parts) as url:
        assert httpx.get(f"{url}/health").json() == {"status": "ok"}
        assert httpx.get(f"{url}/v1/ready").json() == {"status": "ready"}
        assert httpx.get(f"{url}/load").json() == {"server_load": 0}
        assert [one["id"] for one in httpx.get(f"{url}/v1/models").json()["data"]] == ["m", "x"]
        page = httpx.get(f"{url}/metrics").text
        assert page.count("# TYPE a counter") == 1
        assert 'a{worker="w0"} 1' in page
        assert 'a{worker="w1"} 1' in page
        for _ in range(4):
            assert ask(url, model="x").text == "b"
        large = httpx.post(f"{url}/v1/chat/completions", content=b"x" * 10_001)
        assert large.status_code == 413


def test_a_draining_router_lets_nothing_in() -> None:
    drain = Drain(1.0)
    with front_of(Part("a"), drain=drain) as url:
        drain.begin()
        assert ask(url).json()["error"]["code"] == "draining"
        assert httpx.get(f"{url}/ready").status_code == 503


def test_a_client_that_leaves_closes_the_connection_to_the_worker() -> None:
    class Slow(Part):
        gone = False

        async def _send_stream(self, send: Any, again: bool) -> None:
            await send({"type": "http.response.start", "status": 200,
                        "headers": [(b"content-type", b"text/event-stream")]})  # fmt: skip
            await send({"type": "http.response.body", "body": HEAD + event("A"), "more_body": True})

        async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
            await super().__call__(scope, receive, send)
            if scope["type"] == "http" and scope["path"].endswith("completions"):
                while (await receive())["type"] != "http.disconnect":
                    await asyncio.sleep(0)
                self.gone = True

    slow = Slow("a", stream=[b""])
    with front_of(slow) as url:
        body = {**CHAT, "stream": True}
        with httpx.stream("POST", f"{url}/v1/chat/completions", json=body) as answer:
            next(answer.iter_lines())
        wait_until(lambda: slow.gone)


def packed(url: str, content: bytes, coding: str, path: str = "/v1/chat/completions") -> Any:
    headers = {"content-encoding": coding, "content-type": "application/json"}
    return httpx.post(f"{url}{path}", content=content, headers=headers, timeout=PATIENCE)


def test_a_compressed_request_is_read_and_passed_on_decoded() -> None:
    """Else the router would not know that it asks for a stream."""
    part = Part("a", stream=[HEAD, record(1) + event("x"), record(2, ends=True), event("[DONE]")])
    body = json.dumps({**CHAT, "stream": True}).encode()
    with front_of(part) as url:
        answer = packed(url, gzip.compress(body), "gzip")
    assert answer.text == "data: x\n\ndata: [DONE]\n\n"
    [(_, headers, passed)] = part.asked
    assert passed == body
    assert b"content-encoding" not in headers


@pytest.mark.parametrize(
    ("content", "coding", "path"),
    [
        (b"no gzip", "gzip", "/v1/chat/completions"),
        (json.dumps(CHAT).encode(), "br", "/v1/chat/completions"),
        (gzip.compress(b'{"prompt": "x"}'), "gzip", "/v1/tokenize"),
    ],
    ids=["not so", "unknown", "elsewhere"],
)
def test_what_the_router_need_not_read_is_passed_on_as_it_is(
    content: bytes, coding: str, path: str
) -> None:
    part = Part("a")
    with front_of(part) as url:
        assert packed(url, content, coding, path).text == "a"
    [(_, headers, passed)] = part.asked
    assert (passed, headers[b"content-encoding"]) == (content, coding.encode())


def test_a_body_that_is_too_large_when_it_is_decoded_is_refused() -> None:
    part = Part("a")
    with front_of(part) as url:
        answer = packed(url, gzip.compress(b"x" * 20_000), "gzip")
    assert answer.status_code == 413
    error = answer.json()["error"]
    assert (error["type"], error["code"]) == ("invalid_request_error", "body_too_large")
    assert not part.asked


def test_a_body_that_is_told_to_be_too_large_is_refused_unread() -> None:
    part = Part("a")
    head = (
        b"POST /v1/chat/completions HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\n"
        b"Content-Length: 10001\r\n\r\n"
    )
    with (
        front_of(part) as url,
        socket.create_connection(address(url), timeout=PATIENCE) as client,
    ):
        client.sendall(head)
        found = client.makefile("rb").read()
    assert found.startswith(b"HTTP/1.1 413 ")
    assert not part.asked


def test_a_client_that_leaves_while_its_body_is_on_the_way_asks_for_nothing() -> None:
    part = Part("a")
    body = json.dumps(CHAT).encode()
    head = b"POST /v1/chat/completions HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n"
    with front_of(part) as url:
        with socket.create_connection(address(url)) as client:
            client.sendall(head % (len(body) + 1) + body)
            threading.Event().wait(0.05)
        assert ask(url).text == "a"
    assert len(part.asked) == 1
