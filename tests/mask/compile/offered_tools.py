"""Tools that requests offer."""

from __future__ import annotations

from typing import Any

WEATHER: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "weather",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
            "additionalProperties": False,
        },
    },
}
NOW: dict[str, Any] = {"type": "function", "function": {"name": "now"}}


def many_tools(count: int) -> list[Any]:
    """Tools as an agent has them: several parameters, of every type."""
    return [
        {
            "type": "function",
            "function": {
                "name": f"{verb}_{noun}_{at}",
                "parameters": {
                    "type": "object",
                    "properties": {
                        "id": {"type": "string", "minLength": 1},
                        "limit": {"type": "integer", "minimum": 1, "maximum": 100 + at},
                        "mode": {"enum": ["fast", "slow", f"m{at}"]},
                        "tags": {"type": "array", "items": {"type": "string"}},
                    },
                    "required": ["id"],
                    "additionalProperties": False,
                },
            },
        }
        for at in range(count)
        for verb, noun in [(["get", "list", "set", "drop"][at % 4], ["user", "file"][at % 2])]
    ]
