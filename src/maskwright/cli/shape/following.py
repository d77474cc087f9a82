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

from maskwright.cli.input.opened import OpenedShape, given_texts, open_shape
from maskwright.cli.input.shapes import compile_shape
from maskwright.cli.output.appearance import coloured, shown_json
from maskwright.cli.output.verdicts import fault_lines, following_lines
from maskwright.cli.shape.options import NextOptions
from maskwright.errors import InputError
from maskwright.grammar.schema.options import PropertyOrder
from maskwright.workbench.explanation import Data, following_data, reading_data
from maskwright.workbench.reading import TextReading, Verdict, read_text
from maskwright.workbench.tokens import AllowedTokens, tokens_of

MOST_TOKENS = 24
"""Tokens that are shown."""
MOST_LIKELY = 20
"""The model's likeliest tokens that are shown."""


def run(options: NextOptions) -> int:
    if options.prompt is not None and not options.probabilities:
        raise InputError("--prompt needs --probabilities", param="prompt")
    if options.file is not None and options.text is not None:
        raise InputError("give either a file or --text", param="text")
    files = [] if options.file is None else [options.file]
    given = given_texts(options.shape, files, [] if files else [options.text or ""])
    [(name, text)] = given.items()
    opened = open_shape(options.shape, options.kind, options.property_order)
    reading = read_text(opened.grammar, text)
    is_prefix = reading.verdict is not Verdict.MISMATCH
    model, order = options.model or "demo", options.property_order
    tokens = None
    if (options.model is not None or options.probabilities) and is_prefix:
        from maskwright.cli.input.vocabulary import read_vocabulary  # noqa: PLC0415 - for tokens

        grammar = compile_shape(opened.shape, read_vocabulary(model), property_order=order)
        tokens = tokens_of(read_text(grammar, text).matcher)
    likely: Data = {}
    if options.probabilities and is_prefix:
        likely = _likely(opened, model, text, options.prompt or "", order)
    if options.as_json:
        print(shown_json(_data(reading, tokens) | likely))
        return 0 if is_prefix else Verdict.MISMATCH.value
    lines = following_lines(reading)
    if tokens is not None:
        shown = " ".join(repr(token) for token in tokens.texts[:MOST_TOKENS])
        more = " …" if len(tokens.ids) > MOST_TOKENS else ""
        lines.append(f"  tokens   {len(tokens.ids):,} of {tokens.size:,}: {shown}{more}")
    if likely:
        lines.append(f"  kept     {likely['kept']:.4f} of the model's probability")
        for each in likely["likely"]:
            mark = "" if each["is_allowed"] else coloured("  not allowed", "red")
            lines.append(f"  {each['raw']:8.4f}  {each['text']!r}{mark}")
    head = [] if is_prefix else fault_lines(name, reading)
    print("\n".join([*head, *lines]))
    return 0 if is_prefix else Verdict.MISMATCH.value


def _likely(
    opened: OpenedShape, model: str, text: bytes, prompt: str, property_order: PropertyOrder
) -> Data:
    """What a model would write next, and how much of that the shape allows."""
    # Only here, because it imports torch.
    from maskwright.cli.shape.probabilities import asked_model, next_probabilities  # noqa: PLC0415

    loaded, grammar, asked = asked_model(model, opened.shape, prompt, property_order)
    found, kept = next_probabilities(loaded, grammar, asked, text, MOST_LIKELY)
    return {"kept": kept, "likely": [each._asdict() for each in found]}


def _data(reading: TextReading, tokens: AllowedTokens | None) -> Data:
    if reading.verdict is Verdict.MISMATCH:
        return reading_data(reading)
    found = {"verdict": "prefix", "accepted": reading.accepted, **following_data(reading)}
    if tokens is not None:
        found["tokens"] = tokens.data()
    return found
