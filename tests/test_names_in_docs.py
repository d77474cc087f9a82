"""What documents and docstrings name in backticks exists: paths, modules, symbols, tests.

Only spans that surely name something of the repository are looked up: a path whose first
folder is tracked or that ends in `.py` or `.md`; a dotted name that begins with a module, a package
or a class of ours; a class name; a function that is written with its parentheses; a test.
"""

from __future__ import annotations

import ast
import builtins
import re
import sys
import typing
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.source_tree import PACKAGE, ROOT, modules, tracked, tree_of

SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+(?:\(\))?")
CLASS = re.compile(r"_?[A-Z][a-z]+(?:[A-Z][a-z]*)*[A-Z]?[a-z]+")
CALL = re.compile(r"[a-z_]\w*\(\)")
TEST = re.compile(r"test_\w+…?(?:\[.*\])?")
PATH = re.compile(r"[\w.\-/…*]+")

DATA = (".json", ".jsonl", ".yaml", ".toml", ".txt", ".safetensors")

# Names that belong to others, or are made up for an example.
FOREIGN = frozenset(
    {
        "0001-short-name.md",  # the pattern of a decision's file name
        *("Letter", "Alphabetic", "Assigned", "Emoji"),  # properties of Unicode
        "Mailbox",  # a rule of RFC 5321
        *("chat.completion", "chat.completion.chunk", "logprobs.content"),  # OpenAI's protocol
        *("NoSuchResource", "Path.rglob", "Request.is_disconnected"),  # of libraries
    }
)


@cache
def python_files() -> tuple[tuple[Path, ast.Module], ...]:
    return tuple((path, tree_of(path)) for path in tracked("*.py", "*.pyx"))


@cache
def naming_nodes(tree: ast.Module) -> tuple[ast.AST, ...]:
    """The nodes that give a name, and strings that stand by themselves: a fraction of all, which
    several functions below would walk again."""
    kinds = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef, ast.Import, ast.ImportFrom)
    return tuple(
        node
        for node in ast.walk(tree)
        if isinstance(node, (*kinds, ast.Expr))
        or (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    )


@cache
def tracked_paths() -> frozenset[str]:
    """Every tracked path and folder, from the repository's root."""
    files = [path.relative_to(ROOT) for path in tracked()]
    folders = {parent for file in files for parent in file.parents}
    return frozenset({str(path) for path in (*files, *folders)})


@cache
def symbols() -> frozenset[str]:
    """Every name that our Python files define or import, at any depth."""
    found: set[str] = set(dir(builtins)) | set(typing.__all__)
    for _, tree in python_files():
        for node in naming_nodes(tree):
            match node:
                case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                    found.add(node.name)
                case ast.Import() | ast.ImportFrom():
                    found |= {
                        (alias.asname or alias.name).partition(".")[0] for alias in node.names
                    }
                case ast.Name():
                    found.add(node.id)
                case _:
                    pass
    return frozenset(found)


@cache
def members() -> dict[str, frozenset[str]]:
    """For each class, its methods and attributes and those of its bases that are ours."""
    own: dict[str, set[str]] = {}
    bases: dict[str, set[str]] = {}
    for _, tree in python_files():
        for node in naming_nodes(tree):
            if not isinstance(node, ast.ClassDef):
                continue
            names = own.setdefault(node.name, set())
            bases.setdefault(node.name, set()).update(ast.unparse(base) for base in node.bases)
            for inner in ast.walk(node):
                match inner:
                    case ast.FunctionDef() | ast.AsyncFunctionDef():
                        names.add(inner.name)
                    case ast.Name(ctx=ast.Store()):
                        names.add(inner.id)
                    case ast.Attribute(ctx=ast.Store()):
                        names.add(inner.attr)
                    case ast.Constant(value=str(text)) if text.isidentifier():
                        names.add(text)  # in __slots__
                    case _:
                        pass

    def whole(name: str) -> set[str]:
        inherited = [whole(base) for base in bases[name] if base in own and base != name]
        return own[name].union(*inherited)

    return {name: frozenset(whole(name)) for name in own}


@cache
def module_symbols() -> dict[str, frozenset[str]]:
    """For each module of ours, by dotted name without `maskwright.`, what it defines or imports."""
    found: dict[str, frozenset[str]] = {}
    for module in modules():
        names: set[str] = set()
        for node in naming_nodes(module.tree):
            match node:
                case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                    names.add(node.name)
                case ast.Name():
                    names.add(node.id)
                case ast.ImportFrom() | ast.Import():
                    names |= {alias.asname or alias.name for alias in node.names}
                case _:
                    pass
        found["" if module.name == "maskwright" else module.name.removeprefix("maskwright.")] = (
            frozenset(names)
        )
    return found


def path_exists(span: str, folder: Path) -> bool:
    name = span.rstrip("/")
    bases = (folder, ROOT, PACKAGE)
    if any(base.joinpath(name).exists() for base in bases):
        return True
    if "*" in name or "…" in name:
        pattern = re.escape(name.replace("…", "*")).replace(r"\*", "[^/]*")
        return any(re.fullmatch(f"(?:.*/)?{pattern}", path) for path in tracked_paths())
    return any(path.endswith("/" + name) for path in tracked_paths())


def is_our_path(span: str) -> bool:
    if not PATH.fullmatch(span) or span.startswith(("/", ".")) or "//" in span:
        return False
    if span.endswith((".py", ".pyx", ".md")):
        return True
    first, slash, _ = span.partition("/")
    return bool(slash) and any(path.partition("/")[0] == first for path in tracked_paths())


def dotted_exists(span: str) -> bool | None:
    """None if the name does not begin with anything of ours.

    `grammar.report` may also be a variable that is named after its class.
    """
    first, *rest = span.removeprefix("maskwright.").removesuffix("()").split(".")
    if not rest or span.endswith(DATA) or first in sys.stdlib_module_names:
        return None
    if first in members() and (first[0].isupper() or first.startswith("_")):
        return rest[0] in members()[first]
    by_name = module_symbols()
    starts = [name for name in by_name if name == first or name.endswith("." + first)]
    if not starts:
        return None
    as_variable = members().get("".join(word.title() for word in first.split("_")), frozenset())
    return rest[0] in as_variable or any(leads_somewhere(start, rest) for start in starts)


def leads_somewhere(module: str, names: list[str]) -> bool:
    """Whether names lead from a module of ours to a module, a symbol or a member of a class."""
    by_name = module_symbols()
    left = list(names)
    while left and f"{module}.{left[0]}" in by_name:
        module = f"{module}.{left.pop(0)}"
    if not left:
        return True
    if left[0] not in by_name[module]:
        return False
    return len(left) < 2 or left[0] not in members() or left[1] in members()[left[0]]


def named(span: str) -> bool:
    """Whether a span is written as a class or a call."""
    return bool(CLASS.fullmatch(span) or CALL.fullmatch(span))


def missing(text: str, folder: Path) -> Iterator[str]:
    """The spans of a text that name something of ours that is not there."""
    for match in SPAN.finditer(text):
        span = match[1]
        if span in FOREIGN:
            continue
        if is_our_path(span):
            if not path_exists(span, folder):
                yield span
        elif "::" in span and span.startswith("tests/"):
            path, _, name = span.partition("::")
            if not path_exists(path, folder) or name.partition("[")[0] not in symbols():
                yield span
        elif TEST.fullmatch(span):
            name = span.partition("[")[0]
            known = symbols() | {Path(path).stem for path in tracked_paths()}
            begins = name.removesuffix("…")
            if not (name in known or (begins != name and any(k.startswith(begins) for k in known))):
                yield span
        elif DOTTED.fullmatch(span):
            if dotted_exists(span) is False:
                yield span
        elif named(span) and span.removesuffix("()") not in symbols():
            yield span


def prose(document: Path) -> str:
    return re.sub(r"^```.*?^```", "", document.read_text(), flags=re.MULTILINE | re.DOTALL)


def docstrings(tree: ast.Module) -> Iterator[str]:
    """Those of modules, classes and functions, and the strings below attributes."""
    for node in naming_nodes(tree):
        match node:
            case ast.Expr(value=ast.Constant(value=str(text))):
                yield text
            case _:
                pass


def test_what_documents_name_exists() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}: {span}"
        for path in tracked("*.md")
        if path.name != "CHANGELOG.md"
        for span in missing(prose(path), path.parent)
    ]
    assert wrong == []


def test_what_docstrings_name_exists() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}: {span}"
        for path, tree in python_files()
        for text in docstrings(tree)
        for span in missing(text, path.parent)
    ]
    assert wrong == []


@pytest.mark.parametrize(
    "text",
    [
        "`mask/walk/gone.py`",
        "`gone.md`",
        "`tests/test_structure.py::test_gone`",
        "`test_that_is_not_there`",
        "`automaton.machine.gone`",
        "`Vocabulary.gone`",
        "`GoneForever`",
        "`gone_for_ever()`",
    ],
)
def test_what_is_not_there_is_found(text: str) -> None:
    assert list(missing(text, ROOT)) == [text.strip("`")]


@pytest.mark.parametrize(
    "text",
    [
        "`tests/test_structure.py`",
        "`vocab/vocabulary.py`",
        "`tests/test_structure.py::test_no_circle_of_files`",
        "`test_no_circle…`",
        "`automaton.machine.step`",
        "`Vocabulary.encode`",
        "`Vocabulary`",
        "`json.dumps`",
        "`additionalProperties`, `/v1/models`, `response_format.json_schema`",
    ],
)
def test_what_is_there_passes(text: str) -> None:
    assert list(missing(text, ROOT)) == []
