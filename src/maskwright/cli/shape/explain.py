"""Say of each keyword of a schema whether it is enforced, an annotation, or refused.

SCHEMA is a file, '-', the schema itself, or the name of one that ships with the package. Each line
has the line of the schema, the state, the JSON Pointer, and a note where one is needed. Nothing is
dropped in silence: an annotation is a keyword that says nothing about which values are valid, or a
name that is no keyword. A schema with a refused or an invalid keyword can't be used; the others are
explained as if it weren't there.

Exit code: 0 if the schema can be used; 1 if a keyword is refused or invalid; 2 if it can't be read.
"""

from __future__ import annotations

from dataclasses import dataclass

from maskwright.cli.options import JSON_HELP, SHAPE_HELP
from maskwright.settings import argument, option


@dataclass(frozen=True, slots=True)
class ExplainOptions:
    """What `maskwright explain` is given."""

    schema: str = argument(SHAPE_HELP)
    as_json: bool = option(False, JSON_HELP, flag="--json")
