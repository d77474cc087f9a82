"""When a leaf of several texts is left: at once where the next byte can't decide."""

from __future__ import annotations

from collections.abc import Hashable

import pytest

from maskwright.automaton.leaf.keys import PartsEnded, leaving
from maskwright.automaton.rules.contexts import RuleContexts
from maskwright.grammar.pattern.translate import full_match
from maskwright.grammar.regular.derivative import derivative, parallel_start
from maskwright.grammar.regular.terms import Parallel
from maskwright.grammar.rules.tree import Concat, Ref, Repeat, Rules, Terminal
from maskwright.mask.compile.rules import compile_rules
from tests.matching import EVERY_BYTE, after

NAME, IF = full_match("[a-z]+"), full_match("if")


def ahead(*characters: str) -> tuple[int, ...]:
    return tuple(sum(1 << byte for byte in set(some.encode())) for some in characters)


@pytest.mark.parametrize(
    ("text", "follow", "expected"),
    [
        ("i", ahead(" ", " "), (PartsEnded((NAME,)), False)),
        ("if", ahead(" ", "("), (PartsEnded((NAME, IF)), False)),
        ("ify", ahead(" ", "a"), (PartsEnded((NAME,)), False)),
        ("if", ahead(" ", "a"), "at once"),
        ("i", ahead("a", " "), "at once"),
        ("i", None, "at once"),
        ("", ahead("a", "a"), (None, False)),
        ("", None, (None, False)),
    ],
)
def test_leaving(
    text: str, follow: tuple[int, ...] | None, expected: tuple[Hashable, bool] | str
) -> None:
    state = derivative(parallel_start((NAME, IF), follow), text)
    assert isinstance(state, Parallel)
    assert leaving(state) == ((state, True) if expected == "at once" else expected)


def test_what_dies_is_left_out_and_what_cannot_come_is_forgotten() -> None:
    wide = derivative(parallel_start((NAME, IF), ahead(" a", " ")), "ab")
    narrow = derivative(parallel_start((NAME,), ahead("\na")), "xy")
    assert wide is narrow


def test_names_take_one_context_whatever_they_are() -> None:
    rules = {
        "start": Concat((Ref("call"), Terminal(full_match(";")))),
        "call": Concat((Terminal(NAME), Terminal(full_match(r"\(")), Ref("more"))),
        "more": Concat((Repeat(Ref("call"), 0, 1), Terminal(full_match(r"\)")))),
    }
    grammar = compile_rules(Rules("start", rules), EVERY_BYTE)
    assert isinstance(grammar.recognizer.machine.contexts, RuleContexts)
    assert after(grammar, "a(b(") is not None
    exits = grammar.recognizer.machine.exits
    assert after(grammar, "iffy(names(") is not None
    assert grammar.recognizer.machine.exits == exits
