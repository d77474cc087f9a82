"""The reader of grammars in Backus-Naur form: llama.cpp's GBNF, and EBNF as W3C and xgrammar write
it.

One parser reads both. They differ in the start rule, in comments and in these constructs:

    GBNF  `#` comments; `<think>`, `<[5]>`, `!<[5]>`; the start rule is `root`.
    EBNF  `/* */`, `//` and `#` comments, `[ wfc: … ]`; 'single' quotes, `#x41`, `a - b`, numbers
          before rules (`[1] name ::=`); xgrammar's macros; the start rule is `root`, or else the
          first rule.

Line breaks count as spaces: a rule ends where the next `name ::=` begins.

xgrammar's macros are TagDispatch, TokenTagDispatch, Token and ExcludeToken. A dispatch is free text
in which each trigger is followed by a text of its rule. It becomes nodes that any grammar may have:
texts up to a trigger are one terminal each, so that there is one way to read them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, TypeVar

from maskwright.grammar.dialects.cursor import COUNT, GrammarCursor
from maskwright.grammar.dialects.special import (
    GrammarTokens,
    any_but,
    chosen_tokens,
    one_of,
    read_token,
)
from maskwright.grammar.dialects.syntax import (
    Both,
    Definition,
    Document,
    Either,
    Literal,
    Name,
    Node,
    Not,
    Series,
    Special,
    Times,
    either,
    series,
)
from maskwright.grammar.pattern.cursor import count_of
from maskwright.grammar.regular import charset
from maskwright.grammar.regular.charset import Ranges, ranges_of
from maskwright.grammar.regular.terms import ANY_CHAR, char, chars, concat
from maskwright.grammar.tags.free_text import text_until, text_without
from maskwright.limits import DEFAULT_LIMITS, Limits

MACROS: Final = ("TagDispatch", "TokenTagDispatch", "Token", "ExcludeToken")

_LOOP: Final = re.compile(r"loop_after_dispatch\s*=\s*(true|false)\b")
_EXCLUDES: Final = re.compile(r"excludes\s*=\s*")
_NUMBER: Final = re.compile(r"\d+")

T = TypeVar("T")
Mark = TypeVar("Mark", str, int)


_NAME: Final = re.compile(r"[A-Za-z0-9_][\w.-]*", re.ASCII)
_HEAD: Final = re.compile(r"([A-Za-z0-9_][\w.-]*)\s*::=", re.ASCII)
_NUMBERED: Final = re.compile(r"\[\s*\d+\w*\s*\]\s*(?=[A-Za-z_][\w.-]*\s*::=)", re.ASCII)
_CODE: Final = re.compile(r"#x([0-9A-Fa-f]+)")
_CONSTRAINT: Final = re.compile(r"\[\s*(?:wfc|vc|WFC|VC|ns|NS)\s*:[^\]]*\]")
_GBNF_SPACE: Final = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_EBNF_SPACE: Final = re.compile(
    r"(?:[ \t\r\n]|/\*(?:[^*]|\*(?!/))*\*/|//[^\n]*|#(?!x[0-9A-Fa-f])[^\n]*)*"
)


def read_gbnf(text: str, tokens: GrammarTokens, limits: Limits = DEFAULT_LIMITS) -> Document:
    """Read a grammar in GBNF. Raises `GrammarError`, `LimitError`."""
    return _BnfReader(text, tokens, limits, ebnf=False).document()


def read_ebnf(text: str, tokens: GrammarTokens, limits: Limits = DEFAULT_LIMITS) -> Document:
    """Read a grammar in EBNF. Raises `GrammarError`, `LimitError`."""
    return _BnfReader(text, tokens, limits, ebnf=True).document()


class _BnfReader:
    def __init__(self, text: str, tokens: GrammarTokens, limits: Limits, *, ebnf: bool) -> None:
        self.text = GrammarCursor(text, limits.schema_depth)
        self.tokens = tokens
        self.ebnf = ebnf
        self.space = _EBNF_SPACE if ebnf else _GBNF_SPACE

    def document(self) -> Document:
        definitions: dict[str, Definition] = {}
        self.skip()
        while not self.text.ended:
            rule = self.rule()
            if rule.name in definitions:
                first = self.text.text.count("\n", 0, definitions[rule.name].at) + 1
                self.text.fail(
                    f"the rule {rule.name} is defined twice, first on line {first}", rule.at
                )
            definitions[rule.name] = rule
        return Document(self.text.text, definitions)

    def skip(self) -> None:
        self.text.match(self.space)
        if self.ebnf and self.text.text.startswith("/*", self.text.at):
            self.text.fail("a comment is not closed")

    def rule(self) -> Definition:
        if self.ebnf:
            self.text.match(_NUMBERED)
        start = self.text.at
        head = self.text.match(_HEAD)
        if head is None:
            self.text.fail(f"a rule begins with name ::=, not with {self.text.shown()}")
        body = self.choice()
        if self.at_lookahead():
            self.lookahead()
        self.skip()
        if not self.text.ended and not self.at_rule():
            self.text.fail(f"a rule can't continue with {self.text.shown()}")
        return Definition(head[1], start, body)

    def at_rule(self) -> bool:
        here = self.text.at
        if self.ebnf:
            self.text.match(_NUMBERED)
        begins = self.text.ahead(_HEAD) is not None
        self.text.at = here
        return begins

    def at_lookahead(self) -> bool:
        return self.ebnf and self.text.text.startswith("(=", self.text.at)

    def lookahead(self) -> None:
        """Read xgrammar's lookahead at the end of a rule. It repeats what the other rules say of
        the text after this one, to speed up masks there, and is not needed here."""
        start = self.text.at
        self.text.at += 2
        with self.text.nested():
            self.choice()
        if not self.text.take(")"):
            self.text.fail("a lookahead (=…) is not closed", start)
        self.skip()
        if not self.text.ended and not self.at_rule():
            self.text.fail("a lookahead (=…) ends its rule; nothing may follow it", start)

    def choice(self) -> Node:
        options = [self.sequence()]
        while self.text.take("|"):
            options.append(self.sequence())
        return either(options)

    def sequence(self) -> Node:
        parts: list[Node] = []
        self.skip()
        while not self.text.ended and self.text.peek() not in "|)" and not self.at_rule():
            if self.at_lookahead():
                break
            start = self.text.at
            if self.ebnf and self.text.match(_CONSTRAINT):
                self.skip()
                continue
            if self.ebnf and self.text.take("-"):
                self.skip()
                if not parts:
                    self.text.fail("a difference needs something on its left", start)
                excluded = self.repeated()
                left = parts[-1]
                kept = left.parts if isinstance(left, Both) else (left,)
                parts[-1] = Both((*kept, Not(excluded, start)), start)
            else:
                parts.append(self.repeated())
            self.skip()
        return series(parts)

    def repeated(self) -> Node:
        node = self.item()
        while True:
            here = self.text.at
            self.skip()
            bounds = self.bounds()
            if bounds is None:
                self.text.at = here
                return node
            node = Times(node, *bounds)

    def bounds(self) -> tuple[int, int | None] | None:
        for sign, bounds in (("*", (0, None)), ("+", (1, None)), ("?", (0, 1))):
            if self.text.take(sign):
                return bounds
        if self.text.peek() != "{":
            return None
        match = self.text.ahead(COUNT)
        if match is None or not match[1]:
            self.text.fail("a count is written {3}, {3,} or {3,5}; at most five is {0,5}")
        return self.text.count(match)

    def item(self) -> Node:
        text, start = self.text, self.text.at
        character = text.peek()
        if character == "(":
            return self.group(start)
        if character == '"' or (self.ebnf and character == "'"):
            text.at += 1
            return Literal(concat(*map(char, text.quoted(character, start))), start)
        if character == "[":
            text.at += 1
            return Literal(chars(self.set(start)), start)
        if character == ".":
            text.at += 1
            return Literal(ANY_CHAR, start)
        if character == "<":
            return read_token(text, self.tokens)
        if character == "!" and text.text.startswith("!<", start):
            return read_token(text, self.tokens, negative=True)
        if self.ebnf and text.ahead(_CODE):
            return Literal(chars(self.code()), start)
        name = text.match(_NAME)
        if name is None:
            text.fail(f"expected a rule, a string, a class or a group, not {text.shown()}")
        if self.ebnf and text.peek() == "(" and name[0] in MACROS:
            return self.macro(name[0], start)
        return Name(name[0], start)

    def group(self, start: int) -> Node:
        self.text.at += 1
        with self.text.nested():
            body = self.choice()
        if self.at_lookahead():
            self.text.fail("a lookahead (=…) stands at the end of a rule, not in a group")
        if not self.text.take(")"):
            self.text.fail("a group is not closed", start)
        return body

    def code(self) -> Ranges:
        """Read a character given by its code point, `#x41`."""
        match = self.text.match(_CODE)
        assert match is not None
        point = int(match[1], 16)
        if point > charset.LAST:
            self.text.fail("this is not the number of a code point", match.start())
        return ((point, point),)

    def set(self, start: int) -> Ranges:
        """Read a class, after its `[`."""
        text = self.text
        negative = text.take("^")
        listed: list[tuple[int, int]] = []
        while not text.take("]"):
            here = text.at
            low = self.member(start)
            if text.peek() == "-" and text.text[text.at + 1 : text.at + 2] not in ("]", ""):
                text.at += 1
                high = self.member(start)
                if high < low:
                    text.fail("a range in a class is in the wrong order", here)
                listed.append((low, high))
            else:
                listed.append((low, low))
        ranges = charset.normal(listed)
        if not ranges and not negative:
            text.fail("a class without characters matches nothing", start)
        return charset.complement(ranges) if negative else ranges

    def member(self, start: int) -> int:
        text = self.text
        if text.ended or text.peek() == "\n":
            text.fail("a class is not closed", start)
        if self.ebnf and text.ahead(_CODE):
            return self.code()[0][0]
        return ord(text.character("|.*+?(){}$#~&"))

    # xgrammar's macros

    def macro(self, name: str, start: int) -> Node:
        """Read the arguments of the macro `name`, which stands at `start`."""
        match name:
            case "TagDispatch":
                return self.text_dispatch(start)
            case "TokenTagDispatch":
                return self.token_dispatch(start)
            case _:
                ids = self.listed(self.number)
                chosen = chosen_tokens(self.text, self.tokens, ids, start)
                if name == "Token":
                    return one_of(self.text, chosen, start)
                return any_but(self.text, self.tokens, chosen, start)

    def text_dispatch(self, start: int) -> Node:
        rules, excluded, loop = self.dispatch(self.string)
        triggers, excludes = tuple(rules), tuple(excluded)
        for trigger in triggers:
            for other in (*triggers, *excludes):
                if other in trigger and other != trigger:
                    self.text.fail(f"{other!r} stands within the trigger {trigger!r}", start)
                if trigger in excludes:
                    self.text.fail(f"the trigger {trigger!r} is excluded", start)
        rounds: list[Node] = []
        for trigger, called in rules.items():
            others = tuple(other for other in triggers if other != trigger)
            before = Literal(text_until(trigger, others, excludes), start)
            rounds.append(Series((before, either(called))))
        last = Literal(text_without((*triggers, *excludes)), start)
        return _joined(rounds, last, loop=loop)

    def token_dispatch(self, start: int) -> Node:
        rules, excludes, loop = self.dispatch(self.token)
        for trigger in rules:
            if trigger in excludes:
                self.text.fail(f"the trigger {trigger} is excluded", start)
        free: Node = Literal(text_without(), start)
        if others := ranges_of(self.tokens.ids - {*rules, *excludes}):
            more = Series((Special(others, start), free))
            free = Series((free, Times(more, 0, None)))
        rounds: list[Node] = [
            Series((free, Special(((trigger, trigger),), start), either(called)))
            for trigger, called in rules.items()
        ]
        return _joined(rounds, free, loop=loop)

    def dispatch(self, mark: Callable[[], Mark]) -> tuple[dict[Mark, list[Node]], list[Mark], bool]:
        """Read the arguments of a dispatch: rules by trigger, what free text may not contain, and
        whether it repeats. `mark()` reads a trigger or what is excluded."""
        rules: dict[Mark, list[Node]] = {}
        excludes: list[Mark] = []
        loop = True

        def argument() -> None:
            nonlocal loop
            if self.text.peek() == "(":
                trigger, rule = self.pair(mark)
                rules.setdefault(trigger, []).append(rule)
            elif given := self.text.match(_LOOP):
                loop = given[1] == "true"
            elif self.text.match(_EXCLUDES):
                excludes.extend(self.listed(mark))
            else:
                self.text.fail(
                    "an argument is (trigger, rule), loop_after_dispatch=true or false, or "
                    "excludes=(…)"
                )

        self.listed(argument)
        return rules, excludes, loop

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
        rule = self.text.match(_NAME)
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
    """Return any number of `rounds` before `last`, or instead of it one round at most."""
    if not rounds:
        return last
    if loop:
        return Series((Times(either(rounds), 0, None), last))
    return Either((*rounds, last))
