"""Draw a shape as SVG: railroad diagrams, or the graph of its rules or states.

SHAPE is a file, '-', the shape itself, or the name of a schema or grammar that ships with the
package. A grammar becomes a railroad diagram for each rule, a pattern one, and a JSON Schema one
for its root and each schema that is referred to: the structure of its values.

With `--as graph`, a grammar becomes the graph of its rules, a JSON Schema the graph of its
references, and a pattern its automaton, which begins at state 0 and may end where a frame is
double.

Exit code: 0; 2 if the shape, an option or a file can't be used.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

from maskwright.cli.arguments import Argument, Option
from maskwright.cli.input.shapes import (
    GrammarArgument,
    Kind,
    RegexArgument,
    SchemaArgument,
    Shape,
    located,
    read_shape,
)
from maskwright.cli.options import JSON_HELP, KIND_HELP, SHAPE_HELP
from maskwright.errors import InputError
from maskwright.workbench.diagram.pictures import (
    PictureName,
    grammar_picture,
    pattern_picture,
    schema_picture,
)


def draw(
    shape: Annotated[str, Argument(help=SHAPE_HELP)],
    which: Annotated[PictureName, Option("--as", help="What is drawn.")] = "railroad",
    output: Annotated[
        str | None, Option(short="-o", help="SVG file to write. Default: standard output.")
    ] = None,
    kind: Annotated[Kind, Option(help=KIND_HELP)] = "auto",
    as_json: Annotated[bool, Option("--json", help=JSON_HELP)] = False,
) -> None:
    wanted = read_shape(shape, kind)
    with located(wanted):
        svg = _picture(wanted, which)
    if output is not None:
        _write(Path(output), svg)
    if as_json:
        print(json.dumps({"shape": wanted.name, "as": which, "svg": svg}, ensure_ascii=False))
    elif output is None:
        print(svg, end="")
    else:
        print(f"wrote {output}", file=sys.stderr)


def _picture(shape: Shape, which: PictureName) -> str:
    match shape:
        case SchemaArgument(schema=schema, name=name):
            return schema_picture(schema, name, which)
        case GrammarArgument(text=text, dialect=dialect, name=name):
            return grammar_picture(text, None if dialect == "auto" else dialect, name, which)
        case RegexArgument(pattern=pattern):
            return pattern_picture(pattern, which)


def _write(file: Path, svg: str) -> None:
    try:
        file.write_text(svg, encoding="utf-8")
    except OSError as error:
        raise InputError(f"can't write {file}: {error.strerror}", param="output") from None
