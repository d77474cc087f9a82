"""Which settings of the server are accepted."""

from __future__ import annotations

from typing import Any

import pytest

from maskwright.automaton.value.whitespace import WHITESPACE
from maskwright.errors import InputError
from maskwright.server import ServerConfig

NUMBERS = ("body_bytes", "grammar_bytes", "ping_seconds", "reader_seconds")


@pytest.mark.parametrize(
    "settings",
    [
        {},
        *({name: 1} for name in NUMBERS),
        {"request_seconds": 0.5},
        {"request_seconds": float("inf")},
        {"drain_seconds": 0, "keep_alive_seconds": 0},
        {"ping_seconds": 0.01, "reader_seconds": float("inf")},
        *({"whitespace": name} for name in WHITESPACE),
        {"tool_format": None},
        {"tool_format": "hermes"},
    ],
    ids=str,
)
def test_settings(settings: dict[str, Any]) -> None:
    config = ServerConfig(**settings)
    assert {name: getattr(config, name) for name in settings} == settings


@pytest.mark.parametrize(
    ("settings", "param"),
    [
        *(({name: value}, name) for name in NUMBERS for value in (0, -1)),
        *(({"request_seconds": value}, "request_seconds") for value in (0, -1, float("nan"))),
        *((({name: -0.1}, name)) for name in ("drain_seconds", "keep_alive_seconds")),
        ({"whitespace": "wide"}, "whitespace"),
        ({"whitespace": ""}, "whitespace"),
        ({"tool_format": "unknown"}, "tool_format"),
    ],
    ids=str,
)
def test_refusals(settings: dict[str, Any], param: str) -> None:
    with pytest.raises(InputError) as raised:
        ServerConfig(**settings)
    assert raised.value.param == param
