"""The input of custom tools: which texts it may be, and how each format writes them."""

from __future__ import annotations

import ast
import json
from typing import Any

import pytest

from maskwright import Grammar, compile_tools
from maskwright.errors import (
    GrammarError,
    InputError,
    RegexError,
    UnsatisfiableGrammarError,
    UnsupportedGrammarError,
)
from maskwright.grammar.pattern.translate import full_match
from maskwright.grammar.regular.derivative import contains
from maskwright.grammar.tools.custom_input import JSON_ESCAPES, PYTHON_ESCAPES, escaped
from maskwright.mask import CaptureEnded
from tests.matching import EVERY_BYTE, after, matches, shortest_ending

LARK = """start: "SELECT " expr
expr: "(" expr ")" | /[a-z"]+/ | expr "\\n" expr
"""


def custom(name: str, syntax: str = "", definition: str = "") -> dict[str, Any]:
    """A tool in the form of chat completions."""
    grammar = {"syntax": syntax, "definition": definition}
    format = {"type": "grammar", "grammar": grammar} if syntax else {"type": "text"}
    return {"type": "custom", "custom": {"name": name, "format": format}}


TOOLS: list[Any] = [
    custom("sql", "lark", LARK),
    {"type": "custom", "name": "date", "format": {"type": "grammar", "syntax": "regex",
     "definition": r'^(?P<month>Jan|Feb) "\d"\\?$'}},
    custom("pair", "gbnf", 'root ::= "(" root ")" | "a"'),
    custom("either", "ebnf", "main ::= 'x' | #x79"),
    {"type": "custom", "name": "say"},
    {"type": "function", "function": {"name": "now"}},
]  # fmt: skip
WRITTEN = {
    "json": ('{"name": "%s", "arguments": {"input": %s}}', "json"),
    "hermes": ('<tool_call>\n{"name": "%s", "arguments": {"input": %s}}\n</tool_call>', "json"),
    "llama_pythonic": ("[%s(input=%s)]", "python"),
    "qwen_coder": (
        "<tool_call>\n<function=%s>\n<parameter=input>\n%s\n</parameter>\n</function>\n</tool_call>",
        "raw",
    ),
}
INPUTS = [
    ("sql", "SELECT a", True),
    ("sql", 'SELECT ((a"b))', True),
    ("sql", "SELECT a\nb", True),
    ("sql", "SELECT (a", False),
    ("sql", "select a", False),
    ("date", 'Jan "1"\\', True),
    ("date", 'Feb "1"', True),
    ("date", 'Mar "1"', False),
    ("date", 'x Jan "1"', False),
    ("pair", "((a))", True),
    ("pair", "((a)", False),
    ("either", "y", True),
    ("either", "z", False),
    ("say", "", True),
    ("say", 'he says "é\\" \n\r\t\0 \U0001f600', True),
    ("none", "", False),
]


def written(text: str, spelling: str) -> str:
    if spelling == "raw":
        return text
    if spelling == "json":
        return json.dumps(text, ensure_ascii=False)
    return '"' + "".join(PYTHON_ESCAPES.get(each, each) for each in text) + '"'


def compiled(format: str, choice: Any) -> Grammar:
    return compile_tools(TOOLS, choice, EVERY_BYTE, format=format, whitespace="spaced")


@pytest.mark.parametrize("choice", ["auto", "required"])
@pytest.mark.parametrize("format", WRITTEN)
def test_inputs_are_texts_of_their_grammar(format: str, choice: str) -> None:
    template, spelling = WRITTEN[format]
    grammar = compiled(format, choice)
    for name, text, right in INPUTS:
        call = template % (name, written(text, spelling))
        begun = after(grammar, call)
        reported = begun.events(final=True) if begun is not None and begun.accepting else []
        said = [e.text for e in reported if isinstance(e, CaptureEnded) and e.name[:5] == "input"]
        if right:
            inner = written(text, spelling)
            assert said == [inner if spelling == "raw" else inner[1:-1]], call
        else:
            assert not said


@pytest.mark.parametrize("format", WRITTEN)
def test_calls_of_custom_tools_can_be_completed(format: str) -> None:
    for name in ("sql", "date", "say"):
        grammar = compiled(format, {"type": "custom", "custom": {"name": name}})
        text = shortest_ending(grammar.matcher())
        assert matches(grammar, text)
        assert name.encode() in text


@pytest.mark.parametrize(
    ("escapes", "read"), [(JSON_ESCAPES, json.loads), (PYTHON_ESCAPES, ast.literal_eval)]
)
def test_each_string_has_one_spelling(escapes: dict[str, str], read: Any) -> None:
    language = escaped(full_match("[^a-y]{0,2}"), escapes)
    for text in ("z", "\n", '"', "\\", "é\0" if escapes is PYTHON_ESCAPES else "é\x1f", ""):
        spelling = "".join(escapes.get(each, each) for each in text)
        assert read(f'"{spelling}"') == text
        assert contains(language, spelling)
    for wrong in ("\\", "\\a", "\\u0041", '"', "\n", "zzz", "a", "\\/"):
        assert not contains(language, wrong)


FAULTS: list[tuple[dict[str, Any], type[InputError], str]] = [
    (custom("a", "regex", "("), RegexError, "tools[0].custom.format.grammar.definition"),
    (custom("a", "regex", "a(?=b)c"), InputError, "tools[0].custom.format.grammar.definition"),
    (custom("a", "lark", "start: ("), GrammarError, "tools[0].custom.format.grammar.definition"),
    (
        custom("a", "lark", "start: %json {}"),
        UnsupportedGrammarError,
        "tools[0].custom.format.grammar.definition",
    ),
    (
        custom("a", "lark", 'start: "a" start'),
        UnsatisfiableGrammarError,
        "tools[0].custom.format.grammar.definition",
    ),
]


def test_the_rules_that_need_each_other_are_shown() -> None:
    tool = custom("a", "lark", 'start: x\nx: y "a"\ny: x "b"')
    with pytest.raises(UnsatisfiableGrammarError) as refused:
        compile_tools([tool], "required", EVERY_BYTE)
    assert "tool 'a': no text matches its grammar: " in str(refused.value)
    assert "it needs 'x', which needs 'y', which needs 'x' again" in str(refused.value)
    assert str(refused.value).endswith('(line 2, column 1)\n  x: y "a"\n  ^')


@pytest.mark.parametrize(("tool", "error", "param"), FAULTS)
def test_faults_name_the_definition(tool: Any, error: type[InputError], param: str) -> None:
    with pytest.raises(error) as refused:
        compile_tools([tool], "required", EVERY_BYTE)
    assert refused.value.param == param
