from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

import httpx
import pytest

from maskwright.cli.bulk import sender as senders
from maskwright.cli.bulk.sender import Sender
from maskwright.cli.bulk.work import ServerAnswer
from maskwright.errors import AddressError, InputError

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
            sender = Sender(client, retries=retries)
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
