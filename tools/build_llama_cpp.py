"""Build llama-cpp-python for its tests and install it. `make llama-cpp` and `.ci/run` run this.

python tools/build_llama_cpp.py            # into the environment of this Python
python tools/build_llama_cpp.py --flags    # print what is passed to CMake instead

The package index has its sources only. What the tests don't need is left out, and nothing is
optimised: that takes less than two minutes instead of seven. The wheel is kept in the user's
cache, in Maskwright's own folder: pip's would give it to other projects as well, where such a slow
build would do harm. Where it can't be built, this says why and exits with 1, and the tests are
skipped.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from maskwright.user_cache import user_cache

ROOT = Path(__file__).resolve().parent.parent
CONSTRAINTS = ROOT / "constraints.txt"
PACKAGE = "llama_cpp_python"
LEFT_OUT = (
    *("LLAVA_BUILD", "GGML_OPENMP", "GGML_LLAMAFILE", "GGML_CPU_REPACK"),
    # The kept wheel has to run on whatever machine has the cache.
    *("GGML_NATIVE", "GGML_SSE42", "GGML_AVX", "GGML_AVX2", "GGML_BMI2", "GGML_FMA", "GGML_F16C"),
)
PLAIN = "-O0"
HOOK = "set(LLAMA_BUILD_COMMON OFF)\n"
"""Read after each `project` of CMake: the sources insist on building tools for command lines, which
an ordinary variable of this name hides."""


def flags(hook: str) -> str:
    """What CMake is given; `hook`: the path of a file with `HOOK`."""
    switches = [f"-D{name}=OFF" for name in LEFT_OUT]
    plain = [f"-DCMAKE_{language}_FLAGS_RELEASE={PLAIN}" for language in ("C", "CXX")]
    return " ".join([*switches, *plain, f"-DCMAKE_PROJECT_INCLUDE={hook}"])


def wanted() -> str:
    """The version in constraints.txt."""
    [found] = re.findall(rf"^{PACKAGE}==(\S+)$", CONSTRAINTS.read_text(), re.MULTILINE)
    return found


def installed() -> str | None:
    """The version in this environment."""
    try:
        return version(PACKAGE)
    except PackageNotFoundError:
        return None


def compiler() -> str | None:
    """The C++ compiler that CMake would find."""
    names = (os.environ.get("CXX", ""), "c++", "g++", "clang++")
    return next((path for name in names if name and (path := shutil.which(name))), None)


def kept(folder: Path) -> Path | None:
    """The wheel in a folder."""
    return next(iter(sorted(folder.glob("*.whl"))), None)


def build(folder: Path) -> Path:
    """Build the wheel and keep it in `folder`. Raises `subprocess.CalledProcessError`."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as scratch:
        hook = Path(scratch) / "hook.cmake"
        hook.write_text(HOOK)
        pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-cache-dir"]
        command = [*pip, "--wheel-dir", scratch, f"{PACKAGE}=={wanted()}"]
        subprocess.run(command, check=True, env={**os.environ, "CMAKE_ARGS": flags(str(hook))})
        made = kept(Path(scratch))
        assert made is not None, "pip has built no wheel"
        folder.mkdir(parents=True, exist_ok=True)
        # Under another name first: a run beside this one finds a whole wheel or none.
        part = folder / f"{os.getpid()}.part"
        shutil.copyfile(made, part)
        part.replace(folder / made.name)
    print(f"{PACKAGE} {wanted()} was built in {time.monotonic() - began:.0f} s", flush=True)
    return folder / made.name


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--flags", action="store_true", help="print what is passed to CMake")
    if parser.parse_args().flags:
        print(flags("HOOK"))
        return 0
    if installed() == wanted():
        print(f"{PACKAGE} {wanted()} is installed")
        return 0
    facts = (wanted(), flags("HOOK"), HOOK, platform.machine(), platform.libc_ver())
    digest = hashlib.sha256(repr(facts).encode()).hexdigest()[:16]
    with tempfile.TemporaryDirectory() as scratch:
        folder = (user_cache() or Path(scratch)) / "llama-cpp" / digest
        wheel = kept(folder)
        if wheel is None and compiler() is None:
            print(f"{PACKAGE} needs a C++ compiler, and there is none", file=sys.stderr)
            return 1
        try:
            wheel = wheel or build(folder)
            install = [sys.executable, "-m", "pip", "install", "--quiet"]
            others = ["--constraint", str(CONSTRAINTS), "gguf"]
            subprocess.run([*install, str(wheel), *others], check=True)
        except subprocess.CalledProcessError as error:
            print(f"{PACKAGE} could not be installed: {error}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
