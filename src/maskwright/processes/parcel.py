"""A message that may be large, laid down where another process can read it.

A large schema takes a slow process long to receive, and a connection holds little that has not been
received: whoever sent it there would be held up.
"""

from __future__ import annotations

import os
import pickle
import weakref
from pathlib import Path
from typing import Any, Final

LARGE: Final = 1 << 15
"""Bytes from which on a message is laid into a file in memory."""


class Parcel:
    """A picklable value as it is sent: the bytes of its pickle, or the path of a file that holds
    them as long as this lives."""

    def __init__(self, value: Any) -> None:
        data = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
        self.sent: bytes | str = data
        if len(data) >= LARGE:
            file = os.memfd_create("maskwright-parcel")
            weakref.finalize(self, os.close, file)
            written = 0
            while written < len(data):
                written += os.write(file, memoryview(data)[written:])
            self.sent = f"/proc/{os.getpid()}/fd/{file}"


def opened(sent: bytes | str) -> Any:
    """The value that a parcel holds, by what was sent of it."""
    return pickle.loads(sent if isinstance(sent, bytes) else Path(sent).read_bytes())
