"""Say whether texts match a JSON Schema, a grammar or a pattern, and where they don't.

SHAPE is a file, the shape itself, or the name of a schema or grammar that ships with the package; a
file of that name comes first. FILES are the texts to check; '-' is standard input.

Under a schema, white space before and after the text is ignored, and inside the text runs of up to
32 bytes of it match. Under a grammar or a pattern every character counts, except one line break at
the end.

Exit code: 0 if every text matches; 1 if a text doesn't match; 3 if each text that doesn't match is
the beginning of one that does; 2 if the shape, an option or a file can't be used.
"""

from __future__ import annotations

import sys
from typing import Annotated

from maskwright.automaton.value.progress import PropertyOrder
from maskwright.cli.arguments import Argument, Option
from maskwright.cli.input.opened import given_texts, open_shape
from maskwright.cli.input.shapes import Kind
from maskwright.cli.options import KIND_HELP, ORDER_HELP, SHAPE_HELP
from maskwright.cli.output.verdicts import exit_code, verdict_lines
from maskwright.workbench.reading import Verdict


def check(
    shape: Annotated[str, Argument(help=SHAPE_HELP)],
    files: Annotated[list[str], Argument(help="Files with texts to check; '-' is standard input.")],
    kind: Annotated[Kind, Option(help=KIND_HELP)] = "auto",
    property_order: Annotated[PropertyOrder, Option(help=ORDER_HELP)] = "any",
) -> int:
    texts = given_texts(shape, files, [])
    opened = open_shape(shape, kind, property_order)
    for warning in opened.grammar.report.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    verdicts: list[Verdict] = []
    for name, text in texts.items():
        reading = opened.read(text)
        verdicts.append(reading.verdict)
        print("\n".join(verdict_lines(name, reading)))
    return exit_code(verdicts)
