"""Joins the regular parts of a grammar into terminals, and turns recursion into loops where it can.

A terminal is read by an automaton, with one look-up for each byte, however many rules it came from.
Only recursion, JSON values, special tokens and captures need the machine of rules.

`x: x "," y | y` generates the texts of `y ("," y)*`. A repetition is read in a loop, and may be
regular, whereas recursion needs an item for every call that has not returned. In an ambiguous rule
such as `x: x x | y`, this would be an item for every way to group what has been read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from maskwright.grammar.regular.terms import EPSILON, Regular, alt, concat, repeat
from maskwright.grammar.regular.terms import Alt as RegularAlt
from maskwright.grammar.regular.terms import Concat as RegularConcat
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


def repeated(name: str, body: Expression) -> Expression:
    """Rewrite `x: b | x a | c x | x o x` to `x: (c* b a*) (o (c* b a*))*`, with any number of
    alternatives of each kind."""
    itself = Ref(name)
    plain: list[Expression] = []
    before: list[Expression] = []
    behind: list[Expression] = []
    between: list[Expression] = []
    for option in _options(body):
        parts = option.parts if isinstance(option, Concat) else (option,)
        if parts == (itself,):
            continue
        if len(parts) > 1 and parts[0] == itself == parts[-1]:
            between.append(Concat(parts[1:-1]))
        elif parts[:1] == (itself,):
            behind.append(Concat(parts[1:]))
        elif parts[-1:] == (itself,):
            before.append(Concat(parts[:-1]))
        else:
            plain.append(option)
    if not (before or behind or between):
        return body
    one: Expression = Choice(tuple(plain))
    if before or behind:
        one = Concat((Repeat(Choice(tuple(before))), one, Repeat(Choice(tuple(behind)))))
    if not between:
        return one
    return Concat((one, Repeat(Concat((Choice(tuple(between)), one)))))


def is_right_recursive(name: str, body: Expression) -> bool:
    """Whether a rule calls itself at the end of an alternative, and at the start of none."""
    ends = [option.parts for option in _options(body) if isinstance(option, Concat)]
    return any(p[-1:] == (Ref(name),) for p in ends) and all(p[:1] != (Ref(name),) for p in ends)


def _options(body: Expression) -> Iterator[Expression]:
    if isinstance(body, Choice):
        for option in body.options:
            yield from _options(option)
    else:
        yield body


MOST_PARTS: Final = 256
"""Most terms in the concatenation or union of one terminal, so that a chain of rules that each
double the one before does not become a terminal of exponential size."""


def fold_rules(rules: Rules) -> Rules:
    """Return an equivalent grammar in which the largest regular parts are terminals."""
    folding = _Folding(rules)
    return Rules(rules.start, {name: folding.rule(name) for name in rules.rules})


class _Folding(Struct):
    rules: Rules
    done: dict[str, Expression] = {}
    open: set[str] = set()

    def rule(self, name: str) -> Expression:
        known = self.done.get(name)
        if known is None:
            self.open.add(name)
            body = self.rules.rules[name]
            known = self.fold(repeated(name, body))
            if not isinstance(known, Terminal) and is_right_recursive(name, body):
                known = self.fold(body)  # the machine reads this as a loop, with fewer item sets
            self.done[name] = known
            self.open.discard(name)
        return known

    def fold(self, expression: Expression) -> Expression:
        match expression:
            case Terminal() | Bounded() | Cut() | JsonValue() | SpecialToken():
                return expression
            case Ref(name=name):
                if name in self.open:
                    return expression
                body = self.rule(name)
                return body if isinstance(body, Terminal) else expression
            case Capture(body=body):
                return replace(expression, body=self.fold(body))
            case Concat(parts=parts):
                return _sequence(map(self.fold, parts))
            case Choice(options=options):
                return _choice(map(self.fold, options))
            case Repeat(body=body, least=least, most=most):
                inner = self.fold(body)
                if isinstance(inner, Terminal) and (most is None or most >= least):
                    return Terminal(repeat(inner.language, least, most))
                return Repeat(inner, least, most)


def _sequence(parts: Iterable[Expression]) -> Expression:
    folded: list[Expression] = []
    for part in parts:
        last = folded[-1] if folded else None
        if (
            not isinstance(part, Terminal)
            or not isinstance(last, Terminal)
            or not (part.language.plain and last.language.plain)
            or _length(part.language) + _length(last.language) > MOST_PARTS
        ):
            folded.append(part)
        else:
            folded[-1] = Terminal(concat(last.language, part.language))
    if not folded:
        return Terminal(EPSILON)
    return folded[0] if len(folded) == 1 else Concat(tuple(folded))


def _choice(options: Iterable[Expression]) -> Expression:
    regular: list[Regular] = []
    others: list[Expression] = []
    for option in options:
        if isinstance(option, Terminal) and len(regular) < MOST_PARTS:
            regular.append(option.language)
        else:
            others.append(option)
    if regular:
        others.insert(0, Terminal(alt(*regular)))
    return others[0] if len(others) == 1 else Choice(tuple(others))


def _length(term: Regular) -> int:
    """Return the number of terms in a concatenation or union, counted up to a little above
    `MOST_PARTS`."""
    if isinstance(term, RegularAlt):
        return len(term.options)
    count = 1
    while isinstance(term, RegularConcat) and count <= MOST_PARTS:
        term = term.tail
        count += 1
    return count
