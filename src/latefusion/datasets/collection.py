"""Views in several files: each file contains one or more views, and samples are matched by id."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from latefusion.datasets.files import OBS_READERS, check_file, load
from latefusion.datasets.joining import Part, join_samples
from latefusion.datasets.options import TableOptions, table_options
from latefusion.datasets.table_values import Table
from latefusion.datasets.tables import (
    common_name,
    files_in,
    has_sheets,
    is_table,
    label_table,
    part_of,
    take_apart,
    target_of,
    view_name,
)
from latefusion.types import MultiViewDataset


class Content(NamedTuple):
    """Contents of one file: views by name, classes if it has any, names of columns, kind of its views, name of ids."""

    parts: Mapping[str, Part]
    labeled: Table | None
    feature_names: Mapping[str, Sequence[str]]
    kind: Literal["features", "kernels"]
    id_name: str


def load_files(
    paths: Sequence[str | os.PathLike[str]],
    *,
    id_column: str | None = None,
    label_column: str | None = None,
    label_file: str | os.PathLike[str] | None = None,
    separator: str | None = None,
    decimal: str | None = None,
    transpose: bool | Sequence[str | os.PathLike[str]] = False,
    drop: Sequence[str] = (),
) -> MultiViewDataset:
    r"""Read a multi-view data set from several files.

    Parameters
    ----------
    paths : sequence of str or path-like
        Files or folders, as in `load_views`. A table is one view with the name of the file. A file may contain several
        views; if the name of one of them is used in another file, it becomes ``file:view``.
    id_column : str, default=None
        As in `load_views`, for the tables among the files.
    label_column : str, default=None
        The column with the classes, in any of the files. By default a column named ``label`` or similar, if all samples
        have a class.
    label_file : str or path-like, default=None
        A table with the classes, and with ids if the views have any.
    separator, decimal : str, default=None
        As in `load_views`, for all text tables among the files.
    transpose : bool or sequence of str or path-like, default=False
        Whether the columns of tables are samples and the rows features: True for all tables except the label file, or a
        list of files.
    drop : sequence of str, default=()
        Columns of tables that are not part of the views, such as known classes of some samples.

    Returns
    -------
    MultiViewDataset
        All samples that are in any view, matched by id; see `load_views`.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from latefusion.datasets import load_files
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     genes, lipids = Path(folder, "genes.csv"), Path(folder, "lipids.csv")
    ...     _ = genes.write_text("id,BRCA1\nann,1\nbob,2\n"), lipids.write_text("id,C16,C18\nbob,3,4\nann,5,6\n")
    ...     load_files([genes, lipids]).views
    Views(2 samples; genes: 1, lipids: 2)
    """
    options = table_options(id_column, label_column, separator, decimal, transpose, drop)
    files = [Path(path) for path in paths]
    check_dropped(files, options)
    return load_paths(files, options, None if label_file is None else Path(label_file))


def load_paths(paths: Sequence[Path], options: TableOptions, label_file: Path | None = None) -> MultiViewDataset:
    """`load_files` with all options in one object."""
    if not paths:
        raise ValueError("No files were given. Give at least one.")
    label_column = options.label_column
    for path in paths:
        check_file(path)
    _check_transposed(paths, options)
    if len(paths) == 1 and label_file is None:
        return load(paths[0], options)
    tables = {path: take_apart(path, options) for path in paths if is_table(path) and not has_sheets(path)}
    found = any(table.labels is not None for table in tables.values())
    elsewhere = label_file is not None or any(_may_have_column(path) for path in paths)
    if label_column is not None and not found and not elsewhere:
        shown = {path.name: [str(column) for column in table.values.columns[:8]] for path, table in tables.items()}
        raise ValueError(f"No file has a column {label_column!r} of classes; the first columns are {shown}.")
    contents = {
        path: _table_content(path, tables[path], options)
        if path in tables
        else _read_other(path, options._replace(label_column=None if found else label_column))
        for path in paths
    }
    kinds = {str(path): content.kind for path, content in contents.items()}
    if len(set(kinds.values())) > 1:
        raise ValueError(
            f"Some files contain kernels and others features: {kinds}. Cluster kernels and features separately."
        )
    names = _view_names(paths, contents)
    parts = {name: contents[path].parts[own] for name, (path, own) in names.items()}
    views = join_samples(parts)
    labeled = {str(path): one.labeled for path, one in contents.items() if one.labeled is not None}
    if label_file is not None:
        check_file(label_file)
        labeled = {str(label_file): label_table(label_file, options)}
    elif label_column is None and _leaves_out(labeled, views.sample_ids):
        labeled = {}
    target, target_names = target_of(labeled, views.sample_ids, len(views), parts)
    columns = {name: contents[path].feature_names.get(own) for name, (path, own) in names.items()}
    return MultiViewDataset(
        views=views,
        target=target,
        name=" + ".join(map(view_name, paths)),
        target_names=target_names,
        description=f"Read from {', '.join(path.name for path in paths)}: {len(views)} samples; "
        f"{'matched by id' if views.sample_ids is not None else 'rows in the order of the files'}.",
        kind=contents[paths[0]].kind,
        feature_names={name: found for name, found in columns.items() if found is not None},
        id_name=common_name(content.id_name for content in contents.values()),
    )


def check_dropped(paths: Sequence[Path], options: TableOptions) -> None:
    """Raise an error for columns to drop that no table has, because a misspelled column would stay in its view."""
    if not options.left_out:
        return
    for path in paths:
        check_file(path)
    tables = [one for path in paths for one in (files_in(path)[1].values() if path.is_dir() else [path])]
    reading = options._replace(left_out=())
    columns = [
        str(name)
        for one in tables
        if is_table(one) and not has_sheets(one)
        for name in take_apart(one, reading, find_labels=False).values.columns
    ]
    strange = [name for name in options.left_out if name not in columns]
    if strange:
        raise ValueError(
            f"drop names {strange[0]!r}, but no table has this column; the first columns are {columns[:8]}. Correct it."
        )


def _check_transposed(paths: Sequence[Path], options: TableOptions) -> None:
    """Raise an error for transposed files that are not among the files."""
    if isinstance(options.transpose, bool):
        return
    known = {file.resolve() for path in paths for file in (files_in(path)[1].values() if path.is_dir() else [path])}
    strange = [str(file) for file in options.transpose if file.resolve() not in known]
    if strange:
        raise ValueError(
            f"transpose names {strange[0]!r}, which is not one of the files {[str(one) for one in paths]}."
        )


def _may_have_column(path: Path) -> bool:
    """Whether a file that is not a single table may have a column with the classes."""
    return path.is_dir() or path.suffix.lower() in OBS_READERS or has_sheets(path)


def _table_content(file: Path, table: Table, options: TableOptions) -> Content:
    part = part_of(table, file, options)
    name = view_name(file)
    return Content(
        {name: part}, None if table.labels is None else table, {name: part.columns}, "features", table.id_name
    )


def _read_other(path: Path, options: TableOptions) -> Content:
    """Contents of a folder, a workbook or an archive, whose views are then joined with those of other files."""
    if not path.is_dir() and not has_sheets(path):
        options = TableOptions(label_column=options.label_column if _may_have_column(path) else None)
    data = load(path, options)
    mask, ids = data.views.mask, data.views.sample_ids
    parts = {}
    for position, (name, array) in enumerate(data.views.items()):
        here = slice(None) if mask is None or ids is None else mask[:, position]
        columns = data.feature_names.get(name, ())
        parts[name] = Part(array[here], None if ids is None else ids[here], str(path), columns)
    classes: Any = None
    if data.target is not None:
        classes = np.asarray(data.target_names)[data.target] if data.target_names else data.target
    labeled = None if classes is None else Table(None, ids, classes)
    return Content(parts, labeled, data.feature_names, data.kind, data.id_name)


def _view_names(paths: Sequence[Path], contents: Mapping[Path, Content]) -> dict[str, tuple[Path, str]]:
    """File and name in it of every view, by the name that it gets."""
    twice = next((str(path) for path, times in Counter(paths).items() if times > 1), None)
    if twice is not None:
        raise ValueError(f"{twice!r} was given twice. Give every file once.")
    times = Counter(name for path in paths for name in contents[path].parts)
    named: dict[str, tuple[Path, str]] = {}
    for path in paths:
        for own in contents[path].parts:
            name = own if times[own] == 1 or own == view_name(path) else f"{view_name(path)}:{own}"
            if name in named:
                raise ValueError(
                    f"{str(named[name][0])!r} and {str(path)!r} both contain a view {name!r}. Rename one of the files."
                )
            named[name] = (path, own)
    return named


def _leaves_out(labeled: Mapping[str, Table], sample_ids: Any) -> bool:
    """Whether some samples have no class in any table."""
    if sample_ids is None or any(table.ids is None for table in labeled.values()):
        return False
    known = {one for table in labeled.values() for one in np.asarray(table.ids).tolist()}
    return bool(labeled) and not known.issuperset(sample_ids.tolist())
