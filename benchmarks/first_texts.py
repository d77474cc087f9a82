"""The first texts of real schemas, seen from the engine: how long a step waits for masks.

    python benchmarks/first_texts.py [--cases 100] [--clients 1,16] [--tokens 1000] [--save]

The demo model answers one request for each of these schemas of MaskBench, as many at a time as
there are clients. With "here" the engine computes masks itself, with "processes" it asks a grammar
process, as the server does. As there, a first answer to another schema comes before, and a schema
is compiled when its answer is asked for, which no step waits for.

`wait us` is the time in which the engine does nothing but wait for what comes next in a text,
divided by steps; `mask us` is the time that masks took where they were computed, divided by masks,
and `held` the percentage of computed rows that were kept because their masks came late.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import torch

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.maskbench import read_case, read_lines
from benchmarks.report import Report, need
from maskwright.cli.process.environment import prepare_environment
from maskwright.cli.serving.start import warm_up
from maskwright.engine import Engine, EngineConfig, Request
from maskwright.errors import MaskwrightError
from maskwright.mask import CompiledGrammar, compile_json_schema
from maskwright.models import DEMO_PATH, LoadedModel, load
from maskwright.processes import Build, GrammarProcesses
from maskwright.sampling import SamplingParams

DATA: Final = ROOT.parent / "shared" / "data" / "maskbench-dev.jsonl.gz"


def main() -> None:
    """Measure and print."""
    prepare_environment()
    options = parse_options()
    torch.set_num_threads(1)
    loaded = load(DEMO_PATH)
    schemas = every_nth(need(options.data), options.cases)
    report = Report("first_texts", ("torch", "numpy"), model=loaded.name, tokens=options.tokens)
    for clients in options.clients:
        for place in ("here", "processes"):
            with ExitStack() as closing:
                processes = None
                if place == "processes":
                    processes = GrammarProcesses(loaded.vocab)
                    closing.callback(processes.close)
                figures = measure(loaded, processes, schemas, clients, options.tokens)
            report.add(f"{len(schemas)} schemas, {clients} at a time", where=place, **figures)
    report.finish(save=options.save)


def every_nth(path: Path, cases: int) -> list[Any]:
    """`cases` schemas in equal strides over the file."""
    lines = read_lines(path)
    stride = max(1, len(lines) // cases)
    return [read_case(line).schema for line in lines[::stride][:cases]]


def compiled(
    loaded: LoadedModel, processes: GrammarProcesses | None, schema: Any
) -> CompiledGrammar:
    """The grammar of a schema."""
    if processes is None:
        return compile_json_schema(schema, loaded.vocab)
    return processes.compile(Build(compile_json_schema, (schema,), {})).result()


def measure(
    loaded: LoadedModel,
    processes: GrammarProcesses | None,
    schemas: Sequence[Any],
    clients: int,
    tokens: int,
) -> dict[str, float]:
    """Answer one request for each schema. Schemas that don't compile, and those whose texts can't
    end within `tokens`, are refused."""
    with Engine(loaded, EngineConfig(max_running=clients)) as engine:
        prompt = loaded.render_chat([{"role": "user", "content": "An example, please."}])

        def answer(number: int, schema: Any) -> bool:
            try:
                grammar = compiled(loaded, processes, schema)
                request = Request(prompt, SamplingParams(seed=number), tokens, grammar=grammar)
                return engine.submit(request).result().completion_tokens > 0
            except MaskwrightError:
                return False

        warm_up(engine, processes)
        before = engine.stats()
        with ThreadPoolExecutor(clients) as pool:
            refused = list(pool.map(answer, range(len(schemas)), schemas)).count(False)
        after = engine.stats()
    steps = after.steps - before.steps
    masks = after.mask_rows - before.mask_rows
    sampled = after.sampled_tokens - before.sampled_tokens
    filled = after.observations["mask"].total - before.observations["mask"].total
    spent = {part: after.seconds[part] - before.seconds[part] for part in after.seconds}
    spent.pop("digest")  # it is within `sample`
    return {
        "refused": refused,
        "steps": steps,
        "masks": masks,
        "wait us": 1e6 * spent["wait"] / steps,
        "step us": 1e6 * sum(spent.values()) / steps,
        "mask us": 1e6 * filled / max(1, masks),
        "held": 100 * (after.held_rows - before.held_rows) / max(1, sampled),
    }


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=DATA, help="the cases, .jsonl or .jsonl.gz")
    parser.add_argument("--cases", type=int, default=100, help="schemas; default: 100")
    parser.add_argument(
        "--clients",
        type=lambda text: [int(each) for each in text.split(",")],
        default=[1, 16],
        help="requests at a time, with commas; default: 1,16",
    )
    parser.add_argument("--tokens", type=int, default=1000, help="most tokens of an answer")
    parser.add_argument("--save", action="store_true", help="append the rows to results/")
    return parser.parse_args()


if __name__ == "__main__":
    main()
