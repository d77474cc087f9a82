"""Arguments in the styles of structural tags that write the type of each value."""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import islice
from typing import Any

import pytest

from maskwright import Grammar, compile_structural_tag
from maskwright.errors import UnsupportedSchemaError
from maskwright.mask import CaptureEnded
from maskwright.vocab import Vocabulary
from maskwright.workbench.sample.samples import random_texts
from tests.matching import BYTES, EVERY_BYTE, matches

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "s": {"type": "string"},
        "n": {"type": "integer"},
        "u": {"type": ["string", "integer"]},
        "l": {"type": "array", "items": {"type": "string"}, "maxItems": 2},
        "o": {
            "type": "object",
            "properties": {"x": {"type": "boolean"}, "y": {"$ref": "#/properties/l"}},
            "required": ["x"],
            "additionalProperties": False,
        },
        "z": {"enum": [None, True, 3, "q"]},
        'a&<"b': {"type": "number"},
    },
    "required": ["s"],
    "additionalProperties": False,
}


def deepseek(key: str, value: str, is_string: str) -> str:
    return f'<｜DSML｜parameter name="{key}" string="{is_string}">{value}</｜DSML｜parameter>\n'


def kimi(key: str, value: str, type: str) -> str:
    return f'<|open|>argument key="{key}" type="{type}"<|sep|>{value}<|close|>argument<|sep|>'


def cohere(key: str | None, value: str, type: str) -> str:
    named = "" if key is None else f' name="{key}"'
    return f'<cofl:value{named} type="{type}">{value}</cofl:value>'


D, K, C = deepseek("s", "x", "true"), kimi("s", "x", "string"), cohere("s", "x", "raw")
ROWS: dict[str, tuple[list[str], list[str]]] = {
    "deepseek_xml": (
        [
            D,
            deepseek("s", 'a <b> "c"\n[1]', "true"),
            D + deepseek("n", "-5", "false") + deepseek("l", '["a", "b"]', "false"),
            D + deepseek("u", "5", "true"),
            D + deepseek("u", "5", "false"),
            D + deepseek("o", '{"x": true, "y": []}', "false"),
            D + deepseek("z", "null", "false"),
            D + deepseek("z", "q", "true"),
            D + deepseek('a&<"b', "1.5", "false"),
        ],
        [
            "",
            D + D,
            deepseek("n", "5", "false"),
            deepseek("s", "x", "false"),
            D + deepseek("n", "5", "true"),
            D + deepseek("u", "x", "false"),
            D + deepseek("l", "a", "true"),
            D + deepseek("z", "q", "false"),
            D + deepseek("z", "null", "true"),
            deepseek("n", "5", "false") + D,
            deepseek("s", "x</｜DSML｜parameter>\n", "true"),
        ],
    ),
    "kimi_k3_xml": (
        [
            K,
            kimi("s", "<|open|> 5\n", "string"),
            K + kimi("n", "5", "number") + kimi("l", '["a"]', "array"),
            K + kimi("u", "5", "string"),
            K + kimi("u", "5", "number"),
            K + kimi("o", '{"x": true}', "object"),
            K + kimi("z", "null", "null"),
            K + kimi("z", "true", "boolean"),
            K + kimi("z", "3", "number"),
            K + kimi("z", "q", "string"),
        ],
        [
            "",
            kimi("s", "x", "number"),
            K + kimi("n", "5", "string"),
            K + kimi("n", "5", "integer"),
            K + kimi("u", "x", "number"),
            K + kimi("l", '["a"]', "object"),
            K + kimi("l", '["a"]', "string"),
            K + kimi("z", "true", "null"),
            K + "\n",
        ],
    ),
    "cohere_xml": (
        [
            C,
            cohere("s", 'x <y> & "z"\n', "raw"),
            C + cohere("n", "5", "json") + cohere("u", "5", "raw"),
            C + cohere("u", "5", "json"),
            C + cohere("l", "", "list"),
            C + cohere("l", cohere(None, "a", "raw") + cohere(None, "", "raw"), "list"),
            C + cohere("o", cohere("x", "true", "json"), "dict"),
            C
            + cohere(
                "o",
                cohere("x", "true", "json")
                + cohere("y", cohere(None, "</cofl:list>", "raw"), "list"),
                "dict",
            ),
            C + cohere("z", "null", "json"),
            C + cohere("z", "q", "raw"),
            C + cohere("a&amp;&lt;&quot;b", "1.5", "json"),
        ],
        [
            "",
            cohere("s", "x", "json"),
            C + cohere("l", '["a"]', "json"),
            C + cohere("l", "", "dict"),
            C + cohere("l", cohere(None, "a", "raw") * 3, "list"),
            C + cohere("l", cohere("k", "a", "raw"), "list"),
            C + cohere("o", "", "dict"),
            C + cohere("o", cohere("x", "1", "json"), "dict"),
            C + cohere("o", cohere("y", "", "list") + cohere("x", "true", "json"), "dict"),
            C + cohere('a&<"b', "1.5", "json"),
        ],
    ),
}


def tag_of(style: str, schema: Any = SCHEMA) -> dict[str, Any]:
    content = {"type": "json_schema", "json_schema": schema, "style": style}
    return {"type": "structural_tag", "format": content}


def compiled(style: str, schema: Any = SCHEMA, vocab: Vocabulary = EVERY_BYTE) -> Grammar:
    return compile_structural_tag(tag_of(style, schema), vocab, whitespace="spaced")


@pytest.mark.parametrize("style", ROWS)
def test_values_with_their_types(style: str) -> None:
    accepted, rejected = ROWS[style]
    grammar = compiled(style)
    assert [text for text in accepted + rejected if matches(grammar, text)] == accepted


@pytest.mark.parametrize("style", ROWS)
def test_what_is_written_is_what_another_library_reads(style: str) -> None:
    """xgrammar allows white space, too, and in unions of types each of them for each value."""
    xgrammar: Any = pytest.importorskip("xgrammar")
    tokens = xgrammar.TokenizerInfo(
        [*BYTES, b"</s>"], vocab_type=xgrammar.VocabType.RAW, stop_token_ids=[256]
    )
    theirs = xgrammar.GrammarCompiler(tokens).compile_structural_tag(json.dumps(tag_of(style)))

    def read(texts: Iterable[str]) -> list[str]:
        matchers = ((text, xgrammar.GrammarMatcher(theirs)) for text in texts)
        return [
            text for text, each in matchers if each.accept_string(text) and each.accept_token(256)
        ]

    accepted, _ = ROWS[style]
    # xgrammar takes names in attributes for the texts of a pattern, in which these have escapes.
    known = [text for text in accepted if 'a&<"b' not in text]
    assert read(known) == known
    plain = {**SCHEMA, "properties": {k: v for k, v in SCHEMA["properties"].items() if len(k) == 1}}
    drawn = [text.decode() for text in islice(random_texts(compiled(style, plain), 120, 0), 12)]
    assert read(drawn) == drawn


@pytest.mark.parametrize(
    ("style", "text", "captured"),
    [
        ("deepseek_xml", D + deepseek("u", "5", "true"), {"string:s": "x", "string:u": "5"}),
        ("deepseek_xml", D + deepseek("u", "5", "false"), {"string:s": "x", "json:u": "5"}),
        ("kimi_k3_xml", K + kimi("l", "[]", "array"), {"string:s": "x", "json:l": "[]"}),
        ("cohere_xml", C + cohere("l", "", "list"), {"string:s": "x", "cohere:l": ""}),
        ("cohere_xml", C + cohere("n", "5", "json"), {"string:s": "x", "json:n": "5"}),
    ],
)
def test_events_of_values_with_their_types(style: str, text: str, captured: dict[str, str]) -> None:
    matcher = compiled(style).matcher()
    assert matcher.accept_bytes(text.encode()) == len(text.encode())
    events = matcher.events(final=True)
    assert {e.name: e.text for e in events if isinstance(e, CaptureEnded)} == captured


def test_marks_that_are_special_tokens() -> None:
    marks = ("<|open|>", "<|close|>", "<|sep|>")
    vocab = Vocabulary(
        (*BYTES, *(mark.encode() for mark in marks), b""), special=[256, 257, 258], eos=259
    )
    open_mark, close, sep = (vocab.special_tokens[mark] for mark in marks)
    matcher = compiled("kimi_k3_xml", vocab=vocab).matcher()
    said = [
        *(open_mark, *b'argument key="s" type="string"', sep, *b"<|close|>argument<|sep|>"),
        *(close, *b"argument", sep),
        *(open_mark, *b'argument key="o" type="object"', sep, *b'{"x": true}'),
        *(close, *b"argument", sep),
    ]
    assert all(matcher.accept(token) for token in said)
    assert matcher.accepting
    plain = compiled("kimi_k3_xml", vocab=vocab).matcher()
    assert plain.accept_bytes(b"<") == 0


def test_a_list_within_itself() -> None:
    tree = {"type": "array", "items": {"$ref": "#/$defs/tree"}}
    schema = {
        "$defs": {"tree": tree},
        "properties": {"a": {"$ref": "#/$defs/tree"}},
        "additionalProperties": False,
    }
    grammar = compiled("cohere_xml", schema)
    empty = cohere(None, "", "list")
    assert matches(grammar, cohere("a", empty + cohere(None, empty, "list"), "list"))
    assert not matches(grammar, cohere("a", cohere(None, "", "raw"), "list"))


@pytest.mark.parametrize("style", ROWS)
def test_what_an_object_leaves_out_is_reported_or_refused(style: str) -> None:
    """A map in a value is JSON in the styles that have JSON there."""
    free = {"type": "object", "additionalProperties": {"type": "string"}}
    with pytest.raises(
        UnsupportedSchemaError, match="members that the schema doesn't list"
    ) as caught:
        compiled(style, free)
    assert caught.value.pointer == "/format/json_schema/additionalProperties"
    schema = {"properties": {"m": free}, "additionalProperties": False}
    if style == "cohere_xml":
        with pytest.raises(UnsupportedSchemaError, match="as elements") as caught:
            compiled(style, schema)
        assert caught.value.pointer == "/format/json_schema/properties/m/additionalProperties"
    else:
        compiled(style, schema)
    report = compiled(style, {"type": "object"}).report
    assert ("/format/json_schema", "additionalProperties") in {
        (entry.pointer, entry.keyword) for entry in report.enforced
    }
