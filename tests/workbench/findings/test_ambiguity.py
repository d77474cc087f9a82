from __future__ import annotations

import pytest

from maskwright.grammar.dialects.read import read_grammar
from maskwright.grammar.regular.terms import char
from maskwright.grammar.rules.tree import Capture, Repeat, Terminal
from maskwright.workbench.findings.grammar import two_readings


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ('"a" | "b"', None),
        ('"a" | [b-z] | "a"', "options 1 and 3 both read 'a'"),
        ("[0-9]+ | [5-7]", "options 1 and 2 both read '5'"),
        ('"(" x | "(" x', "options 1 and 2 both read '(<x>'"),
        ('"(" x | "[" x', None),
        ('x "+" x', None),
        ('root "+" root | x', "it begins and ends with itself"),
        ('x "+" root | x', None),
        ('"a" ("b" | [ab])', "options 1 and 2 both read 'b'"),
        ('("b"?)*', "it repeats what may be empty"),
        ('("b"?)?', None),
        ("[ab]* [bc]* x", "two repetitions in a row both read 'b'"),
        ("[ab]* [cd]* x", None),
        ("[ab]{2} [bc]* x", None),
    ],
)
def test_reasons(body: str, reason: str | None) -> None:
    rules = read_grammar(f'root ::= {body}\nx ::= "1" | "2" x\nlink ::= x root').rules
    found = two_readings("root", rules.rules["root"])
    assert found == reason or (reason is not None and found is not None and reason in found)


def test_what_is_reported_as_an_event_may_be_empty_too() -> None:
    letter = Terminal(char("b"))
    for body, reason in ((Repeat(letter, 0, 1), "it repeats what may be empty"), (letter, None)):
        assert two_readings("root", Repeat(Capture("name", body), 0, None)) == reason
