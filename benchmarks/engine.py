"""The engine: throughput beside transformers' `generate` with llguidance's and xgrammar's logits
processors; the cost of structure, and of the other parts of a step, the cache and the blocks.

    python benchmarks/engine.py [--model demo | random-131072] [--parts throughput,load]
        [--clients 16] [--rounds 4] [--tokens 96] [--repeats 5] [--least] [--save]

throughput  tokens a second of each engine, without a schema and with one
load        tokens a second where 0, 20, 80 and 100 % of the requests have a schema
step        what a step of 64 requests spends on each of its parts
blocks      positions of held blocks that hold no token
gaps        time between two tokens of readers while a long prompt comes in
prefixes    prompt tokens that were found in the cache
stores      time to the first token of a prompt that is computed, and of one that comes from a store

In `throughput` each prompt is either asked once ("new": the schema is all of it that a cache knows)
or one of five that are repeated ("repeated"). Every engine answers the same prompts in turn,
`repeats` times, so that other load on the machine slows all of them; the rows are medians.
Each client asks `rounds` times, again as soon as it has an answer; `generate` takes requests in
batches of as many as there are clients. Answers with a schema end when they are complete, so
throughput is in tokens a second. All use one thread, which the engine chooses for a model this
small. `maskwright, plain` has no prefix cache, no drafts and no canonical text.
`--least` runs every part with the least input; its figures mean nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import jsonschema
import torch

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.peers.engine_subjects import SUBJECTS, Subject
from benchmarks.peers.generate import continuous, in_batches, processors
from benchmarks.report import Report, some_of
from maskwright.cli.process.environment import prepare_environment
from maskwright.engine import Completion, Engine, EngineConfig, EngineStats, Request
from maskwright.mask import Grammar, compile_json_schema
from maskwright.models import LoadedModel
from maskwright.processes import Build, FollowedGrammar, GrammarProcesses
from maskwright.sampling import SamplingParams

TEXTS = (
    "Order 4471: 3 desk lamps and 12 notebooks for Petra Vogel, to be sent on 2026-03-14.",
    "Please send 2 kettles to Omar Haddad. It is order number 902 and it should leave on May 2.",
    "Ines Carvalho ordered one chair, four mugs and a rug (order 18) on the first of June 2025.",
    "Order 7 of 2026-01-02 by Li Wei has no items yet.",
    "On 2025-11-30 Anna Kowalczyk asked for 5 pens, 10 folders, 2 staplers and 1 lamp (no. 3310).",
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
                    "name": {"type": "string", "maxLength": 20},
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
PLAIN = EngineConfig(prefix_cache=False, drafts=0, canonical=False)
FULL = EngineConfig()


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is measured. Structured load is repeated three times as often as throughput
    (`repeats`), because its runs take less than a second and its differences are a few percent."""

    clients: int = 16
    rounds: int = 4
    tokens: int = 96
    repeats: int = 5
    together: int = 64
    """Requests in the steps whose parts are measured."""
    ragged: tuple[int, int, int] = (24, 200, 1200)
    """The number of requests of different lengths, and the shortest and longest length in
    tokens."""
    gap_repeats: int = 5
    reader_tokens: int = 220
    long_prompt: int = 1900
    """Tokens of the prompt that arrives while others read."""
    prompts: int = 12
    """Different prompts whose prefixes are cached."""


LEAST = Sizes(2, 1, 40, 1, 2, (2, 20, 40), 1, 80, 200, 2)


def prompts_of(subject: Subject, clients: int) -> list[list[int]]:
    """Chats with the schema in the prompt, whether or not it is enforced; five different ones."""
    return [subject.prompt(TEXTS[number % len(TEXTS)], SCHEMA) for number in range(clients)]


def new_prompts(subject: Subject, count: int, seed: int) -> list[list[int]]:
    """Chats about other orders: every number in the texts is replaced by a random one."""
    rng = random.Random(seed)

    def other(text: str) -> str:
        return re.sub(r"\d+", lambda found: str(rng.randrange(10 ** len(found[0]))), text)

    texts = (f"No. {rng.randrange(10**6)}. {other(TEXTS[n % len(TEXTS)])}" for n in range(count))
    return [subject.prompt(text, SCHEMA) for text in texts]


def timed(engine: Engine, requests: Sequence[Request]) -> tuple[float, list[Completion]]:
    """The seconds that all requests take together, and the answers."""
    started = time.perf_counter()
    generations = [engine.submit(request) for request in requests]
    answers = [generation.result() for generation in generations]
    return time.perf_counter() - started, answers


def check(requests: Sequence[Request], answers: Sequence[Completion]) -> None:
    """Validate the answers of requests that have the schema."""
    for request, answer in zip(requests, answers, strict=True):
        if request.grammar is not None:
            jsonschema.validate(json.loads(answer.text), SCHEMA)


def serve(engine: Engine, requests: Sequence[Request]) -> tuple[float, list[Completion]]:
    """The seconds that all requests take together, and the answers, which are checked."""
    seconds, answers = timed(engine, requests)
    check(requests, answers)
    return seconds, answers


def _tokens(answers: Sequence[Completion]) -> int:
    return sum(answer.completion_tokens for answer in answers)


def _counted(seconds: float, answers: Sequence[Completion]) -> tuple[float, int]:
    return seconds, _tokens(answers)


def requests_for(
    prompts: Sequence[list[int]],
    grammar: Grammar | FollowedGrammar | None,
    tokens: int,
    seed: int,
    share: float = 1,
) -> list[Request]:
    """One request a prompt, `share` of them with the grammar, spread evenly."""
    asked: list[Request] = []
    for number, prompt in enumerate(prompts):
        shaped = grammar is not None and int((number + 1) * share) > int(number * share)
        asked.append(
            Request(
                prompt,
                SamplingParams(seed=seed + number),
                tokens,
                grammar=grammar if shaped else None,
                eos=None if shaped else (),
            )
        )
    return asked


SPELLING: Final[dict[str, Any]] = {
    "whitespace": "spaced",
    "integers": "digits",
    "escapes": "needed",
}
"""The one spelling of each value that the peers have as well."""


def compiled(loaded: LoadedModel) -> Grammar:
    """The schema's grammar, for an engine that computes masks itself."""
    return compile_json_schema(SCHEMA, loaded.vocab, **SPELLING)


def followed(processes: GrammarProcesses, schema: Any = SCHEMA) -> FollowedGrammar:
    """A schema's grammar, for an engine that asks a grammar process."""
    return processes.compile(Build(compile_json_schema, (schema,), dict(SPELLING))).result()


def throughput(report: Report, subject: Subject, sizes: Sizes) -> None:
    """Tokens a second of all engines in turn, with new prompts and with five repeated ones. With a
    schema they are also compared with the best peer that has one."""
    count = sizes.clients * sizes.rounds
    repeated = prompts_of(subject, count)
    sources: dict[str, Callable[[int], list[list[int]]]] = {
        "new": lambda repeat: new_prompts(subject, count, repeat),
        "repeated": lambda repeat: repeated,
    }
    for name, source in sources.items():
        rates = throughputs(subject, sizes, source)
        peers = [rate for (engine, _), rate in rates.items() if engine.startswith("generate +")]
        for (engine, schema), rate in rates.items():
            report.add(
                f"throughput, {sizes.clients} clients, {sizes.rounds} rounds",
                engine=engine,
                prompts=name,
                schema=schema,
                **{"tokens/s": rate, "best peer x": rate / max(peers) if schema == "yes" else None},
            )


def throughputs(
    subject: Subject, sizes: Sizes, source: Callable[[int], list[list[int]]]
) -> dict[tuple[str, str], float]:
    """Medians of tokens a second by engine and whether there is a schema. `source` makes the
    prompts of a repeat, which all engines answer."""
    loaded = subject.loaded
    clients, tokens = sizes.clients, sizes.tokens
    runs: dict[tuple[str, str], Callable[[list[list[int]], int], tuple[float, int]]] = {}
    processes = GrammarProcesses(loaded.vocab)
    here, there = compiled(loaded), followed(processes)
    engines = {
        "maskwright": (Engine(loaded, replace(FULL, max_running=clients)), there),
        "maskwright, masks here": (Engine(loaded, replace(FULL, max_running=clients)), here),
        "maskwright, plain": (Engine(loaded, replace(PLAIN, max_running=clients)), there),
    }
    for name, (engine, grammar) in engines.items():
        engine.start()
        for schema in (None, grammar):
            runs[name, "no" if schema is None else "yes"] = (
                lambda prompts, seed, engine=engine, schema=schema: _counted(
                    *serve(engine, requests_for(prompts, schema, tokens, seed))
                )
            )
    for name, make in processors(subject, SCHEMA).items():
        runs[name, "no" if name == "generate" else "yes"] = lambda prompts, seed, make=make: (
            in_batches(
                subject.model,
                [prompts[at : at + clients] for at in range(0, len(prompts), clients)],
                tokens,
                make,
                loaded.eos,
                seed,
            )
        )
    if loaded.vocab.size < 100_000:  # else a single run of it takes longer than all the others
        runs["continuous batching", "no"] = lambda prompts, seed: continuous(
            subject.model, prompts[:clients], tokens, seed
        )
    rates: dict[tuple[str, str], list[float]] = {key: [] for key in runs}
    for repeat in range(sizes.repeats + 1):
        prompts = source(repeat)
        for key, run in runs.items():
            seconds, made = run(prompts, 1000 * repeat)
            if repeat:  # the first warms up
                rates[key].append(made / seconds)
    for engine, _ in engines.values():
        engine.stop()
    processes.close()
    return {key: statistics.median(values) for key, values in rates.items()}


def structured_load(report: Report, subject: Subject, sizes: Sizes) -> None:
    """How much a share of constrained requests changes, one token a step, so that nothing but masks
    and matchers differs. Once with the usual limit, and once with one at which most masks depend on
    the tokens left.

    All shares take turns, and the change is the median of their changes in the turns: the machine
    is slower in some seconds than in others. Every other turn is in the opposite order: of four
    equal runs one after another the last was 1 to 3 % faster than the first. Requests without a
    schema are as long as the last answers were that all had one, so that steps have equally many
    rows. Answers are checked at the end of a turn, because that empties the processor's caches.
    """
    loaded, tokens = subject.loaded, sizes.tokens
    prompts = prompts_of(subject, sizes.clients * sizes.rounds)
    config = replace(PLAIN, prefix_cache=True, max_running=sizes.clients)
    with closing(GrammarProcesses(loaded.vocab)) as processes, Engine(loaded, config) as engine:
        grammar = followed(processes)
        for limit in (tokens, 40):
            lengths = [limit] * len(prompts)
            rates: dict[float, list[float]] = {1.0: [], 0.8: [], 0.2: [], 0.0: []}
            for repeat in range(3 * sizes.repeats + 1):
                served: list[tuple[list[Request], list[Completion]]] = []
                for part, share in list(enumerate(rates))[:: 1 if repeat % 2 == 0 else -1]:
                    asked = requests_for(prompts, grammar, limit, 1000 * repeat + 100 * part, share)
                    asked = [
                        request if request.grammar else replace(request, max_tokens=length)
                        for request, length in zip(asked, lengths, strict=True)
                    ]
                    seconds, answers = timed(engine, asked)
                    served.append((asked, answers))
                    if share == 1:
                        lengths = [answer.completion_tokens for answer in answers]
                    if repeat:
                        rates[share].append(_tokens(answers) / seconds)
                for asked, answers in served:
                    check(asked, answers)
            for share, values in sorted(rates.items()):
                changes = [now / none for now, none in zip(values, rates[0.0], strict=True)]
                report.add(
                    f"structured load {share:.0%}, {limit} tokens at most",
                    engine="maskwright, plain",
                    **{
                        "tokens/s": statistics.median(values),
                        "change %": 100 * (statistics.median(changes) - 1),
                    },
                )


def step_parts(report: Report, subject: Subject, sizes: Sizes) -> None:
    """What a step of many requests spends on the model, and on everything else."""
    grammar, count = compiled(subject.loaded), sizes.together
    prompts = prompts_of(subject, count)
    with Engine(subject.loaded, FULL) as engine:
        serve(engine, requests_for(prompts, grammar, sizes.tokens, 0))
        before = engine.stats()
        serve(engine, requests_for(prompts, grammar, sizes.tokens, count))
        after = engine.stats()
    report.add(f"a step at {count} requests", engine="maskwright", **shares(before, after))


def shares(before: EngineStats, after: EngineStats) -> dict[str, float]:
    """Percent of a step by part. `digest` is done in a thread of its own, for the most part while
    the model computes: it is compared with the step, and no part of it."""
    spent = {part: after.seconds[part] - before.seconds[part] for part in after.seconds}
    whole = sum(seconds for part, seconds in spent.items() if part != "digest")
    steps = after.steps - before.steps
    return {
        "step_ms": whole / steps * 1000,
        **{f"{part}_%": 100 * value / whole for part, value in spent.items()},
    }


def waste(report: Report, subject: Subject, sizes: Sizes) -> None:
    """Measure the positions without a token in the blocks of running requests, as the engine counts
    them while requests of different lengths run. For comparison, compute from the lengths how many
    of them are in the last block of a request."""
    rng, loaded = random.Random(0), subject.loaded
    words = [token for token, text in enumerate(loaded.vocab.tokens) if text]
    count, shortest, longest = sizes.ragged
    ends = [rng.randint(shortest, longest) for _ in range(count)]
    size = FULL.block_size
    at_the_end = sum(-(-length // size) * size for length in ends)
    shares: list[float] = []
    most = 0
    with Engine(loaded, replace(FULL, prefix_cache=False, drafts=0)) as engine:
        for length in ends:
            prompt = [rng.choice(words) for _ in range(length - 8)]
            engine.submit(Request(prompt, SamplingParams(seed=length), 8, eos=()))
        while (stats := engine.stats()).running + stats.waiting:
            most = max(most, stats.blocks_used)
            if stats.blocks_used:
                shares.append(100 * stats.positions_idle / (stats.blocks_used * size))
            time.sleep(0.002)
    report.add(
        f"ragged lengths {shortest}-{longest}",
        engine="maskwright",
        **{
            "idle_% mean": statistics.fmean(shares),
            "idle_% most": max(shares),
            "last blocks_%": 100 * (1 - sum(ends) / at_the_end),
            "blocks_most": most,
        },
    )


def gaps(report: Report, subject: Subject, sizes: Sizes) -> None:
    """Measure the time between two tokens of readers while a long prompt is computed, in multiples
    of the step that these readers take at this point without a prompt, because steps grow with
    contexts. The row without a prompt shows how much the machine varies."""
    rng, loaded, begin = random.Random(1), subject.loaded, 60
    words = [token for token, text in enumerate(loaded.vocab.tokens) if text]
    steps: list[float] = []
    for name, stall in (("none", 2.0), ("no bound", None), ("4 steps", 4.0), ("2 steps", 2.0)):
        runs: list[list[float]] = []
        with Engine(loaded, replace(FULL, stall=stall, drafts=0, prefix_cache=False)) as engine:
            for repeat in range(sizes.gap_repeats):
                readers = [
                    engine.submit(
                        Request(
                            [words[n]] * 20, SamplingParams(seed=n), sizes.reader_tokens, eos=()
                        )
                    )
                    for n in range(8)
                ]
                times: list[float] = []
                for number, _ in enumerate(readers[0]):
                    times.append(time.perf_counter())
                    if number == begin and name != "none":
                        prompt = [rng.choice(words) for _ in range(sizes.long_prompt)]
                        engine.submit(Request(prompt, SamplingParams(seed=repeat), 1, eos=()))
                runs.append([after - before for before, after in pairwise(times)])
        if not steps:
            steps = [
                statistics.median(gap for run in runs for gap in run[max(0, at - 5) : at + 6])
                for at in range(min(map(len, runs)))
            ]
        during = [
            sorted(gap / step for gap, step in zip(run[begin:], steps[begin:], strict=False))
            for run in runs
        ]
        report.add(
            f"{sizes.long_prompt}-token prompt beside 8 readers: {name}",
            engine="maskwright",
            **{
                "decode_step_ms": 1000 * statistics.median(steps[begin:]),
                "gap p50, steps": statistics.median(map(statistics.median, during)),
                "gap p99, steps": statistics.median(run[int(len(run) * 0.99)] for run in during),
                "worst gap, steps": statistics.median(run[-1] for run in during),
            },
        )


def saved(report: Report, subject: Subject, sizes: Sizes) -> None:
    """Prompt tokens found in the cache, against a trie of all that came before: one of tokens,
    which no cache of blocks can reach, and one of whole blocks, with the last one shared in part
    if that is possible."""
    loaded, prompts = subject.loaded, prompts_of(subject, sizes.prompts)
    turned = [
        prompt[: len(prompt) // 2] + prompt[::-1][: 10 + n] for n, prompt in enumerate(prompts)
    ]
    seen: list[list[int]] = []
    by_token = by_block = 0
    size = FULL.block_size
    with Engine(loaded, FULL) as engine:
        for number, prompt in enumerate(prompts + turned):
            answer = engine.submit(Request(prompt, SamplingParams(seed=number), 3, eos=())).result()
            most = len(prompt) - 1  # the last token is computed, for its logits
            by_token += max((min(most, common(prompt, other)) for other in seen), default=0)
            kept = (other[: len(other) // size * size] for other in seen)
            by_block += max((min(most, common(prompt, other)) for other in kept), default=0)
            seen.append([*prompt, *answer.token_ids][: -1 if answer.token_ids else None])
        hits = engine.stats().prefix_hits
    report.add(
        f"{2 * sizes.prompts} prompts, one after the other",
        engine="maskwright",
        **{"tokens saved": hits, "trie of blocks": by_block, "trie of tokens": by_token},
    )


def common(one: Sequence[int], other: Sequence[int]) -> int:
    """How many tokens two sequences have in common at their beginnings."""
    differing = (n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    return next(differing, min(len(one), len(other)))


def stores(report: Report, subject: Subject, sizes: Sizes) -> None:
    """The time to the first token of prompts that the pool has no room for together, so that each
    is evicted before it is asked again: computed, from host memory, and from disk (read from the
    system's cache of files). The engines take turns."""
    words = [i for i, text in enumerate(subject.loaded.vocab.tokens) if text]
    rng = random.Random(1)
    prompts = [[rng.choice(words) for _ in range(sizes.long_prompt)] for _ in range(3)]
    small = replace(FULL, blocks=sizes.long_prompt // FULL.block_size + 8)
    seconds: dict[str, list[float]] = {"computed": [], "host memory": [], "disk": []}
    with tempfile.TemporaryDirectory() as folder:
        settings = (
            small,
            replace(small, kv_host_bytes=1 << 30),
            replace(small, kv_disk=Path(folder)),
        )
        engines = [Engine(subject.loaded, config) for config in settings]
        with ExitStack() as stack:
            for engine in engines:
                stack.enter_context(engine)
            for repeat in range(sizes.gap_repeats + 1):
                for number, prompt in enumerate(prompts):
                    request = Request(prompt, SamplingParams(seed=number), 1, eos=())
                    for engine, times in zip(engines, seconds.values(), strict=True):
                        began = time.perf_counter()
                        engine.submit(request).result()
                        if repeat:  # the first time, all are computed
                            times.append(time.perf_counter() - began)
    for name, times in seconds.items():
        report.add(
            f"{sizes.long_prompt}-token prompt after its eviction: {name}",
            engine="maskwright",
            **{"first token p50, ms": 1000 * statistics.median(times)},
        )


PARTS: Final[dict[str, Callable[[Report, Subject, Sizes], None]]] = {
    "throughput": throughput,
    "load": structured_load,
    "step": step_parts,
    "blocks": waste,
    "gaps": gaps,
    "prefixes": saved,
    "stores": stores,
}
OF_VOCABULARY: Final = ("throughput", "load", "step")
"""What differs between models; the rest is measured with the demo model alone."""


def main() -> None:
    """Measure and print."""
    prepare_environment()
    options = parse_options()
    sizes = LEAST if options.least else Sizes()
    given = ("clients", "rounds", "tokens", "repeats")
    chosen = {name: value for name in given if (value := getattr(options, name)) is not None}
    sizes = replace(sizes, **chosen)
    torch.set_num_threads(1)
    subject = SUBJECTS[options.model]()
    report = Report(
        "engine",
        ("torch", "transformers", "numpy", "llguidance", "xgrammar"),
        model=subject.loaded.name,
        weights_MiB=round(subject.loaded.decoder.weight_bytes / 2**20, 1),
        prompt_tokens=len(prompts_of(subject, 1)[0]),
        load=round(os.getloadavg()[0], 1),
    )
    for part in options.parts:
        PARTS[part](report, subject, sizes)
    report.finish(save=options.save)


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", choices=sorted(SUBJECTS), default="demo")
    parser.add_argument("--parts", type=some_of(PARTS), help="names, with commas; default: all")
    parser.add_argument("--clients", type=int, help="default: 16")
    parser.add_argument("--rounds", type=int, help="requests of each client; default: 4")
    parser.add_argument("--tokens", type=int, help="most tokens of an answer; default: 96")
    parser.add_argument("--repeats", type=int, help="default: 5")
    parser.add_argument("--least", action="store_true", help="the least that runs every part")
    parser.add_argument("--save", action="store_true", help="append the rows to results/")
    options = parser.parse_args()
    if options.parts is None:
        options.parts = list(PARTS if options.model == "demo" else OF_VOCABULARY)
    return options


if __name__ == "__main__":
    main()
