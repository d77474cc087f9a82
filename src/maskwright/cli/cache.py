"""Where the commands keep what is computed once a vocabulary."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

_ROOT: Final = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
USER_CACHE: Final = Path(_ROOT).expanduser() / "maskwright"


def cache_folder(option: str) -> Path | None:
    """What the option `--cache` says; None keeps nothing."""
    return None if option == "off" else Path(option).expanduser()
