from __future__ import annotations

import pytest

from maskwright.cli.bulk.prompt_template import PromptTemplate
from maskwright.errors import InputError


def test_fields_stand_in_their_places() -> None:
    template = PromptTemplate('{{ a }}: {"b": {{b}}} {c} {{a}}', system="S")
    assert template.messages({"a": "{{b}}", "b": {"x": ["ä"]}}) == [
        {"role": "system", "content": "S"},
        {"role": "user", "content": '{{b}}: {"b": {"x": ["ä"]}} {c} {{b}}'},
    ]


def test_without_a_template_the_usual_field_is_the_prompt() -> None:
    chat = [{"role": "user", "content": "x"}]
    assert PromptTemplate().messages({"text": "t", "messages": chat}) == chat
    assert PromptTemplate().messages({"text": "t", "prompt": "p"})[0] == {
        "role": "user",
        "content": "p",
    }
    assert PromptTemplate().messages({"text": "t"})[0] == {"role": "user", "content": "t"}


def test_a_field_that_is_missing_is_named() -> None:
    with pytest.raises(InputError, match="no field 'b'; it has a"):
        PromptTemplate("{{b}}").messages({"a": 1})
    with pytest.raises(InputError, match=r"no field 'lines' \(did you mean 'line'\?\); it has id"):
        PromptTemplate("{{lines}}").messages({"id": 1, "line": "x"})
    with pytest.raises(InputError, match=r"messages, prompt, text; it has none"):
        PromptTemplate().messages({})


def test_without_a_template_the_longest_field_is_proposed() -> None:
    fields: dict[str, object] = {"id": "1", "line": "Anna is 34.", "n": 10**20}
    with pytest.raises(InputError, match=r"--prompt-template .* such as '\{\{line\}\}'$"):
        PromptTemplate().messages(fields)
