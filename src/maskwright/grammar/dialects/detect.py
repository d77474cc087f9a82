"""Recognises the dialect of a grammar."""

from __future__ import annotations

import re
from typing import Final, Literal, get_args

from maskwright.errors import GrammarError

Dialect = Literal["lark", "gbnf", "ebnf"]
DIALECTS: Final = get_args(Dialect)

_BNF_RULE: Final = re.compile(r"^\ufeff?\s*(?:\[\s*\d+\w*\s*\]\s*)?([\w.-]+)\s*::=", re.MULTILINE)
_LARK_RULE: Final = re.compile(
    r"^\ufeff?[ \t]*"
    r"(?:[!?]*_*[A-Za-z][\w-]*[ \t]*(?:\{[^}\n]*\}|\[[^\n]*\])?[ \t]*(?:\.-?\d+)?[ \t]*:(?![:=])"
    r"|%\w)",
    re.MULTILINE,
)
_EBNF_ALONE: Final = re.compile(
    r"#x[0-9A-Fa-f]+|/\*|^\s*//|'|\(=|^\s*\[\s*\d+\w*\s*\]\s*[\w.-]+\s*::=|\s-\s"
    r"|\b(?:Token|ExcludeToken)\(\s*\d|\b(?:Token)?TagDispatch\(",
    re.MULTILINE,
)
_TYPE_IN_YAML: Final = re.compile(
    r"^([\"']?)type\1:\s*([\"']?)(object|array|string|number|integer|boolean|null)\2\s*$",
    re.MULTILINE,
)
_STRINGS: Final = re.compile(r'"(?:[^"\\\n]|\\.)*"|\[(?:[^\]\\\n]|\\.)*\](?!\s*[\w.-]+\s*::=)')
_LONG_COMMENT: Final = re.compile(r"/\*(?:[^*]|\*(?!/))*\*/")
_COMMENT: Final = re.compile(r"#(?!x[0-9A-Fa-f])[^\n]*")


def detect(text: str) -> Dialect:
    """Return the dialect of a grammar. Lark has `name: …`, the others have `name ::= …`, both
    perhaps indented.

    Of the others it is GBNF if there is a rule `root` and nothing that only EBNF has: 'single'
    quotes, `#x41`, `a - b`, `/*` or `//` comments, numbered rules, lookahead `(=…)`, xgrammar's
    macros. Raises `GrammarError`.
    """
    code = _LONG_COMMENT.sub("", text)
    bnf, lark = _BNF_RULE.search(code), _LARK_RULE.search(code)
    if bnf is None and lark is None:
        raise GrammarError(
            "this is no grammar: there is neither a rule of Lark (name: …) nor one of GBNF or EBNF "
            "(name ::= …)",
            text=text,
            position=0,
        )
    if bnf is None or (lark is not None and lark.start() < bnf.start()):
        return "lark"
    bare = _COMMENT.sub("", _STRINGS.sub('""', text))
    has_root = any(match[1] == "root" for match in _BNF_RULE.finditer(text))
    return "gbnf" if has_root and not _EBNF_ALONE.search(bare) else "ebnf"


def resembles_schema(text: str) -> Literal["JSON", "YAML"] | None:
    """Return the language in which a text seems to be a JSON Schema; None if it doesn't."""
    if text.lstrip().startswith("{"):
        return "JSON"
    return "YAML" if _TYPE_IN_YAML.search(text) else None
