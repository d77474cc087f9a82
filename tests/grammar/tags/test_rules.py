"""Structural tags: what they accept, what is captured, and what is refused as a tag."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from maskwright.errors import StructuralTagError
from maskwright.grammar.pattern.translate import full_match
from maskwright.grammar.rules.tree import Expression, JsonValue, Terminal
from maskwright.grammar.schema.parse import ParseOptions, parse_schema
from maskwright.grammar.schema.tree import Schema
from maskwright.grammar.tags.parse import parse_tag
from maskwright.grammar.tags.rules import TagRules
from maskwright.grammar.tags.tree import GrammarText, JsonSchemaText, RegexText
from tests.grammar.spelling import SPECIAL, Captured, Reader

NAMES = {"<|call|>": 0, "<|done|>": 1}
CALL, DONE = chr(SPECIAL), chr(SPECIAL + 1)


class Tags:
    """Reads texts under one tag; JSON is judged by the jsonschema package."""

    def __init__(self, tag: Any) -> None:
        self._schemas: dict[Schema, Any] = {}
        self._expression = TagRules(NAMES, [b"", b"", b"plain", b"\xff"], self._leaf).expression(
            parse_tag(tag)
        )

    def _leaf(self, leaf: JsonSchemaText | RegexText | GrammarText) -> Expression:
        match leaf:
            case JsonSchemaText(schema=schema):
                root = parse_schema(schema, ParseOptions()).root
                self._schemas[root] = schema
                return JsonValue(root)
            case RegexText(pattern=pattern):
                return Terminal(full_match(pattern))
            case GrammarText():
                raise NotImplementedError

    def readings(self, text: str) -> set[Captured]:
        def judge(schema: Schema, value: Any) -> bool:
            return jsonschema.Draft202012Validator(self._schemas[schema]).is_valid(value)

        return Reader(text, judge).readings(self._expression)


def tag(begin: Any, content: Any, end: Any) -> Any:
    return {"type": "tag", "begin": begin, "content": content, "end": end}


def json_of(schema: Any) -> Any:
    return {"type": "json_schema", "json_schema": schema}


TEXT = {"type": "any_text"}
NUMBER = json_of({"type": "integer"})
A, B = tag("<a>", NUMBER, "</a>"), tag("<b>", {"type": "regex", "pattern": "x+"}, "</b>")


def triggered(*tags: Any, **more: Any) -> Any:
    return {"type": "triggered_tags", "triggers": ["<"], "tags": list(tags), **more}


CASES: list[tuple[str, Any, list[str], list[str]]] = [
    ("const", {"type": "const_string", "value": "ab"}, ["ab"], ["", "a", "abb"]),
    ("regex", {"type": "regex", "pattern": "a|bc"}, ["a", "bc"], ["abc"]),
    ("json", NUMBER, ["1", "-20"], ["1.5", '"1"', ""]),
    ("text", TEXT, ["", "a\nb", "{}"], [CALL]),
    ("text without", {**TEXT, "excludes": ["ab", "c"]}, ["a", "ba"], ["ab", "xabx", "c"]),
    ("bounded text", {**TEXT, "max_chars": 2}, ["", "éé"], ["abc"]),
    ("or", {"type": "or", "elements": [NUMBER, TEXT]}, ["1", "a"], []),
    ("sequence", {"type": "sequence", "elements": [NUMBER, TEXT]}, ["1", "1 a"], ["", "a"]),
    ("empty sequence", {"type": "sequence", "elements": []}, [""], ["a"]),
    ("optional", {"type": "optional", "content": NUMBER}, ["", "1"], ["a"]),
    ("plus", {"type": "plus", "content": {"type": "const_string", "value": "a"}}, ["aa"], [""]),
    ("star", {"type": "star", "content": {"type": "const_string", "value": "a"}}, ["", "aa"], []),
    (
        "repeat",
        {"type": "repeat", "content": {"type": "const_string", "value": "a"}, "min": 1, "max": 2},
        ["a", "aa"],
        ["", "aaa"],
    ),
    ("tag", A, ["<a>1</a>"], ["<a>1", "<a></a>", "<a>1</a> "]),
    ("text in a tag", tag("<t>", TEXT, "</t>"), ["<t></t>", "<t><</t>"], ["<t></t></t>"]),
    (
        "bounded text in a tag",
        tag("<t>", {**TEXT, "max_chars": 2}, "</t>"),
        ["<t>ab</t>", "<t></t>"],
        ["<t>abc</t>"],
    ),
    ("some ends", tag("<t>", TEXT, ["!", "?"]), ["<t>a!", "<t>a?"], ["<t>a!?", "<t>a"]),
    ("no end", tag("<t>", TEXT, ""), ["<t>", "<t>a"], ["a"]),
    (
        "triggered",
        triggered(A, B),
        ["", "a", "<a>1</a>", "x<a>1</a>y<b>xx</b>z", "<a>1</a><a>2</a>"],
        ["<", "<c>", "<a>", "<a>x</a>", "a<b>y</b>"],
    ),
    ("at least one", triggered(A, at_least_one=True), ["x<a>1</a>y"], ["", "x"]),
    (
        "stop after first",
        triggered(A, stop_after_first=True),
        ["", "x", "x<a>1</a>"],
        ["<a>1</a>x", "<a>1</a><a>1</a>"],
    ),
    (
        "exactly one",
        triggered(A, at_least_one=True, stop_after_first=True),
        ["<a>1</a>", "x<a>1</a>"],
        ["", "x", "<a>1</a>x"],
    ),
    ("excludes", triggered(A, excludes=["no"]), ["n<a>1</a>o"], ["no", "no<a>1</a>"]),
    (
        "triggers within a tag",
        tag("[", triggered(A), "]"),
        ["[]", "[x<a>1</a>y]"],
        ["[", "[<a>1]</a>]", "[]]"],
    ),
    (
        "separated",
        {"type": "tags_with_separator", "tags": [A, B], "separator": ","},
        ["", "<a>1</a>", "<a>1</a>,<b>x</b>"],
        ["<a>1</a>,", ",", "x"],
    ),
    (
        "separated, one",
        {
            "type": "tags_with_separator",
            "tags": [A],
            "separator": ",",
            "at_least_one": True,
            "stop_after_first": True,
        },
        ["<a>1</a>"],
        ["", "<a>1</a>,<a>1</a>"],
    ),
    ("token", {"type": "token", "token": "<|call|>"}, [CALL], ["<|call|>", DONE, ""]),
    ("token by id", {"type": "token", "token": 1}, [DONE], [CALL]),
    ("token of text", {"type": "token", "token": 2}, ["plain"], [CALL]),
    (
        "special tokens in texts",
        {"type": "const_string", "value": "a<|call|>b<|done|>"},
        [f"a{CALL}b{DONE}"],
        ["a<|call|>b<|done|>"],
    ),
    (
        "text up to a special token",
        tag("<|call|>", TEXT, "<|done|>"),
        [f"{CALL}<|done|>{DONE}"],
        [f"{CALL}{DONE}{DONE}", CALL],
    ),
    (
        "special triggers",
        {
            "type": "token_triggered_tags",
            "trigger_tokens": ["<|call|>"],
            "tags": [tag({"type": "token", "token": 0}, NUMBER, {"type": "token", "token": 1})],
        },
        ["a", f"a{CALL}1{DONE}b"],
        [CALL, f"{CALL}{DONE}"],
    ),
]


ANY_TOKENS = {"type": "any_tokens"}
X = {"type": "const_string", "value": "x"}

CASES.extend(
    [
        ("tokens", ANY_TOKENS, ["", f"a{CALL}b{DONE}{CALL}"], []),
        (
            "tokens but some",
            {"type": "any_tokens", "exclude_tokens": ["<|call|>"]},
            ["", f"a{DONE}b"],
            [f"a{CALL}"],
        ),
        (
            "tokens up to a text",
            tag("<t>", ANY_TOKENS, "!"),
            ["<t>!", f"<t>a{CALL}b!", f"<t>{CALL}!"],
            [f"<t>a!{CALL}!", f"<t>{CALL}"],
        ),
        (
            "tokens up to a token",
            tag("<t>", ANY_TOKENS, "<|done|>"),
            [f"<t>{DONE}", f"<t>a{CALL}b{DONE}"],
            [f"<t>{DONE}{DONE}", f"<t>a{CALL}b"],
        ),
        (
            "one token",
            {"type": "exclude_token", "exclude_tokens": ["<|call|>"]},
            ["a", DONE],
            ["", CALL, DONE * 2, f"a{DONE}"],
        ),
        (
            "one token up to a text",
            tag("<t>", {"type": "exclude_token"}, "!"),
            ["<t>a!", f"<t>{CALL}!"],
            ["<t>!", "<t>a!!", f"<t>{CALL}a!", "<t>a"],
        ),
        (
            "one token up to a token",
            tag("<t>", {"type": "exclude_token", "exclude_tokens": [0]}, "<|done|>"),
            [f"<t>a{DONE}"],
            [f"<t>{DONE}", f"<t>{CALL}{DONE}", f"<t>{DONE}{DONE}"],
        ),
        ("no tokens at all", {"type": "any_tokens", "max_tokens": 0}, [""], ["a", CALL]),
        (
            "at least",
            {"type": "repeat", "content": X, "min": 2, "max": -1},
            ["xx", "xxxx"],
            ["", "x"],
        ),
        (
            "dispatch",
            {"type": "dispatch", "rules": [["<a>", NUMBER], ["<b>", X]], "excludes": ["no"]},
            ["", "n", "n<a>1", "<b>x<b>x", "<a>1 o<b>xo"],
            ["<a>", "<b>y", "no", "<b>xno"],
        ),
        (
            "dispatch once",
            {"type": "dispatch", "rules": [["<b>", X]], "loop": False},
            ["", "a", "a<b>x"],
            ["<b>xx", "<b>x<b>x"],
        ),
        (
            "dispatch in a tag",
            tag("[", {"type": "dispatch", "rules": [["<b>", X]]}, "]"),
            ["[]", "[a<b>xb]"],
            ["[<b>]", "[]]", "["],
        ),
        (
            "dispatch by tokens",
            {
                "type": "token_dispatch",
                "rules": [["<|call|>", X]],
                "exclude_tokens": ["<|done|>"],
            },
            ["", "a", f"a{CALL}xb{CALL}x"],
            [CALL, f"{CALL}y", DONE],
        ),
        (
            "special triggers, others excluded",
            {
                "type": "token_triggered_tags",
                "trigger_tokens": ["<|call|>"],
                "tags": [tag({"type": "token", "token": 0}, X, "")],
                "exclude_tokens": [1],
            },
            ["a", f"a{CALL}xb"],
            [DONE, f"{CALL}"],
        ),
    ]
)


@pytest.mark.parametrize(
    ("format", "accepted", "rejected"), [c[1:] for c in CASES], ids=[c[0] for c in CASES]
)
def test_texts_of_a_format(format: Any, accepted: list[str], rejected: list[str]) -> None:
    tags = Tags({"type": "structural_tag", "format": format})
    for text in accepted:
        assert tags.readings(text), text
    for text in rejected:
        assert not tags.readings(text), text


def test_a_text_is_cut_in_one_way_only() -> None:
    tags = Tags({"type": "structural_tag", "format": triggered(A, B)})
    [captured] = tags.readings("one<a>1</a><b>xx</b> < ".replace(" < ", "two"))
    assert captured == (("text", "one"), ("text", ""), ("text", "two"))


def test_structures_with_triggers_are_the_older_spelling() -> None:
    structures = [{"begin": "<f=a>", "schema": {"type": "null"}, "end": "</f>"}]
    tags = Tags({"structures": structures, "triggers": ["<f="]})
    assert tags.readings("x<f=a>null</f>y<")
    assert not tags.readings("<f=b>")
    written = [{"begin": "<f=a>", "schema": '{"type": "null"}', "end": "</f>"}]
    assert Tags({"structures": written, "triggers": ["<f="]}).readings("<f=a>null</f>")


REFUSED: list[tuple[Any, str, str]] = [
    (7, "", "must be an object"),
    ("{", "", "not JSON"),
    ({"type": "structural_tag"}, "", "format is required"),
    ({"type": "tag", "format": {}}, "/type", "structural_tag"),
    ({"format": {"type": "wat"}}, "/format/type", "unknown format 'wat'"),
    ({"format": {"type": "any_text", "exclude": ["a"]}}, "/format/exclude", "unknown field"),
    ({"format": {"type": "any_text", "excludes": [""]}}, "/format/excludes", "aren't empty"),
    ({"format": {"type": "or", "elements": []}}, "/format/elements", "something in it"),
    ({"format": tag("a", NUMBER, [])}, "/format/end", "a string"),
    ({"format": tag("a", NUMBER, ["", "b"])}, "/format/end", "empty end"),
    (
        {"format": triggered(tag("a", NUMBER, "b"))},
        "/format/tags/0",
        "no trigger begins",
    ),
    ({"format": {**triggered(A), "triggers": ["<", "<a"]}}, "/format", "stands within trigger"),
    ({"format": triggered(A, excludes=["<"])}, "/format", "stands within trigger"),
    ({"format": {"type": "repeat", "content": NUMBER, "min": 2, "max": 1}}, "/format/max", "less"),
    ({"format": {"type": "json_schema", "json_schema": []}}, "/format/json_schema", "JSON Schema"),
    ({"format": {"type": "token", "token": "<|x|>"}}, "/format/token", "no special token"),
    ({"format": {"type": "token", "token": 4}}, "/format/token", "not in the vocabulary"),
    ({"format": {"type": "token", "token": 3}}, "/format/token", "part of a character"),
    (
        {"format": {"type": "exclude_token", "exclude_tokens": [2]}},
        "/format/exclude_tokens/0",
        "no special token",
    ),
    (
        {"format": {"type": "sequence", "elements": [{"type": "exclude_token"}, NUMBER]}},
        "/format/elements/0",
        "certain where the text ends",
    ),
    (
        {"format": {"type": "any_tokens", "exclude_tokens": [0, 2]}},
        "/format/exclude_tokens/1",
        "no special token",
    ),
    ({"format": {"type": "any_tokens", "max_tokens": -2}}, "/format/max_tokens", "a count"),
    ({"format": {"type": "any_text", "max_chars": -2}}, "/format/max_chars", "a count"),
    ({"format": {"type": "dispatch", "rules": []}}, "/format/rules", "something in it"),
    ({"format": {"type": "dispatch", "rules": [["a"]]}}, "/format/rules/0", "a pattern and"),
    ({"format": {"type": "dispatch", "rules": [[1, X]]}}, "/format/rules/0/0", "a string"),
    (
        {"format": {"type": "dispatch", "rules": [["a", X], ["a", X]]}},
        "/format/rules/1/0",
        "two rules",
    ),
    (
        {
            "format": {
                "type": "token_dispatch",
                "rules": [["<|call|>", X]],
                "exclude_tokens": ["<|call|>"],
            }
        },
        "/format/rules/0/0",
        "is excluded",
    ),
    (
        {"format": {"type": "json_schema", "json_schema": {}, "style": "yaml"}},
        "/format/style",
        "use one of json, qwen_xml, minimax_xml, glm_xml, deepseek_xml, cohere_xml, kimi_k3_xml",
    ),
    (
        {"format": {"type": "json_schema", "json_schema": {}, "excludes": ["a"]}},
        "/format/excludes",
        "write a pattern",
    ),
    (
        {"format": {"type": "json_schema", "json_schema": {}, "max_whitespace_cnt": 2}},
        "/format/max_whitespace_cnt",
        "can only be 0",
    ),
    (
        {
            "format": {
                "type": "json_schema",
                "json_schema": {},
                "style": "glm_xml",
                "any_order": True,
            }
        },
        "/format/any_order",
        "follow the order",
    ),
    (
        {"structures": [{"begin": "<", "schema": "{", "end": ">"}], "triggers": ["<"]},
        "/structures/0/schema",
        "JSON",
    ),
]


@pytest.mark.parametrize(("source", "pointer", "reason"), REFUSED)
def test_faults_are_named_with_their_place(source: Any, pointer: str, reason: str) -> None:
    with pytest.raises(StructuralTagError, match=reason) as refused:
        Tags(source)
    assert refused.value.pointer == pointer


def test_deep_formats_are_refused() -> None:
    format: Any = TEXT
    for _ in range(100):
        format = {"type": "optional", "content": format}
    with pytest.raises(StructuralTagError, match="nest deeper"):
        Tags({"format": format})
