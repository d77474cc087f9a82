"""The reader of grammars in Lark's syntax, with the extensions of llguidance.

Notation that only shapes a syntax tree (`?rule`, `!rule`, `_rule`, `-> alias`, rule priorities) is
read and has no effect, because a grammar here is a set of texts.
"""

from __future__ import annotations

import json
import re
from importlib.resources import files
from typing import Any, Final

from msgspec.structs import replace

from maskwright.errors import RegexError, SchemaError
from maskwright.grammar.dialects.cursor import COUNT, GrammarCursor
from maskwright.grammar.dialects.guidance_options import style_of
from maskwright.grammar.dialects.longest import ends_where_it_can
from maskwright.grammar.dialects.special import GrammarTokens, read_token
from maskwright.grammar.dialects.syntax import (
    Both,
    Definition,
    Document,
    Either,
    Json,
    Literal,
    Name,
    Node,
    Not,
    Options,
    Series,
    Times,
    below,
    either,
    series,
    with_below,
)
from maskwright.grammar.pattern.characters import closed
from maskwright.grammar.pattern.cursor import count_of
from maskwright.grammar.pattern.flags import Flags
from maskwright.grammar.pattern.parse import parse_pattern
from maskwright.grammar.regular.substrings import joined_chunks
from maskwright.grammar.regular.terms import Regular, char, chars, concat
from maskwright.grammar.schema.document import float_of, object_of
from maskwright.grammar.schema.parse import ParseOptions, parse_schema
from maskwright.grammar.schema.tree import ReportEntry
from maskwright.json_faults import json_fault
from maskwright.limits import DEFAULT_LIMITS, Limits

NAME: Final = re.compile(r"_*[A-Za-z][A-Za-z0-9_]*(?:-[A-Za-z0-9_]+)*|_+")
SPACE: Final = re.compile(r"(?:[ \t\r\n\f]|//[^\n]*|#[^\n]*)*")
INLINE_SPACE: Final = re.compile(r"(?:[ \t\f]|\\\r?\n)*")
HEAD: Final = re.compile(
    r"[!?]*(?P<name>_*[A-Za-z][\w-]*)[ \t]*(?:\{[^{}\n]*\})?[ \t]*"
    r'(?:\[(?:[^\]"/\n]|"(?:[^"\\\n]|\\.)*"|/(?:[^/\\\n]|\\.)*/)*\])?[ \t]*'
    r"(?:\.[ \t]*-?\d+)?[ \t]*:(?!:)"
)
_REGEX: Final = re.compile(r"/((?:\\.|[^/\\\n])+)/([a-zL]*)")
_TILDE: Final = re.compile(r"~\s*(\d+)(?:\s*\.\.\s*(\d+))?")
_DIRECTIVE: Final = re.compile(r"%(json|regex|lark)\b")
_ITEM: Final = re.compile(r"%(?:ignore|import|declare|override|extend|llguidance)\b")
_WORD: Final = re.compile(r"\w+|\s+|[^\w\s]+")
_FOLDER: Final = files("maskwright") / "grammars"
_MODIFIERS: Final = re.compile(r"[!?]*")
_PARAMETERS: Final = re.compile(r"\{\s*([\w-]+(?:\s*,\s*[\w-]+)*)\s*\}")
_PRIORITY: Final = re.compile(r"\.[ \t]*(-?)(\d+)")
_STATEMENT: Final = re.compile(r"%(\w+)[ \t]*")
_PATH: Final = re.compile(r"(\.*)([A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*)*)[ \t]*")
_NAMES: Final = re.compile(r"\(\s*([\w-]+(?:\s*,\s*[\w-]+)*)\s*,?\s*\)")
_ALIAS: Final = re.compile(r"->[ \t]*([A-Za-z_][\w-]*)")
_COUNT: Final = re.compile(r"[1-9][0-9]{0,8}(?![0-9])")
_BARE_SPACE: Final = re.compile(r"[ \t]*")


def _place_before_unescaping(written: str, position: int) -> int:
    """Where in `written` the character stands that is at `position` once `\\/` is `/`."""
    at = 0
    for _ in range(position):
        at += 2 if written.startswith("\\/", at) else 1
    return at


def read_json(text: GrammarCursor, start: int) -> Any:
    """Read a JSON value in a grammar."""
    try:
        decoder = json.JSONDecoder(object_pairs_hook=object_of, parse_float=float_of)
        value, text.at = decoder.raw_decode(text.text, text.at)
    except json.JSONDecodeError as error:
        reason, position = json_fault(error)
        text.fail(f"this is not valid JSON: {reason}", position)
    except RecursionError:
        text.fail("this JSON is nested too deep", start)
    return value


def read_lark(text: str, tokens: GrammarTokens, limits: Limits = DEFAULT_LIMITS) -> Document:
    """Read a grammar in Lark's syntax. Raises `GrammarError`, `LimitError`."""
    return LarkReader(text, tokens, limits).document()


class LarkReader:
    """Reads a whole grammar, or one expression after another."""

    def __init__(self, text: str, tokens: GrammarTokens, limits: Limits = DEFAULT_LIMITS) -> None:
        self.text = GrammarCursor(text, limits.schema_depth)
        self.tokens = tokens
        self.limits = limits
        self.remarks: list[tuple[int, ReportEntry]] = []
        """What is likely to be a mistake in schemas, each with the place of its `%json`."""
        self.definitions: dict[str, Definition] = {}
        self.imported: set[str] = set()
        self.ignored: list[Node] = []

    def document(self) -> Document:
        self.text.match(SPACE)
        while not self.text.ended:
            if self.text.peek() == "%":
                self.statement()
            else:
                self.define(self.definition())
            self.text.match(SPACE)
        return Document(self.text.text, self.definitions, tuple(self.ignored), tuple(self.remarks))

    def define(self, definition: Definition) -> None:
        name = definition.name
        if name in self.imported:
            self.text.fail(f"{name} is imported; to replace it, write %override", definition.at)
        if known := self.definitions.get(name):
            line = self.text.text.count("\n", 0, known.at) + 1
            self.text.fail(f"{name} is defined twice, first on line {line}", definition.at)
        self.definitions[name] = definition

    def definition(self) -> Definition:
        text = self.text
        if text.ahead(HEAD) is None:
            text.fail(f"expected a rule (name: …) or a directive (%…), not {text.shown()}")
        modifiers = text.match(_MODIFIERS)
        start = text.at
        name = text.match(NAME)
        assert name is not None
        terminal = is_terminal(name[0])
        if terminal and modifiers and modifiers[0]:
            text.fail(f"{modifiers[0]} stands before rules only", start)
        text.match(_BARE_SPACE)
        parameters = text.match(_PARAMETERS)
        text.match(_BARE_SPACE)
        options = self.options() if text.take("[") else Options()
        text.match(_BARE_SPACE)
        priority = text.match(_PRIORITY)
        text.match(_BARE_SPACE)
        text.take(":")
        if terminal and (parameters or options != Options()):
            text.fail("a terminal has neither parameters nor options; a rule has", start)
        body = self.choice()
        if not text.ended and text.peek() not in "%" and text.ahead(HEAD) is None:
            text.fail(f"a definition can't continue with {text.shown()}")
        return Definition(
            name[0],
            start,
            body,
            terminal,
            tuple(re.split(r"\s*,\s*", parameters[1])) if parameters else (),
            count_of(priority[2]) * (-1 if priority[1] else 1) if priority else 0,
            replace(options, capture=name[0]) if options.capture == "" else options,
        )

    def options(self) -> Options:
        """Read the options of a rule, `[capture="x", suffix="y", max_tokens=10]`."""
        text, options = self.text, Options()
        while True:
            text.match(SPACE)
            start = text.at
            key = text.match(NAME)
            name = key[0] if key else ""
            text.match(SPACE)
            given = text.take("=")
            text.match(SPACE)
            match name:
                case "capture" if given and text.take('"'):
                    options = replace(options, capture=text.quoted('"', start))
                case "capture" if not given:
                    options = replace(options, capture="")
                case "lazy" if not given:
                    options = replace(options, lazy=True)
                case "suffix" if given:
                    options = replace(options, suffix=self.item(), lazy=True)
                case "stop" if given:
                    options = replace(options, stop=self.item())
                case "stop_capture" if given and text.take('"'):
                    options = replace(options, stop_capture=text.quoted('"', start))
                case "max_tokens" if given and (count := text.match(_COUNT)):
                    options = replace(options, max_tokens=int(count[0]))
                case _:
                    text.fail(_REFUSED_OPTIONS.get(name, _OPTIONS), start)
            text.match(SPACE)
            if text.take("]"):
                self.check_options(options, start)
                return options
            if not text.take(","):
                text.fail(f"expected ',' or ']', not {text.shown()}")

    def check_options(self, options: Options, at: int) -> None:
        """Refuse options that exclude each other."""
        if options.stop is not None and options.lazy:
            self.text.fail("a rule has stop, suffix or lazy, and not two of them", at)
        if options.stop_capture is not None and options.suffix is None:
            self.text.fail(
                "stop_capture reports a suffix; the text of stop is never part of the output", at
            )

    def statement(self) -> None:
        text, start = self.text, self.text.at
        match = text.match(_STATEMENT)
        match match[1] if match else "":
            case "ignore":
                self.ignored.append(self.choice())
            case "import":
                self.import_(start)
            case "declare":
                while name := text.match(NAME):
                    self.define(Definition(name[0], name.start(), None, is_terminal(name[0])))
                    text.match(_BARE_SPACE)
            case "override":
                changed = self.definition()
                self.known(changed)
                self.definitions[changed.name] = changed
                self.imported.discard(changed.name)
            case "extend":
                changed = self.definition()
                known = self.known(changed)
                if known.body is not None and changed.body is not None:
                    body = either([known.body, changed.body])
                    self.definitions[changed.name] = replace(known, body=body)
            case "llguidance":
                if read_json(text, start) != {}:
                    text.fail(
                        "options of %llguidance are not supported; write %llguidance {}", start
                    )
            case _:
                text.fail(
                    "there is no such directive; there are %ignore, %import, %declare, %override, "
                    "%extend, and %json and %regex inside rules",
                    start,
                )

    def known(self, changed: Definition) -> Definition:
        definition = self.definitions.get(changed.name)
        if definition is None:
            self.text.fail(f"{changed.name} is not defined or imported before this", changed.at)
        return definition

    def import_(self, start: int) -> None:
        text = self.text
        path = text.match(_PATH)
        if path is None or path[1]:
            text.fail("only shipped grammars can be imported: %import common.WS", start)
        names = text.match(_NAMES)
        parts = path[2].split(".")
        if len(parts) != (2 if names is None else 1):
            text.fail("write %import grammar.NAME or %import grammar (NAME, NAME)", start)
        wanted = re.split(r"\s*,\s*", names[1]) if names else [parts[1]]
        alias = text.match(_ALIAS) if not names else None
        source = self.shipped(parts[0], start)
        for name in wanted:
            if name not in source.definitions:
                known = ", ".join(n for n in source.definitions if "__" not in n)
                text.fail(f"{parts[0]} has no {name}; it has {known}", start)
            self.bring(source, parts[0], name, alias[1] if alias else name, start)

    def shipped(self, name: str, start: int) -> Document:
        file = _FOLDER / f"{name}.lark"
        if not file.is_file():
            known = sorted(f.name[:-5] for f in _FOLDER.iterdir() if f.name.endswith(".lark"))
            self.text.fail(f"no grammar {name!r} is shipped; there are {', '.join(known)}", start)
        return read_lark(file.read_text("utf-8"), self.tokens, self.limits)

    def bring(self, source: Document, grammar: str, name: str, alias: str, start: int) -> None:
        """Import the definition `name` of `source` as `alias`, and all that it refers to under
        other names."""
        if is_terminal(alias) != is_terminal(name):
            self.text.fail("a terminal is imported as a terminal, a rule as a rule", start)
        waiting = [(name, alias)]
        while waiting:
            there, here = waiting.pop()
            definition = source.definitions[there]
            if here in self.definitions and here != alias:
                continue
            renamed: dict[str, str] = {}
            body = definition.body
            if body:
                inner = _named(body, set(definition.parameters))
                renamed = {n: f"{grammar}__{n}" for n in inner if n in source.definitions}
                body = _renamed(body, renamed, start)
            self.define(replace(definition, name=here, at=start, body=body))
            self.imported.add(here)
            waiting.extend(renamed.items())

    # The right-hand sides of rules

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
        bounds = self.bounds()
        if bounds is None:
            return node
        here = self.text.at
        if self.bounds() is not None:
            self.text.fail("a repeat of a repeat needs a group: (a~2)*", here)
        return Times(node, *bounds)

    def bounds(self) -> tuple[int, int | None] | None:
        text, here = self.text, self.text.at
        text.match(INLINE_SPACE)
        start = text.at
        following = text.text[start + 1 : start + 2]
        if text.take("*"):
            return 0, None
        if text.take("+"):
            return 1, None
        if text.peek() == "?" and not (following.isalpha() or following in ("_", "!")):
            text.at += 1
            return 0, 1
        if match := text.ahead(_TILDE):
            least, most = count_of(match[1]), count_of(match[2] or match[1])
            return text.ordered(least, most, match.end())
        if text.peek() != "{":
            text.at = here
            return None
        match = text.ahead(COUNT)
        if match is None or not (match[1] or match[3]):
            text.fail("a count is written {3}, {3,}, {,5} or {3,5}, or as in ~3..5")
        return text.count(match)

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
                return read_token(text, self.tokens)
            case "~":
                text.at += 1
                self.skip()
                with text.nested():
                    return Not(self.item(), start)
            case "%":
                return self.directive(start)
            case "'":
                text.fail("a string stands between double quotes in Lark: \"…\", not '…'")
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
            return ends_where_it_can(parse_pattern(pattern, self.limits, flags), pattern)
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
        if text.peek() != "{" or text.ahead(COUNT):
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
                parsed = parse_schema(value, ParseOptions(limits=self.limits))
            except SchemaError as error:
                text.fail(f"in this schema: {error}", start)
            self.remarks += [(start, each) for each in parsed.report.annotations if each.rule]
            try:
                return Json(parsed.root, start, style_of(value))
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


def is_terminal(name: str) -> bool:
    """Whether a name is that of a terminal, which is written in capitals."""
    return name.lstrip("_")[:1].isupper()


_OPTIONS: Final = (
    'the options of a rule are capture, capture="name", lazy, suffix="text", stop="text", '
    'stop_capture="name" and max_tokens=10'
)
_REFUSED_OPTIONS: Final = {
    "max_tokens": "max_tokens is a number from 1 to 999,999,999",
    "temperature": "temperature in a rule is not supported; set it for the request",
}


def _named(node: Node, without: set[str]) -> set[str]:
    """Return the names of rules and terminals in a node, except those in `without`."""
    names = {name for each in below(node) for name in _named(each, without)}
    return names | {node.name} - without if isinstance(node, Name) else names


def _renamed(node: Node, names: dict[str, str], at: int) -> Node:
    """Return the node with other names. Errors in it are reported at `at`."""
    node = with_below(node, lambda each: _renamed(each, names, at))
    match node:
        case Name(name=name):
            return replace(node, name=names.get(name, name), at=at)
        case Series() | Either() | Times():
            return node
        case _:
            return replace(node, at=at)
