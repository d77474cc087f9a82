"""Captures of rules that others call, moved into the start rule.

Events report captures of the start rule only (`automaton.events.captures`). A rule with captures is
therefore written out where it is called, after recursion at the ends of its alternatives has become
a loop. A rule that still calls itself stays a rule, and its captures are not reported.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping

from maskwright.errors import Construct, LimitError
from maskwright.grammar.rules.fold import repeated
from maskwright.grammar.rules.tree import (
    Capture,
    Expression,
    Ref,
    Rules,
    all_parts,
    with_parts,
    with_rules,
)
from maskwright.limits import Limits


def captures_in_start(rules: Rules, limits: Limits) -> Rules:
    """Return an equivalent grammar that has its captures in the start rule where this is possible.

    Raises `LimitError` if it becomes too large.
    """
    capturing = _capturing(rules)
    if rules.start not in capturing or len(capturing) == 1:
        return rules
    bodies = {name: repeated(name, rules.rules[name]) for name in capturing}
    calls = {
        name: capturing & {part.name for part in all_parts(body) if isinstance(part, Ref)}
        for name, body in bodies.items()
    }
    written: dict[str, Expression] = {}
    sizes: Counter[str] = Counter()
    for name in [*(n for n in _callees_first(calls) if n != rules.start), rules.start]:
        sizes[name] = sum(
            sizes[part.name] if isinstance(part, Ref) and part.name in written else 1
            for part in all_parts(bodies[name])
        )
        if sizes[name] > limits.grammar_nodes:
            raise LimitError(
                "a rule, with the rules whose captures it calls, has more than"
                f" {limits.grammar_nodes:,} parts",
                limit="grammar_nodes",
                value=limits.grammar_nodes,
                construct=Construct.rules([name]),
            )
        written[name] = with_rules(bodies[name], lambda rule: written.get(rule.name, rule))
    return Rules(rules.start, {**rules.rules, rules.start: written[rules.start]})


def without_captures(expression: Expression) -> Expression:
    """Return an expression that generates equal texts, and captures nothing."""
    if isinstance(expression, Capture):
        return without_captures(expression.body)
    return with_parts(expression, without_captures)


def _capturing(rules: Rules) -> set[str]:
    """Return the rules that contain captures, or call such rules."""
    callers: defaultdict[str, list[str]] = defaultdict(list)
    capturing: set[str] = set()
    for name, body in rules.rules.items():
        for part in all_parts(body):
            if isinstance(part, Ref):
                callers[part.name].append(name)
            elif isinstance(part, Capture):
                capturing.add(name)
    waiting = list(capturing)
    while waiting:
        new = [name for name in callers[waiting.pop()] if name not in capturing]
        capturing.update(new)
        waiting += new
    return capturing


def _callees_first(calls: Mapping[str, set[str]]) -> list[str]:
    """Return the rules that are neither in a cycle of calls nor on a path between two cycles, each
    after the rules that it calls."""
    callers: dict[str, set[str]] = {name: set() for name in calls}
    for name, called in calls.items():
        for other in called:
            callers[other].add(name)
    below = _peel(calls, callers)
    rest = calls.keys() - set(below)
    above = _peel(
        {name: callers[name] & rest for name in rest}, {name: calls[name] & rest for name in rest}
    )
    return [*below, *reversed(above)]


def _peel(needs: Mapping[str, set[str]], users: Mapping[str, set[str]]) -> list[str]:
    """Return names in topological order, each after all names that it needs. Names in a cycle, and
    names that need them, are left out."""
    left = {name: len(needed) for name, needed in needs.items()}
    ordered = [name for name, count in left.items() if count == 0]
    for name in ordered:  # which is extended below
        for user in users[name]:
            left[user] -= 1
            if left[user] == 0:
                ordered.append(user)
    return ordered
