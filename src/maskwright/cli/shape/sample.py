"""Write texts that match a shape: random, the shortest, a long one, one for each alternative.

SHAPE is a file, '-', the shape itself, or the name of a schema or grammar that ships with the
package. Each text is written in a line of its own; where texts have line breaks of their own,
`--json` shows which is which. Texts of a schema are written without escapes that JSON doesn't need.
Equal seeds give equal random texts; the seed is told on stderr.

With `--cover`, the texts of a grammar use every option, repetition and terminal of every rule, each
in a derivation that is otherwise as short as possible; those of a schema use every subschema, every
option of `anyOf` and `oneOf`, and every value of an `enum`. What is left out is told on stderr.

Exit code: 0; 1 if `--cover` leaves something out; 2 if the shape or an option can't be used, or no
text is as short as `--limit` asks for.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from itertools import islice
from typing import Annotated, Literal

from maskwright.automaton.value.whitespace import WhitespaceName
from maskwright.cli.arguments import Argument, Option
from maskwright.cli.input.shapes import (
    GrammarArgument,
    Kind,
    RegexArgument,
    SchemaArgument,
    Shape,
    compile_shape,
    read_shape,
)
from maskwright.cli.options import JSON_HELP, KIND_HELP, SHAPE_HELP, WHITESPACE_HELP
from maskwright.errors import BudgetError, InputError
from maskwright.grammar.dialects.read import read_grammar
from maskwright.mask import Grammar
from maskwright.workbench.reading import byte_vocabulary
from maskwright.workbench.sample import covering, samples

SHORT = 100
"""Bytes more than the shortest text has, up to which texts are written without `--limit`."""


def sample(
    shape: Annotated[str, Argument(help=SHAPE_HELP)],
    count: Annotated[int, Option(short="-n", least=1, help="How many random texts.")] = 5,
    which: Annotated[
        Literal["random", "shortest", "longest"],
        Option(help="'longest' is the longest of 32 random texts within --limit."),
    ] = "random",
    cover: Annotated[
        bool, Option("--cover", help="Texts that together use every alternative.")
    ] = False,
    limit: Annotated[
        int | None,
        Option(least=0, help="Most bytes of a text. Default: 100 more than the shortest has."),
    ] = None,
    seed: Annotated[int, Option(help="Seed of the random choices.")] = 0,
    whitespace: Annotated[WhitespaceName, Option(help=WHITESPACE_HELP)] = "spaced",
    kind: Annotated[Kind, Option(help=KIND_HELP)] = "auto",
    as_json: Annotated[bool, Option("--json", help=JSON_HELP)] = False,
) -> int:
    wanted = read_shape(shape, kind)
    grammar = compile_shape(
        wanted, byte_vocabulary(), whitespace=whitespace, escapes="needed", integers="digits"
    )
    most = grammar.min_tokens + SHORT if limit is None else limit
    try:
        if cover:
            return _cover(wanted, grammar, most, seed, as_json)
        texts = _texts(grammar, which, count, most, seed)
        if isinstance(wanted, SchemaArgument):
            texts = map(samples.plain_json, texts)
        _write(texts, None if which == "shortest" else seed, as_json)
    except BudgetError as error:
        raise InputError(
            f"no text is as short as {most} bytes; the shortest has {error.needed}", param="limit"
        ) from None
    return 0


def _write(texts: Iterator[str], seed: int | None, as_json: bool) -> None:
    """Write each text as soon as it is found, and the seed on which they depend."""
    if as_json:
        told = {"texts": [*texts], **({} if seed is None else {"seed": seed})}
        print(json.dumps(told, ensure_ascii=False, indent=2))
        return
    for text in texts:
        print(text, flush=True)
    if seed is not None:
        print(f"seed {seed}; --seed gives other texts", file=sys.stderr)


def _texts(grammar: Grammar, which: str, count: int, limit: int, seed: int) -> Iterator[str]:
    if which == "shortest":
        yield samples.shortest_text(grammar).decode()
    elif which == "longest":
        yield samples.longest_text(grammar, limit, seed).decode()
    else:
        yield from (t.decode() for t in islice(samples.random_texts(grammar, limit, seed), count))


def _cover(shape: Shape, grammar: Grammar, limit: int, seed: int, as_json: bool) -> int:
    match shape:
        case SchemaArgument(schema=schema):
            covered = covering.covered_schema(schema, grammar, limit + SHORT, seed)
        case GrammarArgument(text=text, dialect=dialect):
            read = read_grammar(text, None if dialect == "auto" else dialect)
            covered = covering.covered_rules(read.rules)
        case RegexArgument():
            raise InputError("--cover needs a schema or a grammar", param="cover")
    if as_json:
        rows = [{"text": text, "uses": list(names)} for text, names in covered.texts]
        told = {
            "texts": rows,
            "missing": list(covered.missing),
            "alternatives": covered.alternatives,
        }
        print(json.dumps(told, ensure_ascii=False, indent=2))
    else:
        print("\n".join(text for text, _ in covered.texts))
        used = covered.alternatives - len(covered.missing)
        print(f"{used} of {covered.alternatives} alternatives", file=sys.stderr)
        for name in covered.missing:
            print(f"not used: {name}", file=sys.stderr)
    return 1 if covered.missing else 0
