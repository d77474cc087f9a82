"""Rule networks: the rules of a grammar as graphs of numbered nodes through which a text moves.

Every rule is a network (see `nodes`). Each expression is built from its end backwards: what follows
it has a node already, to which its own nodes lead. Equal nodes are made once, so that rules with
equal endings share them.

Where a text stands in a rule is a node and the counters of the counted loops around it. The epsilon
closure of such a place says which symbols can be read next and whether the rule may end there.
Nodes from which the end of their rule can't be reached are never entered, so every symbol that is
offered leads to a complete text.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable
from functools import cached_property
from itertools import pairwise
from typing import Final

from maskwright.automaton.rules.nodes import (
    NO_LOOP,
    RULE_END,
    BoundedEnd,
    BranchNode,
    CaptureBoundary,
    Counters,
    CutNode,
    EpsilonClosure,
    EpsilonPath,
    LoopBack,
    LoopEntry,
    LoopNode,
    Node,
    RuleCall,
    RuleEnd,
    Symbol,
    SymbolNode,
    TextSymbol,
    Transition,
)
from maskwright.errors import Construct, LimitError, UnsatisfiableGrammarError
from maskwright.grammar.regular.derivative import is_live
from maskwright.grammar.regular.terms import EPSILON
from maskwright.grammar.rules.tree import (
    Bounded,
    Capture,
    Choice,
    Concat,
    Cut,
    Expression,
    JsonValue,
    Ref,
    Repeat,
    Rules,
    SpecialToken,
    Terminal,
    has_such_text,
    may_be_empty,
    rules_with_such_text,
)
from maskwright.limits import CHEAP, Limits, spend


class NetworkBuilder:
    """The nodes of all rules that the start rule can reach.

    Raises `LimitError` for too many rules or nodes.
    """

    def __init__(self, rules: Rules, limits: Limits) -> None:
        self.nodes: list[Node] = [RuleEnd()]
        self.loops: list[int] = [NO_LOOP]
        """[nodes]: the innermost counted loop in whose body a node stands, or `NO_LOOP`."""
        self.names: list[str] = []
        self.starts: list[int] = []
        self.firsts = [0]
        """[rules + 1]: the number of the first node made for each rule, and how many there are."""
        self._limits = limits
        self._numbers: dict[str, int] = {}
        self._known: dict[tuple[Node, int], int] = {}
        self._nullable = rules_with_such_text(rules, may_be_empty)
        self.start = self._rule(rules.start)
        for name in self.names:  # which grows: a rule's body adds the rules that it calls
            try:
                self.starts.append(self._node(rules.rules[name], RULE_END, NO_LOOP))
            except LimitError as error:
                error.complete(construct=Construct.rules([name]))
                raise
            self.firsts.append(len(self.nodes))
        self.nullable = [name in self._nullable for name in self.names]
        """[rules]: whether a rule generates the empty text."""

    def _rule(self, name: str) -> int:
        number = self._numbers.get(name)
        if number is None:
            number = self._numbers[name] = len(self.names)
            self.names.append(name)
            if len(self.names) > self._limits.grammar_rules:
                raise LimitError(
                    f"the grammar has more than {self._limits.grammar_rules:,} rules",
                    limit="grammar_rules",
                    value=self._limits.grammar_rules,
                    construct=Construct.rules([name]),
                )
        return number

    def _node(self, expression: Expression, after: int, loop: int) -> int:
        """The node at which `expression` begins, if the node `after` follows it, within `loop`."""
        match expression:
            case Terminal(language=term):
                if term is EPSILON:
                    return after
                return self._add(SymbolNode(TextSymbol(term), after), loop)
            case Bounded(body=body, tokens=tokens, tail=tail, last=last):
                after = self._add(BoundedEnd(tokens, tail, after, last), loop)
                return self._node(body, after, loop)
            case Cut(body=body):
                return self._node(body, self._add(CutNode(after), loop), loop)
            case Ref(name=name):
                return self._add(SymbolNode(RuleCall(self._rule(name)), after), loop)
            case JsonValue() | SpecialToken():
                return self._add(SymbolNode(expression, after), loop)
            case Concat(parts=parts):
                for part in reversed(parts):
                    after = self._node(part, after, loop)
                return after
            case Choice(options=options):
                return self._branch((self._node(o, after, loop) for o in options), loop)
            case Capture(name=name, body=body, tail=tail, container=container):
                end = self._add(CaptureBoundary(name, tail, True, after, container), loop)
                inside = self._node(body, end, loop)
                return self._add(CaptureBoundary(name, tail, False, inside, container), loop)
            case Repeat(body=body, least=least, most=most):
                return self._repeat(body, least, most, after, loop)

    def _repeat(self, body: Expression, least: int, most: int | None, after: int, loop: int) -> int:
        if most is not None and most < least:
            return self._branch((), loop)
        if has_such_text(body, may_be_empty, self._nullable):
            least = 0  # copies that are required may be empty
        if most == 0:
            return after
        if (least, most) == (1, 1):
            return self._node(body, after, loop)
        if (least, most) == (0, 1):
            return self._branch((after, self._node(body, after, loop)), loop)
        if most is None and least <= 1:  # a cycle, which needs no counter
            again = self._reserve(loop)
            inside = self._node(body, again, loop)
            self.nodes[again] = BranchNode((inside, after))
            return inside if least else again
        head = self._reserve(loop)
        inside = self._node(body, self._add(LoopBack(head), head), head)
        self.nodes[head] = LoopNode(least, most, inside, after)
        return self._add(LoopEntry(head), loop)

    def _branch(self, options: Iterable[int], loop: int) -> int:
        distinct = tuple(dict.fromkeys(options))
        return distinct[0] if len(distinct) == 1 else self._add(BranchNode(distinct), loop)

    def _add(self, node: Node, loop: int) -> int:
        known = self._known.get((node, loop))
        if known is None:
            known = self._known[node, loop] = self._reserve(loop)
            self.nodes[known] = node
        return known

    def _reserve(self, loop: int) -> int:
        """The number of a new node, to be filled in once what it leads to is known."""
        self.nodes.append(BranchNode(()))
        self.loops.append(loop)
        if len(self.nodes) > self._limits.grammar_nodes:
            raise LimitError(
                f"the grammar's rules have more than {self._limits.grammar_nodes:,} nodes",
                limit="grammar_nodes",
                value=self._limits.grammar_nodes,
            )
        return len(self.nodes) - 1


_MOST_SHOWN: Final = 8
"""Most names of rules that need each other in an error."""


class RuleNetwork:
    """The networks of all rules that the start rule can reach.

    Raises `UnsatisfiableGrammarError` if the start rule generates no text, and `LimitError` for too
    many rules or nodes. `is_satisfiable` says whether a JSON value has any instance.
    """

    def __init__(
        self, rules: Rules, is_satisfiable: Callable[[JsonValue], bool], limits: Limits
    ) -> None:
        built = NetworkBuilder(rules, limits)
        self.nodes = built.nodes
        self.loops = built.loops
        """[nodes]: the innermost counted loop in whose body a node stands, or `NO_LOOP`."""
        self.names = built.names
        self.starts = built.starts
        """[rules]: the first node of each rule."""
        self.start = built.start
        """The number of the start rule."""
        self._nullable = built.nullable
        self._firsts = built.firsts
        self._limits = limits
        self._is_satisfiable = is_satisfiable
        self._closures: dict[tuple[int, Counters], EpsilonClosure] = {}
        self._live = self._live_nodes()
        if not self._live[self.starts[self.start]]:
            raise self._no_text()

    def release(self) -> None:
        """Break the cycles of references; nothing can be asked afterwards."""
        vars(self).clear()

    def _no_text(self) -> UnsatisfiableGrammarError:
        """Why the start rule generates no text: the rules that it needs, up to one that was there
        before or needs no other."""
        way = {self.start: None}
        needed = self._needed(self.start)
        while needed is not None and needed not in way:
            spend(CHEAP)
            way[needed] = None
            needed = self._needed(needed)
        names = [self.names[rule] for rule in (*way, *([] if needed is None else [needed]))]
        shown = [repr(name) for name in names]
        if len(shown) > _MOST_SHOWN:
            shown[_MOST_SHOWN // 2 : -_MOST_SHOWN // 2] = ["…"]
        if needed is None and len(names) == 1:
            cause = "none of its alternatives comes to an end; add one that does"
        elif needed is None:
            cause = f"it needs {', which needs '.join(shown[1:])}, which matches nothing"
        elif len(names) == 2:
            cause = "each of its alternatives needs it again; add one that doesn't"
        else:
            way_out = "add to one an alternative that ends"
            cause = f"it needs {', which needs '.join(shown[1:])} again; {way_out}"
        message = f"the rule {names[0]!r} generates no text: {cause}"
        return UnsatisfiableGrammarError(message, rule=names[-1])

    def _needed(self, rule: int) -> int | None:
        """A rule without a text that a rule without a text calls, if it calls one."""
        stack, seen = [self.starts[rule]], set[int]()
        while stack:
            at = stack.pop()
            spend(CHEAP)
            if at in seen or self._live[at]:
                continue
            seen.add(at)
            node = self.nodes[at]
            if isinstance(node, SymbolNode) and isinstance(node.symbol, RuleCall):
                if not self._live[self.starts[node.symbol.rule]]:
                    return node.symbol.rule
                stack.append(node.next)
            else:
                stack += reversed(self._dependencies(node))
        return None

    # Which nodes lead to the end of their rule

    def _live_nodes(self) -> list[bool]:
        """[nodes]: whether the end of the rule can be reached."""
        productive = self._productive_nodes()
        live = list(productive)
        for at in range(len(self.nodes)):
            loop = self.loops[at]
            while live[at] and loop != NO_LOOP:
                head = self.nodes[loop]
                assert isinstance(head, LoopNode)
                live[at] = productive[head.next]
                loop = self.loops[loop]
        return live

    def _productive_nodes(self) -> list[bool]:
        """[nodes]: whether the end of the rule, or of the body of the innermost counted loop, can
        be reached. The least fixed point, as for the productive symbols of a grammar."""
        productive = [False] * len(self.nodes)
        changed: list[int] = []
        # A rule's nodes are numbered after those that follow them, and called rules after their
        # callers: taken in this order, what a node depends on has mostly been decided already.
        for first, stop in reversed([*pairwise(self._firsts)]):
            for at in range(first, stop):
                try:
                    productive[at] = self._is_productive(self.nodes[at], productive)
                except LimitError as error:
                    error.complete(construct=Construct.rules([self.rule_of(at)]))
                    raise
                if not productive[at]:
                    changed.append(at)
        while changed:
            at = changed.pop()
            spend(CHEAP)
            if productive[at] or not self._is_productive(self.nodes[at], productive):
                continue
            productive[at] = True
            changed += self.dependents[at]
        return productive

    def rule_of(self, node: int) -> str:
        """The rule for which a node was made, the first of those that share it."""
        return self.names[max(0, bisect_right(self._firsts, node) - 1)]

    @cached_property
    def dependents(self) -> list[list[int]]:
        """[nodes]: the nodes whose texts are made of a node's texts."""
        dependents: list[list[int]] = [[] for _ in self.nodes]
        for at, node in enumerate(self.nodes):
            for needed in self._dependencies(node):
                dependents[needed].append(at)
        return dependents

    def _dependencies(self, node: Node) -> list[int]:
        match node:
            case SymbolNode(symbol=RuleCall(rule=rule), next=after):
                return [after, self.starts[rule]]
            case SymbolNode(next=after):
                return [after]
            case BranchNode(options=options):
                return list(options)
            case LoopEntry(loop=loop):
                return [loop]
            case LoopNode(body=body, next=after):
                return [body, after]
            case CaptureBoundary(next=after) | BoundedEnd(next=after) | CutNode(next=after):
                return [after]
            case LoopBack() | RuleEnd():
                return []

    def _is_productive(self, node: Node, productive: list[bool]) -> bool:
        match node:
            case SymbolNode(symbol=symbol, next=after):
                if isinstance(symbol, RuleCall) and not productive[self.starts[symbol.rule]]:
                    return False
                return productive[after] and self.has_text(symbol)
            case BranchNode(options=options):
                return any(productive[option] for option in options)
            case LoopEntry(loop=loop):
                return productive[loop]
            case LoopNode(least=least, body=body, next=after):
                return productive[after] and (least == 0 or productive[body])
            case CaptureBoundary(next=after) | BoundedEnd(next=after) | CutNode(next=after):
                return productive[after]
            case LoopBack() | RuleEnd():
                return True

    def has_text(self, symbol: Symbol) -> bool:
        """Whether some text is read as `symbol`; always true of a call, whose rule decides."""
        match symbol:
            case TextSymbol(term=term):
                return is_live(term, self._limits.witness_search)
            case JsonValue():
                return self._is_satisfiable(symbol)
            case SpecialToken() | RuleCall():
                return True

    def is_live(self, node: int) -> bool:
        """Whether a text that has come to `node` can be completed."""
        return self._live[node]

    # Epsilon moves

    def closure(self, node: int, counters: Counters) -> EpsilonClosure:
        """The epsilon closure of a node, without nodes that can't be completed."""
        key = (node, counters)
        known = self._closures.get(key)
        if known is None:
            known = self._closures[key] = self._close(node, counters)
        return known

    def _close(self, node: int, counters: Counters) -> EpsilonClosure:
        transitions: dict[Transition, None] = {}
        may_end = False
        seen: set[tuple[int, Counters]] = set()
        stack = [(node, counters)]
        while stack:
            place = stack.pop()
            at, counts = place
            spend(CHEAP)
            if place in seen or not self._live[at]:
                continue
            seen.add(place)
            reached = self.nodes[at]
            moves = self._moves(reached, counts)
            if isinstance(reached, SymbolNode):
                transitions[Transition(reached.symbol, reached.next, counts)] = None
            elif isinstance(reached, LoopNode):
                # A lower count from `least` on can do all that a higher one can: a body that
                # may be empty would else be entered once for every count up to `most`.
                lower = range(reached.least, counts[-1])
                if any((at, (*counts[:-1], count)) in seen for count in lower):
                    moves = [move for move in moves if move != (reached.body, counts)]
            may_end = may_end or isinstance(reached, RuleEnd)
            stack += moves
        return EpsilonClosure(tuple(transitions), may_end)

    def _moves(self, node: Node, counts: Counters) -> list[tuple[int, Counters]]:
        """The nodes to which `node` leads without reading, with the counters there, the first one
        last."""
        match node:
            case SymbolNode(symbol=symbol, next=after):
                return [(after, counts)] if self.is_nullable(symbol) else []
            case BranchNode(options=options):
                return [(option, counts) for option in reversed(options)]
            case LoopEntry(loop=loop):
                return [(loop, (*counts, 0))]
            case LoopBack(loop=loop):
                return [(loop, (*counts[:-1], self._count(loop, counts[-1] + 1)))]
            case LoopNode(least=least, most=most, body=body, next=after):
                count = counts[-1]
                moves = [(after, counts[:-1])] if count >= least else []
                return [*moves, (body, counts)] if most is None or count < most else moves
            case CaptureBoundary(next=after) | BoundedEnd(next=after) | CutNode(next=after):
                return [(after, counts)]
            case RuleEnd():
                return []

    def epsilon_paths(self, node: int, counters: Counters) -> list[EpsilonPath]:
        """The closure path by path, for the boundaries of captures that each path passes."""
        paths: dict[EpsilonPath, None] = {}
        seen: set[tuple[int, Counters, tuple[CaptureBoundary, ...]]] = set()
        stack: list[tuple[int, Counters, tuple[CaptureBoundary, ...]]] = [(node, counters, ())]
        while stack:
            place = stack.pop()
            at, counts, passed = place
            spend(CHEAP)
            # A boundary passed twice without reading is a round of a loop that reads nothing.
            if place in seen or not self._live[at] or len(set(passed)) < len(passed):
                continue
            seen.add(place)
            match self.nodes[at]:
                case SymbolNode(symbol=symbol, next=after):
                    paths[EpsilonPath(Transition(symbol, after, counts), passed)] = None
                case RuleEnd():
                    paths[EpsilonPath(None, passed)] = None
                case CaptureBoundary() as boundary:
                    passed = (*passed, boundary)
                case _:
                    pass
            stack += [(*move, passed) for move in self._moves(self.nodes[at], counts)]
        return list(paths)

    def _count(self, loop: int, count: int) -> int:
        """The count to remember: without an upper bound, counts from the least on are one."""
        head = self.nodes[loop]
        assert isinstance(head, LoopNode)
        return min(count, head.least) if head.most is None else count

    def is_nullable(self, symbol: Symbol) -> bool:
        """Whether the empty text is read as `symbol`."""
        match symbol:
            case TextSymbol(term=term):
                return term.nullable
            case RuleCall(rule=rule):
                return self._nullable[rule]
            case JsonValue() | SpecialToken():
                return False

    # What a grammar contains

    @cached_property
    def counts_tokens(self) -> bool:
        """Whether some text is bounded by a number of tokens."""
        return any(isinstance(node, BoundedEnd) for node in self.nodes)

    @cached_property
    def has_cuts(self) -> bool:
        """Whether some text gives up what is read beside it."""
        return any(isinstance(node, CutNode) for node in self.nodes)

    def is_cut(self, node: int) -> bool:
        """Whether the text that ends at `node` gives up what is read beside it."""
        return isinstance(self.nodes[node], CutNode)

    def bounded_end(self, node: int) -> BoundedEnd | None:
        """The bound on the tokens of the text that ends at `node`; None if it has none."""
        reached = self.nodes[node]
        return reached if isinstance(reached, BoundedEnd) else None

    def innermost_count(self, node: int, counters: Counters) -> tuple[int, int] | None:
        """(least, count) of the innermost counted loop, None outside of loops.

        Of two counts from `least` on, the lower one dominates: it can do all that the higher can.
        """
        if not counters:
            return None
        head = self.nodes[self.loops[node]]
        assert isinstance(head, LoopNode)
        return head.least, counters[-1]

    @cached_property
    def has_captures(self) -> bool:
        """Whether the grammar has captures."""
        return any(isinstance(node, CaptureBoundary) for node in self.nodes)

    @cached_property
    def has_values(self) -> bool:
        """Whether the grammar has JSON values."""
        return any(
            isinstance(node, SymbolNode) and isinstance(node.symbol, JsonValue)
            for node in self.nodes
        )

    @cached_property
    def left_corners(self) -> list[frozenset[int]]:
        """[rules]: the rules with which a text of each rule may begin, itself included."""
        firsts = [
            {
                transition.symbol.rule
                for transition in self.closure(start, ()).transitions
                if isinstance(transition.symbol, RuleCall)
            }
            for start in self.starts
        ]
        corners: list[frozenset[int]] = []
        for rule in range(len(self.starts)):
            seen = {rule}
            stack = [rule]
            while stack:
                new = firsts[stack.pop()] - seen
                spend(CHEAP * (1 + len(new)))
                seen |= new
                stack += new
            corners.append(frozenset(seen))
        return corners
