"""What a command is given: a schema in a file or inline, texts in files or on stdin."""

from __future__ import annotations

import json
import sys
from codecs import BOM_UTF8
from pathlib import Path

from maskwright.errors import InputError


def read_schema(argument: str) -> dict[str, object] | bool:
    """The JSON Schema in a file, or in the argument itself when that is JSON.

    Raises InputError with line and column.
    """
    inline = argument.lstrip().startswith("{") or argument.strip() in ("true", "false")
    name = "the schema" if inline else argument
    try:
        text = text_argument(argument, name) if inline else read_text(argument).decode("utf-8")
        schema: object = json.loads(text)
    except UnicodeDecodeError as error:
        raise InputError(f"{name}: not UTF-8 (byte {error.start})", param="schema") from None
    except json.JSONDecodeError as error:
        raise InputError(
            f"{name}:{error.lineno}:{error.colno}: not valid JSON: {error.msg}", param="schema"
        ) from None
    except (ValueError, RecursionError):
        raise InputError(f"{name}: not valid JSON, or nested too deep", param="schema") from None
    if not isinstance(schema, dict | bool):
        raise InputError(f"{name}: a schema is a JSON object, true or false", param="schema")
    return schema


def text_argument(argument: str, param: str) -> str:
    """An argument of the command line, refused if it isn't UTF-8 (Python marks such bytes)."""
    if not argument.isascii() and any("\udc80" <= character <= "\udcff" for character in argument):
        raise InputError(f"{param} is not UTF-8", param=param)
    return argument


def read_text(path: str) -> bytes:
    """The bytes of a file, without a byte order mark; `-` is stdin."""
    if path == "-":
        return sys.stdin.buffer.read().removeprefix(BOM_UTF8)
    try:
        return Path(path).read_bytes().removeprefix(BOM_UTF8)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}", param="file") from None
