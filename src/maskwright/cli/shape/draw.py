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

from dataclasses import dataclass

from maskwright.cli.options import JSON_HELP, KIND_HELP, SHAPE_HELP
from maskwright.settings import argument, option
from maskwright.workbench.choices import Kind, PictureName


@dataclass(frozen=True, slots=True)
class DrawOptions:
    """What `maskwright draw` is given."""

    shape: str = argument(SHAPE_HELP)
    which: PictureName = option("railroad", "What is drawn.", flag="--as")
    output: str | None = option(None, "SVG file to write. Default: standard output.", short="-o")
    kind: Kind = option("auto", KIND_HELP)
    as_json: bool = option(False, JSON_HELP, flag="--json")
