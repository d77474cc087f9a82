"""Recognises the tool format on which a checkpoint was trained, by its chat template."""

from __future__ import annotations

from typing import Final

# A text that occurs only in templates of one family -> its format; the first match counts.
_SIGNS: Final = (
    ("<｜tool▁call▁begin｜>function", "deepseek_v3"),
    ("<｜tool▁call▁begin｜>", "deepseek_v31"),
    ("<|tool_calls_section_begin|>", "kimi_k2"),
    ("<minimax:tool_call>", "minimax"),
    ("<arg_key>", "glm"),
    ("<function=", "qwen_coder"),
    ("<|channel|>", "harmony"),
    ("[ARGS]", "mistral_v11"),
    ("[TOOL_CALLS]", "mistral"),
    ("<|/tool_call|>", "phi4_mini"),
    ("<|tool_call|>", "granite"),
    ("<tool_call>", "hermes"),
    ("func_name1(params_name1", "llama_pythonic"),
    ("<|python_tag|>", "llama3_json"),
)


def tool_format_of(chat_template: str) -> str:
    """Return the format whose marks occur in the template, or `json` if none do."""
    return next((name for sign, name in _SIGNS if sign in chat_template), "json")
