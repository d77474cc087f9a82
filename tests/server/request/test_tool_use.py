"""Tools and the choice among them, as requests send them."""

from __future__ import annotations

from typing import Any

import pytest

from maskwright.errors import InputError
from maskwright.grammar.schema.document import json_of
from maskwright.server.request.tool_use import FunctionFields, ToolUse

F: dict[str, Any] = {
    "type": "function",
    "function": {"name": "f", "parameters": {"type": "object"}},
}
G = {"type": "function", "function": {"name": "g"}}
NAMED = {"type": "function", "function": {"name": "g"}}


def use(**fields: Any) -> ToolUse | None:
    return FunctionFields.read(fields).tool_use()


CHOICES: list[tuple[Any, bool, bool, list[str]]] = [
    # choice; whether calls may be made, must be made, and of which tools
    (None, True, False, ["f", "g"]),
    ("auto", True, False, ["f", "g"]),
    ("required", True, True, ["f", "g"]),
    (NAMED, True, True, ["g"]),
]


@pytest.mark.parametrize(("choice", "constrains", "forced", "names"), CHOICES)
def test_choices(choice: Any, constrains: bool, forced: bool, names: list[str]) -> None:
    found = use(tools=[F, G], tool_choice=choice)
    assert found is not None
    assert (found.constrains, found.forced) == (constrains, forced)
    assert [tool.name for tool in found.choice.tools] == names
    assert [tool.name for tool in found.tools] == ["f", "g"]
    assert list(found.sent) == [F, G], "the template is shown what was sent"


def test_a_number_that_is_too_small_is_told_from_0() -> None:
    keys: set[str] = set()
    for number in ("0.0", "1e-400", "1e-300"):
        function = f'{{"name": "f", "parameters": {{"minimum": {number}}}}}'
        found = use(tools=[json_of(f'{{"type": "function", "function": {function}}}')])
        assert found is not None
        keys.add(found.key())
    assert len(keys) == 3


def test_a_name_used_twice_is_named_where_it_stands() -> None:
    with pytest.raises(InputError, match="two tools are named 'g'") as refused:
        use(tools=[F, G, G])
    assert refused.value.param == "tools[2].function.name"
    with pytest.raises(InputError, match="two tools are named 'g'") as refused:
        use(functions=[F["function"], G["function"], G["function"]])
    assert refused.value.param == "functions[2].name"


def test_no_call_may_be_made() -> None:
    found = use(tools=[F, G], tool_choice="none")
    assert found is not None
    assert (found.constrains, found.forced) == (False, False)
    assert list(found.sent) == [F, G]


PARALLEL: list[tuple[dict[str, Any], bool]] = [
    ({}, True),
    ({"parallel_tool_calls": None}, True),
    ({"parallel_tool_calls": True}, True),
    ({"parallel_tool_calls": False}, False),
]


@pytest.mark.parametrize(("sent", "parallel"), PARALLEL)
def test_several_calls_unless_they_are_forbidden(sent: dict[str, Any], parallel: bool) -> None:
    found = use(tools=[F], **sent)
    assert found is not None
    assert found.parallel is parallel


@pytest.mark.parametrize("tools", [None, []])
def test_without_tools_there_is_nothing_to_choose(tools: Any) -> None:
    assert use(tools=tools) is None
    assert use(tools=tools, tool_choice="auto") is None
    with pytest.raises(InputError, match="tool_choice"):
        use(tools=tools, tool_choice="required")


def test_equal_uses_have_equal_keys_whatever_is_said_of_the_tools() -> None:
    """Descriptions are for the model, not for the grammar."""
    described = {"type": "function", "function": {**F["function"], "description": "what it does"}}
    uses = [use(tools=[F, G]), use(tools=[described, G], tool_choice="auto")]
    keys = {one.key() for one in uses if one is not None}
    assert len(keys) == 1
