"""The JSON Schema of a Python type that is named as `module:Name`."""

from __future__ import annotations

import importlib
import os
import re
import sys
from difflib import get_close_matches
from os.path import isfile  # of what is too long for the name of a file, it says no
from typing import Any, Final, Literal

from maskwright.errors import InputError

TYPE_NAME: Final = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*:[^\W\d]\w*(?:\.[^\W\d]\w*)*")


def is_type_name(argument: str) -> bool:
    """Whether an argument looks like `module:Name`, and no file is named so."""
    return TYPE_NAME.fullmatch(argument) is not None and not isfile(argument)


def schema_of_type(
    type_name: str,
    mode: Literal["validation", "serialization"] = "validation",
    *,
    by_alias: bool = True,
) -> dict[str, Any]:
    """The schema of the type at `module:Name`, which pydantic makes. The module is imported, and so
    runs. Raises InputError."""
    wanted = find_type(type_name)
    from pydantic import TypeAdapter  # noqa: PLC0415 - takes a fifth of a second
    from pydantic.errors import PydanticUserError  # noqa: PLC0415

    try:
        return TypeAdapter(wanted).json_schema(mode=mode, by_alias=by_alias)
    except (PydanticUserError, TypeError) as error:
        reason = str(error).partition("\n")[0]
        raise InputError(f"{type_name} has no JSON Schema: {reason}", param="type") from None


def find_type(type_name: str) -> Any:
    """The object at `module:Name`. Raises InputError."""
    module_name, colon, path = type_name.partition(":")
    if not (module_name and colon and path):
        raise InputError(f"{type_name}: give module:Name, such as shop.models:Order", param="type")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        found: Any = importlib.import_module(module_name)
    except Exception as error:  # the module is the caller's, and may raise anything
        reason = f"{type(error).__name__}: {error}"
        raise InputError(f"{module_name} can't be imported: {reason}", param="type") from None
    for name in path.split("."):
        if not hasattr(found, name):
            near = get_close_matches(name, [each for each in dir(found) if each[0] != "_"], n=3)
            hint = f"; did you mean {' or '.join(near)}?" if near else ""
            raise InputError(f"there is no {name} in {module_name}{hint}", param="type")
        found = getattr(found, name)
    return found
