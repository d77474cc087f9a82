"""What the compilers are given, and how a grammar is made again from it."""

from __future__ import annotations

import copy
import dataclasses
import enum
import pickle
import re
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Literal, TypedDict

import pydantic
import pytest
from tokenizers import Tokenizer, models

from maskwright import (
    Grammar,
    JsonResponse,
    Limits,
    Vocabulary,
    compile_choice,
    compile_grammar,
    compile_json_schema,
    compile_regex,
    compile_structural_tag,
    compile_substring,
    compile_tools,
)
from maskwright.errors import InputError, LimitError
from maskwright.grammar.schema.document_text import document_of
from tests.matching import EVERY_BYTE, allowed, matches, vocabulary


class Order(pydantic.BaseModel):
    """A class as a caller has it."""

    number: int


@dataclasses.dataclass
class Item:
    name: str


class Line(TypedDict):
    name: str


class Colour(enum.Enum):
    RED = "red"


FUNCTION = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
TAG: dict[str, Any] = {
    "type": "structural_tag",
    "format": {"type": "json_schema", "json_schema": {"type": "integer"}},
}

COMPILERS: dict[str, Callable[..., Grammar]] = {
    "schema": partial(compile_json_schema, {"type": "integer"}),
    "model": partial(compile_json_schema, Order),
    "grammar": partial(compile_grammar, 'start: "a" b\nb: /[0-9]+/'),
    "pattern": partial(compile_regex, "a+b"),
    "choice": partial(compile_choice, ["red", "green"]),
    "substring": partial(compile_substring, "one two three"),
    "tag": partial(compile_structural_tag, TAG),
    "tools": partial(compile_tools, [FUNCTION], "required"),
}


def first_mask(grammar: Grammar) -> set[int]:
    return allowed(grammar.matcher())


@pytest.mark.parametrize("name", COMPILERS)
def test_a_grammar_is_pickled(name: str) -> None:
    grammar = COMPILERS[name](EVERY_BYTE)
    again = pickle.loads(pickle.dumps(grammar))
    assert again is not grammar
    assert again.report == grammar.report
    assert again.min_tokens == grammar.min_tokens
    assert first_mask(again) == first_mask(grammar)
    assert pickle.loads(pickle.dumps(again)).report == grammar.report


def test_a_pickled_grammar_keeps_its_options() -> None:
    schema = {"type": "array", "items": {"type": "null"}}
    grammar = compile_json_schema(schema, EVERY_BYTE, whitespace="compact")
    again = pickle.loads(pickle.dumps(grammar))
    assert matches(again, "[null,null]")
    assert not matches(again, "[null, null]")
    pattern = pickle.loads(pickle.dumps(compile_regex("B", EVERY_BYTE, search=True, flags="i")))
    assert matches(pattern, "abc")


def test_a_pickled_grammar_is_that_of_the_time_when_it_was_compiled() -> None:
    schema = {"enum": ["a"]}
    grammar = compile_json_schema(schema, EVERY_BYTE)
    schema["enum"] = ["b"]
    assert matches(pickle.loads(pickle.dumps(grammar)), '"a"')


def test_grammars_that_are_pickled_together_share_a_vocabulary() -> None:
    grammars = [COMPILERS[name](EVERY_BYTE) for name in ("schema", "pattern")]
    first, second = pickle.loads(pickle.dumps(grammars))
    assert first.vocabulary is second.vocabulary
    assert first.vocabulary.digest == EVERY_BYTE.digest


def test_a_grammar_goes_to_another_process() -> None:
    grammar = COMPILERS["tools"](EVERY_BYTE)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        assert pool.submit(first_mask, grammar).result() == first_mask(grammar)


def test_a_grammar_of_what_cannot_be_pickled_says_what_to_do() -> None:
    class Local(dict[str, Any]):
        """A dict that other processes don't know."""

    schema = Local(type="integer")
    with pytest.raises(TypeError, match="compile it from plain dicts, lists and texts"):
        pickle.dumps(compile_json_schema(schema, EVERY_BYTE))
    plain = compile_json_schema(dict(schema), EVERY_BYTE)
    assert matches(pickle.loads(pickle.dumps(plain)), "1")


def test_the_grammar_of_a_model_is_pickled_without_its_class() -> None:
    class Local(pydantic.BaseModel):
        a: int

    again = pickle.loads(pickle.dumps(compile_json_schema(Local, EVERY_BYTE)))
    assert matches(again, '{"a": 1}')


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy])
def test_a_copy_of_what_never_changes_is_the_same(duplicate: Callable[[Any], Any]) -> None:
    grammar = COMPILERS["schema"](EVERY_BYTE)
    assert duplicate(grammar) is grammar
    assert duplicate(EVERY_BYTE) is EVERY_BYTE
    assert duplicate([grammar])[0] is grammar


@pytest.mark.parametrize("name", COMPILERS)
@pytest.mark.parametrize(
    ("vocab", "reason"),
    [
        (Tokenizer(models.BPE()), "not a Tokenizer: pass Vocabulary.from_tokenizer"),
        ("gpt2", "not 'gpt2': make one of a tokenizer with Vocabulary.from_tokenizer"),
        (None, "not None: make one"),
        ([b"a"], "not a list: make one"),
        (Order, "not the class Order: make one"),
    ],
    ids=["tokenizer", "name", "none", "list", "class"],
)
def test_what_is_no_vocabulary(name: str, vocab: Any, reason: str) -> None:
    with pytest.raises(InputError, match=f"vocab has to be a Vocabulary, {reason}") as raised:
        COMPILERS[name](vocab)
    assert raised.value.param == "vocab"


@pytest.mark.parametrize(
    ("compile", "arguments", "order"),
    [
        (compile_json_schema, ({"type": "null"},), "compile_json_schema(schema, vocab, …)"),
        (compile_grammar, ('start: "a"',), "compile_grammar(text, vocab, …)"),
        (compile_regex, ("a",), "compile_regex(pattern, vocab, …)"),
        (compile_choice, (["a"],), "compile_choice(strings, vocab, …)"),
        (compile_substring, ("a",), "compile_substring(document, vocab, …)"),
        (compile_structural_tag, (TAG,), "compile_structural_tag(tag, vocab, …)"),
        (compile_tools, ([], "auto"), "compile_tools(tools, tool_choice, vocab, …)"),
    ],
)
def test_swapped_arguments(
    compile: Callable[..., Grammar], arguments: tuple[Any, ...], order: str
) -> None:
    message = re.escape(f"the arguments are in another order: {order}")
    with pytest.raises(InputError, match=message):
        compile(EVERY_BYTE, *arguments)


@pytest.mark.parametrize("name", COMPILERS)
def test_what_are_no_limits(name: str) -> None:
    with pytest.raises(InputError, match=r"limits has to be a maskwright\.Limits, not a dict"):
        COMPILERS[name](EVERY_BYTE, limits={"schema_depth": 3})
    COMPILERS[name](EVERY_BYTE, limits=Limits())


def test_the_limits_of_a_pickled_grammar_hold_again() -> None:
    schema = {"items": {"items": {"items": {}}}}
    grammar = compile_json_schema(schema, EVERY_BYTE, limits=Limits(schema_depth=8))
    compile, (again, text, options, vocab) = grammar.__reduce__()
    assert document_of(text) == schema
    assert options == {"limits": Limits(schema_depth=8)}
    with pytest.raises(LimitError):
        compile(again, text, {"limits": Limits(schema_depth=2)}, vocab)


@pytest.mark.parametrize(
    ("compile", "name"),
    [
        (compile_regex, "pattern"),
        (compile_grammar, "text"),
        (compile_substring, "document"),
    ],
)
@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (None, "not None"),
        (5, "not 5"),
        (b"a", "not b'a': decode it"),
        (["a"], "not a list"),
        (re.compile("a"), "not a Pattern: pass its pattern, and syntax='python'"),
        (Path("a"), r"not a PosixPath: pass the text of the file, path\.read_text\(\)"),
    ],
)
def test_what_is_no_text(
    compile: Callable[..., Grammar], name: str, value: Any, reason: str
) -> None:
    with pytest.raises(InputError, match=f"{name} has to be a text, {reason}") as raised:
        compile(value, EVERY_BYTE)
    assert raised.value.param == name


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        (Order, '{"number": 1}'),
        (pydantic.TypeAdapter(Order), '{"number": 1}'),
        (pydantic.TypeAdapter(list[Order]), '[{"number": 1}]'),
        (pydantic.TypeAdapter(Item), '{"name": "a"}'),
    ],
    ids=["model", "adapter", "adapter of a list", "adapter of a dataclass"],
)
def test_classes_of_pydantic_are_schemas(schema: Any, text: str) -> None:
    for grammar in (
        compile_json_schema(schema, EVERY_BYTE),
        compile_tools([], "none", EVERY_BYTE, response_schema=schema),
        compile_tools([], "none", EVERY_BYTE, response=JsonResponse(schema)),
    ):
        assert matches(grammar, text)
        assert not matches(grammar, "1")


def test_a_class_of_pydantic_is_the_parameters_of_a_tool() -> None:
    tools: Any = [{"type": "function", "function": {"name": "f", "parameters": Order}}]
    grammar = compile_tools(tools, "required", EVERY_BYTE, whitespace="spaced")
    assert matches(grammar, '<tool_call>\n{"name": "f", "arguments": {"number": 1}}\n</tool_call>')
    assert not matches(grammar, '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>')


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        (Order(number=1), r"an Order .*: pass Order\.model_json_schema\(\) \(at the root\)"),
        (
            {"properties": {"order": Order}},
            r"the class Order .*: pass Order\.model_json_schema\(\) \(at /properties/order\)",
        ),
        (Item, r"the class Item .*: pass pydantic\.TypeAdapter\(Item\)\.json_schema\(\)"),
        (Line, r"the class Line .*: pass pydantic\.TypeAdapter\(Line\)\.json_schema\(\)"),
        (Colour, r"the class Colour .*: pass pydantic\.TypeAdapter\(Colour\)"),
        (list[int], r"pass pydantic\.TypeAdapter\(list\[int\]\)\.json_schema\(\)"),
        (Literal["a"], r"pass pydantic\.TypeAdapter\(typing\.Literal\['a'\]\)"),
        ({"type": int}, r"the class int .* \(at /type\)"),
        ({"enum": {1, 2}}, r"a set is not a value of JSON: make it a list \(at /enum\)"),
        ({"enum": (1, 2)}, r"a tuple is not a value of JSON: make it a list \(at /enum\)"),
        (Path("no.json"), r"can't read no\.json: No such file or directory"),
        (
            {"properties": {"a": Path("a.json")}},
            r"a PosixPath .*: pass the text of the file, path\.read_text\(\) \(at /properties/a\)",
        ),
        (b"{}", r"b'\{\}' is not a value of JSON: decode it"),
    ],
    ids=str,
)
def test_what_is_no_schema_says_what_to_pass(schema: Any, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        compile_json_schema(schema, EVERY_BYTE)


@pytest.mark.parametrize(
    ("strings", "reason"),
    [
        (None, "strings has to be a list of strings, not None"),
        ("red", "strings has to be a list of strings, not 'red'"),
        (b"red", "strings has to be a list of strings, not b'red'"),
        (5, "strings has to be a list of strings, not 5"),
        ({"a": "b"}, "strings has to be a list of strings, not a dict"),
        (["a", 1], r"strings\[1\] has to be a text, not 1"),
        ([b"a"], r"strings\[0\] has to be a text, not b'a'"),
        (Colour, r"strings\[0\] has to be a text, not a Colour: pass its value"),
        ((), "a choice needs at least one string"),
    ],
    ids=repr,
)
def test_what_is_no_list_of_strings(strings: Any, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        compile_choice(strings, EVERY_BYTE)


@pytest.mark.parametrize("strings", [iter(["a", "b"]), {"a", "b"}, ("a", "b")])
def test_strings_come_in_any_collection(strings: Any) -> None:
    assert first_mask(compile_choice(strings, EVERY_BYTE)) == {ord("a"), ord("b")}


@pytest.mark.parametrize(
    ("tools", "reason"),
    [
        (None, "tools has to be a list of tools, not None"),
        ("[]", r"tools has to be a list of tools, not '\[\]'"),
        (FUNCTION, "tools has to be a list of tools, not a dict"),
        ([None], r"tools\[0\] must be an object, not null"),
        ([FUNCTION, first_mask], r"tools\[1\] must be an object, not a function"),
        ([Order], r"not the class Order: pass .*'name': 'Order', 'parameters': Order\}\}"),
    ],
    ids=["none", "text", "one tool", "null", "function", "class"],
)
def test_what_are_no_tools(tools: Any, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        compile_tools(tools, "auto", EVERY_BYTE)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"flags": None}, "flags has to be a text, not None"),
        ({"flags": re.IGNORECASE}, "flags has to be a text, not"),
    ],
)
def test_what_are_no_flags(options: Any, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        compile_regex("a", EVERY_BYTE, **options)


def test_what_are_no_documents() -> None:
    with pytest.raises(
        InputError, match="documents has to be a dict of schemas by URI, not a list"
    ):
        compile_json_schema({}, EVERY_BYTE, documents=[{}])  # pyright: ignore[reportArgumentType]


def test_a_vocabulary_that_has_been_copied_shares_its_tables() -> None:
    vocab = vocabulary()
    first = compile_regex("a", vocab)
    second = compile_regex("a", copy.deepcopy({"vocab": vocab})["vocab"])
    assert first.recognizer.tables is second.recognizer.tables
    assert isinstance(vocab, Vocabulary)
