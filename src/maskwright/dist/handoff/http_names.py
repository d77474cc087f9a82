"""The headers and paths of a hand-off over HTTP."""

from __future__ import annotations

from typing import Final

HANDOFF_KEY: Final = "x-maskwright-handoff-key"
"""The header with the key that a router and servers which hand requests over have in common."""

HAND_TO: Final = "x-maskwright-hand-to"
"""The header with which a router has a server compute a prompt and hand the request over to the
server at this address."""

LACKING_PATH: Final = "/handoff/lacking"
"""Where a server tells which blocks of a prefix it lacks."""

BLOCKS_PATH: Final = "/handoff/blocks"
"""Where a server takes blocks."""
