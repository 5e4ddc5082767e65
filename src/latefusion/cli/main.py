"""`latefusion COMMAND`: the parser and the table of commands."""

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

# Each command is a module, imported only when it is used: imports take a second, and --help should be fast.
COMMANDS = {
    "cluster": "cluster the samples of one or more data files",
    "predict": "label new samples with a model that `latefusion cluster --save` wrote",
    "update": "cluster a new table of samples with a saved model: clusters keep their ids, and changes are listed",
    "profiles": "describe the clusters of a saved model by the features that differ most from the other samples",
    "report": "write the report of a saved model about its training files, or about new samples",
    "consensus": "combine several clusterings of the same samples, from tables of labels, into one",
    "compare": "run baselines, methods of the literature, and ours on one data set, and print a table of scores",
    "reproduce": "run the paper's evaluation on available data, with and without known classes: tables and figures",
    "leaderboard": "run all methods on all data sets at hand with default parameters: scores, time, memory and ranks",
    "demo": "cluster five views of handwritten digits, and compare with baselines of scikit-learn",
    "info": "show installed versions, the contents of data files, or available data sets",
}

EXAMPLES = """\
examples:
  latefusion cluster genes.csv proteins.csv -o labels.csv
  latefusion cluster genes.csv proteins.csv -k 5 --save groups.model
  latefusion predict groups.model genes.csv proteins.csv -o new_labels.csv
  latefusion update groups.model new/genes.csv new/proteins.csv -o labels.csv --save new.model
  latefusion profiles groups.model genes.csv proteins.csv -o profiles.csv
  latefusion report groups.model genes.csv proteins.csv -o page.html
  latefusion consensus kmeans.csv snf.csv leiden.csv -o labels.csv
  latefusion COMMAND --help

exit codes: 0 success, 1 error in the input, 2 error in the command line, 130 interrupted
"""


def build_parser(asked: str | None = None) -> argparse.ArgumentParser:
    """The parser with all commands, and the options of the one that is used."""
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
    """Run one command and return its exit code: 0 for success, 1 for an error in its input, 130 for Ctrl-C."""
    words = sys.argv[1:] if arguments is None else arguments
    asked = next((word for word in words if not word.startswith("-")), None)
    if isinstance(sys.stdout, io.TextIOWrapper):  # a terminal without these characters shows others, without an error
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
        _print_error(asked, " ".join(_message_of(error).split()) or type(error).__name__)
        return 1
    except KeyboardInterrupt:
        _print_error(asked, "interrupted")
        return 130
    return 0


def _message_of(error: Exception) -> str:
    """The message of an error, without the error number of the system."""
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.strerror}: {str(error.filename)!r}"
    return str(error)


def _module(command: str) -> ModuleType:
    return import_module(f"latefusion.cli.{command}")


def _print_error(command: str | None, message: str) -> None:
    name = f"latefusion {command}:" if command else "latefusion:"
    print(f"{colored(name, 'red', sys.stderr)} {message}", file=sys.stderr)
