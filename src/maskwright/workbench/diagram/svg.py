"""What all pictures share: text that SVG can hold, its width, the style."""

from __future__ import annotations

import unicodedata
from typing import Final
from xml.sax.saxutils import escape, quoteattr

CHARACTER: Final = 8
"""Pixels that a character of the monospaced font takes at most; wide ones take two of these."""
LONGEST: Final = 48
"""Characters of a label that are drawn; the whole of it is its tooltip."""

_STYLE: Final = """\
.maskwright-picture{font:13px ui-monospace,Menlo,Consolas,monospace;color:#1c2430;background:#fff}
.maskwright-picture text{fill:currentColor}
.maskwright-picture .way,.railroad path{fill:none;stroke:currentColor;stroke-width:1.5}
.railroad text{text-anchor:middle}
.maskwright-picture .tip{fill:currentColor}
.maskwright-picture rect{stroke:currentColor;stroke-width:1.2}
.maskwright-picture .text{fill:#dff0dc}.maskwright-picture .set{fill:#fbecc8}
.maskwright-picture .name{fill:#dce9fb}.maskwright-picture .plain{fill:#f1f3f6}
.maskwright-picture .heading{font-weight:bold}.maskwright-picture .note{opacity:.75}
@media (prefers-color-scheme:dark){
.maskwright-picture{color:#e6eaf0;background:#14181f}
.maskwright-picture .text{fill:#23442a}.maskwright-picture .set{fill:#4d4019}
.maskwright-picture .name{fill:#1f3a5f}.maskwright-picture .plain{fill:#2a313c}}"""


def visible(text: str) -> str:
    """The text with what can't be seen, or can't stand in XML, as escapes of Python."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def cut(text: str) -> str:
    """A label of at most `LONGEST` characters."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def width_of(text: str) -> int:
    """Pixels that a text takes in the monospaced font."""
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return CHARACTER * (len(text) + wide)


def text_at(x: float, y: float, text: str, classes: str = "", anchor: str = "middle") -> str:
    """A text element whose letters stand around the line `y`."""
    attributes = f'x="{x:g}" y="{y + 4:g}" text-anchor="{anchor}"'
    named = f' class="{classes}"' if classes else ""
    return f"<text {attributes}{named}>{escape(text)}</text>"


def picture(width: float, height: float, title: str, elements: list[str]) -> str:
    """A whole SVG document, with a title that screen readers read."""
    title = visible(title)
    return "\n".join(
        (
            '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
            'class="maskwright-picture" role="img" '
            f'width="{width:g}" height="{height:g}" viewBox="0 0 {width:g} {height:g}" '
            f"aria-label={quoteattr(title)}>",
            f"<title>{escape(title)}</title>",
            f"<style>{_STYLE}</style>",
            *elements,
            "</svg>\n",
        )
    )
