"""The folder in which a user's programs keep what can be computed anew.

Where that folder is belongs to the machine and not to a request, so it is the environment that says
so, as the XDG base directory specification asks of every program: an absolute path in
`XDG_CACHE_HOME`, or `~/.cache`.
"""

from __future__ import annotations

import os
from pathlib import Path


def user_cache() -> Path | None:
    """Maskwright's folder in the user's cache; None where the user has no home.

    It need not exist, and may not be writable.
    """
    root = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(root):
        return Path(root) / "maskwright"
    try:
        return Path.home() / ".cache" / "maskwright"
    except RuntimeError:
        return None
