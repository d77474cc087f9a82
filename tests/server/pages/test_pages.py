"""Pages: what is sent for them, and with which headers."""

from __future__ import annotations

import re
import shutil
import subprocess
from posixpath import normpath

import pytest

from maskwright.server.openapi.document import PATH as DOCUMENT
from maskwright.server.pages import static_files
from tests.server.scripted import Client
from tests.source_tree import PACKAGE

PAGES = static_files()


@pytest.mark.parametrize("path", sorted(PAGES))
def test_a_file_is_sent_as_what_it_is(client: Client, path: str) -> None:
    response = client.call("GET", path)
    assert response.content == PAGES[path].data
    assert response.headers["content-type"] == PAGES[path].kind
    assert response.headers["x-content-type-options"] == "nosniff"
    policy = response.headers["content-security-policy"].split("; ")
    assert {"default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"} <= set(policy)
    again = client.call("GET", path, headers={"if-none-match": response.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert client.call("HEAD", path).status_code == 200


def test_a_page_has_no_script_of_its_own_and_names_only_files_that_there_are() -> None:
    for path, file in PAGES.items():
        if file.kind.startswith("text/html"):
            text = file.data.decode()
            assert not re.search(r"<script[^>]*>[^<]|<style|\son\w+=|\sstyle=", text), path
            for name in re.findall(r'(?:src|href)="([^"#]+)"', text):
                assert normpath(f"/{name}") in {*PAGES, DOCUMENT}, name
        if file.kind.startswith("text/javascript"):
            folder = path.rpartition("/")[0]
            text = file.data.decode()
            for name in re.findall(r'from "\./([^"]+)"', text):
                assert f"{folder}/{name}" in PAGES, name
            assert not re.search(r"innerHTML|insertAdjacentHTML|\beval\(|new Function", text), path


def test_what_is_no_file_of_a_page_is_not_sent(client: Client) -> None:
    for path in ("/pages/playground/", "/pages/../app.py", "/pages/playground/none.js"):
        assert client.call("GET", path).status_code == 404


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node (Debian: nodejs)")
def test_programs_are_written_outside_of_a_page_too() -> None:
    """As the tests of clients have them written and run: nothing asks for a window on import."""
    file = PACKAGE / "server" / "pages" / "playground" / "snippets.js"
    script = f"const {{ PROGRAMS }} = await import('{file.as_uri()}');"
    script += "console.log(Object.keys(PROGRAMS).length)"
    command = ["node", "--input-type=module", "-e", script]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert int(ended.stdout) >= 3
