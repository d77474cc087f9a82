"""What `maskwright check` does, once its arguments are read."""

from __future__ import annotations

import fnmatch
import json
import sys
import time
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any, Final

from maskwright.cli.input.faults import place_of, schema_position
from maskwright.cli.input.opened import OpenedShape, given_texts, open_shape
from maskwright.cli.input.shapes import GrammarArgument, RegexArgument, SchemaArgument
from maskwright.cli.output.style import Colour, coloured
from maskwright.cli.output.verdicts import exit_code, verdict_lines
from maskwright.cli.shape.check import CheckOptions
from maskwright.errors import InputError, amount
from maskwright.workbench.choices import Profile
from maskwright.workbench.findings.finding import RULES, Finding, Severity, reported
from maskwright.workbench.findings.places import rule_start
from maskwright.workbench.position import TextPosition
from maskwright.workbench.report import reading_data, shortest_bytes
from maskwright.workbench.schema.lint import lint_schema
from maskwright.workbench.schema.profiles import openai_strict

MOST_PLACES: Final = 12
"""Places that one note names."""
COLOURS: Final[dict[Severity, Colour]] = {"error": "red", "warning": "yellow", "note": "blue"}


def run(options: CheckOptions) -> int:
    ignored = _rules(options.ignore)
    if options.fix and options.files:
        raise InputError("--fix mends a shape; give no texts with it", param="fix")
    texts = given_texts(options.shape, options.files, [])
    start = time.perf_counter()
    opened = open_shape(options.shape, options.kind, options.property_order)
    milliseconds = 1000 * (time.perf_counter() - start)
    if options.fix:
        return _fix(opened, options.profile, ignored, options.as_json)
    if not options.files:
        return _check_shape(opened, options.profile, ignored, milliseconds, options.as_json)
    if not options.as_json:
        for told in reported(opened.grammar.report):
            if told.rule not in ignored:
                print(f"warning: {told.pointer or '/'}: {told.message}", file=sys.stderr)
    readings = {name: opened.read(text) for name, text in texts.items()}
    if options.as_json:
        rows = [{"name": name, **reading_data(reading)} for name, reading in readings.items()]
        print(json.dumps({"texts": rows}, ensure_ascii=False, indent=2))
    else:
        for name, reading in readings.items():
            print("\n".join(verdict_lines(name, reading)))
    return exit_code(reading.verdict for reading in readings.values())


def _rules(patterns: list[str]) -> frozenset[str]:
    """The rules that are meant. Raises InputError for a name that no rule has."""
    found: set[str] = set()
    for pattern in patterns:
        named = fnmatch.filter(RULES, pattern)
        if not named:
            near = get_close_matches(pattern, RULES, n=1)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(RULES)}"
            raise InputError(f"--ignore {pattern}: no rule has this name; {hint}", param="ignore")
        found.update(named)
    return frozenset(found)


def _fix(
    opened: OpenedShape, profile: Profile | None, ignored: frozenset[str], as_json: bool
) -> int:
    from maskwright.cli.shape.fix import fix_file  # noqa: PLC0415 - few checks write anything

    fixed = fix_file(opened, _findings(opened, profile, ignored))
    if as_json:
        print(json.dumps(fixed._asdict(), ensure_ascii=False, indent=2))
        return 0
    print(fixed.difference, end="")
    for message in fixed.messages:
        print(message)
    if not fixed.messages:
        print(f"{opened.shape.name}: there is nothing that can be fixed")
    elif fixed.changes:
        print(
            coloured(f"other values match than before: --profile {profile} asks for it", "yellow")
        )
    return 0


def _check_shape(
    opened: OpenedShape,
    profile: Profile | None,
    ignored: frozenset[str],
    milliseconds: float,
    as_json: bool,
) -> int:
    findings = _findings(opened, profile, ignored)
    report, shortest = opened.grammar.report, shortest_bytes(opened.grammar)
    if as_json:
        rows = [{**finding._asdict(), **_place(opened, finding)} for finding in findings]
        told = {
            "usable": True,
            "enforced": len(report.enforced),
            "annotations": len(report.annotations),
            "shortest_bytes": shortest,
            "milliseconds": round(milliseconds, 3),
            "findings": rows,
        }
        print(json.dumps(told, ensure_ascii=False, indent=2))
    else:
        for alike in _grouped(findings):
            print("\n".join(_lines(opened, *alike)))
        what = f"{amount(len(report.enforced), 'keyword')} enforced"
        if not opened.is_schema:
            what = ", ".join(entry.note for entry in report.enforced) or "a pattern"
        if shortest is not None:
            what += f"; the shortest text has {amount(shortest, 'byte')}"
        usable = coloured("can be used", "green")
        print(f"{opened.shape.name}: {usable}: {what}; read and compiled in {milliseconds:.0f} ms")
    return 1 if any(finding.severity == "error" for finding in findings) else 0


def _findings(
    opened: OpenedShape, profile: Profile | None, ignored: frozenset[str]
) -> list[Finding]:
    return [each for each in _all_findings(opened, profile) if each.rule not in ignored]


def _all_findings(opened: OpenedShape, profile: Profile | None) -> list[Finding]:
    shape, grammar = opened
    if isinstance(shape, SchemaArgument):
        found = lint_schema(shape.schema, grammar.report)
        return [*found, *(openai_strict(shape.schema) if profile else [])]
    if profile:
        raise InputError(f"--profile {profile} is for JSON Schemas", param="profile")
    # Only here, because a schema needs no grammars.
    from maskwright.grammar.dialects.read import read_grammar  # noqa: PLC0415
    from maskwright.workbench.findings.grammar import lint_grammar, lint_pattern  # noqa: PLC0415

    told = reported(grammar.report)
    if isinstance(shape, RegexArgument):
        return [*told, *lint_pattern(shape.pattern)]
    dialect = None if shape.dialect == "auto" else shape.dialect
    return [*told, *lint_grammar(read_grammar(shape.text, dialect))]


def _position(opened: OpenedShape, finding: Finding) -> TextPosition | None:
    """Where a finding is in the text of the shape; None where the text doesn't show it."""
    match opened.shape:
        case SchemaArgument(text=text):
            return schema_position(text, finding.pointer)
        case GrammarArgument(text=text):
            start = rule_start(text, finding.pointer)
            return None if start is None else place_of(text, start)
        case RegexArgument(pattern=pattern):
            return place_of(pattern, 0)


def _place(opened: OpenedShape, finding: Finding) -> dict[str, Any]:
    position = _position(opened, finding)
    found = {"pointer": finding.pointer if opened.is_schema else None}
    if position is None:
        return {**found, "line": None, "column": None}
    return {**found, "line": position.line, "column": position.column}


def _grouped(findings: list[Finding]) -> list[list[Finding]]:
    """The findings in their order, notes that say the same of other places with the first: a schema
    of a Python class has a dozen of them."""
    groups: list[list[Finding]] = []
    by_message: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        group = by_message.get((finding.rule, finding.message))
        if group is None or finding.severity != "note":
            group = by_message[finding.rule, finding.message] = []
            groups.append(group)
        group.append(finding)
    return groups


def _lines(opened: OpenedShape, finding: Finding, *alike: Finding) -> list[str]:
    """A finding for people; `alike`: those that say the same of other places."""
    severity = coloured(finding.severity, COLOURS[finding.severity])
    told = f"{severity}: {finding.message} [{finding.rule}]"
    position = _position(opened, finding)
    more = _also(opened, alike)
    if position is None:
        return [f"{opened.shape.name}: {told}", *more]
    excerpt, caret = position.lines()
    head = f"{opened.shape.name}:{position.line}:{position.column}: {told}"
    return [head, f"  {excerpt}", f"  {coloured(caret, COLOURS[finding.severity])}", *more]


def _also(opened: OpenedShape, alike: Sequence[Finding]) -> list[str]:
    """A line that names the places of which a note says the same, the first of them one by one."""
    if not alike:
        return []
    places = [_position(opened, each) for each in alike[:MOST_PLACES]]
    named = ", ".join("?" if at is None else f"{at.line}:{at.column}" for at in places)
    left = len(alike) - len(places)
    return [f"  likewise at {named}{f' and {left:,} more' if left else ''}"]
