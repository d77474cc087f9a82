"""The reader of grammars in Lark's syntax, with the extensions of llguidance.

Notation that only shapes a syntax tree (`?rule`, `!rule`, `_rule`, `-> alias`, rule priorities) is
read and has no effect, because a grammar here is a set of texts.
"""

from __future__ import annotations

import re
from dataclasses import replace
from importlib.resources import files
from typing import Final

from maskwright.grammar.dialects.cursor import GrammarCursor
from maskwright.grammar.dialects.lark_expressions import (
    HEAD,
    NAME,
    SPACE,
    Context,
    Expressions,
    read_json,
)
from maskwright.grammar.dialects.special import GrammarTokens
from maskwright.grammar.dialects.syntax import (
    Both,
    Definition,
    Document,
    Either,
    Name,
    Node,
    Not,
    Options,
    Series,
    Times,
    below,
    either,
)
from maskwright.grammar.number.count import count_of
from maskwright.limits import DEFAULT_LIMITS, Limits

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


def read_lark(text: str, tokens: GrammarTokens, limits: Limits = DEFAULT_LIMITS) -> Document:
    """Read a grammar in Lark's syntax. Raises `GrammarError`, `LimitError`."""
    return _LarkReader(text, Context(tokens, limits)).document()


class _LarkReader:
    def __init__(self, text: str, context: Context) -> None:
        self.text = GrammarCursor(text, context.limits.schema_depth)
        self.context = context
        self.expressions = Expressions(self.text, context)
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
        return Document(self.text.text, self.definitions, tuple(self.ignored))

    def define(self, definition: Definition) -> None:
        known = self.definitions.get(definition.name)
        if known is not None and definition.name not in self.imported:
            line = self.text.text.count("\n", 0, known.at) + 1
            self.text.fail(
                f"{definition.name} is defined twice, first on line {line}", definition.at
            )
        if known is not None:
            self.text.fail(
                f"{definition.name} is imported; to replace it, write %override", definition.at
            )
        self.definitions[definition.name] = definition

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
        body = self.expressions.choice()
        if not text.ended and text.peek() not in "%" and text.ahead(HEAD) is None:
            text.fail(f"a definition can't continue with {text.shown()}")
        return Definition(
            name[0],
            start,
            body,
            terminal,
            tuple(re.split(r"\s*,\s*", parameters[1])) if parameters else (),
            _signed(priority[1], priority[2]) if priority else 0,
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
                    options = replace(options, suffix=self.expressions.item(), lazy=True)
                case "stop" if given:
                    options = replace(options, stop=self.expressions.item())
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
                self.ignored.append(self.expressions.choice())
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
        return read_lark(file.read_text("utf-8"), self.context.tokens, self.context.limits)

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
            inner = (
                _named(definition.body, set(definition.parameters))
                if definition.body
                else set[str]()
            )
            renamed = {n: f"{grammar}__{n}" for n in inner if n in source.definitions}
            body = _renamed(definition.body, renamed, start) if definition.body else None
            self.define(replace(definition, name=here, at=start, body=body))
            self.imported.add(here)
            waiting.extend(renamed.items())


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

    def all_of(nodes: tuple[Node, ...]) -> tuple[Node, ...]:
        return tuple(_renamed(each, names, at) for each in nodes)

    match node:
        case Name(name=name, arguments=arguments):
            return Name(names.get(name, name), at, all_of(arguments))
        case Series(parts=parts):
            return Series(all_of(parts))
        case Either(options=options):
            return Either(all_of(options))
        case Times(body=body, least=least, most=most):
            return Times(_renamed(body, names, at), least, most)
        case Both(parts=parts):
            return Both(all_of(parts), at)
        case Not(body=body):
            return Not(_renamed(body, names, at), at)
        case _:
            return replace(node, at=at)


def _signed(sign: str, digits: str) -> int:
    """Return the number that follows its sign, which may be empty."""
    return -count_of(digits) if sign else count_of(digits)
