"""Loading a model of the library on a device. Of checkpoints that are refused on every device,
`tests/models/test_load.py` has tests."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import MagicMock, patch

import pytest
import torch
from transformers import PreTrainedModel

from maskwright.errors import InputError
from maskwright.models.transformers_backend import load as transformers_load
from maskwright.models.transformers_backend.load import load_transformers
from tests.engine.tiny import save_checkpoint
from tests.models.test_device import META

BF16 = torch.bfloat16


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that the dense decoder doesn't support."""
    return save_checkpoint(tmp_path_factory.mktemp("gemma2"), family="Gemma2", head_dim=8)


@pytest.fixture(autouse=True)
def unchecked(monkeypatch: pytest.MonkeyPatch) -> None:
    """The self-check computes on the CPU, whatever the device."""
    monkeypatch.setattr(transformers_load, "check_architecture", lambda *_: None)


def test_a_model_is_loaded_on_its_device(checkpoint: Path) -> None:
    with patch.object(transformers_load, "check_attention") as check:
        decoder = load_transformers(checkpoint, BF16, META)
    assert (decoder.device, decoder.dtype) == (META, BF16)
    assert {each.device for each in decoder.model.state_dict().values()} == {META}
    check.assert_called_once_with("Gemma2ForCausalLM", decoder.layers, META)


def test_on_the_cpu_there_are_no_kernels_to_check(checkpoint: Path) -> None:
    with patch.object(transformers_load, "check_attention") as check:
        assert load_transformers(checkpoint, BF16, torch.device("cpu")).device.type == "cpu"
    check.assert_not_called()


def test_a_device_that_computes_no_attention_is_refused(checkpoint: Path) -> None:
    """A device without data has no results."""
    reason = (
        r"Gemma2ForCausalLM is not supported on meta: its attention can't be computed there: .*"
    )
    with pytest.raises(InputError, match=reason + "Serve it with --device cpu") as caught:
        load_transformers(checkpoint, BF16, META)
    assert caught.value.code == "unsupported_model"


def test_a_device_with_too_little_memory_is_an_error_that_says_so(checkpoint: Path) -> None:
    full = MagicMock(side_effect=torch.OutOfMemoryError("CUDA out of memory"))
    reason = (
        "Gemma2ForCausalLM can't be computed on meta: OutOfMemoryError: CUDA out of memory. Serve"
    )
    with patch.object(PreTrainedModel, "to", full), pytest.raises(InputError, match=reason):
        load_transformers(checkpoint, BF16, META)
