"""Write texts that match a shape: random, the shortest, a long one, one for each alternative.

SHAPE is a file, '-', the shape itself, or the name of a schema or grammar that ships with the
package. Each text is written in a line of its own; where texts have line breaks of their own,
`--json` shows which is which. Texts of a schema are written without escapes that JSON doesn't need.
Equal seeds give equal random texts; the seed is printed on stderr.

With `--cover`, the texts of a grammar use every option, repetition and terminal of every rule, each
in a derivation that is otherwise as short as possible; texts of a schema use every subschema, every
option of `anyOf` and `oneOf`, and every value of an `enum`. What is left out is listed on stderr.

Exit code: 0; 1 if `--cover` leaves something out; 2 if the shape or an option can't be used, or no
text is as short as `--limit` asks for.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import Any, cast

from maskwright.cli.input.shapes import (
    GrammarArgument,
    RegexArgument,
    SchemaArgument,
    Shape,
    compile_shape,
    read_shape,
)
from maskwright.cli.output.appearance import remark, shown_json
from maskwright.cli.output.progress import progress
from maskwright.cli.shape.options import SampleOptions
from maskwright.errors import BudgetError, InputError
from maskwright.grammar.dialects.read import read_grammar
from maskwright.grammar.schema.tree import Json
from maskwright.mask import Grammar, compile_json_schema
from maskwright.workbench.reading import byte_vocabulary
from maskwright.workbench.sample import covering, samples


def run(options: SampleOptions) -> int:
    wanted = read_shape(options.shape, options.kind)
    written = {**samples.PLAINLY, "whitespace": options.whitespace}
    grammar = compile_shape(wanted, byte_vocabulary(), **written)
    most = grammar.min_tokens + samples.SHORT if options.limit is None else options.limit
    try:
        if options.cover:
            return _cover(wanted, written, options)
        texts = samples.texts(grammar, options.which, options.count, options.seed, most)
        if isinstance(wanted, SchemaArgument):
            texts = map(samples.plain_json, texts)
        _write(texts, None if options.which == "shortest" else options.seed, options.as_json)
    except BudgetError as error:
        raise InputError(
            f"no text is as short as {most} bytes; the shortest has {error.needed}", param="limit"
        ) from None
    return 0


def _write(texts: Iterator[str], seed: int | None, as_json: bool) -> None:
    """Write each text as soon as it is found, and the seed on which they depend."""
    if as_json:
        with progress("looking for texts"):
            found = [*texts]
        document = {"texts": found, **({} if seed is None else {"seed": seed})}
        print(shown_json(document))
        return
    while True:
        with progress("looking for a text"):  # which is off the terminal when one is printed
            text = next(texts, None)
        if text is None:
            break
        print(text, flush=True)
    if seed is not None:
        remark(f"seed {seed}; --seed gives other texts")


def _cover(shape: Shape, written: dict[str, Any], options: SampleOptions) -> int:
    """Write texts that use every alternative. `written`: how texts of a schema are written."""

    def compiled(schema: Json, documents: Mapping[str, Json]) -> Grammar:
        return compile_json_schema(schema, byte_vocabulary(), documents=documents, **written)

    with progress("looking for texts"):
        match shape:
            case SchemaArgument(schema=schema):
                covered = covering.covered_schema(
                    cast(Json, schema), compiled, options.limit, options.seed
                )
            case GrammarArgument(text=text, dialect=dialect):
                read = read_grammar(text, None if dialect == "auto" else dialect)
                covered = covering.covered_rules(read.rules)
            case RegexArgument():
                raise InputError("--cover needs a schema or a grammar", param="cover")
    if options.as_json:
        rows = [{"text": text, "uses": list(names)} for text, names in covered.texts]
        document = {
            "texts": rows,
            "missing": list(covered.missing),
            "alternatives": covered.alternatives,
        }
        print(shown_json(document))
    else:
        print("\n".join(text for text, _ in covered.texts))
        used = covered.alternatives - len(covered.missing)
        remark(f"{used} of {covered.alternatives} alternatives")
        for name in covered.missing:
            print(f"not used: {name}", file=sys.stderr)
    return 1 if covered.missing else 0
