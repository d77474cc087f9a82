"""Streams with a schema whose texts depend on their seeds alone."""

from __future__ import annotations

import json
import threading
from typing import Any

import httpx

from tests.api.shapes import array, record
from tests.bounds import PATIENCE

SCHEMA = record(
    {
        "people": array(
            record({"name": {"type": "string", "maxLength": 20}, "age": {"type": "integer"}}),
            minItems=4,
            maxItems=8,
        )
    }
)


def body_of(seed: int) -> dict[str, Any]:
    """The request with this seed."""
    return {
        "model": "demo",
        "messages": [{"role": "user", "content": f"Anna Berg, {seed}, lives in Oslo."}],
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "people", "schema": SCHEMA},
        },
        "temperature": 1,
        "seed": seed,
        "max_tokens": 400,
        "stream": True,
    }


def text_of(url: str, body: dict[str, Any], begun: threading.Event | None = None) -> str:
    """The text of the stream that `body` asks for, which must end properly. `begun` is set when its
    first text has come."""
    texts: list[str] = []
    with httpx.stream("POST", f"{url}/v1/chat/completions", json=body, timeout=PATIENCE) as answer:
        assert answer.status_code == 200, answer.read()
        last = ""
        for line in answer.iter_lines():
            if not line.startswith("data: "):
                assert not line.startswith(": maskwright"), "a record that reached the client"
                continue
            last = line
            if line == "data: [DONE]":
                continue
            [choice] = json.loads(line.removeprefix("data: "))["choices"]
            texts.append(choice["delta"].get("content", ""))
            if texts[-1] and begun is not None:
                begun.set()
    assert last == "data: [DONE]"
    return "".join(texts)
