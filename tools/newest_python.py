"""Install Maskwright without constraints under the newest Python that is found, and try it there.
`make smoke` and `.ci/run` run this.

    python tools/newest_python.py [--seconds 300]
    python tools/newest_python.py --find    # only say which Python that is

The newest releases of what Maskwright needs may differ from the ones in constraints.txt, and come
earliest for the newest Python. Torch is installed if there is time: its ordinary wheels bring
libraries for GPUs, which are several GB. Where it can't be had, `tools/smoke.py` leaves out what
needs it and says so.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OLDEST = (3, 11)
TORCH = "torch"
SOURCE = (
    *("pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE"),
    *("src", "kernels", "grammars", "schemas"),
)
"""Of the repository: what a wheel is built from."""
SMOKE_S = 90.0
"""Seconds that are kept for trying what is installed."""

Version = tuple[int, int]


def candidates() -> list[Path]:
    """Pythons on the path and those that pyenv has installed."""
    folders = [Path(folder) for folder in os.environ.get("PATH", "").split(os.pathsep) if folder]
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    folders += [path / "bin" for path in pyenv.glob("versions/*")]
    found = [path for folder in folders for path in folder.glob("python3*")]
    return [path for path in found if re.fullmatch(r"python3(\.\d+)?", path.name)]


def asked(python: Path) -> Version | None:
    """The version of a Python that can make environments; None of anything else."""
    program = "import ensurepip, venv, sys; print(*sys.version_info[:2], sys.version_info[3])"
    try:
        ended = subprocess.run(
            [python, "-I", "-c", program], capture_output=True, text=True, timeout=30, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    major, minor, level = ended.stdout.split()
    return (int(major), int(minor)) if level == "final" else None


def newest(pythons: Iterable[Path]) -> tuple[Version, Path] | None:
    """The newest of some Pythons that Maskwright runs on."""
    versions = {path: asked(path) for path in dict.fromkeys(map(Path.resolve, pythons))}
    known = [(version, path) for path, version in versions.items() if version is not None]
    return max((each for each in known if each[0] >= OLDEST), default=None)


def needed() -> list[str]:
    """What pyproject.toml demands, without torch."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return [each for each in project["dependencies"] if not re.match(rf"{TORCH}\b", each)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=300.0, help="that all of it may take")
    parser.add_argument("--find", action="store_true", help="install and try nothing")
    options = parser.parse_args()
    end = time.monotonic() + options.seconds
    found = newest(candidates())
    if found is None:
        print(f"no Python of at least {'.'.join(map(str, OLDEST))} was found", file=sys.stderr)
        return 1
    _, python = found
    print(f"the newest Python is {python}", flush=True)
    if options.find:
        return 0
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([python, "-m", "venv", folder], check=True)
        mine = Path(folder) / "bin" / "python"
        pip = [str(mine), "-m", "pip", "install", "-qq", "--disable-pip-version-check"]
        subprocess.run([*pip, *needed()], check=True)
        subprocess.run([*pip, "--no-deps", str(_source(Path(folder) / "source"))], check=True)
        _install_torch(pip, end - SMOKE_S - time.monotonic())
        # From elsewhere, so that it is what was installed that runs.
        smoke = [str(mine), str(ROOT / "tools" / "smoke.py")]
        left = max(SMOKE_S, end - time.monotonic())
        try:
            return subprocess.run(smoke, cwd=folder, timeout=left, check=False).returncode
        except subprocess.TimeoutExpired:
            print(f"the smoke did not end within {left:.0f} s", file=sys.stderr)
            return 1


def _source(folder: Path) -> Path:
    """A copy of what a wheel is built from: what builds in the checkout meanwhile is left alone."""
    for name in SOURCE:
        if (ROOT / name).is_dir():
            ignored = shutil.ignore_patterns("*.so", "*.c", "*.cpp", "*.egg-info", "__pycache__")
            shutil.copytree(ROOT / name, folder / name, symlinks=True, ignore=ignored)
        else:
            folder.mkdir(exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    return folder


def _install_torch(pip: list[str], seconds: float) -> None:
    if seconds <= 0:
        print("no time was left to install torch", flush=True)
        return
    index = os.environ.get("TORCH_CPU_INDEX")
    command = [*pip, *([f"--extra-index-url={index}"] if index else []), TORCH]
    began = time.monotonic()
    try:
        subprocess.run(command, timeout=seconds, check=True)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        print(f"torch could not be installed within {seconds:.0f} s: {error}", flush=True)
        # What has been unpacked until then would be taken for torch.
        for half in Path(pip[0]).parents[1].glob("lib/python*/site-packages/torch*"):
            shutil.rmtree(half)
    else:
        print(f"torch was installed in {time.monotonic() - began:.0f} s", flush=True)


if __name__ == "__main__":
    sys.exit(main())
