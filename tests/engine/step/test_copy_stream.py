"""Streams of copies: none on a CPU, where steps make them; beside other work on a GPU."""

from __future__ import annotations

import pytest
import torch

from maskwright.engine.step.runner import CudaStream, open_copy_stream
from maskwright.kernels.kv_pool import move_blocks, new_pool

SHAPE = (600, 4, 2, 16, 8, 128)


def test_on_a_cpu_steps_make_the_copies() -> None:
    assert open_copy_stream(torch.device("cpu")) is None


@pytest.mark.gpu
@pytest.mark.parametrize("kind", ["auto", "int8", "fp8"])
def test_blocks_go_to_pinned_memory_and_come_back(kind: str) -> None:
    device = torch.device("cuda")
    stream = open_copy_stream(device)
    assert isinstance(stream, CudaStream)
    pool = new_pool(SHAPE, torch.bfloat16, kind, device)  # type: ignore[arg-type]
    host = new_pool(SHAPE, torch.bfloat16, kind, pinned=True)  # type: ignore[arg-type]
    assert host.data.is_pinned()
    parts = [pool.data] if pool.scales is None else [pool.data.view(torch.uint8), pool.scales]
    for part in parts:
        part.copy_(torch.randint(0, 100, part.shape, device=device))
    before = [part.clone() for part in parts]
    pairs = [(number, number + 90) for number in range(1, 500)]
    out = stream.begin(lambda: move_blocks(pool, host, pairs))
    seen_running = not out.done()
    out.wait()
    assert out.done()
    assert out.seconds > 0
    for part in parts:
        part.zero_()
    back = [(home, block) for block, home in pairs]
    event = stream.begin(lambda: move_blocks(host, pool, back))  # after the zeros
    seen_running |= not event.done()
    event.wait()
    for part, old in zip(parts, before, strict=True):
        assert part[1:500].equal(old[1:500])
        assert not part[500:].any()
    assert seen_running, "the host waited for the copies"
