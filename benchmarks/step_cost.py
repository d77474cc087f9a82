"""What the host does for each row of a step, where the forward costs nothing.

    python benchmarks/step_cost.py [--vocabularies 4000,131072] [--running 1,16,64,256]
        [--cases greedy,temperature,top-p,stop,penalties,ends,bans,logprobs,schema,local]
        [--steps 60] [--device] [--save]

A model's forward is replaced by logits that were drawn before, so that a step is what the engine
does around it: plan, sampling, and what follows each token. As many requests as are `running` are
in their decode phase from the first measured step to the last. `schema` asks for an array of
strings at temperature 1, whose states are known by then, through a grammar process as in a server,
and `local` for the same with its masks computed in this process; `stop` has stop strings that don't
appear.

With `--device` the engine does what it does for a GPU: the rows' columns are laid out and copied
(to memory of the host, which stands for the device's), and a stub chooses tokens in place of
kernels.

`engine us` is the processor time of the engine's thread, and `host us` that of all threads of the
process, for each row of a step; both without the forward. The memory of keys and values has been
written before, as in a server that has run for a while: on a virtual machine, the first writing of
a page can take longer than all that the engine does for its tokens. `step us` is the time from one
step to the next.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final, NamedTuple
from unittest.mock import patch

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.peers.engine_subjects import SUBJECTS
from benchmarks.report import Report, some_of
from maskwright.cli.process.environment import prepare_environment
from maskwright.engine import Engine, EngineConfig, Request
from maskwright.engine.schedule.plan import StepPlan
from maskwright.engine.step import core, runner
from maskwright.kernels.sample_inputs import Drawn, SampleInputs
from maskwright.mask import Grammar, compile_json_schema
from maskwright.models import LoadedModel
from maskwright.processes import Build, FollowedGrammar, GrammarProcesses
from maskwright.sampling import SamplingParams, device_draw
from maskwright.vocab import Vocabulary

CASES: Final = {
    "greedy": SamplingParams(temperature=0.0),
    "temperature": SamplingParams(temperature=1.0),
    "top-p": SamplingParams(temperature=1.0, top_p=0.9),
    "stop": SamplingParams(temperature=1.0),
    "penalties": SamplingParams(
        temperature=1.0, repetition_penalty=1.1, presence_penalty=0.5, frequency_penalty=0.2
    ),
    "ends": SamplingParams(temperature=1.0, min_tokens=900, ignore_eos=True),
    "bans": SamplingParams(temperature=1.0, bad_words=((7,), (8, 9)), no_repeat_ngram=4),
    "logprobs": SamplingParams(temperature=1.0, logprobs=5),
    "schema": SamplingParams(temperature=1.0),
    "local": SamplingParams(temperature=1.0),
}
STOPS: Final = {"stop": ("\n\nQuestion:", "</answer>", "\N{BLACK SQUARE}")}
SCHEMA: Final = {"type": "array", "items": {"type": "string"}}
MODELS: Final = {"4000": "demo", "131072": "random-131072"}
"""The model whose vocabulary it is; nothing else of it is used."""
ROWS: Final = 64
"""Different rows of logits, of which each step begins with another one: if requests repeated
themselves, drafts would be accepted."""
NEVER: Final = -60.0
"""The logit of tokens that would end a text."""
WARM_UP: Final = 40
"""Steps before those that are measured."""
MOST_TOKENS: Final = 2_000
"""Of a request. Drafts and forced text add tokens to a step."""
KV_BYTES: Final = 10 << 20
"""For the tokens of a request, and once more for blocks that belong to none."""


class Moment(NamedTuple):
    """What has been spent so far, taken in the engine's thread: seconds, and counts of the
    engine."""

    wall: float
    thread: float
    process: float
    forward: float
    steps: int
    sampled: int


class FreeForward:
    """Takes the place of a model's forward in one engine, and of the sampling kernels if the engine
    takes its logits for a device's."""

    def __init__(self, engine: Engine, vocab: Vocabulary) -> None:
        generator = torch.Generator().manual_seed(0)
        width = engine.loaded.decoder.vocab_size
        self._rows = torch.randn(ROWS, width, generator=generator)
        ends = [*vocab.eos, *(at for at, data in enumerate(vocab.tokens) if data and b"]" in data)]
        self._rows[:, ends] = NEVER
        self._ends = np.array(ends)
        self._allowed: dict[bytes, NDArray[np.int64]] = {}
        self._random = np.random.default_rng(0)
        self.seconds = 0.0
        """Processor time spent here so far."""
        self._engine = engine
        engine._runner.forward = self  # type: ignore[method-assign,assignment]

    def __call__(self, plan: StepPlan) -> Tensor:
        """Return logits float32 `[rows, vocab]` that may be overwritten."""
        begun = time.thread_time()
        rows = sum(chunk.rows for chunk in plan.chunks)
        found = self._rows[(torch.arange(rows) + int(self._random.integers(ROWS))) % ROWS]
        self.seconds += time.thread_time() - begun
        return found

    def sample_rows(self, logits: Tensor, inputs: SampleInputs, *, scored: bool = False) -> Drawn:
        """Return for each row of `logits` some token that its mask allows, without a look at the
        logits, and scores of 0."""
        begun = time.thread_time()
        masks = inputs.table[inputs.mask_rows].numpy()
        tokens = [self._some_token(mask, logits.shape[1]) for mask in masks]
        zeros = [torch.zeros(len(tokens))] * 6 if scored else []
        drawn = Drawn(torch.tensor(tokens), *zeros)
        self.seconds += time.thread_time() - begun
        return drawn

    def _some_token(self, mask: NDArray[np.int32], vocab: int) -> int:
        """A random token that a mask allows, an end of the text only if there is no other."""
        key = mask.tobytes()
        if key not in self._allowed:
            bits = np.unpackbits(mask.view(np.uint8), bitorder="little")[:vocab]
            allowed = np.flatnonzero(bits)
            others = np.setdiff1d(allowed, self._ends)
            self._allowed[key] = others if len(others) else allowed
        return int(self._random.choice(self._allowed[key]))

    def now(self) -> Moment:
        """The present moment, taken between two steps."""
        return self._engine.call(self._now).result()

    def _now(self) -> Moment:
        stats = self._engine.stats()
        clocks = (time.perf_counter(), time.thread_time(), time.process_time())
        return Moment(*clocks, self.seconds, stats.steps, stats.sampled_tokens)


@contextmanager
def as_on_a_device(forward: FreeForward) -> Generator[None]:
    """Have engines take logits for a device's, and draw by `forward.sample_rows`."""

    def yes(_: Tensor) -> bool:
        return True

    with (
        patch.object(core, "runs_kernels", yes),
        patch.object(runner, "runs_kernels", yes),
        patch.object(device_draw, "sample_rows", forward.sample_rows),
    ):
        yield


def measure(
    loaded: LoadedModel,
    grammar: Grammar | FollowedGrammar | None,
    case: str,
    running: int,
    steps: int,
    *,
    device: bool,
) -> dict[str, float]:
    """Run as many requests, and measure some steps of their decode phase."""
    prompts = [[5 + number % 97, 6 + number // 97] for number in range(running)]
    config = EngineConfig(max_running=running, kv_bytes=(running + 1) * KV_BYTES)
    with Engine(loaded, config) as engine, ExitStack() as stack:
        forward = FreeForward(engine, loaded.vocab)
        # Nothing public writes the memory of keys and values.
        engine.call(engine._runner._pool.data.zero_).result()  # pyright: ignore[reportPrivateUsage]
        if device:
            stack.enter_context(as_on_a_device(forward))
        requests = [
            Request(prompt, CASES[case], MOST_TOKENS, stop=STOPS.get(case, ()), grammar=grammar)
            for prompt in prompts
        ]
        generations = [engine.submit(request) for request in requests]
        while (begin := forward.now()).sampled < WARM_UP * running:
            time.sleep(0.002)
        while (end := forward.now()).steps < begin.steps + steps:
            if all(generation.trace for generation in generations):
                sys.exit(f"requests of {MOST_TOKENS:,} tokens end before so many steps: {steps:,}")
            time.sleep(0.02)
        for generation in generations:
            generation.cancel()
    rows, spent = end.sampled - begin.sampled, end.forward - begin.forward
    return {
        "rows a step": rows / (end.steps - begin.steps),
        "engine us": 1e6 * (end.thread - begin.thread - spent) / rows,
        "host us": 1e6 * (end.process - begin.process - spent) / rows,
        "step us": 1e6 * (end.wall - begin.wall - spent) / (end.steps - begin.steps),
    }


def main() -> None:
    """Measure and print."""
    prepare_environment()
    options = parse_options()
    torch.set_num_threads(1)
    settings = {"place": "as on a device"} if options.device else {}
    report = Report("step_cost", ("torch", "numpy"), **settings)
    for name in options.vocabularies:
        loaded = SUBJECTS[MODELS[name]]().loaded
        with ExitStack() as closing:
            processes = GrammarProcesses(loaded.vocab)
            closing.callback(processes.close)
            for case in options.cases:
                grammar = None
                if case in ("schema", "local"):
                    is_local = case == "local"
                    grammar = compiled(loaded) if is_local else followed(processes)
                    # Learns the states.
                    measure(loaded, grammar, case, 16, 4 * options.steps, device=options.device)
                for running in options.running:
                    found = measure(
                        loaded, grammar, case, running, options.steps, device=options.device
                    )
                    report.add(f"{running} running", vocabulary=int(name), sampled=case, **found)
    report.finish(save=options.save)


def followed(processes: GrammarProcesses) -> FollowedGrammar:
    """The grammar of the case `schema`, in a grammar process."""
    return processes.compile(Build(compile_json_schema, (SCHEMA,), {})).result()


def compiled(loaded: LoadedModel) -> Grammar:
    """The same grammar in this process."""
    return compile_json_schema(SCHEMA, loaded.vocab)


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--vocabularies", type=some_of(MODELS), default=list(MODELS))
    parser.add_argument("--cases", type=some_of(CASES), default=list(CASES))
    parser.add_argument(
        "--running",
        type=lambda text: [int(each) for each in text.split(",")],
        default=[1, 16, 64, 256],
        help="requests in a step, with commas; default: 1,16,64,256",
    )
    parser.add_argument("--steps", type=int, default=60, help="steps that are measured")
    parser.add_argument("--device", action="store_true", help="as on a device, with a stub")
    parser.add_argument("--save", action="store_true", help="append the rows to results/")
    return parser.parse_args()


if __name__ == "__main__":
    main()
