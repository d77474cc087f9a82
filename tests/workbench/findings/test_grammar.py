from __future__ import annotations

import pytest

from maskwright.grammar.dialects.read import read_grammar
from maskwright.shipped import shipped
from maskwright.workbench.findings.grammar import lint_grammar, lint_pattern


def found(text: str) -> set[tuple[str, str]]:
    return {(each.rule, each.pointer) for each in lint_grammar(read_grammar(text))}


@pytest.mark.parametrize(
    ("grammar", "findings"),
    [
        ('root ::= "a" x\nx ::= "b" | "c"', set()),
        ('root ::= "a"\nlost ::= "b"', {("unused-rule", "lost")}),
        (
            'root ::= "a" | x\nx ::= "b" x',
            {("unsatisfiable", "root"), ("unsatisfiable", "x")},
        ),
        ('root ::= "a" x*\nx ::= "b"', {("unbounded-rule", "root")}),
        ('root ::= "a" [0-9]+', {("unbounded-rule", "root")}),
        ('root ::= "a" [0-9]{1,9}', set()),
        ('root ::= "a" x\nx ::= "b" | [bc]', {("ambiguous", "x")}),
        ('root ::= " a" x\nx ::= "b"', {("token-trap", "root")}),
        ('root ::= "a" x "\\n"\nx ::= "b"', {("token-trap", "root")}),
        ('root ::= "a" [ab]? "b"', set()),
        ('root ::= "a" x\nx ::= "1" | "1\u00a02"', {("token-trap", "x")}),
        ('start: "a" NAME\nNAME: /[a-z]{2,3}/\n%ignore /\\s+/', set()),
    ],
)
def test_what_is_found(grammar: str, findings: set[tuple[str, str]]) -> None:
    assert found(grammar) == findings


def test_an_option_that_is_never_taken_is_numbered() -> None:
    messages = [
        each.message for each in lint_grammar(read_grammar('root ::= "a" | x\nx ::= "b" x'))
    ]
    assert messages[0] == "option 2 of 'root' is never taken: no text matches it"


@pytest.mark.parametrize("name", list(shipped("grammar")))
def test_the_shipped_grammars_have_no_warnings(name: str) -> None:
    findings = lint_grammar(read_grammar(shipped("grammar")[name].file.read_text()))
    assert [each for each in findings if each.severity != "note"] == []


def test_patterns() -> None:
    assert [each.rule for each in lint_pattern("a[bc]+")] == ["unbounded-pattern"]
    assert lint_pattern("a[bc]{1,3}") == []
