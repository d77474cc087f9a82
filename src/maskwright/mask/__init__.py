"""Machine and vocabulary together: mask rows, matchers, and the compilers.

- `budget/`: Masks that keep only tokens after which the text can be completed within a budget.
- `compile/`: The compilers, which turn a schema, pattern, grammar, tag or list of tools into a
  `Grammar`.
- `matcher/`: Matchers, the only mutable objects of a request: accepted tokens, masks, forced
  tokens, events.
- `names/`: Property names that must differ from names that only the text has.
- `ready_rows/`: Mask rows of strings and plain text that are computed once for a vocabulary.
- `shared/`: What grammars share: the tables of a vocabulary, machines, bounds, and caches.
- `walk/`: The machine walked over the token trie in compiled code, and the rows that result.
- `grammar`: A compiled grammar for users: its report, its size, its matchers.
- `position`: A configuration of a grammar, and what has been computed about it.
- `recognizer`: Where bytes lead in a grammar's machine, and what may follow there.
- `walker`: The masks of positions, and where tokens lead.

Each name is imported when it is first asked for, so that a program which compiles a schema doesn't
import what only grammars, tags and tools need.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from maskwright.automaton.events.events import (
        CaptureBegun,
        CaptureEnded,
        CaptureText,
        ContainerClosed,
        ContainerOpened,
        Event,
        StringText,
        ValueRead,
    )
    from maskwright.mask.compile.grammar import compile_grammar
    from maskwright.mask.compile.json_schema import compile_json_schema
    from maskwright.mask.compile.responses import (
        ChoiceResponse,
        GrammarResponse,
        JsonResponse,
        RegexResponse,
        ResponseShape,
        TagResponse,
    )
    from maskwright.mask.compile.tags import compile_structural_tag
    from maskwright.mask.compile.text import compile_choice, compile_regex, compile_substring
    from maskwright.mask.compile.tools import compile_tools
    from maskwright.mask.grammar import Grammar
    from maskwright.mask.matcher.matcher import Matcher

__all__ = [
    "CaptureBegun",
    "CaptureEnded",
    "CaptureText",
    "ChoiceResponse",
    "ContainerClosed",
    "ContainerOpened",
    "Event",
    "Grammar",
    "GrammarResponse",
    "JsonResponse",
    "Matcher",
    "RegexResponse",
    "ResponseShape",
    "StringText",
    "TagResponse",
    "ValueRead",
    "compile_choice",
    "compile_grammar",
    "compile_json_schema",
    "compile_regex",
    "compile_structural_tag",
    "compile_substring",
    "compile_tools",
]

_MODULES: Final = {
    "compile_choice": "mask.compile.text",
    "compile_grammar": "mask.compile.grammar",
    "compile_json_schema": "mask.compile.json_schema",
    "compile_regex": "mask.compile.text",
    "compile_structural_tag": "mask.compile.tags",
    "compile_substring": "mask.compile.text",
    "compile_tools": "mask.compile.tools",
    "Grammar": "mask.grammar",
    "Matcher": "mask.matcher.matcher",
    "ChoiceResponse": "mask.compile.responses",
    "GrammarResponse": "mask.compile.responses",
    "JsonResponse": "mask.compile.responses",
    "RegexResponse": "mask.compile.responses",
    "ResponseShape": "mask.compile.responses",
    "TagResponse": "mask.compile.responses",
}
"""Where each name stands; those that are missing are events."""


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(f"maskwright.{_MODULES.get(name, 'automaton.events.events')}")
    value = globals()[name] = getattr(module, name)
    return value
