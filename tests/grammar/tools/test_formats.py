"""The formats of tool calls: their templates, as the data files say them."""

from __future__ import annotations

import pytest

from maskwright.errors import InputError
from maskwright.grammar.tools.formats import tool_format, tool_format_names


@pytest.mark.parametrize("name", tool_format_names())
def test_every_format_says_how_a_call_is_written(name: str) -> None:
    found = tool_format(name)
    assert found.call.count("$name") == 1
    assert ("$arguments" in found.call) or {"$key", "$value"} <= {*found.parameter}
    assert found.text.count("$text") == 1
    assert found.reasoning is None or all(found.reasoning)
    first = "".join((*found.begin, *found.call[: found.call.index("$name")]))
    assert found.trigger
    assert first.startswith(found.trigger)


@pytest.mark.parametrize(
    ("name", "trigger"),
    [("hermes", "<tool_call>"), ("mistral", "[TOOL_CALLS]"), ("json", '{"name": "')],
)
def test_the_trigger_is_a_beginning_of_the_first_call(name: str, trigger: str) -> None:
    assert tool_format(name).trigger == trigger


def test_placeholders_stand_apart_from_text() -> None:
    call = tool_format("mistral").call
    assert call == ('{"name": "', "$name", '", "arguments": ', "$arguments", "}")


def test_an_unknown_format_is_refused_with_the_known_names() -> None:
    with pytest.raises(InputError, match=r"there is no tool format '\.\./x'; .*hermes") as caught:
        tool_format("../x")
    assert caught.value.param == "format"
