"""Answers of a model that `maskwright generate` loads. Imports torch."""

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict
from typing import Final

from maskwright.cli.asking import GenerateOptions
from maskwright.cli.input.shapes import SchemaArgument, Shape, compile_shape
from maskwright.cli.options import cache_folder
from maskwright.cli.output.appearance import shown_json
from maskwright.cli.output.progress import progress
from maskwright.engine import Engine, EngineConfig, Generation, Request, TokenScore
from maskwright.models import load
from maskwright.sampling import SamplingParams
from maskwright.vocab import Vocabulary

LIKELY: Final = 8
"""The model's likeliest tokens among which `--json` tells those that the shape forbids."""


def generate(options: GenerateOptions, wanted: Shape, prompt: str) -> None:
    """Print one answer of a model in this process."""
    with progress("loading the model"):
        loaded = load(
            options.model,
            backend=options.backend,
            dtype=options.dtype,
            device=options.device,
            cache=cache_folder(options.cache),
        )
    grammar = compile_shape(
        wanted,
        loaded.vocab,
        whitespace=options.whitespace,
        integers="digits",
        numbers=options.numbers,
        escapes="needed",
    )
    schema = (
        json.dumps(wanted.schema, ensure_ascii=False, separators=(",", ":"))
        if isinstance(wanted, SchemaArgument)
        else None
    )
    tokens = loaded.render_chat([{"role": "user", "content": prompt}], response_schema=schema)
    with Engine(loaded, EngineConfig(max_running=1)) as engine:
        room = max(1, engine.max_context - len(tokens))
        logprobs = LIKELY if options.as_json else None
        generation = engine.submit(
            Request(
                prompt=tokens,
                params=SamplingParams(
                    temperature=options.temperature, seed=options.seed, logprobs=logprobs
                ),
                max_tokens=room if options.max_tokens is None else min(options.max_tokens, room),
                grammar=grammar,
            )
        )
        if options.as_json:
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
    document = {
        "text": text,
        "finish_reason": None if reason is None else reason.value,
        "shortened_at": at,
        **{name: explained[name] for name in ("counts", "kept", "wanted", "steps")},
        "arrival_ms": arrivals,
        "trace": None if generation.trace is None else asdict(generation.trace),
    }
    print(shown_json(document))


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
