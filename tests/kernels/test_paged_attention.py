"""Attention over the blocks of the pool: the twin, the kernels in the interpreter and on a GPU,
held against sums over single keys in float64."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest
import torch
from torch import Tensor

from maskwright.kernels import paged_attention, reference
from maskwright.kernels.attention import tiles
from maskwright.kernels.attention.tiles import Kind, Tiles, prefill_tiles
from maskwright.kernels.device import INTERPRETED
from maskwright.kernels.kv_pool import KvPool, decode, encode
from maskwright.kernels.paged_attention import Scores, Sequences, paged_decode, paged_prefill
from tests.kernels.interpreted import long

BLOCK = 4
FP8 = torch.float8_e4m3fn

DECODES = ((40, 1), (3, 1), (0, 1), (70, 1))
DRAFTS = ((40, 3), (0, 8), (62, 2), (30, 1))
PROMPTS = ((0, 19), (40, 30), (31, 1))


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let short sequences have several splits, tiles and pieces. Numbers of float32, with which
    results are compared most closely, are computed in the way of narrower ones."""
    for name in ("TILE", "MOST_ROWS"):
        monkeypatch.setattr(tiles, name, 16)

    def narrow(kind: Kind, group: int) -> Tiles:
        return prefill_tiles(replace(kind, float32=False), group)

    monkeypatch.setattr(paged_attention, "prefill_tiles", narrow)
    monkeypatch.setattr(paged_attention, "SPLIT", 32)
    monkeypatch.setattr(paged_attention, "MERGED", 2)
    monkeypatch.setattr(paged_attention, "LEAST_PIECE", 16)
    monkeypatch.setattr(paged_attention, "PROMPT_PROGRAMS", 12)


@dataclass
class Case:
    """Queries and the keys that they see; `runs`: start and count of each sequence's queries."""

    runs: tuple[tuple[int, int], ...]
    heads: int = 4
    kv_heads: int = 2
    width: int = 16
    dtype: torch.dtype = torch.float32
    codes: torch.dtype | None = None

    def __post_init__(self) -> None:
        sizes = [-(-(start + count) // BLOCK) for start, count in self.runs]
        shape = (1 + sum(sizes), 2, 2, BLOCK, self.kv_heads, self.width)
        numbers = torch.randn(shape).to(self.dtype)
        self.pool = KvPool(numbers)
        self.numbers = numbers.double()
        if self.codes is not None:
            self.pool = KvPool(*encode(numbers, self.codes))
            assert self.pool.scales is not None
            self.numbers = decode(self.pool.data, self.pool.scales, self.dtype).double()
        blocks = iter((1 + torch.randperm(sum(sizes))).tolist())
        self.tables = [[next(blocks) for _ in range(size)] for size in sizes]
        # What lies after a sequence's end is not its own: a kernel that reads it gives NaN.
        for (start, count), table in zip(self.runs, self.tables, strict=True):
            if self.codes is None and (start + count) % BLOCK and INTERPRETED:
                self.pool.data[table[-1], :, :, (start + count) % BLOCK :] = float("nan")
        rows = sum(count for _, count in self.runs)
        # Queries as models have them: before keys and values in one row.
        self.query = torch.randn(rows + 1, self.heads + 3, self.width).to(self.dtype)[
            :, : self.heads
        ]

    def sequences(self, device: torch.device) -> Sequences:
        """The runs in a batch that has a place without a sequence as well."""
        starts, counts = [start for start, _ in self.runs], [count for _, count in self.runs]
        firsts = [sum(counts[:number]) for number in range(len(counts))]
        most = max(map(len, self.tables))
        tables = [table + [0] * (most - len(table)) for table in self.tables]
        columns = ([*firsts, 0], [*starts, 0], [*counts, 0], [*tables, [0] * most])
        return Sequences(
            *(torch.tensor(column, dtype=torch.int32, device=device) for column in columns),
            most=max(counts),
            longest=max(map(sum, self.runs)),
            least=min(counts),
        )

    def run(
        self,
        function: Callable[[Tensor, KvPool, int, Sequences, Scores], Tensor],
        scores: Scores,
        device: torch.device,
    ) -> Tensor:
        """Return the result for all rows that belong to a sequence, on the CPU."""
        scales = self.pool.scales
        pool = KvPool(self.pool.data.to(device), None if scales is None else scales.to(device))
        out = function(self.query.to(device), pool, 1, self.sequences(device), scores)
        assert (out.dtype, out.shape) == (self.query.dtype, self.query.shape)
        return out[:-1].cpu()

    def expected(self, scores: Scores) -> Tensor:
        """Sums over single keys."""
        out: list[Tensor] = []
        query = self.query.double()
        for (start, count), table in zip(self.runs, self.tables, strict=True):
            keys, values = self.numbers[table, 1].transpose(0, 1).flatten(1, 2)
            for position in range(start, start + count):
                first = 0 if scores.window is None else max(0, position - scores.window + 1)
                seen = slice(first, position + 1)
                for head in range(self.heads):
                    of = head // (self.heads // self.kv_heads)
                    found = keys[seen, of] @ query[len(out) // self.heads, head] * scores.scale
                    if scores.softcap is not None:
                        found = scores.softcap * (found / scores.softcap).tanh()
                    if scores.sinks is not None:
                        found = torch.cat((found, scores.sinks[head : head + 1].double().cpu()))
                    weights = found.softmax(0)[: position + 1 - first]
                    out.append(weights @ values[seen, of])
        return torch.stack(out).view(-1, self.heads, self.width)


FUNCTIONS = {
    "decodes": (paged_decode, DECODES),
    "drafts": (paged_decode, DRAFTS),
    "prompts": (paged_prefill, PROMPTS),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize(
    ("window", "softcap", "sunk"),
    [
        long(None, None, False),
        long(1, None, True),
        long(21, None, True),
        long(21, 1.5, False),
        long(None, 1.5, True),
        (21, 1.5, True),
    ],
)
def test_all_ways_of_scoring(
    name: str, window: int | None, softcap: float | None, sunk: bool, device: torch.device
) -> None:
    function, runs = FUNCTIONS[name]
    case = Case(runs)
    sinks = torch.tensor([3.0, -1.0, 0.0, 9.0], device=device) if sunk else None
    scores = Scores(0.4, window, softcap, sinks)
    assert_close(case.run(function, scores, device), case.expected(scores), 2e-5)


@pytest.mark.parametrize("name", ["drafts", "prompts"])
@pytest.mark.parametrize(
    ("heads", "kv_heads", "width"), [(1, 1, 16), (6, 2, 20), long(5, 1, 8), long(3, 3, 4)]
)
def test_all_shapes_of_heads(
    name: str, heads: int, kv_heads: int, width: int, device: torch.device
) -> None:
    function, runs = FUNCTIONS[name]
    case = Case(runs, heads, kv_heads, width)
    assert_close(case.run(function, Scores(0.4), device), case.expected(Scores(0.4)), 2e-5)


@pytest.mark.parametrize("name", ["decodes", "prompts"])
@pytest.mark.parametrize(
    ("dtype", "codes", "tolerance"),
    [
        long(torch.float16, None, 3e-3),
        long(torch.bfloat16, None, 3e-2),
        (torch.float32, torch.int8, 2e-5),
        long(torch.float32, FP8, 2e-5),
        (torch.bfloat16, FP8, 3e-2),
    ],
    ids=str,
)
def test_all_types(
    name: str,
    dtype: torch.dtype,
    codes: torch.dtype | None,
    tolerance: float,
    device: torch.device,
) -> None:
    function, runs = FUNCTIONS[name]
    case = Case(runs, dtype=dtype, codes=codes)
    scores = Scores(0.4, window=33)
    assert_close(case.run(function, scores, device).double(), case.expected(scores), tolerance)


@pytest.mark.parametrize("codes", [torch.int8, FP8], ids=str)
@pytest.mark.parametrize(
    ("heads", "kv_heads", "width"), [(6, 2, 20), long(5, 1, 8), long(2, 2, 34)]
)
def test_codes_in_all_shapes_of_heads(
    heads: int, kv_heads: int, width: int, codes: torch.dtype, device: torch.device
) -> None:
    case = Case(DRAFTS, heads, kv_heads, width, codes=codes)
    scores = Scores(0.4, window=21, softcap=1.5)
    assert_close(case.run(paged_decode, scores, device), case.expected(scores), 2e-5)


def test_every_code_of_fp8_is_read(device: torch.device) -> None:
    """Also the least ones, which have no leading bit. One key: the result is its value."""
    bits = torch.arange(256, dtype=torch.uint8)
    bits[(bits & 127) == 127] = 0  # not a number
    width = len(bits)
    case = Case(((0, 1),), heads=1, kv_heads=1, width=width, codes=FP8)
    assert case.pool.scales is not None
    case.pool.data.view(torch.uint8)[:] = bits
    case.pool.scales[:] = 1
    found = case.run(paged_decode, Scores(0.0), device)
    assert found.equal(bits.view(FP8).float().view(1, 1, width))


def test_decodes_that_one_program_cannot_have_at_once(
    device: torch.device, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their queries are divided, as those of prompts are."""
    assert not tiles.decodes_at_once(Kind(256, float32=False, codes=True), 128)
    monkeypatch.setattr(paged_attention, "decodes_at_once", lambda kind, queries: False)
    case, scores = Case(DRAFTS), Scores(0.4, window=21)
    assert_close(case.run(paged_decode, scores, device), case.expected(scores), 2e-5)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_codes_of_an_odd_width_are_for_the_twin_alone(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    function, parts = FUNCTIONS[name]
    case, scores, cpu = Case(parts, width=5, codes=torch.int8), Scores(0.4), torch.device("cpu")
    monkeypatch.setattr(paged_attention, "runs_kernels", lambda tensor: False)
    assert_close(case.run(function, scores, cpu), case.expected(scores), 2e-5)
    monkeypatch.setattr(paged_attention, "runs_kernels", lambda tensor: True)
    with pytest.raises(ValueError, match="width is even"):
        case.run(function, scores, cpu)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_programs_of_float32(
    name: str, device: torch.device, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They read all tiles with masks."""
    monkeypatch.setattr(paged_attention, "prefill_tiles", prefill_tiles)
    function, runs = FUNCTIONS[name]
    case, scores = Case(runs), Scores(0.4, window=21, softcap=1.5)
    assert_close(case.run(function, scores, device), case.expected(scores), 2e-5)


def test_the_bits_of_a_sequence_do_not_depend_on_its_neighbours(
    device: torch.device, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Together they have programs for splits, alone for tiles."""
    monkeypatch.setattr(paged_attention, "FEW_PROGRAMS", 2 * len(DECODES) * 3 - 1)
    case = Case(DECODES)
    together = case.run(paged_decode, Scores(0.4), device)
    for number, (start, _) in enumerate(DECODES):
        sequences = case.sequences(device)
        alone = Sequences(
            *(
                column[number : number + 1]
                for column in (
                    *(sequences.first, sequences.start, sequences.count),
                    sequences.tables,
                )
            ),
            most=1,
            longest=start + 1,
        )
        pool = KvPool(case.pool.data.to(device))
        out = paged_decode(case.query.to(device), pool, 1, alone, Scores(0.4))
        assert out[number].cpu().equal(together[number])


def one_of(sequences: Sequences, number: int) -> Sequences:
    """One sequence with bounds of its own."""
    alone = sequences.part(number, number + 1)
    start, count = int(alone.start), int(alone.count)
    return replace(alone, most=count, longest=start + count, least=count)


SHORT = ((66, 9), (0, 26), (3, 12), (1, 2))
"""Pieces that are divided among six programs of eight queries each: the keys of the first in three,
those of the second, which has too many queries, and of the last, which has few keys, not at all."""


@pytest.mark.parametrize(
    "scores", [long(Scores(0.4)), Scores(0.4, window=37, softcap=1.5)], ids=str
)
def test_the_bits_of_a_piece_of_a_prompt_do_not_depend_on_its_neighbours(
    scores: Scores, device: torch.device, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor on how many sequences find their parts at once. All are right, divided or not."""
    monkeypatch.setattr(paged_attention, "PROMPT_PROGRAMS", 6)
    case = Case(SHORT, heads=2, kv_heads=1)
    scores = replace(scores, sinks=torch.tensor([3.0, -1.0], device=device))
    together = case.run(paged_prefill, scores, device)
    assert_close(together, case.expected(scores), 2e-5)
    sequences, pool = case.sequences(device), KvPool(case.pool.data.to(device))
    query = case.query.to(device)
    alone = torch.empty_like(query)
    for number in range(len(SHORT)):
        paged_prefill(query, pool, 1, one_of(sequences, number), scores, alone)
    assert alone[:-1].cpu().equal(together)
    monkeypatch.setattr(paged_attention, "MOST_FOUND", 1)
    assert case.run(paged_prefill, scores, device).equal(together)
    monkeypatch.setattr(paged_attention, "PROMPT_PROGRAMS", 0)
    assert_close(case.run(paged_prefill, scores, device), together.double(), 2e-5)


@pytest.mark.skipif(not INTERPRETED, reason="needs TRITON_INTERPRET=1; test_interpreter.py sets it")
@pytest.mark.parametrize(("run", "programs"), [((66, 9), 7), ((66, 40), 5), ((0, 16), 2)])
def test_the_keys_of_a_short_piece_are_divided_among_programs(
    run: tuple[int, int], programs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two heads of keys have room for six programs each, and one is more than that. A piece of two
    parts gets them, one of five parts has its own, and so has one of few positions."""
    seen: list[tuple[int, ...]] = []
    kernel = paged_attention.attend_kernel

    class Grids:
        def __getitem__(self, grid: tuple[int, ...]) -> Callable[..., object]:
            seen.append(grid)
            return kernel[grid]

    monkeypatch.setattr(paged_attention, "attend_kernel", Grids())
    case = Case((run,))
    assert_close(
        case.run(paged_prefill, Scores(0.4), torch.device("cpu")), case.expected(Scores(0.4)), 2e-5
    )
    assert [grid[2] for grid in seen] == [programs]


ENDS = ((14, 1), (15, 1), (16, 1), (30, 1), (31, 1), (32, 1), (63, 1), (64, 1), (65, 1))
"""Sequences up to tiles of 16 positions, splits of 32 and two joined splits, and past them."""


@pytest.mark.parametrize("runs", [ENDS, DRAFTS], ids=["ends", "drafts"])
@pytest.mark.parametrize(
    ("dtype", "codes", "scores"),
    [
        long(torch.float32, None, Scores(0.4)),
        (torch.float32, None, Scores(0.4, window=21, softcap=1.5)),
        long(torch.float16, None, Scores(0.4, window=33)),
        long(torch.bfloat16, None, Scores(0.4)),
        long(torch.float32, torch.int8, Scores(0.4, window=1)),
        (torch.bfloat16, FP8, Scores(0.4)),
    ],
    ids=str,
)
def test_a_program_for_each_tile_gives_the_bits_of_one_for_a_split(
    runs: tuple[tuple[int, int], ...],
    dtype: torch.dtype,
    codes: torch.dtype | None,
    scores: Scores,
    device: torch.device,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    case = Case(runs, dtype=dtype, codes=codes)
    scores = replace(scores, sinks=torch.tensor([3.0, -1.0, 0.0, 9.0], device=device))
    found: list[Tensor] = []
    for few in (0, 10_000):
        monkeypatch.setattr(paged_attention, "FEW_PROGRAMS", few)
        found.append(case.run(paged_decode, scores, device))
    assert found[0].equal(found[1])
    tolerance = 2e-5 if dtype == torch.float32 else 3e-2
    assert_close(found[0].double(), case.expected(scores), tolerance)


def test_other_shapes_and_types_are_refused() -> None:
    case = Case(DECODES)
    sequences = case.sequences(torch.device("cpu"))
    refused = {
        "a multiple of 2 heads": case.query[:, :3],
        r"\[rows, heads, 16\]": case.query[..., :8],
        "can't read a pool": case.query.half(),
    }
    for function in (paged_decode, paged_prefill):
        for message, query in refused.items():
            with pytest.raises(ValueError, match=message):
                function(query, case.pool, 1, sequences, Scores(1.0))


def test_a_decode_has_few_queries() -> None:
    case = Case(PROMPTS)
    with pytest.raises(ValueError, match="at most 8 queries"):
        paged_decode(case.query, case.pool, 1, case.sequences(torch.device("cpu")), Scores(1.0))


@pytest.mark.skipif(not INTERPRETED, reason="needs TRITON_INTERPRET=1; test_interpreter.py sets it")
def test_the_interpreter_does_not_run_the_twin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(reference, "paged_attention")
    case = Case(DECODES)
    assert case.run(paged_decode, Scores(0.4), torch.device("cpu")).isfinite().all()


def assert_close(actual: Tensor, expected: Tensor, tolerance: float) -> None:
    torch.testing.assert_close(
        actual.double(), expected, rtol=tolerance, atol=tolerance, check_dtype=False
    )
