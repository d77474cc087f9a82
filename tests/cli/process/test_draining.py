"""What signals do to the server; `tests/api/test_operations.py` sends them to a real one."""

from __future__ import annotations

import asyncio
import signal
from typing import Any

import pytest
import uvicorn

from maskwright.cli.process.draining import DrainingServer
from maskwright.dist.drain import Drain
from maskwright.errors import InputError
from maskwright.server.exchange import CURRENT, Exchange


async def app(*_: Any) -> None:
    """Answers nothing, because nothing asks."""


def server(drain: Drain, cut: Any = None, reload: Any = None) -> DrainingServer:
    config = uvicorn.Config(app, log_config=None, lifespan="off")
    return DrainingServer(config, drain, cut or (lambda: None), reload)


def test_the_first_sigterm_drains_and_the_second_ends() -> None:
    drain = Drain(100.0)
    with drain.answering():
        made = server(drain)
        made.handle_exit(signal.SIGTERM, None)
        assert drain.begun
        assert not asyncio.run(made.on_tick(1))
        made.handle_exit(signal.SIGTERM, None)
        assert asyncio.run(made.on_tick(2))
    assert not made.force_exit


def test_sigint_ends_without_a_drain() -> None:
    drain = Drain(100.0)
    with drain.answering():
        made = server(drain)
        made.handle_exit(signal.SIGINT, None)
        assert not drain.begun
        assert asyncio.run(made.on_tick(1))


def test_the_server_ends_with_its_last_request() -> None:
    drain = Drain(100.0)
    made = server(drain)
    with drain.answering():
        drain.begin()
        assert not asyncio.run(made.on_tick(1))
    assert asyncio.run(made.on_tick(2))


def test_what_is_late_is_cut_once() -> None:
    now, cuts = 0.0, list[float]()
    drain = Drain(5.0, lambda: now)
    made = server(drain, lambda: cuts.append(now))
    with drain.answering():
        drain.begin()
        now = 4.9
        assert not asyncio.run(made.on_tick(1))
        now = 5.0
        assert asyncio.run(made.on_tick(2))
        assert asyncio.run(made.on_tick(3))
    assert cuts == [5.0]


def test_a_reload_is_no_part_of_the_request_that_it_interrupts() -> None:
    found: list[object] = []
    made = server(Drain(1.0), reload=lambda: found.append(CURRENT.get()))
    exchange = Exchange("req_1")
    token = CURRENT.set(exchange)
    try:
        made.handle_hangup(signal.SIGHUP, None)
        assert CURRENT.get() is exchange
    finally:
        CURRENT.reset(token)
    assert found == [None]


def test_a_reload_that_fails_ends_nothing(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "maskwright")
    calls = list[int]()

    def reload() -> None:
        calls.append(1)
        if len(calls) == 1:
            raise InputError("the file is wrong")

    made = server(Drain(1.0), reload=reload)
    for _ in range(2):
        made.handle_hangup(signal.SIGHUP, None)
    assert [record.message for record in caplog.records] == [
        "nothing was reloaded: the file is wrong",
        "keys and certificate were reloaded",
    ]
    assert not made.should_exit
