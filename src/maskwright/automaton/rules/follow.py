"""With which bytes a grammar's text may go on behind a place in a rule.

What follows the end of a rule is what follows it in any of its callers (the FOLLOW sets of LL
parsing): bytes that may come somewhere, not all of them everywhere.
"""

from __future__ import annotations

from typing import Final

from maskwright.automaton.leaf.first_bytes import SPECIAL, VALUE, first_bytes
from maskwright.automaton.rules.network import RuleNetwork
from maskwright.automaton.rules.nodes import (
    Again,
    Branch,
    Call,
    Edge,
    End,
    Enter,
    Loop,
    Node,
    Spent,
    Step,
    Symbol,
    Text,
)
from maskwright.grammar.rules.tree import JsonValue, SpecialToken

_ENDS: Final = 1 << 256
"""Beside the first bytes of what a rule goes on with: it may end without another byte."""


def bytes_ahead(network: RuleNetwork) -> list[int]:
    """[nodes]: the bytes that may come next, bit n for byte n."""
    first = _first(network)
    rules = _rules(network)
    follow = _follow(network, first, rules)
    ahead: list[int] = []
    for at, found in enumerate(first):
        if found & _ENDS:
            found ^= _ENDS
            for rule in rules[at]:
                found |= follow[rule]
        ahead.append(found)
    return ahead


def _first(network: RuleNetwork) -> list[int]:
    """[nodes]: the first bytes up to the end of the rule, and `_ENDS`; the least that there is."""
    users: list[list[int]] = [[] for _ in network.nodes]
    for at, node in enumerate(network.nodes):
        for used in onward(node):
            users[used].append(at)
        if isinstance(node, Step) and isinstance(node.symbol, Call):
            users[network.starts[node.symbol.rule]].append(at)
    first = [0] * len(network.nodes)
    changed = list(range(len(first)))
    waiting = set(changed)
    while changed:
        at = changed.pop()
        waiting.discard(at)
        found = _first_at(network, at, first)
        if found != first[at]:
            first[at] = found
            more = [user for user in users[at] if user not in waiting]
            changed += more
            waiting.update(more)
    return first


def _first_at(network: RuleNetwork, at: int, first: list[int]) -> int:
    match network.nodes[at]:
        case Step(symbol=symbol, next=after):
            found = _begins(network, symbol, first)
            return found | first[after] if network.may_be_empty(symbol) else found
        case End():
            return _ENDS
        case node:
            found = 0
            for after in onward(node):
                found |= first[after]
            return found


def _begins(network: RuleNetwork, symbol: Symbol, first: list[int]) -> int:
    match symbol:
        case Text(term=term):
            return first_bytes(term)
        case Call(rule=rule):
            return first[network.starts[rule]] & ~_ENDS
        case JsonValue():
            return VALUE
        case SpecialToken():
            return SPECIAL


def _rules(network: RuleNetwork) -> list[list[int]]:
    """[nodes]: the rules that a node is in; equal ends of rules are one node."""
    found: list[list[int]] = [[] for _ in network.nodes]
    for rule, start in enumerate(network.starts):
        seen = {start}
        stack = [start]
        while stack:
            at = stack.pop()
            found[at].append(rule)
            new = set(onward(network.nodes[at])) - seen
            seen |= new
            stack += new
    return found


def _follow(network: RuleNetwork, first: list[int], rules: list[list[int]]) -> list[int]:
    """[rules]: the bytes that may follow the end of each."""
    follow = [0] * len(network.starts)
    ending: list[set[int]] = [set() for _ in network.starts]
    """The rules that a rule ends, by the rule that stands last in them."""
    for at, node in enumerate(network.nodes):
        if isinstance(node, Step) and isinstance(node.symbol, Call):
            behind = first[node.next]
            follow[node.symbol.rule] |= behind & ~_ENDS
            if behind & _ENDS:
                ending[node.symbol.rule].update(rules[at])
    changed = True
    while changed:
        changed = False
        for rule, callers in enumerate(ending):
            found = follow[rule]
            for caller in callers:
                found |= follow[caller]
            changed |= found != follow[rule]
            follow[rule] = found
    return follow


def onward(node: Node) -> tuple[int, ...]:
    """The nodes that come next."""
    match node:
        case Step(next=after) | Edge(next=after) | Spent(next=after):
            return (after,)
        case Branch(options=options):
            return options
        case Enter(loop=loop) | Again(loop=loop):
            return (loop,)
        case Loop(body=body, next=after):
            return body, after
        case End():
            return ()
