"""The self-check passes what is computed rightly, and finds what isn't."""

from __future__ import annotations

import pytest
import torch
import transformers

from maskwright.errors import InputError
from maskwright.models.transformers_backend import attention
from maskwright.models.transformers_backend.guard import check_supported
from maskwright.models.transformers_backend.self_check import (
    check_architecture,
    tiny_copy,
    worst_error,
)
from tests.models.families import DENSE, ROUTED, Family, config_of, model_class

FAMILIES = DENSE | ROUTED


@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_accepted_models_are_computed_as_the_library_does(family: Family) -> None:
    config = config_of(family)
    check_supported(model_class(family), config)
    assert worst_error(model_class(family), config) < 2e-5


# Configurations as large as they come: 7 to 700 billion parameters.
LARGE = ["Llama", "Gemma3", "GptOss", "DeepseekV3", "SmolLM3", "Qwen3Moe", "GPT2"]


@pytest.mark.parametrize("name", LARGE)
def test_a_large_model_is_checked_by_a_tiny_copy(name: str) -> None:
    kind = model_class((name, {}))
    config = kind.config_class()
    check_architecture(kind, config)
    with torch.device("meta"):
        few = kind(tiny_copy(config)).num_parameters()
    assert few < 30_000_000, "of the billions that the configuration has"


@pytest.mark.parametrize(
    ("family", "forgotten"),
    [
        ("mistral, window", "window"),
        ("gemma2", "softcap"),
        ("gpt_oss", "sinks"),
        ("gpt_oss", "window"),
    ],
)
def test_what_attention_forgets_is_found(
    family: str, forgotten: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = attention.paged_attention

    def part(*args: object, **more: object) -> torch.Tensor:
        return whole(*args, **{**more, forgotten: None})

    monkeypatch.setattr(attention, "paged_attention", part)
    kind, config = model_class(FAMILIES[family]), config_of(FAMILIES[family])
    with pytest.raises(InputError, match=r"its logits differ by .* of the largest") as caught:
        check_architecture(kind, config)
    assert caught.value.code == "unsupported_model"
    assert kind.__name__ in str(caught.value)


def test_a_model_that_fails_on_the_way_is_refused() -> None:
    """Mamba has no attention: the tiny copy can't be made."""
    kind = transformers.Mamba2ForCausalLM
    with pytest.raises(InputError, match="Mamba2ForCausalLM is not supported: its self-check fail"):
        check_architecture(kind, kind.config_class())
