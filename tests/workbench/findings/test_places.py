from __future__ import annotations

import pytest

from maskwright.workbench.findings.places import rule_start


@pytest.mark.parametrize(
    ("text", "name", "line"),
    [
        ('start: a\n?a: "x"\n', "a", 'a: "x"'),
        ('root ::= a\n  a ::= "x"\n', "a", 'a ::= "x"'),
        ('<root> ::= <a>\n<a> ::= "x"', "a", '<a> ::= "x"'),
        ('start: A.2\nA.2: "x"\n', "A", 'A.2: "x"'),
        ('start: a\nab: "x"\n', "a", None),
    ],
)
def test_the_definition_of_a_rule(text: str, name: str, line: str | None) -> None:
    start = rule_start(text, name)
    assert (None if start is None else text[start:].splitlines()[0]) == line
