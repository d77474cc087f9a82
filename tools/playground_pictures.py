"""Takes the pictures of the playground that the documents show.

    python tools/playground_pictures.py [--out docs/images]

A server of the demo model and a Chromium without a window are started and ended. Debian's packages
`chromium` and `chromium-driver` are needed, and `selenium` from the extra `dev`.
"""

from __future__ import annotations

import argparse
import io
import sys
from pathlib import Path
from typing import Final

from PIL import Image

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.pages.browser import Browser, absent, chromium
from tests.pages.demo_server import demo_server

SKIPPED: Final = 77
"""Exit status where there is no browser, as in automake's tests."""
COLOURS: Final = 128


def main() -> None:
    """Take all pictures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "images", help="folder")
    out: Path = parser.parse_args().out
    reason = absent()
    if reason is not None:
        print(f"skipped: {reason}", file=sys.stderr)
        raise SystemExit(SKIPPED)
    out.mkdir(parents=True, exist_ok=True)
    with demo_server() as served, chromium() as page:
        page.colours("light")
        page.open(f"{served.url}/", width=1440, height=860)
        page.until(lambda: "author" in page.text("#reasons"))
        page.until(lambda: "maskwright" in page.text("#model"))
        save(page, out / "playground.png")
        page.find("#tab-views-generate").click()
        page.find("#generate").click()
        page.until(lambda: page.text("#sums dl"))
        page.run("document.querySelectorAll('#tokens button')[15].focus()")
        save(page, out / "playground-generate.png")
        page.colours("dark")
        page.find("#tab-views-diagram").click()
        page.until(lambda: "author" in page.text("#view-diagram svg"))
        save(page, out / "playground-dark.png")


def save(page: Browser, file: Path) -> None:
    """Keep what the window shows, with few colours, so that the file is small."""
    shown = Image.open(io.BytesIO(page.driver.get_screenshot_as_png())).convert("RGB")
    shown.quantize(COLOURS, dither=Image.Dither.NONE).save(file, optimize=True)
    print(f"{file.name}: {file.stat().st_size >> 10} KiB")


if __name__ == "__main__":
    main()
