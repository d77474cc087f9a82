"""Print the JSON Schema of a Python type: a model of pydantic, a dataclass, a TypedDict.

TYPE is `module:Name`, such as `shop.models:Order`; a class within a class is `module:Outer.Inner`.
The module is imported, and so runs: from the current folder, or from where Python finds it. The
schema goes to standard output, for `check`, `convert` or a request.

Exit code: 0; 2 if the module can't be imported, or the type has no JSON Schema.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Annotated, Any, Literal

from maskwright.cli.arguments import Argument
from maskwright.errors import InputError
from maskwright.settings import Option


@dataclass(frozen=True, slots=True)
class FromPydanticOptions:
    """What `maskwright from-pydantic` is given."""

    type_name: Annotated[str, Argument(help="The type, as module:Name.", metavar="TYPE")]
    mode: Annotated[
        Literal["validation", "serialization"],
        Option(help="The schema of what is read into the type, or of what it is written as."),
    ] = "validation"
    by_alias: Annotated[
        bool, Option(help="Whether properties have the aliases of fields as names.")
    ] = True


def run(options: FromPydanticOptions) -> None:
    wanted = _find(options.type_name)
    from pydantic import TypeAdapter  # noqa: PLC0415 - takes a fifth of a second
    from pydantic.errors import PydanticUserError  # noqa: PLC0415

    try:
        schema = TypeAdapter(wanted).json_schema(mode=options.mode, by_alias=options.by_alias)
    except (PydanticUserError, TypeError) as error:
        reason = str(error).partition("\n")[0]
        raise InputError(
            f"{options.type_name} has no JSON Schema: {reason}", param="type"
        ) from None
    print(json.dumps(schema, ensure_ascii=False, indent=2))


def _find(type_name: str) -> Any:
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
