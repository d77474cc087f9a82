"""Say whether the server could listen at its port, before anything is installed for it.

`python tools/try_port.py [PORT]`: without PORT it is that of the variable MASKWRIGHT_PORT, or 8000.
The exit code is 3 if something else listens there. Needs Python alone.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

SOURCES = Path(__file__).resolve().parent.parent / "src"
DEFAULT = "8000"
OLDEST = (3, 11)
ADDRESS_TAKEN = 3


def main() -> int:
    """Try the port. What is no port is left to `serve`, and an old Python to the installation:
    they say what is wrong."""
    port = (sys.argv[1:] or [os.environ.get("MASKWRIGHT_PORT") or DEFAULT])[0]
    if sys.version_info < OLDEST or not port.isdecimal() or int(port) > 65535:
        return 0
    sys.path.insert(0, str(SOURCES))
    from maskwright.cli.process.listening import listen  # noqa: PLC0415 - of the sources
    from maskwright.errors import AddressError  # noqa: PLC0415 - as above

    try:
        listen("127.0.0.1", int(port)).close()
    except AddressError as error:
        reason = str(error).partition(";")[0]
        print(f"make run: {reason}; PORT=N takes another port, PORT=0 a free one", file=sys.stderr)
        return ADDRESS_TAKEN
    return 0


if __name__ == "__main__":
    sys.exit(main())
