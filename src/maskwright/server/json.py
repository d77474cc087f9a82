"""JSON objects as the server writes them."""

from __future__ import annotations

from typing import TypeAlias

Json: TypeAlias = dict[str, object]
