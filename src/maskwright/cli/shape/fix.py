"""What `check --fix` writes: the file of a shape with what can be mended, shown as a difference."""

from __future__ import annotations

import difflib
import json
import re
from pathlib import Path
from typing import Final, NamedTuple

from maskwright.cli.input.faults import schema_in
from maskwright.cli.input.opened import OpenedShape
from maskwright.cli.input.shapes import GrammarArgument, SchemaArgument
from maskwright.cli.input.texts import YAML
from maskwright.cli.output.files import write_file
from maskwright.errors import InputError
from maskwright.grammar.dialects.detect import detect
from maskwright.grammar.schema.document import plain
from maskwright.grammar.schema.tree import Json
from maskwright.workbench.findings.finding import Finding
from maskwright.workbench.findings.fixes import fixed_schema, without_rules

WIDEST: Final = 90
"""Columns of a line up to which an array or object is written on one."""


class FixedFile(NamedTuple):
    """What was written: the lines that differ, and what was done. `changes`: whether the shape
    accepts other texts since, as a profile asks for."""

    difference: str
    messages: list[str]
    changes: bool


def fix_file(opened: OpenedShape, findings: list[Finding]) -> FixedFile:
    """Mend the file of a shape. It is written only if something changes. Raises InputError."""
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
    after, messages, changes = before, list[str](), False
    if isinstance(shape, SchemaArgument):
        fixed, fixes = fixed_schema(shape.schema, findings)
        if fixes:
            after = _written(fixed, shape.schema, before) + "\n" * before.endswith("\n")
        messages = [f"{fix.pointer or 'the root'}: {fix.message}" for fix in fixes]
        changes = any(fix.changes_values for fix in fixes)
    elif isinstance(shape, GrammarArgument):
        dialect = detect(before) if shape.dialect == "auto" else shape.dialect
        entries = opened.grammar.report.annotations
        unused = [entry.keyword for entry in entries if not entry.rule]
        after, removed = without_rules(before, dialect, unused)
        messages = [f"the rule {name!r} was not used" for name in removed]
    if after != before:
        write_file(file, after, "fix")
    lines = difflib.unified_diff(
        before.splitlines(keepends=True),
        after.splitlines(keepends=True),
        shape.name,
        f"{shape.name}, fixed",
        n=1,
    )
    return FixedFile("".join(lines), messages, changes)


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
