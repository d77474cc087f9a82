"""Fields that would change the answer and are not obeyed here: refused by name, never ignored.

Values without an effect are accepted (`logprobs: false`, `functions: []`). Unknown fields are
accepted too, as by every server of this protocol, unless the name looks like a constraint or
resembles the name of a field that is obeyed, because a typing error must not drop the field.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import cast

from maskwright.errors import InputError
from maskwright.server.json import Json
from maskwright.server.request.model import shown

# Field -> the values without an effect.
NEUTRAL: Mapping[str, tuple[object, ...]] = {
    "add_special_tokens": (False, True),
    "audio": (),
    "background": (False,),
    "best_of": (1,),
    "candidate_count": (1,),
    "chat_template": (),
    "choice": (),
    "choices": (),
    "context_management": ([], {}, {"edits": []}),
    "conversation": (),
    "custom_logit_processor": (),
    "custom_params": ({},),
    "do_sample": (True,),
    "dry_multiplier": (0,),
    "dynatemp_range": (0,),
    "ec_transfer_params": ({},),
    "echo": (False,),
    "enable_response_messages": (False,),
    "enable_thinking": (),
    "eos_token_id": (),
    "extra_body": ({},),
    "generation_config": ({},),
    "guided_json_object": (False,),
    "guided_whitespace_pattern": (),
    "input": (),
    "input_ids": (),
    "instructions": (),
    "json": (),
    "kv_transfer_params": ({},),
    "length_penalty": (1,),
    "logit_processors": ([],),
    "logits_processors": ([],),
    "logprob_token_ids": (),
    "lora": ([],),
    "lora_path": (),
    "max_length": (),
    "max_output_tokens": (),
    "min_length": (0,),
    "min_keep": (0,),
    "mirostat": (0,),
    "modalities": (["text"],),
    "n_cmpl": (1,),
    "n_indent": (0,),
    "n_predict": (-1,),
    "n_probs": (0,),
    "no_stop_trim": (False,),
    "num_beams": (1,),
    "num_predict": (-1,),
    "num_return_sequences": (1,),
    "nvext": ({},),
    "options": ({},),
    "output_config": ({},),
    "pattern": (),
    "post_sampling_probs": (False,),
    "previous_input_messages": ([],),
    "previous_response": (),
    "previous_response_id": (),
    "priority": (0,),
    "prompt_embeds": ([],),
    "prompt_token_ids": (),
    "random_seed": (),
    "reasoning": ({},),
    "reasoning_budget": (-1,),
    "reasoning_budget_tokens": (-1,),
    "reasoning_format": ("auto", "deepseek"),
    "reasoning_in_content": (False,),
    "repeat_penalty": (1,),
    "repetition_detection": (),
    "response_fields": ([],),
    "return_cached_tokens_details": (False,),
    "return_hidden_states": (False,),
    "return_meta_info": (False,),
    "return_prompt_text": (False,),
    "return_prompt_token_ids": (False,),
    "return_routed_experts": (False,),
    "return_token_offsets": (False,),
    "return_tokens": (False,),
    "safe_prompt": (False,),
    "samplers": ([],),
    "sampling_params": ({},),
    "session_params": ({},),
    "skip_special_tokens": (True,),
    "stop_regex": (),
    "stop_sequences": ([],),
    "stop_strings": ([],),
    "stop_words": ([],),
    "stream_reasoning": (True,),
    "system": (),
    "system_instruction": (),
    "system_prompt": (),
    "t_max_predict_ms": (0, -1),
    "tfs_z": (1,),
    "thinking": (),
    "thinking_budget_tokens": (-1,),
    "top_a": (0,),
    "top_n_sigma": (-1,),
    "typ_p": (1,),
    "typical_p": (1,),
    "use_beam_search": (False,),
    "vllm_xargs": ({},),
    "watermark": (False,),
    "watermarking": (False,),
    "web_search_options": (),
    "xtc_probability": (0,),
}

# Field -> what to do instead, where that is more than to leave it out.
WAYS_OUT: Mapping[str, str] = {
    "function_call": "send tools and tool_choice",
    "functions": "send tools",
    "candidate_count": "send n",
    "choice": "send guided_choice",
    "choices": "send guided_choice",
    "context_management": "send the messages that the model shall read",
    "do_sample": "send temperature: 0, or leave it out",
    "eos_token_id": "send stop_token_ids",
    "extra_body": "send its fields in the body itself",
    "generation_config": "send its settings in the body itself, and a schema as response_format",
    "json": "send response_format",
    "max_length": "send max_tokens",
    "max_output_tokens": "this endpoint calls it max_tokens",
    "min_length": "send min_tokens",
    "num_predict": "send max_tokens",
    "num_return_sequences": "send n",
    "nvext": "send its fields in the body itself",
    "options": "send its settings in the body itself, and a schema as response_format",
    "output_config": "send response_format, and reasoning_effort",
    "pattern": "send regex",
    "random_seed": "send seed",
    "reasoning_budget": "send thinking_token_budget",
    "stop_strings": "send stop",
    "stop_words": "send stop",
    "system": "send a message with the role 'system'",
    "system_instruction": "send a message with the role 'system'",
    "system_prompt": "send a message with the role 'system'",
    "thinking": "send reasoning_effort, or chat_template_kwargs",
    "chat_template": "chat_template_kwargs sets variables of the model's own template",
    "custom_logit_processor": "code of clients is not run",
    "echo": "send the prompt to /v1/completions",
    "background": "wait for the answer, or stream it",
    "conversation": "nothing is stored here, so send the whole conversation as input",
    "input": "send messages, or send it to /v1/responses",
    "instructions": "send a message with the role 'system'",
    "max_completion_tokens": "this endpoint calls it max_output_tokens",
    "max_tokens": "this endpoint calls it max_output_tokens",
    "messages": "send them to /v1/chat/completions",
    "priority": "put the request into a class with maskwright.service",
    "prompt_logprobs": "send the request to /v1/chat/completions or /v1/completions",
    "skip_special_tokens": "control tokens are never part of a text",
    "previous_response_id": "nothing is stored here, so send the whole conversation as input",
    "prompt": "templates of prompts are not stored here, so send input",
    "guided_whitespace_pattern": "structured_outputs.disable_any_whitespace asks for no whitespace",
    "lora": "name an adapter as the model",
    "lora_path": "name an adapter as the model",
    "n_predict": "send max_tokens",
    "n_probs": "send logprobs and top_logprobs",
    "reasoning_effort": "send it to /v1/chat/completions, or as reasoning.effort to /v1/responses",
    "reasoning_format": "separate_reasoning: false leaves reasoning in the text",
    "repeat_penalty": "send repetition_penalty",
    "response_format": "this endpoint calls it text.format",
    "text.format": "send response_format",
    "tools": "send them to /v1/chat/completions",
    "top_logprobs": "this endpoint calls it logprobs",
    "suffix": "this model continues texts, and has no other mode",
    "enable_thinking": "chat_template_kwargs sets variables of the model's own template",
    "input_ids": "send token ids as the prompt to /v1/completions",
    "logprob_token_ids": "send logprobs and top_logprobs",
    "n_cmpl": "send n",
    "post_sampling_probs": "send maskwright.logprobs",
    "previous_input_messages": "send the whole conversation as input",
    "previous_response": "send the whole conversation as input",
    "prompt_token_ids": "send token ids as the prompt to /v1/completions",
    "reasoning": "send reasoning_effort",
    "reasoning_budget_tokens": "send thinking_token_budget",
    "reasoning_in_content": "separate_reasoning: false leaves reasoning in the text",
    "return_prompt_text": "send return_token_ids, and these to /detokenize",
    "return_prompt_token_ids": "send return_token_ids",
    "return_tokens": "send return_token_ids",
    "sampling_params": "send its fields in the body itself",
    "stop_sequences": "send stop",
    "t_max_predict_ms": "send maskwright.timeout",
    "thinking_budget_tokens": "send thinking_token_budget",
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
    "cache_prompt dry_allowed_length dry_base dry_penalty_last_n dry_sequence_breakers"
    " dynatemp_exponent guided_decoding_backend id_slot include max_tool_calls"
    " media_io_kwargs metadata mirostat_eta mirostat_tau mm_processor_kwargs moderation"
    " n_discard n_keep prediction prompt_cache_key prompt_cache_options prompt_cache_retention"
    " repeat_last_n return_progress safety_identifier service_tier"
    " session_id spaces_between_special_tokens store stream_interval text timings_per_token"
    " truncation verbosity xtc_threshold"
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
