"""What docs/integrations.md shows runs as written and prints what is shown. The examples of other
libraries than transformers run in the tests of their modules."""

from __future__ import annotations

import subprocess
import sys

from tests.integrations.document import DOCUMENT, example, examples


def test_every_example_is_one_that_a_test_runs() -> None:
    assert [(section, language) for section, language, _ in examples()] == [
        *[("transformers", "python"), ("transformers", "")],
        ("llama-cpp-python", "py"),
        *[("vLLM", "sh"), ("vLLM", "py")],
        ("SGLang", "sh"),
    ]
    assert 2 * len(examples()) == DOCUMENT.read_text().count("```")


def test_the_example_prints_what_is_shown() -> None:
    program = example("transformers", "python")
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert run.stdout == example("transformers", "")


def test_importing_the_package_imports_none_of_the_libraries() -> None:
    program = (
        "import sys, maskwright.integrations\n"
        "print({'transformers', 'torch', 'maskwright.integrations.transformers'} & {*sys.modules})"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert run.stdout == "set()\n"
