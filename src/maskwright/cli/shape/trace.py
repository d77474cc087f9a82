"""Follow a text token by token: how many tokens were allowed, which were forced, what masks took.

SHAPE is a file, '-', the shape itself, or the name of a schema or grammar that ships with the
package. The text is divided by the tokenizer of `--model`. A token that the shape forces is written
without asking the model.

With `--probabilities` the model is loaded, and computes the whole text as its answer to `--prompt`:
for each token the probability that the model gives it (raw), the probability given that the mask
allows it (masked), and that of all tokens that the mask allows (kept). With `--json` the tokens
that the model would rather have written are listed as well.

Exit code: 0 if every token and the end were allowed; 1 if a token of the text wasn't; 3 if only the
end wasn't, so that the text is the beginning of one; 2 if the shape, an option or a file can't be
used.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from maskwright.cli.arguments import Argument
from maskwright.cli.options import (
    BEFORE_HELP,
    JSON_HELP,
    KIND_HELP,
    SHAPE_HELP,
    TEXT_HELP,
    VOCABULARY_HELP,
)
from maskwright.settings import Option
from maskwright.workbench.choices import Kind


@dataclass(frozen=True, slots=True)
class TraceOptions:
    """What `maskwright trace` is given."""

    shape: Annotated[str, Argument(help=SHAPE_HELP)]
    file: Annotated[str | None, Argument(help="File with a text; '-' is standard input.")] = None
    text: Annotated[str | None, Option(help=TEXT_HELP.partition(".")[0] + ".")] = None
    model: Annotated[str, Option(help=VOCABULARY_HELP)] = "demo"
    probabilities: Annotated[
        bool, Option("--probabilities", help="Load the model, and show what it gives each token.")
    ] = False
    prompt: Annotated[str | None, Option(help=BEFORE_HELP)] = None
    kind: Annotated[Kind, Option(help=KIND_HELP)] = "auto"
    as_json: Annotated[bool, Option("--json", help=JSON_HELP)] = False
