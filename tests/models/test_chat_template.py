"""Chat templates, beside the transformers library, which is the reference."""

from __future__ import annotations

from typing import Any

import pytest
from jinja2 import TemplateError
from transformers.utils.chat_template_utils import render_jinja_template

from maskwright.models.load import load
from maskwright.models.plain_tokenizer import render

CALL = {"id": "a", "type": "function", "function": {"name": "f", "arguments": {"x": [1, None]}}}
CHATS: list[list[dict[str, Any]]] = [
    [{"role": "user", "content": "Anna <b>, 34, lives in “Oslo”."}],
    [{"role": "system", "content": " s \n"}, {"role": "user", "content": "é\n\n"}],
    [
        {"role": "user", "content": "x", "name": None},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "content": "<1>", "tool_call_id": "a"},
        {"role": "assistant", "content": "It is", "reasoning": "r", "thinking": None},
    ],
    [
        {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "image"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "b "}, {"type": "x"}]},
    ],
]
TEMPLATES: dict[str, str] = {
    "tokens and conditions": (
        "{{ bos_token }}{% for m in messages %}\n"
        "    {% if m.role != 'tool' %}\n<{{ m['role'] }}>{{ m.content }}{{ eos_token }}\n"
        "    {% endif %}\n{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}"
    ),
    "JSON": (
        "{{ messages | tojson }}{{ messages | tojson(indent=2, sort_keys=true) }}"
        "{{ tools | tojson(separators=(',', ':')) }}{{ '<é>' | tojson(ensure_ascii=true) }}"
    ),
    "loops that are left": (
        "{% for m in messages %}{% if loop.index == 3 %}{% break %}{% endif %}"
        "{% if m.role == 'system' %}{% continue %}{% endif %}{{ m.content }}{% endfor %}"
    ),
    "variables": (
        "{% set n = namespace(count=0, self='s') %}{% for m in messages %}"
        "{% set n.count = n.count + 1 %}{% endfor %}{{ n.count }}{{ n.self }}{{ mood }}"
        "{{ dict(a=1).items() | list }}{{ dict.fromkeys([1]) }}{{ missing is defined }}"
    ),
    "marked output": (
        "{% for m in messages %}{% generation %}{% set inner = 1 %}{{ m.content }}{{ inner }}"
        "{% endgeneration %}{{ inner }}\n{% endfor %}"
    ),
    "trimmed": "{% for m in messages %}{{ m.content | trim }}<end>{% endfor %}",
    "untrimmed": "{% for m in messages %}{{ m.content }}<end>{% endfor %}",
    "blocks": (
        "{% for m in messages %}{% if m.content is string %}{{ m.content }}{% else %}"
        "{% for b in m.content or [] %}{{ b.text }}{% endfor %}{% endif %};{% endfor %}"
    ),
    "reasoning": "{% for m in messages %}{{ m.reasoning_content }}|{{ m.thinking }};{% endfor %}",
    "no content": "{{ messages | length }}",
    "an error of its own": "{{ raise_exception('roles must alternate') }}",
    "a changed argument": "{{ messages.append(1) }}",
    "an attribute of Python's": "{{ messages.__class__ }}",
    "an attribute of dict's": "{{ dict.mro() }}",
    "a variable with an underscore": "{% set n = namespace(_x=1) %}{{ n._x }}",
    "one that is set": "{% set n = namespace(a=1) %}{% set n._x = 1 %}",
    "a sum of unlike things": "{{ 1 + 'a' }}",
}
VARIABLES: dict[str, Any] = {
    "tools": [{"type": "function", "function": {"name": "f", "parameters": {"é": {}}}}],
    "documents": None,
    "bos_token": "<s>",
    "eos_token": "</s>",
    "mood": {"self": [1.5, True]},
}


def outcome(function: Any) -> str | type[Exception]:
    try:
        return function()
    except Exception as error:
        return ValueError if isinstance(error, ValueError) else type(error)


@pytest.mark.parametrize("mode", ["plain", "begins an answer", "continues"])
@pytest.mark.parametrize("chat", range(len(CHATS)))
@pytest.mark.parametrize("name", TEMPLATES)
def test_as_the_library_renders(name: str, chat: int, mode: str) -> None:
    begins, continues = mode == "begins an answer", mode == "continues"
    # The library wants to see the name of the field that is continued in the template.
    source = TEMPLATES[name] + "{# content #}"

    def reference() -> str:
        messages = [{k: v for k, v in m.items() if v is not None} for m in CHATS[chat]]
        [text], _ = render_jinja_template(
            conversations=[messages],
            chat_template=source,
            add_generation_prompt=begins,
            continue_final_message=continues,
            **VARIABLES,
        )
        return text.replace("CONTINUE_FINAL_MESSAGE_TAG ", "")  # it stays where it is shown twice

    found = outcome(
        lambda: render(
            source,
            CHATS[chat],
            begins_answer=begins,
            continues=continues,
            variables=VARIABLES,
        )
    )
    assert found == outcome(reference)


def test_the_messages_given_stay_as_they_are() -> None:
    chat = [{"role": "user", "content": [{"text": "a"}], "reasoning": "r"}]
    render("{{ messages }}", chat, begins_answer=False, continues=False, variables={})
    with pytest.raises(ValueError):
        render("{{ messages | length }}", chat, begins_answer=False, continues=True, variables={})
    assert chat == [{"role": "user", "content": [{"text": "a"}], "reasoning": "r"}]


def test_a_template_sees_no_objects() -> None:
    class Door:
        def open(self) -> str:
            return "opened"

    template = "{{ messages[0].door }}{{ key }}"
    chat = [{"role": "user", "door": Door()}]
    text = render(
        template, chat, begins_answer=False, continues=False, variables={"key": Door().open}
    )
    assert text == "<Door><method>"


def test_a_variable_may_have_any_name() -> None:
    variables = {"self": 1, "args": 2, "key": 3}
    template = "{{ args }}{{ key }}{{ messages[0].content }}"
    chat = [{"role": "user", "content": "x"}]
    text = render(template, chat, begins_answer=False, continues=False, variables=variables)
    assert text == "23x"


def test_what_a_template_raises_is_reported() -> None:
    with pytest.raises(TemplateError, match="roles must alternate"):
        render(
            "{{ raise_exception('roles must alternate') }}",
            CHATS[0],
            begins_answer=True,
            continues=False,
            variables={},
        )


def test_a_chat_without_messages() -> None:
    with pytest.raises(ValueError, match="a message"):
        render("x", [], begins_answer=True, continues=False, variables={})


def test_the_demo_model_s_template() -> None:
    from transformers import PreTrainedTokenizerFast  # noqa: PLC0415

    from maskwright.models import DEMO_PATH  # noqa: PLC0415

    reference = PreTrainedTokenizerFast.from_pretrained(DEMO_PATH)
    loaded = load(DEMO_PATH)
    for chat in CHATS[:3]:
        for begins in (False, True):
            options: dict[str, Any] = {"add_generation_prompt": begins, "tokenize": False}
            options |= {"tools": VARIABLES["tools"], "response_schema": '{"type": "object"}'}
            assert loaded.tokenizer.apply_chat_template(
                chat, **options
            ) == reference.apply_chat_template(chat, **options)
