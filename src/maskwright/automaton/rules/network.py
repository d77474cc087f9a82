"""Rules as networks of positions: what a grammar's machine moves through.

Each rule is a network of numbered nodes, made from the end backwards, so that equal endings are one
node. What consumes text (a terminal, a JSON value, a special token) or calls a rule is a *step*;
everything else only leads on to steps or to the rule's end. Repeats that count keep their number
beside the node, innermost last.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from itertools import pairwise

from maskwright.automaton.rules.builder import RuleBuilder
from maskwright.automaton.rules.nodes import (
    OUTSIDE,
    Active,
    Again,
    Branch,
    Call,
    Counters,
    Edge,
    End,
    Enter,
    Expansion,
    Loop,
    Node,
    Spent,
    Step,
    Symbol,
    Text,
    Way,
)
from maskwright.errors import UnsatisfiableGrammarError
from maskwright.grammar.regular.derivative import is_live
from maskwright.grammar.rules.tree import JsonValue, Rules, SpecialToken
from maskwright.limits import Limits


class RuleNetwork:
    """The networks of all rules that the start can reach and that generate something."""

    def __init__(self, rules: Rules, possible: Callable[[JsonValue], bool], limits: Limits) -> None:
        made = RuleBuilder(rules, limits)
        self.nodes = made.nodes
        self.loops = made.loops
        """[nodes]: the counting loop in whose body a node stands."""
        self.names = made.names
        self.starts = made.starts
        self.start = made.start
        self._nullable = made.nullable
        self._firsts = made.firsts
        self._limits = limits
        self._possible = possible
        self._expansions: dict[tuple[int, Counters], Expansion] = {}
        self._within, self._alive = self._find_living()
        if not self._alive[self.starts[self.start]]:
            raise UnsatisfiableGrammarError(f"the rule {rules.start!r} generates no text")

    # What generates something

    def _find_living(self) -> tuple[list[bool], list[bool]]:
        """[nodes]: whether the end of the rule, or of the loop's body, can be reached; and whether
        the end of the rule can."""
        within = [False] * len(self.nodes)
        changed: list[int] = []
        for first, stop in reversed([*pairwise(self._firsts)]):
            for at in range(first, stop):  # mostly, what a node needs has been looked at by now
                within[at] = self._generates(self.nodes[at], within)
                if not within[at]:
                    changed.append(at)
        while changed:
            at = changed.pop()
            if within[at] or not self._generates(self.nodes[at], within):
                continue
            within[at] = True
            changed += self.users[at]
        alive = list(within)
        for at in range(len(self.nodes)):
            loop = self.loops[at]
            while alive[at] and loop != OUTSIDE:
                head = self.nodes[loop]
                assert isinstance(head, Loop)
                alive[at] = within[head.next]
                loop = self.loops[loop]
        return within, alive

    @cached_property
    def users(self) -> list[list[int]]:
        """[nodes]: the nodes whose texts depend on a node's."""
        users: list[list[int]] = [[] for _ in self.nodes]
        for at, node in enumerate(self.nodes):
            for used in self._needs(node):
                users[used].append(at)
        return users

    def _needs(self, node: Node) -> list[int]:
        match node:
            case Step(symbol=symbol, next=after):
                return [after, self.starts[symbol.rule]] if isinstance(symbol, Call) else [after]
            case Branch(options=options):
                return list(options)
            case Enter(loop=loop):
                return [loop]
            case Loop(body=body, next=after):
                return [body, after]
            case Edge(next=after) | Spent(next=after):
                return [after]
            case Again() | End():
                return []

    def _generates(self, node: Node, within: list[bool]) -> bool:
        match node:
            case Step(symbol=symbol, next=after):
                if isinstance(symbol, Call) and not within[self.starts[symbol.rule]]:
                    return False
                return within[after] and self.generates(symbol)
            case Branch(options=options):
                return any(within[option] for option in options)
            case Enter(loop=loop):
                return within[loop]
            case Loop(least=least, body=body, next=after):
                return within[after] and (least == 0 or within[body])
            case Edge(next=after) | Spent(next=after):
                return within[after]
            case Again() | End():
                return True

    def generates(self, symbol: Symbol) -> bool:
        """Whether a symbol that is no call generates something."""
        match symbol:
            case Text(term=term):
                return is_live(term, self._limits.witness_search)
            case JsonValue():
                return self._possible(symbol)
            case SpecialToken() | Call():
                return True

    # Moving

    def expand(self, node: int, counters: Counters) -> Expansion:
        """What can be read at a position, nothing of which is in vain."""
        key = (node, counters)
        known = self._expansions.get(key)
        if known is None:
            known = self._expansions[key] = self._expand(node, counters)
        return known

    def _expand(self, node: int, counters: Counters) -> Expansion:
        steps: dict[Active, None] = {}
        ends = False
        seen: set[tuple[int, Counters]] = set()
        stack = [(node, counters)]
        while stack:
            place = stack.pop()
            at, counts = place
            if place in seen or not self._alive[at]:
                continue
            seen.add(place)
            match self.nodes[at]:
                case Step(symbol=symbol, next=after):
                    steps[Active(symbol, after, counts)] = None
                    if self.may_be_empty(symbol):
                        stack.append((after, counts))
                case Branch(options=options):
                    stack += [(option, counts) for option in reversed(options)]
                case Enter(loop=loop):
                    stack.append((loop, (*counts, 0)))
                case Again(loop=loop):
                    stack.append((loop, (*counts[:-1], self._count(loop, counts[-1] + 1))))
                case Loop(least=least, most=most, body=body, next=after):
                    count = counts[-1]
                    if count >= least:
                        stack.append((after, counts[:-1]))
                    earlier = any((at, (*counts[:-1], n)) in seen for n in range(least, count))
                    if (most is None or count < most) and not earlier:
                        stack.append((body, counts))
                case Edge(next=after) | Spent(next=after):
                    stack.append((after, counts))
                case End():
                    ends = True
        return Expansion(tuple(steps), ends)

    def ways(self, node: int, counters: Counters) -> list[Way]:
        """As `expand`, with the edges of captures passed on each way."""
        found: dict[Way, None] = {}
        seen: set[tuple[int, Counters, tuple[Edge, ...]]] = set()
        stack: list[tuple[int, Counters, tuple[Edge, ...]]] = [(node, counters, ())]
        while stack:
            place = stack.pop()
            at, counts, edges = place
            if place in seen or not self._alive[at] or len(set(edges)) < len(edges):
                continue
            seen.add(place)
            match self.nodes[at]:
                case Step(symbol=symbol, next=after):
                    found[Way(Active(symbol, after, counts), edges)] = None
                    if self.may_be_empty(symbol):
                        stack.append((after, counts, edges))
                case Branch(options=options):
                    stack += [(option, counts, edges) for option in reversed(options)]
                case Enter(loop=loop):
                    stack.append((loop, (*counts, 0), edges))
                case Again(loop=loop):
                    again = self._count(loop, counts[-1] + 1)
                    stack.append((loop, (*counts[:-1], again), edges))
                case Loop(least=least, most=most, body=body, next=after):
                    if counts[-1] >= least:
                        stack.append((after, counts[:-1], edges))
                    if most is None or counts[-1] < most:
                        stack.append((body, counts, edges))
                case Edge(next=after) as edge:
                    stack.append((after, counts, (*edges, edge)))
                case Spent(next=after):
                    stack.append((after, counts, edges))
                case End():
                    found[Way(None, edges)] = None
        return list(found)

    def is_alive(self, node: int) -> bool:
        """Whether a text that comes to `node` can be completed."""
        return self._alive[node]

    @cached_property
    def counts_tokens(self) -> bool:
        """Whether some text is bounded by a number of tokens."""
        return any(isinstance(node, Spent) for node in self.nodes)

    def spent(self, node: int) -> Spent | None:
        """The bound on the tokens of the text behind which `node` stands."""
        found = self.nodes[node]
        return found if isinstance(found, Spent) else None

    def _count(self, loop: int, count: int) -> int:
        head = self.nodes[loop]
        assert isinstance(head, Loop)
        return min(count, head.least) if head.most is None else count

    def may_be_empty(self, symbol: Symbol) -> bool:
        """Whether a symbol has the empty text."""
        match symbol:
            case Text(term=term):
                return term.nullable
            case Call(rule=rule):
                return self._nullable[rule]
            case JsonValue() | SpecialToken():
                return False

    def counted(self, node: int, counters: Counters) -> tuple[int, int] | None:
        """(least, count) of the innermost loop: of two counts from `least` on the lower one can do
        all that the higher one can."""
        if not counters:
            return None
        head = self.nodes[self.loops[node]]
        assert isinstance(head, Loop)
        return head.least, counters[-1]

    @cached_property
    def captures(self) -> bool:
        """Whether there are captures in the grammar."""
        return any(isinstance(node, Edge) for node in self.nodes)

    @cached_property
    def reach(self) -> list[frozenset[int]]:
        """[rules]: the rules with which a text of each may begin, itself included."""
        firsts = [
            {s.symbol.rule for s in self.expand(start, ()).steps if isinstance(s.symbol, Call)}
            for start in self.starts
        ]
        found: list[frozenset[int]] = []
        for rule in range(len(self.starts)):
            seen = {rule}
            stack = [rule]
            while stack:
                new = firsts[stack.pop()] - seen
                seen |= new
                stack += new
            found.append(frozenset(seen))
        return found
