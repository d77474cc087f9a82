"""Machine × vocabulary: mask rows, matchers, and the compilers' public face."""

from maskwright.mask.compile import compile_json_schema
from maskwright.mask.compile_grammar import compile_grammar
from maskwright.mask.compile_text import compile_choice, compile_regex, compile_substring
from maskwright.mask.grammar import Grammar
from maskwright.mask.matcher import Matcher

__all__ = [
    "Grammar",
    "Matcher",
    "compile_choice",
    "compile_grammar",
    "compile_json_schema",
    "compile_regex",
    "compile_substring",
]
