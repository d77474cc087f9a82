"""Run the tests of the extension modules in builds that check what C doesn't.

    python tools/sanitize.py [--builds checked,sanitized] [TESTS …]

TESTS: arguments of pytest instead of the tests of reading schemas, of languages, of the machine,
leaves, masks and vocabularies, of draws and plain rows, of the small decoder, and of the bodies of
requests.
`checked`: memory views check their bounds, and divisions their divisor. `sanitized`: so they do,
and GCC's sanitizers check each access to memory and what C leaves undefined. Each build is made in
a copy of the tracked files, so that the modules of this checkout stay as they are. Hostile input
reaches this code, so the tests include random schemas and texts (`tests/native/test_fuzzed.py`),
and take about an hour on two cores.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
BUILDS: Final = ("checked", "sanitized")
TESTS: Final = (
    *("tests/native/test_fuzzed.py", "tests/test_garbage.py"),
    *("tests/grammar/schema", "tests/automaton/json"),
    *("tests/grammar/regular", "tests/grammar/shape/test_evident.py"),
    *("tests/automaton/machine", "tests/automaton/leaf", "tests/automaton/rules"),
    *("tests/mask", "tests/vocab"),
    *("tests/sampling/test_bans.py", "tests/sampling/test_chain.py", "tests/sampling/test_draw.py"),
    *("tests/sampling/test_penalties.py", "tests/sampling/test_scores.py", "tests/engine/request"),
    *("tests/engine/schedule", "tests/engine/step/test_batch.py", "tests/engine/step/test_core.py"),
    *("tests/engine/step/test_plain_rows.py", "tests/models/compiled"),
    *("tests/models/test_batch.py", "tests/processes/test_follower.py"),
    *("tests/processes/test_learned.py", "tests/server/test_prompt_sizes.py"),
)
TEST_SECONDS: Final = 3600
"""The limit of a test, which takes ten times as long in these builds as in others."""


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--builds", default=",".join(BUILDS), help="names, with commas")
    parser.add_argument("--list", action="store_true", help="print what would be run")
    parser.add_argument("tests", nargs="*", default=["--slow", *TESTS])
    options = parser.parse_args()
    builds: list[str] = options.builds.split(",")
    if unknown := sorted(set(builds) - set(BUILDS)):
        parser.error(f"there is no build {unknown[0]!r}; there are {', '.join(BUILDS)}")
    if options.list:
        print("\n".join(f"{build}: pytest {' '.join(options.tests)}" for build in builds))
        return 0
    return max([run(build, options.tests) for build in builds])


def run(build: str, tests: list[str]) -> int:
    """Build in a copy, and run the tests there. Returns the exit status of pytest."""
    with tempfile.TemporaryDirectory(prefix=f"maskwright-{build}-") as name:
        copy = Path(name, "repository")
        copy_tracked(copy)
        environment = {**os.environ, "MASKWRIGHT_BUILD": build, "PYTHONPATH": str(copy / "src")}
        command = [sys.executable, "setup.py", "--quiet", "build_ext", "--inplace"]
        subprocess.run(command, cwd=copy, env=environment, check=True)
        if build == "sanitized":
            environment |= sanitizers()
        options = ("-q", "-p", "no:cacheprovider", "--timeout", str(TEST_SECONDS))
        command = [sys.executable, "-m", "pytest", *options, *tests]
        print(f"{build}: {' '.join(command[1:])}", flush=True)
        return subprocess.run(command, cwd=copy, env=environment, check=False).returncode


def sanitizers() -> dict[str, str]:
    """The variables with which a process loads the sanitizers before anything else, and ends at
    the first fault. Python's own allocator would hide the bounds of small objects."""
    compiler = os.environ.get("CC", "gcc").split()[0]
    libraries = [
        subprocess.run(
            [compiler, f"-print-file-name={name}"], capture_output=True, text=True, check=True
        ).stdout.strip()
        for name in ("libasan.so", "libubsan.so")
    ]
    return {
        "LD_PRELOAD": " ".join(libraries),
        "PYTHONMALLOC": "malloc",
        # Python and torch keep memory until the end, and torch's libraries declare things twice.
        "ASAN_OPTIONS": "detect_leaks=0:detect_odr_violation=0:abort_on_error=1",
        "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1:abort_on_error=1",
    }


def copy_tracked(target: Path) -> None:
    """Copy what git tracks or would track, with symbolic links as such."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    for name in filter(None, listing.split("\0")):
        source = ROOT / name
        if source.is_symlink() or source.is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target / name, follow_symlinks=False)
    shared = ROOT.parent / "shared"
    if shared.exists():  # data that tests look for beside the checkout
        (target.parent / "shared").symlink_to(shared)


if __name__ == "__main__":
    sys.exit(main())
