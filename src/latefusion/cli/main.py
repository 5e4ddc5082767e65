"""`latefusion COMMAND`: one parser, one table of commands."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from types import ModuleType

from latefusion.cli.terminal import colored
from latefusion.version import __version__

# Each is a file of this room, which is loaded when its command is asked for: they take a second, and help should not.
COMMANDS = {
    "cluster": "cluster samples that are described in several files",
    "predict": "label new samples with a model that `latefusion cluster --save` wrote",
    "compare": "run plain methods, those of the literature, and ours on one data set and print one table",
    "reproduce": "run the paper's evaluation on the data at hand: tables, figures, and scores without classes",
    "demo": "cluster five views of handwritten digits and show what plain scikit-learn gives beside it",
    "info": "show what is installed, what a data file holds, or which data sets are here",
}

EXAMPLES = """\
examples:
  latefusion cluster genes.csv proteins.csv -o labels.csv
  latefusion cluster genes.csv proteins.csv -k 5 --save groups.model
  latefusion predict groups.model genes.csv proteins.csv -o new_labels.csv
  latefusion COMMAND --help

exit codes: 0 it worked, 1 something is wrong with the input, 2 with the command line, 130 interrupted
"""


def build_parser(asked: str | None = None) -> argparse.ArgumentParser:
    """The parser with all commands, and the options of the one that is asked for."""
    parser = argparse.ArgumentParser(
        prog="latefusion",
        description="Multi-view clustering by late fusion.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"latefusion {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, summary in COMMANDS.items():
        command = commands.add_parser(
            name,
            help=summary,
            description=f"{summary[0].upper()}{summary[1:]}.",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        if name == asked:
            module = _module(name)
            command.epilog = getattr(module, "EXAMPLES", None)
            module.add_arguments(command)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; 0 when it worked, 1 when its input was wrong, 2 when the command line was, 130 on Ctrl-C."""
    words = sys.argv[1:] if arguments is None else arguments
    asked = next((word for word in words if not word.startswith("-")), None)
    if isinstance(sys.stdout, io.TextIOWrapper):  # a terminal without these signs shows others in place of an error
        sys.stdout.reconfigure(errors="replace")
    try:
        parser = build_parser(asked)
        if not words:
            parser.print_help(sys.stderr)
            parser.exit(2)
        options = parser.parse_args(words, argparse.Namespace(words=list(words)))
        _module(options.command).run(options)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has closed the pipe. Python would report it once more when it closes the stream.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (ValueError, OSError, ImportError, MemoryError) as error:
        _complain(asked, " ".join(_words_of(error).split()) or type(error).__name__)
        return 1
    except KeyboardInterrupt:
        _complain(asked, "interrupted")
        return 130
    return 0


def _words_of(error: Exception) -> str:
    """What an error says, without the number that the system has for it."""
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.strerror}: {str(error.filename)!r}"
    return str(error)


def _module(command: str) -> ModuleType:
    return import_module(f"latefusion.cli.{command}")


def _complain(command: str | None, message: str) -> None:
    name = f"latefusion {command}:" if command else "latefusion:"
    print(f"{colored(name, 'red', sys.stderr)} {message}", file=sys.stderr)
