"""What grammars share whose schemas are alike, as a whole or in parts; and what they don't."""

from __future__ import annotations

import copy
import gc
import weakref
from typing import Any

import pytest

from maskwright import Grammar, Limits, Vocabulary, compile_json_schema
from maskwright.errors import LimitError, UnsatisfiableSchemaError
from maskwright.mask.shared import generations, vocabulary_tables
from tests.matching import allowed, matches, vocabulary

PART = {
    "type": "object",
    "properties": {"kind": {"enum": ["x", "y"]}, "sizes": {"items": {"type": "integer"}}},
    "required": ["kind"],
    "additionalProperties": False,
}
TEXT = '{"kind": "x", "sizes": [1, 23]}'


@pytest.fixture
def vocab() -> Vocabulary:
    """One that no other test has tables of."""
    return vocabulary('"', '":', '",', '"}', " [", '{"', "kind", '"kind"', "}}", "23")


def trail(grammar: Grammar, text: str) -> list[tuple[tuple[int, ...], set[int]]]:
    """Where a text leads byte by byte, and the masks there."""
    matcher = grammar.matcher()
    found = [(matcher.state, allowed(matcher))]
    for byte in text.encode():
        assert matcher.accept(byte)
        found.append((matcher.state, allowed(matcher)))
    return found


def inside(name: str, part: Any, **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {name: part}, "required": [name], **more}


def test_a_schema_that_is_compiled_again_finds_everything_known(vocab: Vocabulary) -> None:
    first = compile_json_schema(PART, vocab)
    expected = trail(first, TEXT)
    second = compile_json_schema(copy.deepcopy(PART), vocab)
    assert trail(second, TEXT) == expected
    assert second.size < first.size / 4
    assert second.report == first.report


def test_a_part_is_the_same_within_another_schema(vocab: Vocabulary) -> None:
    first = compile_json_schema(inside("a", PART, minProperties=1), vocab)
    second = compile_json_schema(inside("b", PART, maxProperties=4), vocab)
    ours = trail(first, f'{{"a":{TEXT}}}')
    theirs = trail(second, f'{{"b":{TEXT}}}')
    alone = compile_json_schema(
        inside("b", PART, maxProperties=4), vocabulary(*vocab.tokens[256:-1])
    )
    assert [mask for _, mask in theirs] == [mask for _, mask in trail(alone, f'{{"b":{TEXT}}}')]
    leaves = [[state[0] for state, _ in found[5:-2]] for found in (ours, theirs)]
    assert leaves[0] == leaves[1]
    assert second.size < first.size


def test_budgets_are_kept_by_both(vocab: Vocabulary) -> None:
    def masks(tokens: Vocabulary, name: str) -> list[set[int]]:
        grammar = compile_json_schema(inside(name, PART), tokens)
        matcher = grammar.matcher()
        found: list[set[int]] = []
        for byte in f'{{"{name}":{TEXT}}}'.encode():
            needed = matcher.min_tokens
            found += [allowed(matcher, needed + more) for more in (0, 1, 3)]
            assert matcher.accept(byte)
        return found

    masks(vocab, "a")
    expected = masks(vocabulary(*vocab.tokens[256:-1]), "b")
    assert masks(vocab, "b") == expected
    assert masks(vocab, "b") == expected


def test_what_was_compiled_stays_when_the_callers_schema_changes(vocab: Vocabulary) -> None:
    schema = inside("a", {"enum": [1, 2]})
    compile_json_schema(schema, vocab)
    schema["properties"]["a"]["enum"].append(3)
    assert matches(compile_json_schema(schema, vocab), '{"a":3}')
    assert not matches(compile_json_schema(inside("a", {"enum": [1, 2]}), vocab), '{"a":3}')


@pytest.mark.parametrize(
    "options",
    [
        {"property_order": "any"},
        {"whitespace": "compact"},
        {"draft": "4"},
        {"formats": "annotate"},
        {"integers": "digits"},
        {"escapes": "needed"},
        {"limits": Limits(contexts=5_000)},
    ],
)
def test_other_options_share_nothing(vocab: Vocabulary, options: dict[str, Any]) -> None:
    schema = {"type": "object", "properties": {"b": {"format": "date"}, "a": {"type": "integer"}}}
    first = compile_json_schema(schema, vocab)
    second = compile_json_schema(schema, vocab, **options)
    texts = ['{"a":1,"b":"2020-02-02"}', "{ }", '{"a":1.0}', '{"b":"x"}', '{"\\u0061":1}']
    apart = compile_json_schema(schema, vocabulary(*vocab.tokens[256:-1]), **options)
    assert [matches(second, text) for text in texts] == [matches(apart, text) for text in texts]
    assert second.recognizer.first is not first.recognizer.first


def test_each_grammar_has_limits_of_its_own(vocab: Vocabulary) -> None:
    limits = Limits(contexts=40)

    def read(name: str, count: int) -> None:
        names = [f"{name}{at}" for at in range(count)]
        schema = {"properties": {each: {"type": "null"} for each in names}}
        grammar = compile_json_schema(schema, vocab, limits=limits)
        assert matches(grammar, "{" + ",".join(f'"{each}":null' for each in names) + "}")

    for name in "abcdef":
        read(name, 12)
    with pytest.raises(LimitError, match="contexts"):
        read("g", 60)


def test_what_is_unsatisfiable_is_so_again(vocab: Vocabulary) -> None:
    for _ in range(2):
        with pytest.raises(UnsatisfiableSchemaError):
            compile_json_schema({"type": "string", "enum": [1]}, vocab)


def test_what_is_known_is_bounded(vocab: Vocabulary, monkeypatch: pytest.MonkeyPatch) -> None:
    grammar = compile_json_schema(PART, vocab)
    trail(grammar, TEXT)
    first = weakref.ref(grammar.recognizer.machine)
    monkeypatch.setattr(generations, "MOST_BYTES", 0)
    monkeypatch.setattr(vocabulary_tables, "MOST_BYTES", 0)
    del grammar
    gc.collect()
    assert first() is not None
    compile_json_schema({"type": "null"}, vocab)
    gc.collect()
    assert first() is None
