"""The shape that a command is given for its texts: a JSON Schema, a grammar or a pattern.

A schema may stand within a document: a part of an API's description, the tools of a list. It then
has every value of the document that it needs where the document has it, so that JSON Pointers in
messages lead to the place in the file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from difflib import get_close_matches
from os.path import isfile  # of what is too long for the name of a file, it says no
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, TypeAlias, cast

from maskwright import mask
from maskwright.cli.input.faults import ShapeError, place_of, placed
from maskwright.cli.input.python_type import is_type_name, schema_of_type
from maskwright.cli.input.shipped import named, read_file_or_shipped
from maskwright.cli.input.texts import YAML, bytes_of, not_utf8, text_argument
from maskwright.cli.output.progress import progress
from maskwright.errors import GrammarError, InputError
from maskwright.grammar.dialects.detect import Dialect, detect
from maskwright.grammar.schema.document import json_of, kind_of, plain
from maskwright.grammar.schema.drafts import READ_BY_NAME
from maskwright.grammar.schema.remarks import DESCRIPTIONS, looks_like_schema
from maskwright.grammar.schema.tree import Json
from maskwright.json_faults import json_fault, json_reason
from maskwright.shipped import KINDS, ShippedKind
from maskwright.vocab import Vocabulary
from maskwright.workbench.choices import Kind
from maskwright.workbench.pointer import reference_tokens

_KEYWORDS: Final = (READ_BY_NAME | {"const"}) - {"$schema", "$defs", "definitions"}
"""Keywords that say which values there are; none of them is left where a part is chosen."""
_DATA: Final = ("const", "enum", "default", "examples")
"""Keywords whose settings are values, not schemas."""
_PARAMETERS: Final = ("parameters", "input_schema", "inputSchema")
"""Under which names APIs have the schema of a tool's arguments."""


def chosen_part(document: Json, pointer: str, name: str) -> Json:
    """The schema at a pointer: the document without its own keywords, and a reference. Raises
    InputError for a pointer that leads nowhere, with one that is like it, and for one that leads
    into a keyword."""
    if not isinstance(document, dict):
        raise InputError(f"{name}: only an object has parts", param="schema")
    here: Any = document
    for step in reference_tokens(pointer):
        if isinstance(here, dict) and step in here:
            here = cast(dict[str, Any], here)[step]
        elif isinstance(here, list) and step.isdigit() and int(step) < len(cast(list[Any], here)):
            here = cast(list[Any], here)[int(step)]
        else:
            near = get_close_matches(pointer, _pointers(document), n=1, cutoff=0.5)
            hint = f"; did you mean {name}#{near[0]}?" if near else ""
            raise InputError(f"{name} has nothing at #{pointer}{hint}", param="schema")
    first = reference_tokens(pointer)[0]
    if first in _KEYWORDS:
        way_out = _definition_instead(document, here, reference_tokens(pointer)[-1], name)
        raise InputError(
            f"{name}#{pointer} is within a keyword; only definitions can be chosen: {way_out}",
            param="schema",
        )
    others = {key: value for key, value in document.items() if key not in _KEYWORDS}
    return {**others, "$ref": f"#{pointer}"}


def _definition_instead(document: Mapping[str, Any], part: Any, key: str, name: str) -> str:
    """What to do where a part of a keyword was to be chosen: its definition if it refers to one."""
    reference: Any = cast(dict[str, Any], part).get("$ref") if isinstance(part, dict) else None
    if isinstance(reference, str) and reference in {f"#{each}" for each in _pointers(document)}:
        return f"choose {name}{reference}, to which it refers"
    if key in _KEYWORDS or not re.fullmatch("[A-Za-z_][A-Za-z0-9_-]*", key):
        key = "Part"
    held = "definitions" if "definitions" in document else "$defs"
    pointer = f"#/{held}/{key}"
    there = json.dumps({"$ref": pointer})
    return f"move it to '{held}', write {there} in its place, and choose {name}{pointer}"


def _pointers(document: Mapping[str, Any]) -> Iterator[str]:
    """The pointers of schemas where documents usually have them."""
    for place in ("/$defs", "/definitions", "/components/schemas"):
        held: Any = document
        for step in place[1:].split("/"):
            held = cast(dict[str, Any], held).get(step) if isinstance(held, dict) else None
        if isinstance(held, dict):
            yield from (f"{place}/{key}" for key in cast(dict[str, Any], held))


def call_schema(document: Json) -> Json | None:
    """The schema of a call of one of a list of tools, `{"name": …, "arguments": …}`; None for a
    document that is no list of tools, as OpenAI's, Anthropic's or the protocol MCP have them."""
    inside = isinstance(document, dict) and set(document) == {"tools"}
    tools: Any = cast(dict[str, Any], document)["tools"] if inside else document
    if not isinstance(tools, list) or not tools:
        return None
    calls: list[Json] = []
    held: list[Any] = []
    for number, tool in enumerate(cast(list[Any], tools)):
        pointer = f"{'/tools' if inside else ''}/{number}"
        if not isinstance(tool, dict):
            return None
        copy = cast(dict[str, Any], json.loads(json.dumps(tool)))
        function = copy
        if isinstance(copy.get("function"), dict):
            function, pointer = copy["function"], f"{pointer}/function"
        if not isinstance(function.get("name"), str):
            return None
        calls.append(_call(function, pointer))
        held.append(copy)
    rest: dict[str, Json] = {"tools": held} if inside else {str(i): t for i, t in enumerate(held)}
    return {**({"anyOf": calls} if len(calls) > 1 else cast(dict[str, Json], calls[0])), **rest}


def _moved(schema: Any, place: str) -> Any:
    """A schema that was a document of its own, with its references where it is a part at a
    pointer."""
    if isinstance(schema, list):
        return [_moved(each, place) for each in cast(list[Any], schema)]
    if not isinstance(schema, dict):
        return schema
    moved: dict[str, Any] = {}
    for key, value in cast(dict[str, Any], schema).items():
        if key == "$ref" and isinstance(value, str) and value.startswith("#"):
            moved[key] = f"#{place}{value[1:]}"
        elif key not in ("$id", "$schema"):
            moved[key] = value if key in _DATA else _moved(value, place)
    return moved


def _call(function: dict[str, Any], pointer: str) -> Json:
    """The schema of the calls of one tool; the schema of the arguments stands at a pointer.
    References within that mean its own root."""
    name = next((each for each in _PARAMETERS if each in function), None)
    arguments: Json = {"type": "object", "properties": {}, "additionalProperties": False}
    if name is not None and isinstance(function[name], dict):
        place = f"{pointer}/{name}"
        function[name] = _moved(function[name], place)
        arguments = {"$ref": f"#{place}"}
    return {
        "type": "object",
        "properties": {"name": {"const": function["name"]}, "arguments": arguments},
        "required": ["name", "arguments"],
        "additionalProperties": False,
    }


_SHIPPED_KINDS: Final[dict[str, Sequence[ShippedKind]]] = {
    "auto": KINDS,
    "schema": ("schema",),
    "lark": ("grammar",),
}
_IN_YAML: Final[dict[str, Dialect | Literal["auto", "regex"]]] = {
    "grammar": "auto",
    "lark": "lark",
    "gbnf": "gbnf",
    "ebnf": "ebnf",
    "regex": "regex",
    "pattern": "regex",
}
"""Under which names a file in YAML may have the text of a grammar or a pattern."""
_KEYWORD_LINE: Final = re.compile(
    r"^[\"']?(type|\$ref|enum|properties|(any|one|all)Of|openapi|swagger)\b", re.MULTILINE
)
"""The beginning of a line that a schema in YAML has at least one of."""
SUFFIXES: Final[dict[str, Dialect]] = {".lark": "lark", ".gbnf": "gbnf", ".ebnf": "ebnf"}


@dataclass(frozen=True, slots=True)
class SchemaArgument:
    """A JSON Schema; `text` is what it was read from, and `name` where it stands.

    `source`: the schema as it is written, with null keywords and repeated names; compiling warns of
    both.
    """

    schema: dict[str, object] | bool
    text: str = field(default="", compare=False)
    name: str = field(default="the schema", compare=False)
    source: Json = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class GrammarArgument:
    """A grammar; `name` is where it stands."""

    text: str
    dialect: Dialect | Literal["auto"]
    name: str = field(default="the grammar", compare=False)


@dataclass(frozen=True, slots=True)
class RegexArgument:
    """A pattern; `name` is where it stands."""

    pattern: str
    name: str = field(default="the pattern", compare=False)


Shape: TypeAlias = SchemaArgument | GrammarArgument | RegexArgument


class _GivenText(NamedTuple):
    """The text of a shape: its name in messages, and the suffix of the file, if it was in one."""

    name: str
    text: str
    suffix: str = ""


def read_shape(argument: str, kind: Kind = "auto") -> Shape:
    """The shape in a file, on standard input (`-`), in the argument itself, or one that ships.

    "auto": a pattern in a file `*.regex` or between slashes (`/a+/`), a type of Python at
    `module:Name`, a grammar if the file's name or the text says so, else a JSON Schema; of a file
    the part at a JSON Pointer after `#`, and of a list of tools a call of one. Raises InputError.
    """
    is_file = isfile(argument)
    is_pattern = argument.endswith(".regex") if is_file else _in_slashes(argument)
    if kind == "regex" or (kind == "auto" and is_pattern):
        return _read_pattern(argument)
    if kind in ("auto", "schema"):
        if is_type_name(argument):
            schema = schema_of_type(argument)
            text = json.dumps(schema, ensure_ascii=False, indent=2)
            return SchemaArgument(schema, text, argument, cast(Json, schema))
        file, mark, pointer = argument.partition("#/")
        if mark and not is_file and isfile(file):
            return _read_schema(_source(file, "schema"), f"/{pointer}")
    source = _source(argument, kind)
    if kind == "auto" and _is_yaml(source):
        return _shape_in_yaml(source)
    found = _detected(source) if kind == "auto" else kind
    if found == "schema":
        return _read_schema(source)
    if found == "regex":
        return RegexArgument(_without_slashes(source.text.strip()), source.name)
    return GrammarArgument(source.text, found, source.name)


def dialect_of(argument: str) -> Dialect | None:
    """The dialect of a grammar that ships, or what the name of a file says."""
    entry = named(argument)
    if entry is not None:
        return "lark" if entry.kind == "grammar" else None
    return SUFFIXES.get(Path(argument[-255:]).suffix)


def read_grammar_argument(argument: str, dialect: Dialect) -> GrammarArgument:
    """A grammar: the argument itself if it has a colon and no file has its name, else from a file,
    or one that ships unless it is to be in another dialect than Lark."""
    source = _source(argument, dialect)
    return GrammarArgument(source.text, dialect, source.name)


def _source(argument: str, kind: Kind) -> _GivenText:
    """The text that an argument stands for. Raises InputError."""
    if kind in ("auto", "schema") and _looks_like_json(argument):
        return _GivenText("the schema", text_argument(argument, "the schema"))
    is_text = (":" in argument or "\n" in argument) and not isfile(argument)
    if kind != "schema" and is_text:
        return _GivenText("the grammar", text_argument(argument, "grammar"))
    if not argument.strip():
        message = "the shape is empty: give a file, '-' for standard input, the shape itself, or "
        raise InputError(f"{message}the name of one that ships", param="schema")
    kinds = _SHIPPED_KINDS.get(kind, ())
    param = "schema" if kind in ("auto", "schema") else "grammar"
    try:
        text = read_file_or_shipped(argument, kinds).decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(not_utf8(argument, error), param=param) from None
    entry = named(argument)
    return _GivenText(argument, text, Path(entry.file.name if entry else argument[-255:]).suffix)


def _detected(source: _GivenText) -> Literal["schema", "regex", "auto", "lark", "gbnf", "ebnf"]:
    """What a source holds, by the suffix of its file or by its text; "auto" is a grammar."""
    if source.suffix in SUFFIXES:
        return SUFFIXES[source.suffix]
    text = source.text.strip()
    if source.suffix == ".json" or _looks_like_json(text):
        return "schema"
    if source.name == "the grammar":
        return "auto"
    if _in_slashes(text):
        return "regex"
    try:
        detect(text)
    except GrammarError:
        return "schema"
    return "auto"


def _looks_like_json(text: str) -> bool:
    return text.lstrip().startswith("{") or text.strip() in ("true", "false")


def _read_schema(source: _GivenText, pointer: str = "") -> SchemaArgument:
    """The JSON Schema in a text, or the one at a pointer in it; of a list of tools, that of a call.
    Raises InputError with line and column."""
    name = source.name
    written = _yaml(source) if _is_yaml(source) else _json(source)
    if pointer:
        name, written = f"{name}#{pointer}", chosen_part(written, pointer, name)
    elif (call := call_schema(written)) is not None:
        written = call
    if not isinstance(written, dict | bool):
        fault = f"not {kind_of(written)}" if source.text.strip() else "and this is empty"
        raise InputError(
            f"{name}: a schema is a JSON object, true or false, {fault}", param="schema"
        )
    schema, _ = plain(written)
    return SchemaArgument(cast("dict[str, object] | bool", schema), source.text, name, written)


def _json(source: _GivenText) -> Json:
    try:
        return json_of(source.text)
    except json.JSONDecodeError as error:
        reason, position = json_fault(error)
        place = place_of(source.text, position)
        raise ShapeError(source.name, f"not valid JSON: {reason}", place) from None
    except (ValueError, RecursionError) as error:
        message = f"{source.name}: not valid JSON: {json_reason(error)}"
        raise InputError(message, param="schema") from None


# YAML


def _is_yaml(source: _GivenText) -> bool:
    """Whether a text is YAML: by the suffix of its file, or because it has the looks of a schema in
    YAML, which Lark's rules resemble."""
    if source.suffix in YAML:
        return True
    is_else = source.suffix in (".json", *SUFFIXES) or _looks_like_json(source.text)
    if is_else or not _KEYWORD_LINE.search(source.text):
        return False
    try:
        written = _yaml(source)
    except InputError:
        return False
    if not isinstance(written, dict) or "start" in written:
        return False
    return looks_like_schema(written) or any(name in written for name in DESCRIPTIONS)


def _yaml(source: _GivenText) -> Json:
    # Only here, because most shapes are JSON.
    from maskwright.cli.input.yaml_text import read_yaml  # noqa: PLC0415

    try:
        return read_yaml(source.text)
    except GrammarError as error:
        raise placed(error, source.name, source.text) from None


def _shape_in_yaml(source: _GivenText) -> Shape:
    """The shape in a text of YAML: a schema, or a grammar or pattern under a name that says so."""
    written = _yaml(source)
    if isinstance(written, dict) and not looks_like_schema(written):
        for name, dialect in _IN_YAML.items():
            text = written.get(name)
            if isinstance(text, str) and text.strip():
                place = f"{source.name}, {name}"
                if dialect == "regex":
                    return RegexArgument(_without_slashes(text.strip()), place)
                return GrammarArgument(text, dialect, place)
    name = "the schema" if source.name == "the grammar" else source.name
    return _read_schema(source._replace(name=name))


# Patterns


def _in_slashes(text: str) -> bool:
    return len(text) > 2 and text[0] == text[-1] == "/"


def _without_slashes(text: str) -> str:
    return text[1:-1] if _in_slashes(text) else text


def _read_pattern(argument: str) -> RegexArgument:
    """The pattern in a file `*.regex`, on standard input, or in the argument itself. A line break
    at its end doesn't belong to it, nor do slashes around it."""
    is_file = argument.endswith(".regex") and isfile(argument)
    if argument != "-" and not is_file:
        return RegexArgument(_without_slashes(text_argument(argument, "pattern")))
    try:
        pattern = bytes_of(argument).decode()
    except UnicodeDecodeError as error:
        raise InputError(not_utf8(argument, error), param="pattern") from None
    return RegexArgument(_without_slashes(pattern.rstrip("\r\n")), argument)


@contextmanager
def located(shape: Shape) -> Generator[None]:
    """Say in errors about a shape in which file, line and column they are, with a caret under the
    place."""
    try:
        yield
    except InputError as error:
        text = shape.pattern if isinstance(shape, RegexArgument) else shape.text
        raise placed(error, shape.name, text) from None


def compile_shape(shape: Shape, vocab: Vocabulary, **of_schema: Any) -> mask.Grammar:
    """The shape for a vocabulary; `of_schema` are options of `compile_json_schema`. A terminal
    shows that it is compiled. Raises InputError with the place in the shape."""
    with located(shape), progress("compiling the shape"):
        return compile_quietly(shape, vocab, **of_schema)


def compile_quietly(shape: Shape, vocab: Vocabulary, **of_schema: Any) -> mask.Grammar:
    """Do as `compile_shape`, but show nothing, and so do nothing else meanwhile."""
    match shape:
        case SchemaArgument(schema=schema, source=source):
            written = schema if source is None else source
            return mask.compile_json_schema(written, vocab, **of_schema)
        case GrammarArgument(text=text, dialect=dialect):
            return mask.compile_grammar(text, vocab, dialect=dialect)
        case RegexArgument(pattern=pattern):
            return mask.compile_regex(pattern, vocab)
