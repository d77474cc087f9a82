"""Levels are numbered once, and their owners answer for them."""

from __future__ import annotations

from typing import Any

import pytest

from maskwright import compile_json_schema
from maskwright.automaton.json.levels import Levels
from maskwright.automaton.machine.contexts import Contexts, Ending
from maskwright.automaton.machine.exits import STAY, Exit
from maskwright.automaton.value.level import Level, LevelPhase, Thread, leaves_names_to_text
from maskwright.grammar.schema.parse import ParseOptions, parse_schema
from tests.automaton.solving import conjunction
from tests.matching import EVERY_BYTE, after, allowed, vocabulary


class Owner(Contexts):
    """Answers with its own number, so that a test sees who was asked."""

    def __init__(self, number: int) -> None:
        self.number = number

    def exit(self, context: int, label: object, text: str | None = None) -> Exit:
        return Exit(STAY, context, self.number)

    def gate(self, context: int) -> tuple[int, int] | None:
        return self.number, context

    def finish(
        self, contexts: list[int], leaf: int, before: bytes, *, names: bool = True
    ) -> Ending:
        return Ending(b"%d" % self.number)

    def value_leaf(self, context: int) -> int:
        return 100 + self.number


def value(schema: Any) -> Level:
    return Level(LevelPhase.VALUE, "", (Thread(0, None, conjunction(schema)),), 0)


def test_the_first_to_meet_a_level_owns_it() -> None:
    levels, first, second = Levels(), Owner(1), Owner(2)
    one, two = value(True), value(True)  # two schemas: two levels
    assert levels.find(one) is None
    assert [levels.context(each, first) for each in (one, one, two)] == [0, 0, 1]
    other = Level(LevelPhase.DONE, "", (), 0)
    assert [levels.context(each, second) for each in (one, other)] == [0, 2]
    assert [levels.exit(context, "label").leaf for context in (0, 1, 2)] == [1, 1, 2]
    assert [levels.gate(context) for context in (0, 2)] == [(1, 0), (2, 2)]
    assert levels.finish([0, 2], 0, b"").text == b"2"  # of a stack, the outermost answers
    assert levels.level(2) is other
    assert [levels[context] for context in range(len(levels))] == [one, two, other]


def test_a_root_that_is_written_equally_has_begun() -> None:
    levels = Levels()
    schemas = [parse_schema({"type": "integer"}, ParseOptions()).root for _ in range(2)]
    assert schemas[0].key is not None
    assert levels.begun(schemas[0]) is None
    known = frozenset([schemas[0]])
    levels.same[schemas[0].key] = known
    assert levels.begun(schemas[1]) is None  # its value is known, but no text began with it
    levels.context(Level(LevelPhase.VALUE, "", (Thread(0, None, known),), 0), Owner(3))
    assert levels.begun(schemas[1]) == (0, 103)
    assert levels.begun(parse_schema({"type": "null"}, ParseOptions()).root) is None


def test_grammars_of_one_vocabulary_share_levels() -> None:
    part = {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "null"}}}}
    texts = [(part, b'{"a":[null]}'), ({"items": part}, b'[{"a":[null]}]'), (part, b'{"a":[null]}')]

    def met(texts: list[tuple[Any, bytes]]) -> list[int]:
        """How many levels one vocabulary's machine knows after each text."""
        vocab = vocabulary()
        counts: list[int] = []
        for schema, text in texts:
            grammar = compile_json_schema(schema, vocab)
            assert grammar.matcher().accept_bytes(text) == len(text)
            contexts = grammar.recognizer.machine.contexts
            assert isinstance(contexts, Levels)
            counts.append(len(contexts))
        return counts

    alone, around, again = met(texts)
    (around_alone,) = met(texts[1:2])
    assert around - alone < around_alone  # the object within had been met
    assert again == around  # and the whole document


@pytest.mark.parametrize(
    ("schema", "text", "left_to_text"),
    [
        ({"properties": {"a": {"type": "object"}}}, b'{"a":{"b":1,"c":[{"d":1,"', True),
        ({"additionalProperties": {"const": 1}}, b'{"b":1,"c":1,"', True),
        (
            {"properties": {"a": True, "b": {"enum": [1]}}, "additionalProperties": False},
            b"{",
            False,
        ),
        ({"anyOf": [{"required": ["a"]}, {"maxProperties": 2}]}, b'{"b":1,"a":1,"', True),
        ({"patternProperties": {"^x": {"type": "array"}}}, b'{"xa":[1,2],"b":1,"', True),
    ],
)
def test_what_is_known_of_levels_is_what_their_owners_find(
    schema: Any, text: bytes, left_to_text: bool
) -> None:
    """Gates are noted as names are met, and whether names are left to the text is read off the key
    of a level that hasn't been made."""
    grammar = compile_json_schema({"type": "object", **schema}, EVERY_BYTE, whitespace="compact")
    levels, node = grammar.recognizer.machine.contexts, 0
    assert isinstance(levels, Levels)
    for end in range(len(text) + 1):
        matcher = after(grammar, text[:end])
        assert matcher is not None
        allowed(matcher)
        node = matcher.position.configuration.node
    contexts = range(len(levels))
    quick = [levels.leaves_names_to_text(context) for context in contexts]
    assert quick[grammar.recognizer.machine.stack(node)[0]] is left_to_text
    assert [levels.gate(each) for each in contexts] == [
        None if level.phase is LevelPhase.NEXT else levels.numbers.owners[each].gate(each)
        for each, level in zip(contexts, map(levels.__getitem__, contexts), strict=True)
    ]
    assert quick == [leaves_names_to_text(levels[context]) for context in contexts]
    assert quick == [levels.leaves_names_to_text(context) for context in contexts]
