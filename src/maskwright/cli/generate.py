"""Generate one answer that has the shape of a JSON Schema, a grammar or a pattern.

SHAPE is a file, the shape itself, or the name of a schema or grammar that ships with the package; a
file of that name comes first. The answer goes to standard output while it is generated. The model
sees a schema beside the prompt. It doesn't see a grammar or a pattern, which the prompt should
therefore describe.

Where the token limit has shortened the answer, which is whole all the same if there is a shape,
standard error says so.

With `--json`, the answer is printed when it is complete, with each of its tokens: how many were
allowed in its place, the logarithms of its probability, what the model would rather have written,
and when it arrived.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict
from typing import Annotated, Final

from maskwright.automaton.value.whitespace import WhitespaceName
from maskwright.cli.arguments import Argument, Option
from maskwright.cli.input.shapes import Kind, SchemaArgument, compile_shape, read_shape
from maskwright.cli.input.texts import text_argument
from maskwright.cli.options import (
    BACKEND_HELP,
    CACHE_HELP,
    DEVICE_HELP,
    DTYPE_HELP,
    JSON_HELP,
    KIND_HELP,
    MODEL_HELP,
    SHAPE_HELP,
    USER_CACHE,
    WHITESPACE_HELP,
    cache_folder,
)
from maskwright.cli.output.progress import progress
from maskwright.engine import Engine, EngineConfig, Generation, Request, TokenScore
from maskwright.models import DEMO_PATH, Backend, Dtype, load
from maskwright.sampling import SamplingParams
from maskwright.vocab import Vocabulary

LIKELY: Final = 8
"""The model's likeliest tokens among which `--json` tells those that the shape forbids."""


def generate(
    shape: Annotated[str, Argument(help=SHAPE_HELP)],
    prompt: Annotated[str, Option(help="The user's message to the model.")],
    model: Annotated[str, Option(help=MODEL_HELP, show_default="the demo model")] = str(DEMO_PATH),
    backend: Annotated[Backend, Option(help=BACKEND_HELP)] = "auto",
    device: Annotated[str, Option(help=DEVICE_HELP)] = "cpu",
    dtype: Annotated[Dtype, Option(help=DTYPE_HELP)] = "auto",
    kind: Annotated[Kind, Option(help=KIND_HELP)] = "auto",
    max_tokens: Annotated[
        int | None,
        Option(least=1, help="Most tokens of the answer. Default: what the context has left."),
    ] = None,
    temperature: Annotated[
        float, Option(help="Temperature of sampling; 0 takes the likeliest token each time.")
    ] = 0.0,
    whitespace: Annotated[WhitespaceName, Option(help=WHITESPACE_HELP)] = "spaced",
    seed: Annotated[
        int | None, Option(help="Seed of the samples, which makes the answer repeatable.")
    ] = None,
    cache: Annotated[str, Option(envvar="MASKWRIGHT_CACHE", help=CACHE_HELP)] = str(USER_CACHE),
    as_json: Annotated[bool, Option("--json", help=JSON_HELP)] = False,
) -> None:
    wanted = read_shape(shape, kind)
    prompt = text_argument(prompt, "prompt")
    with progress("loading the model"):
        loaded = load(model, backend=backend, dtype=dtype, device=device, cache=cache_folder(cache))
    grammar = compile_shape(
        wanted, loaded.vocab, whitespace=whitespace, integers="digits", escapes="needed"
    )
    told = (
        json.dumps(wanted.schema, ensure_ascii=False, separators=(",", ":"))
        if isinstance(wanted, SchemaArgument)
        else None
    )
    tokens = loaded.render_chat([{"role": "user", "content": prompt}], response_schema=told)
    with Engine(loaded, EngineConfig(max_running=1)) as engine:
        room = max(1, engine.max_context - len(tokens))
        logprobs = LIKELY if as_json else None
        generation = engine.submit(
            Request(
                prompt=tokens,
                params=SamplingParams(temperature=temperature, seed=seed, logprobs=logprobs),
                max_tokens=room if max_tokens is None else min(max_tokens, room),
                grammar=grammar,
            )
        )
        if as_json:
            _print_figures(generation, loaded.vocab)
        else:
            _print(generation)


def _print_figures(generation: Generation, vocabulary: Vocabulary) -> None:
    """Print an answer with the figures of its tokens, as the server explains them."""
    # Only here, because it imports the server.
    from maskwright.server.guarantees.records import Records  # noqa: PLC0415

    start = time.perf_counter()
    text, scores, arrivals, reason, at = "", list[TokenScore](), list[float](), None, None
    for delta in generation:
        if delta.error is not None:
            raise delta.error
        text += delta.text
        scores += delta.scores
        arrivals += [1000 * (time.perf_counter() - start)] * len(delta.scores)
        reason, at = delta.finish_reason, delta.shortened_at
    records = Records(vocabulary)
    records.keep(None, "answer", 0, scores)
    explained = records.explained(None, "answer", 0) or {}
    told = {
        "text": text,
        "finish_reason": None if reason is None else reason.value,
        "shortened_at": at,
        **{name: explained[name] for name in ("counts", "kept", "wanted", "steps")},
        "arrival_ms": arrivals,
        "trace": None if generation.trace is None else asdict(generation.trace),
    }
    print(json.dumps(told, ensure_ascii=False, indent=2))


def _print(generation: Generation) -> None:
    """Print text as it comes, and a line break at the end; and whether the limit has shortened
    it."""
    tokens, at = 0, None
    for delta in generation:
        print(delta.text, end="", flush=True)
        if delta.error is not None:
            raise delta.error
        tokens, at = tokens + len(delta.token_ids), delta.shortened_at
    print()
    if at is not None:
        where = f"from token {at + 1} of {tokens} on" if at < tokens else f"after {tokens} tokens"
        print(f"the token limit has shortened the answer {where}", file=sys.stderr)
