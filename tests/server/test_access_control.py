from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

import httpx
import pytest

from maskwright.dist.drain import Drain
from maskwright.dist.routing.replica_state import CACHED_SECONDS
from maskwright.errors import InputError
from maskwright.server import ServerConfig
from maskwright.server.access import ApiKey, KeyRing, digest_of
from maskwright.server.app import create_app
from tests.server.scripted import HELLO, ByteModel, Client, Script, ScriptedEngine

ALICE = ApiKey("alice", digest_of("a"))
BOB = ApiKey("bob", digest_of("b"), requests_per_minute=2, classes=("batch", "agent"))
CAROL = ApiKey("carol", digest_of("c"), tokens_per_minute=20)


@pytest.fixture
def guarded(engine: ScriptedEngine) -> Client:
    return Client(engine, ServerConfig(keys=KeyRing([ALICE, BOB, CAROL])))


def ask(client: Client, key: str, **fields: Any) -> httpx.Response:
    headers = {"Authorization": f"Bearer {key}"}
    return client.call("POST", "/v1/chat/completions", json={**HELLO, **fields}, headers=headers)


def test_only_a_valid_key_is_let_in(guarded: Client) -> None:
    assert ask(guarded, "a").status_code == 200
    for header in ("Bearer x", "Bearer ", "Basic a", "a", "Bearer a b"):
        answer = guarded.call(
            "POST", "/v1/chat/completions", json=HELLO, headers={"Authorization": header}
        )
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"] == "Bearer"
        assert answer.headers["x-request-id"]
        error = answer.json()["error"]
        assert error.keys() == {"message", "type", "param", "code"}
        assert (error["type"], error["code"]) == ("authentication_error", "invalid_api_key")
    assert len(guarded.engine.requests) == 1


def test_every_path_but_the_probes_needs_a_key(guarded: Client) -> None:
    for path in ("/v1/models", "/models/m", "/version", "/load", "/metrics", "/nowhere"):
        assert guarded.call("GET", path).status_code == 401
    for path in ("/health", "/live", "/ready", "/ping"):
        assert guarded.call("GET", path).status_code == 200
        assert guarded.call("GET", f"/v1{path}").status_code == 200
    for path in ("/", "/pages/playground/app.js"):
        assert guarded.call("GET", path).status_code == 200
        assert guarded.call("POST", path, json={}).status_code == 401
    for path in ("/v1/examples", "/v1/"):
        assert guarded.call("GET", path).status_code == 401
    for path in (
        "/tokenize",
        "/v1/check",
        "/v1/sample",
        "/v1/completions",
        "/v1/responses",
        "//health",
        "/health/x",
    ):
        assert guarded.call("POST", path, json={}).status_code == 401


def test_the_scheme_may_be_written_in_any_case(guarded: Client) -> None:
    answer = guarded.call("GET", "/v1/models", headers={"Authorization": "bearer  a"})
    assert answer.status_code == 200


def test_a_rate_of_requests_is_kept_for_each_key(guarded: Client) -> None:
    first, second, third = (ask(guarded, "b") for _ in range(3))
    assert (first.status_code, second.status_code, third.status_code) == (200, 200, 429)
    assert first.headers["x-ratelimit-limit-requests"] == "2"
    assert first.headers["x-ratelimit-remaining-requests"] == "1"
    assert third.headers["x-ratelimit-remaining-requests"] == "0"
    assert 1 <= int(third.headers["retry-after"]) <= 30
    error = third.json()["error"]
    assert (error["type"], error["code"]) == ("rate_limit_error", "rate_limit_exceeded")
    assert "2 requests per minute" in error["message"]
    assert ask(guarded, "a").status_code == 200
    assert "x-ratelimit-limit-requests" not in ask(guarded, "a").headers


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("POST", "/v1/chat/completions", HELLO, 200),
        ("POST", "/v1/chat/completions", {}, 400),
        ("POST", "/v1/nowhere", {}, 404),
        ("GET", "/v1/models", None, 200),
    ],
)
def test_rates_are_told_with_each_answer_that_counts(
    guarded: Client, method: str, path: str, body: Any, status: int
) -> None:
    answer = guarded.call(method, path, json=body, headers={"Authorization": "Bearer b"})
    assert answer.status_code == status
    told = answer.headers.get("x-ratelimit-remaining-requests")
    assert told == (None if method == "GET" else "1")


def test_reading_counts_as_no_request(guarded: Client) -> None:
    for _ in range(5):
        answer = guarded.call("GET", "/v1/models", headers={"Authorization": "Bearer b"})
        assert answer.status_code == 200
    assert ask(guarded, "b").status_code == 200


def test_tokens_of_prompt_and_answer_are_charged(engine: ScriptedEngine) -> None:
    """The prompt, `user: hello`, has 11 tokens, whatever n is. The scripted engine traces no tokens
    of answers, so that these are charged in `tests/api/test_operations.py`."""
    guarded = Client(engine, ServerConfig(keys=KeyRing([CAROL])))
    first = ask(guarded, "c", n=3)
    assert first.status_code == 200
    assert first.json()["usage"]["prompt_tokens"] == 11
    models = guarded.call("GET", "/v1/models", headers={"Authorization": "Bearer c"})
    assert models.status_code == 200
    second = ask(guarded, "c")
    assert second.status_code == 200
    assert second.headers["x-ratelimit-limit-tokens"] == "20"
    third = ask(guarded, "c")
    assert third.status_code == 429
    assert third.headers["x-ratelimit-remaining-tokens"] == "0"
    assert "20 tokens per minute" in third.json()["error"]["message"]


def test_a_key_has_its_classes_of_service(guarded: Client) -> None:
    ask(guarded, "b")
    assert guarded.engine.requests[-1].service == "batch"
    ask(guarded, "b", maskwright={"service": "agent"})
    assert guarded.engine.requests[-1].service == "agent"
    ask(guarded, "a")
    assert guarded.engine.requests[-1].service == "interactive"
    others = Client(guarded.engine, ServerConfig(keys=KeyRing([BOB])))
    answer = ask(others, "b", maskwright={"service": "interactive"})
    assert answer.status_code == 403
    error = answer.json()["error"]
    assert (error["type"], error["code"]) == ("permission_error", "service_not_allowed")
    assert error["param"] == "maskwright.service"
    assert "batch, agent" in error["message"]


def test_fair_shares_are_those_of_keys(guarded: Client) -> None:
    """So that nobody gets more by sending many names of users."""
    ask(guarded, "a", user="one of many")
    assert guarded.engine.requests[-1].client == "alice"


def test_classes_of_keys_must_exist(engine: ScriptedEngine) -> None:
    keys = KeyRing([replace(ALICE, classes=("gold",))])
    with pytest.raises(InputError, match="the key alice names the class 'gold'"):
        Client(engine, ServerConfig(keys=keys)).chat()


def test_keys_may_change_while_the_server_runs(engine: ScriptedEngine) -> None:
    ring = KeyRing([BOB])
    guarded = Client(engine, ServerConfig(keys=ring))
    assert [ask(guarded, "b").status_code for _ in range(3)] == [200, 200, 429]
    ring.replace([replace(BOB, requests_per_minute=3), ALICE])
    assert [ask(guarded, "b").status_code for _ in range(4)] == [200, 200, 200, 429]
    assert ask(guarded, "a").status_code == 200
    ring.replace([ALICE])
    assert ask(guarded, "b").status_code == 401


def test_the_log_names_the_key_and_never_shows_it(
    guarded: Client, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG", "maskwright")
    ask(guarded, "a")
    ask(guarded, "no such key")
    keys = [getattr(record, "fields", {}).get("key") for record in caplog.records]
    assert keys == ["alice", None]
    assert "no such key" not in caplog.text


def test_a_page_of_an_allowed_origin_may_use_the_server(engine: ScriptedEngine) -> None:
    origin = "https://app.example"
    config = ServerConfig(keys=KeyRing([ALICE]), cors_origins=(origin, "http://localhost:3000"))
    guarded = Client(engine, config)
    preflight = {
        "Origin": origin,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization,content-type",
    }
    preflighted = guarded.call("OPTIONS", "/v1/chat/completions", headers=preflight)
    assert preflighted.status_code == 200
    assert preflighted.headers["access-control-allow-origin"] == origin
    assert "authorization" in preflighted.headers["access-control-allow-headers"].lower()
    other = {**preflight, "Origin": "https://evil.example"}
    refused = guarded.call("OPTIONS", "/v1/chat/completions", headers=other)
    assert "access-control-allow-origin" not in refused.headers
    error = refused.json()["error"]
    assert (refused.status_code, error["code"]) == (400, "cors_refused")
    assert "origin" in error["message"]
    assert "--cors-origin" in error["message"]
    for key, status in (("a", 200), ("x", 401)):
        answer = guarded.call(
            "POST",
            "/v1/chat/completions",
            json=HELLO,
            headers={"Origin": origin, "Authorization": f"Bearer {key}"},
        )
        assert answer.status_code == status
        assert answer.headers["access-control-allow-origin"] == origin
        assert "x-request-id" in answer.headers["access-control-expose-headers"]


def test_without_origins_no_page_is_told_anything(client: Client) -> None:
    answer = client.call("GET", "/v1/models", headers={"Origin": "https://app.example"})
    assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize("origin", ["app.example", "https://app.example/", "https://a/b", "*.com"])
def test_an_origin_that_no_browser_sends_is_refused(origin: str) -> None:
    with pytest.raises(InputError, match="browsers send origins as"):
        ServerConfig(cors_origins=(origin,))
    assert ServerConfig(cors_origins=("*", "https://[::1]:8080")).cors_origins


def test_a_drain_lets_nothing_new_in_and_lets_the_rest_finish() -> None:
    """A stream that has begun goes on to its end while others are refused by name."""
    engine = ScriptedEngine(ByteModel(), Script(texts=("a", "b"), before=None))
    drain = Drain(10.0)
    app = create_app(engine, ServerConfig(), drain=drain)  # type: ignore[arg-type]

    async def scenario() -> tuple[httpx.Response, list[httpx.Response]]:
        begun, refused = asyncio.Event(), asyncio.Event()

        async def before() -> None:
            begun.set()
            await refused.wait()

        engine.script.before = before
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
            path = "/v1/chat/completions"
            stream = asyncio.create_task(client.post(path, json={**HELLO, "stream": True}))
            await begun.wait()
            drain.begin()
            assert drain.active == 1
            others = [
                await client.post(path, json=HELLO),
                await client.get("/ready"),
                await client.get("/health"),
                await client.get("/live"),
                await client.get("/v1/models"),
            ]
            assert not drain.done
            refused.set()
            return await stream, others

    stream, (new, ready, health, live, models) = asyncio.run(scenario())
    assert stream.text.endswith("data: [DONE]\n\n")
    texts = [
        json.loads(line[6:])["choices"][0]["delta"].get("content", "")
        for line in stream.text.split("\n\n")
        if line.startswith("data: {")
    ]
    assert "".join(texts) == "ab"
    assert new.status_code == 503
    assert new.headers["retry-after"] == "1"
    assert new.json()["error"]["code"] == "draining"
    assert (ready.status_code, ready.json()["error"]["code"]) == (503, "draining")
    assert (health.status_code, live.status_code, models.status_code) == (200, 200, 200)
    assert drain.done


def test_ready_tells_for_how_long_prefixes_stay_cached(client: Client) -> None:
    assert CACHED_SECONDS not in client.call("GET", "/ready").headers
    client.engine.cached = 1.5
    assert client.call("GET", "/ready").headers[CACHED_SECONDS] == "1.500"


def test_a_stopped_engine_is_neither_live_nor_ready(client: Client) -> None:
    assert client.call("GET", "/ready").json() == {"status": "ready"}
    client.engine.alive = False
    for path in ("/health", "/live", "/ready"):
        assert client.call("GET", path).status_code == 503


def test_no_error_is_large(client: Client) -> None:
    """However large and long what it complains about."""
    big = "😀" * 200_000
    name = "a" * 100_000
    for answer in (
        client.chat(temperature=big),
        client.chat(**{f"temperatur{name}": 1}),
        client.chat(response_format={"type": big}),
        client.chat(response_format={"type": "json_schema", "json_schema": {"schema": {big: 1}}}),
        client.chat(response_format={"type": "json_schema", "schema": {"type": big}}),
        client.chat(response_format={"type": "regex", "regex": "(" + big}),
        client.chat(response_format={"type": "grammar", "grammar": "start: " + big}),
        client.chat(tools=[{"type": "function", "function": {"name": big}}]),
        client.chat(messages=[{"role": big, "content": "x"}]),
        client.chat(maskwright={name: 1}),
        client.call("GET", "/" + name[:60_000]),
        client.call("POST", "/tokenize", json={"prompt": {name: big}}),
    ):
        assert answer.status_code in (200, 400, 404)
        headers = sum(len(key) + len(value) for key, value in answer.headers.raw)
        assert len(answer.content) < 16_384, answer.text[:200]
        assert headers < 16_384
