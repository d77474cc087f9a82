"""Texts of any shape that together use each of its alternatives, and what they leave out.

The alternatives of a schema are its subschemas, options and listed values. For each alternative of
a grammar there is the shortest derivation from the start rule that contains it, as Purdom (1972)
generates sentences for testing parsers: below the alternative and beside it, everything is as short
as possible. An alternative is an option of a choice, a repetition left out, done once or twice, and
each of the texts of a terminal if they are few; of others, some.
"""

from __future__ import annotations

import heapq
import json
import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final, cast

from maskwright.errors import InputError, UnsatisfiableSchemaError, UnsupportedGrammarError
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
from maskwright.grammar.schema.tree import Json
from maskwright.immutable import Immutable
from maskwright.limits import DEFAULT_LIMITS, Work
from maskwright.mask import Grammar, compile_json_schema
from maskwright.mask.compile.rules import compile_rules
from maskwright.workbench.pointer import local_target, pointer_of, reference_tokens, value_at
from maskwright.workbench.reading import Verdict, byte_vocabulary, read_json
from maskwright.workbench.sample.samples import SHORT, exploring_texts, plain_json, shortest_text

FEW: Final = 64
"""Texts of a terminal up to which each is an alternative."""
SOME: Final = 4
"""Texts that are taken of a terminal with more."""


class _Derivations:
    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._shortest: dict[str, str] = {}
        """The shortest text of each rule that has one: the least fixed point, since a rule's text
        becomes shorter until none does."""
        before: dict[str, str] | None = None
        while before != self._shortest:
            before = dict(self._shortest)
            for name, body in rules.rules.items():
                texts = self._shortest.get(name), self._short(body)
                known = [text for text in texts if text is not None]
                if known:
                    self._shortest[name] = min(known, key=len)

    def texts(self) -> dict[str, list[str]]:
        """Texts that use every alternative of the rules that the start rule can reach, each with
        the alternatives that it is for: a rule, and a number in it."""
        found: dict[str, list[str]] = {}
        for name, (before, after) in self._contexts().items():
            variants = dict.fromkeys(self._variants(self._rules.rules[name]))
            for number, text in enumerate(variants, 1):
                found.setdefault(f"{before}{text}{after}", []).append(f"{name}:{number}")
        return found

    # Shortest texts

    def _short(self, expression: Expression) -> str | None:
        """The shortest text of an expression that is known so far; None if none is."""
        match expression:
            case Terminal(language=language):
                return shortest(language)
            case JsonValue():
                grammar = compile_rules(Rules("value", {"value": expression}), byte_vocabulary())
                return shortest_text(grammar).decode()
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
        """Texts of an expression that together use each of its alternatives. Of a repetition: the
        fewest copies, with each alternative of the body in the first; and one more than the
        fewest, if that is allowed."""
        match expression:
            case Terminal(language=language):
                yield from _texts(language)
            case Ref() | JsonValue() | SpecialToken():
                text = self._short(expression)
                yield from [] if text is None else [text]
            case _:
                if isinstance(expression, Repeat) and expression.least == 0:
                    yield ""
                for part, before, after in self._parts(expression):
                    yield from (f"{before}{text}{after}" for text in self._variants(part))
                if isinstance(expression, Repeat):
                    fewest, most = max(expression.least, 1), expression.most
                    short = self._short(expression.body)
                    if short is not None and (most is None or most > fewest):
                        yield short * (fewest + 1)

    def _parts(self, expression: Expression) -> Iterator[tuple[Expression, str, str]]:
        """What an expression consists of, each with the shortest texts before and after it; none if
        something beside it has no text."""
        match expression:
            case Concat(parts=parts):
                shorts = [self._short(part) for part in parts]
                for at, part in enumerate(parts if None not in shorts else ()):
                    before, after = shorts[:at], shorts[at + 1 :]
                    yield part, "".join(filter(None, before)), "".join(filter(None, after))
            case Choice(options=options):
                yield from ((option, "", "") for option in options)
            case Repeat(body=body, least=least, most=most):
                short = self._short(body)
                if short is not None and most != 0:
                    yield body, "", short * (max(least, 1) - 1)
            case Capture(body=body) | Bounded(body=body) | Cut(body=body):
                yield body, "", ""
            case _:
                return

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
        if isinstance(expression, Ref):
            yield expression.name, "", ""
        for part, before, after in self._parts(expression):
            for name, left, right in self._calls(part):
                yield name, before + left, right + after


def _texts(language: Regular) -> list[str]:
    """The texts of a terminal, if they are few; otherwise some, one of each alternative that the
    language is written with."""
    known = few(language, FEW)
    if known is not None:
        return [*known]
    options = language.options if isinstance(language, Alt) else ()
    texts = [text for text in map(shortest, options) if text is not None]
    return [*dict.fromkeys([*texts, *first(language, SOME)])]


_DOCUMENT: Final = "urn:maskwright:schema"
_OF_VALUE: Final = ("allOf", "anyOf", "oneOf")
"""Keywords with a list of schemas for the value itself."""


class SchemaCoverage:
    """The parts of a schema document: every subschema that its root leads to, by its JSON Pointer,
    and every value of an `enum`. A value uses a part if the part applies to it, or to something
    within it, and it satisfies the part. Only references within the document are followed."""

    def __init__(self, schema: Json) -> None:
        self._schema = schema
        self._grammars: dict[str, Grammar] = {}
        self._vocabulary = byte_vocabulary()
        self._above: dict[str, str] = {}
        """The schema that leads to each part, on a shortest way from the root."""
        self.items = frozenset(self._reached())

    def of(self, value: Json) -> set[str]:
        """The parts that a valid value uses."""
        found: set[str] = set()
        self._visit("", value, found, set())
        return found

    def _reached(self) -> Iterator[str]:
        queue = deque([""])
        while queue:
            pointer = queue.popleft()
            schema = value_at(self._schema, pointer)
            if schema is False:
                continue
            yield pointer
            if not isinstance(schema, dict):
                continue
            for index in range(len(_listed(schema, "enum"))):
                self._above[f"{pointer}/enum/{index}"] = pointer
                yield f"{pointer}/enum/{index}"
            for below in _subschemas(schema, pointer):
                if below and below not in self._above:
                    self._above[below] = pointer
                    queue.append(below)

    def demanding(self, pointer: str) -> Json:
        """A schema, with references to `_DOCUMENT`, whose values are those of the root that use the
        part at a pointer, or more where not all of that can be demanded; None if nothing can."""
        here, inner = pointer, cast(dict[str, Any], {})
        while here:
            above = self._above[here]
            tokens: Sequence[str] = ()
            if here.startswith(f"{above}/"):
                tokens = tuple(reference_tokens(here.removeprefix(above)))
            if tokens == ("items",):
                schema = cast(dict[str, Any], value_at(self._schema, above))
                tokens = ("items", str(len(_listed(schema, "prefixItems"))))
            if tokens[:1] == ("enum",):
                found: dict[str, Any] | None = {"enum": [value_at(self._schema, here)]}
            else:
                found = _demand(tokens, above, inner)
            if found is None:
                return None
            here, inner = above, found
        root = self._schema if isinstance(self._schema, dict) else {}
        draft = {name: root[name] for name in ("$schema",) if name in root}
        return cast(Json, {**draft, "allOf": [{"$ref": f"{_DOCUMENT}#"}, inner]}) if inner else None

    def _visit(self, pointer: str, value: Json, found: set[str], open_: set[str]) -> None:
        """Note what the value uses of the schema at `pointer`; `open_`: schemas of this value that
        are being visited, to which a circle of references leads back."""
        if pointer in open_:
            return
        schema = value_at(self._schema, pointer)
        found.add(pointer)
        if not isinstance(schema, dict):
            return
        for index, listed in enumerate(_listed(schema, "enum")):
            if _written(listed) == _written(value):
                found.add(f"{pointer}/enum/{index}")
        for below in self._of_value(schema, pointer, value):
            self._visit(below, value, found, open_ | {pointer})
        for below, inner in _within(schema, pointer, value):
            self._visit(below, inner, found, set())

    def _of_value(self, schema: dict[str, Any], pointer: str, value: Json) -> Iterator[str]:
        """The subschemas that apply to the value itself, and that it satisfies."""
        if (target := local_target(schema)) is not None:
            yield target
        for keyword in _OF_VALUE:
            for index in range(len(_listed(schema, keyword))):
                option = f"{pointer}/{keyword}/{index}"
                if keyword == "allOf" or self._satisfies(option, value):
                    yield option
        if "if" in schema:
            holds = self._satisfies(f"{pointer}/if", value)
            chosen = "then" if holds else "else"
            yield from [f"{pointer}/if"] * holds
            yield from [f"{pointer}/{chosen}"] * (chosen in schema)

    def _satisfies(self, pointer: str, value: Json) -> bool:
        grammar = self._grammars.get(pointer)
        if grammar is None:
            try:
                grammar = compile_json_schema(
                    {"$ref": f"{_DOCUMENT}#{pointer}"},
                    self._vocabulary,
                    documents={_DOCUMENT: self._schema},
                    property_order="any",
                )
            except UnsatisfiableSchemaError:
                return False
            self._grammars[pointer] = grammar
        return read_json(grammar, _written(value).encode()).verdict is Verdict.MATCH


def _subschemas(schema: dict[str, Any], pointer: str) -> Iterator[str]:
    """The pointers of the schemas to which the keywords of a schema lead."""
    if (target := local_target(schema)) is not None:
        yield target
    for keyword in (*_OF_VALUE, "prefixItems"):
        yield from (f"{pointer}/{keyword}/{i}" for i in range(len(_listed(schema, keyword))))
    for keyword in ("properties", "patternProperties"):
        named = schema.get(keyword)
        if isinstance(named, dict):
            yield from (pointer + pointer_of(keyword, name) for name in named)
    for keyword in ("items", "additionalProperties", "if", "then", "else"):
        if isinstance(schema.get(keyword), dict):
            yield f"{pointer}/{keyword}"


def _within(schema: dict[str, Any], pointer: str, value: Json) -> Iterator[tuple[str, Json]]:
    """The subschemas that apply to members and items of a value, each with what it applies to."""
    if isinstance(value, list):
        count = len(_listed(schema, "prefixItems"))
        for index, item in enumerate(value):
            if index < count:
                yield f"{pointer}/prefixItems/{index}", item
            elif isinstance(schema.get("items"), dict):
                yield f"{pointer}/items", item
    if isinstance(value, dict):
        named, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
        for name, member in value.items():
            matching = [pattern for pattern in patterns if re.search(pattern, name)]
            if name in named:
                yield pointer + pointer_of("properties", name), member
            for pattern in matching:
                yield pointer + pointer_of("patternProperties", pattern), member
            is_other = name not in named and not matching
            if is_other and isinstance(schema.get("additionalProperties"), dict):
                yield f"{pointer}/additionalProperties", member


def _listed(schema: dict[str, Any], keyword: str) -> list[Any]:
    found = schema.get(keyword)
    return found if isinstance(found, list) else []


def _written(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


MOST_TEXTS: Final = 600
"""Texts of a schema that are tried."""
IN_VAIN: Final = 200
"""Texts in a row that use nothing new, after which no more are tried."""
ROOM: Final = 2 * SHORT
"""Bytes more than the shortest text has, up to which texts of a schema are tried."""
TOWARDS: Final = 40
"""Texts that are tried of a schema that demands a part which no text has used."""
DEMANDS: Final = 100
"""Schemas that demand a part, at most: each is compiled."""


class Covered(Immutable):
    """Texts, each with the alternatives that none before it uses; and the alternatives that no text
    uses."""

    texts: tuple[tuple[str, tuple[str, ...]], ...]
    missing: tuple[str, ...]
    alternatives: int
    """How many alternatives there are."""


def covered_schema(
    schema: Json,
    compiled: Callable[[Json, Mapping[str, Json]], Grammar],
    limit: int | None,
    seed: int,
) -> Covered:
    """Values that use every part of a schema, in texts of at most `limit` bytes. They are searched
    for, so that parts may be missing which a value could use. Without a limit: `ROOM` more than the
    shortest has.

    `compiled` makes the grammar, over single bytes, of the schema and of schemas that demand one of
    its parts, which refer to the document of their second argument: where several options have
    strings, a random text hardly meets the narrower ones, and where names are free, hardly a listed
    one. Raises its errors for the schema itself, and `BudgetError` if no text is as short.
    """
    coverage = SchemaCoverage(schema)
    left = set(coverage.items)
    texts: list[tuple[str, tuple[str, ...]]] = []

    def search(grammar: Grammar, most: int, vain: int, aim: str | None = None) -> None:
        in_vain = 0
        most_bytes = grammar.min_tokens + ROOM if limit is None else limit
        found = exploring_texts(grammar, most_bytes, seed)
        for text in (plain_json(data.decode()) for data in islice(found, most)):
            new = coverage.of(json.loads(text)) & left
            left.difference_update(new)
            in_vain = 0 if new else in_vain + 1
            if new:
                texts.append((text, tuple(sorted(new))))
            if not left or in_vain == vain or (aim is not None and aim not in left):
                break

    search(compiled(schema, {}), MOST_TEXTS, IN_VAIN)
    demands = 0
    for pointer in sorted(left):
        demanding = coverage.demanding(pointer) if pointer in left else None
        if demanding is None or demands == DEMANDS:
            continue
        demands += 1
        try:
            search(compiled(demanding, {_DOCUMENT: schema}), TOWARDS, TOWARDS, pointer)
        except InputError:  # no value uses the part, or none that is as short
            continue
    return Covered(tuple(texts), tuple(sorted(left)), len(coverage.items))


def _demand(tokens: Sequence[str], above: str, inner: dict[str, Any]) -> dict[str, Any] | None:
    """What a value satisfies that uses a part of the schema at `above`, in which `inner` holds of
    what the part applies to. `tokens`: where the part stands in that schema. None for keywords of
    which nothing is demanded."""
    match tokens:
        case [("allOf" | "anyOf" | "oneOf") as keyword, index]:
            return {"allOf": [{"$ref": f"{_DOCUMENT}#{above}/{keyword}/{index}"}, inner]}
        case ["if" | "then"]:
            return {"allOf": [{"$ref": f"{_DOCUMENT}#{above}/if"}, inner]}
        case ["else"]:
            return {"allOf": [{"not": {"$ref": f"{_DOCUMENT}#{above}/if"}}, inner]}
        case ["properties", name]:
            return {"type": "object", "required": [name], "properties": {name: inner}}
        case ["patternProperties", pattern]:
            return {"type": "object", "minProperties": 1, "patternProperties": {pattern: inner}}
        case ["prefixItems" | "items", index]:
            # Every draft reads an array here, as long as there is no `prefixItems` beside it.
            before: list[dict[str, Any]] = [{}] * int(index)
            return {"type": "array", "minItems": int(index) + 1, "items": [*before, inner]}
        case ["additionalProperties"]:
            return None
        case _:  # of a reference, which is about the same value
            return inner


def covered_rules(rules: Rules) -> Covered:
    """Texts that use every alternative of a grammar's rules that the start rule can reach. None is
    missing. Raises `UnsupportedGrammarError` for special tokens, which have no text."""
    with Work(DEFAULT_LIMITS):
        texts = _Derivations(rules).texts()
    rows = tuple((text, tuple(alternatives)) for text, alternatives in texts.items())
    return Covered(rows, (), sum(map(len, texts.values())))
