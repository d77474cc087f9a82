"""The compiler of JSON Schemas."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Final, get_args

from msgspec import structs

from maskwright.automaton.json.contexts import JsonContexts
from maskwright.automaton.json.precheck import (
    FEW_STEPS,
    WIDE,
    is_long,
    precheck_alternatives,
    precheck_beginning,
)
from maskwright.automaton.satisfy.solver import Solver
from maskwright.automaton.value.whitespace import WHITESPACE, WhitespaceName
from maskwright.errors import Construct, InputError, UnsatisfiableSchemaError
from maskwright.garbage import hide
from maskwright.grammar.schema.drafts import Draft
from maskwright.grammar.schema.options import (
    AdditionalProperties,
    DraftName,
    Escapes,
    Formats,
    Integers,
    Numbers,
    PropertyOrder,
)
from maskwright.grammar.schema.parse import ParseOptions
from maskwright.grammar.schema.recent import RECENT
from maskwright.grammar.schema.tree import Json, Schema, SchemaSource
from maskwright.immutable import Acyclic, Immutable
from maskwright.limits import DEFAULT_LIMITS, Limits, Work
from maskwright.mask.compile.arguments import compiler
from maskwright.mask.compile.constructs import SchemaConstructs
from maskwright.mask.grammar import Grammar
from maskwright.mask.recognizer import Beginning
from maskwright.mask.shared.generations import generations_of
from maskwright.vocab import Vocabulary

_DRAFTS: Final = dict(zip(get_args(DraftName), Draft, strict=True))
_WHOLE: Final = Construct.schema("")


class _Choices(Acyclic):
    """The options that are one of several words, by the names of the parameters."""

    property_order: PropertyOrder
    whitespace: WhitespaceName
    draft: DraftName
    formats: Formats
    integers: Integers
    numbers: Numbers
    escapes: Escapes
    additional_properties: AdditionalProperties

    def check(self) -> None:
        """Raise `InputError` for a word that isn't known."""
        for name, known in zip(self.__struct_fields__, _WORDS, strict=True):
            if getattr(self, name) not in known:
                raise InputError(f"{name} is one of {', '.join(known)}", param=name)


_WORDS: Final = (
    get_args(PropertyOrder),
    tuple(WHITESPACE),
    tuple(_DRAFTS),
    *map(get_args, (Formats, Integers, Numbers, Escapes, AdditionalProperties)),
)
"""The words of each."""


@compiler
def compile_json_schema(
    schema: SchemaSource,
    vocab: Vocabulary,
    *,
    property_order: PropertyOrder = "schema",
    whitespace: WhitespaceName = "flexible",
    draft: DraftName = "2020-12",
    documents: Mapping[str, Json] | None = None,
    formats: Formats = "enforce",
    integers: Integers = "any",
    numbers: Numbers = "any",
    escapes: Escapes = "any",
    additional_properties: AdditionalProperties = "allow",
    limits: Limits | None = None,
) -> Grammar:
    """Compile a JSON Schema for a vocabulary: a dict, a bool, JSON text, the `pathlib.Path` of a
    file, or a model of pydantic.

    - `property_order`: with "schema", declared properties come in the order in which the schema
      lists them, and other names after them; "any" allows every order.
    - `whitespace`: "compact" is none; "spaced" one space after `,` and `:`; "pretty" two spaces of
      indentation and a line for each item; "flexible" all that JSON allows, in runs of bounded
      length.
    - `draft`: the draft of a schema without `$schema`.
    - `documents`: URI → schema document, for references. Nothing is ever fetched.
    - `integers`: "any" allows every spelling of the value (`1`, `1.0`, `1e2`), "digits" only the
      one in digits, which typed clients prefer, and for numbers of `const` and `enum` only the
      spellings in which programs write them (`1` and `2.5`).
    - `numbers`: "any" allows every spelling of a value, "plain" only digits with a point, without
      an exponent and without more than two zeros at the end (see `grammar.number.plain`).
    - `escapes`: in property names and strings that the schema lists, "any" allows every escape of
      JSON, "needed" only those that JSON requires: `"name"`, never `"n\\u0061me"`.
    - `additional_properties`: "forbid" has objects whose schema has `properties`, and says nothing
      of others, without others (see `grammar.shape.closed`); the specification allows them. A
      schema that then has no instances stays as it is.
    - `formats`: "enforce" known formats, or "annotate" them, as the specification does by default.

    Raises `SchemaError` (with the JSON Pointer) for what is not a schema, its subclasses
    `UnsupportedSchemaError` and `UnsatisfiableSchemaError`, and `LimitError`.
    """
    choices = _Choices(
        *(property_order, whitespace, draft, formats),
        *(integers, numbers, escapes, additional_properties),
    )
    kind: Hashable
    try:
        options, kind = _chosen(choices)
    except TypeError:  # something that has no hash
        choices.check()
        raise
    if limits is None or limits == DEFAULT_LIMITS:
        limits = DEFAULT_LIMITS
    else:
        kind = (kind, limits)
    if documents or limits is not DEFAULT_LIMITS:
        options = replace(options, documents=documents or {}, limits=limits)

    def source(root: Schema) -> _Source:
        return _Source(root, vocab, kind, choices, limits)

    with Work(limits, _WHOLE):
        grammar = _compile(schema, options, source)
        if grammar is None and options.closed:
            grammar = _compile(schema, replace(options, closed=False), source)
        if grammar is None:
            raise UnsatisfiableSchemaError("no JSON value matches the schema", pointer="")
        return grammar


@lru_cache
def _chosen(choices: _Choices) -> tuple[ParseOptions, _Choices]:
    """How a document is read, without others that it refers to and within the usual limits; and
    what is equal for schemas that share a machine. Raises `InputError` for an unknown word."""
    choices.check()
    options = ParseOptions(
        draft=_DRAFTS[choices.draft],
        enforce_formats=choices.formats == "enforce",
        plain_integers=choices.integers == "digits",
        closed=choices.additional_properties == "forbid",
    )
    return options, structs.replace(choices, draft="2020-12", additional_properties="allow")


def _compile(
    schema: SchemaSource, options: ParseOptions, source_of: Callable[[Schema], _Source]
) -> Grammar | None:
    """Return the grammar of a schema; None if it has no instances."""
    parsed = RECENT.parse(schema, options)
    source = source_of(parsed.root)
    beginning = source.known()
    if beginning is None:
        solver = source.solver()
        root = hide(frozenset([parsed.root]))
        if not solver.satisfiable(root):
            return None
        multiplies = parsed.branches > options.limits.alternatives
        if parsed.widest > WIDE and (multiplies or any(map(is_long, parsed.one_ofs))):
            precheck_alternatives(root, solver, options.limits)
        elif multiplies:
            precheck_alternatives(root, solver, options.limits, FEW_STEPS)
        if parsed.intricate:
            precheck_beginning(root, solver, options.limits)
        beginning = source.begin(solver)
    grammar = Grammar(beginning, parsed.report, source.begin_again)
    grammar.written = parsed.text
    checked = beginning.shared.checked
    if beginning.start not in checked:
        if parsed.intricate:
            grammar.find_first_mask()
        checked.add(beginning.start)
    return grammar


class _Source(Immutable):
    """A schema that has instances, with all that decides where its texts begin."""

    root: Schema
    vocabulary: Vocabulary
    kind: Hashable
    """Equal for schemas that share a machine."""
    choices: _Choices
    limits: Limits

    def solver(self) -> Solver:
        """What decides which values and completions there are."""
        return Solver(self.choices.property_order, self.limits, self.choices.numbers)

    def known(self) -> Beginning | None:
        """Where texts begin, if the schema has been compiled and is not forgotten yet."""
        tables = generations_of(self.vocabulary).knowing(self.kind, self.root)
        if tables is None:
            return None
        with tables.lock:
            levels, shared = tables.json_machine(self.kind, self.limits)
            start = levels.begun(self.root)
        return None if start is None else Beginning(tables, shared, start, self._constructs())

    def begin(self, solver: Solver) -> Beginning:
        """Where texts begin in the newest tables."""
        tables = generations_of(self.vocabulary).newest()
        with tables.lock:
            levels, shared = tables.json_machine(self.kind, self.limits)
            contexts = JsonContexts(
                hide(frozenset([self.root])),
                solver,
                tables.leaves,
                WHITESPACE[self.choices.whitespace],
                tables.price,
                bare=self.choices.escapes == "needed",
                table=levels,
                within_tokens=tables.parts.names_within_tokens,
            )
            return Beginning(tables, shared, contexts.start(), self._constructs())

    def _constructs(self) -> SchemaConstructs:
        choices = self.choices
        return SchemaConstructs(
            self.root, self.kind, choices.property_order, choices.whitespace, choices.escapes
        )

    def begin_again(self) -> Beginning:
        """Where texts begin, for a grammar whose tables have been retired."""
        with Work(self.limits, _WHOLE):
            return self.known() or self.begin(self.solver())
