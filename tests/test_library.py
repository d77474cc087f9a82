"""The library as its users meet it: its names, its help, what it takes for a schema."""

from __future__ import annotations

import ast
import copy
import json
import pickle
import pydoc
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pydantic
import pytest

import maskwright
from maskwright.workbench.reading import byte_vocabulary
from tests.source_tree import PACKAGE

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"a": {"type": "integer"}},
    "required": ["a"],
    "additionalProperties": False,
}


class Model(pydantic.BaseModel):
    """A class whose schema is like `SCHEMA`."""

    model_config = pydantic.ConfigDict(extra="forbid")
    a: int


def test_each_public_name_stands_once_and_is_there() -> None:
    names = [name for name in maskwright.__all__ if name != "__version__"]
    assert len(set(names)) == len(names) >= 40
    assert all(getattr(maskwright, name) is not None for name in names)
    stubs = [
        path.read_text() for path in (PACKAGE / "__init__.pyi", PACKAGE / "mask" / "__init__.pyi")
    ]
    sources = [
        (PACKAGE / "__init__.py").read_text(),
        (PACKAGE / "mask" / "__init__.py").read_text(),
    ]
    for name in names:
        assert sum(len(re.findall(rf"import {name} as {name}$", stub, re.M)) for stub in stubs) == 1
        code = [ast.unparse(ast.parse(source).body[1:]) for source in sources]  # type: ignore[arg-type]
        assert not any(re.search(rf"\b{name}\b", each) for each in code)


def test_names_are_listed_and_a_name_that_there_is_not_is_none() -> None:
    assert set(dir(maskwright)) >= {*maskwright.__all__}
    with pytest.raises(AttributeError, match="module 'maskwright' has no attribute 'Grammer'"):
        maskwright.Grammer  # type: ignore[attr-defined]  # noqa: B018
    namespace: dict[str, Any] = {}
    exec("from maskwright import *", namespace)
    assert {*maskwright.__all__} <= set(namespace)


def test_the_version_is_that_of_the_package() -> None:
    from importlib.metadata import version  # noqa: PLC0415

    assert maskwright.__version__ == version("maskwright")


def test_help_shows_what_there_is_with_its_documentation() -> None:
    text = pydoc.plain(pydoc.render_doc(maskwright))
    for name in ("Grammar", "Matcher", "Vocabulary", "Limits", "SchemaError"):
        assert f"class {name}(" in text
    for name in ("compile_json_schema", "compile_regex", "explain", "validate"):
        assert re.search(rf"^    {name}\(", text, re.MULTILINE)
    assert "Compile a JSON Schema for a vocabulary" in text


def test_the_example_of_the_documentation_does_what_it_says() -> None:
    assert maskwright.__doc__ is not None
    code = re.search(r"((?:^    .*\n|^\n)+)", maskwright.__doc__.split(":\n\n", 1)[1], re.M)
    assert code is not None
    names: dict[str, Any] = {}
    lines = [line[4:] for line in code[1].splitlines()]
    exec("\n".join(lines), names)
    assert names["matcher"].forced_tokens() == [2]
    assert names["mask"].tolist() == [0b11]
    assert len([line for line in lines if line]) == 10


def test_the_import_loads_nothing_and_errors_are_there() -> None:
    code = "import sys, maskwright; maskwright.errors.InputError, maskwright.limits.Limits; "
    code += "print([n for n in sys.modules if n.startswith('maskwright.')])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(ast.literal_eval(ran.stdout))
    needed = {"errors", "exports", "limits", "version"}
    needed |= {"steps", "native", "_cython"}  # which limits are bounds on, and what it's built with
    assert loaded == {f"maskwright.{name}" for name in needed}


@pytest.fixture
def sources(tmp_path: Path) -> dict[str, Any]:
    """One schema in all the ways in which it may be given."""
    file = tmp_path / "schema.json"
    file.write_bytes(b"\xef\xbb\xbf" + json.dumps(SCHEMA).encode())
    return {
        "dict": SCHEMA,
        "text": json.dumps(SCHEMA),
        "path": file,
        "class": Model,
        "adapter": pydantic.TypeAdapter(Model),
    }


@pytest.mark.parametrize("kind", ["dict", "text", "path", "class", "adapter"])
def test_a_schema_may_be_given_in_every_way_wherever_it_is_taken(
    sources: dict[str, Any], kind: str
) -> None:
    source, vocabulary = sources[kind], byte_vocabulary()

    def accepts(grammar: maskwright.Grammar, text: bytes) -> bool:
        matcher = grammar.matcher()
        return matcher.accept_bytes(text) == len(text) and matcher.accepting

    grammar = maskwright.compile_json_schema(source, vocabulary)
    assert accepts(grammar, b'{"a": 1}')
    assert not accepts(grammar, b'{"b": 1}')
    assert maskwright.validate(source, '{"a": 1}')
    assert not maskwright.validate(source, '{"a": "1"}')
    keywords = {row.keyword: row.state for row in maskwright.explain(source)}
    assert keywords["additionalProperties"] == "enforced"
    parameters = SCHEMA if kind == "text" else source  # OpenAI's protocol has no text there
    tools = [{"type": "function", "function": {"name": "f", "parameters": parameters}}]
    calls = maskwright.compile_tools(tools, "required", vocabulary)
    call = b'<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>'
    assert accepts(calls, call)
    assert not accepts(calls, call.replace(b'"a"', b'"b"'))
    answer = maskwright.compile_tools(
        tools, "auto", vocabulary, response=maskwright.JsonResponse(source)
    )
    assert accepts(answer, b'{"a": 1}')
    assert not accepts(answer, b'{"b": 1}')


def test_a_string_is_never_a_path(tmp_path: Path) -> None:
    """Servers pass on what clients send."""
    file = tmp_path / "schema.json"
    file.write_text(json.dumps(SCHEMA))
    for take in (
        maskwright.explain,
        lambda s: maskwright.compile_json_schema(s, byte_vocabulary()),
    ):
        with pytest.raises(maskwright.SchemaError, match="not JSON"):
            take(str(file))


def test_a_file_that_can_not_be_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "latin.json").write_bytes(b"\xff")
    for name, message in (("none.json", "No such file"), ("latin.json", "is no UTF-8")):
        with pytest.raises(maskwright.SchemaError, match=message):
            maskwright.explain(tmp_path / name)


@pytest.mark.parametrize(
    ("text", "verdict", "place", "expected"),
    [
        ('{"a": 1}', "match", None, None),
        (b'\n {"a" : 1}\n', "match", None, None),
        ('{"a": 1', "incomplete", (1, 8), "0-9"),
        ("", "incomplete", (1, 1), "'{'"),
        ('{\n "b": 1}', "mismatch", (2, 3), "a"),
        ('{"a": 1} x', "mismatch", (1, 10), "end of text"),
    ],
)
def test_whether_a_text_has_the_shape(
    text: str | bytes, verdict: str, place: tuple[int, int] | None, expected: str | None
) -> None:
    found = maskwright.validate(SCHEMA, text)
    assert (found.verdict, bool(found)) == (verdict, verdict == "match")
    assert place in (None, (found.line, found.column))
    assert (found.expected is None) if expected is None else (expected in str(found.expected))


def test_texts_of_grammars_and_in_any_order() -> None:
    grammar = maskwright.compile_regex("a+", byte_vocabulary())
    assert maskwright.validate(grammar, "aa")
    assert maskwright.validate(grammar, "aa\n").verdict == "mismatch"
    two = {"properties": {"a": {}, "b": {}}, "required": ["a", "b"]}
    assert maskwright.validate(two, '{"b": 1, "a": 2}')
    with pytest.raises(maskwright.InputError, match="text is int; it must be str or bytes"):
        maskwright.validate(SCHEMA, 5)  # type: ignore[arg-type]
    with pytest.raises(maskwright.SchemaError):
        maskwright.validate({"type": "strin"}, "1")


def test_a_grammar_of_a_file_is_made_again_without_it(tmp_path: Path) -> None:
    file = tmp_path / "schema.json"
    file.write_text(json.dumps(SCHEMA))
    tools = [{"type": "function", "function": {"name": "f", "parameters": file}}]
    response = maskwright.JsonResponse(file)
    pickled = pickle.dumps(
        (
            maskwright.compile_json_schema(file, byte_vocabulary()),
            maskwright.compile_tools(tools, "auto", byte_vocabulary(), response=response),
        )
    )
    file.unlink()
    for grammar in pickle.loads(pickled):
        assert maskwright.validate(grammar, '{"a": 1}')
        assert not maskwright.validate(grammar, '{"b": 1}')


def test_a_copy_of_a_matcher_goes_its_own_way() -> None:
    grammar = maskwright.compile_regex("ab|ac", byte_vocabulary())
    matcher = grammar.matcher()
    assert matcher.accept(ord("a"))
    for twin in (matcher.copy(), copy.copy(matcher), copy.deepcopy(matcher)):
        mask, other = np.zeros(9, np.int32), np.zeros(9, np.int32)
        matcher.fill_mask(mask)
        twin.fill_mask(other)
        assert (mask == other).all()
        assert twin.accept(ord("b"))
        assert twin.accepting
        assert not matcher.accepting
