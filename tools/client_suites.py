"""Run the tests of client libraries against a real server, each in an environment of its own.

python tools/client_suites.py                    # all of them, as `make test-clients` does
python tools/client_suites.py langchain node     # some of them
python tools/client_suites.py --list             # their names

A client library is a file of requirements in tests/clients/requirements. Its environment, in the
folder .clients, holds the library and pytest, and neither this package nor torch: the server runs
with the Python that runs this script. A library of Node.js has a package.json beside that file, and
is left out, with a line that says so, where there is no npm. The exit code is 1 if a test failed or
an environment could not be made.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.api.served_process import served_process  # noqa: E402

TESTS = ROOT / "tests" / "clients"
REQUIREMENTS = TESTS / "requirements"
ENVIRONMENTS = ROOT / ".clients"
QUIET = {
    "AGNO_TELEMETRY": "false",
    "HAYSTACK_TELEMETRY_ENABLED": "False",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "OPENAI_AGENTS_DISABLE_TRACING": "1",
}
"""Variables that keep libraries from asking any server but ours."""
RUNNER = ["pytest>=9", "pytest-timeout>=2.4"]


def libraries() -> list[str]:
    """The names of all client libraries, which are the names of their files of requirements."""
    return sorted(path.stem for path in REQUIREMENTS.glob("*.txt"))


def environment(name: str) -> Path:
    """The Python of a library's environment, made anew if its requirements have changed."""
    folder = ENVIRONMENTS / name
    requirements = REQUIREMENTS / f"{name}.txt"
    packages = REQUIREMENTS / f"{name}.json"
    asked = (requirements.read_text(), RUNNER, packages.read_text() if packages.exists() else "")
    wanted = hashlib.sha256(repr(asked).encode()).hexdigest()
    ready, python = folder / "ready", folder / "bin" / "python"
    if not (ready.exists() and ready.read_text() == wanted):
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        install = [python, "-m", "pip", "install", "--quiet", "--requirement", requirements]
        subprocess.run([*install, *RUNNER], check=True)
        if packages.exists():
            shutil.copy(packages, folder / "package.json")
            quiet = ["--no-audit", "--no-fund", "--loglevel=error"]
            subprocess.run(["npm", "install", *quiet], cwd=folder, check=True)
        ready.write_text(wanted)
    return python


def tests_of(name: str) -> list[str]:
    """The test files of a library. A number at the end of its name is that of a version."""
    plain = name.rstrip("0123456789")
    found = sorted(TESTS.rglob(f"test_{plain}.py")) + sorted(TESTS.rglob(f"test_{plain}_*.py"))
    return [str(path.relative_to(ROOT)) for path in (*found, TESTS / "test_documentation.py")]


def run(name: str, url: str) -> bool:
    """Whether the tests of a library pass, with the server at `url`."""
    started = time.monotonic()
    print(f"\n== {name}", flush=True)
    if (REQUIREMENTS / f"{name}.json").exists() and shutil.which("npm") is None:
        print(f"{name}: left out, needs node and npm (Debian: nodejs npm)")
        return True
    try:
        python = environment(name)
    except subprocess.CalledProcessError as error:
        print(f"{name}: no environment, {error}", file=sys.stderr)
        return False
    made = time.monotonic()
    command = [python, "-m", "pytest", "-q", "--rootdir", ".", "-c", "tests/clients/family.ini"]
    variables = {**os.environ, **QUIET, "MASKWRIGHT_URL": url}
    ended = subprocess.run([*command, *tests_of(name)], cwd=ROOT, env=variables, check=False)
    print(f"{name}: environment {made - started:.0f} s, tests {time.monotonic() - made:.0f} s")
    return ended.returncode == 0


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="of a client library; default all")
    parser.add_argument("--list", action="store_true", help="print the names")
    options = parser.parse_args()
    if options.list:
        print("\n".join(libraries()))
        return 0
    if unknown := set(options.names) - set(libraries()):
        parser.error(f"no {', '.join(sorted(unknown))}; there are {', '.join(libraries())}")
    with (
        tempfile.TemporaryDirectory() as folder,
        served_process("--batch-folder", folder) as server,
    ):
        failed = [name for name in options.names or libraries() if not run(name, server.url)]
    print(f"\nfailed: {', '.join(failed)}" if failed else "\nall passed")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
