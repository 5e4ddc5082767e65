"""`latefusion info`: installed versions, contents of files, and available data sets."""

from __future__ import annotations

import argparse
import importlib.metadata
import platform
import sys
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import latefusion
from latefusion.arrays import available_memory, find_backends, find_devices, size_in_words
from latefusion.cli.answers import add_json_argument, print_json
from latefusion.cli.arguments import file_path
from latefusion.cli.files_info import describe_files, files_text
from latefusion.cli.inputs import add_table_arguments, in_words_of_the_command_line, table_arguments
from latefusion.cli.standard_input import displayed, standard_input
from latefusion.cli.terminal import colored, progress
from latefusion.datasets import cache_folder, data_folder, find_datasets
from latefusion.datasets.catalogue import FoundDataset
from latefusion.datasets.options import table_options
from latefusion.tables import format_table

EXAMPLES = """\
examples:
  latefusion info                 versions, array libraries, GPUs, folders
  latefusion info cells.h5mu      contents of a file
  latefusion info rna.csv pro.csv columns, types, ids, missing values, overlap of the ids
  latefusion info groups.model    class, views, clusters, date and versions of a saved model
  latefusion info --datasets      available data sets, and where to get the others
"""

LIBRARIES = (
    *("scipy", "scikit-learn", "matplotlib", "umap-learn", "pandas", "polars", "pyarrow", "narwhals", "h5py", "zarr"),
    *("openpyxl", "anndata", "mudata"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the command."""
    parser.add_argument(
        "files",
        type=file_path,
        nargs="*",
        metavar="FILE",
        help="data files, folders of tables, - for a table from standard input, or a saved model",
    )
    add_table_arguments(parser)
    parser.add_argument(
        "--datasets", action="store_true", help="list known data sets, and where to get those that are not available"
    )
    parser.add_argument("--data", type=file_path, help="folder with data sets (default: LATEFUSION_DATA)")
    add_json_argument(parser)


def run(options: argparse.Namespace) -> None:
    """Collect the information and print it."""
    answer: dict[str, Any] = {}
    texts = []
    if options.files:
        with progress("reading"), standard_input(options) as available, in_words_of_the_command_line():
            reading = table_options(label_column=None, **table_arguments(available))
            answer = displayed(describe_files(available.files, reading), options, available)
        texts.append(files_text(answer))
    if options.datasets:
        with progress("looking for data sets"):
            found = find_datasets(options.data)
        answer["datasets"] = [_dataset_record(item) for item in found]
        texts.append(_datasets_text(found, data_folder(options.data)))
    if not answer:
        answer = describe_installation(options.data)
        texts.append(_installation_text(answer))
    if options.json:
        print_json(answer)
    else:
        print("\n\n".join(texts))


def describe_installation(data: Path | None) -> dict[str, Any]:
    """Versions, array libraries, devices and folders."""
    with progress("looking for devices"):  # importing torch is slow
        backends, devices = find_backends(), find_devices()
    folder = data_folder(data)
    return {
        "latefusion": latefusion.__version__,
        "python": platform.python_version(),
        "libraries": {name: _version(name) for name in LIBRARIES},
        "backends": backends,
        "devices": [one._asdict() for one in devices],
        "free_memory": available_memory(),
        "data_folder": None if folder is None else str(folder),
        "cache": str(cache_folder()),
    }


def _installation_text(answer: Mapping[str, Any]) -> str:
    rows = [["latefusion", answer["latefusion"]], ["Python", answer["python"]]]
    rows += [[name, version or "not installed"] for name, version in answer["libraries"].items()]
    blocks = [rows, [[name, version or "not installed"] for name, version in answer["backends"].items()]]
    devices = []
    for one in answer["devices"]:
        size = "" if one["n_bytes"] is None else f", {size_in_words(one['n_bytes'])}"
        devices.append([one["name"], f"{one['description']}{size} ({one['backend']})"])
    if len(devices) == 1:
        devices.append(["GPU", "none that torch or CuPy can use"])
    free = answer["free_memory"]
    devices.append(["free memory", "unknown" if free is None else size_in_words(free)])
    folders = [["data", answer["data_folder"] or "not set (LATEFUSION_DATA)"], ["cache", answer["cache"]]]
    titles = ["versions", "array libraries", "to compute on", "folders"]
    lines = []
    for title, block in zip(titles, [*blocks, devices, folders], strict=True):
        lines += [colored(title, "bold", sys.stdout), *(f"  {name:14}{value}" for name, value in block)]
    return "\n".join(lines)


def _dataset_record(item: FoundDataset) -> dict[str, Any]:
    entry, header = item.entry, item.header
    return {
        "name": item.name,
        "path": None if item.path is None else str(item.path),
        "header": None if header is None else header._asdict(),
        "problem": item.problem or None,
        "paper": None if entry is None else entry.paper or None,
        "how_to_get": None if entry is None else entry.how_to_get(),
        "licence": None if entry is None else entry.licence,
    }


def _datasets_text(found: Sequence[FoundDataset], folder: Path | None) -> str:
    """Tables of the data sets that are available and of those that are not."""
    here = [item for item in found if item.path is not None]
    shown_folder = str(folder) if folder is not None else "no data folder: give --data, or set LATEFUSION_DATA"
    lines = [f"{len(here)} data sets here ({shown_folder})"]
    if here:
        header = ["data set", "n", "m", "k", "views", "row of the paper", "likeness", "file"]
        lines += ["", format_table(header, [_present_row(item) for item in here])]
    troubled = [item for item in here if item.problem]
    lines += [_wrapped(f"{item.name}: {item.problem}") for item in troubled]
    missing = [item.entry for item in found if item.path is None and item.entry is not None]
    if missing:
        lines += [
            "",
            f"{len(missing)} known data sets are not here; sizes are those of the paper where it uses them",
            "",
        ]
        rows = [
            [entry.name, str(entry.n_samples), str(entry.n_views), str(entry.n_classes), entry.kind, entry.paper or "–"]
            for entry in missing
        ]
        lines += [format_table(["data set", "n", "m", "k", "views", "row of the paper"], rows), ""]
        lines += [_wrapped(f"{entry.name}: {entry.how_to_get()}. Licence: {entry.licence}.") for entry in missing]
    lines += ["", "Always here: digits, breast_cancer (computed from the data in scikit-learn)."]
    return "\n".join(lines)


def _present_row(item: FoundDataset) -> list[str]:
    sizes = ["–"] * 4
    if item.header is not None:
        n_samples, n_views, n_classes, kind = item.header
        sizes = [str(n_samples), str(n_views), "–" if n_classes is None else str(n_classes), kind]
    row = item.entry.paper if item.entry is not None and item.entry.paper else "–"
    likeness = item.copy.likeness if item.copy is not None and item.copy.likeness else "–"
    return [item.name, *sizes, row, likeness, item.path.name if item.path is not None else ""]


def _wrapped(text: str) -> str:
    return textwrap.fill(text, 120, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None
