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

from maskwright.cli.options import (
    BEFORE_HELP,
    JSON_HELP,
    KIND_HELP,
    SHAPE_HELP,
    TEXT_HELP,
    VOCABULARY_HELP,
)
from maskwright.settings import argument, option
from maskwright.workbench.choices import Kind


@dataclass(frozen=True, slots=True)
class TraceOptions:
    """What `maskwright trace` is given."""

    shape: str = argument(SHAPE_HELP)
    file: str | None = argument("File with a text; '-' is standard input.", None)
    text: str | None = option(None, TEXT_HELP.partition(".")[0] + ".")
    model: str = option("demo", VOCABULARY_HELP)
    probabilities: bool = option(
        False, "Load the model, and show what it gives each token.", flag="--probabilities"
    )
    prompt: str | None = option(None, BEFORE_HELP)
    kind: Kind = option("auto", KIND_HELP)
    as_json: bool = option(False, JSON_HELP, flag="--json")
