"""An engine that plays a script, and a client in the same process: faults and timing on demand."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

import httpx
import torch
from jinja2 import TemplateError
from starlette.applications import Starlette

from maskwright.engine import (
    Completion,
    Delta,
    EngineConfig,
    FinishReason,
    Request,
    TokenScore,
    Trace,
)
from maskwright.engine.request.trace import Record
from maskwright.engine.stats import Observations
from maskwright.sampling import PromptScores, score_prompt
from maskwright.server import ServerConfig, create_app
from maskwright.vocab import Vocabulary
from maskwright.vocab.least_tokens import LeastTextTokens
from maskwright.vocab.text_encoder import WINDOW

CONTEXT = 1000
VOCABULARY = [*(bytes([byte]) for byte in range(256)), b""]
BYTES = Vocabulary(VOCABULARY, eos=256)
HELLO: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "hello"}]}


@dataclass
class Script:
    """What a generation does: one delta a text, `pause` seconds before each and after what
    `before` waits for, then the end.

    `last` is text that comes with the end, `stop` what ended it. With `spelled`, the tokens of a
    delta are its bytes, and each has a score.
    """

    texts: Sequence[str] = ("Hel", "lo")
    end: str = "stop"
    error: Exception | None = None
    pause: float = 0.0
    before: Callable[[], Awaitable[None]] | None = None
    last: str = ""
    spelled: bool = False
    stop: str | int | None = None


def usage(prompt: int, completion: int) -> dict[str, Any]:
    """The usage of a chat completion without cached tokens."""
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {"cached_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0},
    }


def score(token: int) -> TokenScore:
    """A score that shows which token it is of."""
    raw = -token / 256
    return TokenScore(token, raw, raw, 1.0, raw, 1, 1, (), False, "")


@dataclass
class ScriptedGeneration:
    engine: ScriptedEngine
    script: Script
    seed: int = 0
    trace: Trace | None = None
    listeners: list[Callable[[Trace], None]] = field(default_factory=list)
    output: tuple[int, ...] = ()
    prompt_scores: PromptScores | None = None
    record: Record = field(default_factory=lambda: Record(0.0, prompt=1, seed=0))
    deltas: AsyncIterator[Delta] | None = None
    coming: asyncio.Future[Delta] | None = None

    def cancel(self) -> None:
        self._end("cancelled")
        if self.coming is not None:
            self.coming.cancel()

    def stream(self) -> None:
        self.deltas = aiter(self)

    def waiter(self, notify: Callable[[], None]) -> Callable[[], None]:
        return notify

    def take(self, notify: Callable[[], None]) -> Delta | None:
        assert self.deltas is not None
        if self.coming is None:
            self.coming = asyncio.ensure_future(_next(self.deltas))
        if self.coming.done():
            coming, self.coming = self.coming, None
            delta = coming.result()
            if delta.finish_reason is None:
                asyncio.get_running_loop().call_soon(notify)
            return delta
        self.coming.add_done_callback(lambda _: notify())
        return None

    def when_ended(self, listener: Callable[[Trace], None]) -> None:
        self.listeners.append(listener)
        if self.trace is not None:
            listener(self.trace)

    def _end(self, reason: str) -> None:
        self.engine.running.discard(id(self))
        if self.trace is None:
            record = Record(0.0, prompt=1, seed=self.seed)
            self.trace = record.end(1, FinishReason(reason), 1.0, Observations())
            for listener in self.listeners:
                listener(self.trace)

    async def aresult(self) -> Completion:
        deltas = [delta async for delta in self]
        last = deltas[-1]
        if last.error is not None:
            raise last.error
        assert last.finish_reason is not None
        texts = "".join(delta.text for delta in deltas)
        tokens = tuple(token for delta in deltas for token in delta.token_ids)
        scores = tuple(one for delta in deltas for one in delta.scores)
        return Completion(texts, tokens, last.finish_reason, 0, scores, last.stop)

    async def __aiter__(self) -> AsyncIterator[Delta]:
        for text in self.script.texts:
            await asyncio.sleep(self.script.pause)
            if self.script.before is not None:
                await self.script.before()
            tokens = tuple(text.encode()) if self.script.spelled else (1,)
            scores = tuple(map(score, tokens)) if self.script.spelled else ()
            self.engine.taken += 1
            yield Delta(text, tokens, None, None, scores)
        self._end(self.script.end)
        end, error = FinishReason(self.script.end), self.script.error
        yield Delta(self.script.last, (), end, error, stop=self.script.stop)


async def _next(deltas: AsyncIterator[Delta]) -> Delta:
    return await anext(deltas)


@dataclass
class ScriptedEngine:
    """Stands in for the engine. `requests` is what was submitted, `running` what holds memory;
    `taken` counts deltas that were read. With `scripts`, requests play these in turn."""

    loaded: Any
    script: Script = field(default_factory=Script)
    refuse: Callable[[int], Exception | None] = lambda _: None
    alive: bool = True
    cached: float | None = None
    max_context: int = CONTEXT
    adapters: Any = ()
    config: EngineConfig = field(default_factory=EngineConfig)
    requests: list[Request] = field(default_factory=list)
    running: set[int] = field(default_factory=set)
    taken: int = 0
    scripts: Sequence[Script] = ()

    def cached_seconds(self) -> float | None:
        return self.cached

    def shared_store(self) -> tuple[str, float | None] | None:
        return None

    def submit(self, request: Request) -> ScriptedGeneration:
        refusal = self.refuse(len(self.requests))
        script = self.script
        if self.scripts:
            script = self.scripts[len(self.requests) % len(self.scripts)]
        self.requests.append(request)
        if refusal is not None:
            raise refusal
        generation = ScriptedGeneration(self, script)
        if request.prompt_logprobs is not None and len(request.prompt) > 1:
            following = list(request.prompt[1:])
            logits = torch.zeros(len(following), len(VOCABULARY))
            generation.prompt_scores = score_prompt(logits, following, request.prompt_logprobs)
        self.running.add(id(generation))
        return generation


class ByteEncoder:
    """Cuts texts into bytes."""

    def encode(self, text: str, *, special: bool) -> list[int]:
        return list(text.encode())

    def windows(self, text: str, *, special: bool) -> Iterator[list[int]]:
        for at in range(0, len(text), WINDOW):
            yield self.encode(text[at : at + WINDOW], special=special)


class ByteModel:
    """A model's face as the server sees it: one token a byte, the chat as plain lines."""

    name = "bytes"
    revision = "0"
    chat_template = ""

    def __init__(self) -> None:
        self.vocab = Vocabulary(VOCABULARY, eos=256)
        self.encoder = ByteEncoder()
        self.least_tokens = LeastTextTokens(shrinks=1, longest=1)

    def shown_roles(self) -> frozenset[str]:
        return frozenset({"system", "user", "tool"})

    def render_chat_texts(
        self,
        messages: list[dict[str, Any]],
        *,
        response_schema: str | None = None,
        tools: Any = None,
        **options: Any,
    ) -> Any:
        if any(message["content"] == "a template fails" for message in messages):
            raise TemplateError("roles must alternate")
        lines = [f"{message['role']}: {message['content']}" for message in messages]
        self.rendered = SimpleNamespace(
            messages=messages, response_schema=response_schema, tools=tools, **options
        )
        return ["\n".join(lines)]


@dataclass
class Client:
    """Calls the application in this process."""

    engine: ScriptedEngine
    config: ServerConfig = field(default_factory=ServerConfig)
    _apps: dict[ServerConfig, Starlette] = field(default_factory=dict)

    def call(self, method: str, path: str, **options: Any) -> httpx.Response:
        async def exchange() -> httpx.Response:
            transport = httpx.ASGITransport(self.app())
            async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
                return await client.request(method, path, **options)

        return asyncio.run(exchange())

    def app(self) -> Starlette:
        """The application, one for each configuration."""
        if self.config not in self._apps:
            self._apps[self.config] = create_app(cast(Any, self.engine), self.config)
        return self._apps[self.config]

    def close(self) -> None:
        """End the applications with a folder for batches, which gives the folders up."""

        async def end(app: Starlette) -> None:
            async with app.router.lifespan_context(app):
                pass

        for config, app in self._apps.items():
            if config.batch_folder is not None:
                asyncio.run(end(app))

    def chat(self, **fields: Any) -> httpx.Response:
        return self.call("POST", "/v1/chat/completions", json={**HELLO, **fields})

    def events(self, **fields: Any) -> list[Any]:
        """The events of a streamed answer; `[DONE]` stays text."""
        response = self.chat(stream=True, **fields)
        assert response.status_code == 200, response.text
        assert response.headers["content-type"].startswith("text/event-stream")
        blocks = response.text.split("\n\n")
        assert blocks.pop() == ""
        return [
            line if line == "[DONE]" else json.loads(line)
            for line in (block.removeprefix("data: ") for block in blocks)
        ]
