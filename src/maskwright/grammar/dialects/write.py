"""Writes rules as a grammar in one of the dialects.

A terminal is written with the operators of the dialect if possible. For intersections, complements
and automata that the dialect can't express, there is a rule for each state.
"""

from __future__ import annotations

import re
from typing import Final, Literal, assert_never

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

MOST_STATES: Final = 2_000
"""Most states of all automata that are written out in one grammar."""
MOST_WORDS: Final = 20_000

Level = Literal["choice", "sequence", "item"]
"""What an expression stands in. One that binds less tightly is put in parentheses."""


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
            self.rule(self.name(name), self.expression(body, "choice"))
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

    def expression(self, expression: Expression, level: Level) -> str:
        match expression:
            case Terminal(language=language):
                return self.terminal(language, level)
            case Ref(name=name):
                return self.name(name)
            case Concat(parts=parts):
                return self.sequence([self.expression(p, "sequence") for p in parts], level)
            case Choice(options=options):
                return self.choice([self.expression(o, "choice") for o in options], level)
            case Repeat(body=body, least=least, most=most):
                return self.times(self.expression(body, "item"), least, most, level)
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

    def special(self, ids: tuple[tuple[int, int], ...]) -> str:
        if self.dialect == "ebnf":
            raise self.refuse("special tokens", "write the text, or convert to gbnf or lark")
        if self.dialect == "lark":
            return (
                f"<[{','.join(f'{low}-{high}' if high > low else str(low) for low, high in ids)}]>"
            )
        each = [f"<[{number}]>" for low, high in ids for number in range(low, high + 1)]
        return self.choice(each, "item")

    def sequence(self, parts: list[str], level: Level) -> str:
        parts = [part for part in parts if part != '""']
        if len(parts) == 1:
            return parts[0]
        if not parts:
            return '""'
        return f"({' '.join(parts)})" if level == "item" else " ".join(parts)

    def choice(self, options: list[str], level: Level) -> str:
        options = list(dict.fromkeys(options))
        if len(options) == 1:
            return options[0]
        joined = " | ".join(options)
        return joined if level == "choice" else f"({joined})"

    def times(self, body: str, least: int, most: int | None, level: Level) -> str:
        """Write a repetition. Two quantifiers never follow each other, because some readers take
        them for a lazy one."""
        repeated = body + quantifier(least, most)
        return f"({repeated})" if level == "item" else repeated

    # Terminals

    def terminal(self, language: Regular, level: Level) -> str:
        text = self.lowered.without_ignored.get(language)
        if text is None:
            return self.regular(language, level)
        ignored = self.lowered.ignored
        if self.dialect == "lark":
            self.ignored = self.regular(ignored, "choice")
            return '""' if text is EPSILON else self.regular(text, level)
        if not _same(language, concat(repeat(ignored), text)):
            return self.regular(language, level)  # ignored text is matched greedily
        self.ignored = self.regular(ignored, "choice")
        if text is EPSILON:
            return "ignored"
        return self.sequence(["ignored", self.regular(text, "sequence")], level)

    def regular(self, term: Regular, level: Level) -> str:
        """Write a regular language with the operators of the dialect."""
        if self.dialect == "lark":
            written = pattern(term) or self.lark_terminal(term)
            if written is not None:
                return written
            if self.ignoring:
                raise self.refuse("this grammar's terminals beside %ignore", "use gbnf")
        match term:
            case r.Epsilon():
                return '""'
            case r.Chars(ranges=ranges):
                return char_class(ranges, self.dialect)
            case r.Concat():
                return self.sequence(self.strung(term), level)
            case r.Alt(options=options):
                return self.choice([self.regular(o, "choice") for o in options], level)
            case r.Repeat(body=body, least=least, most=most):
                return self.times(self.regular(body, "item"), least, most, level)
            case r.Words(table=table, low=low, high=high, depth=depth) if high - low <= MOST_WORDS:
                return self.choice([string(w[depth:]) for w in table.strings[low:high]], level)
            case _:
                return self.state(term)

    def lark_terminal(self, term: Regular) -> str | None:
        """Return the name of a terminal for an intersection or complement, which patterns can't
        express."""
        known = self.states.get(term)
        if known is None:
            body = self.algebra(term)
            if body is None:
                return None
            known = self.states[term] = f"T{len(self.states) + 1}"
            self.rule(known, body)
        return known

    def algebra(self, term: Regular) -> str | None:
        written = pattern(term)
        if written is not None:
            return written
        match term:
            case r.Intersection(parts=parts):
                operands = [self.algebra(part) for part in parts]
                sign = " & "
            case r.LengthBounded(core=core, least=least, most=most):
                operands = [self.algebra(core), self.algebra(r.length(least, most))]
                sign = " & "
            case r.Alt(options=parts):
                operands = [self.algebra(part) for part in parts]
                sign = " | "
            case r.Concat(head=head, tail=tail):
                operands = [self.algebra(head), self.algebra(tail)]
                sign = " "
            case r.Repeat(body=body, least=least, most=most):
                inner = self.algebra(body)
                return None if inner is None else self.times(inner, least, most, "item")
            case r.Complement(body=body):
                inner = self.algebra(body)
                return None if inner is None else f"~{inner}"
            case _:
                return None
        joined = sign.join(each or "" for each in operands)
        return f"({joined})" if all(operands) else None

    def strung(self, term: Regular) -> list[str]:
        """Write the parts of a concatenation, with consecutive characters joined to strings."""
        parts: list[str] = []
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
                parts += [string(text)] if text else []
                text = ""
                parts.append(self.regular(head, "sequence"))
            if rest is None:
                return parts + ([string(text)] if text else [])
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
            options = ['""'] if term.nullable else []
            for target, ranges in by_target.items():
                step = char_class(tuple(ranges), self.dialect)
                after = [] if target is EPSILON else [self.state(target)]
                options.append(self.sequence([step, *after], "sequence"))
            self.rule(self.states[term], self.choice(options, "choice"))


def _same(one: Regular, other: Regular) -> bool:
    """Whether two terms are equal languages."""
    pairs = ((one, other), (other, one))
    return not any(is_live(intersection(a, complement(b))) for a, b in pairs)
