"""Every kernel compiles for the three targets, without spills and with wide loads."""

from __future__ import annotations

import ast
from collections import Counter
from functools import partial
from pathlib import Path

import pytest

from benchmarks.gpu.static import (
    BF16,
    SUBJECTS,
    Facts,
    attend,
    awaits_first,
    draw,
    facts,
    launches,
    programs,
    read_facts,
    targets_of,
)
from tests.kernels.launches import is_compiled, kernels_of_the_package

pytest.importorskip("triton", reason="needs triton, of the extra gpu")

QUICK = (
    *("mask", "mask-50257", "mask-50257-dense", "bitmask", "store", "store-int8", "store-fp8"),
    *("sample", "sample-50257", "sample-listed-scored", "decode", "decode-int8", "decode-fp8"),
    *("decode-one", "decode-sinks", "prefill", "prefill-int8"),
    *(
        "prefill-capped",
        "norms",
        "norms-bare",
        "norms-fp8",
        "silu",
        "low-rank-qkv",
        "encode-fp8",
        "next-rows",
    ),
    *("few-rows", "few-rows-fp8-gated"),
)
"""Subjects that are compiled in every run, for one target; they contain every kernel and every
branch of it, which a test below holds. The others, of further types and sizes, and other targets
are compiled with `--slow`."""

QUICK_TARGET = "90"

STREAMS = ("mask", "attend", "add_norm", "silu_mul", "shrink", "encode_rows")
"""Kernels that read much and nothing twice."""

FLAGS = ("BY_ROW", "WHOLE", "SCORED", "LISTED", "BULK", "APART", "FP8", "GATED")
"""What is True or False when a kernel is compiled. `UPCAST` is True in the interpreter alone.
`CODES` is None, or one of two names."""


def is_quick(subject: str, target: str) -> bool:
    return subject in QUICK and target == QUICK_TARGET


CASES = [
    pytest.param(subject, target, marks=() if is_quick(subject, target) else pytest.mark.slow)
    for subject in SUBJECTS
    for target in targets_of(subject)
]


@pytest.mark.parametrize(("subject", "target"), CASES)
def test_every_kernel_compiles_without_spills(subject: str, target: str) -> None:
    for case, _, launch in programs([subject], [target]):
        read = facts(launch.compile(target))
        assert (read.stack, read.local) == (0, 0), case
        assert read.awaits == (target != "80"), case  # which doesn't know such launches
        assert read.occupancy(launch.options["num_warps"], target) > 0, case
        # Rows of an odd length with nothing between them can't be read in wide steps, nor listed
        # tokens and moves, which lie apart.
        wide = "dense" not in subject and launch.name not in ("edit", "advance")
        assert max(read.loads) == 128 or not wide, case
        streams = launch.name in STREAMS and wide
        assert read.wide_share > 0.7 or not streams, case
        # In float32, products are exact and don't use tensor cores.
        multiplies = launch.name in ("attend", "shrink", "expand", "few_rows")
        assert bool(read.products) == (multiplies and "float32" not in subject), case
        # Codes are half as wide as the numbers that they are made from.
        stored = 64 if subject in ("store-int8", "store-fp8") else 128
        wide_stores = ("mask", "store", "add_norm", "norm_rope_store", "silu_mul", "expand")
        narrow = launch.name not in wide_stores
        assert max(read.stores) == stored or narrow or not wide, case


def test_every_kernel_is_compiled_in_every_run() -> None:
    compiled = {launch.kernel.fn.__name__ for name in QUICK for launch in launches(SUBJECTS[name])}
    assert compiled == kernels_of_the_package()


def test_every_branch_is_compiled_in_every_run() -> None:
    """A tensor or number that a kernel can do without is given and left out, and what decides at
    compile time whether something is done is True and False."""
    given: dict[tuple[str, str], set[bool]] = {}
    for launch in [each for name in QUICK for each in launches(SUBJECTS[name])]:
        function = launch.kernel.fn
        choices = {*FLAGS, *optional_names(Path(function.__code__.co_filename))}
        values = dict(zip(launch.kernel.arg_names, launch.arguments, strict=False))
        for name, value in (values | launch.options).items():
            if name in choices:
                seen = given.setdefault((function.__name__, name), set())
                seen.add(value if isinstance(value, bool) else value is not None)
    assert {choice for choice, seen in given.items() if seen != {False, True}} == set()
    assert len(given) > 15


def optional_names(path: Path) -> set[str]:
    """The names that the kernels of a file compare with None."""
    return {
        node.left.id
        for function in ast.walk(ast.parse(path.read_text()))
        if isinstance(function, ast.FunctionDef) and is_compiled(function)
        for node in ast.walk(function)
        if isinstance(node, ast.Compare)
        and isinstance(node.left, ast.Name)
        and isinstance(node.ops[0], ast.Is | ast.IsNot)
    }


def test_what_is_launched() -> None:
    assert [launch.name for launch in launches(SUBJECTS["sample"])] == ["gather", "finish"]
    listed = launches(SUBJECTS["sample-listed"])
    assert [launch.name for launch in listed] == ["edit", "gather", "finish"]
    updates = launches(SUBJECTS["low-rank-qkv"])
    assert [launch.name for launch in updates] == ["shrink", "expand"]


@pytest.mark.parametrize(
    ("rows", "longest", "pieces"),
    [
        (1, 64, [1]),  # one tile
        (1, 65, [2, 1]),
        (1, 4096, [64, 1]),
        (8, 4096, [64, 1]),  # splits would be 256 programs
        (9, 4096, [4, 1]),
        (33, 1024, [16, 1]),
        (34, 1024, [1]),
        (34, 1025, [2, 1]),
    ],
)
def test_few_decodes_have_a_program_for_each_tile(
    rows: int, longest: int, pieces: list[int]
) -> None:
    """With eight heads of keys."""
    found = launches(partial(attend, "decode", rows=rows, longest=longest))
    assert [launch.name for launch in found] == ["attend", "merge"][: len(pieces)]
    assert [launch.grid[2] for launch in found] == pieces
    assert found[0].grid[:2] == (rows, 8)


@pytest.mark.parametrize(
    ("subject", "rows"),
    [
        ("prefill", {"80": 128, "90": 128, "100": 128}),
        ("prefill-256-wide", {"80": 64, "90": 128, "100": 64}),
        ("prefill-192-wide", {"80": 64, "90": 128, "100": 64}),
        ("prefill-256-wide-int8", {"80": 64, "90": 64, "100": 64}),
        ("prefill-512-wide", {"80": 32, "90": 32, "100": 32}),
        ("prefill-float32-256-wide", {"80": 16, "90": 16, "100": 16}),
    ],
)
def test_wide_heads_have_as_many_rows_as_a_generation_has_room_for(
    subject: str, rows: dict[str, int]
) -> None:
    found = {target: launches(SUBJECTS[subject], target)[0].options["ROWS"] for target in rows}
    assert found == rows


@pytest.mark.parametrize("vocab", [50_257, 50_264])
def test_rows_with_nothing_between_them_take_the_programs_of_others(vocab: int) -> None:
    """They are copied first, since programs that read them number by number spilled."""
    dense, padded = (launches(partial(draw, BF16, vocab, dense=dense)) for dense in (True, False))
    assert [launch.key() for launch in dense] == [launch.key() for launch in padded]


def test_what_cuobjdump_tells() -> None:
    listing = """
 Function mask_kernel:
  REG:40 STACK:8 SHARED:0 LOCAL:0 CONSTANT[0]:400
        /*0010*/                   LDG.E.128.CONSTANT R4, desc[UR4][R2.64] ;
        /*0018*/                   LDGSTS.E.BYPASS.128 [R5], desc[UR4][R2.64] ;
        /*001c*/                   HMMA.16816.F32.BF16 R32, R4, R2, R32 ;
        /*0020*/              @P0  LDG.E.U8 R4, desc[UR4][R2.64] ;
        /*0030*/                   LDG.E R4, desc[UR4][R2.64] ;
        /*0040*/                   STG.E.64 desc[UR4][R2.64], R4 ;
        /*0050*/                   LDL R4, [R1] ;
        /*0060*/                   STL.64 [R1], R4 ;
        /*0070*/              @P0  BRA 0x30 ;
        /*0080*/                   LDL R4, [R1] ;
        /*0090*/                   BRA 0x10 ;
        /*00a0*/                   BRA 0xa0;
        /*00b0*/                   NOP;
"""
    loads, stores = Counter({128: 2, 32: 1, 8: 1}), Counter({64: 1})
    products = Counter({"HMMA": 1})
    assert read_facts(listing, 512) == Facts(40, 8, 512, 3, loads, stores, products, 12, (5,))
    with pytest.raises(ValueError, match="nothing about registers"):
        read_facts("", 0)


@pytest.mark.parametrize(
    ("code", "first"),
    [
        (["LDC R1, c[0x0][0x28]", "ACQBULK", "@!P0 LDG.E R4, desc[UR4][R2.64]"], True),
        (["@!P0 LDG.E R4, desc[UR4][R2.64]", "ACQBULK"], False),
        (["ATOMG.E.ADD R4, desc[UR4][R2.64], R5", "ACQBULK"], False),
        (["LDS R4, [R1]", "ATOMS.OR RZ, [UR5+0x14], R3", "ACQBULK"], True),  # its own memory
        (["REDUX.SUM UR4, R2", "ACQBULK"], True),  # within a warp
        (["LDC R1, c[0x0][0x28]", "EXIT"], False),
    ],
)
def test_what_comes_first(code: list[str], first: bool) -> None:
    assert awaits_first(code) is first


@pytest.mark.parametrize(
    ("registers", "shared", "warps", "target", "share"),
    [
        (32, 0, 4, "90", 1.0),  # 16 blocks of 4 warps
        (33, 0, 4, "90", 0.75),  # a warp takes 1,280 registers: 12 blocks
        (255, 0, 16, "90", 0.0),  # a block takes more registers than there are
        (32, 100 << 10, 4, "80", 0.0625),  # one block has room
        (32, 100 << 10, 4, "90", 0.125),
        (16, 0, 1, "90", 0.5),  # 32 blocks of one warp
    ],
)
def test_occupancy(registers: int, shared: int, warps: int, target: str, share: float) -> None:
    program = Facts(registers, 0, shared, 0, Counter(), Counter(), Counter(), 0, ())
    assert program.occupancy(warps, target) == share
