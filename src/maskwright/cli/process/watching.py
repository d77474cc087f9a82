"""Doing something again whenever files change."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final, NoReturn

from maskwright.cli.output.appearance import coloured
from maskwright.errors import InputError

INTERVAL_S: Final = 0.3
"""Seconds between two looks at the files."""


def again_on_change(work: Callable[[], object], watched: Callable[[], Iterable[Path]]) -> NoReturn:
    """Do the work, and again whenever one of the watched files or the list of them changes, until
    Ctrl-C. What is wrong with the input is shown, and may be mended."""
    while True:
        before = _times(watched())
        try:
            work()
        except InputError as error:
            print(coloured(str(error), "red"), flush=True)
        while _times(watched()) == before:
            time.sleep(INTERVAL_S)
        print(flush=True)


def _times(paths: Iterable[Path]) -> dict[str, float]:
    """When each file that is there was changed."""
    times: dict[str, float] = {}
    for path in paths:
        with suppress(OSError):
            times[str(path)] = path.stat().st_mtime
    return times
