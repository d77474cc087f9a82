"""What is known about a reading as plain data, for `--json` and for the server."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from maskwright.errors import TooLongError
from maskwright.grammar.schema.tree import Report
from maskwright.mask import Grammar
from maskwright.workbench.characters import CharacterRanges, in_words
from maskwright.workbench.continuations import Continuations
from maskwright.workbench.place import ShapePlace
from maskwright.workbench.pointer import entry_pointer
from maskwright.workbench.position import position_of
from maskwright.workbench.reading import TextReading, Verdict
from maskwright.workbench.reasons import Reason

Data = dict[str, Any]

VERDICTS = {Verdict.MATCH: "match", Verdict.MISMATCH: "mismatch", Verdict.INCOMPLETE: "incomplete"}


def shortest_bytes(grammar: Grammar) -> int | None:
    """The bytes of the shortest text of a grammar; None if that is too long to be written out."""
    try:
        return len(grammar.budgets.costs.shortest(grammar.recognizer.start, b""))
    except TooLongError:
        return None


def shape_data(
    grammar: Grammar, findings: list[Data], milliseconds: float, *, written_in_json: bool
) -> Data:
    """A shape that can be used: how many of its keywords are `enforced` and `annotations` (None of
    a pattern or a grammar, which has no keywords), how long it took to read and compile, and what
    was found in it, with its places."""
    report = grammar.report
    return {
        "usable": True,
        "enforced": len(report.enforced) if written_in_json else None,
        "annotations": len(report.annotations) if written_in_json else None,
        "shortest_bytes": shortest_bytes(grammar),
        "milliseconds": round(milliseconds, 3),
        "findings": findings,
    }


def reasons_data(reasons: Iterable[Reason], report: Report) -> list[Data]:
    """Reasons why a text isn't allowed, and of those that allow less than the schema says, a
    `note` of what they leave out; `report` is the grammar's."""
    notes = {entry_pointer(entry): entry.note for entry in report.narrowed}
    return [{**each._asdict(), "note": notes.get(each.pointer or "", "")} for each in reasons]


def reading_data(reading: TextReading) -> Data:
    """The verdict of a text; for one that doesn't match also where and why. Offsets are bytes,
    lines and columns are counted from 1, columns in characters."""
    found: Data = {"verdict": VERDICTS[reading.verdict], "accepted": reading.accepted}
    if reading.verdict is Verdict.MATCH:
        return found
    position = position_of(reading.text, reading.fault)
    found |= {"offset": reading.fault, "line": position.line, "column": position.column}
    return found | following_data(reading)


def following_data(reading: TextReading) -> Data:
    """What may follow the accepted prefix of a text, and where in the shape it ends."""
    return {
        "may_end": reading.may_end,
        "forced": reading.forced.decode(errors="replace"),
        **characters_data(reading.characters, reading.may_end),
        "continuations": continuations_data(reading.continuations),
        "place": place_data(reading.place),
    }


def characters_data(characters: CharacterRanges, may_end: bool) -> Data:
    """A set of characters: `ranges` has the first and the last code point of each range; they are
    all that are allowed if `exact`, and `count` is then how many characters they are."""
    return {
        "allowed": in_words(characters, may_end),
        "count": characters.count if characters.is_exact else None,
        "ranges": [list(pair) for pair in characters.ranges],
        "exact": characters.is_exact,
    }


def continuations_data(continuations: Continuations) -> Data:
    return {"forced": continuations.forced, "options": list(continuations.options)}


def place_data(place: ShapePlace) -> Data:
    return {
        "waits_for": place.waits_for,
        "instance": place.instance,
        "schemas": list(place.schemas),
        "rules": [list(stack) for stack in place.rules],
    }
