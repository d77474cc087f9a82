"""What the compiler says about the kernels, without a GPU: registers, spills, accesses, floors.

    python benchmarks/gpu/static.py [--subjects mask,sample] [--targets 80,90,100] [--save]

Each subject is launched as the package does, on tensors without data, and every kernel that it
launches is compiled for its very arguments. The figures come from the machine code. `loads` and
`stores` are instructions that access device memory, by their width in bits; `local` those that
access memory of a thread, which are spills or arrays; `products` are instructions of tensor cores.
`instructions` is the length of the program, and `loops` the length of each loop in it that contains
no other.
`occupancy_%` is the share of a multiprocessor's warps that registers, shared memory and blocks
leave room for. `floor_us` is the time in which an H200 moves the bytes that the launch can't avoid,
at 4.0 TB/s. No time is measured.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import torch

ROOT: Final = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
with suppress(ImportError):  # before the kernels, which a process without a GPU leaves alone
    import_module("triton")

from benchmarks.report import SKIPPED, Report, options_of
from maskwright.kernels import (
    apply_mask,
    few_rows,
    low_rank,
    norm_rope,
    paged_attention,
    sample,
    silu_mul,
    store_kv,
)
from maskwright.kernels.device import AVAILABLE, OVERLAPPING, new_logits
from maskwright.kernels.fp8 import product
from maskwright.kernels.kv_pool import KvPool
from maskwright.kernels.sample_inputs import ListedTokens, SampleInputs
from maskwright.kernels.steps import next_rows

TARGETS: Final = ("80", "90", "100")
SHARED_BYTES: Final = {"80": 164 << 10, "90": 228 << 10, "100": 228 << 10}
"""Shared memory of a multiprocessor, by target."""

WARPS, REGISTERS, BLOCKS, RESERVED = 64, 65_536, 32, 1024
"""Of a multiprocessor: warps, registers, blocks; and the bytes that it reserves for a block."""

BYTES_PER_US: Final = 4.0e6
"""Bytes that an H200 is taken to read in a microsecond."""

MODULES: Final = (
    *(apply_mask, few_rows, low_rank, next_rows, norm_rope, paged_attention, product, sample),
    *(silu_mul, store_kv),
)
"""Modules with kernels."""

TYPES: Final = {
    torch.bfloat16: "*bf16",
    torch.float16: "*fp16",
    torch.float32: "*fp32",
    torch.float64: "*fp64",
    torch.uint8: "*u8",
    torch.int8: "*i8",
    torch.int16: "*i16",
    torch.int32: "*i32",
    torch.int64: "*i64",
}
BF16, FP32 = torch.bfloat16, torch.float32
ROWS, MASKS, LISTED = 64, 4096, 64 * 1000


@dataclass(frozen=True)
class Launch:
    """A kernel with the arguments of one launch."""

    kernel: Any
    arguments: tuple[Any, ...]
    options: dict[str, Any]
    grid: tuple[int, ...]

    @property
    def name(self) -> str:
        return self.kernel.fn.__name__.removesuffix("_kernel")

    def source(self) -> Any:
        """What Triton compiles: types, constants, and which arguments are multiples of 16."""
        from triton.compiler import ASTSource  # noqa: PLC0415  (optional)

        constants = {name: self.options[name] for name in self.options if name.isupper()}
        types: dict[str, str] = dict.fromkeys(constants, "constexpr")
        attributes: dict[tuple[int], list[list[Any]]] = {}
        for place, (parameter, value) in enumerate(
            zip(self.kernel.params, self.arguments, strict=False)
        ):
            name, alike = parameter.name, parameter.do_not_specialize
            if value is None or (isinstance(value, int) and value == 1 and not alike):
                types[name], constants[name] = "constexpr", value
                continue
            tensor = isinstance(value, torch.Tensor)
            if tensor:
                types[name] = TYPES[value.dtype]
            elif isinstance(value, float):
                types[name] = "fp32"
            else:
                types[name] = "i32" if value < 2**31 else "i64"
            start = value.storage_offset() * value.element_size() if tensor else value
            if not isinstance(value, float) and start % 16 == 0 and not alike:
                attributes[place,] = [["tt.divisibility", 16]]
        types = {name: types[name] for name in self.kernel.arg_names}
        places = {(self.kernel.arg_names.index(name),): part for name, part in constants.items()}
        return ASTSource(self.kernel, types, constexprs=places, attrs=attributes)

    def key(self) -> str:
        """Equal for launches that compile to one program."""
        source = self.source()
        return f"{self.name} {source.signature} {source.constants} {source.attrs}"

    def compile(self, target: str) -> Any:
        """Return the program for a target, compiled anew or from Triton's cache."""
        import triton  # noqa: PLC0415  (optional)
        from triton.backends.compiler import GPUTarget  # noqa: PLC0415  (optional)

        options = {name: part for name, part in self.options.items() if not name.isupper()}
        return triton.compile(
            self.source(), target=GPUTarget("cuda", int(target), 32), options=options
        )


@dataclass(frozen=True)
class Facts:
    """What the machine code of a program says; the units are bytes and instructions."""

    registers: int
    stack: int
    shared: int
    local: int
    loads: Counter[int]
    stores: Counter[int]
    products: Counter[str]
    instructions: int
    loops: tuple[int, ...]
    """Instructions of each loop that contains no other, in order."""
    awaits: bool = False
    """Whether the program waits for earlier launches before it accesses device memory."""

    @property
    def wide_share(self) -> float:
        """Of the bytes that all loads of the program move together, the share that loads of 128
        bits move."""
        moved = {width: count * width for width, count in self.loads.items()}
        return sum(moved[width] for width in moved if width >= 128) / sum(moved.values())

    def occupancy(self, warps: int, target: str) -> float:
        """Share of a multiprocessor's warps that can be resident."""
        of_warp = -(-self.registers * 32 // 256) * 256
        blocks = min(
            BLOCKS,
            WARPS // warps,
            REGISTERS // (of_warp * warps),
            SHARED_BYTES[target] // (self.shared + RESERVED),
        )
        return blocks * warps / WARPS


def facts(program: Any) -> Facts:
    """Read the machine code of a compiled program with the tools of Triton's wheel."""
    import triton  # noqa: PLC0415  (optional)

    tool = Path(triton.__file__).parent / "backends" / "nvidia" / "bin" / "cuobjdump"
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(program.asm["cubin"])
        file.flush()
        listing = subprocess.run(
            [tool, "--dump-resource-usage", "--dump-sass", file.name],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
    return read_facts(listing, program.metadata.shared)


def read_facts(listing: str, shared: int) -> Facts:
    """Read what cuobjdump prints. `shared`: bytes of shared memory, which the launch decides."""
    used = re.search(r"REG:(\d+) STACK:(\d+)", listing)
    if used is None:
        raise ValueError("cuobjdump printed nothing about registers")
    loads, stores = Counter[int](), Counter[int]()
    for kind, more in re.findall(r"\b(LDG|LDGSTS|STG)\b((?:\.\w+)*)", listing):
        width = re.search(r"\.[US]?(8|16|64|128|256)\b", more)
        (stores if kind == "STG" else loads)[int(width[1]) if width else 32] += 1
    products = Counter[str](re.findall(r"\b(HMMA|HGMMA|UTCHMMA)\b", listing))
    local = len(re.findall(r"\b(?:LDL|STL)\b", listing))
    code = [
        (int(place, 16), instruction)
        for place, instruction in re.findall(r"/\*([0-9a-f]{4,})\*/\s+([^/;]+);", listing)
        if not instruction.startswith("NOP")
    ]
    return Facts(
        *(int(used[1]), int(used[2]), shared, local, loads, stores, products),
        *(len(code), innermost_loops(code), awaits_first([text for _, text in code])),
    )


def awaits_first(code: Sequence[str]) -> bool:
    """Whether instructions wait for earlier launches (`ACQBULK`) before one accesses device
    memory."""
    kinds = r"(?:@!?U?P\d+ )?(ACQBULK|LDGSTS|LDG|STG|LD|ST|ATOMG?|REDG?|UTMA\w+|UBLK\w+)\b"
    first = next((found[1] for text in code if (found := re.match(kinds, text))), None)
    return first == "ACQBULK"


def innermost_loops(code: Sequence[tuple[int, str]]) -> tuple[int, ...]:
    """How many instructions the loops have that contain no other. `code`: places and instructions;
    a loop ends with a branch to a place before it."""
    spans: list[tuple[int, int]] = []
    for place, instruction in code:
        branch = re.search(r"\bBRA\b.*?0x([0-9a-f]+)", instruction)
        if branch is not None and int(branch[1], 16) < place:
            spans.append((int(branch[1], 16), place))
    inner = [
        one
        for one in spans
        if not any(other != one and one[0] <= other[0] and other[1] <= one[1] for other in spans)
    ]
    return tuple(
        sum(begin <= place <= end for place, _ in code) for begin, end in sorted(set(inner))
    )


def launches(subject: Callable[[], object], target: str = "90") -> list[Launch]:
    """Return what `subject` launches on a GPU of the kind of `target`, without running it."""
    found: list[Launch] = []

    class Recorder:
        def __init__(self, kernel: Any) -> None:
            self.kernel = kernel

        def __getitem__(self, grid: tuple[int, ...]) -> Callable[..., None]:
            return lambda *arguments, **options: found.append(
                Launch(self.kernel, arguments, options | overlaps, grid)
            )

    generation = int(target) // 10
    overlaps = {"OVERLAPS": generation >= OVERLAPPING}
    with ExitStack() as stack:
        stack.enter_context(patch.object(paged_attention, "generation_of", return_value=generation))
        for module in MODULES:
            if hasattr(module, "runs_kernels"):
                stack.enter_context(patch.object(module, "runs_kernels", return_value=True))
            for name in [name for name in vars(module) if name.endswith("_kernel")]:
                recorder = Recorder(getattr(module, name))
                stack.enter_context(patch.object(module, name, recorder))
        subject()
    return found


META: Final = torch.device("meta")


def empty(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """A tensor without data."""
    return torch.empty(*shape, dtype=dtype, device=META)


def logits_of(rows: int, vocab: int, dtype: torch.dtype, *, dense: bool) -> torch.Tensor:
    """Logits as the engine has them, or `dense`: with nothing between the rows."""
    if dense:
        return empty(rows, vocab, dtype=dtype)
    return new_logits(rows, vocab, META, dtype)


def mask(
    dtype: torch.dtype,
    vocab: int = 128_256,
    *,
    by_row: bool = True,
    rows: int = ROWS,
    dense: bool = False,
) -> None:
    """Mask logits."""
    words = -(-vocab // 32)
    logits = logits_of(rows, vocab, dtype, dense=dense)
    if by_row:
        table = empty(MASKS, words, dtype=torch.int32)
        apply_mask.apply_mask_by_row(logits, table, empty(rows, dtype=torch.int32))
    else:
        apply_mask.apply_mask(logits, empty(rows, words, dtype=torch.int32))


def draw(
    dtype: torch.dtype,
    vocab: int = 128_256,
    *,
    rows: int = ROWS,
    listed: bool = False,
    scored: bool = False,
    dense: bool = False,
) -> None:
    """Sample."""
    whole, real = torch.int32, torch.float32
    columns = (whole, real, whole, torch.float64, *(real,) * 4, whole, torch.int64, whole)
    lists = (real, whole, whole)
    inputs = SampleInputs(
        empty(MASKS, -(-vocab // 32), dtype=whole),
        *(empty(rows, dtype=kind) for kind in columns),
        listed=ListedTokens(
            empty(rows + 1, dtype=whole),
            empty(LISTED, dtype=whole),
            *(empty(LISTED, dtype=kind) for kind in lists),
            most=1000,
        )
        if listed
        else None,
    )
    logits = logits_of(rows, vocab, dtype, dense=dense)
    sample.sample_rows(logits, inputs, scored=scored)


def store(codes: torch.dtype | None = None) -> None:
    """Store the keys and values of a step, of a model with eight heads of 128."""
    pool = pool_of(8, 128, codes)
    slots = (empty(ROWS, dtype=torch.int64) for _ in range(2))
    numbers = (empty(8, ROWS, 128, dtype=BF16).transpose(0, 1) for _ in range(2))
    store_kv.store_kv(pool, 1, *slots, *numbers)


def norms(
    *,
    width: int = 4096,
    head_dim: int = 128,
    bare: bool = False,
    codes: torch.dtype | None = None,
) -> None:
    """Norm a layer's rows; norm and rotate its heads, eight of four queries each, and store keys
    and values. `bare`: the first layer of a model, which adds nothing, and one without norms of
    heads."""
    hidden, weight = empty(ROWS, width, dtype=BF16), empty(width, dtype=BF16)
    norm_rope.add_norm(hidden, None if bare else hidden, weight, 1e-6)
    heads, of_head = empty(ROWS, 48, head_dim, dtype=BF16), empty(head_dim, dtype=BF16)
    tables = empty(8192, 1, head_dim, dtype=BF16), empty(8192, 1, head_dim, dtype=BF16)
    positions, blocks, offsets = (empty(ROWS, dtype=torch.int32) for _ in range(3))
    of_heads = None if bare else (of_head, of_head)
    pool = pool_of(8, head_dim, codes)
    slots = blocks, offsets
    norm_rope.norm_rope_store(heads, tables, positions, pool, 1, slots, of_heads, 1e-6)


def pool_of(heads: int, width: int, codes: torch.dtype | None, dtype: torch.dtype = BF16) -> KvPool:
    """A pool of 32 layers of numbers or codes."""
    shape = (4096, 32, 2, 16, heads, width)
    scales = None if codes is None else empty(*shape[:-1])
    return KvPool(empty(*shape, dtype=codes or dtype), scales)


def few(
    inputs: int,
    outputs: int,
    *,
    gated: bool = False,
    biased: bool = False,
    codes: bool = False,
) -> None:
    """Multiply four rows by a weight, which may be `codes` of fp8; if `gated`, with the activation
    that follows."""
    x, bias = empty(4, inputs, dtype=BF16), empty(outputs, dtype=BF16) if biased else None
    if codes:
        weight = empty(outputs, inputs, dtype=torch.float8_e4m3fn)
        product.multiply(x, weight, empty(outputs), bias, gated=gated)
    else:
        weight = empty(outputs, inputs, dtype=BF16)
        (few_rows.linear_silu_mul if gated else few_rows.linear)(x, weight, bias)


def low_ranks(dtype: torch.dtype, *, width: int = 4096, ends: tuple[int, ...] = (4096,)) -> None:
    """Add the updates of two adapters of rank 16 to a product."""
    device = torch.device("meta")
    outputs = [end - begin for begin, end in zip((0, *ends), ends, strict=False)]
    of_each = [(empty(16, width, dtype=dtype), empty(each, 16, dtype=dtype)) for each in outputs]
    table = low_rank.matrix_table(of_each, device)
    groups = low_rank.group_rows([(range(ROWS // 2), table)] * 2, device)
    out, x = empty(ROWS, ends[-1], dtype=dtype), empty(ROWS, width, dtype=dtype)
    low_rank.add_grouped(out, x, groups, 7, ends)


def advance() -> None:
    """Advance the decoding rows of a step, each with up to four tokens that end it, by a table of
    2,048 states."""
    long, whole = empty(ROWS, dtype=torch.int64), empty(ROWS, dtype=torch.int32)
    tables, last = empty(ROWS, 256, dtype=torch.int32), empty(ROWS, 4, dtype=torch.int32)
    rows = next_rows.DecodeRows(long, long, long, long, tables, whole, whole, whole, whole, last)
    state, moves = empty(2048, dtype=torch.int32), empty(LISTED, dtype=torch.int32)
    table = next_rows.NextRows(state, state, state, state, state, moves, moves, most=1000)
    next_rows.advance_rows(rows, table, long, long, 16)


def attend(
    name: str,
    *,
    heads: int = 32,
    kv_heads: int = 8,
    width: int = 128,
    queries: int = 1,
    dtype: torch.dtype = torch.bfloat16,
    codes: torch.dtype | None = None,
    window: int | None = None,
    softcap: float | None = None,
    sinks: bool = False,
    rows: int = ROWS,
    longest: int = 4096,
) -> None:
    """Attend from a step of decodes or a chunk of prompts (`name`: decode, prefill)."""
    pool = pool_of(kv_heads, width, codes, dtype)
    whole = torch.int32
    column, tables = empty(rows, dtype=whole), empty(rows, longest // 16, dtype=whole)
    columns = (column, column, column, tables)
    sequences = paged_attention.Sequences(*columns, queries, longest, queries)
    query = empty(rows * queries, heads, width, dtype=dtype)
    sunk = empty(heads) if sinks else None
    scores = paged_attention.Scores(width**-0.5, window, softcap, sunk)
    function = {"decode": paged_attention.paged_decode, "prefill": paged_attention.paged_prefill}
    function[name](query, pool, 1, sequences, scores)


SUBJECTS: Final[dict[str, Callable[[], object]]] = {
    "mask": lambda: mask(BF16),
    "mask-float16": lambda: mask(torch.float16),
    "mask-float32": lambda: mask(FP32),
    "mask-50257": lambda: mask(BF16, 50_257),
    "mask-50257-dense": lambda: mask(BF16, 50_257, dense=True),
    "bitmask": lambda: mask(BF16, by_row=False),
    "store": store,
    "store-int8": lambda: store(torch.int8),
    "store-fp8": lambda: store(torch.float8_e4m3fn),
    "norms": norms,
    "norms-bare": lambda: norms(bare=True),
    "norms-64": lambda: norms(width=1024, head_dim=64),
    "norms-int8": lambda: norms(codes=torch.int8),
    "norms-fp8": lambda: norms(codes=torch.float8_e4m3fn),
    "silu": lambda: silu_mul.silu_mul(empty(ROWS, 2 * 14336, dtype=BF16)),
    "few-rows": lambda: few(4096, 6144, biased=True),
    "few-rows-1024": lambda: few(2048, 1024),
    "few-rows-gated": lambda: few(4096, 2 * 14_336, gated=True),
    "few-rows-gated-3072": lambda: few(1024, 2 * 3072, gated=True),
    "few-rows-head": lambda: few_rows.linear(
        empty(4, 4096, dtype=BF16), empty(128_256, 4096, dtype=BF16), out=empty(4, 128_256)
    ),
    "few-rows-fp8": lambda: few(4096, 6144, codes=True),
    "few-rows-fp8-gated": lambda: few(4096, 2 * 14_336, gated=True, codes=True),
    "low-rank": lambda: low_ranks(BF16),
    "low-rank-qkv": lambda: low_ranks(BF16, ends=(4096, 5120, 6144)),
    "low-rank-14336": lambda: low_ranks(BF16, width=14_336),
    "low-rank-float32": lambda: low_ranks(FP32),
    "encode-fp8": lambda: product.encode_rows(empty(ROWS, 4096, dtype=BF16)),
    "encode-fp8-14336": lambda: product.encode_rows(empty(ROWS, 14_336, dtype=BF16)),
    "next-rows": advance,
    "decode": lambda: attend("decode"),
    "decode-one": lambda: attend("decode", rows=1),
    "decode-one-int8": lambda: attend("decode", rows=1, codes=torch.int8),
    "decode-one-fp8": lambda: attend("decode", rows=1, codes=torch.float8_e4m3fn),
    "decode-one-8-queries": lambda: attend("decode", rows=1, queries=8),
    "decode-one-256-wide": lambda: attend(
        "decode", rows=1, heads=8, kv_heads=4, width=256, window=1024
    ),
    "decode-one-512-wide": lambda: attend("decode", rows=1, heads=8, kv_heads=4, width=512),
    "decode-one-sinks": lambda: attend(
        "decode", rows=1, heads=64, width=64, window=128, sinks=True
    ),
    "decode-one-float32": lambda: attend("decode", rows=1, dtype=FP32),
    "decode-int8": lambda: attend("decode", codes=torch.int8),
    "decode-fp8": lambda: attend("decode", codes=torch.float8_e4m3fn),
    "decode-8-queries": lambda: attend("decode", queries=8),
    "decode-256-wide": lambda: attend("decode", heads=8, kv_heads=4, width=256, window=1024),
    "decode-256-wide-int8": lambda: attend(
        "decode", heads=8, kv_heads=4, width=256, codes=torch.int8
    ),
    "decode-256-wide-8-queries": lambda: attend(
        "decode", heads=8, kv_heads=1, width=256, queries=8
    ),
    "decode-512-wide": lambda: attend("decode", heads=8, kv_heads=4, width=512),
    "decode-sinks": lambda: attend("decode", heads=64, width=64, window=128, sinks=True),
    "decode-capped": lambda: attend(
        "decode", heads=8, kv_heads=4, width=256, window=4096, softcap=50.0
    ),
    "decode-float32": lambda: attend("decode", dtype=FP32),
    "decode-float32-8-queries": lambda: attend("decode", dtype=FP32, queries=8),
    "prefill": lambda: attend("prefill", queries=2048),
    "prefill-short": lambda: attend("prefill", queries=256, rows=1, longest=8448),
    "prefill-short-256-wide": lambda: attend(
        "prefill", heads=8, kv_heads=4, width=256, queries=256, rows=1, longest=8448
    ),
    "prefill-short-capped": lambda: attend(
        "prefill",
        heads=8,
        kv_heads=4,
        width=256,
        queries=256,
        rows=1,
        longest=8448,
        window=1024,
        softcap=50.0,
    ),
    "prefill-int8": lambda: attend("prefill", queries=2048, codes=torch.int8),
    "prefill-fp8": lambda: attend("prefill", queries=2048, codes=torch.float8_e4m3fn),
    "prefill-256-wide-int8": lambda: attend(
        "prefill", heads=8, kv_heads=4, width=256, queries=2048, codes=torch.int8
    ),
    "prefill-float32-int8": lambda: attend("prefill", queries=2048, dtype=FP32, codes=torch.int8),
    "prefill-80-wide": lambda: attend("prefill", kv_heads=32, width=80, queries=2048),
    "prefill-192-wide": lambda: attend("prefill", kv_heads=32, width=192, queries=2048),
    "prefill-512-wide": lambda: attend("prefill", heads=8, kv_heads=4, width=512, queries=2048),
    "prefill-sinks": lambda: attend(
        "prefill", heads=64, width=64, queries=2048, window=128, sinks=True
    ),
    "prefill-capped": lambda: attend(
        "prefill", heads=8, kv_heads=4, width=256, queries=2048, window=4096, softcap=50.0
    ),
    "prefill-float32": lambda: attend("prefill", dtype=FP32, queries=2048),
    "prefill-float32-256-wide": lambda: attend(
        "prefill", dtype=FP32, heads=8, kv_heads=4, width=256, queries=2048
    ),
    "prefill-window": lambda: attend("prefill", queries=2048, window=1024),
    "prefill-256-wide": lambda: attend("prefill", heads=8, kv_heads=4, width=256, queries=2048),
    "sample": lambda: draw(BF16),
    "sample-listed-scored": lambda: draw(BF16, listed=True, scored=True),
    "sample-listed": lambda: draw(BF16, listed=True),
    "sample-scored": lambda: draw(BF16, scored=True),
    "sample-float16": lambda: draw(torch.float16),
    "sample-float32": lambda: draw(FP32),
    "sample-50257": lambda: draw(BF16, 50_257),
    "sample-50257-scored": lambda: draw(BF16, 50_257, scored=True),
    "sample-262144": lambda: draw(BF16, 262_144),
}


def targets_of(subject: str) -> tuple[str, ...]:
    """Return the targets that a subject is compiled for. GPUs before 8.9 don't know codes of fp8,
    and are not asked to multiply any."""
    return TARGETS[1:] if subject.startswith("few-rows-fp8") else TARGETS


def programs(
    names: Sequence[str], targets: Sequence[str] = TARGETS
) -> Iterator[tuple[str, str, Launch]]:
    """The launches of the subjects named, each with what it is called and its target; those that
    compile to one program once."""
    seen = set[tuple[str, str]]()
    for name in names:
        for target in targets:
            if target not in targets_of(name):
                continue
            for launch in launches(SUBJECTS[name], target):
                if (target, launch.key()) not in seen:
                    seen.add((target, launch.key()))
                    yield f"{name}: {launch.name}", target, launch


def least_bytes(launch: Launch) -> int | None:
    """The bytes of device memory that a launch can't avoid to move, as far as they don't depend on
    the data: sampling reads logits and masks, and a mask may change every group of tokens; heads
    are read, with the angles of each row, and queries, keys and values written."""
    given = dict(zip(launch.kernel.arg_names, launch.arguments, strict=False)) | launch.options
    if launch.name == "norm_rope_store":
        read, width = given["heads"], 2 * given["HALF"]
        angles = 2 * len(read) * width * given["cos"].element_size()
        of_head = width * given["pool"].element_size() + (0 if given["scales"] is None else 4)
        stored = 2 * given["stored"] * given["KEYS"] * of_head
        return read.nbytes + angles + given["out"].nbytes + stored
    if launch.name not in ("mask", "gather"):
        return None
    logits = launch.arguments[0]
    times = 2 if launch.name == "mask" else 1
    return times * logits.numel() * logits.element_size() + logits.numel() // 8


def widths(counts: Counter[int]) -> str:
    """Counts by width, the widest first: `128: 4, 32: 1`."""
    return ", ".join(f"{width}: {counts[width]}" for width in sorted(counts, reverse=True))


def report_of_compiler(name: str) -> Report:
    """A report of what the compiler says. Without triton, the script ends here."""
    if not AVAILABLE:
        print("skipped: triton is not installed (the extra gpu)", file=sys.stderr)
        raise SystemExit(SKIPPED)
    return Report(name, ("torch", "triton"), run_on_a_gpu="no")


def main() -> None:
    """Compile and print."""
    options = options_of(__doc__, subjects=SUBJECTS, targets=TARGETS)
    report = report_of_compiler("gpu_static")
    for case, target, launch in programs(options.subjects, options.targets):
        found = facts(launch.compile(target))
        warps = launch.options["num_warps"]
        moved = least_bytes(launch)
        report.add(
            case,
            target=f"sm_{target}",
            warps=warps,
            registers=found.registers,
            stack_bytes=found.stack,
            local=found.local,
            shared_bytes=found.shared,
            loads=widths(found.loads),
            stores=widths(found.stores),
            instructions=found.instructions,
            loops=", ".join(map(str, found.loops)),
            products=", ".join(f"{name}: {found.products[name]}" for name in found.products),
            **{"occupancy_%": 100 * found.occupancy(warps, target)},
            **({} if moved is None else {"floor_us": moved / BYTES_PER_US}),
        )
    report.finish(save=options.save)


if __name__ == "__main__":
    main()
