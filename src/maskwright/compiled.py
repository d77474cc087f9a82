"""Functions compiled by Numba, and a cache of their machine code that is never stale.

Numba compiles the functions that a function calls into it, together with the constants they use,
but its own cache looks only at the file in which the outer function stands. A change elsewhere
would leave old machine code in use. Here, each piece of machine code is kept in a file of its own,
and the name of the file is a digest of all that the code was made from:

- the bytecode of the function and, transitively, of all compiled functions that it refers to, with
  their options and the values of the constants that they refer to;
- the types of the arguments, named tuples with the names and order of their fields;
- the processor with its features, and the versions of Python, Numba, llvmlite and NumPy.

So a file is right whenever it is found, whoever wrote it. Each is written under another name and
then renamed, so that a reader sees a whole file or none, and processes that start together do not
disturb each other. The files stand in the user's cache folder (`maskwright.user_cache`), or where
`NUMBA_CACHE_DIR` says, not beside the sources, which may be read-only or shared. Where nothing can
be written, each process compiles for itself. Files that no process has used for a month are
removed.
"""

# Numba's annotations are incomplete, and what its caches are made of has no public names.
# pyright: reportAttributeAccessIssue=false, reportIncompatibleMethodOverride=false
# pyright: reportPrivateUsage=false, reportArgumentType=false
from __future__ import annotations

import logging
import os
import pickle
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any, Final, get_type_hints, overload
from zlib import crc32

import llvmlite
import numba
import numpy as np
from numba import njit, types  # pyright: ignore[reportPrivateImportUsage]
from numba.core import config
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.dispatcher import Dispatcher
from numba.core.extending import _Intrinsic
from numba.core.serialize import dumps

from maskwright.user_cache import user_cache

UNUSED: Final = 30 * 86_400.0
"""Seconds after which a file that no process has loaded is removed."""
_FRESH: Final = 86_400.0
"""Seconds for which a file that is loaded is not marked as used again."""

_log = logging.getLogger(__name__)


Compiled = Callable[..., Any]
"""A compiled function. Its arguments and results are Python's and NumPy's plain ones, which NumPy's
annotations of arithmetic don't say, so its types are not checked."""


@overload
def compiled(function: Compiled, /) -> Compiled: ...
@overload
def compiled(
    *, signatures: tuple[str, ...] = (), **options: Any
) -> Callable[[Compiled], Compiled]: ...
def compiled(
    function: Compiled | None = None, /, *, signatures: tuple[str, ...] = (), **options: Any
) -> Compiled | Callable[[Compiled], Compiled]:
    """Compile a function with `numba.njit` and keep its machine code from one process to the next.

    `options` are those of `numba.njit`. Compiling waits for the first call with arguments of new
    types; functions with `signatures` are compiled for these, and no others, when they are defined.
    """

    def decorate(function: Compiled) -> Compiled:
        dispatcher: Any = njit(**options)(function)
        if isinstance(dispatcher, Dispatcher):  # NUMBA_DISABLE_JIT leaves functions as they are
            dispatcher._cache = _Cache(dispatcher)
            for signature in signatures:
                dispatcher.compile(signature)
            if signatures:
                dispatcher.disable_compile()
        return dispatcher

    return decorate if function is None else decorate(function)


class _Cache(NullCache):
    """The machine code of one function; what Numba asks for it, see `numba.core.caching`."""

    def __init__(self, dispatcher: Any) -> None:
        self._dispatcher = dispatcher

    @property
    def cache_path(self) -> str | None:
        folder = cache_folder()
        return None if folder is None else str(folder)

    def load_overload(self, sig: Any, target_context: Any) -> CompileResult | None:
        """The machine code for arguments of the types `sig`, if it is kept."""
        target_context.refresh()  # machine code can refer to what Numba registers lazily
        file = self._file(sig, target_context.codegen())
        payload = None if file is None else _read(file)
        if payload is None:
            return None
        try:
            return CompileResult._rebuild(target_context, *pickle.loads(payload))
        except (pickle.PickleError, ImportError, AttributeError) as error:
            _log.debug("compiled code can't be used: %s", error)  # it names what has been renamed
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep machine code, unless it contains addresses of this process."""
        if data.lifted or data.library.has_dynamic_globals:
            return
        file = self._file(sig, data.codegen)
        if file is not None:
            _write(file, dumps(data._reduce()))

    def _file(self, sig: Any, codegen: Any) -> Path | None:
        folder = cache_folder()
        if folder is None:
            return None
        function = self._dispatcher.py_func
        parts = (
            _versions(),
            codegen.magic_tuple(),  # the processor and its features
            _options(self._dispatcher),
            code_digest(self._dispatcher),
            *map(_type_name, sig),
        )
        digest = _digest(parts)[:40]
        return folder / f"{function.__module__}.{function.__name__}-{digest}"


# What machine code is made from


def code_digest(function: Any) -> str:
    """A digest of a compiled function and, transitively, of all that it refers to."""
    function = getattr(function, "py_func", function)
    known: str | None = getattr(function, "_code_digest", None)
    if known is None:
        known = _digest(tuple(_function_parts(function)))
        function._code_digest = known
    return known


def _function_parts(function: FunctionType) -> Iterator[object]:
    if function.__closure__ is not None:
        raise TypeError(f"{_name(function)} is compiled, so it can't be a closure")
    yield (function.__defaults__, function.__kwdefaults__)
    codes = [function.__code__]
    for code in codes:
        codes += [each for each in code.co_consts if isinstance(each, CodeType)]
        yield (code.co_code, code.co_argcount, code.co_varnames, code.co_names)
        yield [repr(each) for each in code.co_consts if not isinstance(each, CodeType)]
        for name in code.co_names:  # which are the names of attributes too; no harm is done
            if name in function.__globals__:
                yield name, _value_parts(function, name, function.__globals__[name])


def _value_parts(function: FunctionType, name: str, value: Any) -> object:
    """What a global value contributes to the machine code of `function`."""
    if isinstance(value, tuple):
        return [_value_parts(function, name, each) for each in value]
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, type) and (hasattr(value, "_fields") or _is_versioned(value)):
        return f"{value.__module__}.{value.__qualname__}", _fields(value)
    if isinstance(value, Dispatcher):
        return _options(value), code_digest(value)
    if isinstance(value, _Intrinsic):
        return code_digest(value._defn)
    if isinstance(value, FunctionType) and not _is_versioned(value):  # a part of an intrinsic
        return "itself" if value is function else code_digest(value)
    # Numbers, texts and LLVM's types are described in full by their text; functions and modules of
    # other packages by their name, since the versions of these are part of the file's name.
    is_named = isinstance(value, type | ModuleType | FunctionType | BuiltinFunctionType)
    described = value.__name__ if is_named else repr(value)
    if " at 0x" in described or (is_named and not _is_versioned(value)):
        raise TypeError(
            f"{_name(function)} is compiled, so it can't refer to {name}, which is a "
            f"{type(value).__name__}: import the constant or function itself"
        )
    return described


def _options(dispatcher: Any) -> object:
    """The options of a compiled function, with sets in an order that all processes have."""
    options: dict[str, Any] = dispatcher.targetoptions
    sets = {name: sorted(value) for name, value in options.items() if isinstance(value, set)}
    return sorted((options | sets).items())


def _name(function: FunctionType) -> str:
    return f"{function.__module__}.{function.__qualname__}"


def _is_versioned(value: Any) -> bool:
    """Whether a module or function belongs to what `_versions` lists."""
    module = value.__name__ if isinstance(value, ModuleType) else value.__module__ or ""
    return module.partition(".")[0] in {"numba", "llvmlite", "numpy", *sys.stdlib_module_names}


def _fields(named: type) -> object:
    """The fields of a named tuple with their annotations; nothing for other classes."""
    return (
        [*get_type_hints(named, include_extras=True).items()] if hasattr(named, "_fields") else ()
    )


def _type_name(kind: Any) -> object:
    """What a type of Numba's means; the names of named tuples lack the order of their fields."""
    if isinstance(kind, types.BaseTuple):
        named = getattr(kind, "instance_class", tuple)
        fields = getattr(kind, "fields", ())
        return named.__module__, named.__qualname__, fields, [*map(_type_name, kind.types)]
    return repr(kind)


@cache
def _versions() -> tuple[str, ...]:
    settings = (config.OPT, config.BOUNDSCHECK, config.DEBUGINFO_DEFAULT)
    packages = (numba.__version__, llvmlite.__version__, np.__version__)
    return (sys.version, *packages, *map(str, settings))


def _digest(parts: object) -> str:
    return sha256(repr(parts).encode()).hexdigest()


# Files


def cache_folder() -> Path | None:
    """Where machine code is kept; None where there is no such place."""
    root = Path(config.CACHE_DIR) if config.CACHE_DIR else user_cache()
    return None if root is None else root / "compiled"


def is_whole(file: Path) -> bool:
    """Whether a file of kept machine code has its checksum. Raises `OSError`."""
    return _payload(file.read_bytes()) is not None


def _payload(data: bytes) -> bytes | None:
    """What stands after the checksum; None if that is not its own."""
    payload = data[4:]
    return payload if data[:4] == crc32(payload).to_bytes(4, "little") else None


def _read(file: Path) -> bytes | None:
    """What was kept in a file, which is marked as used; None if that is lost or damaged."""
    try:
        data = file.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        _log.debug("compiled code can't be read: %s", error)
        return None
    with suppress(OSError):  # the file may be another user's
        if time.time() - file.stat().st_mtime > _FRESH:
            os.utime(file)
    return _payload(data)


def _write(file: Path, payload: bytes) -> None:
    unfinished: str | None = None
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, unfinished = tempfile.mkstemp(dir=file.parent)
        with os.fdopen(handle, "wb") as stream:
            stream.write(crc32(payload).to_bytes(4, "little") + payload)
        Path(unfinished).replace(file)
        _remove_unused(file.parent)
    except OSError as error:
        _log.debug("compiled code is not kept, each process compiles anew: %s", error)
        if unfinished is not None:
            Path(unfinished).unlink(missing_ok=True)


def _remove_unused(folder: Path) -> None:
    """Remove files that no process has used for long; one that has a file open keeps it."""
    oldest = time.time() - UNUSED
    for each in os.scandir(folder):
        try:
            if each.is_file() and each.stat().st_mtime < oldest:
                Path(each.path).unlink()
        except OSError:  # another process was quicker
            continue
