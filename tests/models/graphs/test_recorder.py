"""Recording on a GPU, and the tape that stands for it elsewhere."""

from __future__ import annotations

from unittest.mock import MagicMock, patch

import pytest
import torch

from maskwright.models import graphs
from maskwright.models.graphs import Recorder, find_recorder
from tests.models.graphs.tape import TapeRecorder


def test_a_tape_does_what_a_graph_does() -> None:
    """It reads the memory anew; what Python had computed stays."""
    given, out, weight = torch.tensor([1.0, 2.0]), torch.zeros(2), torch.tensor([[1.0, 2], [3, 4]])
    factor, calls = 10.0, []

    def function() -> None:
        calls.append(factor)
        hidden = torch.nn.functional.linear(given[None], weight)
        part = hidden.view(2)
        part[0] += 1
        out.copy_(part * factor)

    with torch.inference_mode():
        replay = TapeRecorder().record(function)
        assert out.tolist() == [60.0, 110.0]
        given.copy_(torch.tensor([0.0, 1.0]))
        factor = 0.0
        replay()
        assert out.tolist() == [30.0, 40.0]
        replay()
        assert out.tolist() == [30.0, 40.0], "an operation in place was done twice"
    assert calls == [10.0]


@pytest.mark.parametrize(
    "read",
    [lambda x: x.sum().item(), lambda x: bool(x.any()), lambda x: x[x > 0]],
    ids=["a number", "a condition", "a selection"],
)
def test_a_tape_refuses_what_reads_from_the_device(read: object) -> None:
    with torch.inference_mode(), pytest.raises(AssertionError, match="reads from the device"):
        TapeRecorder().record(lambda: read(torch.ones(3)))  # type: ignore[operator]


def test_only_a_gpu_records() -> None:
    assert find_recorder(torch.device("cpu")) is None
    assert find_recorder(torch.device("meta")) is None


def test_graphs_share_memory_and_are_recorded_after_a_call() -> None:
    """With stand-ins for torch's functions: what is called between the begin and the end of a
    recording, and with which options."""
    events: list[str] = []
    with patch.object(graphs, "torch", MagicMock()) as fake:
        context = fake.cuda.graph.return_value
        context.__enter__.side_effect = lambda: events.append("begin")
        context.__exit__.side_effect = lambda *_: events.append("end")
        made = Recorder(torch.device("cuda", 0))
        for _ in range(2):
            replay = made.record(lambda: events.append("call"))
        assert events == ["call", "begin", "call", "end"] * 2
        graph, pool, stream = fake.cuda.graph.call_args.args
    assert replay == graph.replay
    assert pool is fake.cuda.graph_pool_handle.return_value
    fake.cuda.graph_pool_handle.assert_called_once_with()
    assert stream is fake.cuda.Stream.return_value
    assert fake.cuda.graph.call_args.kwargs == {"capture_error_mode": "thread_local"}


@pytest.mark.gpu
def test_a_gpu_records() -> None:
    device = torch.device("cuda", 0)
    given, out = torch.ones(1000, device=device), torch.zeros(1000, device=device)
    replay = Recorder(device).record(lambda: out.add_(given * 2 + 1))
    assert out.cpu().eq(3).all(), "done once"
    given.fill_(5)
    replay()
    assert out.cpu().eq(14).all()
