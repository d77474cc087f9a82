"""Print the JSON Schema of a Python type: a model of pydantic, a dataclass, a TypedDict.

TYPE is `module:Name`, such as `shop.models:Order`; a class within a class is `module:Outer.Inner`.
The module is imported, and so runs: from the current folder, or from where Python finds it. The
schema goes to standard output, for `check`, `convert` or a request.

Exit code: 0; 2 if the module can't be imported, or the type has no JSON Schema.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from maskwright.cli.input.python_type import schema_of_type
from maskwright.cli.output.appearance import shown_json
from maskwright.settings import argument, option


@dataclass(frozen=True, slots=True)
class FromPydanticOptions:
    """What `maskwright from-pydantic` is given."""

    type_name: str = argument("The type, as module:Name.", metavar="TYPE")
    mode: Literal["validation", "serialization"] = option(
        "validation", "The schema of what is read into the type, or of what it is written as."
    )
    by_alias: bool = option(True, "Whether properties have the aliases of fields as names.")


def run(options: FromPydanticOptions) -> None:
    schema = schema_of_type(options.type_name, options.mode, by_alias=options.by_alias)
    print(shown_json(schema))
