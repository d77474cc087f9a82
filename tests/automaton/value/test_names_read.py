"""The names of an object, read off a text that goes on, goes back, or is another one."""
# pyright: reportPrivateUsage=false

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest

from maskwright.automaton.value import names_read
from maskwright.automaton.value.names_read import TextNames, decoded, names_since

NAMES: list[tuple[str, set[str]]] = [
    ("{", set()),
    ('{"a":1,', {"a"}),
    ('{ "a" : 1 , ', {"a"}),
    ('{"a":1,"b":"x,\\"c\\":1",', {"a", "b"}),
    ('{"a":{"b":1},"c":[{"d":1},2],', {"a", "c"}),
    ('{"a":{"b":1,', {"b"}),
    ('[1,{"a":1},{"b":1,', {"b"}),
    ('{"\\u0061":1,"\\ud83d\\ude00":2,"":3,', {"a", "😀", ""}),
    ('{"\\\\":"\\\\","\\"":1,', {"\\", '"'}),
    ('see "this": {"a":1,', {"a"}),  # within other text
]


@pytest.mark.parametrize(("text", "names"), NAMES)
def test_names_before_a_name(text: str, names: set[str]) -> None:
    data = text.encode()
    found = TextNames(bool).before(data + b'"x', len(data))
    assert {name for name in (*names, "x", "d", "c", "b") if found.has(name)} == names
    assert set(found.rests("")) == names


@pytest.mark.parametrize(("text", "names"), NAMES)
def test_names_since_a_bracket(text: str, names: set[str]) -> None:
    data = text.encode()
    depth, at = 0, len(data)
    while depth >= 0:
        at -= 1
        depth += (data[at] in b"]}") - (data[at] in b"[{")
    assert names_since(data, at) == names


def test_texts_that_grow_fork_and_go_back() -> None:
    random = Random(0)
    memory = TextNames(bool)
    texts = [[b"{"]]
    for _ in range(400):
        parts = random.choice(texts)
        if random.random() < 0.2:
            parts = parts[: random.randrange(1, len(parts) + 1)]
            texts.append(parts)
        names = {json.loads(part.split(b":")[0]) for part in parts[1:]}
        fresh = next(n for n in iter(lambda: f"k{random.randrange(99_999)}", "") if n not in names)
        data = b"".join(parts)
        found = memory.before(data, len(data))
        assert set(found.rests("")) == names
        assert set(found.rests("k1")) == {name[2:] for name in names if name.startswith("k1")}
        parts.append(json.dumps(fresh).encode() + b":1,")


def test_a_text_is_not_compared_with_every_other_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither with those whose members end elsewhere, nor with objects that have a first name
    only, and nothing of them is kept."""
    compared = 0
    count_at = names_read._ReadObject.count_at

    def counted(self: Any, text: bytes, comma: int) -> int | None:
        nonlocal compared
        compared += 1
        return count_at(self, text, comma)

    monkeypatch.setattr(names_read._ReadObject, "count_at", counted)
    memory = TextNames(bool)
    for size in range(200):
        assert memory.before(b'{"x', 1).members == 0
        data = b'{"' + size * b"x" + b'":1,'
        assert memory.before(data + b'"', len(data)).has(size * "x")
        longer = data + b'"y":2,'
        assert memory.before(longer + b'"', len(longer)).members == 2
    assert compared < 3 * 200
    assert len(memory._objects) == 200


def test_objects_that_are_forgotten_are_found_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(names_read, "_MOST_BYTES", 2_000)
    memory = TextNames(bool)
    for number in (*range(40), *range(40)):
        data = b'{"a%d":1,"b":2,' % number
        found = memory.before(data + b'"', len(data))
        assert set(found.rests("")) == {f"a{number}", "b"}
    assert len(memory._objects) < 10
    assert sum(map(len, memory._by_comma.values())) == 2 * len(memory._objects)


def test_a_member_costs_the_same_in_a_long_object(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    monkeypatch.setattr("maskwright.automaton.value.names_read.spend", read.append)
    memory, text = TextNames(bool), b"{"
    for number in range(1, 500):
        text += b'"%d":0,' % number
        found = memory.before(text, len(text))
        assert found.has(str(number))
        assert len(read) == number  # one member has been read for each


PARTIAL: list[tuple[bytes, str, bool]] = [
    (b'"', "", True),
    (b'"ab', "ab", True),
    (b'"a\\', "a", False),
    (b'"a\\u00', "a", False),
    (b'"\xc3', "", False),
    (b'"\xc3\xa9', "é", True),
    (b'"\\ud83d', "", False),
    (b'"\\ud83d\\ude', "", False),
    (b'"x\\ud83d\\ude00', "x😀", True),
]


@pytest.mark.parametrize(("spelling", "characters", "is_whole"), PARTIAL)
def test_decoded(spelling: bytes, characters: str, *, is_whole: bool) -> None:
    assert decoded(spelling) == (characters, is_whole)
