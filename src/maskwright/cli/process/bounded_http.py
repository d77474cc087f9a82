"""uvicorn's HTTP/1.1 on the parser of httptools, with a bound on heads.

httptools takes a request apart in a fraction of the time of h11, and a server's event loop shares
the interpreter's lock with its engine. But it bounds nothing: a client could send one header, or
trailers after a body in chunks, until the memory is full.
"""

from __future__ import annotations

from typing import Final

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_BYTES: Final = 1 << 14
"""Most bytes of a request's target, headers and trailers together."""

PIECE_BYTES: Final = 1 << 16
"""Most bytes that the parser takes in without telling anything about them, such as the beginning of
a header."""


class BoundedHttp(HttpToolsProtocol):
    """One connection of a client, for `uvicorn.Config(http=…)`. What is no request of HTTP/1.0 or
    1.1, or has too long a head, is answered with 400 in plain text."""

    _head_bytes = 0
    _untold_bytes = 0
    """What has come since the parser last told something, at most."""

    def data_received(self, data: bytes) -> None:
        self._untold_bytes += len(data)
        super().data_received(data)
        if self._untold_bytes > PIECE_BYTES and not self.transport.is_closing():
            self.send_400_response("The head of the request is too long.")

    def on_message_begin(self) -> None:
        self._head_bytes = self._untold_bytes = 0
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._count(len(name) + len(value))
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Begin the exchange. RFC 9112, section 3.2: a request of HTTP/1.1 names one host."""
        assert self.parser is not None  # only after the end of the connection
        hosts = sum(name == b"host" for name, _ in self.headers)
        if hosts > 1 or (not hosts and self.parser.get_http_version() != "1.0"):
            raise httptools.HttpParserError("a request names one host")
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._untold_bytes = 0
        super().on_body(body)

    def _unsupported_upgrade_warning(self) -> None:
        """Say nothing. A request that offers another protocol, as curl does for HTTP/2, is answered
        in this one; uvicorn would advise to install a package."""

    def _count(self, nbytes: int) -> None:
        self._untold_bytes = 0
        self._head_bytes += nbytes
        if self._head_bytes > HEAD_BYTES:
            raise httptools.HttpParserError("the head of a request is too long")
