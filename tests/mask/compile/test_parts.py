"""Parts of tags and calls: their rules, reports, and arguments that are used again."""

from __future__ import annotations

from typing import Any

import pytest

from maskwright.errors import StructuralTagError
from maskwright.grammar.schema.tree import Schema
from maskwright.grammar.tags.tree import GrammarText, JsonSchemaText
from maskwright.grammar.tools.formats import tool_format
from maskwright.grammar.tools.tools import Tool
from maskwright.limits import DEFAULT_LIMITS
from maskwright.mask.compile.parts import Parts
from tests.matching import EVERY_BYTE


def parts() -> Parts:
    return Parts(EVERY_BYTE, "spaced", "schema", "digits", "needed", "allow", "any", DEFAULT_LIMITS)


def test_grammars_in_one_tag_keep_their_rules_apart() -> None:
    several = parts()
    for text in ('start: x\nx: "a" x | "b"', 'start: x\nx: "c" x | "d"'):
        several.leaf(GrammarText(text, ""))
    assert len(several.rules) == 4


def test_reports_name_the_place_in_the_whole() -> None:
    several = parts()
    several.leaf(JsonSchemaText({"type": "integer"}, "/format/json_schema"))
    assert {entry.pointer for entry in several.enforced} == {"/format/json_schema"}


def test_faults_of_a_grammar_name_its_place() -> None:
    with pytest.raises(StructuralTagError) as refused:
        parts().leaf(GrammarText("root ::= (", "/format/grammar"))
    assert refused.value.pointer == "/format/grammar"


@pytest.mark.parametrize(
    ("schema", "possible"), [({}, True), (False, False), ({"enum": [1]}, False)]
)
def test_tools_that_cant_be_called_are_noted_each_time(schema: Any, possible: bool) -> None:
    for _ in range(2):  # the second time they are known
        several = parts()
        several.arguments(tool_format("json"), Tool("f", schema, "tools[0]"))
        assert [tool.name for tool in several.impossible] == ([] if possible else ["f"])


def test_satisfiable_schemas() -> None:
    several = parts()
    yes: Schema = several.schema({"minItems": 2}, "")
    no: Schema = several.schema({"allOf": [{"type": "null"}, {"type": "object"}]}, "")
    assert several.is_satisfiable(yes)
    assert not several.is_satisfiable(no)
