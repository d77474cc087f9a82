"""Checks where in a grammar the number of tokens of a text can be bounded.

A matcher counts the tokens of one bounded text at a time, from its beginning on. So whenever such a
text may begin, no other reading of the text before may be left in which it began elsewhere. A place
between two expressions is called *certain* here if all readings of the text so far agree that it is
there. The beginning of the text is certain, and a place is certain if the language of what stands
between it and an earlier certain place is free of prefixes: none of its texts is the beginning of
another one. Constant strings are, and texts that end at the first occurrence of a mark.
"""

from __future__ import annotations

from collections.abc import Mapping

from maskwright.errors import UnsupportedGrammarError
from maskwright.grammar.regular.charset import EVERY
from maskwright.grammar.regular.derivative import is_live
from maskwright.grammar.regular.terms import (
    ANYTHING,
    EPSILON,
    Regular,
    alt,
    chars,
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
    Rules,
    SpecialToken,
    Terminal,
    all_parts,
)
from maskwright.limits import spend


def check_bounded_begins(rules: Rules) -> None:
    """Raise `UnsupportedGrammarError` for a rule with a bounded text that may begin at a place that
    is not certain."""
    if bounded_rules(rules):
        _Begins(rules.rules).after(Ref(rules.start), EPSILON)


def refuse_bounded(rules: Rules, place: str) -> None:
    """Raise `UnsupportedGrammarError` if the tokens of a text are bounded, for rules that are part
    of others. `place`: what they are part of."""
    for name in bounded_rules(rules):
        raise UnsupportedGrammarError(
            f"the tokens of {name!r} can't be counted within {place}; bound characters instead"
        )


def bounded_rules(rules: Rules) -> list[str]:
    """Return the names of the rules in which the tokens of a text are bounded."""
    return [
        name
        for name, body in rules.rules.items()
        if any(isinstance(part, Bounded) for part in all_parts(body))
    ]


class _Begins:
    """One pass over the rules, from the start rule on."""

    def __init__(self, rules: Mapping[str, Expression]) -> None:
        self._rules = rules
        self._inside: list[str] = []
        """The rules that are being read, from the start rule to the innermost one."""
        self._languages: dict[str, Regular | None] = {}

    def after(self, expression: Expression, before: Regular | None) -> Regular | None:
        """Return what has been read since the last certain place, after `expression`: `EPSILON` if
        its end is certain, None if that isn't known. `before` is this language before it."""
        spend()
        match expression:
            case Terminal() | Cut():
                return _read(before, self._language(expression))
            case Bounded(body=body):
                if before is not EPSILON:
                    self._refuse()
                return self.after(body, before)
            case JsonValue() | SpecialToken():
                return None if before is None else EPSILON
            case Capture(body=body):
                return self.after(body, before)
            case Concat(parts=parts):
                for part in parts:
                    before = self.after(part, before)
                return before
            case Ref(name=name):
                return self._rule(name, before)
            case Choice(options=options):
                return self._choice(expression, options, before)
            case Repeat(body=body):
                if self._counts(body):
                    if before is not EPSILON or self.after(body, EPSILON) is not EPSILON:
                        self._refuse()
                    return None
                return _read(before, self._language(expression))

    def _rule(self, name: str, before: Regular | None) -> Regular | None:
        if not self._counts(Ref(name)):
            return _read(before, self._language(Ref(name)))
        if name in self._inside:
            self._refuse()
        self._inside.append(name)
        after = self.after(self._rules[name], before)
        self._inside.pop()
        return after

    def _choice(
        self, choice: Choice, options: tuple[Expression, ...], before: Regular | None
    ) -> Regular | None:
        """Read alternatives. Bounded texts in two of them begin at one place or exclude each
        other."""
        counting = [option for option in options if self._counts(option)]
        for option in counting:
            self.after(option, before)
        heads = [self._head(option) for option in counting]
        known = [head for head in heads if head is not None]
        if len(counting) > 1 and (len(known) < len(heads) or not _is_prefix_free(alt(*known))):
            self._refuse()
        return _read(before, self._language(choice))

    def _refuse(self) -> None:
        bounded = bounded_rules(Rules("", self._rules))
        name = next((each for each in reversed(self._inside) if each in bounded), bounded[0])
        raise UnsupportedGrammarError(
            f"the tokens of {name!r} can't be counted, because it isn't certain where its text "
            "begins; let only constant strings, special tokens and rules with suffix or lazy stand "
            "before it"
        )

    def _counts(self, expression: Expression) -> bool:
        """Whether `expression` contains a bounded text."""
        waiting, seen = [expression], set[str]()
        while waiting:
            for part in all_parts(waiting.pop()):
                spend()
                if isinstance(part, Bounded):
                    return True
                if isinstance(part, Ref) and part.name not in seen:
                    seen.add(part.name)
                    waiting.append(self._rules[part.name])
        return False

    def _head(self, expression: Expression) -> Regular | None:
        """Return the language of what stands before the first bounded text in `expression`; None if
        that isn't known."""
        spend()
        match expression:
            case Bounded():
                return EPSILON
            case Capture(body=body):
                return self._head(body)
            case Ref(name=name):
                return self._head(self._rules[name])
            case Concat(parts=parts):
                first = next(at for at, part in enumerate(parts) if self._counts(part))
                before, head = self._language(Concat(parts[:first])), self._head(parts[first])
                return None if before is None or head is None else concat(before, head)
            case _:
                return None

    def _language(self, expression: Expression) -> Regular | None:
        """Return the language of an expression; None if it isn't known to be regular."""
        spend()
        match expression:
            case Terminal(language=language):
                return language
            case Bounded(body=body) | Cut(body=body) | Capture(body=body):
                return self._language(body)
            case JsonValue() | SpecialToken():
                return None
            case Ref(name=name):
                if name not in self._languages:
                    self._languages[name] = None  # for a rule that contains itself
                    self._languages[name] = self._language(self._rules[name])
                return self._languages[name]
            case Repeat(body=body, least=least, most=most):
                inner = self._language(body)
                return None if inner is None else repeat(inner, least, most)
            case Concat(parts=parts) | Choice(options=parts):
                each = [self._language(part) for part in parts]
                known = [language for language in each if language is not None]
                if len(known) < len(each):
                    return None
                return concat(*known) if isinstance(expression, Concat) else alt(*known)


def _read(before: Regular | None, language: Regular | None) -> Regular | None:
    """Return what has been read since the last certain place, after a text of `language`."""
    if before is None or language is None:
        return None
    since = concat(before, language)
    return EPSILON if _is_prefix_free(since) else since


def _is_prefix_free(language: Regular) -> bool:
    """Whether no text of `language` is the beginning of another one."""
    return not is_live(intersection(language, concat(language, chars(EVERY), ANYTHING)))
