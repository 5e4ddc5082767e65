"""`latefusion info`: what is installed, what a file holds, and which data sets are here."""

from __future__ import annotations

import argparse
import importlib.metadata
import platform
import textwrap
from pathlib import Path

import numpy as np

import latefusion
from latefusion.cli.terminal import progress
from latefusion.datasets import cache_folder, data_folder, find_datasets, load_views
from latefusion.datasets.catalogue import FoundDataset
from latefusion.experiments import format_table

LIBRARIES = (
    *("numpy", "scipy", "scikit-learn", "matplotlib", "pandas", "polars", "pyarrow", "h5py", "anndata", "mudata"),
    *("torch", "cupy"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the command."""
    parser.add_argument("path", type=Path, nargs="?", help="a data file, or a folder of tables, to look into")
    parser.add_argument("--datasets", action="store_true", help="list known data sets, and where to get missing ones")
    parser.add_argument("--data", type=Path, help="folder with data sets (default: LATEFUSION_DATA)")


def run(options: argparse.Namespace) -> None:
    """Look and print."""
    if options.path is not None:
        print(describe_file(options.path))
    if options.datasets:
        print(describe_datasets(options.data))
    if options.path is None and not options.datasets:
        print(describe_installation(options.data))


def describe_installation(data: Path | None) -> str:
    """Versions and folders."""
    rows = [["latefusion", latefusion.__version__], ["Python", platform.python_version()]]
    rows += [[name, _version(name)] for name in LIBRARIES]
    rows += [["data folder", str(data_folder(data) or "not set (LATEFUSION_DATA)")], ["cache", str(cache_folder())]]
    width = max(len(name) for name, _ in rows)
    return "\n".join(f"{name.ljust(width)}  {value}" for name, value in rows)


def describe_file(path: Path) -> str:
    """Samples, classes and views of one file."""
    with progress("reading"):
        data = load_views(path)
    lines = [f"{data.name}: {len(data.views)} samples, {data.views.n_views} views ({data.kind})"]
    if data.target is not None:
        names, sizes = np.unique(data.target, return_counts=True)
        lines.append(f"{len(names)} classes of {sizes.min()} to {sizes.max()} samples")
    else:
        lines.append("no labels")
    mask = data.views.mask
    rows = []
    for position, (name, array) in enumerate(data.views.items()):
        seen = len(data.views) if mask is None else int(mask[:, position].sum())
        form = "sparse" if hasattr(array, "tocsr") else "dense"
        rows.append([name, str(array.shape[1]), str(array.dtype), form, str(seen)])
    return "\n".join([*lines, "", format_table(["view", "columns", "type", "form", "samples"], rows)])


def describe_datasets(data: Path | None) -> str:
    """Tables of the data sets that are here and of those that are not."""
    folder = data_folder(data)
    with progress("looking for data sets"):
        found = find_datasets(data)
    here = [item for item in found if item.path is not None]
    place = str(folder) if folder is not None else "no data folder: give --data, or set LATEFUSION_DATA"
    lines = [f"{len(here)} data sets here ({place})"]
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


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"
