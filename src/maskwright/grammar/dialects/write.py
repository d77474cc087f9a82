"""Writes rules as a grammar in one of the dialects.

A terminal is written with the operators of the dialect if possible. For intersections, complements
and automata that the dialect can't express, there is a rule for each state.
"""

from __future__ import annotations

import re
from typing import Final, Literal, assert_never, get_args

from maskwright.errors import UnsupportedGrammarError
from maskwright.grammar.dialects.detect import Dialect
from maskwright.grammar.dialects.lower import Lowered
from maskwright.grammar.dialects.spelling import char_class, pattern, quantifier, string
from maskwright.grammar.regular import terms as r
from maskwright.grammar.regular.derivative import arcs, is_live
from maskwright.grammar.regular.terms import (
    EMPTY,
    EPSILON,
    Regular,
    complement,
    concat,
    intersection,
    repeat,
)
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
    SpecialToken,
    Terminal,
)
from maskwright.immutable import Acyclic

MOST_STATES: Final = 2_000
"""Most states of all automata that are written out in one grammar."""
MOST_WORDS: Final = 20_000

Level = Literal["choice", "sequence", "item"]
"""What an expression is, and what it may stand in, from the loosest to the tightest."""
_LEVELS: Final = get_args(Level)


class _Written(Acyclic):
    """An expression in the dialect, and how tightly it binds."""

    text: str
    level: Level

    def within(self, level: Level) -> str:
        """As it stands in something that binds as tightly as `level`: in parentheses if it binds
        less tightly."""
        loose = _LEVELS.index(self.level) < _LEVELS.index(level)
        return f"({self.text})" if loose else self.text


def _item(text: str) -> _Written:
    return _Written(text, "item")


_NOTHING: Final = _item('""')


def _sequence(parts: list[_Written]) -> _Written:
    parts = [part for part in parts if part != _NOTHING]
    if len(parts) == 1:
        return parts[0]
    if not parts:
        return _NOTHING
    return _Written(" ".join(part.within("sequence") for part in parts), "sequence")


def _choice(options: list[_Written]) -> _Written:
    options = list(dict.fromkeys(options))
    if len(options) == 1:
        return options[0]
    return _Written(" | ".join(option.text for option in options), "choice")


def _times(body: _Written, least: int, most: int | None) -> _Written:
    """A repetition. Two quantifiers never follow each other, because some readers take them for a
    lazy one."""
    return _Written(body.within("item") + quantifier(least, most), "sequence")


def write_grammar(lowered: Lowered, dialect: Dialect) -> str:
    """Write an equivalent grammar in a dialect.

    Raises `UnsupportedGrammarError` with the name of what the dialect can't express.
    """
    return _Writer(lowered, dialect).run()


class _Writer:
    def __init__(self, lowered: Lowered, dialect: Dialect) -> None:
        self.lowered = lowered
        self.dialect: Dialect = dialect
        self.names: dict[str, str] = {}
        self.lines: list[str] = []
        self.states: dict[Regular, str] = {}
        self.waiting: list[Regular] = []
        self.ignored = ""
        self.ignoring = lowered.ignored is not EMPTY

    def run(self) -> str:
        rules = self.lowered.rules
        self.names[rules.start] = "start" if self.dialect == "lark" else "root"
        for name, body in rules.rules.items():
            self.rule(self.name(name), self.expression(body).text)
            self.write_states()
        if self.ignored and self.dialect == "lark":
            self.lines.append(f"%ignore {self.ignored}")
        elif self.ignored:
            self.rule("ignored", f"({self.ignored})*")
        return "\n".join(self.lines) + "\n"

    def rule(self, name: str, body: str) -> None:
        self.lines.append(f"{name}: {body}" if self.dialect == "lark" else f"{name} ::= {body}")

    def name(self, name: str) -> str:
        """Return a name that the dialect allows and that no other rule has."""
        known = self.names.get(name)
        if known is None:
            plain = re.sub(r"[^a-z0-9]+", "_" if self.dialect == "lark" else "-", name.lower())
            plain = plain.strip("_-") or "rule"
            plain = plain if plain[0].isalpha() else f"r{plain}"
            taken = {*self.names.values(), "root", "start", "ignored"}
            fresh, number = plain, 2
            while fresh in taken:
                fresh, number = f"{plain}{number}", number + 1
            known = self.names[name] = fresh
        return known

    def refuse(self, what: str, way: str) -> UnsupportedGrammarError:
        return UnsupportedGrammarError(f"{self.dialect} has no {what}; {way}")

    def expression(self, expression: Expression) -> _Written:
        match expression:
            case Terminal(language=language):
                return self.terminal(language)
            case Ref(name=name):
                return _item(self.name(name))
            case Concat(parts=parts):
                return _sequence([self.expression(part) for part in parts])
            case Choice(options=options):
                return _choice([self.expression(option) for option in options])
            case Repeat(body=body, least=least, most=most):
                return _times(self.expression(body), least, most)
            case SpecialToken(ids=ids):
                return self.special(ids)
            case JsonValue():
                raise self.refuse(
                    "JSON values under a schema that could be written again", "convert the rest"
                )
            case Bounded():
                raise self.refuse("bounds on tokens", "leave out max_tokens")
            case Cut():
                raise self.refuse("texts that give up their alternatives", "convert the rest")
            case Capture(name=name):
                raise self.refuse("captures that could be written", f"leave out capture {name!r}")
            case _:
                assert_never(expression)

    def special(self, ids: tuple[tuple[int, int], ...]) -> _Written:
        if self.dialect == "ebnf":
            raise self.refuse("special tokens", "write the text, or convert to gbnf or lark")
        if self.dialect == "lark":
            each = [f"{low}-{high}" if high > low else str(low) for low, high in ids]
            return _item(f"<[{','.join(each)}]>")
        return _choice(
            [_item(f"<[{number}]>") for low, high in ids for number in range(low, high + 1)]
        )

    # Terminals

    def terminal(self, language: Regular) -> _Written:
        text = self.lowered.without_ignored.get(language)
        if text is None:
            return self.regular(language)
        ignored = self.lowered.ignored
        if self.dialect == "lark":
            self.ignored = self.regular(ignored).text
            return self.regular(text)
        if not _same(language, concat(repeat(ignored), text)):
            return self.regular(language)  # ignored text is matched greedily
        self.ignored = self.regular(ignored).text
        return _sequence([_item("ignored"), self.regular(text)])

    def regular(self, term: Regular) -> _Written:
        """Write a regular language with the operators of the dialect."""
        if self.dialect == "lark":
            written = pattern(term) or self.lark_terminal(term)
            if written is not None:
                return _item(written)
            if self.ignoring:
                raise self.refuse("this grammar's terminals beside %ignore", "use gbnf")
        match term:
            case r.Epsilon():
                return _NOTHING
            case r.Chars(ranges=ranges):
                return _item(char_class(ranges, self.dialect))
            case r.Concat():
                return self.strung(term)
            case r.Alt(options=options):
                # A rule without options, as an option without texts would be, has the empty text.
                return _choice([self.regular(option) for option in options if is_live(option)])
            case r.Repeat(body=body, least=least, most=most):
                return _times(self.regular(body), least, most) if is_live(body) else _NOTHING
            case r.Words(table=table, low=low, high=high, depth=depth) if high - low <= MOST_WORDS:
                return _choice([_item(string(w[depth:])) for w in table.strings[low:high]])
            case _:
                return _item(self.state(term))

    def lark_terminal(self, term: Regular) -> str | None:
        """Return the name of a terminal for an intersection or complement, which patterns can't
        express."""
        known = self.states.get(term)
        if known is None:
            body = _algebra(term)
            if body is None:
                return None
            known = self.states[term] = f"T{len(self.states) + 1}"
            self.rule(known, body)
        return known

    def strung(self, term: Regular) -> _Written:
        """Write a concatenation, with consecutive characters joined to strings."""
        parts: list[_Written] = []
        text = ""
        while True:
            head, rest = (term.head, term.tail) if isinstance(term, r.Concat) else (term, None)
            if (
                isinstance(head, r.Chars)
                and len(head.ranges) == 1
                and len(set(head.ranges[0])) == 1
            ):
                text += chr(head.ranges[0][0])
            else:
                parts += [_item(string(text))] if text else []
                text = ""
                parts.append(self.regular(head))
            if rest is None:
                return _sequence(parts + ([_item(string(text))] if text else []))
            term = rest

    def state(self, term: Regular) -> str:
        """Return the name of the rule for a state of an automaton; the rule is written later."""
        known = self.states.get(term)
        if known is None:
            known = self.states[term] = self.name(f"state-{len(self.states) + 1}")
            self.waiting.append(term)
            if len(self.states) > MOST_STATES:
                raise self.refuse(
                    "intersections, complements or ignored text that is cut greedily",
                    f"and written out this grammar has more than {MOST_STATES:,} states",
                )
        return known

    def write_states(self) -> None:
        while self.waiting:
            term = self.waiting.pop(0)
            by_target: dict[Regular, list[tuple[int, int]]] = {}
            for low, high, target in arcs(term):
                by_target.setdefault(target, []).append((low, high))
            options = [_NOTHING] if term.nullable else []
            for target, ranges in by_target.items():
                step = char_class(tuple(ranges), self.dialect)
                after = [] if target is EPSILON else [self.state(target)]
                options.append(_sequence(list(map(_item, [step, *after]))))
            self.rule(self.states[term], _choice(options).text)


def _algebra(term: Regular) -> str | None:
    """Write a terminal of Lark with its operators; None if they can't express it."""
    match term:
        case _ if written := pattern(term):
            return written
        case r.Intersection(parts=parts):
            sign = " & "
        case r.LengthBounded(core=core, least=least, most=most):
            parts, sign = (core, r.length(least, most)), " & "
        case r.Alt(options=parts):
            sign = " | "
        case r.Concat(head=head, tail=tail):
            parts, sign = (head, tail), " "
        case r.Repeat(body=body) | r.Complement(body=body):
            inner = _algebra(body)
            if inner is None or isinstance(term, r.Complement):
                return inner and f"~{inner}"
            return f"({inner}{quantifier(term.least, term.most)})"
        case _:
            return None
    operands = [each for each in map(_algebra, parts) if each]
    return f"({sign.join(operands)})" if len(operands) == len(parts) else None


def _same(one: Regular, other: Regular) -> bool:
    """Whether two terms are equal languages."""
    pairs = ((one, other), (other, one))
    return not any(is_live(intersection(a, complement(b))) for a, b in pairs)
