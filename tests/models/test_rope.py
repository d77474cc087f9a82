"""Tables of rotary embeddings; tests/models/test_config.py has the angles of the library."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest
import torch

from maskwright.models.config import RopeConfig
from maskwright.models.dense import inverse_frequencies, rope_table

WIDTH = 64
THETA = 10_000.0
PLAIN = [THETA ** (-2 * pair / WIDTH) for pair in range(WIDTH // 2)]
LLAMA3: dict[str, Any] = {
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 1024,
}
YARN: dict[str, Any] = {"factor": 4.0, "original_max_position_embeddings": 2048}


def rope(kind: Any = "default", **parameters: Any) -> RopeConfig:
    return RopeConfig(kind=kind, theta=THETA, parameters=parameters)


def frequencies(config: RopeConfig) -> list[float]:
    return inverse_frequencies(config, WIDTH)[0].tolist()


def test_default_frequencies_fall_geometrically() -> None:
    assert frequencies(rope()) == pytest.approx(PLAIN, rel=1e-6)
    assert inverse_frequencies(rope(), WIDTH)[1] == 1.0


def test_linear_divides_all_of_them() -> None:
    found = frequencies(rope("linear", factor=2.5))
    assert found == pytest.approx([each / 2.5 for each in PLAIN], rel=1e-6)


def test_llama3_divides_long_wavelengths_alone() -> None:
    """Wavelengths up to 1024 / 4 stay, above 1024 / 1 they are divided, between is a ramp."""
    found = frequencies(rope("llama3", **LLAMA3))
    for mine, plain in zip(found, PLAIN, strict=True):
        wavelength = 2 * math.pi / plain
        if wavelength < 256:
            assert mine == pytest.approx(plain, rel=1e-5)
        elif wavelength > 1024:
            assert mine == pytest.approx(plain / 8, rel=1e-5)
        else:
            share = (1024 / wavelength - 1) / 3
            assert mine == pytest.approx((1 - share) * plain / 8 + share * plain, rel=1e-5)
    assert {2 * math.pi / plain < 256 for plain in PLAIN} == {True, False}


def test_yarn_keeps_high_frequencies_and_divides_low_ones() -> None:
    found = frequencies(rope("yarn", **YARN))
    ratios = [plain / mine for mine, plain in zip(found, PLAIN, strict=True)]
    assert ratios[0] == pytest.approx(1.0, rel=1e-5)
    assert ratios[-1] == pytest.approx(4.0, rel=1e-5)
    assert all(one <= other * (1 + 1e-5) for one, other in itertools.pairwise(ratios))
    assert len([ratio for ratio in ratios if 1.01 < ratio < 3.99]) > 2, "a ramp between them"


FACTORS: list[tuple[dict[str, Any], float]] = [
    # parameters beside those of `YARN`, and the factor of the cosines and sines
    ({}, 0.1 * math.log(4) + 1),
    ({"attention_factor": 1.5}, 1.5),
    ({"attention_factor": 2}, 2.0),
    ({"factor": 1.0}, 1.0),
    ({"factor": 0.5}, 1.0),
    ({"mscale": 2.0}, 0.1 * math.log(4) + 1),  # it needs the other one too
    (
        {"mscale": 2.0, "mscale_all_dim": 3.0},
        (0.2 * math.log(4) + 1) / (0.3 * math.log(4) + 1),
    ),
    ({"mscale": 1.0, "mscale_all_dim": 1.0}, 1.0),
]


@pytest.mark.parametrize(("more", "factor"), FACTORS, ids=str)
def test_the_factor_of_yarn(more: dict[str, Any], factor: float) -> None:
    found = inverse_frequencies(rope("yarn", **{**YARN, **more}), WIDTH)[1]
    assert found == pytest.approx(factor, rel=1e-9)


def test_the_table_rotates_by_an_angle_that_grows_with_the_position() -> None:
    cosines, sines = rope_table(rope(), WIDTH, 5)
    assert cosines.shape == sines.shape == (5, 1, WIDTH)
    assert cosines.dtype == torch.float32
    for position in range(5):
        for pair, frequency in enumerate(PLAIN):
            angle = position * frequency
            for at, sign in ((pair, -1), (pair + WIDTH // 2, 1)):
                assert float(cosines[position, 0, at]) == pytest.approx(math.cos(angle), abs=1e-5)
                assert float(sines[position, 0, at]) == pytest.approx(
                    sign * math.sin(angle), abs=1e-5
                )


def test_the_factor_scales_the_table() -> None:
    plain = rope("yarn", **YARN, attention_factor=1.0)
    scaled = rope("yarn", **YARN, attention_factor=1.5)
    for one, other in zip(rope_table(plain, WIDTH, 3), rope_table(scaled, WIDTH, 3), strict=True):
        torch.testing.assert_close(other, 1.5 * one)
