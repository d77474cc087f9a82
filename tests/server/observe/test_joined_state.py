"""The documents of several servers as one."""

from __future__ import annotations

from typing import Any

import pytest

from maskwright.server.observe.figures import joined_state

WORKERS = [{"name": "a", "ready": True}, {"name": "b", "ready": True}]


def answer(number: int, received: float, request_ms: float) -> dict[str, Any]:
    return {"number": number, "received": received, "request_ms": request_ms, "ttft_ms": number}


def state(used: int, total: int, **changes: Any) -> dict[str, Any]:
    """The document of a server: as many blocks are used, the others are free."""
    metrics = {
        'output_tokens_total{source="forced"}': 10.0,
        'output_tokens_total{source="sampled"}': 30.0,
        "prefix_hit_tokens_total": 1.0,
        "prefix_asked_tokens_total": 4.0,
        "mask_hits_total": 1.0,
        "mask_rows_total": 2.0,
        "mask_seconds_count": 0.0,
        'requests{state="running"}': 2.0,
        'kv_blocks{state="used"}': float(used),
        'kv_blocks{state="cached"}': 0.0,
        'kv_blocks{state="free"}': float(total - used),
        "kv_use": used / total,
        "kv_fragmentation": 0.5,
        "healthy": 1.0,
        'info{model="m"}': 1.0,
    }
    figures = {"output_tokens": 40.0, "requests_finished": 3.0, "kv_use": used / total}
    cells = ("u" * used).ljust(total, ".")
    base: dict[str, Any] = {
        "time": 1000.0,
        "model": "m",
        "healthy": True,
        "max_context": 64,
        "figures": figures,
        "metrics": metrics,
        "blocks": {"total": total, "block_size": 16, "blocks_per_cell": 1, "cells": cells},
        "prefix": [
            {"parent": -1, "blocks": 2, "holders": 1},
            {"parent": 0, "blocks": 1, "holders": 0},
        ],
        "spans_left_out": False,
        "classes": [{"name": "agent", "running": 1, "waiting": 2, "paused": 0}],
        "live": [{"id": 7}],
        "recent": [],
    }
    return {**base, **changes}


def test_counts_are_added_and_shares_weighted() -> None:
    joined = joined_state({"a": state(1, 4), "b": state(6, 6)}, WORKERS, 0)
    metrics = joined["metrics"]
    assert metrics['requests{state="running"}'] == 4
    assert metrics['output_tokens_total{source="sampled"}'] == 60
    assert metrics["kv_use"] == joined["figures"]["kv_use"] == 0.7
    assert metrics["kv_fragmentation"] == 0.5
    assert metrics["healthy"] == metrics['info{model="m"}'] == 1
    assert joined["figures"]["forced_share"] == 0.25
    assert joined["classes"] == [{"name": "agent", "running": 2, "waiting": 4, "paused": 0}]
    assert joined["live"] == [{"id": 7, "worker": "a"}, {"id": 7, "worker": "b"}]
    assert [span["parent"] for span in joined["prefix"]] == [-1, 0, -1, 2]
    assert joined["blocks"]["cells"] == "u...uuuuuu"
    assert joined["blocks"]["total"] == 10


def test_every_server_is_reported_also_one_without_an_answer() -> None:
    workers = [{"name": "a", "ready": True}, {"name": "b", "ready": False}]
    servers = joined_state({"a": state(1, 4)}, workers, 0)["workers"]
    assert servers[0] == {
        "name": "a",
        "ready": True,
        "running": 2.0,
        "requests_finished": 3.0,
        "output_tokens": 40.0,
        "kv_use": 0.25,
    }
    unknown = dict.fromkeys(("running", "requests_finished", "output_tokens", "kv_use"))
    assert servers[1] == {"name": "b", "ready": False, **unknown}


def test_all_engines_must_run() -> None:
    stopped = state(1, 4, healthy=False)
    stopped["metrics"]["healthy"] = 0.0
    joined = joined_state({"a": state(1, 4), "b": stopped}, WORKERS, 0)
    assert joined["healthy"] is False
    assert joined["metrics"]["healthy"] == 0


def test_answers_are_numbered_by_their_ends() -> None:
    states = {
        "a": state(1, 4, recent=[answer(1, 990.0, 500.0), answer(2, 989.0, 3000.0)]),
        "b": state(1, 4, recent=[answer(1, 991.0, 0.0), answer(9, 991.0, 1000.0)]),
    }
    recent = joined_state(states, WORKERS, 0)["recent"]
    assert [(one["worker"], one["number"]) for one in recent] == [
        ("a", 990_500_000),
        ("b", 991_000_000),
        ("a", 992_000_000),
        ("b", 992_000_001),  # of equal ends, one comes after the other
    ]
    later = joined_state(states, WORKERS, recent[1]["number"])
    assert later["recent"] == recent[2:]
    assert later["figures"]["ttft_p50_ms"] == 1, "the figures are of all answers"


def test_an_answer_is_never_numbered_below_what_was_reported() -> None:
    """The document of `b` is newer: its answer is listed when the document of `a` is as new."""
    fresh = [answer(1, 1004.0, 0.0)]
    first = {"a": state(1, 4), "b": state(1, 4, time=1005.0, recent=fresh)}
    assert joined_state(first, WORKERS, 0)["recent"] == []
    missed = [answer(1, 1003.0, 0.0)]
    second = {
        "a": state(1, 4, time=1006.0, recent=missed),
        "b": state(1, 4, time=1005.0, recent=fresh),
    }
    ends = [one["number"] for one in joined_state(second, WORKERS, 0)["recent"]]
    assert ends == [1_003_000_000, 1_004_000_000]


@pytest.mark.parametrize(("first", "second"), [(1, 1), (1, 2), (2, 3), (3, 1)])
def test_large_pools_share_the_cells(first: int, second: int) -> None:
    """Cells of unequal numbers of blocks become cells of one number."""
    states = {
        name: state(1, 4, blocks={"total": cells * size, "block_size": 16, "blocks_per_cell": size,
                                  "cells": "u" * cells})
        for name, size, cells in (("a", first, 2000), ("b", second, 1500))
    }  # fmt: skip
    blocks = joined_state(states, WORKERS, 0)["blocks"]
    assert len(blocks["cells"]) <= 2048
    assert set(blocks["cells"]) == {"u"}
    assert len(blocks["cells"]) * blocks["blocks_per_cell"] == pytest.approx(
        blocks["total"], rel=0.25
    )


def test_a_cell_has_the_state_of_most_of_its_blocks() -> None:
    cells = "uuc" * 700
    map_of = {"total": 2100, "block_size": 16, "blocks_per_cell": 1, "cells": cells}
    joined = joined_state({"a": state(1, 4, blocks=map_of)}, WORKERS[:1], 0)["blocks"]
    assert joined["blocks_per_cell"] == 2
    assert joined["cells"][:3] == "ucc"  # uu cu uc: of two equal ones, that which is less held
