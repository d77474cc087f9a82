"""What the goals on an H200 allow each launch, and what its machine code takes, without a GPU.

    python benchmarks/gpu/goals.py [--save]

Nothing here is a time that was measured. `floor_us` is the time in which an H200 moves the bytes
that a launch can't avoid to move, at 4.0 TB/s, or computes its products, at 790 TFLOP/s in
bfloat16. `allowed_us` is that time divided by the share that the goal asks for. `issue_us` is the
time in which its multiprocessors, all busy, issue the instructions of the programs that are
launched, as compiled for sm_90; of torch's products, the fewest instructions of tensor cores that
can compute them, and nothing else. A goal is out of reach if that is more than is allowed; if it is
less, waiting for memory and for other programs decides, which only a GPU shows. `expected_us` is
the sum of all that is known to take time, from the decision that is named, and `before_us` was
measured on an H200 at commit 14cf45c5, of the kernels of that time.

A start is the host's work: its floor is the processor time of its programs, shared among `CORES`,
or that of the longest one, as measured here, and it has no instructions.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from math import prod
from pathlib import Path
from typing import Final, NamedTuple
from unittest.mock import patch

import torch
import torch.nn.functional as F

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.gpu import static
from benchmarks.gpu.attention import SHAPES as HEADS
from benchmarks.gpu.attention import Heads
from benchmarks.gpu.chain_goals import GOALS_US, VOCAB, WAYS
from benchmarks.gpu.decode_step import BLOCK, COMMON, RandomWeights
from benchmarks.gpu.decode_step import SHAPES as MODELS
from benchmarks.gpu.sample_ways import RULES
from benchmarks.gpu.starting import starts
from benchmarks.gpu.static import BF16, BYTES_PER_US, FP32, Facts, Launch
from benchmarks.report import options_of
from maskwright.cli.output.tables import Figure
from maskwright.kernels import sample_gather
from maskwright.kernels.device import jit
from maskwright.kernels.few_rows import INPUTS
from maskwright.kernels.paged_attention import MERGED, SPLIT
from maskwright.models import decoder as decoder_module
from maskwright.models.config import ModelConfig, parse_config
from maskwright.models.decoder import lay_out
from maskwright.models.dense import DenseDecoder
from maskwright.models.runs import Run

Row = dict[str, Figure]

TARGET: Final = "90"
MULTIPROCESSORS, SCHEDULERS, CYCLES_PER_US = 132, 4, 1980
"""Of an H200: each scheduler issues an instruction of a warp in a cycle, at most."""

OPERATIONS_PER_US: Final = 790e6
"""Of tensor cores in bfloat16: the most that is taken to be reached."""

PRODUCT: Final = 64 * 256 * 16
"""Numbers that the largest instruction of tensor cores of sm_90 in bfloat16 multiplies. Each of
four warps issues it."""

LINK_BYTES_PER_US: Final = 55e3
"""Between the host and the GPU."""

HALVINGS: Final = 6
"""Of normally distributed logits, until as many are left as a tile has room for."""

MOST_KV: Final = 24 << 30

STEP_POSITIONS: Final = 1024
"""Of each sequence of a step."""

STEP_US: Final = {
    ("8B", 1): 4300.0,
    ("8B", 64): 6200.0,
    ("0.6B", 1): 700.0,
    ("0.6B", 64): 2400.0,
}
"""Goals of whole steps by the shape of the model and the sequences."""

ENGINE_ROWS: Final = 256
ENGINE_POSITIONS: Final = 128
ENGINE_TOKENS: Final = {"engine, 0.6B": 40e3, "engine, 0.6B, schema": 39e3}
"""Goals of the engine, in tokens a second of so many running requests, each after so many positions
on average."""

CORES: Final = 16
"""Of the machine with the H200 that was measured."""

START_US: Final = {"first": 20e6, "later": 8e6}
"""Goals of a server's start: the first one, and one whose kernels are on disk."""

SINGLE_US: Final[dict[tuple[str, int, int], float]] = {("8B", 1, 512): 10.0, ("8B", 1, 4096): 15.0}
"""Goals of single sequences, which no share of the bandwidth tells, since launches take most."""

CODES: Final = {"int8": torch.int8, "fp8": torch.float8_e4m3fn}
CODES_US: Final = 271 / 1.6
"""Goal of a decode of 64 x 4,096 over codes: to be 1.6 times as fast as one over bfloat16, which
took 271 us on an H200."""


ESTIMATES: Final[dict[tuple[str, str], tuple[float | None, float | None, int]]] = {
    ("chain: greedy", "64 rows of 128256"): (20, 12.3, 17),
    ("chain: temperature", "64 rows of 128256"): (185, 29, 17),
    ("chain: top-p", "64 rows of 128256"): (1078, 40, 17),
    ("chain: mixed", "64 rows of 128256"): (705, 56, 17),
    ("chain: top-p", "256 rows of 128256"): (None, 117, 17),
    ("chain: mixed", "256 rows of 128256"): (1026, 152, 17),
    ("decode, 8B", "1 x 512"): (19.7, 10, 18),
    ("decode, 8B", "1 x 4096"): (37.4, 14, 18),
    ("decode, 8B", "64 x 4096"): (271, None, 18),
    ("decode, 8B", "8 x 32768"): (266, None, 18),
    ("decode, 0.6B", "64 x 4096"): (265, None, 18),
    ("decode, 256 wide", "64 x 4096"): (268, None, 18),
    ("decode, 8B, int8", "64 x 4096"): (280, 206, 23),
    ("decode, 8B, fp8", "64 x 4096"): (None, 227, 23),
    ("prefill, 8B", "256 after 8192"): (243, 126, 21),
    ("prefill, 8B", "256 after 32768"): (887, 448, 21),
    ("prefill, 8B", "2048 after 0"): (138, 111, 21),
    ("prefill, 8B", "2048 after 8192"): (988, 961, 21),
    ("prefill, 0.6B", "256 after 8192"): (235, 64, 21),
    ("prefill, 0.6B", "256 after 32768"): (872, 223, 21),
    ("prefill, 256 wide", "256 after 8192"): (528, 137, 21),
    ("prefill, 256 wide", "256 after 32768"): (2005, 506, 21),
    ("prefill, 256 wide", "2048 after 8192"): (1141, 1203, 21),
    ("step, 8B", "1 sequences"): (5430, 4200, 24),
    ("step, 8B", "64 sequences"): (6970, 6790, 24),
    ("step, 0.6B", "1 sequences"): (1990, 710, 24),
    ("step, 0.6B", "64 sequences"): (3050, 2960, 24),
    ("engine, 0.6B", "256 running"): (30_500, 4600, 22),
    ("engine, 0.6B, schema", "256 running"): (37_600, 4600, 22),
    ("start, 8B", "first"): (65e6, 14.4e6, 19),
    ("start, 8B", "later"): (None, 4.6e6, 19),
}
"""Of goals, by case and shape: what was measured, the sum of what should take time, in us, and the
number of the decision that has it. Where two sums are possible, the higher one."""

TORCH_US: Final[dict[tuple[str, int, int], float]] = {
    ("8B", 0, 2048): 85.3,
    ("8B", 8192, 256): 129,
    ("8B", 8192, 2048): 942,
    ("8B", 32_768, 256): 443,
    ("0.6B", 8192, 256): 70.2,
    ("0.6B", 32_768, 256): 227,
    ("256 wide", 8192, 256): 73.3,
    ("256 wide", 8192, 2048): 539,
    ("256 wide", 32_768, 256): 231,
}
"""What torch's attention took on the H200 for pieces of prompts, by shape, prefix and length."""

PREFILL_SHARES: Final = {"8B": 0.95, "0.6B": 0.85, "256 wide": 0.85}
"""Goals of pieces of prompts: shares of torch's rate."""


_FACTS: Final[dict[str, Facts]] = {}


def facts_of(launch: Launch) -> Facts:
    """What the machine code of a launch says, read once for each program."""
    key = launch.key()
    if key not in _FACTS:
        _FACTS[key] = static.facts(launch.compile(TARGET))
    return _FACTS[key]


def issued(launch: Launch, trips: Sequence[float] | None = None) -> float:
    """Return how many instructions the warps of a launch issue, if every program runs to its end
    and passes through its innermost loops `trips` times, by default once."""
    read = facts_of(launch)
    trips = [1.0] * len(read.loops) if trips is None else trips
    again = sum(loop * (count - 1) for loop, count in zip(read.loops, trips, strict=True))
    return prod(launch.grid) * launch.options["num_warps"] * (read.instructions + again)


def issue_us(instructions: float) -> float:
    """Return the time in which all multiprocessors issue `instructions`."""
    return instructions / (MULTIPROCESSORS * SCHEDULERS * CYCLES_PER_US)


def row(goal: str, case: str, floor: float, share: float | None, **more: Figure) -> Row:
    """Return a row: `share` of the ceiling is the goal, or None if there is none here."""
    allowed: Row = {} if share is None else {"allowed_us": floor / share}
    return {"case": goal, "shape": case, "floor_us": floor, **allowed, **more}


def chains() -> Iterator[Row]:
    """The whole chain, for which the goal is a time. The floor is that of the one pass over the
    logits, and so are the instructions: what the last launch takes is waiting, by one program for
    each row."""
    for (chain, rows), goal in GOALS_US.items():
        listed = chain == "mixed"
        found = static.launches(partial(static.draw, BF16, VOCAB, rows=rows, listed=listed))
        [gather] = [launch for launch in found if launch.name == "gather"]
        moved = rows * VOCAB * 2 + rows * -(-VOCAB // 8)
        taken = sum(share * _gathered(gather, way) for way, share in WAYS[chain].items())
        yield {
            "case": f"chain: {chain}",
            "shape": f"{rows} rows of {VOCAB}",
            "floor_us": moved / BYTES_PER_US,
            "allowed_us": goal,
            "MB": moved / 1e6,
            "issue_us": issue_us(taken),
        }


def _gathered(launch: Launch, way: str) -> float:
    """Return how many instructions `gather_kernel` issues if all rows go one way, for which it is
    compiled alone. Loops are those in search of a cut, which is halved `HALVINGS` times."""
    with patch.object(sample_gather, "rules_of", RULES[way]):
        alone = replace(launch, kernel=jit(launch.kernel.fn))
        told = static.facts(alone.compile(TARGET))
    again = sum(told.loops) * (HALVINGS - 1)
    return prod(launch.grid) * launch.options["num_warps"] * (told.instructions + again)


def masks() -> Iterator[Row]:
    """Masks by number against bitmasks that are shipped with each step. `shipping_us` is what the
    link takes for those, before any kernel runs."""
    rows, vocab = 512, VOCAB
    [launch] = static.launches(partial(static.mask, BF16, vocab, rows=rows))
    words = rows * -(-vocab // 32) * 4
    cases = {"every group is mixed": 2, "nothing is allowed": 1, "everything is allowed": 0}
    for case, times in cases.items():
        moved = times * rows * vocab * 2 + words
        yield row(
            *("mask by number", f"{rows} rows of {vocab}, {case}", moved / BYTES_PER_US, None),
            MB=moved / 1e6,
            issue_us=issue_us(issued(launch)),
            shipping_us=words / LINK_BYTES_PER_US,
        )


def decodes() -> Iterator[Row]:
    """One new token of each sequence, in one layer."""
    for name, heads in HEADS.items():
        for rows in (1, 8, 64, 256):
            for length in (512, 4096, 32_768):
                moved = rows * length * heads.keys * heads.width * 4
                if moved > MOST_KV:
                    continue
                share = 0.8 if rows >= 64 and length == 4096 else 0.75 if moved >= 2e8 else None
                goal = {"allowed_us": us} if (us := SINGLE_US.get((name, rows, length))) else {}
                yield row(
                    *(f"decode, {name}", f"{rows} x {length}", moved / BYTES_PER_US, share),
                    MB=moved / 1e6,
                    issue_us=issue_us(_decode_instructions(heads, rows, length)),
                    **goal,
                )
    heads, rows, length = HEADS["8B"], 64, 4096
    for name, codes in CODES.items():
        moved = rows * length * heads.keys * 2 * (heads.width + 4)  # and a scale in float32
        yield row(
            *(f"decode, 8B, {name}", f"{rows} x {length}", moved / BYTES_PER_US, None),
            MB=moved / 1e6,
            issue_us=issue_us(_decode_instructions(heads, rows, length, codes)),
            allowed_us=CODES_US,
        )


def _decode_instructions(
    heads: Heads, rows: int, length: int, codes: torch.dtype | None = None
) -> float:
    shape = {"heads": heads.queries, "kv_heads": heads.keys, "width": heads.width}
    attend, *merges = static.launches(
        partial(static.attend, "decode", rows=rows, longest=length, codes=codes, **shape)
    )
    taken = issued(attend, _tiles(attend, length))
    return taken + sum(issued(merge, [_merges(length)]) for merge in merges)


def _tiles(attend: Launch, length: int) -> list[float]:
    """How often a program of a decode passes through its loop."""
    tiles = min(length, attend.options["PIECE"] or length) / attend.options["TILE"]
    return [tiles] if facts_of(attend).loops else []  # none over a single tile


def _merges(length: int) -> float:
    """How often a program that joins splits passes through its loop."""
    return -(-length // (SPLIT * MERGED))


def prefills() -> Iterator[Row]:
    """A piece of one prompt, in one layer. The goal is a share of torch's rate where that has been
    measured, else, of long pieces, 70 % of what tensor cores can do."""
    for name, heads in HEADS.items():
        for prefix in (0, 8192, 32_768):
            for length in (256, 2048):
                seen = length * prefix + length * (length + 1) / 2
                operations = 4 * seen * heads.queries * heads.width
                torch_us = TORCH_US.get((name, prefix, length))
                goal = {} if torch_us is None else {"allowed_us": torch_us / PREFILL_SHARES[name]}
                yield row(
                    f"prefill, {name}",
                    f"{length} after {prefix}",
                    operations / OPERATIONS_PER_US,
                    0.7 if length == 2048 else None,
                    issue_us=issue_us(_prefill_instructions(heads, prefix, length)),
                    **goal,
                )


def _prefill_instructions(heads: Heads, prefix: int, length: int) -> float:
    shape = {"heads": heads.queries, "kv_heads": heads.keys, "width": heads.width}
    longest = prefix + length
    launch, *merges = static.launches(
        partial(static.attend, "prefill", rows=1, queries=length, longest=longest, **shape)
    )
    tokens = launch.options["ROWS"] // launch.options["GROUP"]
    tile, programs = launch.options["TILE"], launch.grid[2]
    begins = range(prefix, longest, tokens)
    whole = [(begin + 1) // tile for begin in begins]
    every = [-(-(begin + tokens) // tile) for begin in begins]
    trips = [sum(whole) / programs, (sum(every) - sum(whole)) / programs]
    return issued(launch, trips) + sum(issued(merge) for merge in merges)


def steps() -> Iterator[Row]:
    """A whole decode step after 1,024 positions: the products' weights and all keys and values.
    `launches` are those of a layer, `products` those of them that are torch's."""
    for name in ("8B", "0.6B"):
        config = parse_config({**COMMON, **MODELS[name]})
        for rows in (1, 8, 64):
            moved = read_by_step(config, rows, STEP_POSITIONS)
            goal = {"allowed_us": us} if (us := STEP_US.get((name, rows))) else {}
            one, two = (forward_of(config, rows, STEP_POSITIONS, layers) for layers in (1, 2))
            products = len(two.products) - len(one.products)
            yield row(
                *(f"step, {name}", f"{rows} sequences", moved / BYTES_PER_US, None),
                MB=moved / 1e6,
                launches=len(two.launches) - len(one.launches) + products,
                products=products,
                issue_us=issue_us(instructions_of(config.layers, one, two, STEP_POSITIONS)),
                **goal,
            )
            heads = next(launch for launch in one.launches if launch.name == "norm_rope_store")
            least = static.least_bytes(heads)
            assert least is not None
            yield row(
                f"norm, rope, store, {name}",
                *(f"{rows} sequences", least / BYTES_PER_US, None),
                MB=least / 1e6,
                launches=1,
                issue_us=issue_us(issued(heads)),
            )


def read_by_step(config: ModelConfig, rows: int, positions: int) -> int:
    """Return the bytes that a step of `rows` sequences can't avoid to read: weights of products,
    and keys and values, all of two bytes a number."""
    weights = config.parameters
    if not config.tied_embeddings:
        weights -= config.vocab_size * config.hidden
    return 2 * (weights + 2 * rows * positions * config.layers * config.kv_heads * config.head_dim)


def engines() -> Iterator[Row]:
    """A step of the engine, as long as the goal in tokens a second lets it be, with the draws of
    its rows at a temperature. What is expected is what the host takes, beside which the device
    computes."""
    config = parse_config({**COMMON, **MODELS["0.6B"]})
    moved = read_by_step(config, ENGINE_ROWS, ENGINE_POSITIONS)
    one, two = (forward_of(config, ENGINE_ROWS, ENGINE_POSITIONS, layers) for layers in (1, 2))
    draws = partial(static.draw, FP32, config.vocab_size, rows=ENGINE_ROWS)
    gather, finish = static.launches(draws)
    drawn = _gathered(gather, "drawn") + issued(finish)
    taken = drawn + instructions_of(config.layers, one, two, ENGINE_POSITIONS)
    for case, tokens in ENGINE_TOKENS.items():
        yield row(
            *(case, f"{ENGINE_ROWS} running", moved / BYTES_PER_US, None),
            MB=moved / 1e6,
            issue_us=issue_us(taken),
            allowed_us=ENGINE_ROWS / tokens * 1e6,
        )


class Forward(NamedTuple):
    """What a forward launches, and how many numbers each product of torch's multiplies."""

    launches: list[Launch]
    products: list[int]


def forward_of(config: ModelConfig, rows: int, positions: int, layers: int) -> Forward:
    """Return a decode step of `rows` sequences, each of so many `positions`, by the first
    `layers`."""
    few = replace(config, layers=layers, windows=config.windows[:layers])
    weights = RandomWeights(few, static.META, BF16)
    decoder = DenseDecoder(few, weights, BF16, compiled=False, device=static.META)
    each = positions // BLOCK
    runs = [
        Run([7], positions - 1, range(1 + place * each, 1 + (place + 1) * each), 1)
        for place in range(rows)
    ]
    pool = decoder.new_pool(1 + rows * each, BLOCK)
    with (
        patch.object(decoder_module, "kernels_run_on", return_value=True),
        patch.object(F, "linear", wraps=F.linear) as linear,
    ):
        batch = lay_out(runs, BLOCK, decoder.plan)
        launched = static.launches(partial(decoder.forward, batch, pool))
    factors = [call.args[:2] for call in linear.call_args_list]
    return Forward(launched, [x.numel() * len(weight) for x, weight in factors])


def instructions_of(layers: int, one: Forward, two: Forward, positions: int) -> float:
    """Return how many instructions a forward by `layers` layers issues at least, from those by one
    and by two. Of torch's products, those of tensor cores are counted, all as large as they come;
    copies and sums by torch are not."""
    first, second = (
        sum(_in_step(launch, positions) for launch in each.launches)
        + 4 * sum(each.products) / PRODUCT
        for each in (one, two)
    )
    return first + (layers - 1) * (second - first)


def _in_step(launch: Launch, positions: int) -> float:
    """Return how many instructions a launch of a step issues."""
    options = launch.options
    match launch.name:
        case "few_rows":
            return issued(launch, [-(-options["INPUTS_ALL"] // INPUTS)])
        case "attend":
            return issued(launch, _tiles(launch, positions))
        case "merge":
            return issued(launch, [_merges(positions)])
        case _:
            return issued(launch)


def readiness() -> Iterator[Row]:
    """The start of a server of the 8B shape. `programs` are compiled the first time, and read from
    the disk later, by one core."""
    for case, start in zip(START_US, starts(), strict=True):
        shared = max(start.processor / CORES, start.longest)
        floor = 1e6 * (shared if case == "first" else start.processor)
        yield row(
            *("start, 8B", case, floor, None),
            programs=start.programs,
            processor_s=start.processor,
            longest_s=start.longest,
            allowed_us=START_US[case],
        )


def constraints() -> Iterator[Row]:
    """What constraints add to a step of 256 rows of the 8B shape: masks that sampling reads, and
    the link, if every mask is new or none is. The goal is 2 % of a step, whose floor this is."""
    rows, vocab = 256, VOCAB
    config = parse_config({**COMMON, **MODELS["8B"]})
    step = read_by_step(config, rows, STEP_POSITIONS) / BYTES_PER_US
    words = rows * -(-vocab // 32) * 4
    for case, shipped in {"all masks are there": 4 * rows, "all masks are new": words}.items():
        added = words / BYTES_PER_US + shipped / LINK_BYTES_PER_US
        yield {
            "case": "constrained step",
            "shape": f"{rows} rows, {case}",
            "floor_us": added,
            "allowed_us": 0.02 * step,
            "MB": (words + shipped) / 1e6,
        }


GOALS: Final[dict[str, Callable[[], Iterator[Row]]]] = {
    "chain": chains,
    "mask": masks,
    "decode": decodes,
    "prefill": prefills,
    "step": steps,
    "engine": engines,
    "start": readiness,
    "constrained": constraints,
}


def estimate(found: Row) -> Row:
    """Return what `ESTIMATES` says of a row."""
    before, expected, decision = ESTIMATES.get(
        (str(found["case"]), str(found["shape"])), (None,) * 3
    )
    more = {"before_us": before, "expected_us": expected, "decision": decision}
    return {name: figure for name, figure in more.items() if figure is not None}


def main() -> None:
    """Compile and print."""
    options = options_of(__doc__, goals=GOALS)
    report = static.report_of_compiler("gpu_goals")
    for goal in options.goals:
        for found in GOALS[goal]():
            report.add(**found, **estimate(found))  # type: ignore[arg-type] - the case is text
    report.finish(save=options.save)


if __name__ == "__main__":
    main()
