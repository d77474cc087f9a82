"""What the options of `maskwright batch` say of its work: schema, prompt, further fields, files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import cast

from maskwright.cli.bulk.extraction import Extraction
from maskwright.cli.bulk.prompt_template import PromptTemplate
from maskwright.cli.bulk.sources import SourceFormat
from maskwright.cli.input.python_type import is_type_name
from maskwright.cli.input.shipped import read_file_or_shipped
from maskwright.cli.input.texts import YAML, bytes_of, text_argument
from maskwright.errors import InputError
from maskwright.instances import InstanceCheck
from maskwright.json_faults import json_reason


def extraction_of(
    path: Path,
    source: SourceFormat,
    template: PromptTemplate,
    schema: str | None,
    fields: dict[str, object],
    carry: list[str],
) -> Extraction:
    """The work on records. Raises InputError for a schema that can't be read."""
    if schema is None:
        return Extraction(path, source, template, fields, carry)
    read = _read_schema(schema)
    shape = {"name": "record", "schema": read, "strict": True}
    fields = {"response_format": {"type": "json_schema", "json_schema": shape}, **fields}
    return Extraction(path, source, template, fields, carry, InstanceCheck(json.dumps(read)))


def _read_schema(argument: str) -> dict[str, object] | bool:
    """The JSON Schema of an argument. It is read here, since what reads shapes for other commands
    imports the compilers. Raises InputError."""
    inline = argument.lstrip().startswith("{") or argument in ("true", "false")
    if not inline and (is_type_name(argument) or "#/" in argument):
        return _shape(argument)
    text = argument if inline else read_file_or_shipped(argument, ("schema",)).decode()
    try:
        schema: object = _yaml(text) if argument.endswith(YAML) else json.loads(text)
    except InputError as error:
        raise InputError(f"--schema: {error}", param="schema") from None
    except ValueError as error:
        raise InputError(
            f"--schema: not valid JSON: {json_reason(error)}", param="schema"
        ) from None
    if isinstance(schema, list):
        return _shape(argument)
    if not isinstance(schema, dict | bool):
        raise InputError("--schema: a schema is a JSON object, true or false", param="schema")
    return cast(dict[str, object] | bool, schema)


def _shape(argument: str) -> dict[str, object] | bool:
    """The schema of an argument as other commands read it: a Python type, a part of a file, a list
    of tools. Raises InputError."""
    # Only here, because most schemas are files of their own.
    from maskwright.cli.input.shapes import SchemaArgument, read_shape  # noqa: PLC0415

    try:
        found = read_shape(argument, "schema")
    except InputError as error:
        raise InputError(f"--schema: {error}", param="schema") from None
    assert isinstance(found, SchemaArgument)
    return found.schema


def _yaml(text: str) -> object:
    # Only here, because most schemas are JSON.
    from maskwright.cli.input.yaml_text import read_yaml  # noqa: PLC0415

    return read_yaml(text)


def template_of(argument: str | None) -> str | None:
    """The text of a template: the argument itself if it has a place for a field, else a file."""
    if argument is None or "{{" in argument:
        return argument and text_argument(argument, "prompt-template")
    try:
        return bytes_of(argument).decode()
    except InputError as error:
        way_out = "a template is a file, or a text with {{FIELD}}"
        raise InputError(f"--prompt-template {error}; {way_out}", param="prompt_template") from None


def object_of(text: str | None) -> dict[str, object]:
    """The object of the option `--body`. Raises InputError."""
    try:
        value: object = json.loads(text or "{}")
    except ValueError as error:
        reason = json_reason(error)
        raise InputError(f"--body: not valid JSON: {reason}", param="body") from None
    if not isinstance(value, dict):
        raise InputError(f"--body {text}: a JSON object is needed", param="body")
    return cast(dict[str, object], value)


def journals_of(output: str, failures: str | None) -> tuple[Path, Path]:
    """The journals of results and failures. Raises InputError if an option names one file twice, or
    no format."""
    path = Path(output)
    if path.suffix not in (".jsonl", ".ndjson", ".parquet"):
        raise InputError(f"{output}: the name has to end in .jsonl or .parquet", param="output")
    results = path.with_name(f"{path.name}.jsonl") if path.suffix == ".parquet" else path
    failed = path.with_suffix(".failures.jsonl") if failures is None else Path(failures)
    if failed.resolve() == results.resolve():
        raise InputError("results and failures need two files", param="failures")
    return results, failed


def refuse_beside_requests(**options: str | None) -> None:
    """Refuse what would change requests that stand in the input. Raises InputError."""
    for name, value in options.items():
        if value is not None:
            raise InputError(
                f"--{name.replace('_', '-')}: the input has whole requests, which are sent as they "
                "stand",
                param=name,
            )
