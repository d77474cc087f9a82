"""Requests of every kind, and the check of their answers by other means than masks.

JSON is checked by the package jsonschema, a pattern by Python's `re`, a grammar by lark's Earley
parser, a choice by looking it up, calls of tools by their names and jsonschema, a tag by the text
between its marks.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any, Final

import jsonschema
import lark

from tests.api.shapes import SHAPES, TEXT, integer, record

Body = dict[str, Any]

CHAT: Final = "/v1/chat/completions"
RESPONSES: Final = "/v1/responses"
COMPLETIONS: Final = "/v1/completions"
PATHS: Final = (CHAT, RESPONSES, COMPLETIONS)

PROMPTS: Final = (
    "Anna Berg, 34, lives in Oslo.",
    "Ines Roth paid for 3 lamps and 2 chairs on 12 May.",
    "What is the weather in Graz for the next 3 days?",
    "Größe: groß, 名前: kenji, order 123456.",
)
PATTERNS: Final = (
    r"[A-Z]{2}-[0-9]{4}",
    r"(0[1-9]|1[0-2])/20[0-9]{2}",
    r"[a-z]{1,8}( [a-z]{1,8}){0,3}\.",
    r"(yes|no)(, (because|although) [a-z ]{1,20})?",
)
GRAMMARS: Final = (
    'start: sum\nsum: num ("+" num)*\nnum: /[0-9]{1,3}/ | "(" sum ")"\n',
    'start: "BEGIN " word (", " word)~0..3 " END"\nword: /[a-z]{1,6}/\n',
    'start: pair+\npair: key "=" value ";"\nkey: /[a-z]{1,4}/\nvalue: /[0-9]{1,4}/ | "none"\n',
)
CHOICES: Final = (["red", "green", "blue"], ["a", "ab", "abc"], ["größe", "名前", "order"])
ARGUMENTS: Final = {
    "get_weather": record({"city": TEXT, "days": integer(1, 14)}),
    "add_item": record({"product": TEXT, "count": integer(1, 99)}, optional=("count",)),
    "stop": record({}),
}
ANSWER: Final = record({"name": TEXT, "warm": {"type": "boolean"}})
TAG: Final = {
    "type": "structural_tag",
    "format": {
        "type": "triggered_tags",
        "triggers": ["<f="],
        "tags": [
            {
                "begin": f"<f={name}>",
                "content": {"type": "json_schema", "json_schema": schema},
                "end": "</f>",
            }
            for name, schema in ARGUMENTS.items()
        ],
        "at_least_one": True,
    },
}
PARSERS: Final = [lark.Lark(grammar, parser="earley") for grammar in GRAMMARS]


@dataclass(frozen=True)
class Answer:
    """What a client has got of one choice: its text, its calls (name, arguments), how it ended."""

    text: str
    calls: list[tuple[str, str]]
    end: str | None


@dataclass(frozen=True)
class MixedCase:
    """A request, and a function that returns what is wrong with its answer, or None."""

    kind: str
    path: str
    body: Body
    fault: Callable[[Answer], str | None]


def json_fault(schema: Body) -> Callable[[Answer], str | None]:
    validator = jsonschema.Draft202012Validator(schema)

    def fault(answer: Answer) -> str | None:
        try:
            errors = [error.message for error in validator.iter_errors(json.loads(answer.text))]
        except ValueError as error:
            return f"no JSON: {error}"
        return errors[0] if errors else None

    return fault


def matched_fault(pattern: str) -> Callable[[Answer], str | None]:
    return lambda answer: None if re.fullmatch(pattern, answer.text) else f"not {pattern}"


def parsed_fault(parser: lark.Lark) -> Callable[[Answer], str | None]:
    def fault(answer: Answer) -> str | None:
        try:
            parser.parse(answer.text)
        except lark.exceptions.LarkError as error:
            return str(error).partition("\n")[0]
        return None

    return fault


def call_fault(name: str, arguments: str) -> str | None:
    if name not in ARGUMENTS:
        return f"no tool {name!r}"
    return json_fault(ARGUMENTS[name])(Answer(arguments, [], None))


def calls_fault(choice: Any) -> Callable[[Answer], str | None]:
    """Calls are valid; under `required` there is one, and a named tool is called exactly once."""

    def fault(answer: Answer) -> str | None:
        names = [name for name, _ in answer.calls]
        if isinstance(choice, str) and choice == "required" and not names:
            return "no call"
        if isinstance(choice, dict) and names != ["add_item"]:
            return f"called {names}"
        return next((wrong for call in answer.calls if (wrong := call_fault(*call))), None)

    return fault


def either_fault(answer: Answer) -> str | None:
    """Beside tools under `auto`, an answer without calls has the shape."""
    return calls_fault("auto")(answer) if answer.calls else json_fault(ANSWER)(answer)


def tag_fault(answer: Answer) -> str | None:
    """Each tag that begins is whole, and its content has its schema; there is one at least."""
    begun = answer.text.count("<f=")
    tags = re.findall(r"<f=(\w+)>(.*?)</f>", answer.text, re.DOTALL)
    if not begun or len(tags) != begun:
        return f"{begun} tags begun, {len(tags)} whole"
    return next((wrong for tag in tags if (wrong := call_fault(*tag))), None)


def no_fault(_: Answer) -> str | None:
    return None


def shaped(path: str, shape: Body) -> Body:
    """A response format (all its fields in one object) in the form that an endpoint has for it."""
    if path == RESPONSES:
        return {"text": {"format": shape}}
    if shape["type"] == "json_schema":
        named = {name: value for name, value in shape.items() if name != "type"}
        return {"response_format": {"type": "json_schema", "json_schema": named}}
    return {"response_format": shape}


def tools(path: str, choice: Any) -> Body:
    functions = [{"name": name, "parameters": schema} for name, schema in ARGUMENTS.items()]
    if isinstance(choice, dict) and path != RESPONSES:
        choice = {"type": "function", "function": choice}
    elif isinstance(choice, dict):
        choice = {"type": "function", **choice}
    if path == RESPONSES:
        listed = [{"type": "function", **function} for function in functions]
    else:
        listed = [{"type": "function", "function": function} for function in functions]
    return {"tools": listed, "tool_choice": choice}


def shape_of(kind: str, draw: Random) -> tuple[Body, Callable[[Answer], str | None]]:
    """A drawn shape of a kind, and the check of its answers."""
    if kind == "schema":
        schema = SHAPES[draw.choice(sorted(SHAPES))]
        return {"type": "json_schema", "name": "answer", "schema": schema}, json_fault(schema)
    if kind == "regex":
        pattern = draw.choice(PATTERNS)
        return {"type": "regex", "regex": pattern}, matched_fault(pattern)
    number = draw.randrange(len(GRAMMARS))
    shape = {"type": "grammar", "syntax": "lark", "grammar": GRAMMARS[number]}
    return shape, parsed_fault(PARSERS[number])


KINDS: Final = ("schema", "schema", "regex", "grammar", "choice", "tools", "union", "tags", "free")


def asked(kind: str, path: str, draw: Random) -> tuple[Body, Callable[[Answer], str | None]]:
    """The fields of a request of a kind, and the check of its answer."""
    if kind in ("schema", "regex", "grammar"):
        shape, fault = shape_of(kind, draw)
        return shaped(path, shape), fault
    if kind == "choice":
        choices = draw.choice(CHOICES)
        pattern = "|".join(map(re.escape, choices))
        return {"structured_outputs": {"choice": choices}}, matched_fault(pattern)
    if kind == "tools":
        choice: Any = draw.choice(["auto", "required", {"name": "add_item"}])
        return tools(path, choice), calls_fault(choice)
    if kind == "union":
        shape = {"type": "json_schema", "name": "answer", "schema": ANSWER}
        return {**tools(path, "auto"), **shaped(path, shape)}, either_fault
    if kind == "tags":
        return shaped(path, TAG), tag_fault
    return {}, no_fault


def mixed_case(seed: int) -> MixedCase:
    """The request of a seed: half of them streamed, a tenth with a budget of 1 to 12 tokens."""
    draw = Random(seed)
    kind = draw.choice(KINDS)
    path = draw.choice(PATHS[:2] if kind in ("tools", "union") else PATHS)
    fields, fault = asked(kind, path, draw)
    prompt = draw.choice(PROMPTS)
    prompts: dict[str, Body] = {
        CHAT: {"messages": [{"role": "user", "content": prompt}]},
        RESPONSES: {"input": prompt},
        COMPLETIONS: {"prompt": prompt},
    }
    budget = draw.randint(1, 12) if draw.random() < 0.1 else draw.choice([120, 200])
    limit = "max_output_tokens" if path == RESPONSES else "max_tokens"
    common = {
        "model": "maskwright-demo",
        "temperature": draw.choice([0, 1, 1.5]),
        "seed": seed,
        "stream": draw.random() < 0.5,
        limit: budget,
    }
    return MixedCase(kind, path, {**common, **prompts[path], **fields}, fault)
