"""Where prompts are read: short ones in the event loop, others in a thread, never two at once."""

from __future__ import annotations

import asyncio
import threading
from typing import Any, cast

import pytest

from maskwright.server.prompts import QUICK_CHARACTERS, QUICK_MESSAGES, PromptReader
from maskwright.server.request.protocol import parse_chat_request
from tests.bounds import PATIENCE
from tests.server.scripted import ScriptedEngine

TOOLS = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]
SCHEMA = {"type": "object", "properties": {"x" * QUICK_CHARACTERS: {}}}


def said(text: str, count: int = 1, **fields: Any) -> dict[str, object]:
    return {"messages": [{"role": "user", "content": text, **fields}] * count}


QUICK: dict[str, dict[str, object]] = {
    "short": said("hello"),
    "just short enough": said("x" * QUICK_CHARACTERS),
    "with a format": {**said("hello"), "response_format": {"type": "json_object"}},
}
LONG: dict[str, dict[str, object]] = {
    "long": said("x" * (QUICK_CHARACTERS + 1)),
    "many messages": said("", QUICK_MESSAGES + 1),
    "a long name": said("hello", name="x" * QUICK_CHARACTERS),
    "variables": {**said("hello"), "chat_template_kwargs": {"x": 1}},
    "tools": {**said("hello"), "tools": TOOLS},
    "a long schema": {
        **said("hello"),
        "response_format": {"type": "json_schema", "json_schema": {"schema": SCHEMA, "name": "s"}},
    },
}


@pytest.fixture
def readers(engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the threads that read prompts, in their order."""
    names: list[str] = []
    read = PromptReader._read  # pyright: ignore[reportPrivateUsage]

    def noting(reader: PromptReader, *given: Any) -> list[list[int]]:
        names.append(threading.current_thread().name)
        return read(reader, *given)

    monkeypatch.setattr(PromptReader, "_read", noting)
    return names


def prompts_of(engine: ScriptedEngine, body: dict[str, object]) -> list[list[int]]:
    reader = PromptReader(cast(Any, engine), logged=False)
    return asyncio.run(reader.read(parse_chat_request(body), None))


@pytest.mark.parametrize("name", QUICK)
def test_short_prompts_are_read_in_the_event_loop(
    engine: ScriptedEngine, readers: list[str], name: str
) -> None:
    [prompt] = prompts_of(engine, QUICK[name])
    assert bytes(prompt).startswith((b"user: hello", b"user: xxx"))
    assert readers == [threading.current_thread().name]


@pytest.mark.parametrize("name", LONG)
def test_other_prompts_are_read_in_a_thread(
    engine: ScriptedEngine, readers: list[str], name: str
) -> None:
    [prompt] = prompts_of(engine, LONG[name])
    assert bytes(prompt).startswith(b"user: ")
    assert len(readers) == 1
    assert readers[0].startswith("render")


def test_a_short_prompt_waits_in_the_thread_for_one_that_is_being_read(
    engine: ScriptedEngine, readers: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """No two prompts are read at once, and the event loop waits for neither."""
    reader = PromptReader(cast(Any, engine), logged=False)
    begun, may_end, at_once, most = threading.Event(), threading.Event(), 0, 0
    render = engine.loaded.render_chat

    def slow(messages: list[dict[str, Any]], **given: Any) -> Any:
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        if len(messages[0]["content"]) > QUICK_CHARACTERS:
            begun.set()
            assert may_end.wait(PATIENCE)
        at_once -= 1
        return render(messages, **given)

    async def run() -> None:
        bodies = (LONG["long"], QUICK["short"])
        long, short = (parse_chat_request(body) for body in bodies)
        first = asyncio.ensure_future(reader.read(long, None))
        await asyncio.to_thread(begun.wait, PATIENCE)
        second = asyncio.ensure_future(reader.read(short, None))
        await asyncio.sleep(0.01)
        assert not second.done()
        may_end.set()
        assert [len((await first)[0]), len((await second)[0])] == [1007, 11]

    monkeypatch.setattr(engine.loaded, "render_chat", slow)
    asyncio.run(run())
    assert most == 1
    assert all(name.startswith("render") for name in readers)
