"""The server over an engine that plays a script."""

from __future__ import annotations

import pytest

from tests.server.scripted import ByteModel, Client, ScriptedEngine


@pytest.fixture
def engine() -> ScriptedEngine:
    return ScriptedEngine(ByteModel())


@pytest.fixture
def client(engine: ScriptedEngine) -> Client:
    return Client(engine)
