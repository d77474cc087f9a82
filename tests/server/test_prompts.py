"""Where prompts are read: short ones in the event loop, others in a thread, large ones in another
one, window by window."""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from maskwright.errors import InputError
from maskwright.server import ServerConfig
from maskwright.server.prompts import (
    QUICK_CHARACTERS,
    QUICK_MESSAGES,
    VALUE_SIZE,
    PromptReader,
)
from maskwright.server.request.completion_requests import ChatCompletionRequest
from maskwright.vocab.text_encoder import WINDOW
from tests.bounds import PATIENCE
from tests.server.scripted import Client, ScriptedEngine

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


LARGE: dict[str, dict[str, object]] = {
    "large": said("x" * (WINDOW + 1)),
    "many large messages": said("x" * (WINDOW // 3), 4),
    "large names": said("hello", name="x" * WINDOW),
    "large tools": {
        **said("hello"),
        "tools": [{"type": "function", "function": {"name": "f", "description": "x" * WINDOW}}],
    },
    "many values": {
        **said("hello"),
        "chat_template_kwargs": {"x": [0] * (WINDOW // VALUE_SIZE)},
    },
}


@pytest.fixture
def readers(engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the threads that render chats and cut texts, in their order."""
    names: list[str] = []
    for owner, name in (
        (engine.loaded, "render_chat_texts"),
        (engine.loaded.encoder, "encode"),
    ):
        work = getattr(owner, name)

        def noting(*given: Any, _work: Any = work, **fields: Any) -> Any:
            names.append(threading.current_thread().name)
            return _work(*given, **fields)

        monkeypatch.setattr(owner, name, noting)
    engine.max_context = 100 * WINDOW
    return names


def prompts_of(engine: ScriptedEngine, body: dict[str, object]) -> list[list[int]]:
    reader = PromptReader(cast(Any, engine), logged=False)
    return asyncio.run(reader.read(ChatCompletionRequest.parse(body), None))


def threads(names: list[str]) -> set[str]:
    """Their kinds, without numbers."""
    return {name.rpartition("_")[0] or name for name in names}


@pytest.mark.parametrize("name", QUICK)
def test_short_prompts_are_read_in_the_event_loop(
    engine: ScriptedEngine, readers: list[str], name: str
) -> None:
    [prompt] = prompts_of(engine, QUICK[name])
    assert bytes(prompt).startswith((b"user: hello", b"user: xxx"))
    assert set(readers) == {threading.current_thread().name}


@pytest.mark.parametrize("name", LONG)
def test_longer_prompts_are_read_in_a_thread(
    engine: ScriptedEngine, readers: list[str], name: str
) -> None:
    [prompt] = prompts_of(engine, LONG[name])
    assert bytes(prompt).startswith(b"user: ")
    assert threads(readers) == {"render"}


@pytest.mark.parametrize("name", LARGE)
def test_large_prompts_are_read_in_a_thread_of_their_own(
    engine: ScriptedEngine, readers: list[str], name: str
) -> None:
    [prompt] = prompts_of(engine, LARGE[name])
    assert bytes(prompt).startswith(b"user: ")
    assert threads(readers) == {"render-large"}


def large_prompt(engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch) -> Held:
    """Have each window of a large text wait until it may be cut."""
    held, encode = Held(), engine.loaded.encoder.encode

    def slow(text: str, *, special: bool) -> list[int]:
        if threading.current_thread().name.startswith("render-large"):
            held.begun.set()
            assert held.may_go_on.wait(PATIENCE)
            held.windows += 1
        return encode(text, special=special)

    monkeypatch.setattr(engine.loaded.encoder, "encode", slow)
    engine.max_context = 100 * WINDOW
    return held


@dataclass
class Held:
    begun: threading.Event = field(default_factory=threading.Event)
    may_go_on: threading.Event = field(default_factory=threading.Event)
    windows: int = 0


@pytest.mark.parametrize("small", [QUICK["short"], LONG["long"], LONG["tools"]])
def test_no_prompt_waits_for_a_larger_one(
    engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch, small: dict[str, object]
) -> None:
    held = large_prompt(engine, monkeypatch)
    reader = PromptReader(cast(Any, engine), logged=False)

    async def run() -> None:
        large = ChatCompletionRequest.parse(said("x" * (3 * WINDOW)))
        waiting = [asyncio.ensure_future(reader.read(large, None)) for _ in range(3)]
        await asyncio.to_thread(held.begun.wait, PATIENCE)
        [prompt] = await asyncio.wait_for(
            reader.read(ChatCompletionRequest.parse(small), None), PATIENCE
        )
        assert bytes(prompt).startswith(b"user: ")
        assert not any(task.done() for task in waiting)
        held.may_go_on.set()
        assert [len((await task)[0]) for task in waiting] == [3 * WINDOW + 6] * 3

    asyncio.run(run())


def test_nothing_more_is_cut_once_a_client_has_left(
    engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = large_prompt(engine, monkeypatch)
    reader = PromptReader(cast(Any, engine), logged=False)

    async def run() -> None:
        large = ChatCompletionRequest.parse(said("x" * (50 * WINDOW)))
        task = asyncio.ensure_future(reader.read(large, None))
        await asyncio.to_thread(held.begun.wait, PATIENCE)
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        held.may_go_on.set()
        await reader.read(ChatCompletionRequest.parse(said("x" * (WINDOW + 1))), None)

    asyncio.run(run())
    assert held.windows <= 1 + 2


SHOWN: list[tuple[dict[str, object], str, str]] = [
    # what is beside 5 characters; the field that the error names, and what it says of it
    ({}, "messages", r"at least \d+ tokens;"),
    ({"tools": [{"type": "function", "function": {"name": "f"}}]}, "messages",
     r"at least \d+ tokens;"),
]  # fmt: skip


@pytest.mark.parametrize(("fields", "param", "message"), SHOWN)
def test_no_more_is_cut_than_the_context_holds(
    engine: ScriptedEngine,
    readers: list[str],
    fields: dict[str, object],
    param: str,
    message: str,
) -> None:
    engine.max_context = 2 * WINDOW
    reader = PromptReader(cast(Any, engine), logged=False)
    request = ChatCompletionRequest.parse({**said("x" * (40 * WINDOW)), **fields})
    with pytest.raises(InputError, match=message) as caught:
        asyncio.run(reader.read(request, None))
    assert (caught.value.param, caught.value.code) == (param, "context_length_exceeded")
    assert len(readers) <= 2 * (1 + 2 + 1)


@pytest.mark.parametrize(
    ("kept", "side", "limit", "expected"),
    [
        (5, "left", None, b"xtail"),
        (5, "right", None, b"user:"),
        (10**6, "left", 9, None),
        (-1, "left", 10, b"x" * (2 * WINDOW - 14) + b"tail"),
        (-1, "right", 10, b"user: " + b"x" * (2 * WINDOW - 16)),
    ],
)
def test_of_a_large_prompt_only_a_part_is_kept(
    engine: ScriptedEngine,
    readers: list[str],
    kept: int,
    side: str,
    limit: int | None,
    expected: bytes | None,
) -> None:
    engine.max_context = 2 * WINDOW
    body = said("x" * (5 * WINDOW) + "tail")
    fields = {"truncate_prompt_tokens": kept, "truncation_side": side, "max_tokens": limit}
    if expected is None:
        with pytest.raises(InputError, match="takes"):
            prompts_of(engine, {**body, **fields})
        return
    [prompt] = prompts_of(engine, {**body, **fields})
    assert bytes(prompt) == expected
    assert len(readers) <= (6 if side == "left" else 4) + 1


def variables_of(client: Client, engine: ScriptedEngine, path: str, **fields: Any) -> Any:
    """The variables with which the template has been rendered last."""
    limit = {} if path == "responses" else {"max_tokens": 9}
    asked = {"input": "hello"} if path == "responses" else said("hello")
    body = {**limit, **asked, **fields}
    answered = client.call("POST", f"/v1/{path}", json=body)
    assert answered.status_code == 200, answered.text
    return engine.loaded.rendered.variables


@pytest.mark.parametrize("path", ["chat/completions", "responses", "messages"])
def test_a_request_sets_other_variables_than_the_server(
    client: Client, engine: ScriptedEngine, path: str
) -> None:
    assert variables_of(client, engine, path) == {}
    client.config = ServerConfig(chat_template_kwargs={"enable_thinking": False, "tone": "kind"})
    assert variables_of(client, engine, path) == {"enable_thinking": False, "tone": "kind"}
    for given, merged in (
        ({}, {"enable_thinking": False, "tone": "kind"}),
        ({"enable_thinking": True}, {"enable_thinking": True, "tone": "kind"}),
        ({"tone": None}, {"enable_thinking": False, "tone": None}),
        ({"other": 1}, {"enable_thinking": False, "tone": "kind", "other": 1}),
    ):
        assert variables_of(client, engine, path, chat_template_kwargs=given) == merged
    assert client.config.chat_template_kwargs == {"enable_thinking": False, "tone": "kind"}


def test_effort_that_a_request_asks_for_takes_precedence(
    client: Client, engine: ScriptedEngine
) -> None:
    client.config = ServerConfig(chat_template_kwargs={"enable_thinking": False, "tone": "kind"})
    low = {"enable_thinking": True, "thinking": True, "reasoning_effort": "low", "tone": "kind"}
    assert variables_of(client, engine, "chat/completions", reasoning_effort="low") == low
    assert variables_of(client, engine, "responses", reasoning={"effort": "low"}) == low
    thinks = {"type": "enabled", "budget_tokens": 1024}
    assert variables_of(client, engine, "messages", thinking=thinks) == {
        "enable_thinking": True,
        "thinking": True,
        "tone": "kind",
    }


def test_tokens_are_counted_with_the_variables_of_the_server(
    client: Client, engine: ScriptedEngine
) -> None:
    client.config = ServerConfig(chat_template_kwargs={"tone": "kind"})
    for path, body in (
        ("/v1/messages/count_tokens", said("hello")),
        ("/v1/responses/input_tokens", {"input": "hello"}),
    ):
        engine.loaded.rendered = None
        assert client.call("POST", path, json=body).status_code == 200
        assert engine.loaded.rendered.variables == {"tone": "kind"}


def test_a_server_does_not_start_with_variables_that_its_template_refuses(
    engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, variables: Any, **__: Any) -> Any:
        raise TypeError(f"no {variables}")

    monkeypatch.setattr(engine.loaded, "render_chat_texts", refuse)
    PromptReader(cast(Any, engine), {}, logged=False)
    with pytest.raises(InputError, match="refuses the server's chat_template_kwargs") as caught:
        PromptReader(cast(Any, engine), {"tone": "kind"}, logged=False)
    assert caught.value.param == "chat_template_kwargs"
