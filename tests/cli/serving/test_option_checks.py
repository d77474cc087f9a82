from __future__ import annotations

import re
from pathlib import Path

import pytest

from maskwright.cli.serving.serve import (
    adapter_folders,
    check_replicated,
    with_objectives,
)
from maskwright.engine.schedule.service import CLASSES
from maskwright.errors import InputError


def test_objectives_are_of_classes() -> None:
    first, second, third = with_objectives(CLASSES, ["interactive=1.5", "agent=9"], ["agent=0.1"])
    assert (first.ttft, first.tpot, first.weight) == (1.5, None, CLASSES[0].weight)
    assert (second.ttft, second.tpot, third) == (9.0, 0.1, CLASSES[2])
    for given, message in (
        ("bulk=1", "classes are interactive, agent, batch"),
        ("agent", "''"),
        ("agent=soon", "'soon' is no number"),
        ("agent=-1", "above 0"),
    ):
        with pytest.raises(InputError, match=re.escape(message)):
            with_objectives(CLASSES, [], [given])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["a"], "--adapter a: NAME=FOLDER is needed"),
        (["=b"], "--adapter =b: NAME=FOLDER is needed"),
        (["a="], "--adapter a=: NAME=FOLDER is needed"),
        (["a=b", "a=c"], "--adapter: a is given twice"),
    ],
)
def test_an_adapter_is_a_name_and_a_folder(given: list[str], message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        adapter_folders(given)
    assert adapter_folders(["a=b", "c=d=e"]) == {"a": Path("b"), "c": Path("d=e")}


@pytest.mark.parametrize(("tls", "folder"), [("cert.pem", None), (None, Path("batches"))])
def test_what_replicas_can_not_do_is_refused(tls: str | None, folder: Path | None) -> None:
    with pytest.raises(InputError, match="--replicas"):
        check_replicated(tls, folder)
    check_replicated(None, None)
