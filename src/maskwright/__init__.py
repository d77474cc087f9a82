"""Structured decoding: text from a language model that always has the shape you asked for."""

from maskwright.limits import Limits
from maskwright.mask import (
    Grammar,
    Matcher,
    compile_choice,
    compile_grammar,
    compile_json_schema,
    compile_regex,
    compile_substring,
)
from maskwright.vocab import Vocabulary

__all__ = [
    "Grammar",
    "Limits",
    "Matcher",
    "Vocabulary",
    "compile_choice",
    "compile_grammar",
    "compile_json_schema",
    "compile_regex",
    "compile_substring",
]
