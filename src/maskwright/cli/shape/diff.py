"""Say which texts only one of two shapes accepts.

FIRST and SECOND are each a file, '-', the shape itself, or the name of a schema or grammar that
ships with the package. For each direction this prints the shortest text found that only one of them
accepts, or says that there is none, or that none was found within the bounds. Texts are compared as
they are written: white space between the parts of JSON is a part of them.

Exit code: 0 if both accept the same texts; 1 if a text was found that only one accepts; 3 if none
was found, and that there is none was not shown; 2 if a shape or an option can't be used.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from maskwright.cli.arguments import Argument
from maskwright.cli.options import JSON_HELP, KIND_HELP, ORDER_HELP, SHAPE_HELP
from maskwright.grammar.schema.options import PropertyOrder
from maskwright.settings import Option
from maskwright.workbench.choices import COMPARISON_SECONDS, MOST_PAIRS, Kind


@dataclass(frozen=True, slots=True)
class DiffOptions:
    """What `maskwright diff` is given."""

    first: Annotated[str, Argument(help=SHAPE_HELP)]
    second: Annotated[str, Argument(help="The other shape, given in the same ways.")]
    kind: Annotated[Kind, Option(help=KIND_HELP)] = "auto"
    property_order: Annotated[PropertyOrder, Option(help=ORDER_HELP)] = "any"
    seconds: Annotated[float, Option(least=0.1, help="Time for the comparison.")] = (
        COMPARISON_SECONDS
    )
    pairs: Annotated[int, Option(least=1, help="Most pairs of places to visit.")] = MOST_PAIRS
    as_json: Annotated[bool, Option("--json", help=JSON_HELP)] = False
