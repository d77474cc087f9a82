"""Translates the syntax tree of a grammar into `Rules`: terminals become regular languages.

Ignored text may stand before every terminal, of whose language it becomes a part, and at the end of
the text. A piece of it is as long as possible: what follows must not begin with a character that
could continue it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from functools import partial
from typing import Final, NoReturn, assert_never

from maskwright.errors import Construct, GrammarError, LimitError
from maskwright.grammar.dialects.longest import (
    before_end,
    ends_within,
    shortest_first,
    without_stop,
)
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
    Series,
    Special,
    Times,
    below,
    with_below,
)
from maskwright.grammar.regular import charset
from maskwright.grammar.regular.derivative import arcs, is_live, transitions
from maskwright.grammar.regular.overlay import Arc
from maskwright.grammar.regular.terms import (
    EMPTY,
    EPSILON,
    Regular,
    alt,
    complement,
    concat,
    intersection,
    repeat,
    state,
    words,
)
from maskwright.grammar.rules import tree as rules
from maskwright.grammar.rules.tree import Expression, Rules
from maskwright.immutable import Immutable
from maskwright.limits import CHEAP, Limits, spend


def skipping(ignored: Regular, text: Regular) -> Regular:
    """Return the language of any number of pieces of `ignored` and then a text of `text`, which is
    either not nullable or `EPSILON`.

    A piece is as long as possible: what follows it doesn't begin with a character that could
    continue it.
    """
    pieces = not_empty(ignored)
    if pieces is EMPTY:
        return text
    return alt(text, _inside(pieces, pieces, text))


def not_empty(language: Regular) -> Regular:
    """Return `language` without the empty text."""
    if not language.nullable:
        return language
    moves = transitions(language)
    key = ("not empty", language)
    return state(key, False, lambda: moves, plain=language.plain) if moves else EMPTY


def _inside(pieces: Regular, rest: Regular, text: Regular) -> Regular:
    """Return the language within a piece whose rest, a text of `rest`, is still to come."""
    nullable = rest.nullable and text.nullable
    moves, plain = partial(_moves, pieces, rest, text), pieces.plain and text.plain
    return state(("in ignored", pieces, rest, text), nullable, moves, plain=plain)


def _moves(pieces: Regular, rest: Regular, text: Regular) -> list[Arc]:
    going_on = transitions(rest)
    arcs = [(low, high, _inside(pieces, target, text)) for low, high, target in going_on]
    if rest.nullable:
        others = charset.complement(charset.normal((low, high) for low, high, _ in going_on))
        for low, high, target in transitions(skipping(pieces, text)):
            for part in charset.intersection(((low, high),), others):
                arcs.append((*part, target))
    return sorted(arcs, key=lambda arc: arc[0])


MOST_LISTED: Final = 20
"""Undefined names that an error lists besides the first."""
_MOST_COMPARED: Final = 1_000
"""Defined names that are compared with an undefined one, to guess what was meant."""


class Lowered(Immutable):
    """The rules of a grammar, and what was known before their translation.

    - `unused`: names of definitions to which the start rule doesn't lead.
    - `ignored`: the language of ignored text; `EMPTY` if there is none.
    - `without_ignored`: the language of each terminal, by its language with ignored text before it.
    """

    rules: Rules
    unused: tuple[str, ...]
    ignored: Regular
    without_ignored: Mapping[Regular, Regular]


def lower(document: Document, start: str, limits: Limits) -> Lowered:
    """Translate a grammar. Raises `GrammarError` with the place of what is not defined, or not
    regular where it has to be."""
    check_definitions(document, start)
    return _Lowering(document, limits).run(start)


def check_definitions(document: Document, start: str) -> None:
    """Raise `GrammarError` with the place if the start rule isn't defined, or any name isn't, even
    if the start rule doesn't lead to it. The error lists all undefined names."""
    if start not in document.definitions:
        known = ", ".join(document.definitions) or "none"
        raise GrammarError(
            f"there is no rule {start!r} to start with; there are: {known}",
            text=document.text,
            position=0,
        )
    undefined: dict[str, _Use] = {}
    for use in sorted(_undefined(document), key=lambda use: use[0].at):
        undefined.setdefault(use[0].name, use)
    if undefined:
        first, *others = undefined.values()
        reason = f"{first[0].name} is not defined{_hint(first, document)}"
        if others:
            listed = [
                f"{use[0].name} (line {document.text.count(chr(10), 0, use[0].at) + 1}"
                f"{_hint(use, document)})"
                for use in others[:MOST_LISTED]
            ]
            more = len(others) - len(listed)
            reason += " " if reason.endswith("?") else ". "
            reason += f"Also undefined: {', '.join(listed)}{f' and {more} more' if more else ''}"
        raise GrammarError(reason, text=document.text, position=first[0].at)


_Use = tuple[Name, tuple[str, ...]]
"""An undefined name, and the parameters that are known where it is used."""


def _undefined(document: Document) -> Iterator[_Use]:
    for node in document.ignored:
        yield from _undefined_in(document, node, ())
    for definition in document.definitions.values():
        options = definition.options
        for node in (definition.body, options.suffix, options.stop):
            if node is not None:
                yield from _undefined_in(document, node, definition.parameters)


def _undefined_in(document: Document, node: Node, parameters: tuple[str, ...]) -> Iterator[_Use]:
    is_used = isinstance(node, Name)
    if is_used and node.name not in document.definitions and node.name not in parameters:
        yield node, parameters
    for each in below(node):
        yield from _undefined_in(document, each, parameters)


def _hint(use: _Use, document: Document) -> str:
    """The defined name that is most like an undefined one, as a question."""
    name, parameters = use
    known = [name for name in document.definitions if "__" not in name][:_MOST_COMPARED]
    by_letters = {name.lower(): name for name in (*parameters, *known)}
    near = get_close_matches(name.name.lower(), by_letters, n=1)
    return f"; did you mean {by_letters[near[0]]}?" if near else ""


class _Lowering:
    def __init__(self, document: Document, limits: Limits) -> None:
        self.text = document.text
        self.definitions = document.definitions
        self.limits = limits
        self.rules: dict[str, Expression] = {}
        self.languages: dict[tuple[str, tuple[Node, ...]], Regular] = {}
        """Of definitions, by name and arguments."""
        self.reading: list[str] = []
        self.used: set[str] = set()
        self.without_ignored: dict[Regular, Regular] = {}
        self.instances: dict[tuple[str, tuple[Node, ...]], str] = {}
        self.waiting: list[tuple[str, Definition, dict[str, Node]]] = []
        self.ignored = alt(*(self.regular(node) for node in document.ignored))

    def run(self, start: str) -> Lowered:
        first = self.expression(Name(start, self.definitions[start].at), {})
        while self.waiting:
            name, definition, arguments = self.waiting.pop()
            spend()
            try:
                self.rules[name] = self.rule(definition, arguments)
                if len(self.rules) > self.limits.grammar_rules:
                    raise LimitError(
                        f"a grammar of more than {self.limits.grammar_rules:,} rules",
                        limit="grammar_rules",
                        value=self.limits.grammar_rules,
                    )
            except LimitError as error:
                error.complete(construct=Construct.rules([name]))
                raise
        if self.ignored is not EMPTY:
            end = rules.Terminal(self.skipping(EPSILON))
            name = _fresh("start", self.rules)
            self.rules[name] = rules.Concat((first, end))
            first = rules.Ref(name)
        if not isinstance(first, rules.Ref):
            name = start
            self.rules[name] = first
            first = rules.Ref(name)
        unused = tuple(n for n in self.definitions if n not in self.used and "__" not in n)
        return Lowered(Rules(first.name, self.rules), unused, self.ignored, self.without_ignored)

    def fail(self, reason: str, at: int) -> NoReturn:
        raise GrammarError(reason, text=self.text, position=at)

    def find(self, node: Name) -> Definition:
        definition = self.definitions[node.name]
        self.used.add(node.name)
        if definition.body is None:
            self.fail(
                f"{node.name} is declared, but nothing says which text it is: define it, or name a "
                "special token <…> in its place",
                node.at,
            )
        wanted = len(definition.parameters)
        if len(node.arguments) != wanted:
            self.fail(
                f"{node.name} takes {wanted} argument{'s' * (wanted != 1)}, "
                f"not {len(node.arguments)}",
                node.at,
            )
        return definition

    def rule(self, definition: Definition, arguments: dict[str, Node]) -> Expression:
        """Translate the body of a rule with its options."""
        body = definition.body
        assert body is not None
        options = definition.options
        if definition.options.shapes_text:
            expression = self.shaped(definition, body, arguments)
        else:
            expression = self.expression(body, arguments)
        if options.capture is None:
            return expression
        if options.stop_capture is None:
            tail = ""
            if options.suffix:
                tail = self.literal_text(options.suffix, definition.at, arguments)
            return rules.Capture(options.capture, expression, tail)
        assert isinstance(expression, rules.Concat), "a text and its suffix"
        text, suffix = expression.parts
        return rules.Concat((rules.Capture(options.capture, text), suffix))

    def shaped(self, definition: Definition, body: Node, arguments: dict[str, Node]) -> Expression:
        """Translate a rule of whose texts the options leave only some."""
        options, at = definition.options, definition.at
        own = self.regular(body, arguments)
        if options.suffix is not None and options.stop_capture is not None:
            end = self.literal_text(options.suffix, at, arguments)
            text = self.counted(definition, before_end(own, end), 0)
            suffix = self.terminal(words([end]), at)
            return rules.Concat((text, rules.Capture(options.stop_capture, suffix)))
        tail = 0
        if options.suffix is not None and options.max_tokens is not None:
            tail = len(self.literal_text(options.suffix, at, arguments))
        return self.counted(definition, self.remaining(own, definition, arguments), tail)

    def remaining(
        self, texts: Regular, definition: Definition, arguments: dict[str, Node]
    ) -> Regular:
        """Return the texts of a rule, `texts`, that `lazy`, `suffix` and `stop` leave."""
        options = definition.options
        if options.stop is not None:
            return without_stop(texts, self.regular(options.stop, arguments))
        if options.suffix is not None:
            texts = concat(texts, self.regular(options.suffix, arguments))
        return shortest_first(texts) if options.lazy else texts

    def counted(self, definition: Definition, texts: Regular, tail: int) -> Expression:
        """Return a terminal, with the bound on its tokens if the rule has one. `tail`: characters
        that end its texts and are not counted."""
        most, at = definition.options.max_tokens, definition.at
        expression = self.terminal(texts, at)
        if most is None:
            return expression
        if not isinstance(expression, rules.Terminal) or self.ignored is not EMPTY:
            self.fail("max_tokens can't be counted together with %ignore", at)
        if not ends_within(texts, tail):
            self.fail(
                f"the texts of {definition.name} can't end after every character, so a bound on "
                "tokens would cut them; bound characters instead: /[a-z]{1,20}x/",
                at,
            )
        return rules.Bounded(expression, most, tail)

    def literal_text(self, node: Node, at: int, arguments: dict[str, Node]) -> str:
        """Return the only text of a node, which ends a rule."""
        text = _single_text(self.regular(node, arguments))
        if text is None:
            self.fail("the suffix of a rule with captures or max_tokens is one fixed string", at)
        return text

    def expression(self, node: Node, arguments: dict[str, Node]) -> Expression:
        spend(CHEAP)
        match node:
            case Literal(language=language, at=at):
                return self.terminal(language, at)
            case Name(name=name) if name in arguments:
                return self.expression(arguments[name], {})
            case Name():
                definition = self.find(node)
                if definition.terminal:
                    return self.terminal(self.named_terminal(node), node.at)
                return self.reference(definition, node, arguments)
            case Series(parts=parts):
                return rules.Concat(tuple(self.expression(part, arguments) for part in parts))
            case Either(options=options):
                return rules.Choice(tuple(self.expression(o, arguments) for o in options))
            case Times(body=body, least=least, most=most):
                return rules.Repeat(self.expression(body, arguments), least, most)
            case Both(at=at) | Not(at=at):
                return self.terminal(self.regular(node, arguments), at)
            case Json(schema=schema, whitespace=whitespace):
                return self.after_ignored(rules.JsonValue(schema, whitespace))
            case Special(ids=ids):
                return self.after_ignored(rules.SpecialToken(ids))
            case _:
                assert_never(node)

    def reference(
        self, definition: Definition, node: Name, arguments: dict[str, Node]
    ) -> Expression:
        """Return a reference to a rule. A template becomes a rule for each list of arguments."""
        given = tuple(_filled(each, arguments) for each in node.arguments)
        name = definition.name
        if given:
            self.check_size(given)
            fresh = f"{name}-{len(self.instances) + 1}"
            name = self.instances.setdefault((name, given), fresh)
        if name not in self.rules:
            self.rules[name] = rules.Choice(())
            filled = dict(zip(definition.parameters, given, strict=True))
            self.waiting.append((name, definition, filled))
        return rules.Ref(name)

    def check_size(self, arguments: tuple[Node, ...]) -> None:
        """Refuse arguments that grow too large: a template can double them with each recursive
        call."""
        waiting, seen = list(arguments), 0
        while waiting:
            waiting.extend(below(waiting.pop()))
            spend(CHEAP)
            seen += 1
            if seen > self.limits.grammar_rules:
                raise LimitError(
                    "the arguments of a template grow too large",
                    limit="grammar_rules",
                    value=self.limits.grammar_rules,
                    way_out="let templates call themselves with smaller arguments",
                )

    def after_ignored(self, expression: Expression) -> Expression:
        if self.ignored is EMPTY:
            return expression
        skipped = rules.Terminal(self.skipping(EPSILON))
        return rules.Concat((skipped, expression))

    def terminal(self, language: Regular, at: int) -> Expression:
        """Return a terminal with the ignored text before it."""
        if not is_live(language, self.limits.witness_search):
            self.fail("this matches no text", at)
        if self.ignored is EMPTY:
            return rules.Terminal(language)
        if not language.nullable:
            return rules.Terminal(self.skipping(language))
        rest = not_empty(language)
        if not is_live(rest, self.limits.witness_search):
            return rules.Concat(())
        return rules.Choice((rules.Concat(()), rules.Terminal(self.skipping(rest))))

    def skipping(self, language: Regular) -> Regular:
        combined = skipping(self.ignored, language)
        self.without_ignored[combined] = language
        return combined

    def named_terminal(self, node: Name) -> Regular:
        """Return the language of a terminal without the texts of terminals of higher priority."""
        language = self.regular(node)
        priority = self.definitions[node.name].priority
        higher = [
            self.regular(Name(other.name, node.at))
            for other in self.definitions.values()
            if other.terminal and other.priority > priority and other.body is not None
        ]
        return intersection(language, complement(alt(*higher))) if higher else language

    def regular(self, node: Node, arguments: dict[str, Node] | None = None) -> Regular:
        """Return the language of a node that has to be regular."""
        given = arguments or {}
        spend(CHEAP)
        match node:
            case Literal(language=language):
                return language
            case Name(name=name) if name in given:
                return self.regular(given[name])
            case Name():
                return self.named(node, given)
            case Series(parts=parts):
                return concat(*(self.regular(part, given) for part in parts))
            case Either(options=options):
                return alt(*(self.regular(option, given) for option in options))
            case Times(body=body, least=least, most=most):
                return repeat(self.regular(body, given), least, most)
            case Both(parts=parts):
                return intersection(*(self.regular(part, given) for part in parts))
            case Not(body=body):
                return complement(self.regular(body, given))
            case Json(at=at):
                self.fail("a JSON value is not regular: it can't stand in a terminal", at)
            case Special(at=at):
                self.fail("a special token is no text: it can stand in rules only", at)
            case _:
                assert_never(node)

    def named(self, node: Name, arguments: dict[str, Node]) -> Regular:
        definition = self.find(node)
        assert definition.body is not None
        filled = tuple(_filled(each, arguments) for each in node.arguments)
        known = self.languages.get((node.name, filled))
        if known is not None:
            return known
        self.check_size(filled)
        if self.reading and not definition.terminal and self.definitions[self.reading[0]].terminal:
            self.fail(f"a terminal can't contain the rule {node.name}", node.at)
        if node.name in self.reading:
            self.fail(f"{node.name} contains itself here, where it has to be regular", node.at)
        if len(self.reading) > self.limits.schema_depth:
            raise LimitError(
                "terminals nested too deep in a grammar",
                limit="schema_depth",
                value=self.limits.schema_depth,
                construct=Construct.rules([node.name]),
            )
        self.reading.append(node.name)
        given = dict(zip(definition.parameters, filled, strict=True))
        language = self.regular(definition.body, given)
        if definition.options.max_tokens is not None:
            self.fail(f"the tokens of {node.name} can't be counted within a terminal", node.at)
        language = self.remaining(language, definition, given)
        self.reading.pop()
        self.languages[node.name, filled] = language
        return language


def _filled(node: Node, arguments: dict[str, Node]) -> Node:
    """Return the node with the arguments of a template in place of its parameters."""
    if isinstance(node, Name) and node.name in arguments and not node.arguments:
        return arguments[node.name]
    return with_below(node, lambda each: _filled(each, arguments))


def _single_text(language: Regular) -> str | None:
    """Return the text of a language that has only one; None for another language."""
    text = ""
    while not language.nullable and len(text) < 1000:
        moves = arcs(language)
        if len(moves) != 1 or moves[0][0] != moves[0][1]:
            return None
        text += chr(moves[0][0])
        language = moves[0][2]
    return None if arcs(language) else text


def _fresh(name: str, taken: dict[str, Expression]) -> str:
    while name in taken:
        name += "-all"
    return name
