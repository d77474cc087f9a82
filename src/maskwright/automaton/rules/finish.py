"""The shortest text that completes an item set."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from heapq import heappop, heappush
from itertools import count

from maskwright.automaton.leaf.special_tokens import spelling
from maskwright.automaton.rules.item_sets import BELOW, WHOLE, Kernel, Place, Return, RuleSets
from maskwright.automaton.rules.nodes import (
    OUTSIDE,
    Again,
    Branch,
    Call,
    Counters,
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
from maskwright.automaton.rules.values import RuleValues
from maskwright.grammar.regular.shortest import shortest
from maskwright.grammar.rules.tree import JsonValue, SpecialToken
from maskwright.limits import Limits


class RuleFinish:
    def __init__(self, sets: RuleSets, values: RuleValues, limits: Limits) -> None:
        self._sets = sets
        self._values = values
        self._limits = limits
        self._symbols: dict[Symbol, bytes] = {}
        self._rests: dict[tuple[int, Counters], bytes] = {}

    def of(self, kernel: Kernel, below: Sequence[int]) -> bytes | None:
        """From a set on; `below` are the kernels that wait, the innermost first."""
        return self._search(
            (
                (self._symbol(item.symbol), Place(item.next, item.counters, item.then))
                for item in kernel
            ),
            below,
        )

    def of_value(
        self, endings: Mapping[int, bytes], values: Sequence[JsonValue], below: Sequence[int]
    ) -> bytes | None:
        """From within a value: `endings[i]` completes it as `values[i]`, for which the innermost of
        `below` waits."""
        waiting = self._sets.outlook(below[0]).values
        return self._search(
            (
                (ending, place)
                for which, ending in endings.items()
                for place in waiting[values[which]]
            ),
            below[1:],
        )

    def _search(self, begun: Iterable[tuple[bytes, Place]], below: Sequence[int]) -> bytes | None:
        """Dijkstra's algorithm over the returns that are still to come."""
        tie = count()
        queue: list[tuple[int, int, bytes, Return, int]] = []

        def go_on(text: bytes, place: Place, depth: int) -> None:
            text += self._rest(place.node, place.counters)
            heappush(queue, (len(text), next(tie), text, place.then, depth))

        for text, place in begun:
            go_on(text, place, 0)
        seen: set[tuple[Return, int]] = set()
        while queue:
            _, _, text, then, depth = heappop(queue)
            if then.kernel == WHOLE:
                return text
            if (then, depth) in seen:
                continue
            seen.add((then, depth))
            kernel = then.kernel
            if kernel == BELOW:
                kernel, depth = below[depth], depth + 1
            for place in self._sets.outlook(kernel).waiting[then.rule]:
                go_on(text, place, depth)
        return None

    def _symbol(self, symbol: Symbol) -> bytes:
        known = self._symbols.get(symbol)
        if known is None:
            known = self._symbols[symbol] = self._shortest(symbol)
        return known

    def _shortest(self, symbol: Symbol) -> bytes:
        match symbol:
            case Text(term=term):
                text = shortest(term, self._limits.witness_search)
                assert text is not None
                return text.encode()
            case Call(rule=rule):
                found = self._within[self._sets.network.starts[rule]]
                assert found is not None
                return found
            case JsonValue():
                return self._values.shortest(symbol)
            case SpecialToken(ids=ids):
                return spelling(ids[0][0])

    def _rest(self, node: int, counters: Counters) -> bytes:
        """From a place to the end of its rule."""
        key = (node, counters)
        known = self._rests.get(key)
        if known is not None:
            return known
        network = self._sets.network
        text = self._within[node]
        assert text is not None
        head = network.loops[node]
        if head != OUTSIDE:
            loop = network.nodes[head]
            assert isinstance(loop, Loop)
            again = loop.least - counters[-1] - 1
            if again > 0:
                text += again * (self._within[loop.body] or b"")
            text += self._rest(loop.next, counters[:-1])
        self._rests[key] = text
        return text

    @cached_property
    def _within(self) -> list[bytes | None]:
        """[nodes]: the shortest text to the end of the rule or of the loop's body.

        Texts are improved until they stand still; where there is none, nothing is generated.
        """
        network = self._sets.network
        nodes = network.nodes
        texts: list[bytes | None] = [None] * len(nodes)
        changed = [at for at in range(len(nodes)) if isinstance(nodes[at], Again | End)]
        for at in changed:
            texts[at] = b""
        while changed:
            users = dict.fromkeys(user for at in changed for user in network.users[at])
            changed = []
            for at in users:
                text = self._of_node(nodes[at], texts)
                known = texts[at]
                if text is not None and (known is None or len(text) < len(known)):
                    texts[at] = text
                    changed.append(at)
        return texts

    def _of_node(self, node: Node, texts: list[bytes | None]) -> bytes | None:
        match node:
            case Step(symbol=symbol, next=after):
                rest = texts[after]
                if rest is None or not self._sets.network.generates(symbol):
                    return None
                if not isinstance(symbol, Call):
                    return self._symbol(symbol) + rest
                text = texts[self._sets.network.starts[symbol.rule]]
                return None if text is None else text + rest
            case Branch(options=options):
                found = [text for text in (texts[option] for option in options) if text is not None]
                return min(found, key=len, default=None)
            case Enter(loop=loop):
                return texts[loop]
            case Loop(least=least, body=body, next=after):
                text, rest = texts[body], texts[after]
                if rest is None or (least and text is None):
                    return None
                return least * (text or b"") + rest
            case Edge(next=after) | Spent(next=after):
                return texts[after]
            case Again() | End():
                return b""
