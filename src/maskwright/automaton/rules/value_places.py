"""JSON values in a grammar's rules that may begin beside something else.

A JSON value is distinguished from what else may stand in its place by its first byte. A grammar in
which that is impossible is refused when it is compiled, not when a text first comes there; so these
places are found beforehand.

Only where the other text can't be continued is it known that there is a value. Its contexts are
then found by reading its beginning once more, step by step as `automaton.machine.trace` does.
"""

from __future__ import annotations

from collections.abc import Iterator

from maskwright.automaton.json.contexts import JsonContexts
from maskwright.automaton.leaf.table import LeafTable
from maskwright.automaton.machine.exits import BLOCKED, DYNAMIC, Exit, apply_exit
from maskwright.automaton.machine.trace import Left
from maskwright.automaton.rules.follow import successors
from maskwright.automaton.rules.item_sets import BELOW, ItemSets
from maskwright.automaton.rules.network import RuleNetwork
from maskwright.automaton.rules.nodes import (
    BranchNode,
    Counters,
    LoopBack,
    LoopNode,
    Node,
    RuleCall,
    SymbolNode,
)
from maskwright.automaton.value.last_value import last_value
from maskwright.grammar.rules.tree import JsonValue
from maskwright.grammar.shape.shape import Conjunction
from maskwright.immutable import Immutable
from maskwright.limits import CHEAP, spend


class ValueBeginning(Immutable):
    """Where a value stands after its beginning."""

    contexts: list[int]
    """The contexts that are open, the innermost last."""
    leaf: int
    left: list[Left]
    """The leaves and contexts that were left on the way, after how many bytes of the value."""


def read_beginning(
    contexts: JsonContexts, roots: tuple[Conjunction, ...], leaves: LeafTable, data: bytes
) -> ValueBeginning | None:
    """Where a value that satisfies one of `roots` stands after `data`; None if none begins so.

    `data` must not repeat a name within an object.
    """
    first, leaf = contexts.begin(roots)
    stack = [first]
    left: list[Left] = []
    for at, byte in enumerate(data):
        while True:
            spend(CHEAP)
            target = leaves.next_states(leaf).get(byte)
            if target is not None and _gate_open(contexts, leaves, target, stack[-1]):
                break
            taken = _leave(contexts, leaves.label_of(leaf), stack, data[:at], left)
            if taken is None:
                return None
            leaf = taken.leaf
        leaf = target
    return ValueBeginning(stack, leaf, left)


def _leave(
    contexts: JsonContexts, label: object, stack: list[int], text: bytes, left: list[Left]
) -> Exit | None:
    """Leave the leaf on top of `stack`, which is changed, and note what is left; None if that isn't
    possible, or if the value ends there."""
    while label is not None and stack:
        spend(CHEAP)
        context = stack[-1]
        taken = contexts.exit(context, label)
        if taken.kind & DYNAMIC:
            taken = contexts.exit(context, label, last_value(text))
        if taken.kind == BLOCKED:
            return None
        left.append(Left(len(text), context, label, taken))
        removed, added = apply_exit(taken)
        del stack[len(stack) - removed :]
        stack += added
        if not taken.pops:
            return taken
        label = taken.result
    return None


def _gate_open(contexts: JsonContexts, leaves: LeafTable, leaf: int, context: int) -> bool:
    """See `Machine.gate_open`."""
    low, high = int(leaves.rows.gate_low[leaf]), int(leaves.rows.gate_high[leaf])
    gate = contexts.gate(context) if high else None
    return gate is None or bool((gate[0] >> low) & ((1 << (high - low)) - 1))


def value_places(sets: ItemSets) -> Iterator[int]:
    """The kernel at each place that a text can reach, where a JSON value and something else may
    begin.

    Within a counted loop there is a place for each count. Two stand for all of them: no copy read
    yet, and one copy fewer than the least number, after which the loop may end.
    """
    network = sets.network
    near = _before_values(network)
    if not any(_splits(network.nodes[at]) for at in near):
        return
    starts = set(network.starts)
    reached: set[int] | None = None
    for at in near:
        if not (at in starts or _follows_text(network, at)):
            continue
        for counters in dict.fromkeys(_counters(network, at)):
            kernel = sets.begin(sets.position(at, counters, sets.address(0, BELOW))).kernel
            items = sets.items_of(kernel)
            if len(items) == 1 and not any(isinstance(item.symbol, RuleCall) for item in items):
                continue
            reached = reached or _reached(network)
            if at in reached:
                yield kernel


def _splits(node: Node) -> bool:
    """Whether `node` can lead to an alternative of the value that it leads to."""
    if isinstance(node, SymbolNode):
        return not isinstance(node.symbol, JsonValue)
    return isinstance(node, BranchNode | LoopNode)


def _before_values(network: RuleNetwork) -> set[int]:
    """The nodes whose epsilon closure reads a JSON value."""
    again: dict[int, list[int]] = {}
    stack: list[int] = []
    for at, node in enumerate(network.nodes):
        if isinstance(node, LoopBack):
            again.setdefault(node.loop, []).append(at)
        elif isinstance(node, SymbolNode) and isinstance(node.symbol, JsonValue):
            stack.append(at)
    near = set(stack)
    while stack:
        at = stack.pop()
        spend(CHEAP)
        for user in (*network.dependents[at], *again.get(at, ())):
            if user not in near and _passes(network, network.nodes[user], at):
                near.add(user)
                stack.append(user)
    return near


def _passes(network: RuleNetwork, node: Node, to: int) -> bool:
    """Whether an epsilon move leads from `node` to the node `to`, on which it depends."""
    if not isinstance(node, SymbolNode):
        return True
    is_callee = isinstance(node.symbol, RuleCall) and network.starts[node.symbol.rule] == to
    return is_callee or network.is_nullable(node.symbol)


def _follows_text(network: RuleNetwork, at: int) -> bool:
    """Whether a symbol may have been read right before `at`."""
    users = (network.nodes[user] for user in network.dependents[at])
    return any(isinstance(user, SymbolNode) and user.next == at for user in users)


def _reached(network: RuleNetwork) -> set[int]:
    """The nodes that a text can reach."""
    start = network.starts[network.start]
    seen: set[int] = set()
    stack = [start]
    while stack:
        at = stack.pop()
        spend(CHEAP)
        if at in seen or not network.is_live(at):
            continue
        seen.add(at)
        match network.nodes[at]:
            case SymbolNode(symbol=symbol, next=after):
                stack.append(after)
                if isinstance(symbol, RuleCall):
                    stack.append(network.starts[symbol.rule])
            case node:
                stack += successors(node)
    return seen


def _counters(network: RuleNetwork, at: int) -> list[Counters]:
    """The two places of `value_places` within the counted loops around `at`."""
    loops: list[LoopNode] = []
    loop = network.loops[at]
    while loop >= 0:
        head = network.nodes[loop]
        assert isinstance(head, LoopNode)
        loops.insert(0, head)
        loop = network.loops[loop]
    return [(0,) * len(loops), tuple(max(0, head.least - 1) for head in loops)]
