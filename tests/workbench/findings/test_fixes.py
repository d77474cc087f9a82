"""Rules are removed from a text where the rest stays equal."""

from __future__ import annotations

import pytest

from maskwright.grammar.dialects.detect import Dialect
from maskwright.workbench.findings.fixes import without_rules


@pytest.mark.parametrize(
    ("dialect", "text", "names", "expected"),
    [
        ("lark", 'start: "a"\nb: "b"\n', ["b"], 'start: "a"\n'),
        ("lark", 'b: "b"\n  | "c"\nstart: "a"\n', ["b"], 'start: "a"\n'),
        ("gbnf", 'root ::= "a"\nb ::= c\nc ::= "c"', ["c", "b"], 'root ::= "a"\n'),
        ("gbnf", 'root ::= "a"\n# kept\nb ::= "b" |\n  "c"\n', ["b"], 'root ::= "a"\n# kept\n'),
    ],
)
def test_a_rule_is_removed(dialect: Dialect, text: str, names: list[str], expected: str) -> None:
    found, removed = without_rules(text, dialect, names)
    assert found == expected
    assert sorted(removed) == sorted(names)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('start: "a" b\nb: "b"\n', "b"),  # it is used
        ('start: "a"\n', "c"),  # it isn't there
        ('ebnf_first ::= "a"\nb ::= "b"\n', "ebnf_first"),  # the start rule
    ],
)
def test_a_rule_stays(text: str, name: str) -> None:
    dialect: Dialect = "ebnf" if "::=" in text else "lark"
    assert without_rules(text, dialect, [name]) == (text, [])
