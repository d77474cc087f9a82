"""Fields that would change the answer and are not obeyed here: refused by name, never ignored.

Values without an effect are accepted (`logprobs: false`, `functions: []`). Unknown fields are
accepted too, as by every server of this protocol, unless the name looks like a constraint or
resembles the name of a field that is obeyed, because a typing error must not drop the field.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Final, cast

from maskwright.errors import InputError
from maskwright.server.json import Json
from maskwright.server.request.model import shown

_REFUSED: Final[Mapping[str, tuple[tuple[object, ...], str]]] = {
    "add_special_tokens": ((False, True), ""),
    "audio": ((), ""),
    "background": ((False,), "wait for the answer, or stream it"),
    "best_of": ((1,), ""),
    "candidate_count": ((1,), "send n"),
    "chat_template": ((), "chat_template_kwargs sets variables of the model's own template"),
    "choice": ((), "send guided_choice"),
    "choices": ((), "send guided_choice"),
    "context_management": (([], {}, {"edits": []}), "send the messages that the model shall read"),
    "conversation": ((), "nothing is stored here, so send the whole conversation as input"),
    "custom_logit_processor": ((), "code of clients is not run"),
    "custom_params": (({},), ""),
    "do_sample": ((True,), "send temperature: 0, or leave it out"),
    "dry_multiplier": ((0,), ""),
    "dynatemp_range": ((0,), ""),
    "ec_transfer_params": (({},), ""),
    "echo": ((False,), "send the prompt to /v1/completions"),
    "enable_response_messages": ((False,), ""),
    "enable_thinking": ((), "chat_template_kwargs sets variables of the model's own template"),
    "eos_token_id": ((), "send stop_token_ids"),
    "extra_body": (({},), "send its fields in the body itself"),
    "generation_config": (
        ({},),
        "send its settings in the body itself, and a schema as response_format",
    ),
    "guided_json_object": ((False,), ""),
    "guided_whitespace_pattern": (
        (),
        "structured_outputs.disable_any_whitespace asks for no whitespace",
    ),
    "input": ((), "send messages, or send it to /v1/responses"),
    "input_ids": ((), "send token ids as the prompt to /v1/completions"),
    "instructions": ((), "send a message with the role 'system'"),
    "json": ((), "send response_format"),
    "kv_transfer_params": (({},), ""),
    "length_penalty": ((1,), ""),
    "logit_processors": (([],), ""),
    "logits_processors": (([],), ""),
    "logprob_token_ids": ((), "send logprobs and top_logprobs"),
    "lora": (([],), "name an adapter as the model"),
    "lora_path": ((), "name an adapter as the model"),
    "max_length": ((), "send max_tokens"),
    "max_output_tokens": ((), "this endpoint calls it max_tokens"),
    "min_length": ((0,), "send min_tokens"),
    "min_keep": ((0,), ""),
    "mirostat": ((0,), ""),
    "modalities": ((["text"],), ""),
    "n_cmpl": ((1,), "send n"),
    "n_indent": ((0,), ""),
    "n_predict": ((-1,), "send max_tokens"),
    "n_probs": ((0,), "send logprobs and top_logprobs"),
    "no_stop_trim": ((False,), ""),
    "num_beams": ((1,), ""),
    "num_predict": ((-1,), "send max_tokens"),
    "num_return_sequences": ((1,), "send n"),
    "nvext": (({},), "send its fields in the body itself"),
    "options": (({},), "send its settings in the body itself, and a schema as response_format"),
    "output_config": (({},), "send response_format, and reasoning_effort"),
    "pattern": ((), "send regex"),
    "post_sampling_probs": ((False,), "send maskwright.logprobs"),
    "previous_input_messages": (([],), "send the whole conversation as input"),
    "previous_response": ((), "send the whole conversation as input"),
    "previous_response_id": ((), "nothing is stored here, so send the whole conversation as input"),
    "priority": ((0,), "put the request into a class with maskwright.service"),
    "prompt_embeds": (([],), ""),
    "prompt_token_ids": ((), "send token ids as the prompt to /v1/completions"),
    "random_seed": ((), "send seed"),
    "reasoning": (({},), "send reasoning_effort"),
    "reasoning_budget": ((-1,), "send thinking_token_budget"),
    "reasoning_budget_tokens": ((-1,), "send thinking_token_budget"),
    "reasoning_format": (
        ("auto", "deepseek"),
        "separate_reasoning: false leaves reasoning in the text",
    ),
    "reasoning_in_content": ((False,), "separate_reasoning: false leaves reasoning in the text"),
    "repeat_penalty": ((1,), "send repetition_penalty"),
    "repetition_detection": ((), ""),
    "response_fields": (([],), ""),
    "return_cached_tokens_details": ((False,), ""),
    "return_hidden_states": ((False,), ""),
    "return_meta_info": ((False,), ""),
    "return_prompt_text": ((False,), "send return_token_ids, and these to /detokenize"),
    "return_prompt_token_ids": ((False,), "send return_token_ids"),
    "return_routed_experts": ((False,), ""),
    "return_token_offsets": ((False,), ""),
    "return_tokens": ((False,), "send return_token_ids"),
    "safe_prompt": ((False,), ""),
    "samplers": (([],), ""),
    "sampling_params": (({},), "send its fields in the body itself"),
    "session_params": (({},), ""),
    "skip_special_tokens": ((True,), "control tokens are never part of a text"),
    "stop_regex": ((), ""),
    "stop_sequences": (([],), "send stop"),
    "stop_strings": (([],), "send stop"),
    "stop_words": (([],), "send stop"),
    "stream_reasoning": ((True,), ""),
    "system": ((), "send a message with the role 'system'"),
    "system_instruction": ((), "send a message with the role 'system'"),
    "system_prompt": ((), "send a message with the role 'system'"),
    "t_max_predict_ms": ((0, -1), "send maskwright.timeout"),
    "tfs_z": ((1,), ""),
    "thinking": ((), "send reasoning_effort, or chat_template_kwargs"),
    "thinking_budget_tokens": ((-1,), "send thinking_token_budget"),
    "top_a": ((0,), ""),
    "top_n_sigma": ((-1,), ""),
    "typ_p": ((1,), ""),
    "typical_p": ((1,), ""),
    "use_beam_search": ((False,), ""),
    "vllm_xargs": (({},), ""),
    "watermark": ((False,), ""),
    "watermarking": ((False,), ""),
    "web_search_options": ((), ""),
    "xtc_probability": ((0,), ""),
}
"""Fields that every endpoint refuses that doesn't have them: the values without an effect, and what
to do instead, where that is more than to leave it out."""

NEUTRAL: Final = {name: neutral for name, (neutral, _) in _REFUSED.items()}
"""The values without an effect, by field."""

WAYS_OUT: Final[Mapping[str, str]] = {
    **{name: way_out for name, (_, way_out) in _REFUSED.items() if way_out},
    "function_call": "send tools and tool_choice",
    "functions": "send tools",
    "max_completion_tokens": "this endpoint calls it max_output_tokens",
    "max_tokens": "this endpoint calls it max_output_tokens",
    "messages": "send them to /v1/chat/completions",
    "prompt_logprobs": "send the request to /v1/chat/completions or /v1/completions",
    "prompt": "templates of prompts are not stored here, so send input",
    "reasoning_effort": "send it to /v1/chat/completions, or as reasoning.effort to /v1/responses",
    "response_format": "this endpoint calls it text.format",
    "text.format": "send response_format",
    "tools": "send them to /v1/chat/completions",
    "top_logprobs": "this endpoint calls it logprobs",
    "suffix": "this model continues texts, and has no other mode",
}
"""What to do instead, by field; also of fields that only some endpoints refuse."""

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
    "cache_prompt dry_allowed_length dry_base dry_penalty_last_n dry_sequence_breakers "
    "dynatemp_exponent guided_decoding_backend id_slot include max_tool_calls "
    "media_io_kwargs metadata mirostat_eta mirostat_tau mm_processor_kwargs moderation "
    "n_discard n_keep prediction prompt_cache_key prompt_cache_options prompt_cache_retention "
    "repeat_last_n return_progress safety_identifier service_tier "
    "session_id spaces_between_special_tokens store stream_interval text timings_per_token "
    "truncation verbosity xtc_threshold"
)
HARMLESS = frozenset(_OTHERS.split())
"""Fields of other servers that have no effect here, and are never taken for misspelt names."""

LEAST_NAME = 3
"""Letters of a name that may be misspelt: `id` is no `rid`."""

NEAR = 0.8
"""Likeness (`difflib`'s ratio) from which on a name is taken for a misspelt one: of `temprature`
and `max_token` it is 0.95, of `top_k` and `top_p` 0.8, of `prompt` and `stop` 0.6."""


def refuse_unsupported(
    body: Json,
    known: frozenset[str],
    neutral: Mapping[str, tuple[object, ...]] = NEUTRAL,
    ways_out: Mapping[str, str] = WAYS_OUT,
) -> None:
    """Raise InputError for the first field that is not in `known` and would have to be obeyed.
    `neutral`, `ways_out`: the fields of the endpoint with the values without an effect, and what
    to do instead."""
    if "text" not in known:
        _refuse_format(body.get("text"), ways_out)
    for name, value in body.items():
        if value is None or name in known or name in HARMLESS:
            continue
        if name in neutral:
            _refuse_unless_neutral(name, value, neutral[name], ways_out)
        elif any(word in name.lower().replace("_", "") for word in CONSTRAINT_WORDS):
            raise InputError(
                f"unknown field {shown(name)} looks like a constraint on the answer, which this "
                "server would not enforce; use response_format",
                param=name,
                code="unknown_field",
            )
        else:
            _refuse_misspelt(name, known, neutral, ways_out)


def _refuse_format(text: object, ways_out: Mapping[str, str]) -> None:
    """Refuse a shape where the responses protocol has it, in another one. What else it says there
    is without effect."""
    match text:
        case {"format": dict(format)} if cast(Mapping[str, object], format).get("type") != "text":
            raise InputError(
                f"text.format is not supported by this server; {ways_out['text.format']}",
                param="text.format",
                code="unsupported_parameter",
            )
        case _:
            pass


def _refuse_misspelt(
    name: str, known: frozenset[str], neutral: Iterable[str], ways_out: Mapping[str, str]
) -> None:
    near = get_close_matches(name.lower(), known.union(neutral), n=1, cutoff=NEAR)
    if not near or len(name) < LEAST_NAME:
        return
    [meant] = near
    advice = f"did you mean {shown(meant)}?"
    if meant not in known and meant in ways_out:  # which would be refused as well
        advice = f"as for {shown(meant)}, {ways_out[meant]}"
    raise InputError(f"unknown field {shown(name)}; {advice}", param=name, code="unknown_field")


def _refuse_unless_neutral(
    name: str, value: object, neutral: tuple[object, ...], ways_out: Mapping[str, str]
) -> None:
    if any(isinstance(value, bool) == isinstance(each, bool) and value == each for each in neutral):
        return  # a number is no truth value, though Python takes 0 for False
    raise InputError(
        f"{name} is not supported by this server; {ways_out.get(name, 'leave it out')}",
        param=name,
        code="unsupported_parameter",
    )
