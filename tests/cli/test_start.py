"""What a command imports before it answers: the whole of its start time."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

SERVER = ("torch", "transformers", "tokenizers", "fastapi", "uvicorn", "httpx", "pydantic")
OTHER_SHAPES = (
    "maskwright.grammar.dialects.lark",
    "maskwright.grammar.tags.rules",
    "maskwright.grammar.tools.tools",
    "maskwright.mask.compile.grammar",
)
COMPILERS = ("numpy", "numba", "llvmlite", "referencing", "maskwright.mask.grammar")
# To ask another server about records takes a client and a validator only.
NOT_FOR_RECORDS = (*sorted({*SERVER, *COMPILERS} - {"httpx", "referencing"}), "pyarrow")
LAYERS = ("--layers", "2", "--kv-heads", "2", "--head-dim", "64")
# What the transformers library imports with the code of any model; the demo model is our own.
LIBRARY_MODELS = ("torch.distributed.tensor", "torch._dynamo", "sympy")

PROGRAM = """\
import atexit, json, sys
from maskwright.cli import main
file = sys.argv.pop(1)
atexit.register(lambda: open(file, "w").write(json.dumps(sorted(sys.modules))))
main()
"""


def imported(tmp_path: Path, *arguments: str, stdin: str = "") -> set[str]:
    """The modules that are loaded when a command ends, in a process of its own."""
    file = tmp_path / "modules.json"
    subprocess.run(
        [sys.executable, "-c", PROGRAM, str(file), *arguments],
        input=stdin,
        capture_output=True,
        text=True,
    )
    return set(json.loads(file.read_text()))


@pytest.mark.parametrize(
    ("arguments", "absent"),
    [
        (("--help",), (*SERVER, *COMPILERS, "maskwright.cli.shape.check")),
        (("--version",), (*SERVER, *COMPILERS)),
        (("chek",), (*SERVER, *COMPILERS)),
        (("check", '{"type": "integer"}', "-"), (*SERVER, *OTHER_SHAPES)),
        (("check", "semver", "-"), SERVER),
        (("match", '{"type": "integer"}', "-"), (*SERVER, *OTHER_SHAPES)),
        (("explain", "invoice"), (*SERVER, *OTHER_SHAPES)),
        (("batch", "--help"), NOT_FOR_RECORDS),
        (("batch", "no.jsonl", "out.jsonl"), NOT_FOR_RECORDS),
        (("convert", "semver", "--to", "gbnf"), SERVER),
        (("plan", "--memory", "1GB", "--weights", "1MB", *LAYERS), (*SERVER, *COMPILERS)),
        (("generate", "--prompt", "hi", "--max-tokens", "1"), LIBRARY_MODELS),
    ],
)
def test_nothing_is_imported_that_is_not_needed(
    tmp_path: Path, arguments: tuple[str, ...], absent: Iterable[str]
) -> None:
    loaded = imported(tmp_path, *arguments, stdin="12")
    assert "maskwright.cli.program" in loaded
    assert sorted(loaded & set(absent)) == []
