"""Say how far texts match a shape, what was allowed where they stop, and why.

SHAPE is a file, '-', the shape itself, or the name of a schema or grammar that ships with the
package. FILES are the texts; '-' is standard input.

For a text that doesn't match, this shows the place, the accepted prefix, the characters and texts
that were allowed there, the JSON Pointers of the value and of its schema, or the stack of rules;
and the keywords of a schema without which it would be allowed, and allowed texts like it.
`--no-why` leaves these out, whose search may take seconds.

Exit code: 0 if every text matches; 1 if a text doesn't match; 3 if each text that doesn't match is
the beginning of one that does; 2 if the shape, an option or a file can't be used.
"""

from __future__ import annotations

import json
from typing import Annotated

from maskwright.automaton.value.progress import PropertyOrder
from maskwright.cli.arguments import Argument, Option
from maskwright.cli.input.opened import OpenedShape, given_texts, open_shape
from maskwright.cli.input.shapes import Kind
from maskwright.cli.options import JSON_HELP, KIND_HELP, ORDER_HELP, SHAPE_HELP, TEXT_HELP
from maskwright.cli.output.verdicts import (
    exit_code,
    fault_lines,
    following_lines,
    verdict_lines,
)
from maskwright.errors import InputError
from maskwright.workbench.reading import TextReading, Verdict
from maskwright.workbench.report import Data, reading_data


def match(
    shape: Annotated[str, Argument(help=SHAPE_HELP)],
    files: Annotated[list[str], Argument(help="Files with texts; '-' is standard input.")] = [],  # noqa: B006 - read by the parser, never changed
    text: Annotated[list[str], Option(help=TEXT_HELP)] = [],  # noqa: B006
    kind: Annotated[Kind, Option(help=KIND_HELP)] = "auto",
    property_order: Annotated[PropertyOrder, Option(help=ORDER_HELP)] = "any",
    why: Annotated[bool, Option(help="Look for reasons, and for allowed texts alike.")] = True,
    as_json: Annotated[bool, Option("--json", help=JSON_HELP)] = False,
) -> int:
    if not files and not text:
        raise InputError("give a file, '-' for standard input, or --text", param="files")
    texts = given_texts(shape, files, text)
    opened = open_shape(shape, kind, property_order)
    readings = {name: opened.read(data) for name, data in texts.items()}
    found = {
        name: _why(opened, reading, property_order)
        for name, reading in readings.items()
        if why and reading.verdict is Verdict.MISMATCH
    }
    if as_json:
        rows = [
            {"name": name, **reading_data(reading), **found.get(name, {})}
            for name, reading in readings.items()
        ]
        print(json.dumps({"texts": rows}, ensure_ascii=False, indent=2))
    else:
        for name, reading in readings.items():
            print("\n".join(_lines(name, reading, found.get(name, {}))))
    return exit_code(reading.verdict for reading in readings.values())


def _why(opened: OpenedShape, reading: TextReading, order: PropertyOrder) -> Data:
    # Only here, because it imports the compilers of all kinds of shapes.
    from maskwright.cli.input.why import why_not  # noqa: PLC0415

    return why_not(opened, reading, order)


def _lines(name: str, reading: TextReading, why: Data) -> list[str]:
    if reading.verdict is Verdict.MATCH:
        return verdict_lines(name, reading)
    return [*fault_lines(name, reading), *following_lines(reading, why)]
