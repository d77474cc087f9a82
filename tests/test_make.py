"""`make run` tries its port before it installs anything."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

_OF_MAKE = {"MASKWRIGHT_PORT", "MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES"}

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")


def make(tmp_path: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run `make` with an environment that nothing has been installed into, as from a shell: where
    the tests run below `make`, its variables would change what is printed."""
    own = {name: value for name, value in os.environ.items() if name not in _OF_MAKE}
    return subprocess.run(
        ["make", *arguments, f"VENV={tmp_path / 'venv'}", f"PYTHON={sys.executable}"],
        cwd=ROOT,
        env=own | variables,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("way", ["PORT", "MASKWRIGHT_PORT"])
def test_a_port_that_is_taken_is_said_before_anything_is_installed(
    tmp_path: Path, way: str
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        if way == "PORT":
            found = make(tmp_path, "run", f"PORT={port}", MASKWRIGHT_PORT="0")
        else:
            found = make(tmp_path, "run", MASKWRIGHT_PORT=port)
    assert found.returncode == 2
    assert found.stderr.splitlines()[0] == (
        f"make run: can't listen on 127.0.0.1 port {port}: Address already in use; PORT=N takes "
        "another port, PORT=0 a free one"
    )
    assert not (tmp_path / "venv").exists()


@pytest.mark.parametrize(("given", "option"), [(("PORT=9000",), " --port 9000"), ((), "")])
def test_the_server_gets_the_port(tmp_path: Path, given: tuple[str, ...], option: str) -> None:
    last = make(tmp_path, "-n", "run", *given).stdout.splitlines()[-1]
    assert last.rstrip() == f"{tmp_path}/venv/bin/maskwright serve{option}"


@pytest.mark.parametrize("port", ["0", "abc", "70000"])
def test_what_can_be_said_later_is_left_to_the_server(port: str) -> None:
    """The script needs nothing that is installed."""
    command = [sys.executable, "-S", "-I", str(ROOT / "tools/try_port.py"), port]
    assert subprocess.run(command, check=False).returncode == 0
