"""The command line."""

from latefusion.cli.main import main

__all__ = ["main"]
