"""Rules as networks of positions: what a grammar's machine moves through.

Each rule is a network of numbered nodes, made from the end backwards, so that equal endings are one
node. What consumes text (a terminal, a JSON value, a special token) or calls a rule is a *step*;
everything else only leads on to steps or to the rule's end. Repeats that count keep their number
beside the node, innermost last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from itertools import pairwise
from typing import Final, NamedTuple

from maskwright.errors import LimitError, UnsatisfiableGrammarError
from maskwright.grammar.derivative import is_live
from maskwright.grammar.regular import EPSILON, Regular
from maskwright.grammar.rules import (
    Bounded,
    Capture,
    Choice,
    Expression,
    JsonValue,
    Ref,
    Repeat,
    Rules,
    Sequence,
    SpecialToken,
    Terminal,
)
from maskwright.limits import Limits

Counters = tuple[int, ...]

OUTSIDE: Final = -1
"""The loop of nodes that stand in none."""


class Text(NamedTuple):
    """Read a text of a language."""

    term: Regular


class Call(NamedTuple):
    """Read what a rule generates."""

    rule: int


Symbol = Text | Call | JsonValue | SpecialToken


class Step(NamedTuple):
    symbol: Symbol
    next: int


class Branch(NamedTuple):
    options: tuple[int, ...]


class Enter(NamedTuple):
    """Begin to count at `loop`."""

    loop: int


class Again(NamedTuple):
    """One more copy has been read in `loop`."""

    loop: int


class Loop(NamedTuple):
    """Read `body`, which ends in `Again`, `least` to `most` times."""

    least: int
    most: int | None
    body: int
    next: int


class Edge(NamedTuple):
    """Where a capture begins, or (`ends`) ends; nothing is read."""

    name: str
    tail: str
    ends: bool
    next: int


class Spent(NamedTuple):
    """Behind a text that has at most `tokens` tokens and `tail` characters more; nothing is
    read."""

    tokens: int
    tail: int
    next: int


class End(NamedTuple):
    """The end of a rule."""


Node = Step | Branch | Enter | Again | Loop | Edge | Spent | End


class Active(NamedTuple):
    """A step that can be taken at once, and where it leads."""

    symbol: Symbol
    next: int
    counters: Counters


class Expansion(NamedTuple):
    """What a position comes to without reading: steps, and whether the rule may end here."""

    steps: tuple[Active, ...]
    ends: bool


class Way(NamedTuple):
    """One way from a position to a step (None: to the rule's end), and what it passes."""

    step: Active | None
    edges: tuple[Edge, ...]


END: Final = 0
"""The node at which every rule ends."""


class RuleNetwork:
    """The networks of all rules that the start can reach and that generate something."""

    def __init__(self, rules: Rules, possible: Callable[[JsonValue], bool], limits: Limits) -> None:
        self.nodes: list[Node] = [End()]
        self.loops: list[int] = [OUTSIDE]
        """[nodes]: the counting loop in whose body a node stands."""
        self.names: list[str] = []
        self.starts: list[int] = []
        self._limits = limits
        self._possible = possible
        self._numbers: dict[str, int] = {}
        self._made: dict[tuple[Node, int], int] = {}
        self._expansions: dict[tuple[int, Counters], Expansion] = {}
        self._rules: Mapping[str, Expression] = rules.rules
        self._nullable = _nullable_rules(rules)
        self.start = self._rule(rules.start)
        done = 0
        self._firsts = [0]
        """The first nodes made for each rule."""
        while done < len(self.names):  # a rule's body may add rules
            self.starts.append(self._node(rules.rules[self.names[done]], END, OUTSIDE))
            self._firsts.append(len(self.nodes))
            done += 1
        self.nullable = [self._nullable[name] for name in self.names]
        self._within, self._alive = self._find_living()
        if not self._alive[self.starts[self.start]]:
            raise UnsatisfiableGrammarError(f"the rule {rules.start!r} generates no text")

    # Networks

    def _rule(self, name: str) -> int:
        number = self._numbers.get(name)
        if number is None:
            number = self._numbers[name] = len(self.names)
            self.names.append(name)
            if len(self.names) > self._limits.grammar_rules:
                raise LimitError(
                    f"the grammar has more than {self._limits.grammar_rules:,} rules",
                    limit="grammar_rules",
                )
        return number

    def _node(self, expression: Expression, after: int, loop: int) -> int:
        """The node from which `expression` and then what is at `after` is read, in `loop`."""
        match expression:
            case Terminal(language=term):
                return after if term is EPSILON else self._add(Step(Text(term), after), loop)
            case Bounded(body=body, tokens=tokens, tail=tail):
                after = self._add(Spent(tokens, tail, after), loop)
                return self._node(body, after, loop)
            case Ref(name=name):
                return self._add(Step(Call(self._rule(name)), after), loop)
            case JsonValue() | SpecialToken():
                return self._add(Step(expression, after), loop)
            case Sequence(parts=parts):
                for part in reversed(parts):
                    after = self._node(part, after, loop)
                return after
            case Choice(options=options):
                return self._branch((self._node(o, after, loop) for o in options), loop)
            case Capture(name=name, body=body, tail=tail):
                end = self._add(Edge(name, tail, True, after), loop)
                return self._add(Edge(name, tail, False, self._node(body, end, loop)), loop)
            case Repeat(body=body, least=least, most=most):
                return self._repeat(body, least, most, after, loop)

    def _repeat(self, body: Expression, least: int, most: int | None, after: int, loop: int) -> int:
        if most is not None and most < least:
            return self._branch((), loop)
        if self._is_nullable(body):
            least = 0
        if most == 0:
            return after
        if (least, most) == (1, 1):
            return self._node(body, after, loop)
        if (least, most) == (0, 1):
            return self._branch((after, self._node(body, after, loop)), loop)
        if most is None and least <= 1:
            again = self._reserve(loop)
            inside = self._node(body, again, loop)
            self.nodes[again] = Branch((inside, after))
            return inside if least else again
        head = self._reserve(loop)
        inside = self._node(body, self._add(Again(head), head), head)
        self.nodes[head] = Loop(least, most, inside, after)
        return self._add(Enter(head), loop)

    def _branch(self, options: Iterable[int], loop: int) -> int:
        distinct = tuple(dict.fromkeys(options))
        return distinct[0] if len(distinct) == 1 else self._add(Branch(distinct), loop)

    def _add(self, node: Node, loop: int) -> int:
        known = self._made.get((node, loop))
        if known is None:
            known = self._made[node, loop] = self._reserve(loop)
            self.nodes[known] = node
        return known

    def _reserve(self, loop: int) -> int:
        """A new node, to be filled in once what it leads to is known."""
        self.nodes.append(Branch(()))
        self.loops.append(loop)
        if len(self.nodes) > self._limits.grammar_nodes:
            raise LimitError(
                f"the grammar's rules have more than {self._limits.grammar_nodes:,} nodes",
                limit="grammar_nodes",
            )
        return len(self.nodes) - 1

    def _is_nullable(self, expression: Expression) -> bool:
        return _nullable(expression, self._nullable)

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
                return self.nullable[rule]
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


def _nullable_rules(rules: Rules) -> dict[str, bool]:
    """Which rules generate the empty text."""
    nullable = dict.fromkeys(rules.rules, False)
    changed = True
    while changed:
        changed = False
        for name, body in rules.rules.items():
            if not nullable[name] and _nullable(body, nullable):
                nullable[name] = changed = True
    return nullable


def _nullable(expression: Expression, rules: Mapping[str, bool]) -> bool:
    match expression:
        case Terminal(language=term):
            return term.nullable
        case Bounded(body=body):
            return _nullable(body, rules)
        case Ref(name=name):
            return rules[name]
        case JsonValue() | SpecialToken():
            return False
        case Sequence(parts=parts):
            return all(_nullable(part, rules) for part in parts)
        case Choice(options=options):
            return any(_nullable(option, rules) for option in options)
        case Capture(body=body):
            return _nullable(body, rules)
        case Repeat(body=body, least=least, most=most):
            if most is not None and most < least:
                return False
            return least == 0 or _nullable(body, rules)
