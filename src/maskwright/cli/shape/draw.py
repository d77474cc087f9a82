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
from pathlib import Path

from maskwright.cli.input.shapes import (
    GrammarArgument,
    RegexArgument,
    SchemaArgument,
    located,
    read_shape,
)
from maskwright.cli.output.appearance import remark
from maskwright.cli.output.files import check_picture, write_file
from maskwright.cli.output.progress import progress
from maskwright.cli.shape.options import DrawOptions
from maskwright.workbench.diagram.pictures import grammar_picture, pattern_picture, schema_picture


def run(options: DrawOptions) -> None:
    if options.output is not None:
        check_picture(options.output, "output")
    wanted = read_shape(options.shape, options.kind)
    with located(wanted), progress("drawing"):
        match wanted:
            case SchemaArgument(schema=schema, name=name):
                svg = schema_picture(schema, name, options.which)
            case GrammarArgument(text=text, dialect=dialect, name=name):
                known = None if dialect == "auto" else dialect
                svg = grammar_picture(text, known, name, options.which)
            case RegexArgument(pattern=pattern):
                svg = pattern_picture(pattern, options.which)
    if options.output is not None:
        write_file(Path(options.output), svg, "output")
    if options.as_json:
        print(
            json.dumps({"shape": wanted.name, "as": options.which, "svg": svg}, ensure_ascii=False)
        )
    elif options.output is None:
        print(svg, end="")
    else:
        remark(f"wrote {options.output}")
