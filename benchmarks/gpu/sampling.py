"""Sampling and masks on a GPU, beside what other engines do.

`sort_chain` is the usual chain in torch: it unpacks masks, sorts the logits for top-k, top-p and
min-p, and draws. It has no penalties, biases or bans, so that it has less to do.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, Final

import torch
from torch import Tensor

from benchmarks.gpu.chain_goals import GOALS_US, VOCAB
from benchmarks.gpu.flashinfer_peer import drawn, flashinfer_us, top_p
from benchmarks.gpu.timing import Bench
from maskwright.kernels.apply_mask import apply_mask, apply_mask_by_row
from maskwright.kernels.sample import sample_rows
from maskwright.kernels.sample_inputs import SampleInputs
from maskwright.sampling import SampleRow, SamplingParams
from maskwright.sampling.device_rows import lay_out

MASKS: Final = 64
"""Masks in the table."""

MIXED: Final[tuple[dict[str, Any], ...]] = (
    {"temperature": 0.0},
    {"temperature": 0.8, "top_k": 50},
    {"temperature": 1.0, "top_p": 0.95},
    {"temperature": 0.7, "min_p": 0.05, "repetition_penalty": 1.1},
    {"temperature": 1.0, "frequency_penalty": 0.5, "logit_bias": {5: 2.0}},
    {"temperature": 0.6, "top_k": 20, "top_p": 0.9},
)
CHAINS: Final[dict[str, tuple[dict[str, Any], ...]]] = {
    "mixed": MIXED,
    "greedy": ({"temperature": 0.0},),
    "temperature": ({"temperature": 1.0},),
    "top-k": ({"temperature": 1.0, "top_k": 50},),
    "top-p": ({"temperature": 1.0, "top_p": 0.95},),
    "min-p": ({"temperature": 1.0, "min_p": 0.05},),
    "top-p, flat": ({"temperature": 1.0, "top_p": 0.95},),
}
FLAT: Final = "top-p, flat"
"""Logits of a smaller deviation: some 25,000 tokens make up the mass, more than are candidates."""
PEERS: Final = {"temperature": drawn, "top-p": top_p, FLAT: top_p}
"""What FlashInfer is measured at beside ours."""
_WITH_GOALS: Final = {(chain, rows, VOCAB) for chain, rows in GOALS_US}
OUTPUT: Final = 1000
"""Tokens before the one that is sampled."""


def mask_table(vocab: int, device: torch.device) -> Tensor:
    """Return masks int32 `[MASKS, words]`: a third of them allow a hundredth of the tokens, a third
    half, and a third all."""
    words = -(-vocab // 32)
    generator = torch.Generator().manual_seed(0)
    shares = torch.tensor([0.01, 0.5, 1.0]).repeat(-(-MASKS // 3))[:MASKS]
    packed = torch.zeros(MASKS, words, dtype=torch.int32)
    for bit in range(32):
        allowed = torch.rand(MASKS, words, generator=generator) < shares[:, None]
        packed |= allowed.int() << bit
    return packed.to(device)


def inputs_of(bench: Bench, rows: int, vocab: int, chain: str) -> SampleInputs:
    """Return the parameters of `rows` requests, which take turns with the parameters of `chain`."""
    chooser = random.Random(rows)
    (length,) = bench.sizes((OUTPUT,), (4,))
    every = [
        SampleRow(
            SamplingParams(**CHAINS[chain][number % len(CHAINS[chain])]),
            [chooser.randrange(vocab) for _ in range(length)],
            0,
            chooser.randrange(2**64),
        )
        for number in range(rows)
    ]
    numbers = torch.tensor([number % MASKS for number in range(rows)], dtype=torch.int32)
    return lay_out(every, mask_table(vocab, bench.device), numbers.to(bench.device))


def unpack(words: Tensor, vocab: int) -> Tensor:
    """Return masks as truth values, `[rows, vocab]`."""
    bits = torch.arange(32, dtype=torch.int32, device=words.device)
    return ((words[:, :, None] >> bits) & 1).flatten(1)[:, :vocab].bool()


def sort_chain(logits: Tensor, inputs: SampleInputs) -> Tensor:
    """Draw a token for each row, with a sort."""
    vocab = logits.shape[1]
    allowed = unpack(inputs.table[inputs.mask_rows], vocab)
    values = logits.float().masked_fill(~allowed, float("-inf"))
    greedy = inputs.temperature == 0
    values = values / torch.where(greedy, 1.0, inputs.temperature)[:, None]
    values, order = values.sort(dim=-1, descending=True)
    keep = torch.where(inputs.top_k > 0, inputs.top_k, vocab)
    place = torch.arange(vocab, device=logits.device)
    values = values.masked_fill(place >= keep[:, None], float("-inf"))
    shares = values.softmax(-1)
    above = shares.cumsum(-1) - shares
    values = values.masked_fill(above > inputs.top_p.float()[:, None], float("-inf"))
    values = values.masked_fill(values - values[:, :1] < inputs.least[:, None], float("-inf"))
    shares = values.softmax(-1)
    noise = torch.empty_like(shares).exponential_()
    noise = torch.where(greedy[:, None], 1.0, noise)
    return order.gather(1, (shares / noise).argmax(-1, keepdim=True))[:, 0]


def measure_chain(bench: Bench) -> None:
    """Time the whole chain. The share of reading's bandwidth counts one read of logits and
    masks."""
    cases = [("mixed", rows, vocab) for vocab in (VOCAB, 262_144) for rows in (1, 64, 256)]
    cases += [(chain, 64, VOCAB) for chain in CHAINS if chain != "mixed"]
    cases += [(chain, 256, VOCAB) for chain in ("temperature", "top-p", FLAT)]
    for case in bench.sizes(cases, [(chain, 2, 200) for chain in CHAINS]):
        _time_chain(bench, *case)


def _time_chain(bench: Bench, chain: str, rows: int, vocab: int) -> None:
    inputs = inputs_of(bench, rows, vocab, chain)
    logits = (2.5 if chain == FLAT else 4) * bench.numbers(rows, vocab)
    ours = bench.by_graph(lambda: sample_rows(logits, inputs))
    theirs = bench.by_graph(lambda: sort_chain(logits, inputs))
    moved = logits.nbytes + rows * inputs.table.shape[1] * 4
    bench.add(
        f"chain, {chain}",
        rows=rows,
        vocab=vocab,
        us=ours,
        **{"read_bandwidth_%": bench.share(moved, ours)},
        sort_us=theirs,
        times_faster=theirs / ours,
        **({"goal_us": GOALS_US[chain, rows]} if (chain, rows, vocab) in _WITH_GOALS else {}),
        **(flashinfer_us(bench, PEERS[chain](logits, inputs)) if chain in PEERS else {}),
    )


def measure_masks(bench: Bench) -> None:
    """Time masks from the host's call to the end: by row number, and shipped as bitmasks."""
    for vocab in bench.sizes((128_256, 262_144), (200,)):
        for rows in bench.sizes((64, 512), (3,)):
            _time_masks(bench, rows, vocab)


def _time_masks(bench: Bench, rows: int, vocab: int) -> None:
    import xgrammar  # noqa: PLC0415  (four seconds)

    table = mask_table(vocab, bench.device)
    chosen = torch.tensor([number % MASKS for number in range(rows)], dtype=torch.int32)
    pageable = table.cpu()[chosen]
    pinned, numbers = bench.pinned(pageable), bench.pinned(chosen)
    logits = bench.numbers(rows, vocab)

    def ship(words: Tensor) -> Tensor:
        return words.to(bench.device, non_blocking=True)

    ways: dict[str, Callable[[], object]] = {
        "row numbers": lambda: apply_mask_by_row(logits, table, ship(numbers)),
        "pinned bitmasks": lambda: apply_mask(logits, ship(pinned)),
        "bitmasks": lambda: apply_mask(logits, ship(pageable)),
        "bitmasks, xgrammar": lambda: xgrammar.apply_token_bitmask_inplace(logits, ship(pinned)),
    }
    times = {name: bench.to_end(way) for name, way in ways.items()}
    for name, us in times.items():
        ratio = us / times["row numbers"]
        bench.add(f"mask by {name}", rows=rows, vocab=vocab, us=us, times_row_numbers=ratio)
