"""How many replicas have which role."""

from __future__ import annotations

import pytest

from maskwright.cli.fleet.route import roles_of
from maskwright.errors import InputError


@pytest.mark.parametrize(
    ("asked", "roles"),
    [
        ((1, 0, 0), ["both"]),
        ((3, 0, 0), ["both"] * 3),
        ((1, 1, 1), ["prefill", "decode"]),
        ((3, 1, 2), ["prefill", "decode", "decode"]),
        ((4, 1, 2), ["prefill", "decode", "decode", "both"]),
    ],
)
def test_replicas_without_a_role_do_both(asked: tuple[int, int, int], roles: list[str]) -> None:
    assert roles_of(*asked) == roles


@pytest.mark.parametrize(
    ("asked", "param"), [((4, 2, 0), "prefill"), ((1, 0, 1), "decode"), ((2, 2, 1), "replicas")]
)
def test_what_does_not_fit_is_refused(asked: tuple[int, int, int], param: str) -> None:
    with pytest.raises(InputError) as caught:
        roles_of(*asked)
    assert caught.value.param == param
