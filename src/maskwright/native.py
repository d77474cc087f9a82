"""Whether an extension module was built from the sources that stand beside it.

In a checkout, sources change under modules that were built before. Such a module would give the
answers of yesterday, so each has a digest of its sources, and refuses to be imported where they
are there and differ. A package that was installed has no sources, and nothing is compared.
"""

from __future__ import annotations

from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Final

_PACKAGE: Final = Path(__file__).parent


class StaleModuleError(ImportError):
    """An extension module was built from other sources than the present ones."""


def require_built(name: str, built_from: bytes) -> None:
    """Raise `StaleModuleError` if the module `name` is stale. `built_from`: the digest and the
    paths of its sources, as `setup.py` writes them."""
    expected, *sources = built_from.decode().split()
    digest = sha256()
    if not (_PACKAGE / "native.pxd").exists():
        return
    for source in sources:
        with suppress(FileNotFoundError):
            digest.update((_PACKAGE / source).read_bytes())
    if digest.hexdigest()[:32] != expected:
        raise StaleModuleError(
            f"{name} was built from other sources than are there now. "
            "Build it again: make build, or python setup.py build_ext --inplace"
        )
