"""Say what this machine is, and what to do where something slows Maskwright down or stops it.

Looks at processors, memory, versions, the folder of tables, the build of torch and a GPU; and
tries on the demo model whether the bits of its results are independent of the batch.

Exit code: 0 if there is nothing to do; 1 if there is something.
"""

from __future__ import annotations

import os
import platform
import tempfile
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final, NamedTuple

import torch

from maskwright.cli.options import DoctorOptions
from maskwright.cli.output.appearance import coloured, shown_json
from maskwright.cli.output.progress import progress
from maskwright.instructions import AVAILABLE, INSTRUCTIONS
from maskwright.models import DEMO_PATH, load
from maskwright.models.batch_invariance import probe_batch_invariance
from maskwright.sizing.processors import usable_processors
from maskwright.user_cache import user_cache
from maskwright.vocab.array_cache import kept_files

PACKAGES: Final = ("maskwright", "numpy", "torch", "transformers")
SCARCE_BYTES: Final = 2 << 30
"""Available memory below which little but the demo model can be served."""


class Examined(NamedTuple):
    """One thing that was looked at, and what to do about it; nothing if `advice` is empty."""

    name: str
    found: str
    advice: str = ""


def run(options: DoctorOptions) -> int:
    with progress("looking at this machine"):
        rows = [*machine(), *versions(), tables(user_cache()), *torch_build(), bits()]
    advised = [row for row in rows if row.advice]
    if options.as_json:
        print(shown_json({"examined": [row._asdict() for row in rows]}))
    else:
        width = max(len(row.name) for row in rows)
        for row in rows:
            mark = coloured("!", "yellow") if row.advice else coloured("✓", "green")
            print(f"{mark} {row.name:{width}}  {row.found}")
            if row.advice:
                print(f"  {'':{width}}  → {row.advice}")
    return 1 if advised else 0


def machine() -> Iterator[Examined]:
    """The operating system, the processors that this process may use, and memory."""
    yield Examined("system", f"{platform.system()} {platform.release()}, {platform.machine()}")
    all_cores = os.cpu_count() or 1
    usable = usable_processors()
    cores = f"{usable} of {all_cores}" if usable != all_cores else f"{all_cores}"
    advice = "" if usable > 1 else "with a second core, grammars are compiled beside the model"
    yield Examined("cores", cores, advice)
    yield Examined("instructions", f"{INSTRUCTIONS}, of {', '.join(AVAILABLE)}")
    total, free = memory()
    if total:
        low = "stop other programs, or lower --kv-bytes" if free < SCARCE_BYTES else ""
        yield Examined("memory", f"{free / 2**30:.1f} of {total / 2**30:.1f} GiB available", low)


def memory(file: Path = Path("/proc/meminfo")) -> tuple[int, int]:
    """Bytes of the machine's memory, and bytes available; zeros where Linux doesn't tell."""
    try:
        lines = file.read_text().splitlines()
    except OSError:
        return 0, 0
    sizes = {name: value.split() for name, _, value in (line.partition(":") for line in lines)}
    total, free = (int(sizes.get(name, ["0"])[0]) << 10 for name in ("MemTotal", "MemAvailable"))
    return total, free


def versions() -> Iterator[Examined]:
    """The versions of Python and of what the package is built on."""
    yield Examined("python", platform.python_version())
    for package in PACKAGES:
        try:
            yield Examined(package, version(package))
        except PackageNotFoundError:
            yield Examined(package, "not installed", f"pip install {package}")


def tables(folder: Path | None) -> Examined:
    """Whether what is computed once for each large vocabulary can be kept for the next start."""
    lost = "each start computes them anew; set XDG_CACHE_HOME to a folder that can be written"
    if folder is None:
        return Examined("vocabulary tables", "there is no folder for them", lost)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
        sizes = [file.stat().st_size for file in kept_files(folder)]
    except OSError as error:
        return Examined("vocabulary tables", f"{folder}: {error.strerror}", lost)
    return Examined("vocabulary tables", f"{len(sizes)} files, {sum(sizes) >> 20} MiB in {folder}")


def torch_build() -> Iterator[Examined]:
    """What torch was built for, and the GPU that it can use."""
    cuda = torch.version.cuda
    yield Examined("torch is for", f"CUDA {cuda}" if cuda else "CPUs")
    if torch.cuda.is_available():
        found = torch.cuda.get_device_properties(0)
        yield Examined("gpu", f"{found.name}, {found.total_memory / 2**30:.0f} GiB")
    elif Path("/dev/nvidia0").exists():
        advice = "install a build of torch for CUDA" if cuda is None else "look at nvidia-smi"
        yield Examined("gpu", "there is one that torch can't use", advice)
    else:
        yield Examined("gpu", "none")


def bits() -> Examined:
    """Whether results are independent of the batch, tried on the demo model."""
    found = probe_batch_invariance(load(str(DEMO_PATH)).decoder.library_operations)
    name = "equal bits"
    if found.holds:
        return Examined(name, "results do not depend on the other requests of a batch")
    advice = "docs/models.md says what still holds; unset MKL_CBWR if you have set it"
    return Examined(name, f"not in {found.violation}", advice)
