"""uvicorn's HTTP/1.1 on the parser of httptools, with a bound on heads, and without upgrades.

httptools takes a request apart in a fraction of the time of h11, and a server's event loop shares
the interpreter's lock with its engine. But it bounds nothing: a client could send one header, or
trailers after a body in chunks, until the memory is full. And where a client offers another
protocol, as Java's and curl do for HTTP/2, it leaves the body of the request out.
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
    """One connection of a client, for `uvicorn.Config(http=…, ws="none")`. What is no request of
    HTTP/1.0 or 1.1, or has too long a head, is answered with 400 in plain text."""

    parser: httptools.HttpRequestParser
    _head_bytes = 0
    _untold_bytes = 0
    """What has come since the parser last told something, at most."""

    def data_received(self, data: bytes) -> None:
        self._unset_keepalive_if_required()
        self._untold_bytes += len(data)
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade as stop:
            self._read_without_offer(data[stop.args[0] :])
        except httptools.HttpParserError:
            self.send_400_response("This is no request of HTTP, or its head is too long.")
        else:
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
        hosts = sum(name == b"host" for name, _ in self.headers)
        if hosts > 1 or (not hosts and self.parser.get_http_version() != "1.0"):
            raise httptools.HttpParserError("a request names one host")
        if not self.parser.should_upgrade():
            super().on_headers_complete()
        elif self.parser.get_method() == b"CONNECT":
            raise httptools.HttpParserError("this is no proxy")

    def on_body(self, body: bytes) -> None:
        self._untold_bytes = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        if not self.parser.should_upgrade():
            super().on_message_complete()

    def _count(self, nbytes: int) -> None:
        self._untold_bytes = 0
        self._head_bytes += nbytes
        if self._head_bytes > HEAD_BYTES:
            raise httptools.HttpParserError("the head of a request is too long")

    def _read_without_offer(self, rest: bytes) -> None:
        """Read a request that offers another protocol once more, as if it offered none: the parser
        has stopped after its head. `rest`: what came after that."""
        line = b"%b %b HTTP/1.1\r\n" % (self.parser.get_method(), self.url)
        headers = [b"%b: %b\r\n" % header for header in self.headers if header[0] != b"upgrade"]
        self.parser = httptools.HttpRequestParser(self)
        self.parser.set_dangerous_leniencies(lenient_data_after_close=True)  # as uvicorn sets it
        self.data_received(b"".join([line, *headers, b"\r\n", rest]))
