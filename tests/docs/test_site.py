"""The site of the documents: it builds, it loads nothing from elsewhere, and its links lead
somewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tests.source_tree import ROOT
from tools.site_pages import (
    READMES,
    heading_anchor,
    repository_path,
    rewritten,
    site_path,
)

LOADING = {
    "script": "src",
    "link": "href",
    "img": "src",
    "source": "src",
    "iframe": "src",
    "video": "src",
    "audio": "src",
    "embed": "src",
    "object": "data",
    "input": "src",
    "use": "href",
    "image": "href",
}
"""The attribute of each element from which a browser loads a file by itself."""
STYLE_ADDRESS = re.compile(r"""(?:url\(|@import)\s*["']?([^"')]+)""")


class PageReader(HTMLParser):
    """What a page loads, where it links to, and the anchors that it has."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if address := values.get(LOADING.get(tag, "")):
            self.loaded.append(address)
        self.loaded += [part.split()[0] for part in values.get("srcset", "").split(",") if part]
        self.loaded += STYLE_ADDRESS.findall(values.get("style", ""))
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        if anchor := values.get("id"):
            self.anchors.add(anchor)


def outside(address: str) -> bool:
    return bool(urlsplit(address).netloc)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet"]
    run = subprocess.run(
        [*command, "--config-file", ROOT / "mkdocs.yml", "--site-dir", folder],
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, PageReader]:
    return {path: PageReader(path.read_text()) for path in site.rglob("*.html")}


def test_every_document_is_a_page(site: Path) -> None:
    documents = {
        site_path(str(path.relative_to(ROOT)))
        for path in [*(ROOT / "docs").rglob("*.md"), *(ROOT / name for name in READMES)]
    }
    built = {path.relative_to(site).parent for path in site.rglob("index.html")}
    expected = {
        Path(name).parent if Path(name).stem in ("README", "index") else Path(name).with_suffix("")
        for name in documents
    }
    assert built == expected
    assert Path() in built


def test_nothing_is_loaded_from_elsewhere(site: Path, pages: dict[Path, PageReader]) -> None:
    loaded = {
        f"{path.relative_to(site)}: {address}"
        for path, page in pages.items()
        for address in page.loaded
        if outside(address)
    }
    loaded |= {
        f"{path.relative_to(site)}: {address}"
        for path in site.rglob("*.css")
        for address in STYLE_ADDRESS.findall(path.read_text())
        if outside(address)
    }
    assert loaded == set()
    assert all(page.loaded for page in pages.values())


def broken(site: Path, pages: dict[Path, PageReader]) -> Iterator[str]:
    """Addresses within the site at which it has no file, or a page without that anchor."""
    for path, page in pages.items():
        base = site if path.name == "404.html" else path.parent
        for address in (*page.loaded, *page.links):
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                continue
            file = (base / unquote(parts.path).lstrip("/")).resolve() if parts.path else path
            file = file / "index.html" if file.is_dir() else file
            if not file.is_file() or (
                parts.fragment and file in pages and parts.fragment not in pages[file].anchors
            ):
                yield f"{path.relative_to(site)}: {address}"


def test_links_within_the_site_lead_somewhere(site: Path, pages: dict[Path, PageReader]) -> None:
    assert list(broken(site, pages)) == []


@pytest.mark.parametrize(
    ("text", "loaded"),
    [
        ('<script src="https://cdn.example/a.js"></script>', "https://cdn.example/a.js"),
        ('<link rel="stylesheet" href="//fonts.example/b">', "//fonts.example/b"),
        ('<img srcset="https://img.example/c.png 2x">', "https://img.example/c.png"),
        ('<p style="background: url(https://img.example/d.png)">', "https://img.example/d.png"),
    ],
)
def test_what_is_loaded_from_elsewhere_is_found(text: str, loaded: str) -> None:
    assert [address for address in PageReader(text).loaded if outside(address)] == [loaded]


def test_a_link_is_not_loaded() -> None:
    page = PageReader('<a href="https://example.org/">there</a>')
    assert (page.loaded, page.links) == ([], ["https://example.org/"])


KNOWN = frozenset(
    {"index.md", "api.md", "grammars.md", "decisions/README.md", "images/a.png"}
    | {"repository/grammars/README.md", "guides/extraction.md"}
)


@pytest.mark.parametrize(
    ("path", "written", "read"),
    [
        ("README.md", "[a](docs/api.md#tools)", "[a](api.md#tools)"),
        ("README.md", "![a](docs/images/a.png)", "![a](images/a.png)"),
        ("README.md", "[a](grammars/README.md)", "[a](repository/grammars/README.md)"),
        ("docs/api.md", "[`a`](../grammars/README.md)", "[`a`](repository/grammars/README.md)"),
        ("docs/api.md", "[a](../README.md#start)", "[a](index.md#start)"),
        ("docs/api.md", "[a](../LICENSE)", "a"),
        ("docs/api.md", "[a](#tools) [b](https://b.example)", "[a](#tools) [b](https://b.example)"),
        ("docs/api.md", "```\n[a](../LICENSE)\n```", "```\n[a](../LICENSE)\n```"),
        ("docs/guides/extraction.md", "[a](../api.md)", "[a](../api.md)"),
        ("docs/decisions/README.md", "[a](../grammars.md)", "[a](../grammars.md)"),
        ("grammars/README.md", "[a](../docs/grammars.md)", "[a](../../grammars.md)"),
    ],
)
def test_a_link_leads_to_the_page_of_its_document(path: str, written: str, read: str) -> None:
    assert rewritten(written, path, KNOWN) == read


@pytest.mark.parametrize("path", ["docs/api.md", "docs/guides/extraction.md", *READMES])
def test_a_document_has_one_place(path: str) -> None:
    assert repository_path(site_path(path)) == path


def test_an_anchor_is_that_of_github() -> None:
    assert heading_anchor("`POST /v1/explain` — why?", "-") == "post-v1explain--why"
