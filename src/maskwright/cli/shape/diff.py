"""Say which texts only one of two shapes accepts.

FIRST and SECOND are each a file, '-', the shape itself, or the name of a schema or grammar that
ships with the package. For each direction this prints the shortest text found that only one of them
accepts, or says that there is none, or that none was found within the bounds. Texts are compared as
they are written: white space between the parts of JSON is a part of them.

Exit code: 0 if both accept the same texts; 1 if a text was found that only one accepts; 3 if none
was found, and that there is none was not shown; 2 if a shape or an option can't be used.
"""

from __future__ import annotations

from maskwright.cli.input.opened import open_shape
from maskwright.cli.input.texts import refuse_twice
from maskwright.cli.output.appearance import shown_json
from maskwright.cli.output.progress import progress
from maskwright.cli.shape.options import DiffOptions
from maskwright.workbench.difference.compared import Comparison, compare
from maskwright.workbench.reading import byte_vocabulary

_EXIT_CODES = {True: 0, False: 1, None: 3}


def run(options: DiffOptions) -> int:
    refuse_twice([options.first, options.second], "second")
    vocabulary = byte_vocabulary()
    opened = [
        open_shape(each, options.kind, options.property_order, vocabulary)
        for each in (options.first, options.second)
    ]
    first, second = (each.grammar for each in opened)
    with progress("comparing the shapes"):
        found = compare(first, second, most_pairs=options.pairs, seconds=options.seconds)
    print(shown_json(_data(found)) if options.as_json else "\n".join(_lines(found)))
    return _EXIT_CODES[found.equal]


def _data(found: Comparison) -> dict[str, object]:
    return {
        "equal": found.equal,
        "only_first": _side(found.only_first, found.decided),
        "only_second": _side(found.only_second, found.decided),
        "pairs": found.pairs,
    }


def _side(text: bytes | None, decided: bool) -> dict[str, object]:
    is_known = text is not None or decided
    return {"decided": is_known, "text": None if text is None else text.decode(errors="replace")}


def _lines(found: Comparison) -> list[str]:
    if found.equal:
        return ["both accept the same texts"]
    directions = {"first": found.only_first, "second": found.only_second}
    return [f"only the {name}: {_shown(text, found.decided)}" for name, text in directions.items()]


def _shown(text: bytes | None, decided: bool) -> str:
    if text is not None:
        return text.decode(errors="replace") or "the empty text"
    return "no text" if decided else "no text was found within the bounds"
