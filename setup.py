"""Builds the extension modules; everything else of the package is described in pyproject.toml.

Each `.pyx` file below src/ is a module. The first lines of a file may say more about it:

    # distutils: extra_compile_args = -mavx2 -mfma    (of this module alone)
    # machine: x86_64                                 (built only where that is the processor)

What is to be built several times with different flags stands in a `.pxi` file, which a short
`.pyx` file for each set of flags includes; the choice among them is made at import.

A module holds two digests (see `maskwright.native`): of its sources, which is compared when it is
imported in a checkout, and of all that it was built from, by which this file decides what to build
again. Times of files are not looked at.

`MASKWRIGHT_BUILD` chooses among the builds of `BUILDS`.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import Cython
from Cython.Build import cythonize
from Cython.Build.Dependencies import DependencyTree, create_dependency_tree
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).resolve().parent
PACKAGE = "src/maskwright/"
MACHINE = platform.machine()


class Build(NamedTuple):
    """How all modules are compiled."""

    checked: bool
    """Whether what indexes memory views and divides integers is checked."""
    flags: tuple[str, ...]


BUILDS = {
    "release": Build(False, ("-O3", "-g0")),
    "checked": Build(True, ("-O1", "-g1")),
    "sanitized": Build(
        True,
        (
            *("-O1", "-g1", "-fno-omit-frame-pointer"),
            *("-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"),
        ),
    ),
}
# Contracted products and sums would make bits depend on the compiler. Nothing is compiled for the
# processor that happens to be there: x86-64-v2 (all since 2009), or what every 64-bit Arm has.
FLAGS = (
    *("-std=c11", "-fwrapv", "-ffp-contract=off", "-fno-math-errno", "-fvisibility=hidden"),
    *("-Wno-unused-function", "-Wno-unreachable-code"),
)
BASELINE = {"x86_64": ("-mcx16", "-mpopcnt", "-msahf", "-mssse3", "-msse4.1", "-msse4.2")}
ZIG_BASELINE = {"x86_64": ("-mcpu=x86_64_v2",), "aarch64": ("-mcpu=generic",)}

SHARED = "maskwright._cython"
"""Memory views, which would be compiled into each module otherwise."""
SHARED_SOURCE = "maskwright/_cython.c"
KEPT = "__attribute__((used)) static const char maskwright_built[] = MASKWRIGHT_BUILT;"

MODE = os.environ.get("MASKWRIGHT_BUILD", "release")
if MODE not in BUILDS:
    sys.exit(f"MASKWRIGHT_BUILD is {MODE!r}; it can be {', '.join(BUILDS)}")
BUILD = BUILDS[MODE]
DIRECTIVES = {
    "language_level": 3,
    "boundscheck": BUILD.checked,
    "initializedcheck": BUILD.checked,
    "wraparound": False,
    "cdivision": not BUILD.checked,
}


def compiler() -> str | None:
    """The command of a compiler that has to be asked for: Zig's, where there is no other. It comes
    with the wheel `ziglang`."""
    usual = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")[0]
    if os.environ.get("CC") or shutil.which(usual):
        return None
    for other in ("gcc", "clang", "cc"):
        if shutil.which(other):
            return other
    if importlib.util.find_spec("ziglang") is not None:
        return f"{shlex.quote(sys.executable)} -m ziglang cc"
    sys.exit(
        "maskwright is built with a C compiler, and there is none. Install gcc or clang, or a "
        "compiler from the package index, which is then found: pip install ziglang"
    )


def modules() -> list[Extension]:
    """One for each `.pyx` file, and what all of them need of Cython's own."""
    tree = create_dependency_tree()
    paths = sorted((ROOT / PACKAGE).rglob("*.pyx"))
    return [
        module(SHARED, SHARED_SOURCE, []),
        *(
            extension(path, _read_with(tree, str(path.relative_to(ROOT))))
            for path in paths
            if _header(path, "machine") in (None, MACHINE)
        ),
    ]


def _read_with(tree: DependencyTree, place: str) -> set[str]:
    """What a module is made from: what Cython reads, and the headers of C that are named there."""
    read: set[str] = set(tree.all_dependencies(place))
    # Each file by itself: Cython does not name the headers of what a module cimports.
    headers = {name for file in read for name in tree.cimports_externs_incdirs(file)[1]}
    places = {place for name in headers for place in (name, PACKAGE + name)}
    return read | {place for place in places if Path(place).exists()}


def _header(path: Path, name: str) -> str | None:
    found = re.search(rf"^# {name}: *(\S+)", path.read_text(), re.MULTILINE)
    return found[1] if found else None


def extension(path: Path, read: set[str]) -> Extension:
    """The module of a `.pyx` file; `read` are the files that it is made from."""
    place = path.relative_to(ROOT)
    sources = sorted(
        each.relative_to(PACKAGE).as_posix()
        for name in read
        if (each := Path(os.path.relpath(name, ROOT))).is_relative_to(PACKAGE)
    )
    name = ".".join(place.relative_to("src").with_suffix("").parts)
    return module(name, str(place), sources)


def module(name: str, source: str, sources: list[str]) -> Extension:
    """A module that is compiled from one file, with the digests of `sources` as macros."""
    digest = sources_digest(sources)
    made_from = (digest, Path(__file__).read_text(), Cython.__version__, sys.version, MODE, CC)
    built = sha256(repr(made_from).encode()).hexdigest()
    zig = CC is not None and "ziglang" in CC
    baseline = (ZIG_BASELINE if zig else BASELINE).get(MACHINE, ())
    return Extension(
        name,
        [source],
        include_dirs=[PACKAGE],
        # As text between quotation marks of C, without quoting of a shell.
        define_macros=[
            ("MASKWRIGHT_SOURCES", f'"{digest} {" ".join(sources)}"'),
            ("MASKWRIGHT_BUILT", f'"{built}"'),
        ],
        extra_compile_args=[*FLAGS, *baseline, *BUILD.flags],
        extra_link_args=[flag for flag in BUILD.flags if flag.startswith("-fsanitize")],
    )


def sources_digest(sources: list[str]) -> str:
    """As `maskwright.native` computes it again."""
    digest = sha256()
    for source in sources:
        digest.update((ROOT / PACKAGE / source).read_bytes())
    return digest.hexdigest()[:32]


class Builder(build_ext):
    """Translates and compiles the modules that were not built from what is there now."""

    def finalize_options(self) -> None:
        super().finalize_options()
        self.parallel = self.parallel or os.cpu_count()
        self._into_source = self.inplace  # `run` forgets it while it builds

    def build_extensions(self) -> None:
        self._stale = [each for each in self.extensions if not self._is_built(each)]
        stale = [each for each in self._stale if each.name != SHARED]
        # Cython copies headers there, unless they look older than those that it copied before.
        shutil.rmtree(Path(self.build_temp, "c"), ignore_errors=True)
        translated = cythonize(
            stale,
            build_dir=str(Path(self.build_temp, "c")),
            compiler_directives=DIRECTIVES,
            shared_utility_qualified_name=SHARED,
            force=True,
            nthreads=self.parallel if len(stale) > 1 else 0,
        )
        for each, made in zip(stale, translated, strict=True):
            vars(each).update(vars(made))  # its source in C, and what its first lines say
        if len(stale) < len(self._stale):
            shared = Path(self.build_temp, "c", SHARED_SOURCE)
            shared.parent.mkdir(parents=True, exist_ok=True)
            command = [sys.executable, "-m", "cython", f"--generate-shared={shared}"]
            subprocess.run(command, check=True)
            with shared.open("a") as stream:  # as in native.pxd, which Cython's own doesn't read
                stream.write(f"\n{KEPT}\n")
            self._stale[0].sources = [str(shared)]
        self.force = True  # times of object files say nothing
        super().build_extensions()

    def build_extension(self, ext: Extension) -> None:
        if ext in self._stale:
            super().build_extension(ext)

    def copy_extensions_to_source(self) -> None:
        every, self.extensions = self.extensions, self._stale
        super().copy_extensions_to_source()
        self.extensions = every
        for path in Path(PACKAGE).rglob("*" + sysconfig.get_config_var("EXT_SUFFIX")):
            name = ".".join((*path.relative_to("src").parent.parts, path.name.split(".")[0]))
            if name not in [each.name for each in self.extensions]:
                path.unlink()  # its source is gone, and it would be imported all the same

    def _is_built(self, extension: Extension) -> bool:
        # Beside the sources, what pip has built for an editable installation is found as well: its
        # folder of builds is gone.
        folder = "src" if self._into_source else self.build_lib
        path = Path(folder, self.get_ext_filename(extension.name))
        built = dict(extension.define_macros)["MASKWRIGHT_BUILT"].strip('"')
        return path.exists() and built.encode() in path.read_bytes()


if __name__ == "__main__":
    os.chdir(ROOT)
    CC = compiler()
    if CC is not None:
        os.environ["CC"] = CC
    setup(ext_modules=modules(), cmdclass={"build_ext": Builder})
