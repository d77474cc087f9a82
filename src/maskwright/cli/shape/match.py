"""Say how far texts match a shape, what was allowed where they stop, and why.

SHAPE is a file, '-', the shape itself, or the name of a schema or grammar that ships with the
package. FILES are the texts; '-' is standard input.

For a text that doesn't match, this shows the place, the accepted prefix, the characters and texts
that were allowed there, the JSON Pointers of the value and of its schema, or the stack of rules;
and the keywords of a schema without which it would be allowed, and allowed texts like it.
`--no-why` leaves these out, whose search may take seconds, and `--brief` all but the place and what
could stand there.

Under a schema, white space before and after the text is ignored, and inside the text runs of up to
32 bytes of it match. Under a grammar or a pattern every character counts, except one line break at
the end.

Exit code: 0 if every text matches; 1 if a text doesn't match; 3 if each text that doesn't match is
the beginning of one that does; 2 if the shape, an option or a file can't be used.
"""

from __future__ import annotations

import json
from contextlib import suppress

from maskwright.cli.input.opened import OpenedShape, given_texts, open_shape
from maskwright.cli.input.shapes import SchemaArgument
from maskwright.cli.output.appearance import remark, shown_json
from maskwright.cli.output.progress import progress
from maskwright.cli.output.verdicts import exit_code, fault_lines, following_lines, verdict_lines
from maskwright.cli.shape.options import MatchOptions
from maskwright.errors import InputError, LimitError
from maskwright.grammar.schema.options import PropertyOrder
from maskwright.limits import DEFAULT_LIMITS, Work
from maskwright.workbench.explanation import Data, reading_data
from maskwright.workbench.findings.finding import reported
from maskwright.workbench.reading import TextReading, Verdict


def run(options: MatchOptions) -> int:
    if not options.files and not options.text:
        raise InputError("give a file, '-' for standard input, or --text", param="files")
    texts = given_texts(options.shape, options.files, options.text)
    opened = open_shape(options.shape, options.kind, options.property_order)
    readings = {name: opened.read(data) for name, data in texts.items()}
    found = {
        name: _why(opened, reading, options.property_order)
        for name, reading in readings.items()
        if options.why and not options.brief and reading.verdict is Verdict.MISMATCH
    }
    for each in [] if options.as_json else reported(opened.grammar.report):
        remark(f"warning: {each.pointer or '/'}: {each.message}")
    if options.as_json:
        rows = [
            {"name": name, **reading_data(reading), **found.get(name, {})}
            for name, reading in readings.items()
        ]
        print(shown_json({"texts": rows}))
    else:
        for name, reading in readings.items():
            lines = verdict_lines(name, reading)
            if not options.brief and reading.verdict is not Verdict.MATCH:
                lines = fault_lines(name, reading) + following_lines(reading, found.get(name))
            print("\n".join(lines))
    return exit_code(reading.verdict for reading in readings.values())


def _why(opened: OpenedShape, reading: TextReading, order: PropertyOrder) -> Data:
    # Only here, because it imports the compilers of all kinds of shapes.
    from maskwright.workbench.explanation import add_why  # noqa: PLC0415
    from maskwright.workbench.schema.variants import SchemaVariants  # noqa: PLC0415

    variants, found = None, Data()
    if isinstance(opened.shape, SchemaArgument):
        variants = SchemaVariants(json.dumps(opened.shape.schema), {"property_order": order})
    with progress("looking for reasons"), suppress(LimitError), Work(DEFAULT_LIMITS):
        add_why(found, reading, opened.grammar, variants)
    return found
