"""Views in tables: one file per view, rows are samples, matched by the ids in them.

A folder holds one table per view, called as the view (``genes.csv``, ``proteins.parquet``), and perhaps a file
``labels.csv`` (or another name of `LABEL_FILES`). A column of ids says which sample a row is about: the one that was
asked for, the index of a Parquet file, or the first column if it has no name, is called like one of `ID_NAMES`, or
holds words. Samples need not be in every table. Without any ids, the tables must have the same rows in the same order.

Separators (comma, semicolon, tab), decimal commas, encodings (UTF-8 with or without a mark, Windows-1252), and whether
there is a line of names are found out. pandas does the reading.
"""

from __future__ import annotations

import codecs
import csv
import itertools
import re
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from latefusion.datasets.joining import Part, join_samples
from latefusion.datasets.labels import LABEL_COLUMNS, encode_labels, plain
from latefusion.datasets.optional import require
from latefusion.types import MultiViewDataset

Frame = Any

TEXT_SUFFIXES = (".csv", ".tsv", ".txt")
PARQUET_SUFFIXES = (".parquet", ".pq")
TABLE_SUFFIXES = TEXT_SUFFIXES + PARQUET_SUFFIXES
SEPARATORS = "\t;,"
BLANKS = r"\s+"
DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+(?:[eE][+-]?\d+)?")
# Lines looked at to find out how a file is written, and bytes read at a time.
SAMPLE_LINES = 20
BLOCK = 2**16
# What columns are called that have no name in the file.
MADE_UP = "column {}"
# Stands for the column behind the last separator, where every line ends in one.
TRAILING = "\0"
LABEL_FILES = ("labels", "label", "y", "target", "classes", "class", "truth", "gt")
ID_NAMES = (
    "", "id", "ids", "index", "sample", "sampleid", "samples", "samplename", "name", "barcode", "cell", "cellid",
    "patient", "patientid", "subject", "subjectid", "rowname", "rownames", "obs", "obsnames",
)  # fmt: skip


class Table(NamedTuple):
    """One file, taken apart; the name of its column of ids is empty where it has none."""

    values: Frame
    ids: NDArray[Any] | None
    labels: NDArray[Any] | None
    id_name: str = ""


def read_tables(place: Path, *, id_column: str | None = None, label_column: str | None = None) -> MultiViewDataset:
    """The data set in a folder of tables, or in a single one; see the top of this module.

    Parameters
    ----------
    place : Path
    id_column : str, default=None
        Column with the sample ids, in every table.
    label_column : str, default=None
        Column with the classes, in any table.

    Returns
    -------
    MultiViewDataset
        With float views; rows of samples that a table lacks are NaN, and False in the mask.
    """
    label_file, files = _files(place)
    tables = {name: take_apart(file, id_column, label_column) for name, file in files.items()}
    labelled = {str(files[name]): table for name, table in tables.items() if table.labels is not None}
    if label_file is not None:
        table = label_table(label_file, id_column, label_column)
        labelled = {str(label_file): table}
    elif label_column is not None and not labelled:
        columns = {name: list(map(str, table.values.columns[:8])) for name, table in tables.items()}
        raise ValueError(f"{str(place)!r}: no table has a column {label_column!r}; the first columns are {columns}.")
    parts = {
        name: Part(numbers_of(table.values, files[name]), table.ids, str(files[name])) for name, table in tables.items()
    }
    views = join_samples(parts)
    target, target_names = target_of(labelled, views.sample_ids, len(views))
    absent = "" if views.mask is None else f", of which {int((~views.mask.all(axis=1)).sum())} are not in every view"
    return MultiViewDataset(
        views=views,
        target=target,
        name=place.stem if place.is_file() else place.resolve().name,
        target_names=target_names,
        description=f"Read from {place.name}: {len(views)} samples{absent}; "
        f"{'matched by id' if views.sample_ids is not None else 'rows in the order of the file'}.",
        feature_names={name: [str(column) for column in table.values.columns] for name, table in tables.items()},
        id_name=common_name(table.id_name for table in tables.values()),
    )


def common_name(names: Iterable[str]) -> str:
    """The one name that all have; empty where they differ."""
    found = set(names)
    return found.pop() if len(found) == 1 else ""


def _files(place: Path) -> tuple[Path | None, dict[str, Path]]:
    """The file of labels, if there is one, and the files of views by name."""
    if place.is_file():
        return None, {place.stem: place}
    inside = sorted(entry for entry in place.iterdir() if not entry.name.startswith((".", "_")))
    tables = [entry for entry in inside if entry.is_file() and entry.suffix.lower() in TABLE_SUFFIXES]
    labels = [table for table in tables if plain(table.stem) in LABEL_FILES]
    views = [table for table in tables if table not in labels]
    if not views:
        found = ", ".join(entry.name for entry in inside[:8]) or "nothing"
        raise ValueError(
            f"The folder {str(place)!r} has no tables ({', '.join(TABLE_SUFFIXES)}), one per view; it holds {found}."
        )
    if len(labels) > 1:
        raise ValueError(f"{str(place)!r} has several files of labels: {[file.name for file in labels]}. Keep one.")
    names = [view.stem for view in views]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        clash = [view.name for view in views if view.stem == twice]
        raise ValueError(f"{str(place)!r} has several tables for the view {twice!r}: {clash}. Keep or rename one.")
    return next(iter(labels), None), dict(zip(names, views, strict=True))


def take_apart(file: Path, id_column: str | None, label_column: str | None) -> Table:
    """The values, ids and labels in a table, as far as they are there."""
    frame = _read_frame(file, id_column)
    columns = list(frame.columns)
    ids = None
    if id_column is not None:
        if id_column not in columns and frame.index.name != id_column:
            raise ValueError(f"{str(file)!r} has no column {id_column!r} of ids; its columns are {_listed(columns)}.")
        ids = frame.pop(id_column) if id_column in columns else frame.index
    elif not _is_numbered(frame.index):
        ids = frame.index
    elif columns and _is_id_column(frame, columns[0]):
        ids = frame.pop(columns[0])
    label = label_column if label_column in frame.columns else None
    if label_column is None:
        label = next((column for column in frame.columns if plain(column) in LABEL_COLUMNS), None)
    labels = None if label is None else np.asarray(frame.pop(label))
    if ids is None:
        return Table(frame, None, labels)
    return Table(frame, _checked_ids(ids, file), labels, _own_name(ids.name))


def _own_name(name: Any) -> str:
    """The name of a column as the file has it."""
    return "" if name is None or name == MADE_UP.format(0) else str(name)


def label_table(file: Path, id_column: str | None, label_column: str | None) -> Table:
    """A file of labels: one column of them, perhaps one of ids before it."""
    values, ids, labels, id_name = take_apart(file, id_column, label_column)
    if labels is None:
        if values.shape[1] == 0 and ids is not None:
            ids, labels = None, ids  # words alone are the labels
        elif values.shape[1] == 1:
            labels = np.asarray(values.iloc[:, 0])
        else:
            raise ValueError(
                f"{str(file)!r} has the columns {_listed(values.columns)}, so it is open which one holds the labels: "
                f"keep one, call it 'label', or give label_column."
            )
    return Table(values, ids, labels, id_name)


def target_of(
    labelled: Mapping[str, Table], sample_ids: NDArray[Any] | None, n_samples: int
) -> tuple[NDArray[Any] | None, tuple[str, ...]]:
    """Classes in the order of the samples."""
    classes: dict[Any, Any] = {}
    samples = range(n_samples) if sample_ids is None else sample_ids.tolist()
    for file, (_, ids, labels, _) in labelled.items():
        assert labels is not None  # for the type checker: only tables with labels come here
        if (ids is None or sample_ids is None) and len(labels) != n_samples:
            raise ValueError(f"{file!r} has {len(labels)} labels, but there are {n_samples} samples in the views.")
        keys = samples if ids is None or sample_ids is None else ids.tolist()
        for key, label in zip(keys, labels.tolist(), strict=True):
            if label is None or label != label:
                continue  # an empty field
            if classes.setdefault(key, label) != label:
                raise ValueError(f"{file!r} calls sample {key!r} {label!r}, another file {classes[key]!r}.")
    if not labelled:
        return None, ()
    bare = [sample for sample in samples if sample not in classes]
    if bare:
        raise ValueError(
            f"{', '.join(labelled)}: {len(bare)} of {n_samples} samples have no label, such as {bare[0]!r}. Add them, "
            f"or leave the labels out."
        )
    return encode_labels(np.array([classes[sample] for sample in samples]), ", ".join(labelled))


def numbers_of(frame: Frame, file: Path) -> NDArray[Any]:
    """The values of a view; columns of words are refused by name."""
    columns = [str(column) for column in frame.columns]
    if not columns or not len(frame):
        raise ValueError(
            f"{str(file)!r} has {len(frame)} rows and {len(columns)} columns of values: nothing to cluster."
        )
    words = {name: _example(frame.iloc[:, at]) for at, name in enumerate(columns) if not _is_number(frame.iloc[:, at])}
    if words:
        shown = ", ".join(f"{name!r} (such as {example!r})" for name, example in list(words.items())[:5])
        more = f" and {len(words) - 5} more" if len(words) > 5 else ""
        raise ValueError(
            f"{str(file)!r} holds columns that are not numbers: {shown}{more}. Encode them as numbers or drop them; "
            f"ids and classes are named with id_column and label_column."
        )
    single = all(str(dtype).lower() == "float32" for dtype in frame.dtypes)
    return np.asarray(frame.to_numpy(dtype=np.float32 if single else np.float64, na_value=np.nan))


def _is_number(column: Any) -> bool:
    return getattr(column.dtype, "kind", "O") in "biuf"


def _example(column: Any) -> Any:
    """A value that is no number; any if there is none."""
    words = [value for value in column.tolist() if isinstance(value, str)]
    return next((word for word in words if not _parses(word)), column.iloc[0] if len(column) else None)


def _is_numbered(index: Any) -> bool:
    """Whether an index only counts rows."""
    return index.name is None and list(index[:3]) == list(range(min(3, len(index)))) and index.dtype.kind in "iu"


def _is_id_column(frame: Frame, column: Any) -> bool:
    return plain(column) in ID_NAMES or not (_is_number(frame[column]) or plain(column) in LABEL_COLUMNS)


def _checked_ids(values: Any, file: Path) -> NDArray[Any]:
    ids = np.array([str(value) for value in values], dtype=str)
    seen, times = np.unique(ids, return_counts=True)
    if (times > 1).any():
        raise ValueError(
            f"{str(file)!r} has the sample id {str(seen[times > 1][0])!r} {times.max()} times, in "
            f"{getattr(values, 'name', None)!r}: ids must be unique to match rows. Drop or join the repeated rows."
        )
    return ids


def _listed(names: Any) -> str:
    shown = [str(name) for name in names]
    return ", ".join(map(repr, shown[:8])) + (f" and {len(shown) - 8} more" if len(shown) > 8 else "")


def _read_frame(file: Path, id_column: str | None) -> Frame:
    pandas = require("pandas", file)
    if file.suffix.lower() in PARQUET_SUFFIXES:
        require("pyarrow", file)
        try:
            return pandas.read_parquet(file)
        except (OSError, ValueError, TypeError, LookupError) as error:
            raise ValueError(
                f"{str(file)!r} cannot be read as a Parquet file ({error}). It may be cut short: copy it again."
            ) from error
    return _read_text(file, pandas, id_column)


def _read_text(file: Path, pandas: Any, id_column: str | None) -> Frame:
    encoding = _encoding(file)
    with file.open(encoding=encoding, newline="") as stream:
        if "\0" in stream.read(BLOCK):
            raise ValueError(f"{str(file)!r} has zero bytes, so it is no text: is it a table at all?")
        stream.seek(0)
        lines = list(itertools.islice((line for line in stream if line.strip()), SAMPLE_LINES))
    if not lines:
        raise ValueError(f"{str(file)!r} is empty: a table has a line of names and a line per sample.")
    try:
        separator = _separator(lines)
        names, headless = _column_names(lines, separator, file)
    except csv.Error as error:
        raise ValueError(f"{str(file)!r} cannot be read as a table ({error}).") from error
    ids = [name for name in names if name == id_column or (name == names[0] and plain(name) in ID_NAMES)]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pandas.errors.ParserWarning)  # lines with more values than there are names
            frame = pandas.read_csv(
                file,
                sep=separator,
                encoding=encoding,
                header=None if headless else 0,
                names=names,
                index_col=False,
                dtype=dict.fromkeys(ids, str),  # 007 is not 7
                decimal=_decimal(lines, separator),
                skipinitialspace=True,
                low_memory=False,
            )
    except (ValueError, OSError, pandas.errors.ParserWarning) as error:  # a ParserError is a ValueError
        raise ValueError(
            f"{str(file)!r} cannot be read as a table of {len(names)} columns separated by {separator!r} "
            f"({str(error).strip()})."
        ) from error
    if TRAILING in frame and frame.pop(TRAILING).notna().any():
        raise ValueError(f"{str(file)!r} has lines with more values than the {len(names) - 1} names in its first line.")
    return frame


def _encoding(file: Path) -> str:
    """UTF-8 where the bytes allow it; else UTF-16 if marked so, or what Windows writes in western countries."""
    with file.open("rb") as stream:
        if stream.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
            return "utf-16"
        for encoding in ("utf-8-sig", "cp1252"):
            stream.seek(0)
            decoder = codecs.getincrementaldecoder(encoding)()
            try:
                while block := stream.read(BLOCK):
                    decoder.decode(block)
                decoder.decode(b"", final=True)
            except UnicodeDecodeError:
                continue
            return encoding
    return "latin-1"


def _separator(lines: list[str]) -> str:
    """The rarest sign that stands in every line: decimal commas make commas the weakest evidence."""
    for candidate in SEPARATORS:
        if all(candidate in line and len(_split(line, candidate)) > 1 for line in lines):
            return candidate
    if all(len(line.split()) > 1 and all(map(_parses, line.split())) for line in lines):
        return BLANKS
    return ","


def _split(line: str, separator: str) -> list[str]:
    if separator == BLANKS:
        return line.split()
    return [field.strip() for field in next(csv.reader([line], delimiter=separator, skipinitialspace=True))]


def _column_names(lines: list[str], separator: str, file: Path) -> tuple[list[str], bool]:
    """Names of the columns, and whether they were made up because the file has none."""
    names = _split(lines[0], separator)
    first_row = _split(lines[1], separator) if len(lines) > 1 else names
    trailing = len(names) > 1 and first_row[-1] == "" and (names[-1] == "" or len(first_row) > len(names))
    names = names[:-1] if trailing and names[-1] == "" else names
    counted = [str(number) for number in range(len(names))]
    # Numbers alone are values and not names, unless they count columns; so are numbers behind the id of a sample.
    headless = _parses(names[0]) if len(names) == 1 else all(map(_parses, names[1:]))
    if len(names) > 1 and (plain(names[0]) in ID_NAMES or names[1:] in (counted[1:], counted[:-1])):
        headless = False
    if headless:
        names = [MADE_UP.format(number) for number in counted]
    elif not trailing and len(first_row) == len(names) + 1:
        names = ["", *names]  # the ids have no name, as R writes tables
    repeated = sorted(name for name, times in Counter(names).items() if times > 1)
    if repeated:
        raise ValueError(f"{str(file)!r} has several columns of the same name: {_listed(repeated)}. Rename them.")
    return [*names, TRAILING] if trailing else names, headless


def _decimal(lines: list[str], separator: str) -> str:
    """A comma where values are separated by semicolons and no value has a point."""
    values = [value for line in lines for value in _split(line, separator)]
    commas = any(DECIMAL_COMMA.fullmatch(value) for value in values)
    points = any("." in value and _parses(value) for value in values)
    return "," if separator == ";" and commas and not points else "."


def _parses(value: str) -> bool:
    try:
        float(value)
    except ValueError:
        return bool(DECIMAL_COMMA.fullmatch(value))
    return True
