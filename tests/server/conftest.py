"""The server over an engine that plays a script; and a small real model."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from maskwright.models import LoadedModel, load
from tests.engine.tiny import save_checkpoint
from tests.server.scripted import ByteModel, Client, ScriptedEngine


@pytest.fixture
def engine() -> ScriptedEngine:
    return ScriptedEngine(ByteModel())


@pytest.fixture
def client(engine: ScriptedEngine) -> Iterator[Client]:
    client = Client(engine)
    yield client
    client.close()


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    return load(save_checkpoint(tmp_path_factory.mktemp("checkpoint") / "tiny"))
