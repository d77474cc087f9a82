"""Objects of a structural tag: what each reader returns, and the place of each fault."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from maskwright.errors import StructuralTagError
from maskwright.grammar.tags.parse import TagNode
from maskwright.grammar.tags.tree import Token

NODE = TagNode(
    {
        "text": "x",
        "zero": 0,
        "yes": True,
        "none": None,
        "list": ["a", "b"],
        "mixed": [1, "a"],
        "empty": [],
        "json": '{"a": [1]}',
        "object": {"a/b": 1},
    },
    "/format",
)


READ: list[tuple[Callable[[TagNode], Any], object]] = [
    (lambda n: n.string("text"), "x"),
    (lambda n: n.string("absent", "d"), "d"),
    (lambda n: n.string("none", "d"), "d"),
    (lambda n: n.string("text", "d"), "x"),
    (lambda n: n.flag("yes"), True),
    (lambda n: n.flag("absent"), False),
    (lambda n: n.flag("none"), False),
    (lambda n: n.count("zero"), 0),
    (lambda n: n.count("absent"), None),
    (lambda n: n.strings("list"), ("a", "b")),
    (lambda n: n.token("zero"), 0),
    (lambda n: n.tokens("absent"), ()),
    (lambda n: n.tokens("mixed"), (Token(1, "/format/mixed/0"), Token("a", "/format/mixed/1"))),
    (lambda n: n.read("json").get("json"), {"a": [1]}),
    (lambda n: n.read("list").get("list"), ["a", "b"]),
    (lambda n: n.child("object"), TagNode({"a/b": 1}, "/format/object", 1)),
    (lambda n: [n.pointer for n in n.children("list")], ["/format/list/0", "/format/list/1"]),
]


@pytest.mark.parametrize(("read", "value"), READ)
def test_what_is_read(read: Callable[[TagNode], Any], value: object) -> None:
    assert read(NODE) == value


FAULTS: list[tuple[Callable[[TagNode], Any], str, str]] = [
    (lambda n: n.get("absent"), "/format", "absent is required"),
    (lambda n: n.get("none"), "/format", "none is required"),
    (lambda n: n.string("zero"), "/format/zero", "must be a string"),
    (lambda n: n.string("zero", "d"), "/format/zero", "must be a string"),
    (lambda n: n.flag("zero"), "/format/zero", "must be true or false"),
    (lambda n: n.count("yes"), "/format/yes", "must be a count"),
    (lambda n: TagNode({"n": -1}, "").count("n"), "/n", "must be a count"),
    (lambda n: n.items("text"), "/format/text", "must be an array"),
    (lambda n: n.strings("mixed"), "/format/mixed", "must be an array of strings"),
    (lambda n: n.token("yes"), "/format/yes", "must be a token's id or name"),
    (lambda n: TagNode({"t": [1, True]}, "").tokens("t"), "/t/1", "a token's id or name"),
    (lambda n: n.read("text"), "/format/text", "must be JSON"),
    (lambda n: n.child("text").fields, "/format/text", "must be an object"),
    (lambda n: n.some_children("empty"), "/format/empty", "with something in it"),
    (lambda n: n.child("object").only("b"), "/format/object/a~1b", "unknown field 'a/b'"),
]


@pytest.mark.parametrize(("read", "pointer", "message"), FAULTS)
def test_a_fault_and_its_place(read: Callable[[TagNode], Any], pointer: str, message: str) -> None:
    with pytest.raises(StructuralTagError, match=message) as caught:
        read(NODE)
    assert caught.value.pointer == pointer


def test_a_field_without_a_value_may_have_any_name() -> None:
    TagNode({"known": 1, "other": None}, "").only("known")
