"""Structured decoding: text from a language model that always has the shape you asked for."""

from maskwright.limits import Limits
from maskwright.mask import (
    CaptureBegun,
    CaptureEnded,
    CaptureText,
    ContainerClosed,
    ContainerOpened,
    Event,
    Grammar,
    Matcher,
    StringText,
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
    "CaptureBegun",
    "CaptureEnded",
    "CaptureText",
    "ContainerClosed",
    "ContainerOpened",
    "Event",
    "Grammar",
    "Limits",
    "Matcher",
    "StringText",
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
