"""The command line: `maskwright serve | check | generate | convert`."""

from maskwright.cli.program import main

__all__ = ["main"]
