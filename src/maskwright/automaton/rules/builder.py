"""Making the networks of rules, each from its end backwards."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from maskwright.automaton.rules.nodes import (
    END,
    OUTSIDE,
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
    Text,
)
from maskwright.errors import LimitError
from maskwright.grammar.regular.terms import EPSILON
from maskwright.grammar.rules.tree import (
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


class RuleBuilder:
    """The nodes of all rules that the start can reach. Equal endings are one node.

    Raises `LimitError` for too many rules or nodes.
    """

    def __init__(self, rules: Rules, limits: Limits) -> None:
        self.nodes: list[Node] = [End()]
        self.loops: list[int] = [OUTSIDE]
        """[nodes]: the counting loop in whose body a node stands."""
        self.names: list[str] = []
        self.starts: list[int] = []
        self.firsts = [0]
        """The first nodes made for each rule."""
        self._limits = limits
        self._numbers: dict[str, int] = {}
        self._made: dict[tuple[Node, int], int] = {}
        self._nullable = _nullable_rules(rules)
        self.start = self._rule(rules.start)
        done = 0
        while done < len(self.names):  # a rule's body may add rules
            self.starts.append(self._node(rules.rules[self.names[done]], END, OUTSIDE))
            self.firsts.append(len(self.nodes))
            done += 1
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
        if _nullable(body, self._nullable):
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
