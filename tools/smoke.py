"""Whether an installed Maskwright works at all. Run it by the Python that it is installed for,
anywhere outside the checkout.

    python tools/smoke.py

Each compiler gives masks without a limit of tokens and within one, and the texts that follow them
are judged by other means; the README's program prints what the README shows; `check`, `match` and
`generate` do their work, and a server answers a request. Where torch isn't installed, what needs it
is left out, and the last line says so.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import subprocess
import sys
import time
import traceback
import urllib.request
from collections.abc import Callable
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer

import maskwright
from maskwright import Grammar, Vocabulary

README = Path(__file__).resolve().parent.parent / "README.md"
DEMO = Path(maskwright.__file__).parent / "models" / "demo"
PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 1, "maxLength": 20},
        "age": {"type": "integer", "minimum": 0, "maximum": 150},
    },
    "required": ["name", "age"],
    "additionalProperties": False,
}
NOTE = "Anna Berg is 34 years old."
BUDGET = 40
WAIT_S = 200.0
"""Seconds after which a command, or a server's answer, is given up."""


def is_person(text: str) -> bool:
    value = json.loads(text)
    return set(value) == {"name", "age"} and 0 <= value["age"] <= 150


def is_call(text: str) -> bool:
    """A call in the format of Hermes' models."""
    [call] = re.findall(r"<tool_call>(.*?)</tool_call>", text, re.DOTALL)
    found = json.loads(call)
    return found["name"] == "add" and is_person(json.dumps(found["arguments"]))


def demo_vocabulary() -> Vocabulary:
    tokenizer = Tokenizer.from_file(str(DEMO / "tokenizer.json"))
    return Vocabulary.from_tokenizer(tokenizer, eos=1)


def compilers(vocab: Vocabulary) -> dict[str, tuple[Grammar, Callable[[str], object]]]:
    """A grammar of each compiler, and how its texts are judged."""
    tool = {"type": "function", "function": {"name": "add", "parameters": PERSON}}
    tag: dict[str, Any] = {
        "type": "structural_tag",
        "format": {"type": "tag", "begin": "<a>", "content": {"type": "any_text"}, "end": "</a>"},
    }
    return {
        "JSON Schema": (maskwright.compile_json_schema(PERSON, vocab), is_person),
        "regex": (
            maskwright.compile_regex("[0-9]{4}-[a-f]+", vocab),
            re.compile("[0-9]{4}-[a-f]+").fullmatch,
        ),
        "grammar": (
            maskwright.compile_grammar('start: "a" start "b" | "ab"', vocab, dialect="lark"),
            lambda text: text and text == "a" * (len(text) // 2) + "b" * (len(text) // 2),
        ),
        "choice": (
            maskwright.compile_choice(["yes", "no", "perhaps"], vocab),
            ["yes", "no", "perhaps"].__contains__,
        ),
        "substring": (
            maskwright.compile_substring(NOTE, vocab),
            NOTE.__contains__,
        ),
        "structural tag": (
            maskwright.compile_structural_tag(tag, vocab),
            re.compile("<a>.*</a>", re.DOTALL).fullmatch,
        ),
        "tools": (maskwright.compile_tools([tool], "required", vocab), is_call),
    }


def allowed(row: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The tokens whose bits are set."""
    return np.flatnonzero(np.unpackbits(row.view(np.uint8), bitorder="little"))


def written(grammar: Grammar, vocab: Vocabulary, rng: np.random.Generator) -> str:
    """A random text within the budget."""
    matcher = grammar.matcher()
    tokens: list[int] = []
    within, without = (np.zeros(vocab.words, dtype=np.int32) for _ in range(2))
    while not matcher.terminated:
        matcher.fill_mask(within, BUDGET - len(tokens))
        matcher.fill_mask(without)
        assert not np.any(within & ~without), "a budget allows no further tokens"
        token = int(rng.choice(allowed(within)))
        assert matcher.accept(token), "an allowed token is accepted"
        tokens += [token] * (token not in vocab.eos)
    assert len(tokens) <= BUDGET, "a text ends within its budget"
    return vocab.decode(tokens).decode()


def masks() -> None:
    """Texts that follow the masks of each compiler have its shape."""
    vocab, rng = demo_vocabulary(), np.random.default_rng(0)
    for name, (grammar, is_right) in compilers(vocab).items():
        for _ in range(5):
            text = written(grammar, vocab, rng)
            assert is_right(text), f"{name}: {text!r}"


def readme() -> None:
    """The README's first program prints what is shown below it."""
    pattern = r"^```python\n(.*?)^```\n\n```\n(.*?)^```"
    found = re.search(pattern, README.read_text(), re.MULTILINE | re.DOTALL)
    assert found, "the README has a program and its output"
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(found[1], str(README), "exec", dont_inherit=True), {"__name__": "readme"})
    assert printed.getvalue() == found[2]


def run(*arguments: str, code: int = 0) -> str:
    """What a command prints on standard output."""
    command = [sys.executable, "-m", "maskwright", *arguments]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=WAIT_S, check=False)
    assert ended.returncode == code, ended.stderr or ended.stdout
    return ended.stdout


def check() -> None:
    """`check` says that a schema can be used, and refuses another."""
    assert "can be used" in run("check", json.dumps(PERSON))
    run("check", '{"minLength": -1}', code=2)


def match() -> None:
    """`match` accepts a text that matches, and names the place where another doesn't."""
    run("match", json.dumps(PERSON), "--text", '{"name": "Anna", "age": 34}')
    found = run("match", json.dumps(PERSON), "--text", '{"name": "", "age": 34}', code=1)
    assert "#/properties/name/minLength" in found


def generate() -> None:
    """`generate` writes what the note says."""
    found = json.loads(run("generate", json.dumps(PERSON), "--prompt", NOTE))
    assert found == {"name": "Anna Berg", "age": 34}


def serve() -> None:
    """A server answers a chat with a schema."""
    command = [sys.executable, "-m", "maskwright", "serve", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            url = server.stdout.readline().split()[-1]
            assert url.startswith("http://127.0.0.1:"), "the server is ready"
            shape = {"type": "json_schema", "json_schema": {"name": "person", "schema": PERSON}}
            body = {
                "messages": [{"role": "user", "content": NOTE}],
                "response_format": shape,
                "temperature": 0,
            }
            request = urllib.request.Request(
                f"{url}/chat/completions",
                json.dumps(body).encode(),
                {"Content-Type": "application/json"},
            )
            with urllib.request.urlopen(request, timeout=WAIT_S) as answer:
                [choice] = json.load(answer)["choices"]
            assert is_person(choice["message"]["content"])
        finally:
            server.kill()


STEPS: list[tuple[Callable[[], None], bool]] = [
    (masks, False),
    (check, False),
    (match, False),
    (readme, True),
    (generate, True),
    (serve, True),
]
"""What is done, and whether it needs torch."""


def main() -> None:
    torch = find_spec("torch") is not None
    versions = {name: version(name) for name in ("numpy", "tokenizers", "maskwright")}
    print(f"Python {sys.version.split()[0]}, {versions}, torch {torch and version('torch')}")
    passed = failed = left_out = 0
    for step, needs_torch in STEPS:
        if needs_torch and not torch:
            left_out += 1
            continue
        began = time.perf_counter()
        try:
            step()
        except Exception:
            traceback.print_exc()
            failed += 1
        else:
            passed += 1
        print(f"{step.__name__}: {time.perf_counter() - began:.1f} s", flush=True)
    if left_out:
        print("WITHOUT torch: what computes a model has NOT run")
    print(f"{passed} passed, {failed} failed, {left_out} skipped")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
