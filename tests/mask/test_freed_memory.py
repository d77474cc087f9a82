"""What is compiled and dropped is freed without a garbage collection, at the latest when other
tables are dropped; a garbage collection frees it too."""

from __future__ import annotations

import gc
import weakref
from collections import Counter
from collections.abc import Callable, Iterator

import pytest

from maskwright import (
    Grammar,
    Vocabulary,
    compile_grammar,
    compile_json_schema,
    compile_regex,
    compile_tools,
)
from maskwright.grammar.regular.terms import Regular
from maskwright.mask.shared.generations import generations_of
from tests.mask.abandoned import forget
from tests.matching import BYTES, allowed

OBJECT = {
    "type": "object",
    "properties": {
        "a": {"type": "string", "pattern": "^(ab)+c?$"},
        "b": {"anyOf": [{"type": "integer"}, {"type": "array", "uniqueItems": True}]},
        "c": {"oneOf": [{"required": ["x"]}, {"required": ["y"]}]},
    },
}
TOOL = {"type": "function", "function": {"name": "f", "parameters": OBJECT}}
CASES: dict[str, tuple[Callable[[Vocabulary], Grammar], str]] = {
    "schema": (
        lambda v: compile_json_schema(OBJECT, v),
        '{"a":"abab","b":[1,"x",[1]],"c":{"x":1}}',
    ),
    "schemas": (
        lambda v: [compile_json_schema(each, v) for each in ({"enum": [[1], {"b": 2}]}, OBJECT)][1],
        '{"a":"abab","b":[1,"x",[1]],"c":{"x":1}}',
    ),
    "pattern": (lambda v: compile_regex("(ab|cd)*x{3,9}", v), "abcdxxxx"),
    "rules": (lambda v: compile_grammar('start: "(" start ")" | /[a-z]+/', v), "((abc))"),
    "tools": (
        lambda v: compile_tools([TOOL], "required", v),
        '<tool_call>\n{"name": "f", "arguments": {"b": [1, 2, 3]}}\n</tool_call>',
    ),
}


@pytest.fixture(autouse=True)
def without_collector() -> Iterator[None]:
    forget()
    gc.disable()
    yield
    gc.enable()


def use(grammar: Grammar, text: str) -> None:
    """Ask everything that a matcher can be asked."""
    matcher = grammar.matcher()
    for byte in text.encode():
        allowed(matcher)
        allowed(matcher, matcher.min_tokens + 3)
        assert matcher.accept(byte)
        matcher.forced_tokens()
        matcher.events()
    assert matcher.accepting


def drop_others(vocab: Vocabulary) -> None:
    """Drop tables without a grammar, so that the ones that were dropped before are freed."""
    generations_of(vocab).retire(generations_of(vocab).newest())


def ours() -> Counter[str]:
    """How many objects of each of this package's classes there are, beside languages."""
    classes = (type(each) for each in gc.get_objects())
    return Counter(
        each.__qualname__
        for each in classes
        if str(each.__module__).startswith("maskwright.") and not issubclass(each, Regular)
    )


@pytest.mark.parametrize("name", CASES)
def test_what_is_dropped_is_freed(name: str) -> None:
    compile_it, text = CASES[name]
    vocab = Vocabulary((*BYTES, b""), eos=256)
    use(compile_it(vocab), text)  # what stays with the vocabulary
    drop_others(vocab)
    drop_others(vocab)
    before = ours()
    grammar = compile_it(vocab)
    use(grammar, text)
    made = (ours() - before).total()
    tables = grammar.recognizer.tables
    dropped = {
        "grammar": weakref.ref(grammar),
        "machine": weakref.ref(grammar.recognizer.machine),
        "contexts": weakref.ref(grammar.recognizer.machine.contexts),
        "leaves": weakref.ref(tables.leaves),
        "rows": weakref.ref(tables.rows),
    }
    generations_of(vocab).retire(tables)
    del grammar, tables
    drop_others(vocab)
    assert [each for each, reference in dropped.items() if reference() is not None] == []
    left = ours() - before
    for kind in ("Schema", "Not"):  # a schema and its negation refer to each other
        del left[kind]
    assert left.total() <= made // 20, left


def test_a_garbage_collection_frees_what_was_dropped() -> None:
    vocab = Vocabulary((*BYTES, b""), eos=256)
    grammar = compile_json_schema(OBJECT, vocab)
    use(grammar, CASES["schema"][1])
    tables = weakref.ref(grammar.recognizer.tables)
    generations_of(vocab).retire(grammar.recognizer.tables)
    del grammar
    assert tables() is not None
    gc.collect()
    assert tables() is None


@pytest.mark.parametrize("number", [1, 3])
@pytest.mark.parametrize("name", CASES)
def test_a_garbage_collection_frees_a_vocabulary(name: str, number: int) -> None:
    """With all that it was used for, of which the collector doesn't see everything."""
    compile_it, text = CASES[name]
    vocab = Vocabulary((*BYTES, b""), eos=256)
    for at in range(number):
        compile_json_schema({"properties": {f"{at}": {"$ref": "#"}}}, vocab).matcher()
        use(compile_it(vocab), text)
    dropped = weakref.ref(vocab)
    del vocab
    gc.collect()
    assert dropped() is None


def test_a_matcher_at_work_keeps_what_it_needs() -> None:
    vocab = Vocabulary((*BYTES, b""), eos=256)
    grammar = compile_json_schema(OBJECT, vocab)
    matcher = grammar.matcher()
    assert matcher.accept_bytes(b'{"b":[1') == 7
    generations_of(vocab).retire(grammar.recognizer.tables)
    del grammar
    assert not matcher.copy().accept(ord("x"))
    assert matcher.accept_bytes(b',"x",[1]],"c":{"y":2}}') == 22
    assert matcher.accepting
    assert matcher.events()
