"""A server that answers from a script, for tests of the clients."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Piece = bytes | float
"""Bytes that are sent, or seconds that pass."""


@contextmanager
def scripted(status: int, pieces: list[Piece]) -> Iterator[str]:
    """The address of a server that answers every request with a status and these pieces; then it
    closes the connection."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(status)
            self.end_headers()
            with suppress(OSError):  # the client has left
                for piece in pieces:
                    if isinstance(piece, bytes):
                        self.wfile.write(piece)
                        self.wfile.flush()
                    else:
                        time.sleep(piece)

        def log_message(self, format: str, *args: Any) -> None:
            """Log nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
