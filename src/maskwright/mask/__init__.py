"""Machine × vocabulary: mask rows, matchers, and the compilers' public face."""

from maskwright.automaton.events import (
    CaptureBegun,
    CaptureEnded,
    CaptureText,
    ContainerClosed,
    ContainerOpened,
    Event,
    StringText,
    ValueRead,
)
from maskwright.mask.compile import compile_json_schema
from maskwright.mask.compile_grammar import compile_grammar
from maskwright.mask.compile_tags import compile_structural_tag, compile_tools
from maskwright.mask.compile_text import compile_choice, compile_regex, compile_substring
from maskwright.mask.grammar import Grammar
from maskwright.mask.matcher import Matcher

__all__ = [
    "CaptureBegun",
    "CaptureEnded",
    "CaptureText",
    "ContainerClosed",
    "ContainerOpened",
    "Event",
    "Grammar",
    "Matcher",
    "StringText",
    "ValueRead",
    "compile_choice",
    "compile_grammar",
    "compile_json_schema",
    "compile_regex",
    "compile_structural_tag",
    "compile_substring",
    "compile_tools",
]
