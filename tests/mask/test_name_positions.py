"""Names that the text alone shows to be taken: the masks within a name, and what members cost."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from maskwright import Grammar, Matcher, Vocabulary, compile_json_schema, compile_tools
from maskwright.automaton.json.contexts import JsonContexts
from maskwright.automaton.machine.exits import Configuration, Exit
from maskwright.automaton.value.level import Level, Thread
from maskwright.automaton.value.progress import ObjectProgress
from maskwright.errors import BudgetError
from maskwright.mask.shared.generations import tables_of
from tests.counting import Counting
from tests.matching import after as after_text
from tests.matching import allowed

PIECES = [
    *('"a', 'a"', '"a"', '"b":', '","', '":1,"', '":1', ',"', 'b":1}', '{"', "ab", 'aa"', "u00"),
    *("\\u0061", '0061"', "é", "\\ud83d", '\\ude00"', 'x":{"', '"},"', '":{"a', '1,"a":', "x_"),
    *('"a":1,"b', '},"', '"x_', 'x_1"'),
]
TOKENS = [b"", *(bytes([byte]) for byte in range(256)), b'\xa9"', *(p.encode() for p in PIECES)]
FAVOURITES = (b"a", b'"', b"b", b'a"', b",", b'":', b"1", b"x_", b',"', b'":1,"', b"\\u0061", b"{")
ONE = {"const": 1}
SCHEMAS: dict[str, Any] = {
    "open": {"properties": {"ab": {"type": "integer"}, "age": {}}, "required": ["age"]},
    "map": {"additionalProperties": {"type": ["integer", "object"]}},
    "patterns": {"patternProperties": {"^x_": {}, "^a*$": ONE}, "additionalProperties": False},
    "a name that runs out": {
        "patternProperties": {"^(a|b[ab]*)$": ONE},
        "additionalProperties": False,
    },
    "short names": {"propertyNames": {"maxLength": 2}, "additionalProperties": ONE},
    "at least four": {"minProperties": 4, "additionalProperties": ONE},
    "two to five": {"minProperties": 2, "maxProperties": 5, "additionalProperties": ONE},
    "some member": {"not": {"additionalProperties": {"type": "integer"}}},
    "two threads": {
        "anyOf": [
            {"properties": {"a": ONE}, "additionalProperties": ONE},
            {"properties": {"b": {"const": 2}}, "additionalProperties": {"const": 2}},
        ]
    },
    "nested": {"additionalProperties": {"type": "object", "additionalProperties": ONE}},
}


def _grammars(schema: Any, **options: Any) -> tuple[Grammar, Grammar]:
    """A grammar that leaves names to the text, and one whose contexts remember every name."""
    by_text, remembering = (Vocabulary(TOKENS, special=(0,), eos=0) for _ in range(2))
    tables_of(remembering).parts.__dict__["names_within_tokens"] = None
    return (
        compile_json_schema({"type": "object", **schema}, by_text, **options),
        compile_json_schema({"type": "object", **schema}, remembering, **options),
    )


def after(grammar: Grammar, text: bytes) -> Matcher:
    """A matcher after a text of the grammar."""
    matcher = after_text(grammar, text)
    assert matcher is not None
    return matcher


def _mask(matcher: Matcher, budget: int | None) -> set[int]:
    """The tokens allowed, none where no completion is short enough."""
    try:
        return allowed(matcher, budget)
    except BudgetError:
        return set()


@pytest.mark.parametrize("options", [{}, {"property_order": "any", "whitespace": "compact"}])
@pytest.mark.parametrize("name", SCHEMAS)
def test_masks_are_those_of_contexts_that_remember_each_name(
    name: str, options: dict[str, Any]
) -> None:
    by_text, remembering = _grammars(SCHEMAS[name], **options)
    for seed in range(4):
        random = Random(seed)
        here, there = by_text.matcher(), remembering.matcher()
        for _ in range(60):
            mask = _mask(here, None)
            assert mask == _mask(there, None)
            assert here.next_bytes() == there.next_bytes()
            for token in random.sample(range(len(TOKENS)), 10):
                assert here.copy().accept(token) is (token in mask), TOKENS[token]
            liked = [token for token in mask if TOKENS[token] in FAVOURITES]
            token = random.choice(liked if liked and random.random() < 0.8 else sorted(mask))
            assert here.accept(token)
            assert there.accept(token)
            if here.terminated:
                break


@pytest.mark.parametrize("budget", [7, 24])
@pytest.mark.parametrize("name", ["open", "map", "patterns", "a name that runs out"])
def test_every_token_within_a_budget_leaves_enough_for_the_rest(name: str, budget: int) -> None:
    grammar, _ = _grammars(SCHEMAS[name])
    for seed in range(4):
        random = Random(seed)
        matcher = grammar.matcher()
        for left in range(budget, 0, -1):
            mask = sorted(_mask(matcher, left))
            assert mask
            for token in random.sample(mask, min(8, len(mask))):
                following = matcher.copy()
                assert following.accept(token)
                assert following.min_tokens < left, TOKENS[token]
            liked = [token for token in mask if TOKENS[token] in FAVOURITES]
            assert matcher.accept(random.choice(liked if liked and random.random() < 0.8 else mask))
            if matcher.terminated:
                break
        assert matcher.terminated or matcher.accepting


@pytest.mark.parametrize("name", ["open", "map", "patterns", "short names", "nested"])
def test_tokens_after_which_the_completion_repeats_a_name_are_found(name: str) -> None:
    """Without looking at each token, as here, where no name begins like the present one."""
    grammar, _ = _grammars(SCHEMAS[name], property_order="any", whitespace="compact")
    costs, spellings = grammar.budgets.costs, grammar.vocabulary.spellings
    repeating = alone = 0
    for seed in range(6):
        random, matcher, text = Random(seed), grammar.matcher(), b""
        for _ in range(40):
            here = matcher.position.configuration
            groups = grammar.walker.tokens_needing_more_than(here, -1)
            for number, target in enumerate(groups.targets):
                tokens = groups.tokens[groups.group == number]
                expected = [
                    at
                    for at, token in enumerate(tokens.tolist())
                    if costs.places.repeats_name(target, text + spellings[token])
                ]
                assert costs.repeating(here, text, target, tokens) == expected, (text, expected)
                repeating += len(expected)
                within = grammar.walker.names.stays_within(here, target)
                alone += within and not grammar.walker.names.may_repeat(text)
            mask = sorted(_mask(matcher, None))
            liked = [token for token in mask if TOKENS[token] in FAVOURITES]
            token = random.choice(liked if liked and random.random() < 0.8 else mask)
            assert matcher.accept(token)
            text += spellings[token]
            if matcher.terminated:
                break
    assert repeating
    assert alone


REPEATS: list[tuple[bytes, bytes, bool]] = [
    (b'{"a":1,"', b'a"', False),
    (b'{"a":1,"', b"ab", True),
    (b'{"aa":1,"a', b'a"', False),
    (b'{"aa":1,"\\u0061', b'a"', False),
    (b'{"a":1,"\\u', b'0061"', False),
    (b'{"b":1,"\\u', b'0061"', True),
    (b'{"\xc3\xa9":1,"\xc3', b'\xa9"', False),
    (b'{"\xf0\x9f\x98\x80":1,"\\ud83d', b'\\ude00"', False),
    (b'{"a":{"a":1},"b":{"', b'a"', True),  # names of another object are free
    (b'{"a":{"b":1},"', b'a"', False),
    (b'{"b":"{\\"a\\":1",  "', b'a"', True),  # within a string there are no names
    (b'{"a" : [{"b":[1]}] , "', b'a"', False),
]


@pytest.mark.parametrize(("text", "token", "may_come"), REPEATS)
def test_names_are_compared_by_value(text: bytes, token: bytes, *, may_come: bool) -> None:
    by_text, _ = _grammars({})
    matcher = after(by_text, text)
    assert (TOKENS.index(token) in allowed(matcher)) is may_come
    assert matcher.accept(TOKENS.index(token)) is may_come


def test_forks_and_rollbacks_know_their_own_names() -> None:
    matcher = after(_grammars({})[0], b'{"b":1,"a":1')
    fork = matcher.copy()
    rest, other = b',"aa":1,"', b',"ab":1,"'
    for data in (rest, other, rest):
        assert matcher.accept_bytes(data) == len(data)
        assert (TOKENS.index(b'aa"') in allowed(matcher)) is (data is other)
        matcher.rollback(1)
    assert fork.accept_bytes(other) == len(other)
    assert TOKENS.index(b'aa"') in allowed(fork)
    assert TOKENS.index(b'a"') not in allowed(fork)


def _members(count: int) -> bytes:
    return b",".join(b'"k%03da":"x"' % number for number in range(count))


OPEN_OBJECTS: list[tuple[Any, bytes]] = [
    ({"properties": {"name": {}, "age": {}}, "required": ["name", "age"]}, b'"name":1,"age":2,'),
    ({"additionalProperties": {"type": "string"}}, b""),
    ({"patternProperties": {"^k": {"type": "string"}}, "additionalProperties": False}, b""),
    ({"propertyNames": {"pattern": "^[a-z0-9]{1,64}$"}}, b""),
    ({"minProperties": 3, "additionalProperties": {"type": "string"}}, b""),
]


@pytest.mark.parametrize("order", ["schema", "any"])
@pytest.mark.parametrize(("schema", "begin"), OPEN_OBJECTS)
def test_members_add_nothing_to_a_grammar(schema: Any, begin: bytes, order: Any) -> None:
    vocabulary = Vocabulary(TOKENS, special=(0,), eos=0)
    grammar = compile_json_schema({"type": "object", **schema}, vocabulary, property_order=order)
    _read_members(grammar, begin, 20)
    before = _sizes(grammar)
    _read_members(grammar, begin, 200)
    assert _sizes(grammar) == before


def test_members_of_arguments_add_nothing_to_a_tool() -> None:
    schema = {"type": "object", "properties": {"age": {}}, "required": ["age"]}
    tool = {"type": "function", "function": {"name": "f", "parameters": schema}}
    grammar = compile_tools([tool], "required", Vocabulary(TOKENS, special=(0,), eos=0))
    call = b'<tool_call>\n{"name": "f", "arguments": '
    _read_members(grammar, b'"age":1,', 20, call)
    before = _sizes(grammar)
    _read_members(grammar, b'"age":1,', 200, call)
    assert _sizes(grammar) == before


def _read_members(grammar: Grammar, begin: bytes, count: int, before: bytes = b"") -> None:
    """Read an object token by token with a mask at each, and try to repeat names at its end."""
    matcher = grammar.matcher()
    text = before + b"{" + begin + _members(count) + b',"'
    for token in grammar.vocabulary.encode(text):
        assert token in allowed(matcher)
        assert matcher.accept(token)
    last = b"k%03d" % (count - 1)
    assert matcher.accept_bytes(last) == len(last)
    assert TOKENS.index(b'a"') not in allowed(matcher)


def _sizes(grammar: Grammar) -> dict[str, int]:
    """What a grammar has made so far that is kept."""
    shared = grammar.recognizer.shared
    return {
        "exits": shared.machine.exits,
        "nodes": len(shared.machine.arrays.node_context),
        "leaf states": grammar.recognizer.tables.leaves.weight,
        "positions": len(shared.positions),
        "rows": len(grammar.recognizer.tables.rows),
    }


def test_a_name_that_no_other_begins_with_goes_on_by_position() -> None:
    """Where its tokens lead is found out once, whatever names the text has before."""
    grammar, _ = _grammars({"additionalProperties": ONE})
    first = after(grammar, b'{"ab": 1, "aa": 1, "b')
    for byte in b"abcabcabc":
        before = first.position
        assert first.accept(TOKENS.index(bytes([byte])))
        assert before.moved(TOKENS.index(bytes([byte]))) is first.position
    other = after(grammar, b'{"x": 1, "y": 1, "z": 1, "bab')
    assert other.position is first.position
    assert TOKENS.index(b'a"') in allowed(other)


def test_a_name_that_another_begins_with_depends_on_the_text() -> None:
    grammar, _ = _grammars({"additionalProperties": ONE})
    matcher = after(grammar, b'{"abab": 1, "ab')
    assert not matcher.position.begins_no_name
    assert matcher.accept(TOKENS.index(b"a"))
    before = after(grammar, b'{"abab": 1, "ab').position
    assert before.moved(TOKENS.index(b"a")) is None
    assert matcher.accept(TOKENS.index(b"b"))
    assert TOKENS.index(b'"') not in allowed(matcher)
    assert matcher.accept(TOKENS.index(b"a"))
    assert matcher.position.begins_no_name


@pytest.mark.parametrize("budget", [None, 1_000])
def test_names_that_differ_in_what_they_exclude_share_a_walk(
    monkeypatch: pytest.MonkeyPatch, budget: int | None
) -> None:
    grammar, remembering = _grammars({"additionalProperties": ONE}, whitespace="compact")
    texts = (b'{"ab":1,"a', b'{"aa":1,"a', b'{"x":1,"a', b'{"ab":1,"aa":1,"a')
    matchers = [after(grammar, text) for text in texts]
    assert len({matcher.position for matcher in matchers}) == 4
    assert len({matcher.position.configuration for matcher in matchers}) == 1
    walk = Counting(grammar.recognizer.walk, "supplied_row")
    monkeypatch.setattr(grammar.recognizer, "walk", walk)
    masks = [allowed(matcher, budget) for matcher in matchers]
    begun = [
        Configuration(leaf, node) for leaf, node, _, _, stopped, *_ in walk.calls if not stopped
    ]
    assert begun == [matchers[0].position.configuration]
    assert masks == [allowed(after(remembering, text), budget) for text in texts]


def test_names_that_are_left_to_the_text_share_the_way_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """What follows is what a walk has found without the text, but after those that are
    remembered."""
    asked: list[frozenset[str]] = []
    after_threads = JsonContexts._after_threads

    def noted(
        self: JsonContexts, level: Level, threads: tuple[Thread, ...], dynamic: int = 0
    ) -> Exit:
        progresses = [thread.progress for thread in threads if not dynamic]
        asked.extend(p.others for p in progresses if isinstance(p, ObjectProgress))
        return after_threads(self, level, threads, dynamic)

    monkeypatch.setattr(JsonContexts, "_after_threads", noted)
    grammar, _ = _grammars({"properties": {"ab": {}}, "additionalProperties": ONE})
    matcher = after(grammar, b'{"x":1,"yy":1,"zzz":1,')
    assert not asked
    assert TOKENS.index(b'"a"') in allowed(matcher)
    assert matcher.accept_bytes(b'"a":1,') == 6
    assert asked == [{"a"}]
    assert TOKENS.index(b'"a"') not in allowed(matcher)
    assert matcher.accept_bytes(b'"bb":1,"a') == 9
    assert TOKENS.index(b'"') not in allowed(matcher)
    assert {"a"} in asked
