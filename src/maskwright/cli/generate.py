"""Generate one answer that has the shape of a JSON Schema, a grammar or a pattern.

SHAPE is a file, the shape itself, or the name of a schema or grammar that ships with the package; a
file of that name comes first. The answer goes to standard output while it is generated. The model
sees a schema beside the prompt. It doesn't see a grammar or a pattern, which the prompt should
therefore describe. Without `--prompt`, the prompt is read from standard input.

`--url` asks a server instead of a model in this process; its own settings then say how white space
and numbers are written.

Where the token limit has shortened the answer, which is whole all the same if there is a shape,
standard error says so.

With `--json`, the answer is printed when it is complete, with each of its tokens: how many were
allowed in its place, the logarithms of its probability, what the model would rather have written,
and when it arrived; with `--url`, with why it ended and what the server counted.
"""

from __future__ import annotations

import sys
from dataclasses import fields
from typing import Final

from maskwright.cli.asking import GenerateOptions, sampling_fields
from maskwright.cli.input.shapes import Shape, read_shape
from maskwright.cli.input.texts import bytes_of, text_argument
from maskwright.cli.output.appearance import remark, shown_json
from maskwright.cli.output.progress import loading
from maskwright.errors import InputError

HERE_ONLY: Final = ("model", "backend", "device", "dtype", "whitespace", "numbers")
"""Options about a model in this process."""


def run(options: GenerateOptions) -> None:
    if options.shape == "-" and options.prompt in (None, "-"):
        raise InputError("standard input is read once; give --prompt", param="prompt")
    wanted = read_shape(options.shape, options.kind)
    prompt = _prompt(options.prompt)
    if options.url is not None:
        _ask(options, options.url, wanted, prompt)
        return
    with loading():
        from maskwright.cli.generate_here import generate  # noqa: PLC0415 - imports torch

    generate(options, wanted, prompt)


def _prompt(given: str | None) -> str:
    """The prompt of the option, or that on standard input. Raises InputError."""
    if given not in (None, "-"):
        return text_argument(given, "prompt")
    if given is None and sys.stdin.isatty():
        raise InputError("give --prompt, or the prompt on standard input", param="prompt")
    try:
        prompt = bytes_of("-").decode().rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise InputError(f"the prompt is not UTF-8 (byte {error.start})", param="prompt") from None
    if not prompt:
        raise InputError("the prompt is empty: give --prompt, or standard input", param="prompt")
    return prompt


def _ask(options: GenerateOptions, url: str, wanted: Shape, prompt: str) -> None:
    """Print one answer of a server. Raises InputError for options that it can't obey."""
    # Only here, because a model in this process needs no client.
    from maskwright.cli.process.chats import chat_client  # noqa: PLC0415

    for field in fields(options):
        if field.name in HERE_ONLY and getattr(options, field.name) != field.default:
            raise InputError(
                f"--{field.name} is for a model in this process; with --url the server has its own",
                param=field.name,
            )
    with chat_client(url, options.access, options.name) as client:
        answer = client.stream(
            [{"role": "user", "content": prompt}], wanted, sampling_fields(options)
        )
        for piece in answer.pieces:
            if not options.as_json:
                print(piece, end="", flush=True)
    if options.as_json:
        figures = {"finish_reason": answer.finish_reason, "usage": answer.usage}
        print(shown_json({"text": answer.text, **figures}))
        return
    print()
    if answer.finish_reason == "length":
        remark("the token limit has shortened the answer")
