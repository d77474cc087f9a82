"""docs/structure.md names every package and leads to every document; documents lead to every
example."""

from __future__ import annotations

import re
from pathlib import Path

from tests.source_tree import PACKAGE, ROOT, tracked

PAGE = ROOT / "docs" / "structure.md"


def rows() -> dict[str, str]:
    """The rows of the table of packages, by what their first cell names."""
    found = re.findall(r"^\| (`[\w/`, ]+`) \|(.*)$", PAGE.read_text(), re.MULTILINE)
    return {name.strip("`/"): rest for cell, rest in found for name in cell.split(", ")}


def unlisted(packages: set[Path], table: dict[str, str]) -> set[str]:
    """The packages that no row names; a package within another is named in the row of that one."""
    return {
        str(package)
        for package in packages
        if package.parts[0] not in table
        or any(f"`{part}/`" not in table[package.parts[0]] for part in package.parts[1:])
    }


def test_every_package_is_listed() -> None:
    packages = {path.parent.relative_to(PACKAGE) for path in PACKAGE.rglob("__init__.py")}
    assert unlisted(packages - {Path()}, rows()) == set()


def test_a_package_without_a_row_is_found() -> None:
    table = {"mask": "walks | `walk/`"}
    packages = {Path("mask"), Path("mask/walk"), Path("mask/gone"), Path("gone")}
    assert unlisted(packages, table) == {"mask/gone", "gone"}


def test_every_document_is_linked() -> None:
    linked = set(re.findall(r"\]\(([\w./-]+\.md)", PAGE.read_text()))
    documents = {str(path.relative_to(PAGE.parent)) for path in PAGE.parent.rglob("*.md")}
    decisions = {name for name in documents if name.startswith("decisions/0")}
    assert documents - linked - decisions == {"structure.md"}


def test_every_example_is_linked() -> None:
    """Each file by itself, or the README of its folder."""
    examples = {path.relative_to(ROOT) for path in tracked("examples")}
    folders = {path.parent for path in examples if path.name == "README.md"}
    expected = {
        next((folder / "README.md" for folder in path.parents if folder in folders), path)
        for path in examples
    }
    linked = {
        (document.parent / target).resolve().relative_to(ROOT)
        for document in tracked("*.md")
        for target in re.findall(r"\]\(((?:\.\./)*examples/[\w./-]+)", document.read_text())
    }
    assert expected - linked == set()
