"""What keeps the house in order: no circles, short functions, one name a thing."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import Path

import pytest

from tests.source_tree import (
    ROOT,
    Module,
    body_lines,
    circles,
    functions,
    imports,
    modules,
    tracked,
    tree_of,
)

MOST_LINES = 60
# Node classes of separate syntax trees may share a name: each tree is read on its own.
SYNTAX_TREES = frozenset(
    {
        "maskwright.grammar.dialects.syntax",
        "maskwright.grammar.pattern.tree",
        "maskwright.grammar.regular.terms",
        "maskwright.grammar.rules.tree",
        "maskwright.grammar.schema.tree",
        "maskwright.grammar.tags.tree",
    }
)
# Packages of whose modules each has a test beside it: in the folder of tests/ that mirrors its own.
MIRRORED = ("maskwright.automaton", "maskwright.grammar", "maskwright.mask")
# Modules of these that decide something and have none, each with its reason.
WITHOUT_TESTS: dict[str, str] = {}
SMALL = 60
COMFORTABLE = 500
# Small modules with one importer, each with the second idea that it is: there is none now.
ALONE: dict[str, str] = {}
DECISIONS = (
    *(ast.If, ast.IfExp, ast.Match, ast.While, ast.Try, ast.Compare, ast.BoolOp),
    ast.comprehension,
)


def import_graph() -> dict[str, set[str]]:
    names = [module.name for module in modules()]
    return {module.name: imports(module, names) for module in modules()}


def package_graph(graph: dict[str, set[str]], package: str) -> dict[str, set[str]]:
    """The imports among the direct children of a package, its own `__init__` left out."""
    prefix = package + "."

    def child(name: str) -> str:
        return prefix + name.removeprefix(prefix).partition(".")[0]

    among: dict[str, set[str]] = defaultdict(set)
    for name, targets in graph.items():
        if name.startswith(prefix):
            inner = {child(target) for target in targets if target.startswith(prefix)}
            among[child(name)] |= inner - {child(name)}
    return among


def test_no_circle_of_files() -> None:
    assert circles(import_graph()) == []


def test_no_circle_of_packages() -> None:
    graph = import_graph()
    packages = {module.name for module in modules() if module.path.name == "__init__.py"}
    found = [circle for name in sorted(packages) for circle in circles(package_graph(graph, name))]
    assert found == []


@pytest.mark.parametrize(
    ("graph", "expected"),
    [
        ({"a": {"b"}, "b": {"c"}, "c": set()}, []),
        ({"a": {"b"}, "b": {"a"}, "c": {"a"}}, [["a", "b"]]),
        (
            {"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"e"}, "e": {"d"}},
            [["a", "b", "c"], ["d", "e"]],
        ),
    ],
)
def test_a_circle_is_found(graph: dict[str, set[str]], expected: list[list[str]]) -> None:
    assert circles(graph) == expected


def test_an_import_for_type_checking_counts() -> None:
    source = "if TYPE_CHECKING:\n    from package.other import Name\n"
    module = Module("package.this", Path("this.py"), ast.parse(source))
    assert imports(module, {"package.this", "package.other"}) == {"package.other"}


def test_a_class_name_stands_for_one_thing() -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for module in modules():
        for node in ast.walk(module.tree):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(module.name)
    shared = {
        name: where
        for name, where in places.items()
        if len(where) > 1 and not (set(where) <= SYNTAX_TREES and len(set(where)) == len(where))
    }
    assert shared == {}


def test_function_bodies_are_at_most_sixty_lines() -> None:
    long = {
        f"{module.name}.{function.name}": lines
        for module in modules()
        for function in functions(module.tree)
        if (lines := body_lines(function)) > MOST_LINES
    }
    assert long == {}


def decides(tree: ast.AST) -> bool:
    """Whether a function of a module branches, compares, loops or filters."""
    return any(isinstance(node, DECISIONS) for each in functions(tree) for node in ast.walk(each))


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("X = 1 if Y else 2", False),  # a module's constants are no functions
        ("class A(NamedTuple):\n    b: int", False),
        ("def f(a): return a << 32", False),
        ("def f(a): return a if a else 0", True),
        ("def f(a): return a == 1", True),
        ("class A:\n    def f(self, a):\n        return [b for b in a]", True),
        ("async def f(a):\n    while a: pass", True),
    ],
)
def test_what_decides(source: str, expected: bool) -> None:
    assert decides(ast.parse(source)) is expected


def test_each_module_that_decides_has_a_test_beside_it() -> None:
    """A file of its name, or one that imports it: a module that is one idea may have several files
    of tests."""
    names = [module.name for module in modules()]
    tested = {
        name
        for path in tracked("tests/*.py")
        for name in imports(Module("", path, tree_of(path)), names)
        if path.parent == mirror(name)
    }
    missing = {
        module.name
        for module in modules()
        if module.name.startswith(tuple(f"{package}." for package in MIRRORED))
        if module.path.name != "__init__.py" and decides(module.tree)
        if not (mirror(module.name) / f"test_{module.path.stem}.py").exists()
    } - tested
    assert missing - set(WITHOUT_TESTS) == set(), "a module that decides has no test beside it"
    assert sorted(WITHOUT_TESTS) == sorted(missing), "an exception that is no longer needed"


def mirror(name: str) -> Path:
    """The folder of the tests of a module: tests/a/b of maskwright.a.b.c."""
    return Path(ROOT, "tests", *name.split(".")[1:-1])


def test_a_small_module_has_a_second_importer() -> None:
    """A module earns its file by a second importer or a second idea. Else it is a part of the
    module beside it that imports it, if that stays readable. The options of a command are apart
    from what it does, which imports much more."""
    graph = import_graph()
    found = {module.name: module for module in modules()}
    lines = {name: len(module.path.read_text().splitlines()) for name, module in found.items()}
    small: set[str] = set()
    for name, module in found.items():
        importers = [each for each, targets in graph.items() if name in targets]
        if len(importers) != 1 or lines[name] >= SMALL or module.path.name == "__init__.py":
            continue
        (importer,) = (found[each] for each in importers)
        if is_beside(module, importer) and lines[name] + lines[importer.name] <= COMFORTABLE:
            small.add(name)
    assert small - set(ALONE) == set(), "join it with the module that imports it, or say its idea"
    assert sorted(ALONE) == sorted(small), "an exception that is no longer needed"


def is_beside(module: Module, importer: Module) -> bool:
    """Whether a module in Python could be a part of its importer: it is in the same folder, isn't
    compiled, and is imported whenever its importer is."""
    first = [node for node in importer.tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    whenever = imports(
        Module(importer.name, importer.path, ast.Module([*first], [])), [module.name]
    )
    return (
        importer.path.parent == module.path.parent
        and importer.path.name not in ("__init__.py", f"{module.path.stem}_work.py")
        and {module.path.suffix, importer.path.suffix} == {".py"}
        and bool(whenever)
    )


def test_an_exception_to_the_complexity_rule_gives_its_reason() -> None:
    bare = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in tracked("*.py")
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if re.search(r"#\s*noqa:[^#]*C901\s*$", line)
    ]
    assert bare == []
