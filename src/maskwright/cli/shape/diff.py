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

from maskwright.cli.options import JSON_HELP, KIND_HELP, ORDER_HELP, SHAPE_HELP
from maskwright.grammar.schema.options import PropertyOrder
from maskwright.settings import argument, option
from maskwright.workbench.choices import COMPARISON_SECONDS, MOST_PAIRS, Kind


@dataclass(frozen=True, slots=True)
class DiffOptions:
    """What `maskwright diff` is given."""

    first: str = argument(SHAPE_HELP)
    second: str = argument("The other shape, given in the same ways.")
    kind: Kind = option("auto", KIND_HELP)
    property_order: PropertyOrder = option("any", ORDER_HELP)
    seconds: float = option(COMPARISON_SECONDS, "Time for the comparison.", least=0.1)
    pairs: int = option(MOST_PAIRS, "Most pairs of places to visit.", least=1)
    as_json: bool = option(False, JSON_HELP, flag="--json")
