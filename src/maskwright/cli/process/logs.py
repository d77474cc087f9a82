"""The log of `serve`: lines for people, or JSON for machines."""

from __future__ import annotations

import json
import logging
import time

from maskwright.cli.options import LogFormat, LogLevel
from maskwright.server.exchange import CURRENT


def set_up_logs(form: LogFormat, level: LogLevel) -> None:
    """Log to stderr: records of this package from `level` on, others' from warnings on.
    Libraries that are imported and write their own lines, and Python's warnings, are logged too."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines() if form == "json" else TextLines())
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    logging.getLogger("maskwright").setLevel(level.upper())
    for logger in logging.root.manager.loggerDict.values():
        if isinstance(logger, logging.Logger) and logger.handlers and not logger.propagate:
            logger.handlers.clear()
            logger.propagate = True
    logging.captureWarnings(True)


class TextLines(logging.Formatter):
    """A line for each record: time, level, request, message; then a traceback if there is one."""

    def format(self, record: logging.LogRecord) -> str:
        exchange = CURRENT.get()
        who = "" if exchange is None else f" {exchange.request_id}"
        line = f"{_moment(record)} {record.levelname.lower()}{who}: {record.getMessage()}"
        fields = getattr(record, "fields", {})
        if "prompt" in fields:
            line += f": {fields['prompt']!r}"
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


class JsonLines(logging.Formatter):
    """A JSON object on each line: `time`, `level`, `logger`, `request_id` (null outside of
    requests), `message`, the values that the message holds, and `traceback` if there is one."""

    def format(self, record: logging.LogRecord) -> str:
        exchange = CURRENT.get()
        line: dict[str, object] = {
            "time": _moment(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "request_id": None if exchange is None else exchange.request_id,
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)


def _moment(record: logging.LogRecord) -> str:
    """The time of a record in UTC, to the millisecond."""
    seconds = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
    return f"{seconds}.{int(record.msecs):03d}Z"
