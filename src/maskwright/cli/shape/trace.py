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

from typing import TYPE_CHECKING, Any

from maskwright.cli.input.opened import given_texts
from maskwright.cli.input.shapes import compile_shape, read_shape
from maskwright.cli.output.appearance import coloured, shown_json
from maskwright.cli.output.progress import progress
from maskwright.cli.shape.options import TraceOptions
from maskwright.errors import InputError
from maskwright.workbench.tokens import TracedToken, traced

if TYPE_CHECKING:
    from maskwright.cli.shape.probabilities import TokenProbability


def run(options: TraceOptions) -> int:
    if (options.file is None) == (options.text is None):
        raise InputError("give a file, '-' for standard input, or --text", param="file")
    if options.prompt is not None and not options.probabilities:
        raise InputError("--prompt needs --probabilities", param="prompt")
    given = given_texts(
        options.shape,
        [options.file] if options.file else [],
        [options.text] if options.text is not None else [],
    )
    [data] = given.values()
    wanted, data = read_shape(options.shape, options.kind), data.rstrip(b"\r\n")
    found: list[TokenProbability] = []
    if options.probabilities:
        # Only here, because it imports torch.
        from maskwright.cli.shape.probabilities import (  # noqa: PLC0415
            asked_model,
            token_probabilities,
        )

        loaded, grammar, asked = asked_model(options.model, wanted, options.prompt or "", "any")
        tokens = [*traced(grammar, data)]
        ids = [token.token for token in tokens]
        found = [*token_probabilities(loaded, grammar, asked, ids)]
    else:
        # Only here, because it imports the library of tokenizers.
        from maskwright.cli.input.vocabulary import read_vocabulary  # noqa: PLC0415

        grammar = compile_shape(wanted, read_vocabulary(options.model), property_order="any")
        with progress("following the text"):
            tokens = [*traced(grammar, data)]
    if options.as_json:
        rows = [token._asdict() for token in tokens]
        for row, probability in zip(rows, found, strict=False):
            row |= probability._asdict()
            row["wanted"] = [each._asdict() for each in probability.wanted]
        print(shown_json({"tokens": rows, **_sums(tokens, found)}))
    else:
        print("\n".join(_lines(tokens, found)))
    if all(token.is_allowed for token in tokens):
        return 0
    read = sum(len(token.bytes) // 2 for token in tokens if token.is_allowed)
    return 3 if read == len(data) else 1  # 3 if only the end isn't, which comes after all bytes


def _lines(tokens: list[TracedToken], found: list[TokenProbability]) -> list[str]:
    head = "     raw   masked     kept  " if found else ""
    width = max(len(repr(token.text)) for token in tokens)
    lines = [f"     id  allowed       µs  {head}{'text':{width}}  at"]
    for number, token in enumerate(tokens):
        mark = coloured("forced", "dim") if token.is_forced else ""
        if not token.is_allowed:
            mark = coloured("not allowed", "red")
        figures = f"{token.token:7}  {token.allowed:7,}  {token.microseconds:7.1f}"
        for probability in found[number][:3] if found else ():
            figures += f"  {_shown(probability)}"
        lines.append(
            f"{figures}  {token.text!r:{width}}  {token.at:{14 * bool(mark)}}  {mark}".rstrip()
        )
    sums = _sums(tokens, found)
    counts, kept = sums["counts"], sums.get("kept")
    plural = "s" * (counts["tokens"] != 1)
    summary = f"{counts['tokens']} token{plural}, {counts['forced']} forced"
    if kept:
        summary += f"; probability kept: {_shown(kept['mean']).strip()} on average, "
        summary += f"{_shown(kept['least']).strip()} at least"
    return [*lines, summary]


def _sums(tokens: list[TracedToken], found: list[TokenProbability]) -> dict[str, Any]:
    """Figures of the whole text."""
    forced = sum(token.is_forced for token in tokens)
    sums: dict[str, Any] = {
        "counts": {"tokens": len(tokens), "forced": forced},
        "microseconds": sum(token.microseconds for token in tokens),
    }
    if found:
        kept = [each.kept for each in found]
        sums["kept"] = {"mean": sum(kept) / len(kept), "least": min(kept)}
    return sums


def _shown(probability: float) -> str:
    """A probability in eight characters, with its magnitude where it is small."""
    small = 0 < probability < 0.0001
    return f"{probability:8.1e}" if small else f"{probability:8.4f}"
