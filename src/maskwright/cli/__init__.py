"""The command line: `maskwright serve | check | generate`."""

from maskwright.cli.program import main

__all__ = ["main"]
