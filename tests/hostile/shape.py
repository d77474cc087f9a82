"""A hostile shape: what a request asks for, and what may come of it."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias

Json: TypeAlias = Any

READY: Final = "ready"
"""The outcome of a request that got a whole answer; other outcomes are codes of errors."""
LIMIT: Final = "limit_exceeded"
ALWAYS: Final = frozenset({READY})
BOUNDED: Final = frozenset({READY, LIMIT})
"""What may come of most shapes: an answer, or a refusal that names the limit."""
MAX_TOKENS: Final = 256


@dataclass(frozen=True)
class HostileShape:
    """A shape that is expensive, large or odd, as fields of a request.

    `outcomes` are the outcomes that are right. `answer` is a pattern (syntax of the package
    `regex`) that a whole answer matches, for shapes that `tests.hostile.answers` can't check by a
    schema or by the pattern that was asked for.
    """

    name: str
    subject: str
    fields: Mapping[str, Json]
    outcomes: frozenset[str] = BOUNDED
    answer: str | None = None
    max_tokens: int | None = MAX_TOKENS
    stream: bool = False
    options: Mapping[str, Json] = field(default_factory=dict[str, Json])

    @property
    def body(self) -> dict[str, Json]:
        """The whole request. Its seed depends on the name alone."""
        limit = {} if self.max_tokens is None else {"max_tokens": self.max_tokens}
        return {
            "model": "demo",
            "messages": [{"role": "user", "content": "Make something up."}],
            "temperature": 1,
            "seed": zlib.crc32(self.name.encode()),
            "stream": self.stream,
            **limit,
            **self.options,
            **self.fields,
        }

    @property
    def schema(self) -> Json:
        """The JSON Schema that the whole answer satisfies; None if it need not be JSON."""
        asked = self.fields.get("response_format", {})
        if asked.get("type") == "structural_tag":
            asked = asked["format"]
            return asked["json_schema"] if asked.get("type") == "json_schema" else None
        return asked["json_schema"]["schema"] if asked.get("type") == "json_schema" else None

    @property
    def pattern(self) -> str | None:
        """The pattern that the whole answer matches, where one was asked for."""
        asked = self.fields.get("response_format", {})
        return asked["regex"] if asked.get("type") == "regex" else None

    @property
    def functions(self) -> dict[str, Json]:
        """The schema of each function that may be called, by its name."""
        return {
            tool["function"]["name"]: tool["function"].get("parameters", {})
            for tool in self.fields.get("tools", ())
        }

    def streamed(self) -> HostileShape:
        """The same shape, whose answer is sent in pieces."""
        return replace(self, name=f"{self.name}, streamed", stream=True)


@dataclass(frozen=True)
class Subject:
    """Makes the shapes of one subject."""

    name: str

    def schema(self, name: str, schema: Json, **more: Any) -> HostileShape:
        """An answer that is an instance of a JSON Schema."""
        asked = {"type": "json_schema", "json_schema": {"name": "asked", "schema": schema}}
        return HostileShape(name, self.name, {"response_format": asked}, **more)

    def string(self, name: str, pattern: str, **more: Any) -> HostileShape:
        """A JSON string that `pattern` (unanchored, ECMA-262) is found in."""
        return self.schema(name, {"type": "string", "pattern": pattern}, **more)

    def regex(self, name: str, pattern: str, **more: Any) -> HostileShape:
        """A text that `pattern` matches from its first to its last character."""
        asked = {"type": "regex", "regex": pattern}
        return HostileShape(name, self.name, {"response_format": asked}, **more)

    def grammar(
        self, name: str, text: str, answer: str, syntax: str = "lark", **more: Any
    ) -> HostileShape:
        """A text of a grammar, all of which match `answer`."""
        asked = {"type": "grammar", "grammar": text, "syntax": syntax}
        return HostileShape(name, self.name, {"response_format": asked}, answer=answer, **more)

    def tag(self, name: str, format: Json, answer: str, **more: Any) -> HostileShape:
        """A text of a structural tag, all of which match `answer`."""
        asked = {"type": "structural_tag", "format": format}
        return HostileShape(name, self.name, {"response_format": asked}, answer=answer, **more)

    def hidden(self, name: str, schema: Json, **more: Any) -> HostileShape:
        """An instance of a schema that is too long for the prompt, in which a structural tag is
        not repeated."""
        format = {"type": "json_schema", "json_schema": schema}
        return self.tag(name, format, r"(?s).+", **more)

    def tools(
        self, name: str, parameters: Sequence[Json], choice: Json = "required", **more: Any
    ) -> HostileShape:
        """Calls of functions with these schemas of their arguments."""
        functions = [
            {"type": "function", "function": {"name": f"call_{at}", "parameters": schema}}
            for at, schema in enumerate(parameters)
        ]
        fields = {"tools": functions, "tool_choice": choice, "parallel_tool_calls": False}
        return HostileShape(name, self.name, fields, **more)


def array(items: Json, **more: Json) -> Json:
    """A schema of arrays."""
    return {"type": "array", "items": items, **more}


def closed(properties: Mapping[str, Json], required: Sequence[str] | None = None) -> Json:
    """A schema of objects that have these properties alone, all required unless listed."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties) if required is None else list(required),
        "additionalProperties": False,
    }
