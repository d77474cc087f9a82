"""What in a schema demands less than its author is likely to think, and the way out.

JSON Schema has unknown keywords and unknown formats ignored, so a schema that stands in a wrapper,
or whose properties stand beside `type`, is valid and allows anything. Each remark is the note of a
report's entry with the name of a rule, under which `maskwright check` and the server's header of
warnings tell it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from functools import lru_cache
from typing import Any, Final

from maskwright.grammar.formats import format_names
from maskwright.grammar.schema.drafts import ANNOTATIONS, HOLDING, KEYWORDS, NAMING, Draft
from maskwright.grammar.schema.tree import TYPES, Json, ReportEntry
from maskwright.immutable import Acyclic


class Remark(Acyclic):
    """A note, and the rule by which it is known; an empty rule where nothing is likely to be a
    mistake."""

    note: str
    rule: str = ""


_SIMILAR: Final = 0.85
"""The ratio of `difflib` from which on a name is taken for a misspelt keyword."""
_SIMILAR_FORMAT: Final = 0.75
_OF_DRAFT_3: Final = {"divisibleBy": "multipleOf", "disallow": "not", "extends": "allOf"}
"""Keywords of draft 3 alone, and those that replaced them."""
_EXAMPLES: Final = frozenset(("example", "discriminator", "xml", "externalDocs"))
"""Keywords of OpenAPI whose settings may look like schemas."""
_WRAPPERS: Final = (
    *("schema", "json_schema", "parameters", "input_schema", "inputSchema", "jsonSchema"),
    *("function", "response_format", "format", "text"),
)
"""Names under which APIs take a schema, the outer ones last."""
DESCRIPTIONS: Final = ("openapi", "swagger", "asyncapi")
"""Names with which descriptions of an API begin."""
_NAMING: Final = frozenset((*NAMING, "id", "$comment"))
_POSIX_CLASSES: Final = {
    "alpha": r"[A-Za-z], or \p{L} for letters of every script",
    "alnum": r"[A-Za-z0-9], or [\p{L}\p{N}] for every script",
    "digit": r"[0-9] or \d",
    "xdigit": "[0-9A-Fa-f]",
    "lower": r"[a-z] or \p{Ll}",
    "upper": r"[A-Z] or \p{Lu}",
    "space": r"\s",
    "blank": r"[ \t]",
    "punct": r"[!-/:-@\[-`{-~] or \p{P}",
    "cntrl": r"[\x00-\x1f\x7f]",
    "graph": "[!-~]",
    "print": "[ -~]",
    "word": r"\w",
}
"""What to write for each class of characters that POSIX names."""
_POSIX_CLASS: Final = re.compile(rf"\[\^?:({'|'.join(_POSIX_CLASSES)}):\]")
_RULE_NAME: Final = re.compile(r"^[ \t]*[?!]?<?([\w.-]+)[^\n:=]*(?:::?=|:)", re.MULTILINE)
_NUMERIC: Final = re.compile(r"u?int\d*|float\d*|double|decimal\d*|password|binary")
"""Formats of OpenAPI that are about numbers, or say nothing of what strings are allowed."""
_FORMATS_BY_HABIT: Final = {
    **dict.fromkeys(("url", "href", "link", "website"), "uri"),
    **dict.fromkeys(("guid", *(f"uuid{version}" for version in range(1, 9))), "uuid"),
    **dict.fromkeys(("timestamp", "iso8601", "iso8601datetime", "rfc3339"), "date-time"),
    **dict.fromkeys(("ip", "ipaddress"), "ipv4"),
    **dict.fromkeys(("domain", "domainname", "fqdn"), "hostname"),
    **dict.fromkeys(("mail", "emailaddress"), "email"),
    **dict.fromkeys(("regexp", "pattern"), "regex"),
}
"""Formats by names that other systems give them."""


def suspected(name: str, setting: Json, schema: Mapping[str, Json]) -> str:
    """The rule that a name in `schema` may break by its setting, if it is no keyword there and no
    annotation; empty where the name alone decides."""
    if name == "nullable" and setting is True:
        kinds = schema.get("type")
        if kinds != "null" and not (isinstance(kinds, list) and "null" in kinds):
            return "nullable"
    return "misplaced-schema" if looks_like_schema(setting) else ""


def on_name(name: str, draft: Draft, suspicion: str) -> Remark:
    """Remark on a name that is no keyword where it stands and no annotation; see `suspected`."""
    if suspicion == "nullable":
        way_out = "to allow null, put \"null\" into 'type' or 'anyOf'"
        return Remark(f"{_ignored(draft)}; {way_out}", "nullable")
    remark, may_be_property = _on_any(name, draft)
    if may_be_property and suspicion:
        way_out = "if it is a property, put it into 'properties'"
        return Remark(f"{remark.note}; {way_out}", "misplaced-schema")
    return remark


def on_name_in_vain(name: str, draft: Draft, suspicion: str) -> Remark:
    """Do as `on_name` in a schema that demands nothing, which has been said of it as a whole."""
    remark = on_name(name, draft, suspicion)
    return Remark(remark.note) if remark.rule == "misplaced-schema" else remark


@lru_cache(maxsize=4096)
def _on_any(name: str, draft: Draft) -> tuple[Remark, bool]:
    """Remark on a name whose setting is no schema; and whether it may be a property, if it is."""
    if name in KEYWORDS[draft]:
        return Remark("not among the vocabularies of the meta-schema"), False
    note = _ignored(draft)
    having = [each for each in Draft if name in KEYWORDS[each]]
    if having and list(Draft).index(having[-1]) > list(Draft).index(draft):
        way_out = f"to have it obeyed, name a draft from {having[0].title} on in '$schema'"
        return Remark(f"{note}; {way_out}", "keyword-of-later-draft"), False
    if having:
        return Remark(note), False
    similar = [_OF_DRAFT_3[name]] if name in _OF_DRAFT_3 else []
    similar += get_close_matches(name, KEYWORDS[draft], n=1, cutoff=_SIMILAR)
    if similar:
        return Remark(f"{note}; did you mean {similar[0]!r}?", "unknown-keyword"), False
    return Remark(note), name not in _EXAMPLES and not name.startswith("x-")


def _ignored(draft: Draft) -> str:
    return f"not a keyword of {draft.title}, which has it ignored"


def on_format(name: str) -> Remark:
    """Remark on a format that no draft defines."""
    note = f"the format {name!r} is unknown"
    if _NUMERIC.fullmatch(name.lower()):
        return Remark(note)
    similar = _similar_format(name)
    way_out = f"did you mean {similar!r}?" if similar else "a 'pattern' says what is allowed"
    return Remark(f"{note} and demands nothing; {way_out}", "unknown-format")


def on_schema(schema: Mapping[str, Json], draft: Draft, *, is_root: bool) -> Remark | None:
    """Remark on a schema object without any keyword that demands something."""
    names = [name for name in schema if name not in ANNOTATIONS]
    said = _description(schema) if is_root else None
    said = said or _wrapped(schema, names) or _bare_properties(schema, names)
    if said is None and is_root:
        said = _definitions(schema)
        suspicions = ((name, suspected(name, schema[name], schema)) for name in names)
        is_clear = any(on_name(name, draft, suspicion).rule for name, suspicion in suspicions)
        if said is None and not is_clear and not schema.keys() <= _NAMING:
            said = "say its 'type', or what else it has to meet"
    nothing = "this schema demands nothing, any JSON value matches it"
    return None if said is None else Remark(f"{nothing}; {said}", "demands-nothing")


def on_pattern(pattern: str) -> Remark | None:
    """Remark on a class of characters as POSIX names it, which patterns here don't have: a bracket
    in brackets is a character."""
    found = _POSIX_CLASS.search(pattern)
    if found is None:
        return None
    note = (
        f"'[:{found[1]}:]' is no class of characters here, each of its characters stands for"
        f" itself; write {_POSIX_CLASSES[found[1]]}"
    )
    return Remark(note, "posix-class")


def pattern_remarks(pattern: str, pointer: str) -> tuple[ReportEntry, ...]:
    """The entries of a report on a pattern that stands at a pointer."""
    remark = on_pattern(pattern)
    return () if remark is None else (ReportEntry(pointer, "", remark.note, remark.rule),)


def grammar_remarks(text: str, pointer: str | None = None) -> tuple[ReportEntry, ...]:
    """The entries of a report on the patterns in a grammar: at the name of their rule, or at the
    pointer at which the grammar stands in something else."""
    found, remark = _POSIX_CLASS.search(text), on_pattern(text)
    if found is None or remark is None:
        return ()
    names: list[str] = ["", *_RULE_NAME.findall(text, 0, found.start())]
    place = names[-1] if pointer is None else pointer
    return (ReportEntry(place, "", remark.note, remark.rule),)


def looks_like_schema(value: Any) -> bool:
    """Whether a value has the looks of a schema that demands something."""
    if not isinstance(value, dict):
        return False
    kind: Any = value.get("type")  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
    kinds: Any = kind if isinstance(kind, list) else [kind]
    if all(isinstance(each, str) and each in TYPES for each in kinds):
        return True
    return any(
        isinstance(value.get(name), wanted)  # pyright: ignore[reportUnknownMemberType]
        for name, wanted in (
            *(("$ref", str), ("enum", list), ("properties", dict)),
            *(("anyOf", list), ("oneOf", list), ("allOf", list)),
        )
    )


@lru_cache(maxsize=4096)
def _similar_format(name: str) -> str:
    """The format that is likely to be meant by a name; empty if none is."""
    known = {_letters(each): each for each in format_names()}
    letters = _letters(name)
    if letters in known:
        return known[letters]
    if letters in _FORMATS_BY_HABIT:
        return _FORMATS_BY_HABIT[letters]
    similar = get_close_matches(letters, known, n=1, cutoff=_SIMILAR_FORMAT)
    return known[similar[0]] if similar else ""


def _letters(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _description(schema: Mapping[str, Json]) -> str | None:
    """What to say of a description of an API."""
    if not any(isinstance(schema.get(name), str) for name in DESCRIPTIONS):
        return None
    components: Any = schema.get("components")
    place, held = "definitions", schema.get("definitions")
    if isinstance(components, dict):
        place, held = "components/schemas", components.get("schemas")  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    name = next(iter(held), "NAME") if isinstance(held, dict) else "NAME"  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return (
        "it describes an API and contains schemas; to choose one, add "
        f'"$ref": "#/{place}/{name}" beside the rest'
    )


def _wrapped(schema: Mapping[str, Json], names: Iterable[str]) -> str | None:
    """What to say of an object that a schema is in, as APIs take it."""
    path: list[str] = []
    inner: Any = schema
    listed: set[str] = {*names}
    while step := next((name for name in _WRAPPERS if name in listed), None):
        path.append(step)
        inner = inner[step]
        if looks_like_schema(inner):
            return f"the schema stands in {'.'.join(path)!r}; give that alone"
        listed = {*inner} if isinstance(inner, dict) else set[str]()
    return None


def _bare_properties(schema: Mapping[str, Json], names: list[str]) -> str | None:
    """What to say of an object whose members look like properties."""
    found = next((name for name in names if looks_like_schema(schema[name])), None)
    if found is None or not all(isinstance(schema[name], dict | bool) for name in names):
        return None
    if not all(map(frozenset(names).isdisjoint, KEYWORDS.values())):  # of other drafts
        return None
    return f'if {found!r} is a property, write {{"type": "object", "properties": {{"{found}": …}}}}'


def _definitions(schema: Mapping[str, Json]) -> str | None:
    """What to say of a schema that only holds others."""
    for keyword in HOLDING:
        held = schema.get(keyword)
        if isinstance(held, dict) and held:
            name = next(iter(held))
            return f'it only holds others; to use one, add "$ref": "#/{keyword}/{name}"'
    return None
