"""Every change of one keyword of a schema."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any, Final

from maskwright.workbench.schema.lint import subschemas

DROPPED: Final = object()
TYPES: Final = ("null", "boolean", "integer", "number", "string", "array", "object")
FORMATS: Final = ("date", "time", "date-time", "email", "uuid", "uri", "ipv4")
NOT_CHANGED: Final = ("$schema", "$defs")


def changes(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """What was changed, and the schema with this change alone."""
    for pointer, part in subschemas(schema):
        for keyword, setting in part.items():
            if keyword in NOT_CHANGED:
                continue
            for what, value in (("dropped", DROPPED), *_other_settings(keyword, setting)):
                changed = copy.deepcopy(schema)
                at = dict(subschemas(changed))[pointer]
                if value is DROPPED:
                    del at[keyword]
                else:
                    at[keyword] = value
                yield f"{pointer}/{keyword} {what}", changed


def _other_settings(keyword: str, setting: Any) -> Iterator[tuple[str, Any]]:
    if keyword in ("enum", "required") and len(setting) > 1:
        for at, each in enumerate(setting):
            yield f"without {each}", setting[:at] + setting[at + 1 :]
    elif keyword == "properties":
        for name in setting:
            yield f"without {name}", {key: setting[key] for key in setting if key != name}
    elif keyword == "type":
        types = [setting] if isinstance(setting, str) else setting
        for name in TYPES:
            if name not in types:
                yield f"is {name}", name
                yield f"or {name}", [*types, name]
    elif keyword == "format":
        yield from ((f"is {name}", name) for name in FORMATS if name != setting)
    elif keyword in ("pattern", "title", "description"):
        yield "extended", setting.removesuffix("$") + "x" + "$" * setting.endswith("$")
    elif isinstance(setting, bool):
        yield "negated", not setting
    elif isinstance(setting, int | float):
        yield "plus 1", setting + 1
        if setting > 0 or keyword == "minimum":
            yield "minus 1", setting - 1
