"""The object `x-guidance` in the schema of a `%json`: how llguidance has the value written.

`whitespace_flexible` (by default true) allows whitespace wherever JSON does. Without it there is
none but that in `item_separator` (by default `,`) and `key_separator` (by default `:`). A pattern
for whitespace (`whitespace_pattern`) is refused. The others change nothing here: `oneOf` is always
exact, and what can't be enforced is always refused. An option that is null is absent: guidance
always sends `whitespace_pattern`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, cast

Style = Literal["compact", "spaced", "flexible"]

OPTIONS: Final = "x-guidance"
_NAMES: Final = (
    "whitespace_flexible",
    "item_separator",
    "key_separator",
    "coerce_one_of",
    "lenient",
)
_STYLES: Final[Mapping[tuple[str, str], Style]] = {(",", ":"): "compact", (", ", ": "): "spaced"}


def style_of(schema: Any) -> Style:
    """Return the whitespace that a schema asks for. Raises `ValueError` for what can't be done."""
    if not isinstance(schema, dict) or OPTIONS not in schema:
        return "flexible"
    options = cast(dict[str, Any], schema)[OPTIONS]
    if not isinstance(options, dict):
        raise ValueError(f"{OPTIONS} is an object of {', '.join(_NAMES)}")
    given = {
        name: value for name, value in cast(dict[str, Any], options).items() if value is not None
    }
    unknown = next((name for name in given if name not in _NAMES), None)
    if unknown == "whitespace_pattern":
        raise ValueError("whitespace_pattern isn't supported; leave it out, or pass null")
    if unknown is not None:
        raise ValueError(f"{OPTIONS} has no option {unknown!r}; it has {', '.join(_NAMES)}")
    flexible = given.get("whitespace_flexible", True)
    separators = (given.get("item_separator", ","), given.get("key_separator", ":"))
    if not isinstance(flexible, bool):
        raise ValueError("whitespace_flexible is true or false")
    for known, style in _STYLES.items():
        if known == separators:
            return "flexible" if flexible else style
    raise ValueError('the separators are "," and ":", or ", " and ": "')
