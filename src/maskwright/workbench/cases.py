"""Texts that a shape must accept, reject, or accept as a beginning, and what became of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final, Literal, NamedTuple
from xml.etree import ElementTree

from maskwright.errors import InputError
from maskwright.immutable import Immutable
from maskwright.workbench.pointer import position_of
from maskwright.workbench.reading import TextReading, Verdict

Expectation = Literal["accept", "reject", "prefix"]
EXPECTATIONS: Final[tuple[Expectation, ...]] = ("accept", "reject", "prefix")
_SHAPE_FIELDS: Final = frozenset({"shape", "kind", "property_order", "name"})


class ShapeCase(NamedTuple):
    """One text, and what is expected of it. A `prefix` must be the beginning of a text; it may be a
    whole one."""

    name: str
    expected: Expectation
    text: str


class CaseGroup(Immutable):
    """The cases of one shape; the other fields are the arguments of the command line."""

    name: str
    shape: str
    kind: str
    property_order: str
    cases: tuple[ShapeCase, ...]


class CaseResult(NamedTuple):
    """What became of a case: an empty `fault` if it is as expected."""

    group: str
    case: ShapeCase
    fault: str


def read_groups(document: object, name: str) -> list[CaseGroup]:
    """The groups of a document: an object with `shape` and cases, or a list of them.

    Raises `InputError` that names the place of what can't be read.
    """
    if document is None:
        raise InputError(f"{name}: it is empty; an object with 'shape' and cases is needed")
    groups = document if isinstance(document, list) else [document]
    return [_group(group, f"{name}[{at}]", at) for at, group in enumerate(groups)]


def _group(group: object, place: str, at: int) -> CaseGroup:
    if not isinstance(group, Mapping):
        raise InputError(f"{place}: an object with 'shape' and cases is needed")
    unknown = sorted(set(map(str, group)) - _SHAPE_FIELDS - set(EXPECTATIONS))
    if unknown:
        known = ", ".join((*sorted(_SHAPE_FIELDS), *EXPECTATIONS))
        raise InputError(f"{place}: {unknown[0]!r} is unknown; known are {known}")
    shape = group.get("shape")
    if not isinstance(shape, str | dict | bool):
        raise InputError(f"{place}: 'shape' is a file, a name, the text of a shape, or a schema")
    cases = tuple(
        case
        for expected in EXPECTATIONS
        for case in _cases(group.get(expected), expected, f"{place}.{expected}")
    )
    if not cases:
        raise InputError(f"{place}: there are no cases; give accept, reject or prefix")
    written = shape if isinstance(shape, str) else json.dumps(shape)
    return CaseGroup(
        name=str(group.get("name", shape if isinstance(shape, str) else f"shape {at + 1}")),
        shape=written,
        kind=str(group.get("kind", "auto")),
        property_order=str(group.get("property_order", "any")),
        cases=cases,
    )


def _cases(given: Any, expected: Expectation, place: str) -> list[ShapeCase]:
    """The cases of a list of texts, or of a mapping of names to texts. What is no text stands for
    its JSON."""
    if given is None:
        return []
    if not isinstance(given, list | Mapping):
        raise InputError(f"{place}: a list of texts, or an object of texts by name, is needed")
    if isinstance(given, Mapping):
        return [ShapeCase(str(name), expected, _text(value)) for name, value in given.items()]
    return [ShapeCase(_short(_text(value)), expected, _text(value)) for value in given]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _short(text: str) -> str:
    return repr(text if len(text) <= 50 else f"{text[:49]}…")


def run_group(group: CaseGroup, read: Callable[[bytes], TextReading]) -> list[CaseResult]:
    """The results of a group's cases; `read` reads a text with the group's shape."""
    return [CaseResult(group.name, case, _fault(case, read)) for case in group.cases]


def _fault(case: ShapeCase, read: Callable[[bytes], TextReading]) -> str:
    reading = read(case.text.encode())
    verdict = reading.verdict
    if case.expected == "reject":
        return "it matches" if verdict is Verdict.MATCH else ""
    if verdict is Verdict.MATCH or (case.expected == "prefix" and verdict is Verdict.INCOMPLETE):
        return ""
    position = position_of(reading.text, reading.fault)
    what = "it ends too early" if verdict is Verdict.INCOMPLETE else "it doesn't match"
    return f"{what} at line {position.line}, column {position.column}"


def junit(results: list[CaseResult], name: str) -> str:
    """The results as a report in JUnit's XML, which CI systems show."""
    failed = sum(bool(result.fault) for result in results)
    suite = ElementTree.Element(
        "testsuite", name=name, tests=str(len(results)), failures=str(failed), errors="0"
    )
    for group, case, fault in results:
        title = f"{case.expected} {case.name}"
        row = ElementTree.SubElement(suite, "testcase", classname=group, name=_in_xml(title))
        if fault:
            failure = ElementTree.SubElement(row, "failure", message=fault)
            failure.text = _in_xml(case.text)
    ElementTree.indent(suite)
    return ElementTree.tostring(suite, "unicode", xml_declaration=True) + "\n"


def _in_xml(text: str) -> str:
    """The text without characters that XML doesn't have."""
    return "".join(c if c in "\t\n\r" or " " <= c < "\ufffe" or c > "\uffff" else "�" for c in text)
