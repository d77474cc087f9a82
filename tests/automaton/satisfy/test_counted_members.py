"""Members where only the number matters, held against the search that chooses them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from maskwright.automaton.satisfy import counted_parts
from maskwright.automaton.value.witness_text import compact
from maskwright.errors import LimitError
from tests.automaton.solving import conjunction, solver
from tests.bounds import counted_calls

KINDS: tuple[Any, ...] = (True, {"type": "string", "minLength": 3}, {"const": 12345}, False)
NAMED = {f"{'n' * (at % 4)}{at}": KINDS[at % 4] for at in range(12)}
OBJECTS: list[dict[str, Any]] = [
    {"properties": NAMED, "minProperties": 5},
    {"properties": NAMED, "minProperties": 5, "additionalProperties": False},
    {"properties": NAMED, "minProperties": 5, "required": ["n1", "nn2", "x"]},
    {"properties": NAMED, "minProperties": 9, "additionalProperties": False},
    {"properties": NAMED, "minProperties": 10, "additionalProperties": False},
    {"properties": NAMED, "minProperties": 5, "maxProperties": 5, "required": ["nnn7"]},
    {"properties": NAMED, "minProperties": 4, "additionalProperties": False,
     "required": ["nnn3"]},
    {"properties": NAMED, "minProperties": 14, "patternProperties": {"^[ab]$": {"type": "null"}},
     "additionalProperties": {"type": "string", "minLength": 9}},
    {"minProperties": 6, "patternProperties": {"^[a-c]$": True}, "additionalProperties": False},
    {"minProperties": 3, "patternProperties": {"^[a-c]$": True}, "additionalProperties": False},
]  # fmt: skip


def shortest(schema: dict[str, Any]) -> str | None:
    found = solver().shortest.of(conjunction({"type": "object", **schema}))
    return None if found is None else compact(found)


@pytest.mark.parametrize("schema", OBJECTS)
def test_the_text_is_as_short_as_that_of_the_search(
    schema: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    searched = shortest(schema)
    monkeypatch.setattr(counted_parts, "_FEW_MEMBERS", 0)
    monkeypatch.setattr(counted_parts, "_FEW_STEPS", -1)
    counted = shortest(schema)
    if searched is None or counted is None:
        assert counted is searched
    else:
        assert len(counted) == len(searched)
        names = [name for name, _ in json.loads(counted, object_pairs_hook=list)]
        assert len(names) == len(set(names)) >= schema["minProperties"]
        assert set(schema.get("required", ())) <= set(names)
        listed = [name for name in names if name in NAMED]
        assert listed == sorted(listed, key=[*NAMED].index)


def test_some_of_hundreds_of_names_are_chosen_at_once() -> None:
    schema = {"properties": {f"name{at}": True for at in range(400)}, "minProperties": 12}
    with counted_calls() as calls:
        found = shortest(schema)
    assert calls.count < 100_000  # 72 million, and the limit `work`, with a search
    assert found is not None
    assert len(json.loads(found)) == 12


def test_more_members_than_anybody_writes_meet_a_limit() -> None:
    with pytest.raises(LimitError) as raised:
        shortest({"minProperties": 20_001})
    assert raised.value.limit == "witness_search"
