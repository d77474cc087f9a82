"""Grammars from the JSON that a request to another server carries.

A request names its shape as an object with one field, `{"json_schema": {…}}`, or one of `regex`,
`choice`, `grammar` and `structural_tag`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from maskwright.errors import InputError
from maskwright.grammar.schema.document import json_of
from maskwright.json_faults import json_reason
from maskwright.mask import (
    Grammar,
    compile_choice,
    compile_grammar,
    compile_json_schema,
    compile_regex,
    compile_structural_tag,
)
from maskwright.vocab import Vocabulary

_COMPILERS: Final[dict[str, Callable[[Any, Vocabulary], Grammar]]] = {
    "json_schema": lambda schema, vocab: compile_json_schema(_parsed(schema), vocab),
    "regex": compile_regex,
    "choice": compile_choice,
    "grammar": compile_grammar,
    "structural_tag": lambda tag, vocab: compile_structural_tag(_parsed(tag), vocab),
}
SHAPES: Final = tuple(_COMPILERS)


def compile_named_shape(shape: object, vocab: Vocabulary) -> Grammar:
    """Compile `{name: definition}`. A JSON Schema or a structural tag may be given as JSON text.
    Raises `InputError` for anything else, and what the compiler of the shape raises."""
    if not isinstance(shape, Mapping) or len(shape) != 1 or not set(shape) <= set(SHAPES):
        raise InputError(f"a shape is an object with one of the fields {', '.join(SHAPES)}")
    ((name, definition),) = shape.items()
    if name in ("regex", "grammar") and not isinstance(definition, str):
        raise InputError(f"{name} must be a text")
    if name == "choice" and not (
        isinstance(definition, list) and all(isinstance(text, str) for text in definition)
    ):
        raise InputError("choice must be a list of texts")
    return _COMPILERS[name](definition, vocab)


def _parsed(definition: Any) -> Any:
    if not isinstance(definition, str):
        return definition
    try:
        return json_of(definition)
    except ValueError as error:
        raise InputError(f"not JSON: {json_reason(error)}") from error
