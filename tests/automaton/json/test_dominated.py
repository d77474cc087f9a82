"""Threads that others outdo are dropped; that no text is lost is what `tests/properties` shows."""

from __future__ import annotations

from typing import Any

import pytest

from maskwright import compile_json_schema
from maskwright.automaton.value.level import LevelPhase
from tests.matching import EVERY_BYTE

ONE_OF: dict[str, Any] = {
    "oneOf": [
        {"properties": {"a": {"pattern": f"{n}.*{n}"}, "b": {"minimum": n}}, "required": ["a"]}
        for n in range(5)
    ],
    "type": "object",
}
CONTAINS: dict[str, Any] = {
    "allOf": [{"contains": {"minimum": n}, "minContains": n} for n in range(1, 5)],
    "type": "array",
}


@pytest.mark.parametrize(
    ("schema", "text"), [(ONE_OF, b'{"a":"1 1","c":1 '), (CONTAINS, b"[1,2,3,4 ")]
)
def test_a_known_value_leaves_one_thread(schema: dict[str, Any], text: bytes) -> None:
    grammar = compile_json_schema(schema, EVERY_BYTE, property_order="any")
    matcher = grammar.matcher()
    assert matcher.accept_bytes(text) == len(text)
    node = matcher._path[-1].configuration.node
    level = grammar.recognizer.machine.contexts.level(
        int(grammar.recognizer.machine.arrays.node_context[node])
    )
    assert level is not None
    assert (level.phase, len(level.threads)) == (LevelPhase.NEXT, 1)
