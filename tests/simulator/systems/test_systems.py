"""Each mechanism, switched off, makes its own figure worse by the amount stated here."""

from __future__ import annotations

from functools import cache

import pytest

from maskwright_sim.outcome.highest_rate import highest_rate
from maskwright_sim.systems.claim import MechanismClaim, SystemReport
from maskwright_sim.systems.names import SYSTEMS

WORSE: dict[str, list[tuple[str, float]]] = {
    "orca": [("tokens/s", 2.0), ("requests/s", 2.0), ("pipelined", 1.1)],
    "vllm": [("unused", 50.0), ("tokens/s", 1.5), ("answered", 1.5), ("computed again", 100.0)],
    "sarathi": [("512", 10.0), ("decaying", 1.5), ("short prompts", 1.02), ("idle", 1.1)],
    "sglang": [("tree", 2.0), ("first", 1.5), ("within a block", 1.5), ("routing", 1 / 0.6)],
    "tensorrt-llm": [("in-flight", 1.5), ("as answers grow", 1.1)],
    "distserve": [("apart", 1.785), ("our scheduler", 1.2)],
    "splitwise": [
        ("layer", 5.0),
        ("shortest queue", 1.2),
        ("2,048", 1.2),
        ("mixed pool", 2.0),
        ("ageing", 2.0),
        ("dollar", 1.05),
        ("one pool", 1.2),
    ],
    "tetriinfer": [("apart", 1.5), ("shortest prompt", 1.05), ("predicted", 1.02), ("flip", 1.2)],
    "memserve": [
        ("Caching-3", 1.5),
        ("Caching-2", 3.0),
        ("aggregated", 80.0),
        ("low", 1.1),
        ("high", 1.1),
    ],
    "rtp-llm": [("three", 1.2), ("8 bits", 1.5), ("4 bits", 2.0), ("devices", 1.2)],
    "mooncake": [
        ("together", 2.0),
        ("early", 2.0),
        ("before", 1.5),
        ("predicted", 1.02),
        ("copies", 1.5),
        ("DRAM", 1.2),
        ("SSD", 1.3),
        ("by layer", 1.1),
        ("pipeline", 1.5),
    ],
}
"""For each system its claims in order: a word of each, and how many times worse the figure is at
least without the mechanism."""


@cache
def report(name: str) -> SystemReport:
    return SYSTEMS[name](0.6)


def test_every_system_is_held() -> None:
    assert set(WORSE) == set(SYSTEMS)


@pytest.mark.parametrize("name", WORSE)
def test_a_mechanism_switched_off_makes_its_figure_worse(name: str) -> None:
    claims = report(name).claims
    assert len(claims) == len(WORSE[name])
    for claim, (word, least) in zip(claims, WORSE[name], strict=True):
        assert word in f"{claim.mechanism} {claim.figure}"
        assert claim.worse >= least, claim


def test_orca_gains_what_the_text_reports() -> None:
    """2-3 times the throughput of static batches of equal size."""
    assert 2.0 <= report("orca").claims[0].worse <= 3.0


def test_reserved_memory_is_wasted_as_computed_by_hand() -> None:
    waste = report("vllm").claims[0]
    lengths = (47, 183, 12, 891, 256, 5, 1024, 73, 330, 15)
    blocks = sum(-(-length // 16) for length in lengths)
    assert waste.on == pytest.approx(100 * (1 - sum(lengths) / (16 * blocks)))
    assert waste.off == pytest.approx(86.2, abs=0.1)


def test_all_of_20_requests_are_answered_from_32_blocks() -> None:
    rows = report("vllm").tables["20 requests, 32 blocks of 16, batch of 4"]
    by_name = {row["preemption"]: row for row in rows}
    assert by_name["recompute"]["answered"] == by_name["swap"]["answered"] == 20
    assert by_name["recompute"]["preempted"] > 0  # type: ignore[operator]


def test_the_sweep_of_chunks_is_that_of_the_text() -> None:
    """Chunks of 512 instead of a whole prompt: 15 for 200 ms, for 240 instead of 200 ms."""
    (rows,) = report("sarathi").tables.values()
    gaps = [float(row["worst gap ms"]) for row in rows]  # type: ignore[arg-type]
    ttft = [float(row["TTFT ms"]) for row in rows]  # type: ignore[arg-type]
    assert gaps == sorted(gaps)
    assert ttft == sorted(ttft, reverse=True)
    chosen = next(at for at, row in enumerate(rows) if row["chunk"] == "512")
    assert gaps[chosen] == pytest.approx(15, rel=0.1)
    assert ttft[chosen] == pytest.approx(240, rel=0.1)
    assert gaps[-1] == pytest.approx(200, rel=0.1)
    assert ttft[-1] == pytest.approx(200, rel=0.1)


def test_split_machines_gain_what_distserve_reports() -> None:
    """2.1 times the goodput of combined ones, within 15 %; and the rates of the text, near which
    two constants of the cost model were chosen, within 15 %."""
    assert report("distserve").claims[0].worse == pytest.approx(2.1, rel=0.15)
    (rows,) = report("distserve").tables.values()
    for row in rows:
        if row["text"] is not None:
            assert row["requests/s"] == pytest.approx(row["text"], rel=0.15), row


def test_only_caching_3_keeps_answers() -> None:
    """By the second turn, the prefill engine has the answer of the first one only if it was
    returned."""
    rows = report("memserve").tables["prompt tokens in the prefill engine's cache, %, by turn"]
    second = [float(row["turn 2"]) for row in rows]  # type: ignore[arg-type]
    assert second[0] == second[1] < second[2] - 20


def test_a_decode_step_is_several_times_as_long_beside_a_prompt() -> None:
    """The text reports 5 times beside a heavy prefill, and slower prefills above 7 decodes."""
    tables = report("tetriinfer").tables
    times = {
        row["prompt tokens"]: row["times"] for row in tables["a decode step beside a prompt, ms"]
    }
    assert times[64] == pytest.approx(1.0, abs=0.01)
    assert 3.0 < float(times[512] or 0) < 5.0 < float(times[1024] or 0)  # type: ignore[arg-type]
    decodes = tables["a prompt of 18 tokens beside light decodes, ms"]
    assert [row["decodes"] for row in decodes if float(row["times"] or 0) > 1.25] == [31, 127, 255]  # type: ignore[arg-type]


def test_worse_is_above_one_if_the_mechanism_helps() -> None:
    assert MechanismClaim("m", "s", 1.0, 3.0).worse == 3.0
    assert MechanismClaim("m", "1/s", 3.0, 1.0, higher=True).worse == 3.0
    assert MechanismClaim("m", "lost", 0.0, 2.0).worse == float("inf")
    assert MechanismClaim("m", "lost", 0.0, 0.0).worse == 1.0


def test_the_highest_rate_is_found() -> None:
    assert highest_rate(lambda rate: rate <= 3.3, 0.0, 8.0, 12) == pytest.approx(3.3, abs=0.01)
    assert highest_rate(lambda rate: True, 0.0, 8.0) == 8.0
    assert highest_rate(lambda rate: False, 0.0, 8.0) == 0.0
