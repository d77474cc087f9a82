"""How a text reads under a shape, in lines for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from maskwright.cli.output.appearance import coloured
from maskwright.cli.output.excerpts import excerpt_width
from maskwright.grammar.regular.charset import ranges_of
from maskwright.workbench.continuations import CharacterRanges, in_words
from maskwright.workbench.pointer import position_of
from maskwright.workbench.reading import TextReading, Verdict

LONGEST = 60
"""Characters of an accepted text and of a continuation that are shown."""


def exit_code(verdicts: Iterable[Verdict]) -> int:
    """The exit code of several texts: a mismatch outweighs an incomplete text."""
    given = set(verdicts)
    order = (Verdict.MISMATCH, Verdict.INCOMPLETE)
    return next((worst for worst in order if worst in given), Verdict.MATCH).value


def verdict_lines(name: str, reading: TextReading) -> list[str]:
    """The verdict of one text and, for a fault, the place and what could stand there."""
    if reading.verdict is Verdict.MATCH:
        return [f"{name}: {coloured('matches', 'green')}"]
    expected = in_words(reading.characters, reading.may_end)
    if len(reading.forced) > 1:
        expected = reading.forced.decode("utf-8", "replace")
    return [*fault_lines(name, reading), f"  expected {expected}"]


def fault_lines(name: str, reading: TextReading) -> list[str]:
    """Where a text stops matching, with a caret under the place."""
    position = position_of(reading.text, reading.fault, excerpt_width())
    is_short = reading.verdict is Verdict.INCOMPLETE
    fault = "the text ends too early" if is_short else "this doesn't match"
    excerpt, caret = position.lines()
    message = coloured(fault, "yellow" if is_short else "red")
    head = f"{name}:{position.line}:{position.column}: {message}"
    return [head, f"  {excerpt}", f"  {coloured(caret, 'red')}"]


def following_lines(reading: TextReading, why: Mapping[str, Any] | None = None) -> list[str]:
    """What may follow, and where the accepted prefix ends in the text and in the shape; and why
    nothing else may, if that was asked."""
    rows = [*_following_rows(reading), *_why_rows(why or {})]
    width = max(len(name) for name, _ in rows)
    return [f"  {coloured(f'{name:{width}}', 'dim')}  {text}" for name, text in rows]


def _following_rows(reading: TextReading) -> Iterator[tuple[str, str]]:
    accepted = reading.text[: reading.accepted].decode(errors="replace")
    shown = accepted if len(accepted) <= LONGEST else f"…{accepted[-LONGEST:]}"
    size = f"{reading.accepted:,} byte{'s' * (reading.accepted != 1)}"
    yield "accepted", f"{size}: {shown!r}" if accepted else "nothing"
    yield "may end", "yes" if reading.may_end else "no"
    yield "allowed", in_words(reading.characters, reading.may_end)
    forced, options = reading.continuations.forced, reading.continuations.options
    if forced:
        yield "forced", _cut(forced)
    texts = [_cut(option) for option in options if len(option) > 1]
    if texts:
        single = [ord(option) for option in options if len(option) == 1]
        if single:
            texts.insert(0, in_words(CharacterRanges(ranges_of(single)), False))
        yield "then" if forced else "as texts", "   ".join(texts)
    place = reading.place
    if place.waits_for is not None:
        yield "waits for", place.waits_for
    if place.instance is not None:
        yield "value", place.instance or "the whole text"
    if place.schemas:
        yield "schema", ", ".join(f"#{pointer}" for pointer in place.schemas)
    for number, stack in enumerate(place.rules):
        yield "rules" if number == 0 else "or", " > ".join(stack)


def _why_rows(why: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Because of what a text isn't allowed, and the allowed text that is most like it."""
    for number, reason in enumerate(why.get("reasons", ())):
        name = reason["name"] if reason["pointer"] is None else f"#{reason['pointer']}"
        yield "because of" if number == 0 else "and", f"{name}: {_cut(reason['value'])}"
        if reason["note"]:
            yield "note", reason["note"]
    for each in why.get("nearest", ()):
        if each["by"].strip() and each["edits"] is not None:
            yield "nearest", f"{_cut(each['by'])!r} in place of {each['replaces']!r}"
            break


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
