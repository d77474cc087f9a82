"""Where in a grammar's rules a JSON value may begin.

A value is told from what else may stand in its place by its first byte; so that a grammar in which
it can't be is refused before any text comes there, these places are looked at beforehand.
"""

from __future__ import annotations

from collections.abc import Iterator

from maskwright.automaton.rules.follow import onward
from maskwright.automaton.rules.item_sets import BELOW, Item, Kernel, Return
from maskwright.automaton.rules.network import RuleNetwork
from maskwright.automaton.rules.nodes import (
    Again,
    Branch,
    Call,
    Counters,
    Loop,
    Node,
    Step,
)
from maskwright.grammar.rules.tree import JsonValue


def value_places(network: RuleNetwork) -> Iterator[Kernel]:
    """What may be read at each place that a text can come to and where a value may begin, if it
    isn't that value alone.

    Of a loop that counts, the places are those at its beginning and once it may end.
    """
    near = _before_values(network)
    if not any(_splits(network.nodes[at]) for at in near):
        return
    starts = set(network.starts)
    reached: set[int] | None = None
    for at in near:
        if not (at in starts or _follows_text(network, at)):
            continue
        for counters in dict.fromkeys(_counters(network, at)):
            kernel = _kernel(network, at, counters)
            if len(kernel) == 1 and not any(isinstance(item.symbol, Call) for item in kernel):
                continue
            reached = reached or _reached(network)
            if at in reached:
                yield kernel


def _kernel(network: RuleNetwork, at: int, counters: Counters) -> Kernel:
    then = Return(0, BELOW)
    steps = network.expand(at, counters).steps
    return frozenset(Item(step.symbol, step.next, step.counters, then) for step in steps)


def _splits(node: Node) -> bool:
    """Whether something else may come in the place of what comes after `node`."""
    if isinstance(node, Step):
        return not isinstance(node.symbol, JsonValue)
    return isinstance(node, Branch | Loop)


def _before_values(network: RuleNetwork) -> set[int]:
    """The nodes from which a value comes next, nothing being read before it."""
    again: dict[int, list[int]] = {}
    stack: list[int] = []
    for at, node in enumerate(network.nodes):
        if isinstance(node, Again):
            again.setdefault(node.loop, []).append(at)
        elif isinstance(node, Step) and isinstance(node.symbol, JsonValue):
            stack.append(at)
    near = set(stack)
    while stack:
        at = stack.pop()
        for user in (*network.users[at], *again.get(at, ())):
            if user not in near and _passes(network, network.nodes[user], at):
                near.add(user)
                stack.append(user)
    return near


def _passes(network: RuleNetwork, node: Node, to: int) -> bool:
    """Whether one comes from `node` to the node `to`, which it uses, without reading."""
    if not isinstance(node, Step):
        return True
    called = isinstance(node.symbol, Call) and network.starts[node.symbol.rule] == to
    return called or network.may_be_empty(node.symbol)


def _follows_text(network: RuleNetwork, at: int) -> bool:
    users = (network.nodes[user] for user in network.users[at])
    return any(isinstance(user, Step) and user.next == at for user in users)


def _reached(network: RuleNetwork) -> set[int]:
    """The nodes that a text can come to."""
    start = network.starts[network.start]
    seen: set[int] = set()
    stack = [start]
    while stack:
        at = stack.pop()
        if at in seen or not network.is_alive(at):
            continue
        seen.add(at)
        match network.nodes[at]:
            case Step(symbol=symbol, next=after):
                stack.append(after)
                if isinstance(symbol, Call):
                    stack.append(network.starts[symbol.rule])
            case node:
                stack += onward(node)
    return seen


def _counters(network: RuleNetwork, at: int) -> list[Counters]:
    loops: list[Loop] = []
    loop = network.loops[at]
    while loop >= 0:
        head = network.nodes[loop]
        assert isinstance(head, Loop)
        loops.insert(0, head)
        loop = network.loops[loop]
    return [(0,) * len(loops), tuple(max(0, head.least - 1) for head in loops)]
