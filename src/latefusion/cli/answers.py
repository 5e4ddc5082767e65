"""What commands share on the way out: labels to a file or a pipe, and JSON."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from latefusion.cli.terminal import progress
from latefusion.outputs import Labels, check_target, write_labels
from latefusion.outputs.labels import check_labels_target, write_text

STDOUT = Path("-")


def add_answer_arguments(parser: argparse.ArgumentParser) -> None:
    """Options that say where the answer goes."""
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FILE",
        help="write ids, called as in the files, label and confidence (.csv, .tsv, .parquet; - prints)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON; it holds the labels unless -o takes them")
    parser.add_argument("--quiet", action="store_true", help="print nothing but errors, and JSON where asked for")


def add_json_argument(parser: argparse.ArgumentParser) -> None:
    """The option of commands that have no labels to write."""
    parser.add_argument("--json", action="store_true", help="print JSON")


def print_json(answer: Mapping[str, Any]) -> None:
    """One line of JSON on the standard output."""
    print(json.dumps(without_nan(dict(answer)), ensure_ascii=False))


def check_outputs(options: argparse.Namespace, *others: Path | None) -> None:
    """Refuse places that cannot be written to, before any work is done."""
    if options.output == STDOUT:
        if options.json:
            raise ValueError("-o - and --json would both go to the standard output: leave one out.")
    elif options.output is not None:
        check_labels_target(options.output)
    for other in others:
        if other is not None:
            check_target(other)


def put_labels(found: Labels, options: argparse.Namespace) -> None:
    """Write labels to a file, or to the standard output, where that was asked for."""
    if options.output is None:
        return
    if options.output == STDOUT:
        sys.stdout.flush()
        write_text(found.table(), sys.stdout.buffer)
        return
    with progress("writing the labels", quiet=options.quiet):
        write_labels(found, options.output)


def put_answer(
    answer: dict[str, Any], found: Labels, options: argparse.Namespace, as_text: Callable[[Mapping[str, Any]], str]
) -> None:
    """Print the answer, as JSON or for a person."""
    if options.json:
        if options.output is None:
            answer["samples"] = {"id": _listed(found.ids), **{k: _listed(v) for k, v in found.columns().items()}}
        print_json(answer)
    elif not options.quiet:
        print(as_text(answer), file=sys.stderr if options.output == STDOUT else sys.stdout)


def _listed(values: Any) -> list[Any] | None:
    return None if values is None else np.asarray(values).tolist()


def without_nan(value: Any) -> Any:
    """JSON has no NaN: it becomes null."""
    if isinstance(value, dict):
        return {str(key): without_nan(one) for key, one in value.items()}
    if isinstance(value, list):
        return [without_nan(one) for one in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value
