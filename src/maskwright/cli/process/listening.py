"""Where a server listens, who may use it, and how it proves who it is: its socket, and keys and TLS
from options and files."""

from __future__ import annotations

import errno
import socket
import ssl
from dataclasses import dataclass
from pathlib import Path

from maskwright.errors import AddressError, InputError
from maskwright.server.access import DEFAULT_NAME, ApiKey, KeyRing, digest_of, read_keys

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


@dataclass(frozen=True, slots=True)
class KeySource:
    """Where the keys of clients come from: one key itself, a file of digests, both or neither."""

    key: str | None
    file: str | None

    def read(self) -> list[ApiKey]:
        """Return the keys as they are now. Raises InputError."""
        keys = [] if self.file is None else read_keys(Path(self.file))
        if self.key is not None:
            keys.append(ApiKey(DEFAULT_NAME, digest_of(self.key)))
        return keys

    def ring(self) -> KeyRing | None:
        """Return the keys; None if the server is to have none. Raises InputError, also for a file
        or a key that is empty, because it would let nobody or everybody in."""
        if self.key is None and self.file is None:
            return None
        if self.key is not None and not self.key.strip():
            raise InputError("the API key is empty", param="api_key")
        keys = self.read()
        if not keys:
            raise InputError(f"{self.file} contains no key", param="api_keys")
        return KeyRing(keys)


@dataclass(frozen=True, slots=True)
class TlsFiles:
    """A certificate, with its issuers' after it, and its private key, in PEM."""

    certificate: str
    key: str

    def check(self) -> None:
        """Check that the files can be used together. Raises InputError."""
        self.load_into(ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER))

    def load_into(self, context: ssl.SSLContext) -> None:
        """Have connections that begin from now on use the files as they are. Raises InputError."""
        try:
            # Without a password OpenSSL would ask for one on the terminal.
            context.load_cert_chain(self.certificate, self.key, password="")
        except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
            reason = getattr(error, "reason", None) or getattr(error, "strerror", None) or error
            raise InputError(
                f"can't use the certificate {self.certificate} with the key {self.key}: {reason}",
                param="tls_certificate",
            ) from None


def tls_files(certificate: str | None, key: str | None) -> TlsFiles | None:
    """Return the files that two options name, once they have been checked; None if there are none.
    Raises InputError."""
    if certificate is None and key is None:
        return None
    if certificate is None or key is None:
        raise InputError(
            "--tls-certificate and --tls-key are needed together",
            param="tls_key" if key is None else "tls_certificate",
        )
    files = TlsFiles(certificate, key)
    files.check()
    return files
