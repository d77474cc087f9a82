"""What every test folder shares: the switches `gpu`, `slow` and `--uneven-products`, and the shared
data."""

from __future__ import annotations

import gc
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from maskwright.cli.process.environment import prepare_environment

prepare_environment()  # before any test imports torch; the command line does likewise
with suppress(ImportError):  # so that tests have kernels, which some compile for absent GPUs
    import_module("triton")

# What an example takes depends on the processor, its load, and what has been compiled.
settings.register_profile("any", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any")

ROOT = Path(__file__).resolve().parent.parent


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="also run the tests marked slow")
    parser.addoption(
        "--uneven-products",
        action="store_true",
        help="let the bits of torch's matrix products depend on the number of rows",
    )


def pytest_sessionstart() -> None:
    gc.disable()  # while the tests are collected, when nearly all that is made stays


def pytest_collection_finish() -> None:
    gc.enable()


LONGEST = ("test_scripts.py", "test_interpreter.py", "test_device.py", "test_static.py")
"""Files that take minutes, the longest first."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip what this machine or this run can't do; `-ra` in pyproject.toml prints each reason. The
    longest files come first, so that no process is left alone with one at the end."""
    order = {name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: order.get(item.path.name, len(order)))
    import torch  # noqa: PLC0415  (half a second that `pytest --help` need not pay)

    absent: dict[str, str] = {}
    if not torch.cuda.is_available():
        absent["gpu"] = "needs an NVIDIA GPU, and torch sees none"
    if not config.getoption("--slow"):
        absent["slow"] = "slow: run with --slow"
    for item in items:
        for marker, reason in absent.items():
            if item.get_closest_marker(marker):
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="module", autouse=True)
def heap() -> None:
    """Leave what was made before a file's tests out of the collections of garbage that they ask
    for, each of which would look at millions of objects: the tests themselves, and what the package
    keeps of languages. What a collection frees now is freed first."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def products(pytestconfig: pytest.Config) -> Iterator[None]:
    """Torch's own, unless the run asks for products as some processors' libraries compute them."""
    if not pytestconfig.getoption("--uneven-products"):
        yield
        return
    from tests.models.products import uneven_products  # noqa: PLC0415  (torch, as above)

    with uneven_products():
        yield


@pytest.fixture(scope="session")
def shared_data() -> Callable[[str], Path]:
    """A function from a file's name to its path in the data folder beside the checkout.

    MaskBench and the JSON Schema test suite are too large to track here. A test that needs a file
    that isn't there is skipped, and says which.
    """

    def find(name: str) -> Path:
        path = ROOT.parent / "shared" / "data" / name
        if not path.exists():
            pytest.skip(f"needs {name} in a folder shared/data beside the checkout")
        return path

    return find


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A certificate for the loopback address, signed by itself, and its key."""
    folder = tmp_path_factory.mktemp("tls")
    made, key = folder / "cert.pem", folder / "key.pem"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"),
            *("-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"),
            *("-keyout", str(key), "-out", str(made)),
        ],
        check=True,
        capture_output=True,
    )
    return made, key
