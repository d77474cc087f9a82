"""The engine on the demo model: tokens a second and time to the first token, by number of clients,
with and without a schema; transformers' `generate` beside it on one static batch.

    python benchmarks/engine.py [--model DIR] [--tokens 96] [--save]

All requests of a row are submitted at once. Unconstrained requests run to the token limit; those
with a schema end when their JSON is complete, so their rows tell tokens a second, not requests.
`generate` samples the same number of tokens from the same prompts (padded to one length), without
any constraint. Everything takes the number of threads that the engine chooses for the model.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from pathlib import Path

import jsonschema
import torch
from transformers import AutoModelForCausalLM

from maskwright.engine import Engine, EngineConfig, FinishReason, Generation, Request
from maskwright.mask import Grammar, compile_json_schema
from maskwright.models import DEMO_PATH, LoadedModel, load
from maskwright.sampling import SamplingParams
from report import Report, figures

CLIENTS = (1, 8, 32)
REPEATS = 3
TEXTS = (
    "Order 4471: 3 desk lamps and 12 notebooks for Petra Vogel, to be sent on 2026-03-14.",
    "Please send 2 kettles to Omar Haddad. It is order number 902 and it should leave on May 2.",
    "Ines Carvalho ordered one chair, four mugs and a rug (order 18) on the first of June 2025.",
)
SCHEMA = {
    "type": "object",
    "properties": {
        "order": {"type": "integer", "minimum": 0, "maximum": 99999},
        "customer": {"type": "string", "maxLength": 40},
        "date": {"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"},
        "items": {
            "type": "array",
            "maxItems": 4,
            "items": {
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "count": {"type": "integer", "minimum": 1, "maximum": 999},
                },
                "required": ["name", "count"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["order", "customer", "date", "items"],
    "additionalProperties": False,
}


async def reader(generation: Generation, started: float) -> tuple[float, int, str]:
    """Seconds to the first text, tokens, text."""
    first, tokens, text = None, 0, ""
    async for delta in generation:
        if first is None and delta.text:
            first = time.perf_counter() - started
        tokens += len(delta.token_ids)
        text += delta.text
        if delta.finish_reason is FinishReason.ERROR:
            raise RuntimeError("a request failed") from delta.error
    return first or 0.0, tokens, text


def serve(engine: Engine, requests: list[Request]) -> tuple[float, list[tuple[float, int, str]]]:
    """Seconds for all of them together, and what each reader saw."""

    async def main() -> tuple[float, list[tuple[float, int, str]]]:
        started = time.perf_counter()
        generations = [engine.submit(request) for request in requests]
        read = await asyncio.gather(*(reader(g, started) for g in generations))
        return time.perf_counter() - started, read

    return asyncio.run(main())


def measure(
    report: Report, loaded: LoadedModel, clients: int, tokens: int, grammar: Grammar | None
) -> None:
    """One row of ours: the median of the repeats' rates, every request's time to first text."""
    prompts = prompts_of(loaded, clients)
    rates, firsts = [], []
    with Engine(loaded, EngineConfig(max_running=64)) as engine:
        for repeat in range(REPEATS + 1):
            requests = [
                Request(
                    prompt,
                    SamplingParams(seed=1000 * repeat + number),
                    tokens,
                    grammar=grammar,
                    eos=() if grammar is None else None,
                )
                for number, prompt in enumerate(prompts)
            ]
            seconds, read = serve(engine, requests)
            if grammar is not None:
                for _, _, text in read:
                    jsonschema.validate(json.loads(text), SCHEMA)
            if repeat:  # the first one warms up
                rates.append(sum(count for _, count, _ in read) / seconds)
                firsts += [first * 1000 for first, _, _ in read]
        stats = engine.stats()
    spent = sum(stats.seconds.values())
    report.add(
        f"{clients} clients",
        engine="maskwright",
        schema="yes" if grammar else "no",
        **{"tokens/s": sorted(rates)[len(rates) // 2], "step_ms": spent / stats.steps * 1000},
        **{f"{part}_%": 100 * value / spent for part, value in stats.seconds.items()},
        **{k: v for k, v in figures(firsts, "ttft_ms").items() if k.endswith(("p50", "p99"))},
    )


def measure_generate(
    report: Report, loaded: LoadedModel, path: Path, clients: int, tokens: int
) -> None:
    """The same prompts through transformers, left-padded into one batch."""
    model = AutoModelForCausalLM.from_pretrained(path, dtype=torch.float32).eval()
    prompts = prompts_of(loaded, clients)
    longest = max(map(len, prompts))
    ids = torch.tensor([[0] * (longest - len(p)) + p for p in prompts])
    mask = torch.tensor([[0] * (longest - len(p)) + [1] * len(p) for p in prompts])
    rates = []
    for repeat in range(REPEATS + 1):
        torch.manual_seed(repeat)
        started = time.perf_counter()
        with torch.inference_mode():
            model.generate(
                ids,
                attention_mask=mask,
                do_sample=True,
                min_new_tokens=tokens,
                max_new_tokens=tokens,
                pad_token_id=0,
            )
        if repeat:
            rates.append(clients * tokens / (time.perf_counter() - started))
    report.add(
        f"{clients} clients",
        engine="transformers generate",
        schema="no",
        **{"tokens/s": sorted(rates)[len(rates) // 2]},
    )


def prompts_of(loaded: LoadedModel, clients: int) -> list[list[int]]:
    """Chats with the schema in the prompt, whether or not it is enforced."""
    schema = json.dumps(SCHEMA, separators=(",", ":"))
    return [
        loaded.render_chat(
            [{"role": "user", "content": TEXTS[number % len(TEXTS)]}], response_schema=schema
        )
        for number in range(clients)
    ]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, default=DEMO_PATH)
    parser.add_argument("--tokens", type=int, default=96)
    parser.add_argument("--save", action="store_true")
    options = parser.parse_args()
    loaded = load(options.model)
    torch.set_num_threads(1)
    prompt = len(prompts_of(loaded, 1)[0])
    report = Report(
        "engine",
        ("torch", "transformers", "numpy"),
        model=loaded.name,
        weights_MiB=round(loaded.decoder.weight_bytes / 2**20, 1),
        prompt_tokens=prompt,
    )
    grammar = compile_json_schema(SCHEMA, loaded.vocab)
    for clients in CLIENTS:
        measure(report, loaded, clients, options.tokens, None)
        measure(report, loaded, clients, options.tokens, grammar)
        measure_generate(report, loaded, options.model, clients, options.tokens)
    report.finish(save=options.save)


if __name__ == "__main__":
    main()
