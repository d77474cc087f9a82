"""The picture of a shape, as `maskwright draw` makes it."""

from __future__ import annotations

from maskwright.errors import InputError
from maskwright.grammar.schema.document import plain
from maskwright.vocab import Vocabulary
from maskwright.workbench.choices import PictureName
from maskwright.workbench.diagram.pictures import grammar_picture, pattern_picture, schema_picture
from maskwright.workbench.live.faults import ShapeKind, read_json_shape
from maskwright.workbench.report import Data


def drawn(text: str, kind: ShapeKind, which: PictureName, _: Vocabulary) -> Data:
    """The picture as an SVG document. Raises InputError for tools and tags, which have none."""
    match kind:
        case "schema":
            svg = schema_picture(plain(read_json_shape(text))[0], "the schema", which)
        case "regex":
            svg = pattern_picture(text, which)
        case "lark" | "gbnf" | "ebnf":
            svg = grammar_picture(text, kind, "the grammar", which)
        case _:
            raise InputError("only schemas, patterns and grammars are drawn", param="kind")
    return {"as": which, "svg": svg}
