"""The structure of JSON: where brackets, commas, colons, whitespace and the end may stand."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from maskwright import compile_json_schema
from maskwright.automaton.json.contexts import JsonContexts
from maskwright.automaton.json.labels import Closed, Satisfied, StructuralLabel
from maskwright.automaton.leaf.table import LeafTable
from maskwright.automaton.machine.exits import BLOCKED, DONE, DYNAMIC, POP, PUSH, STAY
from maskwright.automaton.value.level import LevelPhase
from maskwright.automaton.value.whitespace import WHITESPACE
from maskwright.grammar.regular.terms import Tagged
from maskwright.grammar.schema.options import PropertyOrder
from maskwright.grammar.schema.tree import Json
from tests.automaton.solving import conjunction, solver
from tests.matching import EVERY_BYTE, after, matches

ANY: Any = True
PAIR: Any = {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2}
TEXTS: list[tuple[Any, str, list[str], list[str], list[str]]] = [
    # schema, whitespace, complete texts, beginnings, texts that are no beginnings
    (ANY, "compact", ["[]", "{}", '[{"a":[1,{}]}]', "null"], ["[", '{"a":', "[1,"],
     ["]", "[,", "[1,]", '{"a"}', '{"a":1,}', "[}", "[] ", " []", "[1 ,2]", '{"a": 1}']),
    (ANY, "spaced", ["[1, 2]", '{"a": [1, 2]}'], ["[1, "], ["[1,2]", '{"a":1}', "[ 1]", "[1 ]"]),
    (ANY, "pretty", ["[]", "{}", "[\n  1,\n  2\n]", '{\n  "a": {\n    "b": 1\n  }\n}'], ["[\n  "],
     ["[1", "[\n1", '{"a"', "[\n  1,2", "[\n  1]", "[\n]"]),
    (ANY, "flexible", ["[ ]", "[ 1 ,\n2 ]", '{ "a"\t: 1 }', "[1,2]"], ["[ " + " " * 31],
     [" 1", "1 ", "[ " + " " * 32]),
    (PAIR, "compact", ["[1,2]"], ["[1,"], ["[]", "[1]", "[1,2,", "{", "1"]),
    ({"type": "array", "maxItems": 0}, "flexible", ["[]", "[ ]"], ["[ "], ["[1", "[,"]),
    ({"type": "object", "maxProperties": 0}, "pretty", ["{}"], ["{"], ["{\n", '{"']),
    ({"type": ["null", "object"], "required": ["a"]}, "compact", ["null", '{"a":[]}'], ["{"],
     ["{}", "[", '{"b":1}']),
    ({"anyOf": [PAIR, {"type": "array", "items": {"type": "null"}}]}, "compact",
     ["[1,2]", "[]", "[null,null,null]"], ["[1,"], ["[1]", "[1,null", "[null,1"]),
]  # fmt: skip


@pytest.mark.parametrize("order", ["any", "schema"])
@pytest.mark.parametrize(("schema", "style", "complete", "beginnings", "neither"), TEXTS)
def test_texts(
    schema: Any,
    style: Any,
    complete: list[str],
    beginnings: list[str],
    neither: list[str],
    order: PropertyOrder,
) -> None:
    grammar = compile_json_schema(schema, EVERY_BYTE, property_order=order, whitespace=style)
    assert [text for text in complete if not matches(grammar, text)] == []
    assert [text for text in beginnings if after(grammar, text) is None] == []
    assert [text for text in beginnings if matches(grammar, text)] == []
    assert [text for text in neither if after(grammar, text) is not None] == []


def contexts(
    schema: Any,
    order: PropertyOrder = "any",
    *,
    within: bool = False,
    within_tokens: frozenset[str] | None = None,
) -> JsonContexts:
    root = None if within else conjunction(schema)
    leaves, style = LeafTable(), WHITESPACE["compact"]
    return JsonContexts(root, solver(order), leaves, style, within_tokens=within_tokens)


def test_a_bracket_opens_a_level_and_its_end_is_the_result() -> None:
    found = contexts({"type": "array", "items": {"type": "null"}})
    start, _ = found.start()
    assert found.exit(start, StructuralLabel.OBJECT).kind == BLOCKED
    opened = found.exit(start, StructuralLabel.ARRAY)
    assert opened.kind == PUSH
    level = found.level(opened.context)
    assert level is not None
    assert (level.phase, level.bracket, len(level.threads)) == (LevelPhase.FIRST, "[", 1)
    closed = found.exit(opened.context, StructuralLabel.CLOSE)
    assert (closed.kind, closed.result) == (POP, Closed(((0, None),)))
    assert closed.result is not None
    assert found.exit(start, closed.result).context == DONE


def test_a_value_within_something_else_pops_with_the_schemas_it_satisfies() -> None:
    found = contexts(None, within=True)
    integer, number, text = (conjunction({"type": t}) for t in ("integer", "number", "string"))
    context, _ = found.begin((integer, number, text))
    ended = found.exit(context, (0, 1, 0))  # a label of three kinds: the second alone
    assert (ended.kind, ended.result) == (POP, Satisfied((1,)))
    assert found.exit(context, (0, 0, 0)).kind == BLOCKED


def test_a_comma_leads_to_the_next_item_or_name() -> None:
    for schema, bracket, phase in (
        ({"type": "array"}, StructuralLabel.ARRAY, LevelPhase.VALUE),
        ({"type": "object"}, StructuralLabel.OBJECT, LevelPhase.NAME),
    ):
        found = contexts(schema)
        opened = found.exit(found.start()[0], bracket)
        level = found.level(opened.context)
        assert level is not None
        waiting = found._context(replace(level, phase=LevelPhase.NEXT))
        following = found.exit(waiting, StructuralLabel.COMMA)
        assert following.kind == (PUSH if phase is LevelPhase.VALUE else STAY)
        coming = found.level(following.context)
        assert coming is not None
        assert coming.phase is phase


def test_exits_after_items_that_must_be_remembered_are_dynamic() -> None:
    found = contexts({"type": "array", "uniqueItems": True, "items": {"type": "string"}})
    opened = found.exit(found.start()[0], StructuralLabel.ARRAY)
    unseen = found.exit(opened.context, None)
    assert unseen.kind == STAY | DYNAMIC
    read = found.exit(opened.context, None, '"a"')
    assert read.kind == STAY
    level = found.level(read.context)
    assert level is not None
    assert level.threads[0].seen == {'"a"'}
    again = found.exit(read.context, StructuralLabel.COMMA)
    assert found.exit(again.context, None, '"a"').kind == BLOCKED
    assert found.exit(again.context, None, '"b"').kind == STAY


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"type": "null"}, {"type": "null"}),
        ({"$ref": "#/$defs/list"}, {"$ref": "#/$defs/list"}),
        ({"$ref": "#/$defs/reference"}, {"$ref": "#/$defs/list", "title": "a"}),
        ({"$ref": "#/$defs/anything"}, True),
    ],
)
def test_values_written_equally_share_their_contexts(first: Json, second: Json) -> None:
    defined = {
        "list": {"type": "array", "items": {"$ref": "#/$defs/list"}},
        "reference": {"$ref": "#/$defs/list"},
        "anything": {},
    }
    found = contexts({"properties": {"a": first, "b": second}, "$defs": defined})
    opened = found.exit(found.start()[0], StructuralLabel.OBJECT)
    reader, _ = found._name_reader(opened.context)
    values = []
    for name in ("a", "b"):
        label = (1 + reader.words.index(name), 0)
        values.append(found.exit(opened.context, label, f'"{name}"'))
    assert values[0].kind == values[1].kind == PUSH
    assert values[0].context == values[1].context
    assert values[0].frame != values[1].frame  # what follows differs


def test_what_follows_a_name_that_is_not_listed_waits_for_a_text() -> None:
    """A mask needs the value after it and no more, and few members have such a name."""
    found = contexts({"properties": {"a": {"type": "null"}}}, within_tokens=frozenset())
    opened = found.exit(found.start()[0], StructuralLabel.OBJECT).context
    found._name_reader(opened)
    assert [label for _, label, _ in found.exit(opened, (1, 0)).then] == [
        Satisfied((0,)),
        StructuralLabel.COMMA,
        StructuralLabel.CLOSE,
    ]
    unseen = found.exit(opened, (0, 1))
    assert unseen.kind == PUSH | DYNAMIC
    assert not unseen.then
    assert found.exit(opened, (0, 1), '"b"') == unseen._replace(kind=PUSH)
    levels = len(found.levels)
    ended = found.exit(unseen.frame, Satisfied((0,)))
    assert (ended.kind, ended.context) == (STAY, unseen.frame)
    assert ended._replace(then=()) == found.exit(unseen.frame, Satisfied((0,)))
    assert len(found.levels) == levels + 1, "the next name's"
    for context, label, known in ended.then:
        assert found.exit(context, label) == known


@pytest.mark.parametrize("name", ["b", "kept", r"a\u0062", "c"])
@pytest.mark.parametrize("also", [{}, {"minProperties": 3}, {"const": {"b": 1, "a": 2}}])
def test_a_name_left_to_the_text_leads_where_any_new_one_does(name: str, also: Any) -> None:
    """What is found without the text is taken for it, except for names that are remembered."""
    parts: list[Json] = [{"type": "object", **also}, {"type": "object", "required": ["d"]}]
    found = contexts({"anyOf": parts}, within_tokens=frozenset({"kept"}))
    opened = found.exit(found.start()[0], StructuralLabel.OBJECT).context
    term = found._name_reader(opened)[0].term
    assert isinstance(term, Tagged)
    label = (0, *[1] * (len(term.parts) - 1))
    unseen = found.exit(opened, label)
    assert unseen.kind & DYNAMIC
    read = found.exit(opened, label, f'"{name}"')
    assert read.kind in (PUSH, STAY)
    if name == "kept" or "minProperties" in also:
        assert read != unseen._replace(kind=read.kind), "the name is remembered"
    found._new_names.clear()
    assert found.exit(opened, label, f'"{name}"') == read


def test_a_value_alone_ends_alike_whatever_was_read() -> None:
    found = contexts({"additionalProperties": {"type": ["integer", "array"]}})
    opened = found.exit(found.start()[0], StructuralLabel.OBJECT).context
    found._name_reader(opened)
    value = found.exit(opened, (0, 1)).context
    level, (reader, _) = found.levels[value], found._value_reader(value)
    read = found.exit(value, 1)
    assert read == found._after_value(level, reader.read(1), None)
    assert found.exit(value, Closed(((0, None),))) == read
    assert found.exit(value, Closed(())).kind == BLOCKED


def test_a_whole_text_ends_alike_whatever_was_read() -> None:
    found = contexts({"type": ["integer", "array"]})
    start, _ = found.start()
    reader, _ = found._value_reader(start)
    read = found.exit(start, 1)
    assert read == found._after_value(found.levels[start], reader.read(1), None)
    assert found.exit(start, Closed(((0, None),))) == read
    assert found.exit(start, Closed(())).kind == BLOCKED
    assert found.levels.gates[start] is None
    assert found.gate(start) is None


def test_the_exits_with_brackets_come_with_the_space_before_a_value() -> None:
    found = contexts({"type": ["object", "array"], "items": {"type": "null"}})
    start, _ = found.start()
    before = found.exit(start, StructuralLabel.SPACE)
    assert len(before.then) == 4
    for context, label, known in before.then:
        assert found.exit(context, label)._replace(then=()) == known
    opened = [exit.context for context, _, exit in before.then if context == start]
    assert [level.bracket for level in map(found.levels.__getitem__, opened)] == ["{", "["]
    assert not found.exit(opened[0], StructuralLabel.SPACE).then


EITHER: Json = {
    "type": "object",
    "properties": {"next": {"$ref": "#"}, "a": {"type": "null"}, "b": {"type": "null"}},
    "additionalProperties": False,
    "anyOf": [
        {"required": ["a"], "properties": {"b": False}},
        {"required": ["b"], "properties": {"a": False}},
    ],
}
"""An object with `a` or `b`, but not with both, and such an object within it."""


def test_threads_that_wait_for_one_value_read_it_once() -> None:
    found = contexts(EITHER)
    first, _ = found.start()
    context, frame = first, first
    for _ in range(3):
        opened = found.exit(context, StructuralLabel.OBJECT).context
        assert [thread.tag for thread in found.levels[opened].threads] == [0, 0]
        reader, _ = found._name_reader(opened)
        assert isinstance(reader.term, Tagged)
        label = (1 + reader.words.index("next"), *(0 for _ in reader.term.parts[1:]))
        named = found.exit(opened, label, '"next"')
        context, frame = named.context, named.frame
        assert found.levels[frame].waiting == ((0, 1),)
        assert found.levels[context].threads == found.levels[first].threads
    after = found.levels[found.exit(frame, Satisfied((0,))).context]
    assert (after.threads, after.waiting) == (found.levels[frame].threads, ())


def test_threads_that_wait_for_different_values_are_told_apart() -> None:
    """Two of the threads wait for a number, the third one for a string or a number."""
    shared = {"type": "number"}
    one, two = {"x": shared, "y": {"const": 1}}, {"x": shared, "y": {"const": 2}}
    three = {"x": {"type": ["string", "number"]}, "y": {"const": 3}}
    schema = {
        "type": "object",
        "anyOf": [{"properties": each, "required": ["x", "y"]} for each in (one, two, three)],
        "additionalProperties": False,
    }
    grammar = compile_json_schema({**schema, "properties": {"x": True, "y": True}}, EVERY_BYTE)
    assert [y for y in range(5) if matches(grammar, f'{{"x":1,"y":{y}}}')] == [1, 2, 3]
    assert [y for y in range(5) if matches(grammar, f'{{"x":"","y":{y}}}')] == [3]


def test_levels_grow_with_the_depth_of_a_text_no_faster_than_the_text() -> None:
    grammar = compile_json_schema(EITHER, EVERY_BYTE, property_order="any")
    depth = 40
    text = '{"next":' * depth + '{"b":null}' + ',"a":null}' * depth
    assert matches(grammar, text)
    assert after(grammar, text.replace(',"a":null}', ',"a":null,"b"', 1)) is None
