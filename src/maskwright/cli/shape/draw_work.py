"""What `maskwright draw` does, once its arguments are read."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from maskwright.cli.input.kind import Kind
from maskwright.cli.input.shapes import (
    GrammarArgument,
    RegexArgument,
    SchemaArgument,
    Shape,
    located,
    read_shape,
)
from maskwright.errors import InputError
from maskwright.workbench.choices import PictureName
from maskwright.workbench.diagram.pictures import grammar_picture, pattern_picture, schema_picture


def draw(shape: str, which: PictureName, output: str | None, kind: Kind, as_json: bool) -> None:
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
