"""Reading a structural tag: from JSON to the closed tree of `grammar.structural_tag`.

Two spellings are read: formats (`{"type": "structural_tag", "format": {…}}`, as xgrammar, vLLM and
SGLang take them) and the older list of structures with triggers (`{"structures": [{"begin":
…, "schema": …, "end": …}], "triggers": […]}`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast, get_args

from maskwright.errors import StructuralTagError
from maskwright.grammar.schema import Json
from maskwright.grammar.structural_tag import (
    AnyText,
    AnyTokens,
    ConstString,
    Format,
    GrammarText,
    JsonSchemaText,
    Or,
    RegexText,
    Repeated,
    SeparatedTags,
    Sequence,
    Style,
    Tag,
    Token,
    TriggeredTags,
)

MOST_DEPTH = 64
"""Formats within formats."""

MOST_REPEATS = 100_000


def parse_tag(source: Json) -> Format:
    """Read a structural tag (a dict, or JSON text).

    Raises `StructuralTagError` with the JSON Pointer of the first fault.
    """
    if isinstance(source, str):
        try:
            source = json.loads(source)
        except (ValueError, RecursionError) as error:
            raise StructuralTagError(f"not JSON: {error}", pointer="") from None
    node = _Node(source, "")
    if node.has("structures"):
        node.only("type", "structures", "triggers")
        return _legacy(node)
    if node.string("type", "structural_tag") != "structural_tag":
        raise StructuralTagError("type must be 'structural_tag'", pointer="/type")
    node.only("type", "format")
    return _format(node.child("format"))


def _legacy(node: _Node) -> Format:
    tags: list[Tag] = []
    for item in node.children("structures"):
        item.only("begin", "schema", "end")
        content = JsonSchemaText(_schema(item.read("schema"), "schema"), f"{item.pointer}/schema")
        tags.append(Tag(item.string("begin"), content, (item.string("end"),), item.pointer))
    triggers = node.strings("triggers")
    return _checked(TriggeredTags(triggers, tuple(tags), False, False, ()), node)


def _format(node: _Node) -> Format:
    if node.depth > MOST_DEPTH:
        raise StructuralTagError(f"formats nest deeper than {MOST_DEPTH}", pointer=node.pointer)
    kind = node.string("type")
    match kind:
        case "const_string":
            node.only("type", "value")
            return ConstString(node.string("value"))
        case "json_schema":
            names = ("style", "any_order", "max_whitespace_cnt", "excludes")
            node.only("type", "json_schema", *names)
            return _json_schema(node)
        case "qwen_xml_parameter":
            node.only("type", "json_schema")
            schema = _schema(node, "json_schema")
            return JsonSchemaText(schema, f"{node.pointer}/json_schema", "qwen_xml")
        case "any_text":
            node.only("type", "excludes", "max_chars", "max_tokens")
            bounds = node.count("max_chars"), node.count("max_tokens")
            return AnyText(_some(node, "excludes"), *bounds, node.pointer)
        case "any_tokens":
            node.only("type", "exclude_tokens", "max_tokens")
            excludes = node.tokens("exclude_tokens")
            return AnyTokens(excludes, node.count("max_tokens"), node.pointer)
        case "exclude_token":
            raise StructuralTagError(
                "one token that is not among some could be a text of any length; use any_tokens, "
                "or token for one that is known",
                pointer=f"{node.pointer}/type",
            )
        case "regex":
            node.only("type", "pattern")
            return RegexText(node.string("pattern"), f"{node.pointer}/pattern")
        case "grammar":
            node.only("type", "grammar")
            return GrammarText(node.string("grammar"), f"{node.pointer}/grammar")
        case "token":
            node.only("type", "token")
            return Token(node.token("token"), f"{node.pointer}/token")
        case "sequence":
            node.only("type", "elements")
            return Sequence(tuple(map(_format, node.children("elements"))))
        case "or":
            node.only("type", "elements")
            return Or(tuple(map(_format, node.some_children("elements"))))
        case "optional":
            node.only("type", "content")
            return Repeated(_format(node.child("content")), 0, 1)
        case "star":
            node.only("type", "content")
            return Repeated(_format(node.child("content")), 0, None)
        case "plus":
            node.only("type", "content")
            return Repeated(_format(node.child("content")), 1, None)
        case "repeat":
            node.only("type", "content", "min", "max")
            return _repeat(node)
        case "tag":
            return _tag(node)
        case "triggered_tags" | "token_triggered_tags":
            return _triggered(node, kind)
        case "dispatch" | "token_dispatch":
            return _dispatch(node, kind)
        case "tags_with_separator":
            node.only("type", "tags", "separator", "at_least_one", "stop_after_first")
            return SeparatedTags(
                tuple(map(_tag, node.some_children("tags"))),
                node.string("separator"),
                node.flag("at_least_one"),
                node.flag("stop_after_first"),
            )
        case _:
            raise StructuralTagError(
                f"unknown format {kind!r}; known are {', '.join(KINDS)}",
                pointer=f"{node.pointer}/type",
            )


KINDS = (
    *("const_string", "json_schema", "qwen_xml_parameter", "regex", "grammar"),
    *("any_text", "any_tokens", "token"),
    *("sequence", "or", "optional", "star", "plus", "repeat"),
    *("tag", "triggered_tags", "token_triggered_tags", "tags_with_separator"),
    *("dispatch", "token_dispatch"),
)


def _json_schema(node: _Node) -> JsonSchemaText:
    schema, pointer = _schema(node, "json_schema"), f"{node.pointer}/json_schema"
    style = node.string("style", "json")
    if style not in get_args(Style):
        known = ", ".join(get_args(Style))
        raise StructuralTagError(
            f"style {style!r} is not supported; use one of {known}",
            pointer=f"{node.pointer}/style",
        )
    if node.fields.get("excludes"):
        raise StructuralTagError(
            "strings can't be excluded from a whole JSON value; write a pattern into the schema",
            pointer=f"{node.pointer}/excludes",
        )
    any_order = node.flag("any_order") if node.has("any_order") else None
    if any_order and style != "json":
        raise StructuralTagError(
            "members between marks follow the order of the schema; leave any_order out",
            pointer=f"{node.pointer}/any_order",
        )
    spaces = node.count("max_whitespace_cnt")
    if spaces or (spaces == 0 and style != "json"):
        raise StructuralTagError(
            "max_whitespace_cnt can only be 0, for JSON without any whitespace; else leave it out, "
            "whitespace is always bounded",
            pointer=f"{node.pointer}/max_whitespace_cnt",
        )
    return JsonSchemaText(schema, pointer, cast(Style, style), any_order, spaces == 0)


def _schema(node: _Node, name: str) -> Json:
    value = node.get(name)
    if isinstance(value, dict | bool):
        return cast(Json, value)
    raise node.wrong(name, "a JSON Schema (an object, true or false)")


def _repeat(node: _Node) -> Repeated:
    unbounded = node.fields.get("max") == -1
    least, most = node.count("min") or 0, None if unbounded else node.count("max")
    if most is not None and most < least:
        raise StructuralTagError("max is less than min", pointer=f"{node.pointer}/max")
    if max(least, most or 0) > MOST_REPEATS:
        raise StructuralTagError(f"more than {MOST_REPEATS:,} repeats", pointer=node.pointer)
    return Repeated(_format(node.child("content")), least, most)


def _tag(node: _Node) -> Tag:
    node.only("type", "begin", "content", "end")
    if node.string("type", "tag") != "tag":
        raise StructuralTagError("must be a tag", pointer=node.pointer)
    ends: tuple[str | Token, ...]
    match node.get("end"):
        case list():
            ends = node.strings("end")
            if not ends:
                raise node.wrong("end", "a string, a token, or some strings")
        case _:
            ends = (_mark(node, "end"),)
    if "" in ends and len(ends) > 1:
        raise StructuralTagError("an empty end beside others", pointer=f"{node.pointer}/end")
    return Tag(_mark(node, "begin"), _format(node.child("content")), ends, node.pointer)


def _mark(node: _Node, name: str) -> str | Token:
    """A string, or a token format."""
    value = node.get(name)
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        found = _format(node.child(name))
        if isinstance(found, Token):
            return found
    raise node.wrong(name, "a string or a token")


def _triggered(node: _Node, kind: str) -> TriggeredTags:
    triggers: tuple[str | Token, ...]
    if kind == "triggered_tags":
        node.only("type", "triggers", "tags", "at_least_one", "stop_after_first", "excludes")
        triggers = node.strings("triggers")
    else:
        names = ("at_least_one", "stop_after_first", "exclude_tokens")
        node.only("type", "trigger_tokens", "tags", *names)
        triggers = node.tokens("trigger_tokens")
    tags = tuple(map(_tag, node.some_children("tags")))
    flags = node.flag("at_least_one"), node.flag("stop_after_first")
    return _checked(TriggeredTags(triggers, tags, *flags, _excluded(node)), node)


def _dispatch(node: _Node, kind: str) -> TriggeredTags:
    """Rules (pattern, format) are tags without an end, each with its pattern as the trigger."""
    node.only("type", "rules", "loop", "excludes" if kind == "dispatch" else "exclude_tokens")
    tags: dict[str | int, Tag] = {}
    for rule in node.some_children("rules"):
        if not isinstance(rule.value, list) or len(rule.value) != 2:
            raise StructuralTagError("must be a pattern and a format", pointer=rule.pointer)
        pattern, format = rule.value
        pair = _Node({"0": pattern, "1": format}, rule.pointer, rule.depth)
        begin: str | Token
        if kind == "dispatch":
            begin = pair.string("0")
        else:
            begin = Token(pair.token("0"), f"{rule.pointer}/0")
        if pattern in tags:
            raise StructuralTagError("two rules for one pattern", pointer=f"{rule.pointer}/0")
        tags[pattern] = Tag(begin, _format(pair.child("1")), ("",), rule.pointer)
    once = node.has("loop") and not node.flag("loop")
    found = tuple(tags.values())
    begins = tuple(tag.begin for tag in found)
    return _checked(TriggeredTags(begins, found, False, once, _excluded(node)), node)


def _excluded(node: _Node) -> tuple[str | Token, ...]:
    """What free text may not hold: strings, or tokens."""
    return (*_some(node, "excludes"), *node.tokens("exclude_tokens"))


def _checked(format: TriggeredTags, node: _Node) -> TriggeredTags:
    """Where a trigger ends must be certain: none may stand within another."""
    if not format.triggers or "" in format.triggers:
        raise StructuralTagError("there must be triggers, none of them empty", pointer=node.pointer)
    texts = [trigger for trigger in format.triggers if isinstance(trigger, str)]
    for text in texts:
        for other in texts:
            if text != other and other in text:
                raise StructuralTagError(
                    f"trigger {other!r} stands within trigger {text!r}", pointer=node.pointer
                )
        for exclude in format.excludes:
            if isinstance(exclude, str) and exclude in text:
                raise StructuralTagError(
                    f"the excluded {exclude!r} stands within trigger {text!r}", pointer=node.pointer
                )
    return format


def _some(node: _Node, name: str) -> tuple[str, ...]:
    found = node.strings(name) if node.has(name) else ()
    if "" in found:
        raise node.wrong(name, "an array of strings that aren't empty")
    return found


@dataclass(frozen=True, slots=True)
class _Node:
    """A JSON object of the tag and its place."""

    value: Json
    pointer: str
    depth: int = 0

    @property
    def fields(self) -> dict[str, Any]:
        if isinstance(self.value, dict):
            return self.value
        raise StructuralTagError("must be an object", pointer=self.pointer)

    def has(self, name: str) -> bool:
        return self.fields.get(name) is not None

    def get(self, name: str) -> Any:
        if not self.has(name):
            raise StructuralTagError(f"{name} is required", pointer=self.pointer)
        return self.fields[name]

    def wrong(self, name: str, wanted: str) -> StructuralTagError:
        return StructuralTagError(f"{name} must be {wanted}", pointer=f"{self.pointer}/{name}")

    def only(self, *known: str) -> None:
        """Refuse every field that isn't among `known`: nothing is dropped in silence."""
        for name in self.fields:
            if name not in known and self.fields[name] is not None:
                raise StructuralTagError(
                    f"unknown field {name!r}; known here: {', '.join(known)}",
                    pointer=f"{self.pointer}/{_escaped(name)}",
                )

    def string(self, name: str, default: str | None = None) -> str:
        value = default if default is not None and not self.has(name) else self.get(name)
        if isinstance(value, str):
            return value
        raise self.wrong(name, "a string")

    def flag(self, name: str) -> bool:
        value = self.fields.get(name)
        if value is None or isinstance(value, bool):
            return bool(value)
        raise self.wrong(name, "true or false")

    def count(self, name: str) -> int | None:
        value = self.fields.get(name)
        if value is None or (isinstance(value, int) and value >= 0 and value is not True):
            return value
        raise self.wrong(name, "a count")

    def items(self, name: str) -> list[Any]:
        value = self.get(name)
        if isinstance(value, list):
            return cast(list[Any], value)
        raise self.wrong(name, "an array")

    def strings(self, name: str) -> tuple[str, ...]:
        found = self.items(name)
        if all(isinstance(item, str) for item in found):
            return tuple(found)
        raise self.wrong(name, "an array of strings")

    def token(self, name: str) -> int | str:
        return self.as_token(self.get(name), name)

    def as_token(self, value: object, name: str) -> int | str:
        if isinstance(value, int | str) and not isinstance(value, bool):
            return value
        raise self.wrong(name, "a token's id or name")

    def tokens(self, name: str) -> tuple[Token, ...]:
        """Tokens by id or name; none where there is no such field."""
        found = self.items(name) if self.has(name) else []
        return tuple(
            Token(self.as_token(value, f"{name}/{at}"), f"{self.pointer}/{name}/{at}")
            for at, value in enumerate(found)
        )

    def read(self, name: str) -> _Node:
        """The same with the JSON text at `name`, if it is one, as what it says."""
        value = self.get(name)
        if not isinstance(value, str):
            return self
        try:
            return _Node({**self.fields, name: json.loads(value)}, self.pointer, self.depth)
        except (ValueError, RecursionError) as error:
            raise self.wrong(name, f"JSON ({error})") from None

    def child(self, name: str) -> _Node:
        return _Node(self.get(name), f"{self.pointer}/{name}", self.depth + 1)

    def children(self, name: str) -> Iterator[_Node]:
        for at, item in enumerate(self.items(name)):
            yield _Node(item, f"{self.pointer}/{name}/{at}", self.depth + 1)

    def some_children(self, name: str) -> Iterator[_Node]:
        if not self.items(name):
            raise self.wrong(name, "an array with something in it")
        return self.children(name)


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
