"""A module imports only from the layers below; all up to `mask` needs numpy and msgspec alone.

Every import statement counts, wherever it stands: at the top, inside a function, under
`TYPE_CHECKING`. The package's face, `maskwright/__init__.py`, stands just above `mask`.
"""

from __future__ import annotations

import ast
import glob
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.source_tree import source_of

PACKAGE = Path(__file__).resolve().parent.parent / "src" / "maskwright"
FACE = "__init__"
LAYERS = (
    *(
        "kernels",
        "errors",
        "json_faults",
        "immutable",
        "native",
        "garbage",
        "steps",
        "limits",
        "resources",
    ),
    "user_cache",
    "shipped",
    "key_digest",
    "version",
    *("settings", "sizing", "exports"),
    "instructions",
    "model_options",
    *("grammar", "automaton", "vocab", "mask", "workbench", FACE, "instances", "processes"),
    *("integrations", "sampling", "models", "engine", "dist", "records", "server", "cli"),
    "__main__",
)
# What may be imported from outside: the grammar half starts fast and runs anywhere; above the face
# anything goes that pyproject.toml lists.
KERNEL_NEEDS = frozenset({"torch", "triton", *sys.stdlib_module_names})
# The references of JSON Schema documents, and the meta-schemas: pure Python, and quick to import.
SCHEMA_NEEDS = frozenset({"referencing", "jsonschema_specifications"})
GRAMMAR_NEEDS = frozenset({"msgspec", "numpy", *SCHEMA_NEEDS, *sys.stdlib_module_names})
# One module of pure Python, which is imported where a picture is asked for.
WORKBENCH_NEEDS = GRAMMAR_NEEDS | {"railroad"}
# The one module that needs an extra; nothing imports it but the option that asks for it.
OF_AN_EXTRA = Path("server/observe/spans.py")
HEAVY = frozenset({"torch", "triton", "transformers", "tokenizers", "safetensors", "starlette"})


def source_files(package: Path) -> list[Path]:
    """Every module, also in the symlinked folders (which `Path.rglob` would pass over)."""
    found = [glob.glob(str(package / "**" / name), recursive=True) for name in ("*.py", "*.pyx")]
    return sorted(Path(name) for names in found for name in names)


def imported_names(source: str) -> Iterator[str]:
    """Dotted: `from a.b import c` gives `a.b.c`, so that a layer taken from the face shows."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            prefix = "." * node.level + (node.module or "")
            yield from (f"{prefix}.{alias.name}" for alias in node.names)


def violations(layer: str, source: str) -> list[str]:
    rank = LAYERS.index(layer)
    grammar_half = layer != "kernels" and rank <= LAYERS.index(FACE)
    wrong: list[str] = []
    for name in imported_names(source):
        root, *rest = name.split(".")
        if root == "":
            wrong.append(f"{name}: relative, so its layer can't be read off")
        elif root == "maskwright":
            target = rest[0] if rest and rest[0] in LAYERS else FACE
            if LAYERS.index(target) > rank or (layer == "kernels" and target != "kernels"):
                wrong.append(f"{name}: {layer} is below {target}")
        elif layer == "kernels" and root not in KERNEL_NEEDS:
            wrong.append(f"{name}: kernels import torch and triton only")
        elif grammar_half and root not in (
            WORKBENCH_NEEDS if layer == "workbench" else GRAMMAR_NEEDS
        ):
            wrong.append(f"{name}: {layer} imports numpy and msgspec only")
    return wrong


def test_layers() -> None:
    files = source_files(PACKAGE)
    assert PACKAGE / "errors.py" in files
    found: list[str] = []
    for path in files:
        place = path.relative_to(PACKAGE)
        layer = place.parts[0].partition(".")[0]
        assert layer in LAYERS, f"{place}: a new layer needs its place in LAYERS"
        found += [f"{place}: {wrong}" for wrong in violations(layer, source_of(path))]
    assert found == []


@pytest.mark.parametrize(
    ("layer", "source"),
    [
        ("grammar", "from maskwright.mask import Matcher"),
        ("grammar", "from maskwright import mask"),
        ("grammar", "from maskwright import compile_regex"),
        ("vocab", "def late():\n    import maskwright.engine.step.loop"),
        ("vocab", "import torch"),
        ("mask", "from transformers import AutoTokenizer"),
        ("mask", "if TYPE_CHECKING:\n    from tokenizers import Tokenizer"),
        (FACE, "import torch.nn"),
        (FACE, "from maskwright.sampling.params import SamplingParams"),
        ("engine", "from maskwright.server import create_app"),
        ("engine", "from ..server import create_app"),
        ("kernels", "import numpy"),
        ("kernels", "from maskwright.errors import InputError"),
    ],
)
def test_a_violation_is_caught(layer: str, source: str) -> None:
    assert len(violations(layer, source)) == 1


@pytest.mark.parametrize(
    ("layer", "source"),
    [
        ("mask", "import numpy as np\nfrom maskwright.vocab import Vocabulary"),
        ("grammar", "from maskwright import errors, limits"),
        ("sampling", "import torch\nfrom maskwright.kernels.reference import apply_mask"),
        (
            "server",
            "from maskwright import compile_regex\nfrom maskwright.engine.step.loop import Loop",
        ),
        ("kernels", "import math\nimport torch\nimport triton.language as tl"),
    ],
)
def test_what_is_allowed_passes(layer: str, source: str) -> None:
    assert violations(layer, source) == []


def test_what_is_imported_is_a_declared_dependency() -> None:
    project = tomllib.loads((PACKAGE.parent.parent / "pyproject.toml").read_text())["project"]
    declared = {re.split(r"[^\w-]", line)[0] for line in project["dependencies"]}
    imported = {
        name.partition(".")[0]
        for path in source_files(PACKAGE)
        for name in imported_names(source_of(path))
        if path.relative_to(PACKAGE) != OF_AN_EXTRA
    }
    # Only `kernels` imports triton, and only if the extra `gpu` is installed; only `integrations`
    # imports these engines, in a module each.
    optional = {"triton", "llama_cpp", "sglang", "vllm"}
    needed = imported - {*sys.stdlib_module_names, "maskwright", *optional}
    # Whose modules don't have their names.
    projects = {"yaml": "pyyaml", "railroad": "railroad-diagrams"}
    assert {projects.get(name, name).replace("_", "-") for name in needed} <= declared


def test_symlinked_folders_are_searched(tmp_path: Path) -> None:
    (tmp_path / "kernels").mkdir()
    (tmp_path / "kernels" / "bad.py").write_text("import numpy\n")
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "kernels").symlink_to("../kernels")
    assert [path.name for path in source_files(tmp_path / "package")] == ["bad.py"]


def test_importing_the_package_loads_nothing_heavy() -> None:
    program = f"import sys, maskwright; print(sorted({set(HEAVY)!r} & set(sys.modules)))"
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == "[]"
