"""The rules of the strings of a regular language, as JSON spells them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from maskwright.errors import LimitError
from maskwright.grammar.regular.derivative import arcs
from maskwright.grammar.regular.terms import EPSILON, Regular
from maskwright.grammar.rules.tree import Choice, Concat, Expression, Ref, Terminal
from maskwright.workbench.conversion.escapes import spelled_characters, spelled_language

MOST_STATES: Final = 2_000
"""States of the automaton of one string that are written as rules."""


def string_rules(term: Regular, name: str) -> tuple[Expression, Mapping[str, Expression]]:
    """The spellings of a language's strings, without quotes, and the rules that they need.

    What isn't made of unions, concatenations and repetitions alone becomes a rule for each state of
    its automaton, with names that begin with `name`. Raises `LimitError`.
    """
    spelled = spelled_language(term)
    if spelled is not None:
        return Terminal(spelled), {}
    states: dict[Regular, str] = {term: name}
    rules: dict[str, Expression] = {}
    waiting = [term]
    for state in waiting:
        ranges: dict[Regular, list[tuple[int, int]]] = {}
        for low, high, target in arcs(state):
            ranges.setdefault(target, []).append((low, high))
        options: list[Expression] = [Terminal(EPSILON)] if state.nullable else []
        for target, some in ranges.items():
            if target not in states:
                states[target] = f"{name} {len(states) + 1}"
                waiting.append(target)
            step = Terminal(spelled_characters(tuple(some)))
            options.append(Concat((step, Ref(states[target]))))
        rules[states[state]] = options[0] if len(options) == 1 else Choice(tuple(options))
        if len(states) > MOST_STATES:
            raise LimitError(
                f"the automaton of a string has more than {MOST_STATES:,} states",
                limit="states of a converted string",
                value=MOST_STATES,
            )
    return Ref(states[term]), rules
