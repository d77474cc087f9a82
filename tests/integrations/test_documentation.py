"""What docs/integrations.md shows runs as written and prints what is shown."""

from __future__ import annotations

import re
import subprocess
import sys

from tests.source_tree import ROOT

DOCUMENT = ROOT / "docs" / "integrations.md"


def test_the_examples_print_what_is_shown() -> None:
    pairs = re.findall(r"```python\n(.*?)```\n\n```\n(.*?)```", DOCUMENT.read_text(), re.DOTALL)
    assert len(pairs) == DOCUMENT.read_text().count("```python") > 0
    for program, shown in pairs:
        run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
        assert run.returncode == 0, run.stderr
        assert run.stdout == shown


def test_importing_the_package_imports_none_of_the_libraries() -> None:
    program = (
        "import sys, maskwright.integrations\n"
        "print({'transformers', 'torch', 'maskwright.integrations.transformers'} & {*sys.modules})"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert run.stdout == "set()\n"
