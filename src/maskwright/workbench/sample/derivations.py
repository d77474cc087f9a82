"""Texts of a grammar that together use each of its alternatives.

For each alternative the shortest derivation from the start rule that contains it, as Purdom (1972)
generates sentences for testing parsers: below the alternative and beside it, everything is as short
as possible. An alternative is an option of a choice, a repetition left out, done once or twice, and
each of the texts of a terminal if they are few; of others, some.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from maskwright.errors import UnsupportedGrammarError
from maskwright.grammar.regular.enumerate import few, first
from maskwright.grammar.regular.shortest import shortest
from maskwright.grammar.regular.terms import Alt, Regular
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

FEW: Final = 64
"""Texts of a terminal up to which each is an alternative."""
SOME: Final = 4
"""Texts that are taken of a terminal with more."""


class CoveredAlternative(NamedTuple):
    """One alternative: the rule in which it stands, its number there, and a text that uses it."""

    rule: str
    number: int
    text: str


def covering_texts(
    rules: Rules, value_text: Callable[[JsonValue], str]
) -> list[CoveredAlternative]:
    """A text for each alternative of the rules that the start rule can reach.

    `value_text` gives a text of a JSON value. Raises `UnsupportedGrammarError` for special tokens,
    which have no text.
    """
    return _Derivations(rules, value_text).alternatives()


class _Derivations:
    def __init__(self, rules: Rules, value_text: Callable[[JsonValue], str]) -> None:
        self._rules = rules
        self._value_text = value_text
        self._shortest: dict[str, str] = {}
        """The shortest text of each rule that has one."""
        self._find_shortest()
        self._around = self._contexts()

    def alternatives(self) -> list[CoveredAlternative]:
        found: list[CoveredAlternative] = []
        for name, (before, after) in self._around.items():
            variants = dict.fromkeys(self._variants(self._rules.rules[name]))
            for number, text in enumerate(variants, 1):
                found.append(CoveredAlternative(name, number, f"{before}{text}{after}"))
        return found

    # Shortest texts

    def _find_shortest(self) -> None:
        """The least fixed point: a rule's text becomes shorter until none does."""
        changed = True
        while changed:
            changed = False
            for name, body in self._rules.rules.items():
                text = self._short(body)
                known = self._shortest.get(name)
                if text is not None and (known is None or len(text) < len(known)):
                    self._shortest[name] = text
                    changed = True

    def _short(self, expression: Expression) -> str | None:
        """The shortest text of an expression that is known so far; None if none is."""
        match expression:
            case Terminal(language=language):
                return shortest(language)
            case JsonValue():
                return self._value_text(expression)
            case Ref(name=name):
                return self._shortest.get(name)
            case Concat(parts=parts):
                texts = [self._short(part) for part in parts]
                return None if None in texts else "".join(filter(None, texts))
            case Choice(options=options):
                known = [text for text in map(self._short, options) if text is not None]
                return min(known, key=len, default=None)
            case Repeat(body=body, least=least):
                text = "" if least == 0 else self._short(body)
                return None if text is None else text * least
            case Capture(body=body) | Bounded(body=body) | Cut(body=body):
                return self._short(body)
            case SpecialToken():
                raise UnsupportedGrammarError("a special token has no text")

    # Alternatives

    def _variants(self, expression: Expression) -> Iterator[str]:
        """Texts of an expression that together use each of its alternatives."""
        match expression:
            case Terminal(language=language):
                yield from _texts(language)
            case Concat(parts=parts):
                for part, before, after in self._between(parts):
                    yield from (f"{before}{text}{after}" for text in self._variants(part))
            case Choice(options=options):
                for option in options:
                    yield from self._variants(option)
            case Repeat(body=body, least=least, most=most):
                yield from self._repeated(body, least, most)
            case Capture(body=body) | Bounded(body=body) | Cut(body=body):
                yield from self._variants(body)
            case _:
                text = self._short(expression)
                if text is not None:
                    yield text

    def _repeated(self, body: Expression, least: int, most: int | None) -> Iterator[str]:
        """The fewest copies, with each alternative of the body in the first; and one more than the
        fewest, if that is allowed."""
        short = self._short(body)
        if least == 0:
            yield ""
        if short is None or most == 0:
            return
        for text in self._variants(body):
            yield text + short * (max(least, 1) - 1)
        if most is None or most > max(least, 1):
            yield short * (max(least, 1) + 1)

    def _between(self, parts: Sequence[Expression]) -> Iterator[tuple[Expression, str, str]]:
        """Each part with the shortest texts of the parts before and after it; none if a part has no
        text."""
        shorts = [self._short(part) for part in parts]
        if None in shorts:
            return
        for at, part in enumerate(parts):
            before, after = shorts[:at], shorts[at + 1 :]
            yield part, "".join(filter(None, before)), "".join(filter(None, after))

    # From the start rule

    def _contexts(self) -> dict[str, tuple[str, str]]:
        """For each rule that the start rule can reach, the shortest text before and after it."""
        start = self._rules.start
        done: dict[str, tuple[str, str]] = {}
        queue = [(0, start, "", "")] if start in self._shortest else []
        while queue:
            _, name, before, after = heapq.heappop(queue)
            if name in done:
                continue
            done[name] = (before, after)
            for called, left, right in self._calls(self._rules.rules[name]):
                if called not in done and called in self._shortest:
                    around = (before + left, right + after)
                    heapq.heappush(queue, (len("".join(around)), called, *around))
        return done

    def _calls(self, expression: Expression) -> Iterator[tuple[str, str, str]]:
        """Each rule that an expression calls, with the shortest text before and after the call."""
        match expression:
            case Ref(name=name):
                yield name, "", ""
            case Concat(parts=parts):
                for part, before, after in self._between(parts):
                    for name, left, right in self._calls(part):
                        yield name, before + left, right + after
            case Choice(options=options):
                for option in options:
                    yield from self._calls(option)
            case Repeat(body=body, least=least, most=most) if most != 0:
                rest = (self._short(body) or "") * (max(least, 1) - 1)
                for name, left, right in self._calls(body):
                    yield name, left, right + rest
            case Capture(body=body):
                yield from self._calls(body)
            case _:
                return


def _texts(language: Regular) -> list[str]:
    """The texts of a terminal, if they are few; otherwise some, one of each alternative that the
    language is written with."""
    known = few(language, FEW)
    if known is not None:
        return [*known]
    options = language.options if isinstance(language, Alt) else ()
    texts = [text for text in map(shortest, options) if text is not None]
    return [*dict.fromkeys([*texts, *first(language, SOME)])]
