"""Makes the pictures of the dashboard that the documents show: dashboard-*.png.

    python tools/dashboard_pictures.py [--out docs/images] [--seconds 40]

A server of the demo model is started on loopback, gets a load for so many seconds, and its page is
photographed in a Chromium without a window. The figures in the pictures come from the machine on
which this runs. Debian's packages `chromium` and `chromium-driver` are needed, and `selenium` from
the extra `dev`.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.pages.browser import Browser, absent, chromium
from tests.pages.demo_server import Served, demo_server

SKIPPED: Final = 77
"""Exit status where there is no browser, as in automake's tests."""
RATE: Final = 4.0
"""Requests a second under load."""
AT_ONCE: Final = 1.5
"""Requests for each second of load that are sent together at its end, so that some of them wait."""
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


def photograph(browser: Browser, path: Path, scheme: str, *, height: int) -> None:
    """Save what the browser shows under a colour scheme."""
    browser.colours(scheme)
    browser.driver.set_window_size(1280, height)
    browser.run("dispatchEvent(new Event('resize'))")
    time.sleep(2.5)
    browser.driver.save_screenshot(str(path))
    print(f"{path.name}: {path.stat().st_size // 1024} KiB")


def main() -> None:
    """Take all pictures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "images", help="folder")
    parser.add_argument("--seconds", type=float, default=40, help="how long the load lasts")
    options = parser.parse_args()
    reason = absent()
    if reason is not None:
        print(f"skipped: {reason}", file=sys.stderr)
        raise SystemExit(SKIPPED)
    out: Path = options.out
    out.mkdir(parents=True, exist_ok=True)
    with demo_server() as served, chromium() as browser, ThreadPoolExecutor(24) as pool:
        browser.open(f"{served.url}/dashboard", width=1280, height=1180)
        asked, draw = [], random.Random(1)
        end = time.monotonic() + options.seconds
        while time.monotonic() < end:
            asked.append(pool.submit(ask, served, len(asked)))
            time.sleep(draw.expovariate(RATE))
        together = range(3 + round(AT_ONCE * options.seconds))
        asked += [pool.submit(ask, served, len(asked) + more) for more in together]
        photograph(browser, out / "dashboard-light.png", "light", height=1180)
        photograph(browser, out / "dashboard-dark.png", "dark", height=1180)
        for one in asked:
            one.result()
        time.sleep(2.5)
        browser.run("document.querySelector('#answers tr:nth-child(3) button').click()")
        browser.run("document.querySelector('#answers-title').scrollIntoView()")
        photograph(browser, out / "dashboard-timeline.png", "light", height=760)


if __name__ == "__main__":
    main()
