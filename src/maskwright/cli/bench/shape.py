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

from dataclasses import dataclass

from maskwright.cli.options import JSON_HELP, KIND_HELP, SHAPE_HELP, TEXT_HELP, VOCABULARY_HELP
from maskwright.settings import argument, option
from maskwright.workbench.choices import Kind


@dataclass(frozen=True, slots=True)
class BenchOptions:
    """What `maskwright bench` is given."""

    shape: str = argument(SHAPE_HELP)
    files: list[str] = argument("Files with texts to read; '-' is standard input.", [])
    text: list[str] = option([], TEXT_HELP)
    count: int = option(10, "How many random texts, if none is given.", flag="--samples", least=1)
    seed: int = option(0, "Seed of the random texts.")
    rounds: int = option(5, "How many times the shape is compiled and the texts are read.", least=1)
    model: str = option("demo", VOCABULARY_HELP)
    peers: bool = option(True, "Measure other engines too, if they are installed.")
    kind: Kind = option("auto", KIND_HELP)
    plot: str | None = option(None, "SVG file to which the times are drawn.", metavar="FILE")
    as_json: bool = option(False, JSON_HELP, flag="--json")
