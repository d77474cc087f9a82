"""Turns the shape and tools of a request into the recipe of its grammar, and keeps the compiled
grammars of recipes."""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Final

from maskwright.automaton.value.whitespace import WhitespaceName
from maskwright.errors import (
    GrammarError,
    InputError,
    LimitError,
    RegexError,
    SchemaError,
    StructuralTagError,
)
from maskwright.grammar.schema.options import AdditionalProperties, Numbers, UnusableTools
from maskwright.immutable import Immutable
from maskwright.mask import (
    ChoiceResponse,
    CompiledGrammar,
    GrammarResponse,
    JsonResponse,
    RegexResponse,
    TagResponse,
    compile_choice,
    compile_grammar,
    compile_json_schema,
    compile_regex,
    compile_structural_tag,
    compile_tools,
)
from maskwright.processes import Build, GrammarProcesses
from maskwright.server.exchange import GrammarSource
from maskwright.server.observe.metrics import Metrics
from maskwright.server.request.shape import ConstrainedShape, FreeText, Shape
from maskwright.server.request.tool_use import ToolUse
from maskwright.vocab import Vocabulary

FAULTS_OF_SHAPES: Final = (SchemaError, RegexError, GrammarError, StructuralTagError, LimitError)
"""Errors that say what is wrong with a shape."""

# A text that occurs only in templates of one family -> its format; the first match counts.
_SIGNS: Final = (
    ("<｜tool▁call▁begin｜>function", "deepseek_v3"),
    ("<｜tool▁call▁begin｜>", "deepseek_v31"),
    ("<|tool_calls_section_begin|>", "kimi_k2"),
    ("<minimax:tool_call>", "minimax"),
    ("<arg_key>", "glm"),
    ("<function=", "qwen_coder"),
    ("<|channel|>", "harmony"),
    ("[ARGS]", "mistral_v11"),
    ("[TOOL_CALLS]", "mistral"),
    ("<|/tool_call|>", "phi4_mini"),
    ("<|tool_call|>", "granite"),
    ("<tool_call>", "hermes"),
    ("func_name1(params_name1", "llama_pythonic"),
    ("<|python_tag|>", "llama3_json"),
)


class ReasoningSection(Immutable):
    """A reasoning section at the beginning of an answer, between two marks. `begun`: the prompt has
    begun it; otherwise the model may begin one. `tokens`: the most tokens in it. `last`: what
    stands before its end once it has had all of these."""

    marks: tuple[str, str]
    begun: bool
    tokens: int | None = None
    last: str = ""

    @property
    def is_bounded(self) -> bool:
        return self.tokens is not None

    @property
    def options(self) -> dict[str, Any]:
        """Return the arguments of `compile_tools`."""
        return {
            "reasoning": "begun" if self.begun else "optional",
            "reasoning_marks": tuple(self.marks),
            "reasoning_tokens": self.tokens,
            "reasoning_last": self.last,
        }


@dataclass(frozen=True, slots=True)
class Recipe:
    """How to compile a grammar. Equal keys mean equal grammars; each begins with a kind. `build`
    may take long, and can be sent to another process. `place` is the field of the request from
    which the grammar comes."""

    key: str
    build: Build = field(compare=False)
    place: str = field(compare=False)
    beside_tools: bool = False
    """Whether the shape stands beside tools, whose errors name their own place."""
    section: ReasoningSection | None = field(compare=False, default=None)
    """The reasoning section that the grammar has before the answer."""

    @property
    def kind(self) -> str:
        """The kind of shape."""
        return self.key.partition(" ")[0]

    def name_place(self, error: Exception) -> None:
        """Have an error of the grammar, when it is compiled or followed, name the field of the
        request."""
        if not isinstance(error, InputError):
            return
        is_fault = isinstance(error, FAULTS_OF_SHAPES) and not self.beside_tools
        if error.param is None or is_fault:
            error.param = self.place


class Recipes(Immutable):
    """Makes the recipes for one model."""

    whitespace: WhitespaceName
    tool_format: str
    additional_properties: AdditionalProperties = "forbid"
    """Whether objects may have members that their schema doesn't mention."""
    numbers: Numbers = "plain"
    """How numbers are written."""
    unusable_tools: UnusableTools = "refuse"
    """What is done with tools that can't be called because of their schemas."""

    def of(
        self,
        shape: Shape,
        tool_use: ToolUse | None,
        stop: tuple[str, ...] = (),
        section: ReasoningSection | None = None,
    ) -> Recipe | None:
        """Return the recipe of a request; None if the answer is free text. Raises InputError if
        shape and tools can't be combined.

        With tools, the grammar contains the stop strings: they end words, and may occur in
        arguments. `section`: the reasoning section that the answer may have. Free text contains it
        without a grammar, unless its tokens are bounded.
        """
        if section is not None and _has_own_section(shape, section):
            section = None
        if tool_use is not None and tool_use.constrains:
            return self._tools(shape, tool_use, stop, section)
        if section is not None and (section.is_bounded or not isinstance(shape, FreeText)):
            return self._after_section(shape, section)
        return None if isinstance(shape, FreeText) else self._shape(shape)

    def digest(self, recipe: Recipe) -> str:
        """Return a digest of a grammar's source and of how its JSON and its calls are written."""
        source = json.dumps((recipe.key, self.whitespace, self.tool_format))
        return hashlib.blake2b(source.encode(), digest_size=8).hexdigest()

    def _after_section(self, shape: Shape, section: ReasoningSection) -> Recipe:
        """Return the recipe of an answer without tools, after a reasoning section."""
        answer = None if isinstance(shape, FreeText) else shape.response
        options = {"format": "json", "response": answer, **section.options, **self._json_options}
        build = Build(compile_tools, ((), "none"), options)
        kind = "text" if isinstance(shape, FreeText) else self._shape(shape).kind
        key = f"{kind} {self._written} {section} {answer}"
        place = "thinking_token_budget" if isinstance(shape, FreeText) else shape.place
        return Recipe(key, build, place, section=section)

    def _tools(
        self, shape: Shape, use: ToolUse, stop: tuple[str, ...], section: ReasoningSection | None
    ) -> Recipe:
        """Return the recipe of a request with tools. If a call is forced, the shape has no effect;
        otherwise it is the shape of an answer without calls."""
        answer = None if isinstance(shape, FreeText) or use.forced else shape
        if section is not None and answer is None and not use.forced and not section.is_bounded:
            section = None
        build = Build(
            compile_tools,
            (use.tools, use.choice),
            {
                "format": self.tool_format,
                "parallel": use.parallel,
                "stop": stop,
                "response": None if answer is None else answer.response,
                "unusable": self.unusable_tools,
                **({} if section is None else section.options),
                **self._json_options,
            },
        )
        said = "" if answer is None else repr(answer.response)
        written = f"{self._written} {self.unusable_tools}"
        key = f"tools {written} {use.key()} {json.dumps(stop)} {section} {said}"
        place = use.field if answer is None else answer.place
        return Recipe(key, build, place, beside_tools=True, section=section)

    @property
    def _written(self) -> str:
        """The part of a key that says how JSON is written."""
        return f"{self.whitespace} {self.additional_properties} {self.numbers}"

    @property
    def _json_options(self) -> dict[str, Any]:
        """How JSON is written: one spelling of each value."""
        return {
            "whitespace": self.whitespace,
            "integers": "digits",
            "numbers": self.numbers,
            "escapes": "needed",
            "additional_properties": self.additional_properties,
        }

    def _shape(self, shape: ConstrainedShape) -> Recipe:
        match shape.response:
            case JsonResponse(schema=text):
                key = f"json {self._written} {text}"
                build = Build(compile_json_schema, (text,), self._json_options)
            case RegexResponse(pattern=pattern):
                key, build = f"regex {pattern}", Build(compile_regex, (pattern,), {})
            case ChoiceResponse(strings=strings):
                key, build = f"choice {json.dumps(strings)}", Build(compile_choice, (strings,), {})
            case GrammarResponse(grammar=text, dialect=dialect):
                syntax = dialect or "auto"
                key = f"{syntax} {text}"
                build = Build(compile_grammar, (text,), {"dialect": syntax})
            case TagResponse(tag=text):
                key = f"tag {self._written} {text}"
                build = Build(compile_structural_tag, (text,), self._json_options)
        return Recipe(key, build, shape.place)


def _has_own_section(shape: Shape, section: ReasoningSection) -> bool:
    """Whether a shape itself says where reasoning stands: a structural tag, or a grammar or pattern
    in which a mark occurs."""
    match None if isinstance(shape, FreeText) else shape.response:
        case TagResponse():
            return True
        case GrammarResponse(grammar=text) | RegexResponse(pattern=text):
            return any(mark in text for mark in section.marks)
        case _:
            return False


def tool_format_of(chat_template: str) -> str:
    """Return the format whose marks occur in the template, or `json` if none do."""
    return next((name for sign, name in _SIGNS if sign in chat_template), "json")


class GrammarStore:
    """The most recently used grammars, up to `room` bytes (see `Grammar.size`) and at least one.

    Requests that need one recipe at the same time share one compilation, which continues if the
    client that began it disconnects. Errors aren't kept. To be used from one event loop.
    """

    def __init__(
        self,
        room: int,
        metrics: Metrics,
        vocabulary: Vocabulary,
        processes: GrammarProcesses | None = None,
    ) -> None:
        """`processes` compile the grammars and answer for them; without, they are compiled in a
        thread of this process."""
        self._room = room
        self._vocabulary = vocabulary
        self._processes = processes
        self._metrics = metrics
        self._ready: OrderedDict[str, CompiledGrammar] = OrderedDict()
        self._pending: dict[str, asyncio.Task[CompiledGrammar]] = {}
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="compile")

    async def get(self, recipe: Recipe) -> tuple[GrammarSource, CompiledGrammar]:
        """Return the grammar and where it came from. Raises the InputError of the compilation."""
        grammar = self._ready.get(recipe.key)
        if grammar is not None:
            self._ready.move_to_end(recipe.key)
            self._metrics.got_grammar("kept")
            return "kept", grammar
        task = self._pending.get(recipe.key)
        source: GrammarSource = "shared"
        if task is None:
            source = "compiled"
            task = asyncio.create_task(self._compile_and_keep(recipe))
            task.add_done_callback(_mark_retrieved)
            self._pending[recipe.key] = task
        grammar = await asyncio.shield(task)
        self._metrics.got_grammar(source)
        return source, grammar

    async def _compile_and_keep(self, recipe: Recipe) -> CompiledGrammar:
        begin, failed = time.perf_counter(), True
        try:
            if self._processes is not None:
                grammar = await asyncio.wrap_future(self._processes.compile(recipe.build))
            else:
                loop = asyncio.get_running_loop()
                grammar = await loop.run_in_executor(self._thread, self._built, recipe.build)
            failed = False
        except Exception as error:
            recipe.name_place(error)
            raise
        finally:
            self._metrics.compiled(time.perf_counter() - begin, failed=failed)
            del self._pending[recipe.key]
        self._ready[recipe.key] = grammar
        self._make_room()
        return grammar

    def _built(self, build: Build) -> CompiledGrammar:
        grammar = build(self._vocabulary)
        _ = grammar.min_tokens  # counted here, and not on the event loop
        return grammar

    def _make_room(self) -> None:
        """Drop the least recently used grammars until the others fit. Grammars grow while they are
        used, so all sizes are measured anew. Requests keep the grammars that they use."""
        held = sum(grammar.size for grammar in self._ready.values())
        while held > self._room and len(self._ready) > 1:
            _, oldest = self._ready.popitem(last=False)
            held -= oldest.size


def _mark_retrieved(task: asyncio.Task[CompiledGrammar]) -> None:
    """Mark the error of a task as handled, because no request may be left that waits for it."""
    if not task.cancelled():
        task.exception()
