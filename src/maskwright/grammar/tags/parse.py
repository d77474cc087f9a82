"""Reads a structural tag from JSON into the closed tree of `grammar.tags.tree`.

Two forms are accepted: formats (`{"type": "structural_tag", "format": {…}}`, as xgrammar, vLLM and
SGLang take them) and the older list of structures with triggers (`{"structures": [{"begin": …,
"schema": …, "end": …}], "triggers": […]}`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, cast, get_args

from maskwright.errors import StructuralTagError
from maskwright.grammar.schema.document import escape, json_of, kind_of
from maskwright.grammar.schema.tree import Json
from maskwright.grammar.tags.tree import (
    AnyText,
    AnyToken,
    AnyTokens,
    ConstString,
    Format,
    GrammarText,
    JsonSchemaText,
    Or,
    RegexText,
    Repeated,
    SeparatedTags,
    Style,
    Syntax,
    Tag,
    TagSequence,
    Token,
    TriggeredTags,
)
from maskwright.immutable import Acyclic
from maskwright.json_faults import json_reason


class TagNode(Acyclic):
    """A JSON object of the tag and its place. A field of a wrong type raises
    `StructuralTagError`."""

    value: Json
    pointer: str
    depth: int = 0

    @property
    def fields(self) -> dict[str, Any]:
        if isinstance(self.value, dict):
            return self.value
        raise StructuralTagError(
            f"must be an object, not {kind_of(self.value)}", pointer=self.pointer
        )

    def has(self, name: str) -> bool:
        return self.fields.get(name) is not None

    def get(self, name: str) -> Any:
        if not self.has(name):
            raise StructuralTagError(f"{name} is required", pointer=self.pointer)
        return self.fields[name]

    def fault(self, name: str, reason: str) -> StructuralTagError:
        """Return the error that something is wrong with a field."""
        return StructuralTagError(reason, pointer=f"{self.pointer}/{name}")

    def wrong(self, name: str, wanted: str) -> StructuralTagError:
        return self.fault(name, f"{name} must be {wanted}")

    def only(self, *known: str) -> None:
        """Refuse every field that isn't among `known`, so that none is silently ignored."""
        for name in self.fields:
            if name not in known and self.fields[name] is not None:
                raise self.fault(
                    escape(name), f"unknown field {name!r}; known here: {', '.join(known)}"
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

    def bound(self, name: str) -> int | None:
        """Return an upper bound; None if there is none, which may also be written -1."""
        return None if self.fields.get(name) == -1 else self.count(name)

    def items(self, name: str) -> list[Any]:
        value = self.get(name)
        if isinstance(value, list):
            return cast(list[Any], value)
        raise self.wrong(name, "an array")

    def strings(self, name: str) -> tuple[str, ...]:
        items = self.items(name)
        if all(isinstance(item, str) for item in items):
            return tuple(items)
        raise self.wrong(name, "an array of strings")

    def token(self, name: str) -> int | str:
        return self.as_token(self.get(name), name)

    def as_token(self, value: object, name: str) -> int | str:
        if isinstance(value, int | str) and not isinstance(value, bool):
            return value
        raise self.wrong(name, "a token's id or name")

    def tokens(self, name: str) -> tuple[Token, ...]:
        """Return tokens by id or name; none if there is no such field."""
        items = self.items(name) if self.has(name) else []
        return tuple(
            Token(self.as_token(value, f"{name}/{at}"), f"{self.pointer}/{name}/{at}")
            for at, value in enumerate(items)
        )

    def read(self, name: str) -> TagNode:
        """Return a copy in which the field `name`, if it is a string of JSON, is parsed."""
        value = self.get(name)
        if not isinstance(value, str):
            return self
        try:
            inner = json_of(value)
            return TagNode({**self.fields, name: inner}, self.pointer, self.depth)
        except (ValueError, RecursionError) as error:
            raise self.wrong(name, f"JSON ({json_reason(error)})") from None

    def child(self, name: str) -> TagNode:
        return TagNode(self.get(name), f"{self.pointer}/{name}", self.depth + 1)

    def children(self, name: str) -> Iterator[TagNode]:
        for at, item in enumerate(self.items(name)):
            yield TagNode(item, f"{self.pointer}/{name}/{at}", self.depth + 1)

    def some_children(self, name: str) -> Iterator[TagNode]:
        if not self.items(name):
            raise self.wrong(name, "an array with something in it")
        return self.children(name)


MOST_DEPTH = 64
"""Most levels of formats in formats."""

MOST_REPEATS = 100_000


def parse_tag(source: Json) -> Format:
    """Read a structural tag (a dict, or JSON text).

    Raises `StructuralTagError` with the JSON Pointer of the first error.
    """
    if isinstance(source, str):
        try:
            source = json_of(source)
        except (ValueError, RecursionError) as error:
            raise StructuralTagError(f"not JSON: {json_reason(error)}", pointer="") from None
    node = TagNode(source, "")
    if node.has("structures"):
        node.only("type", "structures", "triggers")
        return _legacy(node)
    if node.string("type", "structural_tag") != "structural_tag":
        raise StructuralTagError("type must be 'structural_tag'", pointer="/type")
    node.only("type", "format")
    return _format(node.child("format"))


def _legacy(node: TagNode) -> Format:
    tags: list[Tag] = []
    for item in node.children("structures"):
        item.only("begin", "schema", "end")
        content = JsonSchemaText(_schema(item.read("schema"), "schema"), f"{item.pointer}/schema")
        tags.append(Tag(item.string("begin"), content, (item.string("end"),), item.pointer))
    triggers = node.strings("triggers")
    return _checked(TriggeredTags(triggers, tuple(tags), False, False, ()), node)


def _format(node: TagNode) -> Format:
    if node.depth > MOST_DEPTH:
        raise StructuralTagError(f"formats nest deeper than {MOST_DEPTH}", pointer=node.pointer)
    name = node.string("type")
    if name not in _KINDS:
        raise node.fault("type", f"unknown format {name!r}; known are {', '.join(_KINDS)}")
    fields, read = _KINDS[name]
    node.only("type", *fields)
    return read(node)


def _any_text(node: TagNode) -> AnyText:
    bounds = node.bound("max_chars"), node.bound("max_tokens")
    return AnyText(_some(node, "excludes"), *bounds, node.pointer)


def _separated_tags(node: TagNode) -> SeparatedTags:
    return SeparatedTags(
        tuple(map(_tag, node.some_children("tags"))),
        node.string("separator"),
        node.flag("at_least_one"),
        node.flag("stop_after_first"),
    )


def _json_schema(node: TagNode) -> JsonSchemaText:
    schema, pointer = _schema(node, "json_schema"), f"{node.pointer}/json_schema"
    style = node.string("style", "json")
    if style not in get_args(Style):
        known = ", ".join(get_args(Style))
        raise node.fault("style", f"style {style!r} is not supported; use one of {known}")
    if node.fields.get("excludes"):
        raise node.fault(
            "excludes",
            "strings can't be excluded from a whole JSON value; write a pattern into the schema",
        )
    any_order = node.flag("any_order") if node.has("any_order") else None
    if any_order and style != "json":
        raise node.fault(
            "any_order", "members between marks follow the order of the schema; leave any_order out"
        )
    spaces = node.count("max_whitespace_cnt")
    if spaces or (spaces == 0 and style != "json"):
        raise node.fault(
            "max_whitespace_cnt",
            "max_whitespace_cnt can only be 0, for JSON without any whitespace; else leave it out, "
            "whitespace is always bounded",
        )
    return JsonSchemaText(schema, pointer, cast(Style, style), any_order, spaces == 0)


def _grammar(node: TagNode) -> GrammarText:
    syntax = node.string("syntax", "auto")
    if syntax not in get_args(Syntax):
        raise node.wrong("syntax", f"one of {', '.join(get_args(Syntax))}")
    grammar, pointer = node.string("grammar"), f"{node.pointer}/grammar"
    return GrammarText(grammar, pointer, cast(Syntax, syntax))


def _schema(node: TagNode, name: str) -> Json:
    value = node.get(name)
    if isinstance(value, dict | bool):
        return cast(Json, value)
    raise node.wrong(name, "a JSON Schema (an object, true or false)")


def _repeat(node: TagNode) -> Repeated:
    least, most = node.count("min") or 0, node.bound("max")
    if most is not None and most < least:
        raise node.fault("max", "max is less than min")
    if max(least, most or 0) > MOST_REPEATS:
        raise StructuralTagError(f"more than {MOST_REPEATS:,} repeats", pointer=node.pointer)
    return Repeated(_format(node.child("content")), least, most)


def _tag(node: TagNode) -> Tag:
    """Read a tag, whose type may be left out where only a tag is possible."""
    node.only("type", *_TAG_FIELDS)
    if node.string("type", "tag") != "tag":
        raise StructuralTagError("must be a tag", pointer=node.pointer)
    ends: tuple[str | Token, ...]
    if isinstance(node.get("end"), list):
        ends = node.strings("end")
        if not ends:
            raise node.wrong("end", "a string, a token, or some strings")
    else:
        ends = (_mark(node, "end"),)
    if "" in ends and len(ends) > 1:
        raise node.fault("end", "an empty end beside others")
    return Tag(_mark(node, "begin"), _format(node.child("content")), ends, node.pointer)


def _mark(node: TagNode, name: str) -> str | Token:
    """Read a string or a token format."""
    value = node.get(name)
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        format = _format(node.child(name))
        if isinstance(format, Token):
            return format
    raise node.wrong(name, "a string or a token")


def _triggered(node: TagNode, triggers: tuple[str | Token, ...]) -> TriggeredTags:
    tags = tuple(map(_tag, node.some_children("tags")))
    flags = node.flag("at_least_one"), node.flag("stop_after_first")
    return _checked(TriggeredTags(triggers, tags, *flags, _excluded(node)), node)


def _dispatch(node: TagNode, begin: Callable[[TagNode], str | Token]) -> TriggeredTags:
    """Read rules (pattern or token, format) as tags without an end, with `begin` of a rule as the
    trigger."""
    tags: dict[str | int, Tag] = {}
    for rule in node.some_children("rules"):
        if not isinstance(rule.value, list) or len(rule.value) != 2:
            raise StructuralTagError("must be a pattern and a format", pointer=rule.pointer)
        pattern, format = rule.value
        pair = TagNode({"0": pattern, "1": format}, rule.pointer, rule.depth)
        first = begin(pair)
        if pattern in tags:
            raise rule.fault("0", "two rules for one pattern")
        tags[pattern] = Tag(first, _format(pair.child("1")), ("",), rule.pointer)
    once = node.has("loop") and not node.flag("loop")
    alternatives = tuple(tags.values())
    begins = tuple(tag.begin for tag in alternatives)
    return _checked(TriggeredTags(begins, alternatives, False, once, _excluded(node)), node)


def _excluded(node: TagNode) -> tuple[str | Token, ...]:
    """Read what free text may not contain: strings, or tokens."""
    return (*_some(node, "excludes"), *node.tokens("exclude_tokens"))


def _checked(format: TriggeredTags, node: TagNode) -> TriggeredTags:
    """Refuse triggers that contain another one, since the end of a trigger must be unambiguous."""
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


def _some(node: TagNode, name: str) -> tuple[str, ...]:
    strings = node.strings(name) if node.has(name) else ()
    if "" in strings:
        raise node.wrong(name, "an array of strings that aren't empty")
    return strings


def _content(least: int, most: int | None) -> _Kind:
    """Return the kind of format that repeats its content."""
    return ("content",), lambda node: Repeated(_format(node.child("content")), least, most)


_TAG_FIELDS = ("begin", "content", "end")
_TAGS_FIELDS = ("tags", "at_least_one", "stop_after_first")

_Kind = tuple[tuple[str, ...], Callable[[TagNode], Format]]
"""The fields that a format may have besides its type, and its reader."""

_KINDS: dict[str, _Kind] = {
    "const_string": (("value",), lambda node: ConstString(node.string("value"))),
    "json_schema": (
        ("json_schema", "style", "any_order", "max_whitespace_cnt", "excludes"),
        _json_schema,
    ),
    "qwen_xml_parameter": (
        ("json_schema",),
        lambda node: JsonSchemaText(
            _schema(node, "json_schema"), f"{node.pointer}/json_schema", "qwen_xml"
        ),
    ),
    "regex": (
        ("pattern",),
        lambda node: RegexText(node.string("pattern"), f"{node.pointer}/pattern"),
    ),
    "grammar": (("grammar", "syntax"), _grammar),
    "any_text": (("excludes", "max_chars", "max_tokens"), _any_text),
    "any_tokens": (
        ("exclude_tokens", "max_tokens"),
        lambda node: AnyTokens(
            node.tokens("exclude_tokens"), node.bound("max_tokens"), node.pointer
        ),
    ),
    "exclude_token": (
        ("exclude_tokens",),
        lambda node: AnyToken(node.tokens("exclude_tokens"), node.pointer),
    ),
    "token": (("token",), lambda node: Token(node.token("token"), f"{node.pointer}/token")),
    "sequence": (
        ("elements",),
        lambda node: TagSequence(tuple(map(_format, node.children("elements")))),
    ),
    "or": (("elements",), lambda node: Or(tuple(map(_format, node.some_children("elements"))))),
    "optional": _content(0, 1),
    "star": _content(0, None),
    "plus": _content(1, None),
    "repeat": (("content", "min", "max"), _repeat),
    "tag": (_TAG_FIELDS, _tag),
    "triggered_tags": (
        (*_TAGS_FIELDS, "triggers", "excludes"),
        lambda node: _triggered(node, node.strings("triggers")),
    ),
    "token_triggered_tags": (
        (*_TAGS_FIELDS, "trigger_tokens", "exclude_tokens"),
        lambda node: _triggered(node, node.tokens("trigger_tokens")),
    ),
    "tags_with_separator": ((*_TAGS_FIELDS, "separator"), _separated_tags),
    "dispatch": (
        ("rules", "loop", "excludes"),
        lambda node: _dispatch(node, lambda rule: rule.string("0")),
    ),
    "token_dispatch": (
        ("rules", "loop", "exclude_tokens"),
        lambda node: _dispatch(node, lambda rule: Token(rule.token("0"), f"{rule.pointer}/0")),
    ),
}
