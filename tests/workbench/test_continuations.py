from __future__ import annotations

import pytest

from maskwright.mask import Grammar, compile_json_schema, compile_regex
from maskwright.workbench.continuations import continuations
from maskwright.workbench.reading import byte_vocabulary

VOCABULARY = byte_vocabulary()


def after(grammar: Grammar, text: str) -> tuple[str, tuple[str, ...]]:
    matcher = grammar.matcher()
    assert matcher.accept_bytes(text.encode()) == len(text.encode())
    return continuations(matcher, text.encode())


@pytest.mark.parametrize(
    ("pattern", "text", "forced", "options"),
    [
        ("abc|abd", "", "ab", ("c", "d")),
        ("red|green|blue", "", "", ("blue", "green", "red")),
        ("red|green|blue", "g", "reen", ()),
        ("ab(c|de)?f", "ab", "", ("cf", "def", "f")),
        ("a b|a_b", "a", "", (" b", "_b")),  # white space counts, but in JSON
        ("[a-z]+", "", "", ()),  # too many
        ("ab?", "a", "", ("b",)),
        ("a", "a", "", ()),
        ("é|è", "", "", ("è", "é")),
    ],
)
def test_patterns(pattern: str, text: str, forced: str, options: tuple[str, ...]) -> None:
    assert after(compile_regex(pattern, VOCABULARY), text) == (forced, options)


SCHEMA = {
    "properties": {"name": {"enum": ["a b", "ab"]}, "nick": {"type": "boolean"}},
    "required": ["name"],
    "type": "object",
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("text", "forced", "options"),
    [
        ("", '{"n', ('ame":"a', 'ick":')),  # without white space and escapes
        ('{"na', 'me":"a', (' b"', 'b"')),  # in a string, white space is a choice
        ('{"name": "ab"', "", (',"nick":', "}")),
        ('{ "name": "ab", "nick": t', "rue}", ()),
    ],
)
def test_schemas(text: str, forced: str, options: tuple[str, ...]) -> None:
    grammar = compile_json_schema(SCHEMA, VOCABULARY, property_order="any")
    assert after(grammar, text) == (forced, options)
