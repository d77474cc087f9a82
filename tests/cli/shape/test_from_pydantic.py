"""`maskwright from-pydantic`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Run

MODULE = """
from dataclasses import dataclass
from typing import Callable
from pydantic import BaseModel, Field

class Order(BaseModel):
    item: str = Field(alias="Item", max_length=5)

    class Line(BaseModel):
        count: int

@dataclass
class Point:
    x: float

class Odd(BaseModel):
    call: Callable[[], None]

number = 5
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a module in the current folder, which is forgotten afterwards."""
    name = f"types_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text(MODULE)
    (tmp_path / f"{name}_broken.py").write_text("1 / 0")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    return name


@pytest.mark.parametrize(
    ("arguments", "properties"),
    [
        (("{}:Order",), {"Item"}),
        (("{}:Order", "--no-by-alias"), {"item"}),
        (("{}:Order.Line",), {"count"}),
        (("{}:Point",), {"x"}),
    ],
)
def test_a_type(run: Run, module: str, arguments: tuple[str, ...], properties: set[str]) -> None:
    found = run("from-pydantic", *(each.format(module) for each in arguments))
    assert found.returncode == 0, found
    assert set(json.loads(found.stdout)["properties"]) == properties


def test_its_output_is_a_shape(run: Run, module: str) -> None:
    schema = run("from-pydantic", f"{module}:Order").stdout
    assert run("match", "-", "--text", '{"Item": "abc"}', stdin=schema).returncode == 0
    assert run("match", "-", "--text", '{"Item": "abcdef"}', stdin=schema).returncode == 1


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("{}", "give module:Name"),
        ("{}:", "give module:Name"),
        ("{}:Ordr", "there is no Ordr in {}; did you mean Order?"),
        ("{}:Order.Lin", "did you mean Line?"),
        ("{}_none:A", "can't be imported: ModuleNotFoundError"),
        ("{}_broken:A", "can't be imported: ZeroDivisionError: division by zero"),
        ("{}:number", "has no JSON Schema"),
        ("{}:Odd", "has no JSON Schema"),
    ],
)
def test_what_has_no_schema(run: Run, module: str, given: str, message: str) -> None:
    found = run("from-pydantic", given.format(module))
    assert found.returncode == 2
    assert message.format(module) in found.stderr
    assert "Traceback" not in found.stderr
