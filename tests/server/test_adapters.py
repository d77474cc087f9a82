"""Adapters over HTTP: a request's `model` names one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from maskwright.engine import Engine
from maskwright.errors import InputError
from maskwright.models import load
from maskwright.server import ServerConfig, create_app
from tests.engine.tiny import save_checkpoint
from tests.models.adapters import save_adapter
from tests.server.scripted import Client


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    base: Path = tmp_path_factory.mktemp("adapters")
    tiny = load(save_checkpoint(base / "tiny"))
    for seed, name in enumerate(("short", "org/long")):
        save_adapter(base / name, tiny.decoder.adapter_shapes, ["q_proj", "up_proj"], seed=seed)
    folders = {name: base / name for name in ("short", "org/long")}
    with Engine(tiny, adapters=folders) as engine:
        yield engine


def text(client: Client, model: str | None) -> str:
    body = client.chat(model=model, seed=3, max_tokens=12, temperature=0).json()
    assert body["model"] == (model or "tiny")
    return body["choices"][0]["message"]["content"]


def test_the_model_names_the_adapter(served: Engine) -> None:
    client = Client(served)
    answers = {name: text(client, name) for name in ("tiny", "short", "org/long")}
    assert len(set(answers.values())) == 3
    assert text(client, None) == answers["tiny"]
    assert text(client, "short") == answers["short"]


def test_models_lists_them(served: Engine) -> None:
    client = Client(served)
    cards = {card["id"]: card for card in client.call("GET", "/v1/models").json()["data"]}
    assert list(cards) == ["tiny", "short", "org/long"]
    assert "parent" not in cards["tiny"]
    assert cards["org/long"]["parent"] == "tiny"
    assert client.call("GET", "/v1/models/org/long").json() == cards["org/long"]


def test_no_other_name_is_taken_for_one(served: Engine) -> None:
    """Without adapters any name passes; a name misspelt here would be answered by another model."""
    answer = Client(served).chat(model="shrot")
    assert answer.status_code == 404
    assert answer.json()["error"]["code"] == "model_not_found"
    assert Client(served).call("GET", "/v1/models/shrot").status_code == 404


def test_two_of_one_name_are_refused(served: Engine) -> None:
    with pytest.raises(InputError, match="both named short"):
        create_app(served, ServerConfig(model_name="short"))
