"""The command line: parse, call, print."""

from latefusion.cli.main import main

__all__ = ["main"]
