"""Which settings of the engine are accepted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from maskwright.engine import EngineConfig
from maskwright.engine.schedule.service import ServiceClass
from maskwright.errors import InputError

NAN, INFINITE = float("nan"), float("inf")
CLASS = ServiceClass("one", 1.0)

SETTINGS: list[tuple[str, list[Any], list[Any]]] = [
    # a setting, with values that are accepted and refused
    ("block_size", [4, 8, 16, 32, 64], [0, 1, 12, 128, 16.0, True, None, "16"]),
    ("kv_bytes", [1, 2**40], [0, -1, 1.5, True, None]),
    ("memory_fraction", [None, 0.01, 0.5, 1, 1.0], [0, -0.1, 1.01, NAN, "0.5"]),
    ("blocks", [None, 1, 999], [0, -1, 2.0, True]),
    ("kv_dtype", ["auto", "int8", "fp8"], ["int4", "", None, 8]),
    ("prefix_cache", [True, False], [0, 1, None, "on"]),
    ("canonical", [True, False], [1, None]),
    ("overlap", [True, False], [1, None]),
    ("kv_host_bytes", [0, 1], [-1, 0.5, None, False]),
    ("kv_disk", [None, Path("kv")], ["kv", 1]),
    ("kv_disk_bytes", [1, 2**40], [0, -1, None]),
    ("kv_policy", ["lru", "lfu"], ["fifo", None]),
    ("graphs", [True, False], [0, None]),
    ("swap_bytes", [0, 1], [-1, 0.5, None, False]),
    ("max_running", [1, 512], [0, -1, 513, None]),
    ("max_batch_tokens", [64, 9999], [63, 0, None]),  # as many as may run
    ("stall", [None, 1.01, 4, INFINITE], [1, 0, -4.0, NAN, "4"]),
    ("max_waiting", [1, 999], [0, -1, None]),
    ("max_context", [None, 1, 999], [0, -1, 1.5]),
    ("classes", [(CLASS,), (CLASS, ServiceClass("two", 1.0))], [(), (CLASS, CLASS)]),
    ("drafts", [0, 6, 64], [-1, 65, 1.0, None, True]),
    ("device_steps", [None, 0, 64], [-1, 65, 1.5, True]),
    ("reader_tokens", [1, 999], [0, -1, None]),
    ("reader_seconds", [0.01, 60], [0, -1, INFINITE, NAN, None, "60"]),
    ("threads", [None, 1, 64], [0, -1, 1.5]),
    ("adapter_bytes", [1], [0, None]),
]


@pytest.mark.parametrize(("name", "accepted", "refused"), SETTINGS)
def test_settings(name: str, accepted: list[Any], refused: list[Any]) -> None:
    for value in accepted:
        assert getattr(EngineConfig(**{name: value}), name) == value
    for value in refused:
        with pytest.raises(InputError) as raised:
            EngineConfig(**{name: value})
        param = "max_batch_tokens" if (name, value) == ("max_running", 513) else name
        assert raised.value.param == param, value


def test_every_setting_but_the_draft_model_has_a_row() -> None:
    names = {name for name, _, _ in SETTINGS}
    assert set(EngineConfig.__dataclass_fields__) == names | {"draft_model"}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"block_size": 12}, "block_size is 12; it must be 4, 8, 16, 32 or 64."),
        ({"kv_bytes": 0}, "kv_bytes is 0; it must be a positive integer."),
        ({"memory_fraction": 2}, "memory_fraction is 2; it must be a number above 0, 1 at most."),
        ({"kv_dtype": "x"}, "kv_dtype is 'x'; it must be one of auto, int8, fp8."),
        ({"kv_host_bytes": 1, "prefix_cache": False}, "Without the prefix cache no stored block"),
        ({"max_running": 9, "max_batch_tokens": 8}, "at least max_running (9)"),
        ({"classes": (CLASS, CLASS)}, "at least one is needed, and each name once"),
    ],
)
def test_messages_say_what_must_be(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as raised:
        EngineConfig(**settings)
    assert message in raised.value.message


def test_a_draft_model_needs_drafts() -> None:
    model: Any = object()
    assert EngineConfig(draft_model=model, drafts=1).draft_model is model
    with pytest.raises(InputError) as raised:
        EngineConfig(draft_model=model, drafts=0)
    assert raised.value.param == "drafts"
