"""Values go from one process to another, small ones in a message, large ones in a file."""

from __future__ import annotations

import gc
import os
import subprocess
import sys

from maskwright.processes.messages import LARGE, Parcel, opened


def test_a_small_value_is_in_the_message() -> None:
    parcel = Parcel({"a": [1, None]})
    assert isinstance(parcel.sent, bytes)
    assert opened(parcel.sent) == {"a": [1, None]}


def test_a_large_value_is_in_a_file_that_another_process_can_read() -> None:
    parcel = Parcel({"a": "x" * LARGE})
    assert isinstance(parcel.sent, str)
    assert opened(parcel.sent) == {"a": "x" * LARGE}
    assert opened(parcel.sent) == {"a": "x" * LARGE}, "any number of times"
    program = "import pickle, sys; print(len(pickle.load(open(sys.argv[1], 'rb'))['a']))"
    found = subprocess.run(
        [sys.executable, "-c", program, parcel.sent], capture_output=True, text=True, check=True
    )
    assert int(found.stdout) == LARGE


def test_the_file_goes_with_its_parcel() -> None:
    parcel = Parcel(b"x" * LARGE)
    path = parcel.sent
    assert isinstance(path, str)
    assert os.path.exists(path)
    del parcel
    gc.collect()
    assert not os.path.exists(path)
