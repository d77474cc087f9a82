"""Unicode: large classes, folding, characters of several bytes, and odd names."""

from __future__ import annotations

from tests.hostile.shape import ALWAYS, BOUNDED, HostileShape, Subject, closed

UNICODE = Subject("unicode")
EVERY_PLANE = r"^[\u{10000}-\u{10ffff}]{2,30}$"
NAME = r"\p{ID_Start}\p{ID_Continue}{0,60}"
SCRIPTS = ("Greek", "Cyrillic", "Hebrew", "Arabic", "Devanagari", "Han", "Hangul", "Thai")

SHAPES: list[HostileShape] = [
    UNICODE.string("letters, 1 to 200", r"^\p{L}{1,200}$", outcomes=ALWAYS),
    UNICODE.string("letters of 8 scripts in turn",
        "^(?:" + "".join(rf"\p{{Script={name}}}{{1,9}}" for name in SCRIPTS) + "){1,9}$"),
    UNICODE.string("extensions of 8 scripts, overlapping",
        "^(?:" + "|".join(rf"\p{{scx={name}}}{{2,20}}\P{{scx={name}}}" for name in SCRIPTS)
        + "){1,20}$"),
    UNICODE.string("identifiers", rf"^{NAME}(\.{NAME}){{0,9}}$"),
    UNICODE.string("no letters and no digits", r"^[^\p{L}\p{N}\s]{20,90}$"),
    UNICODE.string("characters beyond the first plane", EVERY_PLANE),
    UNICODE.string("emoji and text in turn", r"^(?:\p{Emoji_Presentation}{1,5}[a-z]{1,5}){2,20}$"),
    UNICODE.string("every second character upper-case", r"^(?:\p{Lu}\p{Ll}){1,80}\p{Lu}?$"),
    UNICODE.string("20 properties in conjunction", "^" + "".join(
        rf"(?=.*\p{{{name}}})" for name in ("Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Nd", "Nl", "Pd",
        "Sc")) + ".{10,90}$"),
    UNICODE.string("case folded letters", r"^(?i:[a-zµſßāĂ]{1,40}K)$"),
    UNICODE.string("a property that is refused", r"^\p{Changes_When_NFKC_Casefolded}$",
        outcomes=frozenset({"unsupported_json_schema", "invalid_json_schema"})),
    UNICODE.string("a string property that is refused", r"^\p{RGI_Emoji}$",
        outcomes=frozenset({"unsupported_json_schema", "invalid_json_schema"})),
    UNICODE.string("a surrogate pair", r"^\ud83d[\ude00-\ude4f]{1,9}$",
        outcomes=BOUNDED | {"unsupported_json_schema", "unsatisfiable_json_schema",
                            "invalid_json_schema"}),
    UNICODE.schema("a string of 200 characters of four bytes",
        {"type": "string", "pattern": r"^[\u{1f600}-\u{1f64f}]{40,200}$"}, max_tokens=1000,
        outcomes=BOUNDED | {"max_tokens_too_small"}),
    UNICODE.schema("names of many scripts", closed({"größe": {"type": "integer"}, "名前": {
        "type": "string", "maxLength": 9}, "\U0001f600": {"const": "\U0001f601"}, "a\u0301": {
        "enum": ["\u00e1", "a\u0301"]}, "\\\"\n": {"type": "null"}})),
    UNICODE.schema("names outside ASCII", {"type": "object", "minProperties": 3,
        "propertyNames": {"pattern": r"^[^\x00-\x7f]{2,12}$"}, "additionalProperties": {
        "type": "boolean"}}),
    UNICODE.regex("words of any script", r"(?:\p{L}\p{M}*){1,30}(?: (?:\p{L}\p{M}*){1,30}){0,30}"),
    UNICODE.regex("anything but letters, counted twice", r"(?:[^\p{L}]{1,40}\P{Lu}{1,40}){1,20}"),
    UNICODE.grammar("names that exclude words of any script",
        'start: (NAME ";")+\nNAME: /\\w{1,30}/ & ~/(if|else|größe|名前).*/', r"(?s).+;"),
]  # fmt: skip
