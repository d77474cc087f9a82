from __future__ import annotations

import asyncio
import threading
from types import SimpleNamespace
from typing import Any, cast

import pytest

from maskwright.errors import LimitError, SchemaError
from maskwright.limits import Limits
from maskwright.mask import Grammar, compile_json_schema
from maskwright.processes import Build
from maskwright.server.observe.metrics import Metrics
from maskwright.server.recipes import GrammarStore, Recipe
from maskwright.vocab import Vocabulary
from tests.bounds import PATIENCE
from tests.matching import EVERY_BYTE

METRICS = Metrics(cast(Any, None), "none")  # no engine is read before somebody asks for a page


class Compiler:
    """Counts what is compiled; waits for `go` if told to; a text starting with `!` fails."""

    def __init__(self) -> None:
        self.compiled: list[str] = []
        self.go = threading.Event()
        self.go.set()

    def of(self, text: str) -> Recipe:
        return Recipe(text, Build(self._compile, (text,), {}), "response_format")

    def _compile(self, text: str, vocabulary: Vocabulary) -> Grammar:
        assert vocabulary is EVERY_BYTE
        self.compiled.append(text)
        assert self.go.wait(PATIENCE)
        if text.startswith("!"):
            raise SchemaError("no schema", pointer="")
        return cast(Grammar, SimpleNamespace(min_tokens=1, size=100))


def test_the_least_recently_used_goes_first() -> None:
    compiler = Compiler()
    store = GrammarStore(room=200, metrics=METRICS, vocabulary=EVERY_BYTE)

    async def ask(*texts: str) -> None:
        for text in texts:
            await store.get(compiler.of(text))

    asyncio.run(ask("a", "b", "a", "c", "a", "b"))
    assert compiler.compiled == ["a", "b", "c", "b"]


def test_one_grammar_is_kept_however_large() -> None:
    compiler = Compiler()
    store = GrammarStore(room=50, metrics=METRICS, vocabulary=EVERY_BYTE)

    async def ask(*texts: str) -> None:
        for text in texts:
            await store.get(compiler.of(text))

    asyncio.run(ask("a", "a", "b", "b", "a"))
    assert compiler.compiled == ["a", "b", "a"]


def test_identical_requests_share_one_compilation() -> None:
    compiler = Compiler()
    compiler.go.clear()
    store = GrammarStore(room=200, metrics=METRICS, vocabulary=EVERY_BYTE)

    async def ask() -> set[int]:
        asking = [asyncio.create_task(store.get(compiler.of("a"))) for _ in range(10)]
        await asyncio.sleep(0.01)
        compiler.go.set()
        got = await asyncio.gather(*asking)
        assert [source for source, _ in got] == ["compiled", *["shared"] * 9]
        assert (await store.get(compiler.of("a")))[0] == "kept"
        return {id(grammar) for _, grammar in got}

    assert len(asyncio.run(ask())) == 1
    assert compiler.compiled == ["a"]


def test_the_first_to_ask_may_leave() -> None:
    compiler = Compiler()
    compiler.go.clear()
    store = GrammarStore(room=200, metrics=METRICS, vocabulary=EVERY_BYTE)

    async def ask() -> Any:
        first = asyncio.create_task(store.get(compiler.of("a")))
        second = asyncio.create_task(store.get(compiler.of("a")))
        await asyncio.sleep(0.01)
        first.cancel()
        await asyncio.sleep(0)
        compiler.go.set()
        return await second

    assert asyncio.run(ask()) is not None
    assert compiler.compiled == ["a"]


def test_failures_reach_everyone_and_are_not_kept() -> None:
    compiler = Compiler()
    store = GrammarStore(room=200, metrics=METRICS, vocabulary=EVERY_BYTE)

    async def ask() -> list[Any]:
        return await asyncio.gather(
            *(store.get(compiler.of("!")) for _ in range(3)), return_exceptions=True
        )

    assert all(isinstance(outcome, SchemaError) for outcome in asyncio.run(ask()))
    with pytest.raises(SchemaError):
        asyncio.run(store.get(compiler.of("!")))
    assert compiler.compiled == ["!", "!"]


def test_the_event_loop_goes_on_while_compiling() -> None:
    compiler = Compiler()
    compiler.go.clear()
    store = GrammarStore(room=200, metrics=METRICS, vocabulary=EVERY_BYTE)

    async def ask() -> None:
        task = asyncio.create_task(store.get(compiler.of("a")))
        for _ in range(5):
            await asyncio.sleep(0.001)
        assert not task.done()
        compiler.go.set()
        await task

    asyncio.run(ask())


UNIQUE = {"type": "array", "uniqueItems": True, "items": {"type": "integer"}}


def test_a_kept_grammar_serves_more_requests_than_its_limits_hold() -> None:
    """Each item takes a context: that of all requests are ten times what one may take, and one
    request of each round takes too many."""
    build = Build(compile_json_schema, (UNIQUE,), {"limits": Limits(contexts=60)})
    recipe = Recipe("unique", build, "response_format")
    store = GrammarStore(room=1 << 30, metrics=METRICS, vocabulary=EVERY_BYTE)

    def items(request: int, count: int) -> bytes:
        return b"[" + b",".join(b"%d%02d" % (request + 1, at) for at in range(count))

    async def ask(request: int) -> None:
        source, grammar = await store.get(recipe)
        assert source == ("kept" if request else "compiled")
        assert isinstance(grammar, Grammar)
        if request % 10 == 9:
            with pytest.raises(LimitError, match="60 contexts"):
                grammar.matcher().accept_bytes(items(request, 100))
        matcher = grammar.matcher()
        assert matcher.accept_bytes(items(request, 15) + b"]") > 15
        assert matcher.accepting

    async def ask_all() -> None:
        for request in range(60):
            await ask(request)

    asyncio.run(ask_all())
