"""A first answer of an engine, and the greeting of `serve` that shows how to ask for one."""

from __future__ import annotations

import json

from maskwright.engine import Engine, Request
from maskwright.mask import CompiledGrammar, compile_json_schema
from maskwright.processes import Build, GrammarProcesses
from maskwright.sampling import SamplingParams

SCHEMA: dict[str, object] = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "age": {"type": "integer"},
        "city": {"type": "string"},
    },
    "required": ["name", "age", "city"],
    "additionalProperties": False,
}
EXAMPLE = {
    "messages": [{"role": "user", "content": "Anna Berg, 34, lives in Oslo."}],
    "response_format": {"type": "json_schema", "json_schema": {"name": "person", "schema": SCHEMA}},
    "temperature": 0,
}


def warm_up(engine: Engine, processes: GrammarProcesses | None = None) -> None:
    """Generate one short answer, so that the first client doesn't wait for what is compiled or read
    only once. If the context has no room for it, nothing is generated."""
    grammar: CompiledGrammar
    if processes is None:
        grammar = compile_json_schema(SCHEMA, engine.loaded.vocab)
    else:
        grammar = processes.compile(Build(compile_json_schema, (SCHEMA,), {})).result()
    prompt = engine.loaded.vocab.encode(b"{")
    tokens = min(2 * grammar.min_tokens, engine.max_context - len(prompt))
    if tokens >= grammar.min_tokens:
        engine.submit(
            Request(prompt, SamplingParams(), max_tokens=tokens, grammar=grammar)
        ).result()


def greeting(model: str, url: str, *, keyed: bool = False) -> str:
    """What is printed at the start: that the server is ready, and a command that tries it. `keyed`:
    it needs a key."""
    body = json.dumps({"model": model, **EXAMPLE})
    key = '-H "Authorization: Bearer $MASKWRIGHT_API_KEY" ' if keyed else ""
    return (
        f"maskwright is ready: {model} at {url}/v1\n\nTry it:\n\n"
        f"curl -s {url}/v1/chat/completions {key}-H 'Content-Type: application/json' -d '{body}'\n"
    )
