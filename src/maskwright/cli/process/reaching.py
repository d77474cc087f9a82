"""How commands reach a server: with which key and trust, and what is said if none answers."""

from __future__ import annotations

import os
import socket
import ssl
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Final, TypedDict

import httpx

from maskwright.cli.options import ServerAccess
from maskwright.errors import AddressError, InputError, MaskwrightError

TIMEOUT_SECONDS: Final = 10.0


class ClientArguments(TypedDict):
    """Arguments of a client of httpx."""

    headers: dict[str, str]
    verify: ssl.SSLContext | bool


def client_arguments(access: ServerAccess) -> ClientArguments:
    """How a client of httpx asks a server. Raises InputError for a file of certificates that can't
    be used."""
    key, ca = access.api_key, access.ca
    if ca is not None and access.insecure:
        raise InputError("--ca and --insecure exclude each other; give one", param="insecure")
    try:
        verify = not access.insecure if ca is None else ssl.create_default_context(cafile=ca)
    except OSError as error:  # ssl.SSLError is one
        reason = error.strerror
        if isinstance(error, ssl.SSLError):
            reason = "there is no certificate in it, in PEM"
        raise InputError(f"--ca {ca}: {reason}", param="ca") from None
    return {"headers": {"Authorization": f"Bearer {key}"} if key else {}, "verify": verify}


def base_address(url: str) -> str:
    """The address of a server that is given with or without `/v1`."""
    return url.rstrip("/").removesuffix("/v1")


def ask_once(address: str, arguments: ClientArguments) -> None:
    """See that a server answers, whatever it says. Raises as `reaching` does."""
    with reaching(address):
        httpx.get(f"{address}/v1/models", timeout=TIMEOUT_SECONDS, **arguments)


@contextmanager
def reaching(address: object) -> Generator[None]:
    """Raise what `unreachable` returns for errors of httpx in the block, in which `address` is
    asked."""
    try:
        yield
    except httpx.TransportError as error:
        raise unreachable(address, error) from None
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise AddressError(f"no server answers at {address}: {error}") from None


def unreachable(address: object, error: httpx.TransportError) -> MaskwrightError:
    """What to raise if a server can't be asked because of `error`: InputError for a certificate
    that isn't trusted, else AddressError."""
    cause = _cause(error)
    if isinstance(cause, ssl.SSLCertVerificationError):
        return InputError(
            f"the certificate of {address} isn't trusted: {cause.verify_message}; --ca FILE names "
            "a certificate to trust, and --insecure trusts any",
            param="url",
        )
    reason = said(error)
    if isinstance(cause, ssl.SSLError):
        reason = "what answers speaks no TLS; does the address begin with http://?"
    elif isinstance(error, httpx.RemoteProtocolError | httpx.ReadError) and str(address).startswith(
        "http://"
    ):
        reason += "; if the server has a certificate, its address begins with https://"
    return AddressError(f"no server answers at {address}: {reason}")


def is_final(error: httpx.TransportError) -> bool:
    """Whether asking again would meet the same: a certificate that isn't trusted, a server without
    TLS, a host that doesn't exist."""
    cause = _cause(error)
    if isinstance(cause, socket.gaierror):
        return cause.errno == socket.EAI_NONAME
    return isinstance(cause, ssl.SSLError)


def said(error: httpx.TransportError) -> str:
    """What an error says, in the words of the system if it has any."""
    for each in _chain(error):
        if isinstance(each, OSError) and each.errno:
            # What asyncio says in its place has numbers in it, and no reason.
            return os.strerror(each.errno) if each.errno > 0 else str(each.strerror)
    return str(error) or type(error).__name__


def _cause(error: httpx.TransportError) -> BaseException | None:
    """The error of TLS or of the look-up of a name from which another comes."""
    kinds = (ssl.SSLError, socket.gaierror)
    return next((each for each in _chain(error) if isinstance(each, kinds)), None)


def _chain(error: BaseException) -> Iterator[BaseException]:
    """An error, and those that it comes from."""
    seen: BaseException | None = error
    while seen is not None:
        yield seen
        seen = seen.__cause__ or seen.__context__
