"""Structured decoding: text from a language model that always has the shape you asked for.

The compilers are imported when one of their names is first asked for: `maskwright --help` needs
none of them, and they take most of the time of an import.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from maskwright.errors import (
    BudgetError,
    GrammarError,
    InputError,
    LimitError,
    MaskwrightError,
    RegexError,
    SchemaError,
    StructuralTagError,
    UnsatisfiableGrammarError,
    UnsatisfiableSchemaError,
    UnspellableError,
    UnsupportedGrammarError,
    UnsupportedSchemaError,
)
from maskwright.limits import Limits

if TYPE_CHECKING:
    from maskwright.mask import (
        CaptureBegun,
        CaptureEnded,
        CaptureText,
        ChoiceResponse,
        ContainerClosed,
        ContainerOpened,
        Event,
        Grammar,
        GrammarResponse,
        JsonResponse,
        Matcher,
        RegexResponse,
        ResponseShape,
        StringText,
        TagResponse,
        ValueRead,
        compile_choice,
        compile_grammar,
        compile_json_schema,
        compile_regex,
        compile_structural_tag,
        compile_substring,
        compile_tools,
    )
    from maskwright.vocab import Vocabulary

__all__ = [
    "BudgetError",
    "CaptureBegun",
    "CaptureEnded",
    "CaptureText",
    "ChoiceResponse",
    "ContainerClosed",
    "ContainerOpened",
    "Event",
    "Grammar",
    "GrammarError",
    "GrammarResponse",
    "InputError",
    "JsonResponse",
    "LimitError",
    "Limits",
    "MaskwrightError",
    "Matcher",
    "RegexError",
    "RegexResponse",
    "ResponseShape",
    "SchemaError",
    "StringText",
    "StructuralTagError",
    "TagResponse",
    "UnsatisfiableGrammarError",
    "UnsatisfiableSchemaError",
    "UnspellableError",
    "UnsupportedGrammarError",
    "UnsupportedSchemaError",
    "ValueRead",
    "Vocabulary",
    "compile_choice",
    "compile_grammar",
    "compile_json_schema",
    "compile_regex",
    "compile_structural_tag",
    "compile_substring",
    "compile_tools",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module("maskwright.vocab" if name == "Vocabulary" else "maskwright.mask")
    value = globals()[name] = getattr(module, name)
    return value
