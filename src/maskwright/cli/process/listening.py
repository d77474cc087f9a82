"""The socket of a server."""

from __future__ import annotations

import errno
import socket

from maskwright.errors import AddressError

READER_SECONDS = 60.0
"""Seconds after which a client that takes nothing is disconnected."""

SEND_BYTES = 1 << 17
"""Size of the send buffer of a connection, in bytes: about a thousand events of a stream."""

MOST_PATIENCE = (1 << 31) - 1
"""The largest timeout for a client that the system accepts, in milliseconds."""


def listen(host: str, port: int, reader_seconds: float = READER_SECONDS) -> socket.socket:
    """The server's socket, bound before the engine starts. A connection is closed when its client
    has taken nothing for `reader_seconds`. It buffers little that the client hasn't taken, so that
    the engine notices a slow reader and pauses its request, instead of filling megabytes of the
    kernel's buffers.

    Raises AddressError.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BYTES)
            patience = int(min(max(1.0, reader_seconds * 1000), MOST_PATIENCE))
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, patience)
            listener.bind(address)
        except OSError:
            listener.close()
            raise
    except OSError as error:
        reason = error.strerror or str(error)
        way_out = "; --port 0 takes a free one" if error.errno == errno.EADDRINUSE else ""
        raise AddressError(f"can't listen on {host} port {port}: {reason}{way_out}") from None
    return listener
