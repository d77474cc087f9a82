"""The syntax of ECMA-262's patterns with the `u` flag, as a reader by recursive descent: an oracle
of `format: regex`. It knows neither named groups nor properties.
"""

from __future__ import annotations

import re

_SYNTAX = frozenset("^$\\.*+?()[]{}|")
_QUANTIFIER = re.compile(r"(?:[*+?]|\{([0-9]+)(?:(,)([0-9]+)?)?\})\??")
_ESCAPE = re.compile(r"\\(?:[dDsSwWfnrtv^$\\.*+?()\[\]{}|/]|0(?![0-9])|x[0-9A-Fa-f]{2})")
_SETS = frozenset("dDsSwW")


class _WrongError(Exception):
    pass


class _Reader:
    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0

    def take(self, expected: str) -> bool:
        found = self.text.startswith(expected, self.at)
        self.at += len(expected) * found
        return found

    def need(self, expected: str) -> None:
        if not self.take(expected):
            raise _WrongError

    def disjunction(self) -> None:
        while True:
            while self.at < len(self.text) and self.text[self.at] not in "|)":
                self.term()
            if not self.take("|"):
                return

    def term(self) -> None:
        if any(map(self.take, ("^", "$", "\\b", "\\B"))):
            return
        if any(map(self.take, ("(?=", "(?!", "(?<=", "(?<!"))):
            self.disjunction()
            self.need(")")
            return
        self.atom()
        found = _QUANTIFIER.match(self.text, self.at)
        if found is not None:
            if found[3] is not None and int(found[3]) < int(found[1]):
                raise _WrongError
            self.at = found.end()

    def atom(self) -> None:
        if self.take("."):
            return
        if self.take("(?:") or (self.take("(") and self.text[self.at : self.at + 1] != "?"):
            self.disjunction()
            self.need(")")
        elif self.take("["):
            self.members()
        else:
            self.character(_SYNTAX)

    def members(self) -> None:
        self.take("^")
        while not self.take("]"):
            first = self.character(frozenset("]\\"), "\\-")
            if self.text.startswith("-", self.at) and not self.text.startswith("-]", self.at):
                self.at += 1
                last = self.character(frozenset("]\\"), "\\-")
                if first is None or last is None or last < first:
                    raise _WrongError

    def character(self, barred: frozenset[str], more: str = "") -> str | None:
        """Read a character that is none of `barred`, an escape or `more`; None for a set."""
        if more and self.take(more):
            return more[-1]
        found = _ESCAPE.match(self.text, self.at)
        if found is not None:
            self.at = found.end()
            return None if found[0][1] in _SETS else found[0][1]
        if self.at == len(self.text) or self.text[self.at] in barred:
            raise _WrongError
        self.at += 1
        return self.text[self.at - 1]


def is_pattern(text: str) -> bool:
    """Whether `text` is a pattern. Numbers of back-references are not looked at: there is none."""
    reader = _Reader(text)
    try:
        reader.disjunction()
    except _WrongError:
        return False
    return reader.at == len(text)
