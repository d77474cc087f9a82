from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable, Sequence

import httpx
import pytest

from maskwright.cli.bulk import run as senders
from maskwright.cli.bulk.run import Sender
from maskwright.cli.bulk.work import ServerAnswer
from maskwright.errors import AddressError, InputError

SAID: list[str] = []
"""What the last sender has said."""
Step = int | Exception | tuple[int, dict[str, str]]


def sent(steps: Sequence[Step], retries: int = 3) -> tuple[ServerAnswer | None, Sender]:
    """The answer of a server that takes these steps in turn."""
    left = list(steps)

    def answer(request: httpx.Request) -> httpx.Response:
        step = left.pop(0)
        if isinstance(step, Exception):
            raise step
        status, headers = step if isinstance(step, tuple) else (step, {})
        return httpx.Response(status, headers=headers, json={"status": status})

    async def run() -> tuple[ServerAnswer | None, Sender]:
        async with httpx.AsyncClient(
            transport=httpx.MockTransport(answer), base_url="http://s"
        ) as client:
            SAID.clear()
            sender = Sender(client, retries=retries, tell=SAID.append)
            found = await sender.send("/v1/x", {})
            assert left == []
            return found, sender

    return asyncio.run(run())


@pytest.fixture(autouse=True)
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that were waited for, which pass at once."""
    found: list[float] = []
    wait: Callable[[int, float], float] = senders._wait  # pyright: ignore[reportPrivateUsage]

    def noted(attempt: int, asked: float) -> float:
        found.append(wait(attempt, asked))
        return 0.0

    monkeypatch.setattr(senders, "_wait", noted)
    return found


def test_a_failure_by_chance_is_sent_again(waits: list[float]) -> None:
    found, sender = sent([500, httpx.ReadError("cut"), (429, {"retry-after": "7"}), 200])
    assert found is not None
    assert (found.status, found.attempts, sender.sent_again) == (200, 4, 3)
    for wait, least in zip(waits, (0.5, 1.0, 7.0), strict=True):
        assert least <= wait <= 1.5 * least


@pytest.mark.parametrize("status", [400, 404, 413, 422])
def test_other_failures_are_answers(status: int) -> None:
    found, _ = sent([status])
    assert found is not None
    assert (found.status, found.body) == (status, {"status": status})


def test_the_last_attempt_is_what_counts() -> None:
    found, _ = sent([500] * 4)
    assert found is not None
    assert (found.status, found.attempts) == (500, 4)
    found, _ = sent([httpx.ReadTimeout("slow")] * 4)
    assert found is None
    with pytest.raises(AddressError, match="no server answers at http://s: gone"):
        sent([httpx.ConnectError("gone")] * 4)
    with pytest.raises(AddressError, match="no more requests"):
        sent([(429, {"retry-after": "Wed, 21 Oct"})] * 4)
    with pytest.raises(InputError, match="refuses all"):
        sent([403])


def caused_by(error: OSError) -> httpx.ConnectError:
    """An error of httpx, as it comes from one of the system."""
    outer = httpx.ConnectError("All connection attempts failed")
    outer.__context__ = OSError("wrapped")
    outer.__context__.__cause__ = error
    return outer


def certificate_error() -> OSError:
    error = ssl.SSLCertVerificationError()
    error.verify_message = "self-signed certificate"
    return error


@pytest.mark.parametrize(
    ("error", "kind", "message"),
    [
        (certificate_error(), InputError, "http://s isn't trusted: self-signed certificate; --ca"),
        (ssl.SSLError("wrong version"), AddressError, "speaks no TLS"),
        (
            socket.gaierror(socket.EAI_NONAME, "Name or service not known"),
            AddressError,
            "no server answers at http://s: Name or service not known",
        ),
    ],
    ids=["certificate", "no TLS", "no such host"],
)
def test_what_asking_again_would_meet_too_is_said_at_once(
    waits: list[float], error: OSError, kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind, match=message):
        sent([caused_by(error)])
    assert waits == []


@pytest.mark.parametrize(
    "error",
    [
        ConnectionRefusedError(111, "Connection refused"),
        socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution"),
    ],
    ids=["refused", "no name server"],
)
def test_a_server_that_may_come_is_asked_again(error: OSError) -> None:
    found, sender = sent([caused_by(error), 200])
    assert found is not None
    assert (found.status, sender.sent_again) == (200, 1)


def test_a_server_that_is_away_is_said_at_once() -> None:
    refused = caused_by(ConnectionRefusedError(111, "Connection refused"))
    with pytest.raises(AddressError, match=r"no server answers at http://s: Connection refused$"):
        sent([refused] * 4)
    assert SAID == [
        "http://s: no server answers (Connection refused); asking again for 3 s or more"
    ]


def test_one_that_comes_back_is_said_too() -> None:
    sent([httpx.ConnectError("gone"), httpx.ConnectError("gone"), 200])
    assert [line.partition(";")[0] for line in SAID] == [
        "http://s: no server answers (gone)",
        "http://s answers again",
    ]


@pytest.mark.parametrize(("failures", "said"), [(2, 0), (3, 2)])
def test_failures_by_chance_are_said_if_there_are_many_in_a_row(failures: int, said: int) -> None:
    """After the server has answered, a failure or two of one request are nothing to speak of."""
    sent([503] * failures + [200])
    assert len(SAID) == said
    assert SAID[:1] == ["http://s: 503; asking again for 1 s or more"][:said]


def test_a_server_with_a_certificate_is_asked_without() -> None:
    with pytest.raises(AddressError, match="its address begins with https://"):
        sent([httpx.RemoteProtocolError("Server disconnected")] * 4)
