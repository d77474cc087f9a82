"""Many clients at once: different schemas, and clients that leave."""

from __future__ import annotations

import asyncio
import json
from decimal import Decimal
from typing import Any

import httpx
import jsonschema
import openai
import pytest

from tests.api.shapes import SHAPES
from tests.bounds import PATIENCE, wait_until
from tests.live_server import leave_midway
from tests.pages.demo_server import Served

AT_ONCE = 32
ROUNDS = [(0.0, False), (0.0, True), (1.0, False), (1.0, True), (1.5, False), (1.0, False)]


def body(name: str, **fields: Any) -> dict[str, Any]:
    """A request for one of the shapes."""
    return {
        "model": "demo",
        "messages": [{"role": "user", "content": f"Make up something: {name}."}],
        "max_tokens": 80,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": name, "schema": SHAPES[name]},
        },
        **fields,
    }


async def ask(client: openai.AsyncOpenAI, name: str, **fields: Any) -> tuple[str, str]:
    """One answer's text and finish reason, streamed or whole."""
    asked = body(name, **fields)
    if not asked.get("stream"):
        (choice,) = (await client.chat.completions.create(**asked)).choices
        return choice.message.content or "", choice.finish_reason
    text, reason = "", ""
    async for chunk in await client.chat.completions.create(**asked):
        text += chunk.choices[0].delta.content or ""
        reason = chunk.choices[0].finish_reason or reason
    return text, reason


@pytest.mark.parametrize(("temperature", "stream"), ROUNDS)
def test_different_schemas_at_once_are_all_obeyed(
    served: Served, temperature: float, stream: bool
) -> None:
    """All rounds together are more than 200 requests."""
    assert len(SHAPES) >= AT_ONCE
    assert len(SHAPES) * len(ROUNDS) >= 200

    async def ask_all(names: list[str], **own: Any) -> list[tuple[str, str]]:
        fields = {"temperature": temperature, "stream": stream, "seed": 5, **own}
        async with served.async_client() as client:
            return await asyncio.gather(*(ask(client, name, **fields) for name in names))

    answers = dict(zip(SHAPES, asyncio.run(ask_all([*SHAPES])), strict=True))
    shortened = [name for name, (_, reason) in answers.items() if reason == "length"]
    assert 0 < len(shortened) < len(SHAPES) / 2
    kept = {"extra_body": {"maskwright": {"length_if_shortened": False}}}
    for name, (text, reason) in zip(
        shortened, asyncio.run(ask_all(shortened, **kept)), strict=True
    ):
        assert text == answers[name][0]
        answers[name] = text, reason
    for name, (text, reason) in answers.items():
        value = json.loads(text, parse_float=Decimal)  # floats round 1e-330 to an excluded 0
        jsonschema.validate(value, SHAPES[name], cls=jsonschema.Draft202012Validator)
        assert reason == "stop", name
    stats = served.engine.stats()
    assert (stats.running, stats.waiting, stats.blocks_used) == (0, 0, 0)


def test_the_shortest_limit_that_fits_still_gives_whole_json(served: Served) -> None:
    """The refusal says how many tokens are needed, and that many are enough."""
    with httpx.Client(base_url=served.url, timeout=PATIENCE) as client:
        for name in ("person", "order", "tree", "union", "const", "matrix"):
            asked = body(name, temperature=1, max_tokens=1)
            refused = client.post("/v1/chat/completions", json=asked).json()["error"]
            assert refused["code"] == "max_tokens_too_small"
            needed = int(refused["message"].split(" tokens")[0].split()[-1])
            answer = client.post(
                "/v1/chat/completions", json={**asked, "max_tokens": needed}
            ).json()
            text = answer["choices"][0]["message"]["content"]
            jsonschema.validate(json.loads(text), SHAPES[name], cls=jsonschema.Draft202012Validator)
            assert answer["usage"]["completion_tokens"] <= needed


def test_64_clients_that_leave_at_random_moments_leave_no_block_behind(served: Served) -> None:
    names = [*SHAPES, *SHAPES][:64]
    bodies = [
        body(name, stream=number % 2 == 0, temperature=1, n=1 + number % 2)
        for number, name in enumerate(names)
    ]
    # Text without a shape runs to its limit, so some are certainly cut off in the middle.
    for number in range(0, 64, 4):
        del bodies[number]["response_format"]
        bodies[number]["logit_bias"] = {str(token): -100 for token in served.engine.loaded.eos}
        bodies[number]["max_tokens"] = 400
    before = served.engine.stats()
    leave_midway(served.url, bodies, longest=1.0, seed=3)

    def quiet() -> bool:
        stats = served.engine.stats()
        return (stats.running, stats.waiting, stats.blocks_used) == (0, 0, 0)

    wait_until(quiet)
    after = served.engine.stats()
    assert after.blocks_free + after.blocks_cached == after.blocks_total
    assert after.finished.get("cancelled", 0) > before.finished.get("cancelled", 0)
    answer = httpx.post(f"{served.url}/v1/chat/completions", json=body("person"), timeout=PATIENCE)
    assert answer.status_code == 200
