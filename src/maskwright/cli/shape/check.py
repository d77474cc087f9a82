"""Check shapes: whether they can be used, and what in them is likely to be a mistake.

SHAPES are files, folders with files, '-', shapes themselves, or names of schemas and grammars that
ship with the package; a file of that name comes first. Of a folder all files *.json, *.yaml, *.yml,
*.lark, *.gbnf, *.ebnf and *.regex are checked, those in its folders included.

Each shape is checked: whether it can be used, how long its shortest text is, and what in it is
likely to be a mistake or more than was meant. `--profile` adds the rules of another service,
`--ignore` leaves rules out. `--output-format github` writes findings for GitHub's workflows, which
show them beside the lines; `sarif` for code scanning. With `--watch`, the shapes are checked again
whenever one of the files changes, until Ctrl-C.
`--fix` writes the file of the shape anew without unused definitions and rules, and with what a
profile asks for, and shows what it changed. Which texts match changes only where a profile asks for
it.

`maskwright match` says whether texts match a shape.

Exit code: 0 if the shapes can be used; 1 if one breaks a rule of the profile; 2 if one can't be
used, or an option can't.
"""

from __future__ import annotations

import difflib
import fnmatch
import json
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from maskwright.cli.input.faults import error_data, place_of, schema_in, schema_position
from maskwright.cli.input.opened import OpenedShape, open_shape, shapes_named, source_file
from maskwright.cli.input.python_type import is_type_name
from maskwright.cli.input.shapes import GrammarArgument, RegexArgument, SchemaArgument
from maskwright.cli.input.texts import YAML
from maskwright.cli.output.appearance import Colour, coloured, shown_json
from maskwright.cli.output.files import write_file
from maskwright.cli.output.progress import progress
from maskwright.cli.process.watching import again_on_change
from maskwright.cli.shape.options import CheckOptions
from maskwright.errors import InputError, amount
from maskwright.grammar.dialects.detect import detect
from maskwright.grammar.schema.document import plain
from maskwright.grammar.schema.tree import Json
from maskwright.immutable import Immutable
from maskwright.version import VERSION
from maskwright.workbench.choices import Profile
from maskwright.workbench.explanation import shape_data, shortest_bytes
from maskwright.workbench.findings.finding import RULES, Finding, Severity, reported, rule_start
from maskwright.workbench.findings.fixes import fixed_schema, without_rules
from maskwright.workbench.pointer import TextPosition
from maskwright.workbench.schema.lint import lint_schema, openai_strict

UNUSABLE: Final = "unusable"
"""The rule of shapes that can't be used."""
_GITHUB: Final[dict[Severity, str]] = {"error": "error", "warning": "warning", "note": "notice"}


class PlacedFinding(Immutable):
    """A finding with its place: the file, and line and column in it where they are known."""

    file: str | None
    severity: Severity
    rule: str
    message: str
    line: int | None
    column: int | None


def github_lines(findings: Iterable[PlacedFinding]) -> list[str]:
    """A command of GitHub's workflows for each finding, which it shows beside the line."""
    lines: list[str] = []
    for each in findings:
        properties = {"file": each.file, "line": each.line, "col": each.column, "title": each.rule}
        written = ",".join(
            f"{name}={_escaped(str(value)).replace(':', '%3A').replace(',', '%2C')}"
            for name, value in properties.items()
            if value
        )
        lines.append(f"::{_GITHUB[each.severity]} {written}::{_escaped(each.message)}")
    return lines


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def sarif(findings: Sequence[PlacedFinding]) -> str:
    """The findings as a document of SARIF 2.1.0, which code scanning reads."""
    results: list[dict[str, Any]] = []
    for each in findings:
        message = {"text": each.message}
        result: dict[str, Any] = {"ruleId": each.rule, "level": each.severity, "message": message}
        if each.file is not None:
            place: dict[str, Any] = {"artifactLocation": {"uri": quote(each.file)}}
            if each.line is not None:
                place["region"] = {"startLine": each.line, "startColumn": each.column or 1}
            result["locations"] = [{"physicalLocation": place}]
        results.append(result)
    rules = sorted({each.rule for each in findings})
    driver = {
        "name": "maskwright",
        "version": VERSION,
        "rules": [{"id": rule, "name": rule} for rule in rules],
    }
    document = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results}],
    }
    return shown_json(document)


MOST_PLACES: Final = 12
"""Places that one note names."""
COLOURS: Final[dict[Severity, Colour]] = {"error": "red", "warning": "yellow", "note": "blue"}


class CheckedShape(Immutable):
    """One shape: what it was compiled to and what was found in it, or why it can't be used."""

    name: str
    milliseconds: float
    opened: OpenedShape | None
    findings: list[Finding]
    error: InputError | None


def run(options: CheckOptions) -> int:
    ignored = _rules(options.ignore)
    if options.as_json and options.output_format not in ("text", "json"):
        raise InputError("--json and --output-format exclude each other", param="output_format")
    if options.fix and (len(options.shapes) > 1 or options.watch):
        raise InputError("--fix mends one shape, once", param="fix")
    if options.fix:
        opened = open_shape(options.shapes[0], options.kind, options.property_order)
        return _fix(opened, options.profile, ignored, options.as_json)
    if options.watch:
        again_on_change(lambda: _check_all(options, ignored), lambda: _watched(options.shapes))
    return _check_all(options, ignored)


def _watched(arguments: list[str]) -> list[Path]:
    """The files of the shapes. Raises InputError for what stands in none, or is read once only."""
    names = shapes_named(arguments)
    for name in names:
        if is_type_name(name):
            message = f"{name}: a module is imported once; --watch is for files"
            raise InputError(message, param="watch")
    return [Path(found.path) for name in names if (found := source_file(name)) is not None]


def _check_all(options: CheckOptions, ignored: frozenset[str]) -> int:
    names = shapes_named(options.shapes)
    written = "json" if options.as_json else options.output_format
    alone = names == options.shapes and len(names) == 1
    checked: list[CheckedShape] = []
    for name in names:
        one = _checked(name, options, ignored)
        if one.error is not None and alone and written in ("text", "json") and not options.watch:
            raise one.error
        if written == "text":
            print("\n".join(_text_lines(one)), flush=True)
        checked.append(one)
    placed = [each for one in checked for each in _placed_findings(one)]
    match written:
        case "text":
            if not alone:
                print(_summary(checked))
        case "json":
            rows = [_data(one) for one in checked]
            named = [{"name": one.name, **row} for one, row in zip(checked, rows, strict=True)]
            document = rows[0] if alone else {"shapes": named}
            print(shown_json(document))
        case "github":
            print("".join(f"{line}\n" for line in github_lines(placed)), end="")
        case "sarif":
            print(sarif(placed))
    if any(one.error is not None for one in checked):
        return 2
    return 1 if any(each.severity == "error" for each in placed) else 0


def _checked(name: str, options: CheckOptions, ignored: frozenset[str]) -> CheckedShape:
    start = time.perf_counter()
    try:
        opened = open_shape(name, options.kind, options.property_order)
        milliseconds = 1000 * (time.perf_counter() - start)
        with progress("looking for mistakes"):
            findings = _findings(opened, options.profile, ignored)
    except InputError as error:
        if error.param == "profile":
            raise
        return CheckedShape(name, 1000 * (time.perf_counter() - start), None, [], error)
    return CheckedShape(opened.shape.name, milliseconds, opened, findings, None)


def _placed_findings(one: CheckedShape) -> Iterator[PlacedFinding]:
    """What was found in a shape, with its places; that it can't be used is an error."""
    source = source_file(one.name)
    file = None if source is None else source.path

    def placed(severity: Severity, rule: str, message: str, place: object) -> PlacedFinding:
        line, column = getattr(place, "line", None), getattr(place, "column", None)
        if source is None or source.line is not None:  # places in the text are none in a file
            line, column = None if source is None else source.line, None
        return PlacedFinding(file, severity, rule, message, line, column)

    if one.error is not None:
        message = getattr(one.error, "reason", None) or str(one.error)
        yield placed("error", UNUSABLE, message, one.error)
    for each in one.findings:
        assert one.opened is not None
        yield placed(each.severity, each.rule, each.message, _position(one.opened, each))


def _summary(checked: list[CheckedShape]) -> str:
    """How many shapes can be used, and what was found in all of them."""
    bad = sum(one.error is not None for one in checked)
    counts = Counter(finding.severity for one in checked for finding in one.findings)
    found = ", ".join(amount(counts[name], name) for name in COLOURS if counts[name])
    usable = f"{len(checked) - bad} of {amount(len(checked), 'shape')} can be used"
    return coloured(f"{usable}; {found}" if found else usable, "red" if bad else "green")


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
    """Mend the file of a shape, which is written only if something changes, and show the lines that
    differ and what was done. Raises InputError."""
    findings = _findings(opened, profile, ignored)
    shape = opened.shape
    file = Path(shape.name)
    if not file.is_file():
        raise InputError(f"--fix writes a file, and {shape.name} is none", param="fix")
    if file.suffix in YAML:
        raise InputError(
            f"--fix writes JSON, and {shape.name} is YAML: mend it by hand", param="fix"
        )
    if isinstance(shape, SchemaArgument) and plain(schema_in(shape.text))[0] != shape.schema:
        raise InputError(
            f"--fix writes schemas, and {shape.name} holds several things: mend it by hand",
            param="fix",
        )
    before = file.read_text(encoding="utf-8")
    after, messages, changes = _mended(opened, findings, before)
    if after != before:
        write_file(file, after, "fix")
    written = (before.splitlines(keepends=True), after.splitlines(keepends=True))
    names = (shape.name, f"{shape.name}, fixed")
    difference = "".join(difflib.unified_diff(*written, *names, n=1))
    if as_json:
        found = {"difference": difference, "messages": messages, "changes": changes}
        print(shown_json(found))
        return 0
    print(difference, end="")
    for message in messages:
        print(message)
    if not messages:
        print(f"{shape.name}: there is nothing that can be fixed")
    elif changes:
        print(
            coloured(f"other values match than before: --profile {profile} asks for it", "yellow")
        )
    return 0


def _data(one: CheckedShape) -> dict[str, Any]:
    """One shape as JSON, as the server's `/v1/check` answers."""
    if one.opened is None:
        assert one.error is not None
        return {"usable": False, **error_data(one.error)}
    opened = one.opened
    found = [{**each._asdict(), **_place(opened, each)} for each in one.findings]
    return shape_data(opened.grammar, found, one.milliseconds, written_in_json=opened.is_schema)


def _text_lines(one: CheckedShape) -> list[str]:
    """One shape for people: its findings, and whether it can be used."""
    if one.opened is None:
        return [f"{coloured('error', 'red')}: {one.error}"]
    opened, report = one.opened, one.opened.grammar.report
    lines = [line for alike in _grouped(one.findings) for line in _lines(opened, *alike)]
    what = f"{amount(len(report.enforced), 'keyword')} enforced"
    if not opened.is_schema:
        what = ", ".join(entry.note for entry in report.enforced) or "a pattern"
    shortest = shortest_bytes(opened.grammar)
    if shortest is not None:
        what += f"; the shortest text has {amount(shortest, 'byte')}"
    usable = coloured("can be used", "green")
    return [*lines, f"{one.name}: {usable}: {what}; read and compiled in {one.milliseconds:.0f} ms"]


def _findings(
    opened: OpenedShape, profile: Profile | None, ignored: frozenset[str]
) -> list[Finding]:
    shape, grammar = opened
    if isinstance(shape, SchemaArgument):
        found = lint_schema(shape.schema, grammar.report)
        found += openai_strict(shape.schema) if profile else []
    elif profile:
        raise InputError(f"--profile {profile} is for JSON Schemas", param="profile")
    else:
        # Only here, because a schema needs no grammars.
        from maskwright.grammar.dialects.read import read_grammar  # noqa: PLC0415
        from maskwright.workbench.findings import grammar as lint  # noqa: PLC0415

        found = reported(grammar.report)
        if isinstance(shape, RegexArgument):
            found += lint.lint_pattern(shape.pattern)
        else:
            dialect = None if shape.dialect == "auto" else shape.dialect
            found += lint.lint_grammar(read_grammar(shape.text, dialect))
    return [each for each in found if each.rule not in ignored]


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
    return {
        "pointer": finding.pointer if opened.is_schema else None,
        "line": None if position is None else position.line,
        "column": None if position is None else position.column,
    }


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
    """A finding for people; `alike`: findings that say the same of other places."""
    severity = coloured(finding.severity, COLOURS[finding.severity])
    message = f"{severity}: {finding.message} [{finding.rule}]"
    position = _position(opened, finding)
    more: list[str] = []
    if alike:
        places = [_position(opened, each) for each in alike[:MOST_PLACES]]
        named = ", ".join("?" if at is None else f"{at.line}:{at.column}" for at in places)
        left = len(alike) - len(places)
        more = [f"  likewise at {named}{f' and {left:,} more' if left else ''}"]
    if position is None:
        return [f"{opened.shape.name}: {message}", *more]
    excerpt, caret = position.lines()
    head = f"{opened.shape.name}:{position.line}:{position.column}: {message}"
    return [head, f"  {excerpt}", f"  {coloured(caret, COLOURS[finding.severity])}", *more]


WIDEST: Final = 90
"""Columns of a line up to which an array or object is written on one."""


def _mended(
    opened: OpenedShape, findings: list[Finding], before: str
) -> tuple[str, list[str], bool]:
    """The text of a shape as it is to be, what was done, and whether it accepts other texts since,
    as a profile asks for."""
    match opened.shape:
        case SchemaArgument(schema=schema):
            fixed, fixes = fixed_schema(schema, findings)
            after = _written(fixed, schema, before) + "\n" * before.endswith("\n")
            messages = [f"{fix.pointer or 'the root'}: {fix.message}" for fix in fixes]
            changes = any(fix.changes_values for fix in fixes)
            return (after if fixes else before), messages, changes
        case GrammarArgument(dialect=given):
            dialect = detect(before) if given == "auto" else given
            entries = opened.grammar.report.annotations
            unused = [entry.keyword for entry in entries if not entry.rule]
            after, removed = without_rules(before, dialect, unused)
            return after, [f"the rule {name!r} was not used" for name in removed], False
        case RegexArgument():
            return before, [], False


def _written(fixed: Json, schema: Json, before: str) -> str:
    """The JSON of a schema, laid out as the text before it: with a line for each value, on one
    line, or with what fits into a line on one line."""
    found = re.search(r"\n( +|\t)\S", before)
    indent = found[1] if found else None
    if json.dumps(schema, ensure_ascii=False, indent=indent) == before.strip():
        return json.dumps(fixed, ensure_ascii=False, indent=indent)
    return json.dumps(fixed, ensure_ascii=False) if indent is None else _fitted(fixed, indent, "")


def _fitted(value: Json, indent: str, margin: str) -> str:
    """JSON in which an array or object stands on one line where it fits."""
    line = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, dict | list) or (margin and len(margin) + len(line) <= WIDEST):
        return line
    inner = margin + indent
    brackets = "{}" if isinstance(value, dict) else "[]"
    parts = (
        [
            f"{json.dumps(n, ensure_ascii=False)}: {_fitted(v, indent, inner)}"
            for n, v in value.items()
        ]
        if isinstance(value, dict)
        else [_fitted(each, indent, inner) for each in value]
    )
    joined = f",\n{inner}".join(parts)
    return f"{brackets[0]}\n{inner}{joined}\n{margin}{brackets[1]}"
