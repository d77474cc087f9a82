"""Answers that may call tools: what the compiler refuses, and what it accepts."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from maskwright import Grammar, Vocabulary, compile_tools
from maskwright.errors import InputError, SchemaError, UnsatisfiableSchemaError
from maskwright.grammar.tools.formats import tool_format, tool_format_names
from maskwright.mask import CaptureEnded, JsonResponse, RegexResponse
from tests.grammar.tools.test_tools import FORMATS
from tests.grammar.tools.test_tools import WEATHER as WEATHER_OF_DAYS
from tests.mask.compile.offered_tools import NOW, WEATHER, many_tools
from tests.matching import BYTES, EVERY_BYTE, after, matches


def test_a_bad_tool_is_named() -> None:
    bad = {"type": "function", "function": {"name": "bad", "parameters": {"type": "objekt"}}}
    with pytest.raises(SchemaError, match="tool 'bad'") as refused:
        compile_tools([WEATHER, bad], "auto", EVERY_BYTE)
    assert refused.value.param == "tools[1].function.parameters"


def test_tools_finish_within_their_budget() -> None:
    grammar = compile_tools([WEATHER, NOW], "required", EVERY_BYTE)
    matcher = grammar.matcher()
    budget = grammar.min_tokens
    generator = np.random.default_rng(0)
    row = np.zeros(EVERY_BYTE.words, np.int32)
    for left in range(budget, 0, -1):
        if matcher.complete:
            break
        matcher.fill_mask(row, left)
        bits = np.unpackbits(row.view(np.uint8), bitorder="little")[: EVERY_BYTE.size]
        assert matcher.accept(int(generator.choice(np.flatnonzero(bits))))
        if matcher.terminated:
            break
    assert matcher.accepting or matcher.terminated


NO_MARKS = ("json", "llama3_json", "llama_pythonic")
"""Formats in which a call that is none is an answer in words."""
NAMES = ["files.read", "mcp:files/read-1", "天気", "मौसम_2", "x" * 128]


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("name", NAMES)
def test_names_of_tools_in_every_format(name: str, format: str) -> None:
    """Also beside tools of which the name is a beginning, or the other way round."""

    def renamed(tool: Any, name: str) -> Any:
        return {"type": "function", "function": {**tool["function"], "name": name}}

    others = [name[:-1], name[:-2] + ":1"]
    tools = [renamed(WEATHER_OF_DAYS, name), *(renamed(NOW, other) for other in others)]
    one, two = FORMATS[format]
    grammar = compile_tools(tools, "auto", EVERY_BYTE, format=format, whitespace="spaced")
    for text, called in [(one, [name]), *((two, [name, other]) for other in others)]:
        if not text:
            continue  # the format has one call
        said = text.replace("weather", name).replace("now", called[-1])
        matcher = grammar.matcher()
        assert matcher.accept_bytes(said.encode()) == len(said.encode())
        events = matcher.events(final=True)
        ended = [each.name for each in events if isinstance(each, CaptureEnded)]
        assert [each for each in ended if each.startswith("call:")] == [
            f"call:{each}" for each in called
        ]
        assert not matches(grammar, said.replace(name, name + "x")) or format in NO_MARKS


def test_pointers_into_parameters_escape_the_name() -> None:
    tool = {"type": "function", "function": {"name": "a/b", "parameters": {"enum": [{}]}}}
    report = compile_tools([tool], "auto", EVERY_BYTE).report
    assert {(entry.pointer, entry.keyword) for entry in report.enforced} >= {("/a~1b", "enum")}


def test_calls_that_begin_alike_beside_a_shape_are_refused() -> None:
    """Only where a name may contain what follows names in a format."""
    tools = [{"name": "a"}, {"name": "a:1"}, {"name": "b"}]
    response = JsonResponse({"type": "integer"})
    with pytest.raises(InputError, match="rename one of the tools"):
        compile_tools(tools, "auto", EVERY_BYTE, format="kimi_k2", response=response)
    compile_tools(tools[1:], "auto", EVERY_BYTE, format="kimi_k2", response=response)
    compile_tools(tools, "auto", EVERY_BYTE, format="hermes", response=response)


def test_python_arguments_of_several_tools_and_again() -> None:
    def tool(name: str, kind: Any) -> Any:
        tree = {"type": "array", "items": {"anyOf": [kind, {"$ref": "#/$defs/tree"}]}}
        schema = {"$defs": {"tree": tree}, "properties": {"a": {"$ref": "#/$defs/tree"}}}
        return {"type": "function", "function": {"name": name, "parameters": schema}}

    tools = [tool("f", {"type": "boolean"}), tool("g", {"type": "string"})]
    for _ in range(2):
        grammar = compile_tools(tools, "auto", EVERY_BYTE, format="llama_pythonic")
        for text in ("[f(a=[True, [False]])]", "[g(a=['x', [\"y'\"]]), f()]", "[1] is", "[h(", ""):
            assert matches(grammar, text), text
        for text in ("[f(a=['x'])]", "[g(a=[True])]", "[f(a=[true])]", "[f(]", "[f()], "):
            assert not matches(grammar, text), text
    required = compile_tools(tools, "required", EVERY_BYTE, format="llama_pythonic")
    assert required.matcher().forced_tokens() == list(b"[")
    assert required.min_tokens == len("[f()]")


def test_two_hundred_tools() -> None:
    tools = many_tools(200)
    grammar = compile_tools(tools, "auto", EVERY_BYTE, whitespace="spaced")
    call = '<tool_call>\n{"name": "drop_file_7", "arguments": %s}\n</tool_call>'
    good = {"id": "x", "limit": 107, "mode": "m7"}
    assert matches(grammar, "Well. " + call % json.dumps(good))
    assert not matches(grammar, call % json.dumps({**good, "limit": 108}))
    assert not matches(grammar, call % json.dumps({**good, "mode": "m8"}))


def test_a_tool_whose_arguments_cant_be_is_never_called() -> None:
    """`false` is a schema that no value satisfies, not an absent field."""
    impossible: dict[str, Any] = {"name": "never", "parameters": False}
    grammar = compile_tools([impossible, NOW], "required", EVERY_BYTE, format="json")
    assert matches(grammar, '{"name": "now", "arguments": {}}')
    assert after(grammar, '{"name": "ne') is None
    with pytest.raises(UnsatisfiableSchemaError, match="'never'") as refused:
        compile_tools([impossible], "required", EVERY_BYTE, format="json")
    assert refused.value.param == "tools[0].parameters"


REASONING: list[tuple[dict[str, Any], list[str], list[str]]] = [
    # options, texts that match and texts that don't; the answer is an integer
    ({"reasoning": "optional"}, ["<t>a</t>\n\n3", "<t>\n</t>3", "3"], ["<t>a", "a</t>3", "\n3"]),
    ({"reasoning": "section"}, ["<t></t>\n3"], ["3", "<t></t>\n\n\n3"]),
    ({"reasoning": "begun"}, ["a</t>3", "<t></t>3"], ["3", "<t>"]),
    ({"reasoning": "optional", "reasoning_tokens": 2}, ["<t>ab</t>3", "3"], ["<t>abc</t>3"]),
    ({"reasoning": "none"}, ["3"], ["<t></t>3"]),
]


@pytest.mark.parametrize(("options", "accepted", "rejected"), REASONING, ids=str)
def test_reasoning_between_marks(
    options: dict[str, Any], accepted: list[str], rejected: list[str]
) -> None:
    grammar = compile_tools(
        [],
        "none",
        EVERY_BYTE,
        format="json",
        response=JsonResponse({"type": "integer"}),
        reasoning_marks=("<t>", "</t>"),
        **options,
    )
    read = [text for text in accepted + rejected if read_bytes(grammar, text)]
    assert read == accepted


MARKS = {
    name: marks
    for name in tool_format_names()
    if (marks := tool_format(name).reasoning) is not None and name != "harmony"
}
BREAKS = [
    ("", "", ""),
    ("\n", "\n", "\n\n"),
    ("\n", "", "\n"),
    ("", "\n\n", ""),
    (" ", "\n ", "\n"),
]


@pytest.mark.parametrize("format", MARKS)
@pytest.mark.parametrize("breaks", BREAKS, ids=repr)
def test_reasoning_ends_at_the_mark_of_the_format(
    breaks: tuple[str, str, str], format: str
) -> None:
    """However many line breaks stand beside the marks."""
    (begin, end), (first, last, between) = MARKS[format], breaks
    thought = f"{first}Hm.{last}"
    one, _ = FORMATS[format]
    for reasoning, before in (("section", begin), ("begun", ""), ("optional", begin)):
        options: Any = {"format": format, "reasoning": reasoning, "whitespace": "spaced"}
        grammar = compile_tools([WEATHER_OF_DAYS, NOW], "auto", EVERY_BYTE, **options)
        for answer, name in (("So.", "text"), (one, "call:weather")):
            matcher = grammar.matcher()
            text = f"{before}{thought}{end}{between}{answer}".encode()
            assert matcher.accept_bytes(text) == len(text)
            events = matcher.events(final=True)
            ended = [each for each in events if isinstance(each, CaptureEnded)]
            assert ended[0] == CaptureEnded("reasoning", thought)
            assert name in [each.name for each in ended]
            if name == "text":
                assert ended[-1] == CaptureEnded("text", "So.")
        missing = f"{before}{thought}{end[:-1]}{between}So."
        assert not matches(grammar, missing) or (reasoning, before) == ("optional", "")


def test_reasoning_of_a_format_that_marks_the_answer_too() -> None:
    grammar = compile_tools([NOW], "auto", EVERY_BYTE, format="harmony", reasoning="section")
    text = (
        "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant%s<|channel|>final<|message|>So"
    )
    assert matches(grammar, text % "")
    assert not matches(grammar, text % "\n")


def read_bytes(grammar: Grammar, text: str) -> bool:
    """Whether `text` matches with each byte a token."""
    matcher = grammar.matcher()
    return all(map(matcher.accept, text.encode())) and matcher.accepting


def test_what_begins_like_an_optional_section_is_one() -> None:
    """The pattern would match it as well."""
    grammar = compile_tools(
        [],
        "none",
        EVERY_BYTE,
        format="json",
        response=RegexResponse("(.|\\n)*"),
        reasoning="optional",
        reasoning_marks=("<t>", "</t>"),
    )
    matcher = grammar.matcher()
    assert all(map(matcher.accept, b"<t>a"))
    assert not matcher.accepting
    assert all(map(matcher.accept, b"</t>\n\n\nb<t>"))
    ended = [each for each in matcher.events(final=True) if isinstance(each, CaptureEnded)]
    assert ended == [CaptureEnded("reasoning", "a"), CaptureEnded("text", "\nb<t>")]


def test_marks_that_are_special_tokens() -> None:
    vocab = Vocabulary((*BYTES, b"<t>", b"</t>", b""), special=[256, 257], eos=258)
    grammar = compile_tools(
        [],
        "none",
        vocab,
        format="json",
        response=JsonResponse({"type": "integer"}),
        reasoning="optional",
        reasoning_marks=("<t>", "</t>"),
    )
    for tokens, whole in (([256, *b"<t>", 257, 51], True), ([51], True), ([*b"<t>"], False)):
        matcher = grammar.matcher()
        assert (all(map(matcher.accept, tokens)) and matcher.accepting) is whole


def _tool(name: str, parameters: Any) -> Any:
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


UNUSABLE = [
    _tool("unknown", {"type": "objekt"}),
    _tool("foreign", {"$ref": "https://example.org/x.json"}),
    _tool("empty", {"type": "object", "properties": {"a": False}, "required": ["a"]}),
    _tool("reference", {"properties": {"a": {"pattern": "(a)\\1"}}}),
    _tool("limit", {"properties": {"a": {"multipleOf": 0.123456789}}}),
]


@pytest.mark.parametrize("tool", UNUSABLE, ids=lambda tool: tool["function"]["name"])
@pytest.mark.parametrize("choice", ["auto", "required"])
def test_a_tool_that_is_unusable_may_be_left_out(tool: Any, choice: str) -> None:
    name = tool["function"]["name"]
    call = '{"name": "%s", "arguments": {}}'
    tools = [NOW, tool]
    if name != "empty":  # which is never called as long as another one may be
        with pytest.raises(InputError, match=name):
            compile_tools(tools, choice, EVERY_BYTE, format="json")
    grammar = compile_tools(tools, choice, EVERY_BYTE, format="json", unusable="omit")
    assert matches(grammar, call % "now")
    assert not matches(grammar, call % name) or choice == "auto"  # then it is an answer in words
    assert grammar.report.left_out == (name,)
    (warning,) = grammar.report.warnings
    assert warning.startswith(f"/{name}: left out: ")
    with pytest.raises(InputError):
        compile_tools(
            tools,
            {"type": "function", "function": {"name": name}},
            EVERY_BYTE,
            format="json",
            unusable="omit",
        )


def test_if_no_tool_is_usable_an_answer_in_words_is() -> None:
    grammar = compile_tools(UNUSABLE[:2], "auto", EVERY_BYTE, unusable="omit")
    assert matches(grammar, "words")
    assert grammar.report.left_out == ("unknown", "foreign")
    with pytest.raises(SchemaError, match="tool 'unknown'"):
        compile_tools(UNUSABLE[:2], "required", EVERY_BYTE, unusable="omit")


def test_a_tool_that_is_never_called_is_reported() -> None:
    grammar = compile_tools([NOW, UNUSABLE[2]], "auto", EVERY_BYTE)
    assert [text.partition(":")[0] for text in grammar.report.warnings] == ["/empty"]
    assert grammar.report.left_out == ()


def test_usable_tools_stay_as_they_are() -> None:
    grammar = compile_tools([WEATHER, NOW], "auto", EVERY_BYTE, unusable="omit")
    assert grammar.report.left_out == ()
    with pytest.raises(InputError, match="unusable is one of refuse, omit"):
        compile_tools([NOW], "auto", EVERY_BYTE, unusable="drop")  # type: ignore[arg-type]


@pytest.mark.parametrize("format", ["hermes", "json", "qwen_coder", "llama_pythonic"])
def test_numbers_in_arguments(format: str) -> None:
    tool = _tool("f", {"type": "object", "properties": {"x": {"type": "number"}}})
    calls = {
        "hermes": '<tool_call>\n{"name": "f", "arguments": {"x": %s}}\n</tool_call>',
        "json": '{"name": "f", "arguments": {"x": %s}}',
        "qwen_coder": "<tool_call>\n<function=f>\n<parameter=x>\n%s\n</parameter>\n</function>\n"
        "</tool_call>",
        "llama_pythonic": "[f(x=%s)]",
    }
    for numbers in ("any", "plain"):
        grammar = compile_tools(
            [tool],
            "required",
            EVERY_BYTE,
            format=format,
            numbers=numbers,
            whitespace="spaced",  # type: ignore[arg-type]
        )
        assert matches(grammar, calls[format] % "1.5")
        assert matches(grammar, calls[format] % "1e5") is (numbers == "any")


@pytest.mark.parametrize(
    ("stop", "message"),
    [
        ("END", "stop has to be a list of strings, not 'END'"),
        ([""], r"stop\[0\] must not be empty"),
        (["a", 5], r"stop\[1\] has to be a text, not 5"),
    ],
)
def test_stops_are_a_list_of_strings(stop: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        compile_tools([NOW], "auto", EVERY_BYTE, stop=stop)


def test_a_stop_ends_free_text() -> None:
    grammar = compile_tools([NOW], "auto", EVERY_BYTE, stop=["END"])
    assert matches(grammar, "Never END")
    assert not matches(grammar, "END END")
