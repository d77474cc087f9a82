"""Fields that would change the answer and are not obeyed here: refused by name, never ignored.

Values without an effect are accepted (`logprobs: false`, `functions: []`). Unknown fields are
accepted too, as by every server of this protocol, unless the name looks like a constraint or
resembles the name of a field that is obeyed, because a typing error must not drop the field.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches

from maskwright.errors import InputError
from maskwright.server.request.fields import Fields, shown

# Field -> the values without an effect.
NEUTRAL: Mapping[str, tuple[object, ...]] = {
    "add_generation_prompt": (True,),
    "add_special_tokens": (False, True),
    "allowed_token_ids": (),
    "audio": (),
    "bad_words": ([],),
    "best_of": (1,),
    "chat_template": (),
    "chat_template_kwargs": ({},),
    "continue_final_message": (False,),
    "documents": ([],),
    "echo": (False,),
    "function_call": ("none", "auto"),
    "functions": ([],),
    "guided_decoding_backend": (),
    "guided_json_object": (False,),
    "guided_whitespace_pattern": (),
    "ignore_eos": (False,),
    "include_stop_str_in_output": (False,),
    "length_penalty": (1,),
    "min_tokens": (0,),
    "modalities": (["text"],),
    "no_stop_trim": (False,),
    "prompt_logprobs": (),
    "return_token_ids": (False,),
    "return_tokens_as_token_ids": (False,),
    "skip_special_tokens": (True,),
    "stop_regex": (),
    "stop_token_ids": ([],),
    "thinking_token_budget": (),
    "truncate_prompt_tokens": (),
    "use_beam_search": (False,),
    "web_search_options": (),
}

# Parts of names, in lower case without underscores, that suggest a constraint on the answer.
CONSTRAINT_WORDS = (
    "constraint",
    "ebnf",
    "format",
    "grammar",
    "guided",
    "jsonmode",
    "jsonobject",
    "regex",
    "schema",
    "structur",
)


_OTHERS = (
    "background include instructions logit_processors metadata mm_processor_kwargs moderation"
    " prediction priority prompt_cache_key prompt_cache_options prompt_cache_retention reasoning"
    " reasoning_effort request_id rid safety_identifier separate_reasoning service_tier store text"
    " truncation verbosity"
)
HARMLESS = frozenset(_OTHERS.split())
"""Fields of other servers that have no effect here, and are never taken for misspelt names."""

NEAR = 0.8
"""Likeness (`difflib`'s ratio) from which on a name is taken for a misspelt one: of `temprature`
and `max_token` it is 0.95, of `top_k` and `top_p` 0.8, of `prompt` and `stop` 0.6."""


def refuse_unsupported(body: Fields, known: frozenset[str]) -> None:
    """Raise InputError for the first field that is not in `known` and would have to be obeyed."""
    for name in body.present():
        if name in known:
            continue
        if name in NEUTRAL:
            _refuse_unless_neutral(body, name)
        elif any(word in name.lower().replace("_", "") for word in CONSTRAINT_WORDS):
            raise InputError(
                f"unknown field {shown(name)} looks like a constraint on the answer, which this "
                "server would not enforce; use response_format",
                param=name,
                code="unknown_field",
            )
        elif name not in HARMLESS:
            _refuse_misspelt(name, known)


def _refuse_misspelt(name: str, known: frozenset[str]) -> None:
    near = get_close_matches(name.lower(), [*known, *NEUTRAL], n=1, cutoff=NEAR)
    if near:
        raise InputError(
            f"unknown field {shown(name)}; did you mean {shown(near[0])}?",
            param=name,
            code="unknown_field",
        )


def _refuse_unless_neutral(body: Fields, name: str) -> None:
    value = body.get(name)
    if value in NEUTRAL[name]:
        return
    raise InputError(
        f"{name} is not supported by this server{_way_out(name)}",
        param=name,
        code="unsupported_parameter",
    )


def _way_out(name: str) -> str:
    if name in ("functions", "function_call"):
        return "; send tools and tool_choice"
    return "; leave it out"
