"""Reading a structural tag: from JSON to the closed tree of `grammar.structural_tag`.

Two spellings are read: formats (`{"type": "structural_tag", "format": {…}}`, as xgrammar, vLLM and
SGLang take them) and the older list of structures with triggers (`{"structures": [{"begin":
…, "schema": …, "end": …}], "triggers": […]}`).
"""

from __future__ import annotations

import json
from typing import cast, get_args

from maskwright.errors import StructuralTagError
from maskwright.grammar.schema.tree import Json
from maskwright.grammar.tags.node import TagNode
from maskwright.grammar.tags.tree import (
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


def _json_schema(node: TagNode) -> JsonSchemaText:
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


def _schema(node: TagNode, name: str) -> Json:
    value = node.get(name)
    if isinstance(value, dict | bool):
        return cast(Json, value)
    raise node.wrong(name, "a JSON Schema (an object, true or false)")


def _repeat(node: TagNode) -> Repeated:
    unbounded = node.fields.get("max") == -1
    least, most = node.count("min") or 0, None if unbounded else node.count("max")
    if most is not None and most < least:
        raise StructuralTagError("max is less than min", pointer=f"{node.pointer}/max")
    if max(least, most or 0) > MOST_REPEATS:
        raise StructuralTagError(f"more than {MOST_REPEATS:,} repeats", pointer=node.pointer)
    return Repeated(_format(node.child("content")), least, most)


def _tag(node: TagNode) -> Tag:
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


def _mark(node: TagNode, name: str) -> str | Token:
    """A string, or a token format."""
    value = node.get(name)
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        found = _format(node.child(name))
        if isinstance(found, Token):
            return found
    raise node.wrong(name, "a string or a token")


def _triggered(node: TagNode, kind: str) -> TriggeredTags:
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


def _dispatch(node: TagNode, kind: str) -> TriggeredTags:
    """Rules (pattern, format) are tags without an end, each with its pattern as the trigger."""
    node.only("type", "rules", "loop", "excludes" if kind == "dispatch" else "exclude_tokens")
    tags: dict[str | int, Tag] = {}
    for rule in node.some_children("rules"):
        if not isinstance(rule.value, list) or len(rule.value) != 2:
            raise StructuralTagError("must be a pattern and a format", pointer=rule.pointer)
        pattern, format = rule.value
        pair = TagNode({"0": pattern, "1": format}, rule.pointer, rule.depth)
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


def _excluded(node: TagNode) -> tuple[str | Token, ...]:
    """What free text may not hold: strings, or tokens."""
    return (*_some(node, "excludes"), *node.tokens("exclude_tokens"))


def _checked(format: TriggeredTags, node: TagNode) -> TriggeredTags:
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


def _some(node: TagNode, name: str) -> tuple[str, ...]:
    found = node.strings(name) if node.has(name) else ()
    if "" in found:
        raise node.wrong(name, "an array of strings that aren't empty")
    return found
