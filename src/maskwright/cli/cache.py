"""Where the commands keep what is computed once a vocabulary."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from maskwright.user_cache import user_cache

USER_CACHE: Final = user_cache() or Path("off")


def cache_folder(option: str) -> Path | None:
    """What the option `--cache` says; None keeps nothing."""
    return None if option == "off" else Path(option).expanduser()
