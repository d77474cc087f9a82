"""The layers of a small model in one call, and stage by stage as adapters and codes need them."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from maskwright.models.compiled import decoder as compiled_decoder
from maskwright.models.compiled import layers
from tests.models.test_dense import CASES, build, prompts_of, run_schedule


@pytest.mark.parametrize("case", ["llama", "mistral window", "qwen3"])
def test_one_call_has_the_bits_of_a_call_for_each_stage(
    case: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, decoder = build(*CASES[case], compiled=True)
    prompts = prompts_of([1, 5, 40])
    ranges: set[tuple[int, int]] = set()

    def run_apart(first: int, end: int, *others: Any) -> None:
        ranges.add((first, end))
        for number in range(first, end):
            layers.run_stages(number, number + 1, *others)

    whole = run_schedule(decoder, prompts, chunk=16, together=2, seed=1)
    monkeypatch.setattr(compiled_decoder, "run_stages", run_apart)
    apart = run_schedule(decoder, prompts, chunk=16, together=2, seed=1)
    assert len(ranges) == 1
    assert ranges.pop()[1] % layers.STAGES == 0
    for one, other in zip(whole, apart, strict=True):
        assert one.keys() == other.keys()
        assert all(torch.equal(one[position], other[position]) for position in one)
