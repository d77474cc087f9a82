"""The running server: keys, limits, TLS, pages of other origins, and how it ends."""

from __future__ import annotations

import json
import signal
import ssl
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest

from maskwright.server.access import digest_of
from tests.api.served_process import ServedProcess, served_process
from tests.bounds import PATIENCE, wait_until

CHAT: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "hello"}]}
LONG: dict[str, Any] = {**CHAT, "max_tokens": 1800, "n": 4, "ignore_eos": True, "stream": True}
"""Four answers that take seconds, of a known number of tokens."""


def entry(name: str, *more: str) -> str:
    return "\n".join(["[[key]]", f'name = "{name}"', f'sha256 = "{digest_of(name)}"', *more, ""])


@pytest.fixture(scope="module")
def keyed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[ServedProcess, Path]]:
    """A server whose clients' keys are their names, and the file of keys."""
    file = tmp_path_factory.mktemp("keys") / "keys.toml"
    file.write_text(
        entry("alice")
        + entry("bob", "requests_per_minute = 12", 'classes = ["batch"]')
        + entry("carol", "tokens_per_minute = 100")
    )
    options = ("--api-keys", str(file), "--cors-origin", "https://app.example")
    with served_process(*options, "--body-bytes", "2000", MASKWRIGHT_API_KEY="single") as server:
        yield server, file


def client(server: ServedProcess, key: str) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{server.url}/v1", api_key=key, max_retries=0, timeout=PATIENCE)


def test_the_official_client_is_told_what_is_wrong_with_its_key(
    keyed: tuple[ServedProcess, Path],
) -> None:
    server, _ = keyed
    for key in ("alice", "single"):
        assert client(server, key).chat.completions.create(**CHAT, max_tokens=2).usage
    with pytest.raises(openai.AuthenticationError) as refused:
        client(server, "mallory").chat.completions.create(**CHAT)
    assert refused.value.code == "invalid_api_key"
    assert refused.value.request_id


def ask_often(client: openai.OpenAI, times: int) -> None:
    for _ in range(times):
        client.chat.completions.create(**CHAT, max_tokens=1)


def test_the_official_client_comes_back_when_it_was_told_to(
    keyed: tuple[ServedProcess, Path],
) -> None:
    server, _ = keyed
    with client(server, "bob") as bob:
        raw = bob.chat.completions.with_raw_response.create(**CHAT, max_tokens=1)
        assert raw.headers["x-ratelimit-limit-requests"] == "12"
        # A slow machine may give the key some requests back meanwhile.
        with pytest.raises(openai.RateLimitError) as refused:
            ask_often(bob, 24)
        seconds = int(refused.value.response.headers["retry-after"])
        assert 1 <= seconds <= 5
        began = time.monotonic()
        again = bob.with_options(max_retries=2).chat.completions.create(**CHAT, max_tokens=1)
        assert again.usage
        assert time.monotonic() - began >= 0.5 * seconds
    answer = httpx.get(f"{server.url}/metrics", headers={"Authorization": "Bearer alice"})
    refusals = 'maskwright_key_refusals_total{key="bob",limit="requests_per_minute"}'
    (line,) = (line for line in answer.text.splitlines() if line.startswith(refusals))
    assert float(line.split()[-1]) >= 1


def test_tokens_of_answers_are_charged_streamed_or_whole(
    keyed: tuple[ServedProcess, Path],
) -> None:
    server, _ = keyed
    with client(server, "carol") as carol:
        first = carol.chat.completions.with_raw_response.create(**CHAT, max_tokens=1)
        usage = first.parse().usage
        assert usage is not None
        stream = carol.chat.completions.create(**CHAT, max_tokens=150, stream=True,
                                               extra_body={"ignore_eos": True})  # fmt: skip
        for _ in stream:
            pass
        with pytest.raises(openai.RateLimitError) as refused:
            carol.chat.completions.create(**CHAT, max_tokens=1)
        used = 2 * usage.prompt_tokens + 1 + 150
        expected = (used - 99) * 60 / 100
        seconds = int(refused.value.response.headers["retry-after"])
        assert expected - 10 <= seconds <= expected + 1


def test_probes_need_no_key_and_metrics_do(keyed: tuple[ServedProcess, Path]) -> None:
    server, _ = keyed
    for path in ("/health", "/live", "/ready", "/ping"):
        assert httpx.get(server.url + path).status_code == 200
    for path in ("/metrics", "/load", "/version", "/v1/models"):
        assert httpx.get(server.url + path).status_code == 401
        assert httpx.get(server.url + path, auth=bearer("alice")).status_code == 200


def bearer(key: str) -> Any:
    def add(request: httpx.Request) -> httpx.Request:
        request.headers["Authorization"] = f"Bearer {key}"
        return request

    return add


def test_a_large_body_is_refused_before_it_is_read(keyed: tuple[ServedProcess, Path]) -> None:
    server, _ = keyed
    answer = httpx.post(
        f"{server.url}/v1/chat/completions",
        json={**CHAT, "metadata": {"x": "y" * 3000}},
        auth=bearer("alice"),
        headers={"Origin": "https://app.example"},
    )
    assert answer.status_code == 413
    assert answer.json()["error"]["code"] == "body_too_large"
    assert answer.headers["access-control-allow-origin"] == "https://app.example"


def test_changed_keys_are_taken_up_on_hangup(keyed: tuple[ServedProcess, Path]) -> None:
    server, file = keyed
    whole = file.read_text()

    def status(key: str) -> int:
        return httpx.get(f"{server.url}/v1/models", auth=bearer(key)).status_code

    assert status("dave") == 401
    file.write_text(whole + entry("dave"))
    server.process.send_signal(signal.SIGHUP)
    wait_until(lambda: status("dave") == 200)
    file.write_text("[[key]]")  # a mistake changes nothing
    server.process.send_signal(signal.SIGHUP)
    wait_until(lambda: "nothing was reloaded" in server.logged())
    assert status("dave") == 200
    file.write_text(whole)
    server.process.send_signal(signal.SIGHUP)
    wait_until(lambda: status("dave") == 401)
    assert status("single") == 200


def streamed(url: str, body: dict[str, Any], begun: threading.Event, lines: list[str]) -> None:
    """Put each line of a streamed answer into `lines`, and set `begun` at the first."""
    with httpx.stream("POST", f"{url}/v1/chat/completions", json=body, timeout=PATIENCE) as answer:
        for line in answer.iter_lines():
            lines.append(line)
            begun.set()


def test_a_stream_finishes_while_the_server_drains() -> None:
    with served_process("--drain-seconds", "120") as server:
        begun, lines = threading.Event(), list[str]()
        reader = threading.Thread(target=streamed, args=(server.url, LONG, begun, lines))
        with httpx.Client() as kept:  # a connection that is there before the signal
            assert kept.get(f"{server.url}/ready").status_code == 200
            reader.start()
            assert begun.wait(PATIENCE)
            server.process.send_signal(signal.SIGTERM)
            wait_until(lambda: kept.get(f"{server.url}/ready").status_code == 503)
            refused = kept.post(f"{server.url}/v1/chat/completions", json=CHAT)
            other = httpx.post(f"{server.url}/v1/chat/completions", json=CHAT)
            alive = httpx.get(f"{server.url}/health")
        assert reader.is_alive(), "the stream ended before anything was asked"
        reader.join(PATIENCE)
        assert server.process.wait(PATIENCE) == 0
        logged = server.logged()
    for answer in (refused, other):
        assert answer.status_code == 503
        assert answer.headers["retry-after"] == "1"
        assert answer.json()["error"]["code"] == "draining"
    assert alive.status_code == 200
    assert lines[-2:] == ["data: [DONE]", ""]
    finished = [line for line in lines if '"finish_reason":"length"' in line]
    assert len(finished) == 4
    assert "draining: 1 requests" in logged


def test_a_drain_ends_when_its_time_is_over() -> None:
    """What is still under way then gets an error, and the process ends all the same."""
    body = {**LONG, "max_tokens": 4000}
    with served_process("--drain-seconds", "0.3") as server:
        begun, lines = threading.Event(), list[str]()
        reader = threading.Thread(target=streamed, args=(server.url, body, begun, lines))
        reader.start()
        assert begun.wait(PATIENCE)
        began = time.monotonic()
        assert server.end(signal.SIGTERM) == 0
        assert time.monotonic() - began < 30
        reader.join(PATIENCE)
    last = [line for line in lines if line][-1]
    assert json.loads(last.removeprefix("data: "))["error"]["code"] == "engine_stopped"


def test_the_server_speaks_tls_and_ends_at_once_when_idle(certificate: tuple[Path, Path]) -> None:
    made, key = certificate
    options = ("--tls-certificate", str(made), "--tls-key", str(key), "--drain-seconds", "500")
    with served_process(*options) as server:
        assert server.url.startswith("https://127.0.0.1:")
        trusting = ssl.create_default_context(cafile=str(made))
        with httpx.Client(verify=trusting, timeout=PATIENCE) as known:
            answer = known.post(f"{server.url}/v1/chat/completions", json={**CHAT, "max_tokens": 3})
            assert answer.status_code == 200
            with known.stream(
                "POST", f"{server.url}/v1/chat/completions", json={**LONG, "max_tokens": 5}
            ) as stream:
                assert list(stream.iter_lines())[-2] == "data: [DONE]"
        with pytest.raises(httpx.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
            httpx.get(f"{server.url}/health")
        with pytest.raises(httpx.TransportError):
            httpx.get(server.url.replace("https", "http") + "/health")
        assert server.end(signal.SIGTERM) == 0
