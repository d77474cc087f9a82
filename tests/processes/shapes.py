"""Grammars of every kind, each as it is compiled here and in a grammar process."""

from __future__ import annotations

from typing import Any

from maskwright.mask import (
    Grammar,
    compile_choice,
    compile_grammar,
    compile_json_schema,
    compile_regex,
    compile_structural_tag,
)
from maskwright.processes import Build

ORDER: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "short": {"type": "string", "maxLength": 6},
        "counts": {"type": "array", "items": {"type": "integer"}, "maxItems": 4},
        "kind": {"enum": ["the cat", "the dog", None]},
    },
    "required": ["name", "kind"],
    "additionalProperties": False,
}
UNIQUE: dict[str, Any] = {
    "type": "array",
    "items": {"enum": ["a", "b", "ab", 1, 12, None]},
    "uniqueItems": True,
    "minItems": 3,
}
NAMES: dict[str, Any] = {"type": "object", "additionalProperties": {"type": "boolean"}}
TAG: dict[str, Any] = {
    "type": "structural_tag",
    "format": {
        "type": "triggered_tags",
        "triggers": ["<f"],
        "tags": [
            {
                "begin": "<f=a>",
                "content": {"type": "json_schema", "json_schema": ORDER},
                "end": "<>",
            }
        ],
    },
}

BUILDS: dict[str, Build] = {
    "order": Build(compile_json_schema, (ORDER,), {}),
    "order, any": Build(compile_json_schema, (ORDER,), {"property_order": "any"}),
    "unique items": Build(compile_json_schema, (UNIQUE,), {}),
    "names": Build(compile_json_schema, (NAMES,), {}),
    "anything": Build(compile_json_schema, ({},), {"whitespace": "compact"}),
    "regex": Build(compile_regex, (r"(the|a) (cat|dog)s?( sat)*\.",), {}),
    "free text": Build(compile_regex, (r"[\s\S]*",), {}),
    "choice": Build(compile_choice, (["the cat", "the cat sat", "stop"],), {}),
    "grammar": Build(compile_grammar, ('start: "(" start ")" | /[a-c]+/ start | "x"',), {}),
    "tag": Build(compile_structural_tag, (TAG,), {}),
}


def compiled(build: Build, grammar_vocabulary: Any) -> Grammar:
    """The grammar, in this process."""
    return build(grammar_vocabulary)
