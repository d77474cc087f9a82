"""The sources as syntax trees, for tests that hold the structure of the code."""

from __future__ import annotations

import ast
import gc
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "maskwright"
SIMULATOR = ROOT / "simulator" / "src" / "maskwright_sim"


@dataclass(frozen=True)
class Module:
    """A source file: its dotted name, its path and its syntax tree."""

    name: str
    path: Path
    tree: ast.Module


def tracked(*patterns: str) -> list[Path]:
    """Files that git tracks or would track, symbolic links left out."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "-c", "-o", "--exclude-standard", *patterns],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    paths = sorted({ROOT / name for name in listing.split("\0") if name})
    return [path for path in paths if path.is_file() and not path.is_symlink()]


_IMPORT = re.compile(r"^ *((?:from [\w.]+ )?c?import (?:\([^)]*\)|[^(\n]+))$", re.MULTILINE)


def source_of(path: Path) -> str:
    """The text of a module; of a package with the names in its `.pyi`; of one in Cython what its
    `.pyi` declares, and what it imports, from C's libraries and Cython itself apart."""
    if path.name == "__init__.py" and path.with_suffix(".pyi").exists():
        return path.read_text() + path.with_suffix(".pyi").read_text()
    if path.suffix != ".pyx":
        return path.read_text()
    parts = [path.with_suffix(".pyi").read_text()]
    for each in (path, path.with_suffix(".pxd")):
        if each.exists():
            found = (
                found.replace("cimport", "import") for found in _IMPORT.findall(each.read_text())
            )
            parts += [
                line
                for line in found
                if not re.match(r"(from|import) (libc|cpython|cython)\b", line)
            ]
    return "\n".join(parts)


@cache
def tree_of(path: Path) -> ast.Module:
    """The syntax tree of a file (of one in Cython, that of its `source_of`). The collector of
    garbage rests meanwhile: it would look through all other trees again and again, in vain."""
    collects = gc.isenabled()
    gc.disable()
    try:
        return ast.parse(source_of(path))
    finally:
        if collects:
            gc.enable()


@cache
def modules() -> tuple[Module, ...]:
    """Every module of the package, the files of `kernels/` as `maskwright.kernels`, and of the
    simulator."""
    found = [
        Module(dotted_name(path), path, tree_of(path))
        for path in tracked("src/*.py", "src/*.pyx", "kernels/*.py", "simulator/*.py")
    ]
    assert len(found) > 200
    return tuple(found)


def dotted_name(path: Path) -> str:
    base = next(each for each in (PACKAGE, SIMULATOR, ROOT) if path.is_relative_to(each))
    package = SIMULATOR.name if base == SIMULATOR else PACKAGE.name
    parts = (package, *path.relative_to(base).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(module: Module, known: Iterable[str]) -> set[str]:
    """The modules among `known` that a module imports, wherever the import stands in it."""
    names = set(known)
    found: set[str] = set()
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names} & names
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            for alias in node.names:
                dotted = f"{node.module}.{alias.name}"
                found |= {dotted if dotted in names else node.module} & names
    return found - {module.name}


def circles(graph: Mapping[str, set[str]]) -> list[list[str]]:
    """The strongly connected components of more than one node (Tarjan's algorithm), sorted."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for target in graph[node]:
            if target not in index:
                visit(target)
                low[node] = min(low[node], low[target])
            elif target in stack:
                low[node] = min(low[node], index[target])
        if low[node] == index[node]:
            component: list[str] = []
            while not component or component[-1] != node:
                component.append(stack.pop())
            if len(component) > 1:
                found.append(sorted(component))

    for node in graph:
        if node not in index:
            visit(node)
    return sorted(found)


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Every function and method, nested ones included."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def body_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines from the first statement after the docstring to the last one."""
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0
