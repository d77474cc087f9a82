"""Files and batches through the official `openai` package, with the shipped model."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import openai
import pytest

from maskwright.server import ServerConfig, create_app
from tests.bounds import PATIENCE
from tests.live_server import live_server
from tests.pages.demo_server import Served

PEOPLE = ("Anna Berg, 34", "Tom Hill, 51", "Eva Lund, 20", "Jo Park, 43", "Max Stein, 67")
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 20},
        "age": {"type": "integer", "minimum": 0, "maximum": 130},
    },
    "required": ["name", "age"],
    "additionalProperties": False,
}


def requests(count: int) -> bytes:
    shape = {"type": "json_schema", "json_schema": {"name": "person", "schema": SCHEMA}}
    lines = [
        {
            "custom_id": f"r{n}",
            "method": "POST",
            "url": "/v1/chat/completions",
            "body": {
                "model": "demo",
                "messages": [{"role": "user", "content": PEOPLE[n % len(PEOPLE)]}],
                "response_format": shape,
                "temperature": 0,
            },
        }
        for n in range(count)
    ]
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def until(client: openai.OpenAI, id: str, done: Callable[[Any], bool]) -> Any:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        batch = client.batches.retrieve(id)
        if done(batch):
            return batch
        time.sleep(0.05)
    raise AssertionError(f"waited in vain: {batch}")


def check_results(client: openai.OpenAI, batch: Any, count: int) -> None:
    """Each request has one answer, which is valid."""
    assert batch.status == "completed"
    assert (batch.request_counts.completed, batch.request_counts.failed) == (count, 0)
    lines = [
        json.loads(line)
        for line in client.files.content(batch.output_file_id).text.split("\n")[:-1]
    ]
    assert sorted(line["custom_id"] for line in lines) == sorted(f"r{n}" for n in range(count))
    for line in lines:
        answer = line["response"]["body"]["choices"][0]["message"]["content"]
        jsonschema.validate(json.loads(answer), SCHEMA)


def test_the_official_client(served: Served, tmp_path: Path) -> None:
    config = ServerConfig(batch_folder=tmp_path)
    with live_server(create_app(served.engine, config)) as url:
        client = openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0)
        file = client.files.create(file=("in.jsonl", requests(10)), purpose="batch")
        assert client.files.retrieve(file.id) == file
        assert [each.id for each in client.files.list()] == [file.id]
        made = client.batches.create(
            input_file_id=file.id,
            endpoint="/v1/chat/completions",
            completion_window="24h",
            metadata={"for": "test"},
        )
        assert made.status == "validating"
        batch = until(client, made.id, lambda batch: batch.status == "completed")
        check_results(client, batch, 10)
        assert [each.id for each in client.batches.list()] == [made.id]
        with pytest.raises(openai.BadRequestError, match="can't be cancelled"):
            client.batches.cancel(made.id)
        assert client.files.delete(file.id).deleted
        with pytest.raises(openai.NotFoundError):
            client.files.content(file.id)


@pytest.mark.slow
def test_a_server_that_is_killed_goes_on(tmp_path: Path) -> None:
    """`kill -9` at three moments of a batch of 300 requests."""

    def started() -> tuple[subprocess.Popen[str], openai.OpenAI]:
        program = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "maskwright",
                "serve",
                "--port",
                "0",
                "--batch-folder",
                tmp_path,
            ],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert program.stdout is not None
        for line in program.stdout:
            if found := re.search(r"http://\S+/v1", line):
                return program, openai.OpenAI(base_url=found[0], api_key="none", max_retries=0)
        raise AssertionError("it did not start")

    count, id = 300, ""
    for least in (1, 60, 150):
        program, client = started()
        try:
            if not id:
                file = client.files.create(file=("in.jsonl", requests(count)), purpose="batch")
                id = client.batches.create(
                    input_file_id=file.id,
                    endpoint="/v1/chat/completions",
                    completion_window="24h",
                ).id

            def enough(batch: Any, least: int = least) -> bool:
                return batch.request_counts.completed >= least

            assert until(client, id, enough).status == "in_progress"
        finally:
            os.kill(program.pid, signal.SIGKILL)
            program.communicate()
    program, client = started()
    try:
        check_results(client, until(client, id, lambda batch: batch.status == "completed"), count)
    finally:
        program.terminate()
        program.communicate(timeout=PATIENCE)
