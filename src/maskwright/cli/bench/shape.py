"""Measure what a shape costs: compiling it, its first mask, and the masks of texts.

SHAPE is a file, '-', the shape itself, or the name of a schema or grammar that ships with the
package. The texts come from FILES and `--text`, or else are random ones of the shape. They are
divided by the tokenizer of `--model`, and a mask is computed before each token.

The first reading finds nothing known of the shape, as in a server to which it is new; the later
ones compile it again, as a server does that no longer has it. Each engine has compiled a trivial
shape before. Rows "with budgets" are about masks that allow only what can be completed within a
limit of tokens, hardly larger than the text needs. llguidance and xgrammar are measured in turns
with it, if they are installed.

`maskwright bench serve` measures a running server under load.

Exit code: 0; 2 if the shape, an option or a file can't be used, or a text isn't allowed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from maskwright.cli.arguments import Argument
from maskwright.cli.options import JSON_HELP, KIND_HELP, SHAPE_HELP, TEXT_HELP, VOCABULARY_HELP
from maskwright.settings import Option
from maskwright.workbench.choices import Kind


@dataclass(frozen=True, slots=True)
class BenchOptions:
    """What `maskwright bench` is given."""

    shape: Annotated[str, Argument(help=SHAPE_HELP)]
    files: Annotated[
        list[str], Argument(help="Files with texts to read; '-' is standard input.")
    ] = field(default_factory=list[str])
    text: Annotated[list[str], Option(help=TEXT_HELP)] = field(default_factory=list[str])
    count: Annotated[
        int, Option("--samples", least=1, help="How many random texts, if none is given.")
    ] = 10
    seed: Annotated[int, Option(help="Seed of the random texts.")] = 0
    rounds: Annotated[
        int, Option(least=1, help="How many times the shape is compiled and the texts are read.")
    ] = 5
    model: Annotated[str, Option(help=VOCABULARY_HELP)] = "demo"
    peers: Annotated[bool, Option(help="Measure other engines too, if they are installed.")] = True
    kind: Annotated[Kind, Option(help=KIND_HELP)] = "auto"
    plot: Annotated[
        str | None, Option(help="SVG file to which the times are drawn.", metavar="FILE")
    ] = None
    as_json: Annotated[bool, Option("--json", help=JSON_HELP)] = False
