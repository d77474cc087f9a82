from __future__ import annotations

import sys

import pytest

from maskwright.cli.serving.serve_work import open_sinks
from maskwright.errors import InputError


def test_spans_need_their_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    monkeypatch.delitem(sys.modules, "maskwright.server.observe.spans", raising=False)
    with pytest.raises(InputError, match=r"pip install 'maskwright\[otel\]'"):
        open_sinks(None, "http://127.0.0.1:1/v1/traces")


def test_spans_need_an_address() -> None:
    with pytest.raises(InputError, match="begins with http") as caught:
        open_sinks(None, "localhost:4318")
    assert caught.value.param == "otel"
