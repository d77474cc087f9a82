"""What the site of the documents has beside docs/: a hook of mkdocs, named in mkdocs.yml.

Documents link to each other as files of the repository, so that the links work where it is read.
The site has the README at its root as the first page, and READMEs of folders as pages below
`repository/`. Links between all of these are rewritten to where the pages are in the site.
"""

from __future__ import annotations

import os
import posixpath
import re
from typing import Final

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

READMES: Final = (
    "README.md",
    "kernels/README.md",
    "grammars/README.md",
    "schemas/README.md",
    "simulator/README.md",
    "examples/demo_model/README.md",
    "examples/extraction/README.md",
)
"""The documents outside docs/ that are pages of the site."""

LINK: Final = re.compile(
    r"(!?)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\((?!https?:|#)([^)#\s]+)(#[^)\s]+)?\)"
)
FENCE: Final = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)


def site_path(path: str) -> str:
    """Where a file of the repository is among the sources of the site."""
    if path == "README.md":
        return "index.md"
    return path.removeprefix("docs/") if path.startswith("docs/") else f"repository/{path}"


def repository_path(path: str) -> str:
    """The file of the repository that is at `path` among the sources of the site."""
    if path == "index.md":
        return "README.md"
    return path.removeprefix("repository/") if path.startswith("repository/") else f"docs/{path}"


def rewritten(markdown: str, path: str, known: frozenset[str]) -> str:
    """The text of the document at `path` of the repository, with links as the site has them.

    `known` are the paths of the site's sources. A link to any other file or folder of the
    repository becomes its plain text, because the site has no page for it.
    """
    folder = posixpath.dirname(path)

    def link(match: re.Match[str]) -> str:
        picture, text, target, anchor = match.groups()
        there = site_path(posixpath.normpath(posixpath.join(folder, target)))
        if there not in known:
            return text
        relative = posixpath.relpath(there, posixpath.dirname(site_path(path)) or ".")
        return f"{picture}[{text}]({relative}{anchor or ''})"

    parts: list[str] = []
    end = 0
    for fence in FENCE.finditer(markdown):  # code is left as it is
        parts += [LINK.sub(link, markdown[end : fence.start()]), fence[0]]
        end = fence.end()
    return "".join([*parts, LINK.sub(link, markdown[end:])])


def heading_anchor(heading: str, separator: str) -> str:
    """The anchor of a heading as GitHub derives it, which `tests/test_docs.py` expects of links."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", separator)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Derive anchors as GitHub does."""
    config.mdx_configs.setdefault("toc", {})["slugify"] = heading_anchor
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the READMEs."""
    root = os.path.dirname(config.config_file_path)
    for path in READMES:
        files.append(File.generated(config, site_path(path), abs_src_path=os.path.join(root, path)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Rewrite the links of a page."""
    known = frozenset(file.src_uri for file in files)
    return rewritten(markdown, repository_path(page.file.src_uri), known)
