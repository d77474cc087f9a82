"""The shortest text that completes an item set and the return frames below it.

Within a rule, the shortest text from each node to the rule's end is a property of the network alone
and is computed once for all nodes. From there on, Dijkstra's algorithm searches the return
addresses, which depend on the stack.

The upper bounds for the budgets (see `automaton.finish.bounds`) are sums over the stack, so that
none of them takes a search of its own: a set knows what its costliest symbol leaves to be read up
to the next return frame, and a frame what the costliest of its callers does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from heapq import heappop, heappush
from itertools import count

from maskwright.automaton.leaf.special_tokens import spelling
from maskwright.automaton.rules.item_sets import (
    BELOW,
    OUTERMOST,
    Item,
    ItemSets,
    ReturnAddress,
    RulePosition,
)
from maskwright.automaton.rules.nodes import (
    NO_LOOP,
    BoundedEnd,
    BranchNode,
    CaptureBoundary,
    Counters,
    CutNode,
    LoopBack,
    LoopEntry,
    LoopNode,
    Node,
    RuleCall,
    RuleEnd,
    Symbol,
    SymbolNode,
    TextSymbol,
)
from maskwright.automaton.rules.values import RuleValues
from maskwright.errors import WHOLE_GRAMMAR, Construct, LimitError
from maskwright.grammar.regular.shortest import shortest
from maskwright.grammar.rules.tree import JsonValue, SpecialToken
from maskwright.limits import CHEAP, Limits, spend


class RuleCompletion:
    """Shortest completions of the item sets of one grammar, as bytes."""

    def __init__(self, sets: ItemSets, values: RuleValues, limits: Limits) -> None:
        self._sets = sets
        self._values = values
        self._limits = limits
        self._symbols: dict[Symbol, bytes] = {}
        """The shortest text of each symbol."""
        self._rests: dict[tuple[int, Counters], bytes] = {}
        """The shortest text from each place in a rule to the rule's end."""
        self._returns: dict[ReturnAddress, int] = {}
        """The bytes that complete what waits for a rule, up to the next return frame."""

    def of_kernel(self, kernel: int, frames: Sequence[int]) -> bytes | None:
        """The completion from a kernel on, of whose symbols nothing has been read; `frames` are the
        kernels of the return frames below it, the innermost first."""
        items = self._sets.items_of(kernel)
        return self._search(((self._symbol(item.symbol), item.after) for item in items), frames)

    def of_value(
        self, endings: Mapping[int, bytes], values: Sequence[JsonValue], frames: Sequence[int]
    ) -> bytes | None:
        """The completion from within a JSON value: `endings[i]` completes it as `values[i]`, for
        which the innermost of `frames` waits."""
        waiting = self._sets.closure(frames[0]).values
        begun: list[tuple[bytes, RulePosition]] = []
        for which, ending in endings.items():
            begun += [(ending, item.after) for item in waiting[values[which]]]
        return self._search(begun, frames[1:])

    # Upper bounds

    def bound_of_set(self, kernel: int) -> int:
        """Upper bound in bytes, up to the next return frame, once a leaf of the set has been left:
        any of its texts has ended, or any of its values or special tokens has begun."""
        closure = self._sets.closure(kernel)
        costs = [self._least(items) for items in closure.texts.values()]
        for symbols in (closure.values, closure.tokens):
            for symbol, items in symbols.items():
                costs.append(len(self._symbol(symbol)) + self._least(items))
        return max(costs, default=0)

    def bound_of_frame(self, kernel: int) -> int:
        """Upper bound in bytes, up to the next return frame, once a rule or value has ended for
        which a return frame waits, whichever that is."""
        closure = self._sets.closure(kernel)
        waiting = (*closure.waiting.values(), *closure.values.values())
        return max(map(self._least, waiting), default=0)

    def _least(self, items: Iterable[Item]) -> int:
        """The fewest bytes after any of the items' symbols up to the next return frame."""
        return min(
            len(self._rest(after.node, after.counters)) + self._after_return(after.return_to)
            for after in (item.after for item in items)
        )

    def _after_return(self, start: ReturnAddress) -> int:
        """The fewest bytes from the end of a rule to the next return frame, or to the end."""
        known = self._returns.get(start)
        if known is not None:
            return known
        tie = count()
        queue = [(0, next(tie), start)]
        seen: set[ReturnAddress] = set()
        while queue:
            cost, _, return_to = heappop(queue)
            if return_to.kernel in (BELOW, OUTERMOST):
                self._returns[start] = cost
                return cost
            if return_to in seen:
                continue
            seen.add(return_to)
            waiting = self._sets.closure(return_to.kernel).waiting[return_to.rule]
            spend(1 + len(waiting))
            for after in (item.after for item in waiting):
                rest = len(self._rest(after.node, after.counters))
                heappush(queue, (cost + rest, next(tie), after.return_to))
        raise AssertionError("a rule that can't return")

    # Searches

    def _search(
        self, begun: Iterable[tuple[bytes, RulePosition]], frames: Sequence[int]
    ) -> bytes | None:
        """Dijkstra's algorithm over pairs of a return address and the number of frames popped.

        `begun` holds texts with the positions at which rules go on after them.
        """
        tie = count()
        queue: list[tuple[int, int, bytes, ReturnAddress, int]] = []

        def go_on(text: bytes, position: RulePosition, depth: int) -> None:
            text += self._rest(position.node, position.counters)
            heappush(queue, (len(text), next(tie), text, position.return_to, depth))

        for text, position in begun:
            go_on(text, position, 0)
        seen: set[tuple[ReturnAddress, int]] = set()
        while queue:
            _, _, text, return_to, depth = heappop(queue)
            spend()
            if return_to.kernel == OUTERMOST:
                return text
            if (return_to, depth) in seen:
                continue
            seen.add((return_to, depth))
            kernel = return_to.kernel
            if kernel == BELOW:
                kernel, depth = frames[depth], depth + 1
            for item in self._sets.closure(kernel).waiting[return_to.rule]:
                go_on(text, item.after, depth)
        return None

    def _symbol(self, symbol: Symbol) -> bytes:
        """The shortest text of a symbol, which has one."""
        known = self._symbols.get(symbol)
        if known is None:
            known = self._symbols[symbol] = self._shortest(symbol)
        return known

    def _shortest(self, symbol: Symbol) -> bytes:
        match symbol:
            case TextSymbol(term=term):
                text = shortest(term, self._limits.witness_search)
                assert text is not None
                return text.encode()
            case RuleCall(rule=rule):
                found = self._within[self._sets.network.starts[rule]]
                assert found is not None
                return found
            case JsonValue():
                return self._values.shortest(symbol)
            case SpecialToken(ids=ids):
                return spelling(ids[0][0])

    def _rest(self, node: int, counters: Counters) -> bytes:
        """The shortest text from a place to the end of its rule: to the end of the body of its
        loop, then the copies that are still required, then what follows the loop."""
        key = (node, counters)
        known = self._rests.get(key)
        if known is not None:
            return known
        network = self._sets.network
        text = self._within[node]
        assert text is not None
        head = network.loops[node]
        if head != NO_LOOP:
            loop = network.nodes[head]
            assert isinstance(loop, LoopNode)
            missing = loop.least - counters[-1] - 1
            if missing > 0:
                text += missing * (self._within[loop.body] or b"")
            text += self._rest(loop.next, counters[:-1])
        self._rests[key] = text
        return text

    @cached_property
    def _within(self) -> list[bytes | None]:
        """[nodes]: the shortest text to the end of the rule or of the body of the counted loop;
        None if there is none. Texts are shortened until nothing changes (Bellman and Ford).

        Raises `LimitError` if one has more bytes than `witness_search` allows: it is never put
        together, as a count may be of any size."""
        network = self._sets.network
        nodes = network.nodes
        most = self._limits.witness_search
        texts: list[bytes | None] = [None] * len(nodes)
        changed = [at for at in range(len(nodes)) if isinstance(nodes[at], LoopBack | RuleEnd)]
        for at in changed:
            texts[at] = b""
        too_long: dict[int, None] = {}
        while changed:
            dependents = dict.fromkeys(one for at in changed for one in network.dependents[at])
            changed = []
            for at in dependents:
                spend(CHEAP)
                text = self._shortest_from(nodes[at], texts, most)
                known = texts[at]
                if isinstance(text, _TooLong):
                    too_long[at] = None
                elif text is not None and (known is None or len(text) < len(known)):
                    texts[at] = text
                    changed.append(at)
        if not_written := [at for at in too_long if texts[at] is None and network.is_live(at)]:
            rule = Construct.rules([network.rule_of(not_written[0])]).name
            raise LimitError(
                f"the shortest text of a part of {rule} has more than {most:,} bytes",
                limit="witness_search",
                value=most,
                construct=WHOLE_GRAMMAR,
                way_out="ask for fewer repeats",
            )
        return texts

    def _shortest_from(
        self, node: Node, texts: list[bytes | None], most: int
    ) -> bytes | _TooLong | None:
        """The shortest text from a node, as far as those of the nodes after it are known."""
        match node:
            case SymbolNode(symbol=symbol, next=after):
                rest = texts[after]
                if rest is None or not self._sets.network.has_text(symbol):
                    return None
                if isinstance(symbol, RuleCall):
                    text = texts[self._sets.network.starts[symbol.rule]]
                else:
                    text = self._symbol(symbol)
                return None if text is None else _repeated(text, 1, rest, most)
            case BranchNode(options=options):
                found = [text for text in (texts[option] for option in options) if text is not None]
                return min(found, key=len, default=None)
            case LoopEntry(loop=loop):
                return texts[loop]
            case LoopNode(least=least, body=body, next=after):
                text, rest = texts[body], texts[after]
                if rest is None or (least and text is None):
                    return None
                return _repeated(text or b"", least, rest, most)
            case CaptureBoundary(next=after) | BoundedEnd(next=after) | CutNode(next=after):
                return texts[after]
            case LoopBack() | RuleEnd():
                return b""


class _TooLong:
    """Stands for a text that has too many bytes to be put together."""


def _repeated(text: bytes, count: int, rest: bytes, most: int) -> bytes | _TooLong:
    """`count` copies of a text, and what comes after them, of at most so many bytes."""
    if count * len(text) + len(rest) > most:
        return _TooLong()
    return count * text + rest if text else rest
