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

from maskwright.cli.options import (
    BEFORE_HELP,
    JSON_HELP,
    KIND_HELP,
    ORDER_HELP,
    SHAPE_HELP,
    VOCABULARY_HELP,
)
from maskwright.grammar.schema.options import PropertyOrder
from maskwright.settings import argument, option
from maskwright.workbench.choices import Kind


@dataclass(frozen=True, slots=True)
class NextOptions:
    """What `maskwright next` is given."""

    shape: str = argument(SHAPE_HELP)
    file: str | None = argument("File with the beginning of a text; '-' is standard input.", None)
    text: str | None = option(None, "The beginning of a text.")
    model: str | None = option(None, VOCABULARY_HELP)
    probabilities: bool = option(
        False, "Load the model, by default the demo model.", flag="--probabilities"
    )
    prompt: str | None = option(None, BEFORE_HELP)
    kind: Kind = option("auto", KIND_HELP)
    property_order: PropertyOrder = option("schema", ORDER_HELP)
    as_json: bool = option(False, JSON_HELP, flag="--json")
