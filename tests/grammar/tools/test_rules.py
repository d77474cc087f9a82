"""Answers with calls in a small format: tools' names, triggers, separators and reasoning."""

from __future__ import annotations

import pytest

from maskwright.grammar.regular.terms import words
from maskwright.grammar.rules.tree import Terminal
from maskwright.grammar.tools.formats import ToolFormat
from maskwright.grammar.tools.rules import Reasoning, ToolRules
from maskwright.grammar.tools.tools import parse_tool_choice, parse_tools
from tests.grammar.spelling import Captured, Reader

FORMAT = ToolFormat(
    "small",
    call=("<", "$name", ":", "$arguments", ">"),
    begin=("!",),
    separator=(",",),
    end=(".",),
    reasoning=("(", ")"),
    trigger="!",
)
NAMES = ("at", "atlas", "atom", "b")
TOOLS = parse_tools([{"name": name, "parameters": {}} for name in NAMES])


def readings(
    text: str, mode: str, *, parallel: bool = True, reasoning: Reasoning = "none"
) -> set[Captured]:
    """What each reading captures. A tool's arguments are its own name in capitals."""
    rules = ToolRules(FORMAT, {}, lambda tool: Terminal(words([tool.name.upper()])))
    choice = parse_tool_choice(mode, TOOLS)
    expression = rules.expression(choice, parallel=parallel, reasoning=reasoning)
    return Reader(text, lambda _, __: False).readings(expression)


@pytest.mark.parametrize("called", NAMES)
def test_each_name_has_its_own_arguments(called: str) -> None:
    for name in NAMES:
        found = readings(f"!<{called}:{name.upper()}>.", "required")
        said = (("arguments", name.upper()), (f"call:{name}", f"{name.upper()}>"))
        assert {each[0] for each in found} == ({said[0]} if name == called else set())


@pytest.mark.parametrize(
    ("text", "mode", "parallel", "reasoning", "matches"),
    [
        ("!<b:B>.", "auto", True, "none", True),
        ("so!<b:B>.", "auto", True, "none", True),
        ("so!<b:B>.", "required", True, "none", False),
        ("so", "auto", True, "none", True),
        ("so", "required", True, "none", False),
        ("so!", "auto", True, "none", False),
        ("so!<b:B>.", "none", True, "none", False),
        ("!<b:B>,<at:AT>.", "required", True, "none", True),
        ("!<b:B>,<at:AT>.", "required", False, "none", False),
        ("!<b:B><at:AT>.", "required", True, "none", False),
        ("!<b:B>", "required", True, "none", False),
        ("(hm)so", "auto", True, "section", True),
        ("so", "required", True, "section", False),
        ("hm)so", "auto", True, "begun", True),
    ],
)
def test_words_and_calls(
    text: str, mode: str, parallel: bool, reasoning: Reasoning, matches: bool
) -> None:
    assert bool(readings(text, mode, parallel=parallel, reasoning=reasoning)) is matches
