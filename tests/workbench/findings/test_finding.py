"""The names of the rules of `maskwright check`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from maskwright.workbench.findings.finding import RULES, rule_start
from tests.source_tree import ROOT, modules, tracked

COMPILED = re.compile(r'(?:Finding|Remark)\(\s*"(?:[^"\\]|\\.)*",\s*"([a-z-]+)"')
"""A remark of compiled source, which is no Python: its message, and its rule."""
RULE_AT = {"Finding": 2, "Remark": 1, "ReportEntry": 3}
"""Which argument of a call is a rule."""


def named_in_source() -> Iterator[str]:
    """The rules of the source; one that is put together of parts is a pattern."""
    for module in modules():
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                at = RULE_AT.get(node.func.id)
                if at is not None and len(node.args) > at:
                    match node.args[at]:
                        case ast.Constant(value=str(rule)):
                            yield re.escape(rule)
                        case ast.JoinedStr(values=[ast.Constant(value=str(begin)), _]):
                            yield f"{re.escape(begin)}.+"
                        case _:
                            pass
    for path in tracked("src/*.pyx"):
        yield from map(re.escape, COMPILED.findall(path.read_text()))


def test_every_rule_is_listed_and_every_listed_one_used() -> None:
    patterns = set(named_in_source())
    assert len(patterns) >= 15
    for pattern in patterns:
        assert any(re.fullmatch(pattern, rule) for rule in RULES), pattern
    unused = [rule for rule in RULES if not any(re.fullmatch(each, rule) for each in patterns)]
    assert unused == []


def test_every_rule_is_documented() -> None:
    text = (ROOT / "docs" / "command-line.md").read_text()
    section = text.partition("\n## check")[2].partition("\n## ")[0]
    listed = [
        rule
        for row in re.findall(r"^\| (`.+?) \|", section, re.MULTILINE)
        for rule in re.findall("`(.+?)`", row)
    ]
    strict = re.findall(r"`(openai-strict-[a-z]+)`", section)
    assert [*listed, *strict] == list(RULES)


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
