"""Outputs that commands share: labels in a file or a pipe, and JSON."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latefusion.cli.arguments import file_path
from latefusion.cli.terminal import progress
from latefusion.outputs import Labels, check_targets
from latefusion.outputs.table_files import table_target, write_table, write_text
from latefusion.outputs.targets import LABELS, MEMBERSHIP_COLUMN, MODEL, REPORT, Kind, Target

STDOUT = Path("-")


def add_answer_arguments(
    parser: argparse.ArgumentParser,
    written: str = "id, label, confidence and novelty of every sample",
    printed: str = "the labels unless -o writes them",
) -> None:
    """Options for the destination and the format of the results: what -o writes, and what --json prints."""
    parser.add_argument(
        "-o",
        "--output",
        type=file_path,
        metavar="FILE",
        help=f"write {written} (.csv, .tsv, .parquet; - prints them)",
    )
    add_force_argument(parser)
    parser.add_argument("--json", action="store_true", help=f"print JSON, with {printed}")
    parser.add_argument("--quiet", action="store_true", help="print only errors, and JSON with --json")


def add_color_argument(parser: argparse.ArgumentParser) -> None:
    """`--color-by`."""
    parser.add_argument(
        "--color-by",
        action="append",
        default=[],
        metavar="COLUMN",
        help="column of a view, of --outcome or of --labels, or VIEW: COLUMN, that the maps of the report can be "
        "coloured by; may be repeated (default: the columns with the largest effects)",
    )


def add_memberships_argument(parser: argparse.ArgumentParser) -> None:
    """The option --memberships, for commands that write labels."""
    parser.add_argument(
        "--memberships",
        action="store_true",
        help="add the probability that a sample keeps its cluster when other samples are clustered, and the "
        "probabilities of all clusters (cluster: takes about six times as long)",
    )


def add_force_argument(parser: argparse.ArgumentParser) -> None:
    """The option --force, for commands that write files."""
    parser.add_argument(
        "--force",
        action="store_true",
        help="also replace existing files of other formats; earlier outputs are always replaced, input files never",
    )


def add_json_argument(parser: argparse.ArgumentParser) -> None:
    """The option --json, for commands without labels."""
    parser.add_argument("--json", action="store_true", help="print JSON")


def print_json(answer: Mapping[str, Any]) -> None:
    """Print one line of JSON."""
    print(json.dumps(without_nan(dict(answer)), ensure_ascii=False))


def check_outputs(options: argparse.Namespace, inputs: Sequence[Path], kind: Kind = LABELS) -> None:
    """Raise an error, before any computation, for outputs that cannot be written or would replace other files."""
    targets = []
    if options.output == STDOUT:
        if options.json:
            raise ValueError("-o - and --json both print to the standard output. Use only one of them.")
    elif options.output is not None:
        targets.append(table_target(options.output, kind, "-o"))
    for option, kind in {"save": MODEL, "report": REPORT}.items():
        path = getattr(options, option, None)
        if path is not None:
            targets.append(Target(path, kind, f"--{option}"))
    check_targets(targets, inputs, force=options.force)


def make_folder(folder: Path) -> None:
    """Create the folder for outputs if it does not exist."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OSError(f"The folder --output {str(folder)!r} cannot be created: {error.strerror}.") from error


def put_labels(found: Labels, options: argparse.Namespace) -> None:
    """Write labels to the file or the standard output of -o, if given."""
    put_table(found.table(), options, LABELS, "labels")


def put_table(columns: Mapping[str, NDArray[Any]], options: argparse.Namespace, kind: Kind, what: str) -> None:
    """Write columns to the file or the standard output of -o, if given."""
    if options.output is None:
        return
    if options.output == STDOUT:
        sys.stdout.flush()
        write_text(columns, sys.stdout.buffer)
        return
    with progress(f"writing the {what}", quiet=options.quiet):
        write_table(columns, options.output, kind, force=options.force)


def count_novel(found: Labels) -> int | None:
    """The number of samples with a novelty above 1; None if the method has no novelty."""
    return None if found.novelty is None else int(np.sum(found.novelty > 1))


# Memberships below it are doubtful: less probable than not.
HALF = 0.5


def membership_of(found: Labels) -> dict[str, Any] | None:
    """The median membership in the own cluster, and the number of samples below 0.5; None without memberships."""
    own = found.columns().get(MEMBERSHIP_COLUMN)
    return None if own is None else {"median": float(np.median(own)), "below_half": int(np.sum(own < HALF))}


def membership_line(answer: Mapping[str, Any]) -> list[str]:
    """A sentence about memberships; none without them."""
    found, n_samples = answer["membership"], answer["n_samples"]
    if found is None:
        return []
    return [
        f"Membership: median {found['median']:.2f} (probability that a sample keeps its cluster when other samples are "
        f"clustered); {found['below_half']} of {n_samples} samples are below {HALF:g}."
    ]


def written_line(what: str, answer: Mapping[str, Any], example: str) -> str:
    """Where the table of -o was written."""
    written = answer["output"]
    if not written:
        return f"{what} were not written. Add -o {example}."
    return f"{what}: {'standard output' if written == str(STDOUT) else written}"


def put_answer(
    answer: dict[str, Any], found: Labels, options: argparse.Namespace, as_text: Callable[[Mapping[str, Any]], str]
) -> None:
    """Print the results as text or JSON."""
    if options.json and options.output is None:
        answer["samples"] = {"id": _listed(found.ids), **{k: _listed(v) for k, v in found.columns().items()}}
    print_answer(answer, options, as_text)


def print_answer(
    answer: Mapping[str, Any], options: argparse.Namespace, as_text: Callable[[Mapping[str, Any]], str]
) -> None:
    """Print JSON, or text where -o does not print."""
    if options.json:
        print_json(answer)
    elif not options.quiet:
        print(as_text(answer), file=sys.stderr if options.output == STDOUT else sys.stdout)


def _listed(values: Any) -> list[Any] | None:
    return None if values is None else np.asarray(values).tolist()


def without_nan(value: Any) -> Any:
    """Values with None in place of NaN and infinities, which JSON does not have."""
    if isinstance(value, dict):
        return {str(key): without_nan(one) for key, one in value.items()}
    if isinstance(value, list):
        return [without_nan(one) for one in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value
