"""Make the pictures of the dashboard for the documents: docs/images/dashboard-*.png.

Run from the root of the repository: `python tools/page_pictures.py`. Serves the demo model on
loopback, sends it a load for half a minute, and photographs the page in Chromium. The figures in
the pictures are those of the machine on which this runs.
"""

from __future__ import annotations

import random
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from tests.pages.browser import Browser, absent, chromium  # noqa: E402 - needs the path above
from tests.pages.demo_server import Served, demo_server  # noqa: E402

IMAGES: Final = ROOT / "docs" / "images"
SECONDS: Final = 40
RATE: Final = 4.0
WORDS: Final = ("cat", "house", "tree", "river", "letter", "garden", "winter", "music")
SYSTEM: Final = (
    "You answer briefly, in the shape that is asked for, and add nothing else to it. " * 3
)
SCHEMA: Final = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 12},
        "age": {"type": "integer", "minimum": 0},
        "tags": {"type": "array", "items": {"enum": ["red", "green", "blue"]}, "maxItems": 4},
    },
    "required": ["name", "age", "tags"],
    "additionalProperties": False,
}


def ask(served: Served, number: int) -> None:
    """Send one request: two of three with a shape, texts of three lengths."""
    draw = random.Random(number)
    text = " ".join(draw.choice(WORDS) for _ in range(draw.choice((20, 60, 150))))
    shaped: dict[str, Any] = {
        "type": "json_schema",
        "json_schema": {"name": "thing", "schema": SCHEMA},
    }
    fields: dict[str, Any] = {"response_format": shaped} if number % 3 else {}
    with served.client() as client:
        client.chat.completions.create(
            model="demo",
            messages=[{"role": "system", "content": SYSTEM}, {"role": "user", "content": text}],
            max_tokens=draw.choice((20, 60, 120)),
            seed=number,
            extra_body={"maskwright": {"service": draw.choice(("interactive", "agent", "batch"))}},
            **fields,
        )


def photograph(browser: Browser, name: str, scheme: str, *, height: int) -> None:
    """Save what the browser shows under a colour scheme."""
    browser.colours(scheme)
    browser.driver.set_window_size(1280, height)
    browser.run("dispatchEvent(new Event('resize'))")
    time.sleep(2.5)
    path = IMAGES / f"{name}.png"
    browser.driver.save_screenshot(str(path))
    print(f"{path.relative_to(ROOT)}: {path.stat().st_size:,} bytes")


def main() -> None:
    """Make all pictures."""
    reason = absent()
    if reason is not None:
        sys.exit(reason)
    IMAGES.mkdir(exist_ok=True)
    with demo_server() as served, chromium() as browser, ThreadPoolExecutor(24) as pool:
        browser.open(f"{served.url}/dashboard", width=1280, height=1180)
        asked, draw = [], random.Random(1)
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            asked.append(pool.submit(ask, served, len(asked)))
            time.sleep(draw.expovariate(RATE))
        asked += [pool.submit(ask, served, len(asked) + more) for more in range(60)]
        photograph(browser, "dashboard-light", "light", height=1180)
        photograph(browser, "dashboard-dark", "dark", height=1180)
        for one in asked:
            one.result()
        time.sleep(2.5)
        browser.run("document.querySelector('#answers tr:nth-child(3) button').click()")
        browser.run("document.querySelector('#answers-title').scrollIntoView()")
        photograph(browser, "dashboard-timeline", "light", height=760)


if __name__ == "__main__":
    main()
