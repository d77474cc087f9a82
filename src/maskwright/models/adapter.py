"""Low-rank adapters: the update that one adds to the products of a model, and its files.

`scale * (x @ down.T) @ up.T` is added to a module's output (LoRA, arXiv 2106.09685). Here `up` is
already multiplied by `scale`.

Files are as peft saves them: adapter_config.json and adapter_model.safetensors in a folder.
Everything else that peft can save (other kinds of adapters, biases, whole modules, embeddings) is
refused by name, because an adapter that is applied only in part gives wrong answers.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor

from maskwright.errors import InputError
from maskwright.immutable import Immutable
from maskwright.kernels.device import kernels_run_on
from maskwright.kernels.low_rank import (
    GroupedRows,
    MatrixTable,
    add_grouped,
    group_rows,
    matrix_table,
    pad_rank,
)
from maskwright.models.config import read_json
from maskwright.models.weights import read_tensors

Shapes = Mapping[str, tuple[int, int]]
"""The modules that an adapter may change: the numbers of outputs and inputs of each, by its name in
the transformers library."""


class LowRank(Immutable):
    """The two factors of an update: `down` `[rank, inputs]` and `up` `[outputs, rank]`, both in the
    model's data type."""

    down: Tensor
    up: Tensor


@dataclass(frozen=True, slots=True, eq=False)
class Adapter:
    """The updates by module name. `table`: where the matrices lie, for kernels, with the modules in
    the order of the decoder's `adapter_shapes`; None where none run."""

    modules: Mapping[str, LowRank]
    table: MatrixTable | None = None

    @property
    def nbytes(self) -> int:
        """Bytes of all matrices."""
        matrices = sum(part.down.nbytes + part.up.nbytes for part in self.modules.values())
        return matrices + (0 if self.table is None else self.table.entries.nbytes)

    def on(self, device: torch.device, shapes: Shapes) -> Adapter:
        """Return the adapter on `device`, for a decoder with the modules `shapes`. Where kernels
        run, ranks are padded for them."""
        kernels = kernels_run_on(device)
        modules: dict[str, LowRank] = {}
        for name, part in self.modules.items():
            down, up = part.down.to(device), part.up.to(device)
            modules[name] = LowRank(*pad_rank(down, up)) if kernels else LowRank(down, up)
        if not kernels:
            return Adapter(modules)
        found = [modules.get(name) for name in shapes]
        matrices = [None if part is None else (part.down, part.up) for part in found]
        return Adapter(modules, matrix_table(matrices, device))


class AdapterRows(Immutable):
    """The rows of a batch that one adapter changes, int64: first `count` row numbers, then padding
    to a multiple of `ROW_MULTIPLE`, whose results are not used."""

    adapter: Adapter
    rows: Tensor
    count: int


@dataclass(frozen=True, slots=True, eq=False)
class GroupedAdapters:
    """The adapters of a step, whose updates kernels compute together. `order`: the number of each
    module in the adapters' tables."""

    adapters: tuple[Adapter, ...]
    rows: GroupedRows
    order: Mapping[str, int]

    def change(self, parts: Sequence[tuple[str, int]]) -> bool:
        """Whether any of them changes one of the modules `parts`."""
        return any(name in adapter.modules for adapter in self.adapters for name, _ in parts)

    def add(self, out: Tensor, x: Tensor, parts: Sequence[tuple[str, int]]) -> None:
        """Add the updates for the input `x` to `out`, in place. `parts`: the modules whose outputs
        are stacked in `out`, which follow each other in the order too, each with its end."""
        if self.change(parts):
            ends = [end for _, end in parts]
            add_grouped(out, x, self.rows, self.order[parts[0][0]], ends)


def group_adapters(
    adapters: Sequence[AdapterRows], order: Mapping[str, int], device: torch.device
) -> GroupedAdapters | Sequence[AdapterRows]:
    """Return the adapters of a step as kernels have them, if there are any. They are on `device`
    already; their rows are on the host."""
    if not adapters:
        return ()
    groups: list[tuple[list[int], MatrixTable]] = []
    for group in adapters:
        assert group.adapter.table is not None, "the adapter was loaded for another device"
        groups.append((group.rows[: group.count].tolist(), group.adapter.table))
    worn = tuple(group.adapter for group in adapters)
    return GroupedAdapters(worn, group_rows(groups, device), order)


CONFIG, WEIGHTS = "adapter_config.json", "adapter_model.safetensors"


class AdapterFile(Immutable):
    """The files of an adapter on disk, with their digest when they were first read."""

    name: str
    folder: Path
    digest: str

    @classmethod
    def at(cls, name: str, folder: Path) -> AdapterFile:
        """Compute the digest of the files in `folder`. Raises `InputError` if one is missing."""
        return cls(name, folder, _digest(name, folder))

    def load(self, shapes: Shapes, dtype: torch.dtype) -> Adapter:
        """Read the adapter and check it. Raises `InputError` for what isn't supported, and if the
        files have changed, because the prefix cache contains results of the old ones."""
        digest = _digest(self.name, self.folder)
        if digest != self.digest:
            raise _wrong(self.name, "its files have changed since the start")
        try:
            return _parse(self.folder, shapes, dtype)
        except InputError as error:
            raise _wrong(self.name, error.message) from error


def _digest(name: str, folder: Path) -> str:
    digest = hashlib.sha256()
    for file in (folder / CONFIG, folder / WEIGHTS):
        if not file.is_file():
            raise _wrong(name, f"{folder} has no {file.name}; only safetensors are loaded")
        with file.open("rb") as stream:
            digest.update(hashlib.file_digest(stream, "sha256").digest())
    return digest.hexdigest()


def _wrong(name: str, what: str) -> InputError:
    return InputError(f"Adapter {name}: {what}.", param="adapter", code="unsupported_adapter")


# Fields of adapter_config.json that are obeyed. All others must be empty or in `_IRRELEVANT`.
_READ = frozenset(
    {"peft_type", "r", "lora_alpha", "use_rslora", "target_modules", "rank_pattern"}
    | {"alpha_pattern", "bias", "init_lora_weights"}
)
# Fields that matter for training only, or describe the origin of the adapter.
_IRRELEVANT = frozenset(
    {"auto_mapping", "base_model_name_or_path", "exclude_modules", "inference_mode"}
    | {"lora_dropout", "revision", "task_type", "peft_version", "eva_config", "runtime_config"}
    | {"megatron_core", "layers_pattern", "layers_to_transform", "ensure_weight_tying"}
)
# Initialisations that leave the weights of the model unchanged.
_PLAIN_BEGINNINGS = (None, True, False, "gaussian", "eva", "orthogonal")


def _parse(folder: Path, shapes: Shapes, dtype: torch.dtype) -> Adapter:
    config = read_json(folder / CONFIG)
    _check_config(config)
    parts: dict[str, dict[str, Tensor]] = {}
    for key, tensor in read_tensors(folder / WEIGHTS).items():
        match = re.fullmatch(r"base_model\.model\.(.+)\.lora_([AB])(?:\.default)?\.weight", key)
        if match is None:
            raise InputError(f"the tensor {key} is not a LoRA matrix")
        parts.setdefault(match[1], {})[match[2]] = tensor
    if not parts:
        raise InputError("it changes nothing: it has no LoRA matrices")
    targeted = _targeted(config.get("target_modules"))
    for name in parts:
        if name not in shapes:
            raise InputError(f"the module {name} is not one that an adapter may change")
        if not targeted(name):
            raise InputError(f"it has matrices for {name}, which target_modules doesn't name")
    return Adapter(
        {name: _module(config, name, part, shapes[name], dtype) for name, part in parts.items()}
    )


def _check_config(config: Mapping[str, Any]) -> None:
    if config.get("peft_type") != "LORA":
        raise InputError(f"peft_type {config.get('peft_type')!r} is not supported; LORA is")
    if config.get("bias", "none") != "none":
        raise InputError(f"bias {config['bias']!r} is not supported")
    if config.get("init_lora_weights") not in _PLAIN_BEGINNINGS:
        raise InputError(
            f"init_lora_weights {config['init_lora_weights']!r} is not supported: it changes the "
            "model's own weights"
        )
    for field, value in config.items():
        if field not in _READ | _IRRELEVANT and value not in (None, False, "", [], {}):
            raise InputError(f"{field} is not supported")


def _targeted(targets: object) -> Callable[[str], bool]:
    """Return a test whether target_modules names a module. As in peft, it is a list of names or
    ends of names, or a pattern that matches whole names."""
    if isinstance(targets, list):
        ends = [str(end) for end in cast(list[object], targets)]
        return lambda name: any(name == end or name.endswith(f".{end}") for end in ends)
    if isinstance(targets, str):
        if targets == "all-linear":
            return lambda _: True
        return lambda name: re.fullmatch(targets, name) is not None
    raise InputError(f"target_modules is {targets!r}; names or a pattern are needed")


def _module(
    config: Mapping[str, Any],
    name: str,
    part: Mapping[str, Tensor],
    shape: tuple[int, int],
    dtype: torch.dtype,
) -> LowRank:
    """Return the two matrices for one module, checked and scaled."""
    if set(part) != {"A", "B"}:
        raise InputError(f"one of the two matrices for {name} is missing")
    rank = _value(config, "r", "rank_pattern", name)
    alpha = _value(config, "lora_alpha", "alpha_pattern", name)
    if not isinstance(rank, int) or rank < 1 or not isinstance(alpha, int | float):
        raise InputError(f"r is {rank!r} and lora_alpha {alpha!r}; two numbers are needed")
    outputs, inputs = shape
    down, up = part["A"], part["B"]
    if down.shape != (rank, inputs) or up.shape != (outputs, rank):
        raise InputError(
            f"the matrices for {name} are {list(down.shape)} and {list(up.shape)}; of rank "
            f"{rank} they are [{rank}, {inputs}] and [{outputs}, {rank}]"
        )
    scale = alpha / (rank**0.5 if config.get("use_rslora") else rank)
    return LowRank(down.to(dtype).contiguous(), (up.float() * scale).to(dtype).contiguous())


def _value(config: Mapping[str, Any], field: str, patterns: str, name: str) -> object:
    """Return the value of `field` for one module: that of the first entry in the mapping `patterns`
    that matches the end of its name, or the general one."""
    by_pattern: dict[str, object] = config.get(patterns) or {}
    for pattern, value in by_pattern.items():
        whole = pattern if pattern.startswith("^") else rf"(.*\.)?({pattern})$"
        if re.match(whole, name):
            return value
    return config.get(field)
