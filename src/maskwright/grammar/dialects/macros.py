"""Reads the macros of xgrammar in EBNF: TagDispatch, TokenTagDispatch, Token and ExcludeToken.

A dispatch is free text in which each trigger is followed by a text of its rule. It becomes nodes
that any grammar may have: texts up to a trigger are one terminal each, so that there is one way to
read them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

from maskwright.grammar.dialects.cursor import GrammarCursor
from maskwright.grammar.dialects.special import (
    ChosenTokens,
    GrammarTokens,
    any_but,
    chosen_tokens,
    one_of,
)
from maskwright.grammar.dialects.syntax import (
    Either,
    Literal,
    Name,
    Node,
    Series,
    Special,
    Times,
    either,
)
from maskwright.grammar.number.count import count_of
from maskwright.grammar.regular.charset import ranges_of
from maskwright.grammar.tags.free_text import text_until, text_without

MACROS: Final = ("TagDispatch", "TokenTagDispatch", "Token", "ExcludeToken")

_RULE: Final = re.compile(r"[A-Za-z0-9_][\w.-]*", re.ASCII)
_LOOP: Final = re.compile(r"loop_after_dispatch\s*=\s*(true|false)\b")
_EXCLUDES: Final = re.compile(r"excludes\s*=\s*")
_NUMBER: Final = re.compile(r"\d+")

T = TypeVar("T")
Mark = TypeVar("Mark", str, int)


def read_macro(
    name: str, text: GrammarCursor, tokens: GrammarTokens, skip: Callable[[], None]
) -> Node:
    """Read the arguments of the macro `name`; the cursor stands at their `(`. `skip()` skips space
    and comments. Raises `GrammarError`."""
    reader = _MacroReader(text, tokens, skip, text.at - len(name))
    match name:
        case "TagDispatch":
            return reader.text_dispatch()
        case "TokenTagDispatch":
            return reader.token_dispatch()
        case "Token":
            return one_of(text, reader.chosen(), reader.start)
        case _:
            return any_but(text, tokens, reader.chosen(), reader.start)


@dataclass
class _Dispatch(Generic[Mark]):
    """The arguments of a dispatch: rules by trigger, and what free text may not contain."""

    rules: dict[Mark, list[Node]] = field(default_factory=dict[Mark, list[Node]])
    excludes: list[Mark] = field(default_factory=list[Mark])
    loop: bool = True


class _MacroReader:
    def __init__(
        self, text: GrammarCursor, tokens: GrammarTokens, skip: Callable[[], None], start: int
    ) -> None:
        """`start`: the place of the macro's name."""
        self.text = text
        self.tokens = tokens
        self.skip = skip
        self.start = start

    def text_dispatch(self) -> Node:
        read = self.dispatch(self.string)
        triggers, excludes = tuple(read.rules), tuple(read.excludes)
        for trigger in triggers:
            for other in (*triggers, *excludes):
                if other in trigger and other != trigger:
                    self.text.fail(f"{other!r} stands within the trigger {trigger!r}", self.start)
                if trigger in excludes:
                    self.text.fail(f"the trigger {trigger!r} is excluded", self.start)
        rounds: list[Node] = []
        for trigger, rules in read.rules.items():
            others = tuple(other for other in triggers if other != trigger)
            before = Literal(text_until(trigger, others, excludes), self.start)
            rounds.append(Series((before, either(rules))))
        last = Literal(text_without((*triggers, *excludes)), self.start)
        return _joined(rounds, last, loop=read.loop)

    def token_dispatch(self) -> Node:
        read = self.dispatch(self.token)
        others = set(self.tokens.ids) - {*read.rules, *read.excludes}
        for trigger in read.rules:
            if trigger in read.excludes:
                self.text.fail(f"the trigger {trigger} is excluded", self.start)
        free = self.free_text(others)
        rounds: list[Node] = [
            Series((free, Special(((trigger, trigger),), self.start), either(rules)))
            for trigger, rules in read.rules.items()
        ]
        return _joined(rounds, free, loop=read.loop)

    def free_text(self, others: Iterable[int]) -> Node:
        """Return texts and the special tokens `others` in alternation."""
        piece = Literal(text_without(), self.start)
        ids = ranges_of(others)
        if not ids:
            return piece
        return Series((piece, Times(Series((Special(ids, self.start), piece)), 0, None)))

    def dispatch(self, mark: Callable[[], Mark]) -> _Dispatch[Mark]:
        """Read the arguments of a dispatch. `mark()` reads a trigger or what is excluded."""
        read = _Dispatch[Mark]()

        def argument() -> None:
            if self.text.peek() == "(":
                trigger, rule = self.pair(mark)
                read.rules.setdefault(trigger, []).append(rule)
            elif loop := self.text.match(_LOOP):
                read.loop = loop[1] == "true"
            elif self.text.match(_EXCLUDES):
                read.excludes += self.listed(mark)
            else:
                self.text.fail(
                    "an argument is (trigger, rule), loop_after_dispatch=true or false, or "
                    "excludes=(…)"
                )

        self.listed(argument)
        return read

    def pair(self, mark: Callable[[], Mark]) -> tuple[Mark, Node]:
        """Read a trigger and its rule, in parentheses."""
        self.text.at += 1
        self.skip()
        trigger = mark()
        self.skip()
        if not self.text.take(","):
            self.text.fail("a trigger is followed by a comma and the name of its rule")
        self.skip()
        at = self.text.at
        rule = self.text.match(_RULE)
        if rule is None:
            self.text.fail(f"expected the name of a rule, not {self.text.shown()}")
        self.skip()
        if not self.text.take(")"):
            self.text.fail("a trigger and its rule are closed by )")
        return trigger, Name(rule[0], at)

    def listed(self, one: Callable[[], T]) -> list[T]:
        """Read what stands in parentheses, separated by commas."""
        opened = self.text.at
        if not self.text.take("("):
            self.text.fail(f"expected (, not {self.text.shown()}")
        self.skip()
        read: list[T] = []
        separated = False
        while not self.text.take(")"):
            if read and not separated:
                self.text.fail("arguments are separated by commas")
            read.append(one())
            self.skip()
            separated = self.text.take(",")
            self.skip()
            if self.text.ended:
                self.text.fail("arguments are not closed", opened)
        return read

    def string(self) -> str:
        start = self.text.at
        if not self.text.take('"'):
            self.text.fail(f"expected a string, not {self.text.shown()}")
        read = self.text.quoted('"', start)
        if not read:
            self.text.fail("this string must not be empty", start)
        return read

    def chosen(self) -> ChosenTokens:
        """Read the ids of tokens in parentheses."""
        return chosen_tokens(self.text, self.tokens, self.listed(self.number), self.start)

    def number(self) -> int:
        number = self.text.match(_NUMBER)
        if number is None:
            self.text.fail(f"expected the id of a token, not {self.text.shown()}")
        return count_of(number[0])

    def token(self) -> int:
        """Read the id of a special token that doesn't end the text."""
        start = self.text.at
        number = self.number()
        if number not in self.tokens.ids:
            self.text.fail(
                f"{number} is no special token within a text; write a TagDispatch on the text of "
                "other tokens",
                start,
            )
        return number


def _joined(rounds: list[Node], last: Node, *, loop: bool) -> Node:
    """Return `rounds`, any number of which may come before `last`, or instead of it one at most."""
    if not rounds:
        return last
    if loop:
        return Series((Times(either(rounds), 0, None), last))
    return Either((*rounds, last))
