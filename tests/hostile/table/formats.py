"""Formats, alone and in conjunction with each other, with patterns, lengths and negation."""

from __future__ import annotations

from tests.hostile.shape import ALWAYS, BOUNDED, HostileShape, Subject, array, closed

FORMAT = Subject("formats")
NAMES = (
    "date", "time", "date-time", "duration", "email", "idn-email", "hostname", "idn-hostname",
    "ipv4", "ipv6", "uri", "uri-reference", "iri", "iri-reference", "uri-template", "uuid",
    "json-pointer", "relative-json-pointer", "regex",
)  # fmt: skip
HEAVY = frozenset({"idn-hostname", "regex"})
"""Formats whose masks may take too much work; see the known gaps in docs/json-schema.md."""
UNSATISFIABLE = frozenset({"unsatisfiable_json_schema"})


def text(format: str, **more: object) -> dict[str, object]:
    return {"type": "string", "format": format, **more}


SHAPES: list[HostileShape] = [
    *(
        FORMAT.schema(
            f"an object with a string of {name}",
            closed({"value": text(name)}),
            outcomes=BOUNDED if name in HEAVY else ALWAYS,
        )
        for name in NAMES
    ),
    FORMAT.schema("a long idn-hostname", text("idn-hostname", minLength=60)),
    FORMAT.schema("an idn-hostname outside ASCII",
        text("idn-hostname", pattern=r"[^\x00-\x7f]{8}")),
    FORMAT.schema("an idn-hostname that is no hostname",
        {"allOf": [text("idn-hostname"), {"not": text("hostname")}]}),
    FORMAT.schema("an iri that is no uri", {"allOf": [text("iri"), {"not": text("uri")}]}),
    FORMAT.schema("a uri that is a uri-template", {"allOf": [text("uri"), text("uri-template")]}),
    FORMAT.schema("every format in one union", {"anyOf": [text(name) for name in NAMES]}),
    FORMAT.schema("exactly one of all formats", {"oneOf": [text(name) for name in NAMES]}),
    FORMAT.schema("a regex of 40 characters", text("regex", minLength=40, maxLength=60)),
    FORMAT.schema("an email of 64 letters", text("email", pattern="^[a-z]{64}@", maxLength=200)),
    FORMAT.schema("unique e-mail addresses",
        array(text("idn-email"), uniqueItems=True, minItems=5)),
    FORMAT.schema("a map from host names to addresses", {
        "type": "object", "propertyNames": text("hostname"), "minProperties": 3,
        "additionalProperties": {"oneOf": [text("ipv4"), text("ipv6")]}}),
    FORMAT.schema("a date that is a time", {"allOf": [text("date"), text("time")]},
        outcomes=BOUNDED | UNSATISFIABLE),
    FORMAT.schema("an idn-hostname within a token limit of 40",
        closed({"host": text("idn-hostname")}), max_tokens=40),
]  # fmt: skip
