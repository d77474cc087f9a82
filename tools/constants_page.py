"""Writes docs/constants.md: the numbers that were chosen in the code, with the reason beside each.

    python tools/constants_page.py [--out FILE]

A number is listed if it is a constant of a module and has a description below it. Numbers that
follow from something else, such as the code of a quote, have none. `tests/docs/test_constants.py`
says when the page is behind.
"""

from __future__ import annotations

import argparse
import ast
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).resolve().parent.parent
PACKAGE: Final = ROOT / "src" / "maskwright"
PAGE: Final = ROOT / "docs" / "constants.md"
HEAD: Final = """# Constants

The numbers that were chosen, of each package, with what they stand for;
`tools/constants_page.py` writes this page from the code. Limits that a caller may set are
[elsewhere](json-schema.md#limits), as are the [settings](settings.md) of a server and the numbers
of the [kernels](../kernels/README.md).
"""
_VALUE: Final = (ast.Constant, ast.UnaryOp, ast.BinOp)
"""What the value of a constant is written as."""


class Constant(NamedTuple):
    """A number of the code, as it is written there."""

    module: Path
    """Relative to the package."""
    name: str
    value: str
    text: str


def constants(module: Path) -> Iterator[Constant]:
    """The constants of a module that have a description."""
    body = ast.parse((PACKAGE / module).read_text()).body
    for statement, below in pairwise(body):
        match statement, below:
            case (
                ast.AnnAssign(target=ast.Name(id=name), value=value),
                ast.Expr(value=ast.Constant(value=str() as text)),
            ) if isinstance(value, _VALUE) and _is_number(value):
                yield Constant(module, name, ast.unparse(value), " ".join(text.split()))
            case _:
                pass


def _is_number(value: ast.expr) -> bool:
    leaves = [node for node in ast.walk(value) if isinstance(node, ast.Constant)]
    others = [node for node in ast.walk(value) if isinstance(node, ast.Name | ast.Call)]
    return not others and all(type(leaf.value) in (int, float) for leaf in leaves)


def page() -> str:
    """The page as it should be."""
    parts = [HEAD]
    modules = sorted(path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py"))
    package = ""
    for constant in (each for module in modules for each in constants(module)):
        if constant.module.parts[0] != package:
            package = constant.module.parts[0]
            parts.append(f"\n## {package}\n\n| constant | value | what it is |\n|---|--:|---|\n")
        place = constant.module.relative_to(package) if constant.module.parts[1:] else package
        parts.append(
            f"| `{constant.name}` (`{place}`) | {shown(constant.value)} | {cell(constant.text)} |\n"
        )
    return "".join(parts)


def shown(value: str) -> str:
    """A value with its thousands apart."""
    return re.sub(r"(?<![\w.])\d{5,}(?!\.)", lambda found: f"{int(found[0]):,}", cell(value))


def cell(text: str) -> str:
    """A text that may stand in a cell of a table."""
    return text.replace("|", "\\|").replace("*", "\\*")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, default=PAGE, help="file that is written")
    parser.parse_args().out.write_text(page())
