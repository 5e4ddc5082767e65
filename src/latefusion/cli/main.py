"""`latefusion COMMAND`: one parser, one table of commands."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import latefusion
from latefusion.cli import compare, demo, info, reproduce

COMMANDS = {"demo": demo, "compare": compare, "reproduce": reproduce, "info": info}


def build_parser() -> argparse.ArgumentParser:
    """The parser with all commands."""
    parser = argparse.ArgumentParser(prog="latefusion", description="Multi-view clustering by late fusion.")
    parser.add_argument("--version", action="version", version=f"latefusion {latefusion.__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, module in COMMANDS.items():
        module.add_arguments(commands.add_parser(name, help=module.SUMMARY, description=module.SUMMARY))
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; 0 when it worked, 1 when its input was wrong, 2 when the command line was, 130 on Ctrl-C."""
    options = build_parser().parse_args(arguments)
    try:
        COMMANDS[options.command].run(options)
    except (ValueError, OSError, ImportError) as error:
        print(f"latefusion {options.command}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"latefusion {options.command}: interrupted", file=sys.stderr)
        return 130
    return 0
