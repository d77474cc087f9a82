"""What can be mended in a schema or a grammar without being asked back."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

from maskwright.errors import InputError
from maskwright.grammar.dialects.detect import Dialect
from maskwright.grammar.dialects.read import read_document, read_grammar
from maskwright.grammar.schema.tree import Json
from maskwright.immutable import Immutable
from maskwright.workbench.findings.finding import Finding
from maskwright.workbench.pointer import reference_tokens, value_at


class SchemaFix(Immutable):
    """One change: what was done at `pointer`, and whether other values match since."""

    pointer: str
    message: str
    changes_values: bool


def fixed_schema(schema: Json, findings: list[Finding]) -> tuple[Json, list[SchemaFix]]:
    """A copy of a schema in which what has been found is mended as far as that is possible, and
    what was changed. Only rules of a profile change which values match."""
    fixed = copy.deepcopy(schema)
    fixes: list[SchemaFix] = []
    # The inner ones first: a value that may be null as well stands a level deeper afterwards.
    for finding in sorted(findings, key=lambda each: -each.pointer.count("/")):
        if finding.rule == "openai-strict-additional":
            value_at(fixed, finding.pointer)["additionalProperties"] = False
            fixes.append(SchemaFix(finding.pointer, "no other properties are allowed", True))
        elif finding.rule == "openai-strict-required":
            fixes.append(_require(fixed, finding.pointer))
        elif finding.rule == "unused-definition":
            fixes.append(_remove_definition(fixed, finding.pointer))
    return fixed, fixes


def _remove_definition(fixed: Json, pointer: str) -> SchemaFix:
    definitions, name = _holder(fixed, pointer)
    del definitions[name]
    if not definitions:
        outer, keyword = _holder(fixed, pointer.rpartition("/")[0])
        del outer[keyword]
    return SchemaFix(pointer, "nothing referred to this definition", False)


def _require(fixed: Json, pointer: str) -> SchemaFix:
    """Have a property required, with null where it was left out before."""
    properties, name = _holder(fixed, pointer)
    parent = _holder(fixed, pointer.rpartition("/")[0])[0]
    properties[name] = _or_null(properties[name])
    named = [*parent.get("required", []), name]
    order = {each: at for at, each in enumerate(properties)}
    parent["required"] = sorted(named, key=lambda each: order.get(each, len(order)))
    message = f"{name!r} is required, and null where it was left out before"
    return SchemaFix(pointer, message, True)


def _or_null(schema: Any) -> Any:
    """The schema of a value that may be null as well."""
    if isinstance(schema, dict) and not {"enum", "const", "$ref"} & schema.keys():
        kind = schema.get("type")
        if isinstance(kind, str) and kind != "null" and not {"anyOf", "oneOf"} & schema.keys():
            return {**schema, "type": [kind, "null"]}
        if isinstance(kind, list) and "null" in kind:
            return schema
    return {"anyOf": [schema, {"type": "null"}]}


def _holder(schema: Any, pointer: str) -> tuple[Any, str]:
    """The object that holds what a pointer names, and its name there."""
    parent = pointer.rpartition("/")[0]
    return value_at(schema, parent), reference_tokens(pointer)[-1]


def without_rules(text: str, dialect: Dialect, names: Iterable[str]) -> tuple[str, list[str]]:
    """The grammar without the definitions of these names, and the names that are gone.

    A definition ends before the next line that begins a statement or comment. One whose removal
    would change the rest stays.
    """
    removed: list[str] = []
    left = [*names]
    for name in left:
        shorter = _without(text, dialect, name)
        if shorter is not None:
            text = shorter
            removed.append(name)
            # What this one alone referred to can go now as well.
            left += [each for each in left[: left.index(name)] if each not in removed]
    return text, removed


def _without(text: str, dialect: Dialect, name: str) -> str | None:
    document, _ = read_document(text, dialect)
    definition = document.definitions.get(name)
    if definition is None:
        return None
    start = text.rfind("\n", 0, definition.at) + 1
    lines = text[start:].splitlines(keepends=True)
    count = 1
    while count < len(lines) and _continues(lines[count]):
        count += 1
    shorter = text[:start] + "".join(lines[count:])
    return shorter if _is_equal(text, shorter, dialect) else None


def _continues(line: str) -> bool:
    """Whether a line continues the definition above it."""
    return (line[:1] in " \t" and bool(line.strip())) or line.startswith("|")


def _is_equal(text: str, shorter: str, dialect: Dialect) -> bool:
    """Whether a grammar still has the rules that it had. What can't be read any more hasn't."""
    try:
        return read_grammar(text, dialect).rules == read_grammar(shorter, dialect).rules
    except InputError:
        return False
