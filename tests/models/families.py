"""Tiny random models of many families of the transformers library."""

from __future__ import annotations

import transformers
from transformers import PreTrainedConfig, PreTrainedModel

SIZES = {
    "vocab_size": 97,
    "hidden_size": 32,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "intermediate_size": 24,
    "max_position_embeddings": 128,
    "bos_token_id": None,
    "eos_token_id": None,
    "pad_token_id": None,
}
SLIDING = {"sliding_window": 6}
EXPERTS = {"num_experts_per_tok": 2}
LLAMA3 = {
    "rope_type": "llama3",
    "rope_theta": 10000.0,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 32,
}
YARN = {
    "rope_type": "yarn",
    "rope_theta": 10000.0,
    "factor": 4.0,
    "original_max_position_embeddings": 32,
}
LATENT = {
    "num_key_value_heads": 4,
    "kv_lora_rank": 8,
    "q_lora_rank": 12,
    "qk_rope_head_dim": 4,
    "qk_nope_head_dim": 8,
    "v_head_dim": 6,
    "head_dim": 4,
    "first_k_dense_replace": 1,
    "moe_intermediate_size": 16,
    "n_routed_experts": 4,
    "n_group": 2,
    "topk_group": 1,
}

DENSE = {
    "llama": ("Llama", {}),
    "llama, llama3": ("Llama", {"rope_parameters": LLAMA3}),
    "llama, yarn": ("Llama", {"rope_parameters": YARN}),
    "mistral, window": ("Mistral", SLIDING),
    "qwen2, window": (
        "Qwen2",
        {**SLIDING, "use_sliding_window": True, "max_window_layers": 2},
    ),
    "qwen3": ("Qwen3", {}),
    "phi3": ("Phi3", SLIDING),
    "gemma2": ("Gemma2", {**SLIDING, "attn_logit_softcapping": 0.5}),
    "gemma3": ("Gemma3", {**SLIDING, "num_hidden_layers": 6}),
    "cohere2": ("Cohere2", SLIDING),
    "smollm3": ("SmolLM3", {}),
    "olmo2": ("Olmo2", {}),
    "olmo3": ("Olmo3", SLIDING),
    "granite": ("Granite", {}),
    "starcoder2": ("Starcoder2", {}),
    "glm4": ("Glm4", {}),
    "exaone4": ("Exaone4", SLIDING),
    "gpt_neox": ("GPTNeoX", {}),
    "gpt2": ("GPT2", {}),
    "opt": ("OPT", {"ffn_dim": 24, "word_embed_proj_dim": 32}),
}
"""Bits independent of the schedule."""

ROUTED = {
    "mixtral": ("Mixtral", {**EXPERTS, "num_local_experts": 4}),
    "qwen3_moe": ("Qwen3Moe", {**EXPERTS, "num_experts": 4, "moe_intermediate_size": 16}),
    "gpt_oss": (
        "GptOss",
        {**SLIDING, **EXPERTS, "num_local_experts": 4, "rope_parameters": YARN},
    ),
    "deepseek_v3": ("DeepseekV3", {**EXPERTS, **LATENT}),
}
"""Models with experts, whose products have one row for each token routed to them."""

Family = tuple[str, dict]


def model_class(family: Family) -> type[PreTrainedModel]:
    name = family[0]
    return getattr(transformers, f"{name}LMHeadModel" if name == "GPT2" else f"{name}ForCausalLM")


def config_of(family: Family, **more: object) -> PreTrainedConfig:
    return model_class(family).config_class(**{**SIZES, **family[1], **more})
