"""What is hidden from the collector of garbage is in no circle, and little is left for it."""

from __future__ import annotations

import gc
import json
import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from gzip import decompress
from pathlib import Path
from random import Random
from typing import Any, Final
from unittest.mock import patch

import pytest

from maskwright import Grammar, Vocabulary, compile_grammar, compile_json_schema, compile_regex
from maskwright.automaton.json.contexts import JsonContexts
from maskwright.automaton.json.levels import Levels
from maskwright.automaton.satisfy.solver import Solver
from maskwright.errors import MaskwrightError
from maskwright.garbage import hide, hide_group, hide_whole, show, show_circles
from maskwright.grammar.regular import derivative
from maskwright.grammar.regular.derivative import Remembered, forget_transitions
from maskwright.grammar.regular.terms import char
from maskwright.grammar.schema.parse import parse_schema
from maskwright.grammar.schema.parse_options import ParseOptions
from maskwright.grammar.schema.tree import Schema, negated
from maskwright.grammar.shape.shapes import Shapes
from maskwright.immutable import Immutable
from tests.matching import allowed, vocabulary
from tests.properties import schemas
from tests.reference_graph import in_circles, reached
from tests.source_tree import ROOT

TOKENS: Final = ('": ', '"}', "ab", "12")
TREE: Final = {"properties": {"a": {"$ref": "#"}, "b": {"type": "string"}}}
LIST: Final = {
    "$ref": "#/$defs/x",
    "$defs": {"x": {"type": "array", "items": {"$ref": "#/$defs/x"}}},
}
SHARED: Final = {
    "items": [{"$ref": "#/definitions/x"}, {"$ref": "#/definitions/x"}],
    "definitions": {"x": {"properties": {"a": {"type": "string"}}}},
}
PATTERNS: Final = (
    "^(a|b)*abb$",
    "^(?=.*[0-9])(?!.*ab).{2,8}$",
    "^((?!xy).)*$",
    r"^(?:\S+\s+){0,20}\S+$",
    r"\bab\b",
    "(a{3,40}b?){2,9}",
)
Cases = Iterable[tuple[Any, Sequence[str]]]
LONGEST: Final = 40
"""Bytes of a text that are read."""


class Link(Immutable):
    """A value that a node is made of."""

    nodes: tuple[Node, ...]


class Node:
    """What may be in a circle of its kind."""

    def __init__(self) -> None:
        self.links: tuple[Link, ...] = ()

    def lead_to(self, *nodes: Node) -> None:
        self.links = hide_whole((Link(nodes),))


def test_an_object_is_hidden_without_what_it_refers_to() -> None:
    inner = ([],)
    outer = (inner,)
    assert hide(outer) is outer
    assert not gc.is_tracked(outer)
    assert gc.is_tracked(inner)
    show(outer)
    show(outer)
    assert gc.is_tracked(outer)
    assert hide(7) == 7
    assert hide(()) == ()


def test_a_whole_object_is_hidden_with_its_containers_and_values() -> None:
    node = Node()
    link = Link((node,))
    parts = {"a": frozenset([(link,)])}
    hide_whole((parts,))
    assert not any(map(gc.is_tracked, (parts, *parts.values(), *parts["a"], link, link.nodes)))
    assert gc.is_tracked(node)


def test_a_group_is_hidden_with_the_containers_among_its_attributes() -> None:
    members = [Node() for _ in range(3)]
    inner = ([],)
    for at, member in enumerate(members):
        vars(member).update(others=[inner], after=members[at - 1], link=Link(()), known={1: inner})
    assert hide_group(members[0], frozenset([Node])) is members[0]
    for member in members:
        own = vars(member)
        assert not any(map(gc.is_tracked, (member, own, own["others"], own["known"])))
    assert gc.is_tracked(inner)


def test_what_decides_for_a_schema_is_hidden_when_the_next_one_begins() -> None:
    vocab = vocabulary(*TOKENS)
    grammars = [
        compile_json_schema({"properties": {name: {"minimum": 3}}}, vocab) for name in "abc"
    ]
    assert walked(grammars[0], '{"a":4')
    owners = [each for each in reached(grammars) if isinstance(each, JsonContexts)]
    assert sorted(map(gc.is_tracked, owners)) == [False, False, True]
    assert {type(each) for each in reached(owners) if not gc.is_tracked(each)} >= {Solver, Shapes}


def test_objects_that_lead_back_to_themselves_are_shown() -> None:
    nodes = [hide(Node()) for _ in range(5)]
    first, second, third, fourth, fifth = nodes
    first.lead_to(second, third)
    second.lead_to(third)
    fourth.lead_to(fifth)
    show_circles([first, fourth])
    assert not any(map(gc.is_tracked, nodes))
    third.lead_to(first)
    show_circles([second])
    assert [gc.is_tracked(each) for each in nodes] == [True, True, True, False, False]
    assert all(gc.is_tracked(each.links) and gc.is_tracked(each.links[0]) for each in nodes[:3])
    fifth.lead_to(fifth)
    show_circles([fourth])
    assert [gc.is_tracked(each) for each in nodes] == [True, True, True, False, True]


@pytest.mark.parametrize(
    ("document", "is_seen"), [(TREE, True), (LIST, True), (SHARED, False), ({"not": TREE}, True)]
)
def test_schemas_that_refer_to_themselves_are_seen(document: Any, is_seen: bool) -> None:
    parsed = parse_schema(document, ParseOptions())
    members = [each for each in in_circles([parsed.root]) if isinstance(each, Schema)]
    assert bool(members) == is_seen
    assert all(map(gc.is_tracked, members))
    if not is_seen:
        assert not gc.is_tracked(parsed.root)
        opposite = negated(parsed.root)
        assert gc.is_tracked(parsed.root)
        assert gc.is_tracked(opposite)


def test_a_document_with_an_error_leaves_nothing() -> None:
    """Its schemas refer to themselves, and were hidden until the error came."""
    document = {"properties": {"a": {"$ref": "#"}, "b": {"items": {"type": "strin"}}}}

    def schemas_alive() -> int:
        gc.collect()
        return sum(isinstance(each, Schema) for each in gc.get_objects())

    before = schemas_alive()
    for _ in range(3):
        with pytest.raises(MaskwrightError):
            parse_schema(document, ParseOptions())
    assert schemas_alive() == before


def walked(grammar: Grammar, text: str) -> list[object]:
    """Where the circles may begin: a grammar, and a matcher that has read what it can of a text."""
    matcher = grammar.matcher()
    for byte in text.encode()[:LONGEST]:
        allowed(matcher)
        allowed(matcher, matcher.min_tokens + 3)
        if not matcher.accept(byte):
            break
    matcher.forced_tokens()
    return [grammar, matcher]


def check(compile_it: Callable[[Any, Vocabulary], Grammar], cases: Cases) -> None:
    """Nothing that is hidden is in a circle, once the transitions of languages are forgotten and
    the owners of levels released, as they are when their tables are.

    `cases`: shapes with texts; shapes that can't be compiled are passed over, for what they leave
    behind with the vocabulary is looked at as well."""
    vocab = vocabulary(*TOKENS)
    roots: list[object] = [vocab]
    for shape, texts in cases:
        with suppress(MaskwrightError):
            grammar = compile_it(shape, vocab)
            for text in texts or ("",):
                roots += walked(grammar, text)
    assert len(roots) > 1
    forget_transitions()
    objects = reached(roots)
    for each in objects:
        if isinstance(each, JsonContexts) and not gc.is_tracked(each):
            assert each in each.levels.numbers.owners
    for each in objects:
        if isinstance(each, Levels):
            each.release()
    hidden = [each for each in in_circles(objects) if not gc.is_tracked(each)]
    assert Counter(type(each).__qualname__ for each in hidden) == {}


def test_hidden_objects_of_schemas_are_in_no_circle() -> None:
    documents = (TREE, LIST, SHARED, {"not": TREE}, {"not": SHARED})
    texts = ('{"a": {"b": "ab"}}', "[[],[]]", "[{}")
    check(compile_json_schema, [(document, texts) for document in documents])


@pytest.mark.parametrize("draw", [schemas.schema, schemas.combined])
def test_hidden_objects_of_random_schemas_are_in_no_circle(draw: Callable[[Random], Any]) -> None:
    texts = ('{"a": [1, "x"], "b": {"a": 2}}', "[1,[2],{}]")
    check(compile_json_schema, [(draw(Random(seed)), texts) for seed in range(40)])


def test_hidden_objects_of_patterns_are_in_no_circle() -> None:
    check(compile_regex, [(pattern, ("abb", "a1 b2 c3", "aaab")) for pattern in PATTERNS])
    within = [{"pattern": pattern, "maxLength": 30} for pattern in PATTERNS]
    check(compile_json_schema, [(schema, ('"abb', '"a1')) for schema in within])


def test_hidden_objects_of_grammars_are_in_no_circle() -> None:
    cases: list[tuple[str, list[str]]] = []
    for path in sorted((ROOT / "grammars").glob("*.toml")):
        accepted = tomllib.loads(path.read_text())["accepted"]
        cases.append((path.with_suffix(".lark").read_text(), accepted[:2]))
    check(compile_grammar, cases)


@pytest.mark.parametrize(
    ("name", "every"),
    [
        ("json-schema-test-suite.jsonl.gz", 9),
        ("maskbench-dev.jsonl.gz", 60),
        pytest.param("json-schema-test-suite.jsonl.gz", 1, marks=pytest.mark.slow),
        pytest.param("maskbench-dev.jsonl.gz", 5, marks=pytest.mark.slow),
    ],
)
def test_hidden_objects_of_other_schemas_are_in_no_circle(
    name: str, every: int, shared_data: Callable[[str], Path]
) -> None:
    lines = decompress(shared_data(name).read_bytes()).decode().rstrip("\n").split("\n")
    cases = [json.loads(line) for line in lines[::every]]
    valid = [[json.dumps(t["data"]) for t in case["tests"] if t["valid"]] for case in cases]
    check(
        compile_json_schema,
        [(case["schema"], texts[:1]) for case, texts in zip(cases, valid, strict=True)],
    )


def test_few_objects_of_a_schema_are_left_for_the_collector() -> None:
    """Each that is left counts towards the next full collection, which looks at all there are."""
    vocab = vocabulary(*TOKENS)
    fields = [f"field_{number}" for number in range(12)]
    kinds: tuple[Any, ...] = (
        {"type": "string"},
        {"type": "integer", "minimum": 1, "maximum": 90},
        {"enum": ["ab", "abc", "x"]},
        {"type": "array", "items": {"type": "number"}, "maxItems": 4},
        {"type": "string", "pattern": "^[a-z]{2,9}$"},
        {"anyOf": [{"type": "null"}, {"type": "object", "properties": {"a": {"type": "null"}}}]},
    )
    grammars: list[Grammar] = []

    def meet(seed: int) -> None:
        random = Random(seed)
        names = random.sample(fields, 6)
        properties = {name: random.choice(kinds) for name in names}
        schema = {
            "type": "object",
            "properties": properties,
            "required": names[:3],
            "title": str(seed),
        }
        grammar = compile_json_schema(schema, vocab)
        walked(grammar, f'{{"{names[0]}": "abc')
        grammars.append(grammar)

    for seed in range(20):
        meet(seed)
    gc.collect()
    before = len(gc.get_objects())
    for seed in range(20, 60):
        meet(seed)
    gc.collect()
    assert (len(gc.get_objects()) - before) / 40 < 100


def test_masks_are_equal_where_transitions_are_forgotten_at_once() -> None:
    def masks(drawn: Any) -> list[set[int]]:
        matcher = compile_json_schema(drawn, vocabulary(*TOKENS)).matcher()
        found = [allowed(matcher)]
        for byte in b'{"a": [1, "x"], "b": {"a": 2}}':
            if not matcher.accept(byte):
                break
            found.append(allowed(matcher))
        return found

    compared = 0
    for seed in range(20):
        drawn = schemas.schema(Random(seed))
        try:
            expected = masks(drawn)
        except MaskwrightError:  # it has no instances
            continue
        forget_transitions()
        with patch.object(derivative, "REMEMBERED", 1):
            assert masks(drawn) == expected
        compared += 1
    assert compared >= 15


def test_threads_remember_transitions_together() -> None:
    remembered = Remembered()
    terms = [char(chr(0x4E00 + number)) for number in range(50)]

    def work(thread: int) -> None:
        for turn in range(400):
            for term in terms:
                remembered.add(term, 3)
            if turn % 4 == thread:
                remembered.clear()

    between = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as threads:
            list(threads.map(work, range(4)))
    finally:
        sys.setswitchinterval(between)
    remembered.clear()
    assert remembered.size == 0
