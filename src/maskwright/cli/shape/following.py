"""Say what may follow a prefix: characters, texts, tokens, and whether the text may end.

SHAPE is a file, '-', the shape itself, or the name of a schema or grammar that ships with the
package. Without a prefix, this says how a text may begin.

With `--model`, the tokens of its vocabulary that may follow are counted, and some of them shown;
the model itself isn't loaded. With `--probabilities` it is, and reads the prefix as the beginning
of its answer to `--prompt`: its likeliest tokens are shown with their probabilities, those that
the shape forbids among them, and the probability of all that may follow (kept).

Exit code: 0 if the prefix is the beginning of a text of the shape; 1 if it isn't; 2 if the shape,
an option or a file can't be used.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from maskwright.cli.arguments import Argument
from maskwright.cli.options import (
    BEFORE_HELP,
    JSON_HELP,
    KIND_HELP,
    ORDER_HELP,
    SHAPE_HELP,
    VOCABULARY_HELP,
)
from maskwright.grammar.schema.options import PropertyOrder
from maskwright.settings import Option
from maskwright.workbench.choices import Kind


@dataclass(frozen=True, slots=True)
class NextOptions:
    """What `maskwright next` is given."""

    shape: Annotated[str, Argument(help=SHAPE_HELP)]
    file: Annotated[
        str | None, Argument(help="File with the beginning of a text; '-' is standard input.")
    ] = None
    text: Annotated[str | None, Option(help="The beginning of a text.")] = None
    model: Annotated[str | None, Option(help=VOCABULARY_HELP)] = None
    probabilities: Annotated[
        bool, Option("--probabilities", help="Load the model, by default the demo model.")
    ] = False
    prompt: Annotated[str | None, Option(help=BEFORE_HELP)] = None
    kind: Annotated[Kind, Option(help=KIND_HELP)] = "auto"
    property_order: Annotated[PropertyOrder, Option(help=ORDER_HELP)] = "schema"
    as_json: Annotated[bool, Option("--json", help=JSON_HELP)] = False
