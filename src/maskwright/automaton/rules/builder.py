"""Builds the networks of rules.

Each expression is built from its end backwards: what follows it has a node already, to which its
own nodes lead. Equal nodes are made once, so that rules with equal endings share them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from maskwright.automaton.rules.nodes import (
    NO_LOOP,
    RULE_END,
    BoundedEnd,
    BranchNode,
    CaptureBoundary,
    CutNode,
    LoopBack,
    LoopEntry,
    LoopNode,
    Node,
    RuleCall,
    RuleEnd,
    SymbolNode,
    TextSymbol,
)
from maskwright.errors import Construct, LimitError
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
        self._nullable = _nullable_rules(rules)
        self.start = self._rule(rules.start)
        for name in self.names:  # which grows: a rule's body adds the rules that it calls
            try:
                self.starts.append(self._node(rules.rules[name], RULE_END, NO_LOOP))
            except LimitError as error:
                error.complete(construct=Construct.rules([name]))
                raise
            self.firsts.append(len(self.nodes))
        self.nullable = [self._nullable[name] for name in self.names]
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
        if _is_nullable(body, self._nullable):
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


def _nullable_rules(rules: Rules) -> dict[str, bool]:
    """By name: whether a rule generates the empty text; the least fixed point."""
    nullable = dict.fromkeys(rules.rules, False)
    changed = True
    while changed:
        changed = False
        spend(CHEAP * len(nullable))
        for name, body in rules.rules.items():
            if not nullable[name] and _is_nullable(body, nullable):
                nullable[name] = changed = True
    return nullable


def _is_nullable(expression: Expression, rules: Mapping[str, bool]) -> bool:
    """Whether an expression generates the empty text, if the rules do as `rules` says."""
    match expression:
        case Terminal(language=term):
            return term.nullable
        case Bounded(body=body) | Cut(body=body):
            return _is_nullable(body, rules)
        case Ref(name=name):
            return rules[name]
        case JsonValue() | SpecialToken():
            return False
        case Concat(parts=parts):
            return all(_is_nullable(part, rules) for part in parts)
        case Choice(options=options):
            return any(_is_nullable(option, rules) for option in options)
        case Capture(body=body):
            return _is_nullable(body, rules)
        case Repeat(body=body, least=least, most=most):
            if most is not None and most < least:
                return False
            return least == 0 or _is_nullable(body, rules)
