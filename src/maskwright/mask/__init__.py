"""Machine × vocabulary: mask rows, matchers, and the compilers' public face."""

from maskwright.mask.compile import compile_json_schema, compile_regex
from maskwright.mask.grammar import Grammar
from maskwright.mask.matcher import Matcher

__all__ = ["Grammar", "Matcher", "compile_json_schema", "compile_regex"]
