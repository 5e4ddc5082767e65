"""`latefusion COMMAND`: one parser, one table of commands."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence

import latefusion
from latefusion.cli import cluster, compare, demo, info, predict, reproduce
from latefusion.cli.terminal import colored

COMMANDS = {
    "cluster": cluster,
    "predict": predict,
    "compare": compare,
    "reproduce": reproduce,
    "demo": demo,
    "info": info,
}

EXAMPLES = """\
examples:
  latefusion cluster genes.csv proteins.csv -o labels.csv
  latefusion cluster genes.csv proteins.csv -k 5 --save groups.model
  latefusion predict groups.model genes.csv proteins.csv -o new_labels.csv
  latefusion COMMAND --help

exit codes: 0 it worked, 1 something is wrong with the input, 2 with the command line, 130 interrupted
"""


def build_parser() -> argparse.ArgumentParser:
    """The parser with all commands."""
    parser = argparse.ArgumentParser(
        prog="latefusion",
        description="Multi-view clustering by late fusion.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"latefusion {latefusion.__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, module in COMMANDS.items():
        module.add_arguments(
            commands.add_parser(
                name,
                help=module.SUMMARY,
                description=f"{module.SUMMARY[0].upper()}{module.SUMMARY[1:]}.",
                epilog=getattr(module, "EXAMPLES", None),
                formatter_class=argparse.RawDescriptionHelpFormatter,
            )
        )
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; 0 when it worked, 1 when its input was wrong, 2 when the command line was, 130 on Ctrl-C."""
    parser = build_parser()
    if not (sys.argv[1:] if arguments is None else arguments):
        parser.print_help(sys.stderr)
        parser.exit(2)
    options = parser.parse_args(arguments)
    if isinstance(sys.stdout, io.TextIOWrapper):  # a terminal without these signs shows others in place of an error
        sys.stdout.reconfigure(errors="replace")
    try:
        COMMANDS[options.command].run(options)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read our output has seen enough. Python would complain once more when it closes the stream.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (ValueError, OSError, ImportError, MemoryError) as error:
        _complain(options.command, " ".join(_words_of(error).split()) or type(error).__name__)
        return 1
    except KeyboardInterrupt:
        _complain(options.command, "interrupted")
        return 130
    return 0


def _words_of(error: Exception) -> str:
    """What an error says, without the number that the system has for it."""
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.strerror}: {str(error.filename)!r}"
    return str(error)


def _complain(command: str, message: str) -> None:
    print(f"{colored(f'latefusion {command}:', 'red', sys.stderr)} {message}", file=sys.stderr)
