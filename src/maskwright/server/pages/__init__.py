"""The pages that people open in a browser: static files, a folder a page, and the endpoints that
serve them, with headers that keep a page from running anything else.

A page has no build step and loads nothing from elsewhere. All figures that it shows come from the
endpoints under `/v1`, with the reader's own key where the server has keys.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Final

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response

from maskwright.immutable import Immutable
from maskwright.server.route import Endpoint

ADDRESSES: Final[Mapping[str, str]] = {
    "/": "playground",
    "/dashboard": "dashboard",
    "/docs": "docs",
}
"""The folder of each page, by the path at which it is opened."""

KINDS: Final[Mapping[str, str]] = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
"""Media types, by the suffix of a file's name."""

HEADERS: Final[Mapping[str, str]] = {
    # Nothing but the page's own files, and no script or style within the page itself. Pictures that
    # the page draws are `blob:`.
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    # A browser asks each time whether its copy is still good, so a new version shows at once.
    "cache-control": "no-cache",
}


class StaticFile(Immutable):
    """One file of a page as it is sent."""

    data: bytes
    kind: str

    @property
    def tag(self) -> str:
        """A name of the content, by which a browser asks whether its copy is still good."""
        return f'"{hashlib.blake2b(self.data, digest_size=12).hexdigest()}"'

    def response(self, request: Request) -> Response:
        """The answer to a request: 304 without a body if the client has this content."""
        headers = {**HEADERS, "etag": self.tag}
        if request.headers.get("if-none-match") == self.tag:
            return Response(status_code=304, headers=headers)
        return Response(self.data, headers={**headers, "content-type": self.kind})


def static_files() -> dict[str, StaticFile]:
    """All files of all pages, by path: a page at its address, and what it loads at
    `/pages/FOLDER/NAME`."""
    found = dict(_files())
    for address, folder in ADDRESSES.items():
        found[address] = found[f"/pages/{folder}/index.html"]
    return found


def _files() -> Iterator[tuple[str, StaticFile]]:
    for folder in sorted(set(ADDRESSES.values())):
        for file in (files("maskwright.server.pages") / folder).iterdir():
            kind = KINDS.get(file.name.rpartition(".")[2])
            if kind is not None:
                yield f"/pages/{folder}/{file.name}", StaticFile(file.read_bytes(), kind)


def add_pages(app: Starlette) -> frozenset[str]:
    """Add the pages to an application. Returns their paths, for which no key is needed: they hold
    no data."""
    pages = static_files()

    async def page(request: Request) -> Response:
        return pages[request.scope["path"]].response(request)

    app.routes.extend(Endpoint(path, page, ["GET", "HEAD"]) for path in pages)
    return frozenset(pages)
