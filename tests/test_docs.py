"""The documents against the tree: links lead somewhere, and every file has its row."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = (ROOT / "src" / "maskwright", ROOT / "simulator" / "src" / "maskwright_sim")
LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
FILE = re.compile(r"`(?:[\w/]+/)?(\w+\.pyx?)`")


def tracked(pattern: str) -> list[Path]:
    listing = subprocess.run(
        ["git", "ls-files", "-z", "-c", "-o", "--exclude-standard", pattern],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return [path for name in listing.split("\0") if name and (path := ROOT / name).is_file()]


DOCUMENTS = tracked("*.md")


def prose(document: Path) -> str:
    return re.sub(r"^```.*?^```", "", document.read_text(), flags=re.MULTILINE | re.DOTALL)


def anchors(document: Path) -> set[str]:
    """As GitHub derives them from headings."""
    headings = (found[1].strip().lower() for found in HEADING.finditer(prose(document)))
    return {re.sub(r"[^\w\- ]", "", heading).replace(" ", "-") for heading in headings}


def test_links_lead_somewhere() -> None:
    broken: list[str] = []
    for document in DOCUMENTS:
        for link in LINK.finditer(prose(document)):
            target = (document.parent / link[1]).resolve() if link[1] else document
            if not target.exists() or (link[2] and link[2] not in anchors(target)):
                broken.append(f"{document.relative_to(ROOT)}: {link[0]}")
    assert broken == []


def test_every_package_lists_what_it_holds() -> None:
    """In the docstring of its `__init__`, a line for each module and each package in it."""
    wrong: list[str] = []
    for package in sorted(path.parent for each in PACKAGES for path in each.rglob("__init__.py")):
        if package == PACKAGES[0]:
            continue
        docstring = ast.get_docstring(ast.parse((package / "__init__.py").read_text())) or ""
        files = (*package.glob("*.py"), *package.glob("*.pyx"))
        modules = {path.stem for path in files} - {"__init__"}
        packages = {f"{path.parent.name}/" for path in package.glob("*/__init__.py")}
        listed = re.findall(r"^- `(\w+/?)`: \S", docstring, flags=re.MULTILINE)
        if sorted(listed) != sorted(modules | packages):
            differing = set(listed).symmetric_difference(modules | packages)
            wrong.append(f"{package.relative_to(ROOT)}: {sorted(differing) or 'listed twice'}")
    assert wrong == []


def test_every_file_that_is_named_is_there() -> None:
    there = {path.name for path in (*tracked("*.py"), *tracked("*.pyx"))}
    gone = {
        f"{document.relative_to(ROOT)}: {name}"
        for document in DOCUMENTS
        if document.name != "CHANGELOG.md"
        for name in FILE.findall(prose(document))
        if name not in there
    }
    assert gone == set()
