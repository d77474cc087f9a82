"""The reader of the right-hand sides of Lark's rules and terminals."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Final

from maskwright.errors import RegexError, SchemaError
from maskwright.grammar.dialects.cursor import GrammarCursor
from maskwright.grammar.dialects.guidance_options import style_of
from maskwright.grammar.dialects.longest import ends_where_it_can
from maskwright.grammar.dialects.special import GrammarTokens, read_token
from maskwright.grammar.dialects.syntax import (
    Both,
    Json,
    Literal,
    Name,
    Node,
    Not,
    Times,
    either,
    series,
)
from maskwright.grammar.number.count import count_of
from maskwright.grammar.pattern.casing import closed
from maskwright.grammar.pattern.flags import Flags
from maskwright.grammar.pattern.parse import parse_pattern
from maskwright.grammar.regular.substrings import joined_chunks
from maskwright.grammar.regular.terms import Regular, char, chars, concat
from maskwright.grammar.schema.parse import ParseOptions, parse_schema
from maskwright.json_faults import json_fault
from maskwright.limits import Limits

NAME: Final = re.compile(r"_*[A-Za-z][A-Za-z0-9_]*(?:-[A-Za-z0-9_]+)*|_+")
SPACE: Final = re.compile(r"(?:[ \t\r\n\f]|//[^\n]*|#[^\n]*)*")
INLINE_SPACE: Final = re.compile(r"(?:[ \t\f]|\\\r?\n)*")
HEAD: Final = re.compile(
    r"[!?]*(?P<name>_*[A-Za-z][\w-]*)[ \t]*(?:\{[^{}\n]*\})?[ \t]*"
    r'(?:\[(?:[^\]"/\n]|"(?:[^"\\\n]|\\.)*"|/(?:[^/\\\n]|\\.)*/)*\])?[ \t]*'
    r"(?:\.[ \t]*-?\d+)?[ \t]*:(?!:)"
)
_REGEX: Final = re.compile(r"/((?:\\.|[^/\\\n])+)/([a-zL]*)")
_BOUNDS: Final = re.compile(r"\{\s*(\d*)\s*(?:(,)\s*(\d*)\s*)?\}")
_TILDE: Final = re.compile(r"~\s*(\d+)(?:\s*\.\.\s*(\d+))?")
_DIRECTIVE: Final = re.compile(r"%(json|regex|lark)\b")
_ITEM: Final = re.compile(r"%(?:ignore|import|declare|override|extend|llguidance)\b")
_WORD: Final = re.compile(r"\w+|\s+|[^\w\s]+")


@dataclass(frozen=True, slots=True)
class Context:
    """The vocabulary's special tokens and the limits, for the reader of expressions."""

    tokens: GrammarTokens
    limits: Limits


class Expressions:
    """Reads one expression after another from a text."""

    def __init__(self, text: GrammarCursor, context: Context) -> None:
        self.text = text
        self.context = context

    def skip(self) -> None:
        self.text.match(SPACE)

    def choice(self) -> Node:
        """Read alternatives, up to the first text that can't belong to them."""
        self.skip()
        options = [self.intersection()]
        while self.text.take("|"):
            options.append(self.intersection())
        return either(options)

    def intersection(self) -> Node:
        start = self.text.at
        parts = [self.sequence()]
        while self.text.take("&"):
            parts.append(self.sequence())
        node = parts[0] if len(parts) == 1 else Both(tuple(parts), start)
        if self.text.take("->"):  # names the alternative in Lark's syntax tree
            self.skip()
            if self.text.match(NAME) is None:
                self.text.fail("an alias is a name: -> name")
            self.skip()
        return node

    def sequence(self) -> Node:
        parts: list[Node] = []
        self.skip()
        while not self.at_end():
            parts.append(self.repeated())
            self.skip()
        return series(parts)

    def at_end(self) -> bool:
        """Whether a sequence ends here."""
        text = self.text
        if text.ended or text.peek() in "|&)]},":
            return True
        here = text.text.startswith
        return here("->", text.at) or bool(text.ahead(HEAD) or text.ahead(_ITEM))

    def repeated(self) -> Node:
        node = self.item()
        while True:
            here = self.text.at
            self.text.match(INLINE_SPACE)
            bounds = self.bounds()
            if bounds is None:
                self.text.at = here
                return node
            node = Times(node, *bounds)

    def bounds(self) -> tuple[int, int | None] | None:
        text, start = self.text, self.text.at
        following = text.text[start + 1 : start + 2]
        if text.take("*"):
            return 0, None
        if text.take("+"):
            return 1, None
        if text.peek() == "?" and not (following.isalpha() or following in ("_", "!")):
            text.at += 1
            return 0, 1
        if match := text.match(_TILDE):
            return self.ordered(count_of(match[1]), count_of(match[2] or match[1]), start)
        if text.peek() != "{":
            return None
        match = text.match(_BOUNDS)
        if match is None or not (match[1] or match[3]):
            text.fail("a count is written {3}, {3,}, {,5} or {3,5}, or as in ~3..5", start)
        least = count_of(match[1])
        return self.ordered(
            least, (count_of(match[3]) if match[3] else None) if match[2] else least, start
        )

    def ordered(self, least: int, most: int | None, start: int) -> tuple[int, int | None]:
        if most is not None and most < least:
            self.text.fail("the bounds of a repeat are in the wrong order", start)
        return least, most

    def item(self) -> Node:
        text, start = self.text, self.text.at
        match text.peek():
            case "(":
                return self.group(")", start)
            case "[":
                return Times(self.group("]", start), 0, 1)
            case '"':
                return self.string(start)
            case "/":
                return Literal(self.regex(), start)
            case "<":
                return read_token(text, self.context.tokens)
            case "~":
                text.at += 1
                self.skip()
                with text.nested():
                    return Not(self.item(), start)
            case "%":
                return self.directive(start)
            case "@":
                text.fail("references to other grammars (@name) are not supported; use %import")
            case _:
                return self.name(start)

    def group(self, end: str, start: int) -> Node:
        self.text.at += 1
        with self.text.nested():
            body = self.choice()
        if not self.text.take(end):
            self.text.fail(f"expected {end!r}, not {self.text.shown()}, to close this group", start)
        return body

    def string(self, start: int) -> Node:
        text = self.text
        text.at += 1
        string = text.quoted('"', start)
        ignore_case = text.peek() == "i" and not text.text[text.at + 1 : text.at + 2].isalnum()
        if ignore_case:
            text.at += 1
            parts = [chars(closed(((ord(c), ord(c)),), "python")) for c in string]
            return Literal(concat(*parts), start)
        text_end = text.at
        text.match(INLINE_SPACE)
        if not text.take(".."):
            text.at = text_end
            return Literal(concat(*map(char, string)), start)
        text.match(INLINE_SPACE)
        here = text.at
        if not text.take('"'):
            text.fail('a range of characters is written "a".."z"', start)
        last = text.quoted('"', here)
        if len(string) != 1 or len(last) != 1 or last < string:
            text.fail("a range is from one character to a later one", start)
        return Literal(chars(((ord(string), ord(last)),)), start)

    def regex(self) -> Regular:
        """Read a pattern `/…/` with flags, in Python's syntax. It may only depend on its own
        text."""
        text, start = self.text, self.text.at
        match = text.match(_REGEX)
        if match is None:
            text.fail("a regular expression is not closed: it is written /…/ on one line")
        letters = "".join(dict.fromkeys(match[2]))
        flags = Flags(syntax="python").having(letters, lambda reason: text.fail(reason, start))
        # `\/` is Lark's escape of the slash. All other escapes belong to the pattern.
        pattern = match[1].replace("\\/", "/")
        try:
            return ends_where_it_can(parse_pattern(pattern, self.context.limits, flags), pattern)
        except RegexError as error:
            place = start + 1 + _place_before_unescaping(match[1], error.position)
            text.fail(f"in this regular expression: {error.reason}", place)

    def name(self, start: int) -> Node:
        text = self.text
        match = text.match(NAME)
        if match is None:
            text.fail(
                f"expected a name, a string, a regular expression or a group, not {text.shown()}"
            )
        if text.text.startswith("::", text.at):
            text.fail("parametric rules (name::…) are not supported", start)
        if text.peek() != "{" or text.ahead(_BOUNDS):
            return Name(match[0], start)
        text.at += 1
        arguments: list[Node] = []
        while True:
            with text.nested():
                arguments.append(self.choice())
            if text.take("}"):
                return Name(match[0], start, tuple(arguments))
            if not text.take(","):
                text.fail("the arguments of a template stand in braces: name{a, b}", start)

    def directive(self, start: int) -> Node:
        text = self.text
        found = text.match(_DIRECTIVE)
        if found is None:
            text.fail("inside a rule there are %json {…} and %regex {…}")
        text.match(SPACE)
        if found[1] == "lark":
            text.fail("nested grammars (%lark {…}) are not supported; use %import", start)
        value = read_json(text, start)
        if found[1] == "json":
            try:
                schema = parse_schema(value, ParseOptions(limits=self.context.limits)).root
            except SchemaError as error:
                text.fail(f"in this schema: {error}", start)
            try:
                return Json(schema, start, style_of(value))
            except ValueError as error:
                text.fail(f"in this schema: {error}", start)
        return Literal(self.regex_object(value, start), start)

    def regex_object(self, value: Any, start: int) -> Regular:
        """Read `%regex {…}`: parts of a document."""
        match value:
            case {"substring_chars": str(document), **more} if not more:
                return joined_chunks(document)
            case {"substring_words": str(document), **more} if not more:
                return joined_chunks(_WORD.findall(document))
            case {"substring_chunks": [*chunks], **more} if not more and all(
                isinstance(chunk, str) for chunk in chunks
            ):
                return joined_chunks(chunks)
            case _:
                self.text.fail(
                    "%regex takes an object with one of substring_chars (a string), "
                    "substring_words (a string) and substring_chunks (a list of strings)",
                    start,
                )


def _place_before_unescaping(written: str, position: int) -> int:
    """Where in `written` the character stands that is at `position` once `\\/` is `/`."""
    at = 0
    for _ in range(position):
        at += 2 if written.startswith("\\/", at) else 1
    return at


def read_json(text: GrammarCursor, start: int) -> Any:
    """Read a JSON value in a grammar."""
    try:
        value, text.at = json.JSONDecoder().raw_decode(text.text, text.at)
    except json.JSONDecodeError as error:
        reason, position = json_fault(error)
        text.fail(f"this is not valid JSON: {reason}", position)
    except RecursionError:
        text.fail("this JSON is nested too deep", start)
    return value
