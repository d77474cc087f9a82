"""What a client sees of a server, and how its requests end."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from maskwright.cli.bench.client import Cell, Outcome, offer
from maskwright.cli.options import ServerAccess
from maskwright.cli.process.reaching import client_arguments
from maskwright.errors import OverloadedError
from maskwright.server import create_app
from tests.bounds import PATIENCE
from tests.live_server import live_server
from tests.server.scripted import ByteModel, Script, ScriptedEngine

CELL = Cell(4, 8, "", 0.0, "none")


def ask(url: str, cells: list[Cell], drain: float = PATIENCE) -> list[Outcome]:
    load = [(0.0, cell) for cell in cells]
    return asyncio.run(offer(url, load, drain, 1, client_arguments(ServerAccess())))


def scripted(script: Script, refuse: Any = lambda _: None) -> Any:
    engine = ScriptedEngine(cast(Any, ByteModel()), script, refuse)
    return live_server(create_app(cast(Any, engine)))


def test_what_a_client_sees() -> None:
    with scripted(Script(["a", "b", "c"], pause=0.05)) as url:
        good, wrong = ask(url, [CELL, Cell(4, 8, "", 0.0, "regex")])
        assert (good.end, good.valid, len(good.gaps)) == ("answered", True, 2)
        assert (wrong.end, wrong.valid) == ("answered", False)
        assert cast(float, good.ttft) > 0.049
        assert cast(float, good.seconds) > 0.149
        assert cast(float, good.ttft) + sum(good.gaps) == pytest.approx(good.seconds)
        assert ask(url, [Cell(4, 8, "bulk", 0.0, "none")])[0].reason.startswith("400 ")
    with scripted(Script(), lambda _: OverloadedError("full", retry_after=1.2)) as url:
        (refused,) = ask(url, [CELL])
        assert (refused.end, refused.retry_after) == ("refused", 2.0)
    with scripted(Script(["a"] * 9, pause=1.0)) as url:
        assert ask(url, [CELL], drain=0.2)[0].end == "unfinished"
    assert ask("http://127.0.0.1:9", [CELL])[0].end == "failed"
