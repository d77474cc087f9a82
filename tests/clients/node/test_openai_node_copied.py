"""The TypeScript that the playground copies, compiled by the package `typescript` and run with the
official `openai` package of npm."""

from __future__ import annotations

import json
from pathlib import Path

from tests.clients.node.scripts import run_script

SNIPPETS = (
    Path(__file__).parents[3] / "src/maskwright/server/pages/playground/snippets.js"
).as_uri()
SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
    "required": ["name", "age"],
    "additionalProperties": False,
}
BODY = {
    "model": "maskwright-demo",
    "temperature": 0,
    "messages": [{"role": "user", "content": "Anna Berg, 34, lives in Oslo."}],
    "response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": SCHEMA}},
}
SCRIPT = """
import { writeFileSync } from "node:fs";
import ts from "typescript";

globalThis.sessionStorage = { getItem: () => null };  // where the page keeps a key
const { PROGRAMS } = await import(SNIPPETS);
const program = PROGRAMS.TypeScript(BODY, process.env.MASKWRIGHT_BASE.replace(/\\/v1$/, ""));
const options = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 };
const { outputText, diagnostics } =
  ts.transpileModule(program, { compilerOptions: options, reportDiagnostics: true });
const faults = diagnostics.map((each) => each.messageText);
if (faults.length) throw new Error(JSON.stringify(faults));
writeFileSync("copied.mjs", outputText);
await import(`${process.cwd()}/copied.mjs`);
"""


def test_the_copied_typescript_runs_as_it_is(url: str) -> None:
    script = SCRIPT.replace("SNIPPETS", json.dumps(SNIPPETS)).replace("BODY", json.dumps(BODY))
    found = json.loads(run_script(script, ["openai", "typescript"], url))
    assert (found["name"], found["age"]) == ("Anna Berg", 34)
