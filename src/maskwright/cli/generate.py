"""Generate one answer that has the shape of a JSON Schema, a grammar or a pattern.

SHAPE is a file or the shape itself. The answer goes to stdout as it is made. The model is told of a
schema; of a grammar or a pattern, the prompt must tell it.
"""

from __future__ import annotations

import json
from typing import Annotated

import typer

from maskwright.automaton.value.whitespace import WhitespaceName
from maskwright.cli.cache import USER_CACHE, cache_folder
from maskwright.cli.inputs import text_argument
from maskwright.cli.shapes import Kind, SchemaShape, compile_shape, read_shape
from maskwright.engine import Engine, EngineConfig, Generation, Request
from maskwright.models import DEMO_PATH, Backend, load
from maskwright.sampling import SamplingParams


def generate(
    shape: Annotated[
        str, typer.Argument(help="A JSON Schema, a grammar or a pattern, or a file with one.")
    ],
    prompt: Annotated[str, typer.Option(help="What the model is told.")],
    model: Annotated[
        str, typer.Option(help="Checkpoint folder, or hub id. Default: the demo model that ships.")
    ] = str(DEMO_PATH),
    backend: Annotated[
        Backend,
        typer.Option(help="What computes the model; 'auto': the dense decoder where it can."),
    ] = "auto",
    kind: Annotated[
        Kind,
        typer.Option(help="What SHAPE is; 'auto' takes schemas and grammars, but no patterns."),
    ] = "auto",
    max_tokens: Annotated[
        int | None, typer.Option(min=1, help="Most tokens. Default: to the end of the context.")
    ] = None,
    temperature: Annotated[
        float, typer.Option(help="0 takes the likeliest token each time.")
    ] = 0.0,
    whitespace: Annotated[
        WhitespaceName,
        typer.Option(help="White space in the answer; 'flexible': any."),
    ] = "spaced",
    seed: Annotated[int | None, typer.Option(help="Makes sampling repeatable.")] = None,
    cache: Annotated[
        str,
        typer.Option(
            envvar="MASKWRIGHT_CACHE",
            help="Folder that keeps what is computed once a vocabulary; 'off': nothing is kept.",
        ),
    ] = str(USER_CACHE),
) -> None:
    wanted = read_shape(shape, kind)
    prompt = text_argument(prompt, "prompt")
    loaded = load(model, backend=backend, cache=cache_folder(cache))
    grammar = compile_shape(
        wanted, loaded.vocab, whitespace=whitespace, integers="digits", escapes="needed"
    )
    told = (
        json.dumps(wanted.schema, ensure_ascii=False, separators=(",", ":"))
        if isinstance(wanted, SchemaShape)
        else None
    )
    tokens = loaded.render_chat([{"role": "user", "content": prompt}], response_schema=told)
    with Engine(loaded, EngineConfig(max_running=1)) as engine:
        room = max(1, engine.max_context - len(tokens))
        _print(
            engine.submit(
                Request(
                    prompt=tokens,
                    params=SamplingParams(temperature=temperature, seed=seed),
                    max_tokens=room if max_tokens is None else min(max_tokens, room),
                    grammar=grammar,
                )
            )
        )


def _print(generation: Generation) -> None:
    """Text as it comes, and a line break at the end."""
    for delta in generation:
        typer.echo(delta.text, nl=False)
        if delta.error is not None:
            raise delta.error
    typer.echo()
