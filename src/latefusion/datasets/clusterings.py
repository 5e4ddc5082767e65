"""Clusterings in tables: columns of labels, of which each is a view, matched by sample id.

In a table that `latefusion cluster -o` wrote, the column ``label`` is the clustering. In other tables every column
besides the ids is one.
"""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from latefusion.datasets.collection import check_dropped
from latefusion.datasets.files import check_file
from latefusion.datasets.id_columns import listed, row_of
from latefusion.datasets.joining import Part, join_samples
from latefusion.datasets.options import TableOptions, table_options
from latefusion.datasets.table_values import Table
from latefusion.datasets.tables import (
    TABLE_SUFFIXES,
    Source,
    common_name,
    has_sheets,
    is_table,
    label_table,
    sources_in,
    target_of,
    view_name,
)
from latefusion.encoding.label_coding import unassigned_samples
from latefusion.types import MultiViewDataset, Views

# The columns that `latefusion cluster` and `update -o` write: the clustering, and what is known about every label.
WRITTEN_LABEL = "label"
WRITTEN_BESIDE = ("confidence", "novelty", "before", "change", "membership")


class Found(NamedTuple):
    """The clusterings in one table.

    Attributes
    ----------
    source : Source
    table : Table
        Its values are the chosen columns.
    names : list of str
        Of the columns.
    """

    source: Source
    table: Table
    names: list[str]


def load_clusterings(
    paths: Sequence[str | os.PathLike[str]],
    *,
    columns: Sequence[str] | None = None,
    unassigned: Any = None,
    id_column: str | None = None,
    label_column: str | None = None,
    label_file: str | os.PathLike[str] | None = None,
    separator: str | None = None,
    decimal: str | None = None,
    transpose: bool | Sequence[str | os.PathLike[str]] = False,
    drop: Sequence[str] = (),
) -> MultiViewDataset:
    r"""Read clusterings of the same samples from tables of labels, for `latefusion.consensus`.

    Parameters
    ----------
    paths : sequence of str or path-like
        Tables, or folders of tables. In a table that `latefusion cluster -o` wrote, the column ``label`` is the
        clustering; in other tables every column besides the ids is one. Labels are whole numbers or words; a sample
        with an empty label is unassigned. The name of a clustering is that of the file, or of the column if the file
        has several.
    columns : sequence of str, default=None
        Names of the columns that are clusterings, or patterns such as ``k_*``.
    unassigned : object or list of objects, default=None
        Labels of samples without a cluster, beside missing ones; by default every negative integer, as in
        `ConsensusClustering`.
    id_column : str, default=None
        As in `load_files`.
    label_column : str, default=None
        A column with known classes, which is not a clustering.
    label_file : str or path-like, default=None
        A table with known classes.
    separator, decimal : str, default=None
        As in `load_files`.
    transpose : bool or sequence of str or path-like, default=False
        As in `load_files`: clusterings in rows and samples in columns.
    drop : sequence of str, default=()
        Columns that are not clusterings, as in `load_files`.

    Returns
    -------
    MultiViewDataset
        One view with one column per clustering, of all samples that have a cluster in any table; others are left out,
        with a warning. A sample that is absent from a table has a missing label.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import latefusion as lf
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     first, second = Path(folder, "kmeans.csv"), Path(folder, "snf.csv")
    ...     _ = first.write_text("id,label\nann,1\nbob,1\ncem,2\n"), second.write_text("id,label\ncem,A\nbob,B\n")
    ...     data = lf.datasets.load_clusterings([first, second])
    >>> data.views, data.views.sample_ids.tolist(), data.views.mask.tolist()
    (Views(3 samples; kmeans: 1, snf: 1), ['ann', 'bob', 'cem'], [[True, False], [True, True], [True, True]])
    """
    options = table_options(id_column, label_column, separator, decimal, transpose, drop)
    label_path = None if label_file is None else Path(label_file)
    files = [Path(path) for path in paths]
    check_dropped(files, options)
    return load_clustering_paths(files, options, columns, unassigned, label_path)


def load_clustering_paths(
    paths: Sequence[Path],
    options: TableOptions,
    columns: Sequence[str] | None = None,
    unassigned: Any = None,
    label_file: Path | None = None,
    known: Sequence[str] = (),
) -> MultiViewDataset:
    """`load_clusterings` with all options of tables in one object.

    ``known`` are the names of the clusterings of a model, whose labels need not vary in new samples. Tables with
    columns of these names are reduced to them, unless ``columns`` are given.
    """
    twice = next((str(path) for path, times in Counter(paths).items() if times > 1), None)
    if twice is not None:
        raise ValueError(f"{twice!r} was given twice. Give every file once.")
    sources = [source for path in paths for source in _sources(path, options)]
    tables = {str(source): source.take_apart(find_labels=False) for source in sources}
    labeled = _classes(tables, options.label_column)
    found = [_chosen(source, tables[str(source)], columns, options.label_column, known) for source in sources]
    _check_patterns(columns, found)
    _check_any(found)
    parts = {}
    for name, one, column in _named(found):
        values = one.table.values[column]
        _check_labels(values, one, column, can_be_constant=bool(known))
        parts[name] = Part(
            values.to_frame().reset_index(drop=True), one.table.ids, str(one.source), reason=one.table.reason
        )
    views = join_samples(parts)
    if label_file is not None:
        check_file(label_file)
        labeled = {str(label_file): label_table(label_file, options._replace(label_column=None))}
    target, target_names = target_of(labeled, views.sample_ids, len(views), parts)
    if not known:  # new samples need not have all labels
        _check_unassigned(views, unassigned)
    views, kept = _assigned(views, unassigned, [part.origin for part in parts.values()])
    return MultiViewDataset(
        views=views,
        target=None if target is None else target[kept],
        name=" + ".join(view_name(path) for path in paths),
        target_names=target_names,
        description=f"{views.n_views} clusterings of {len(views)} samples, from "
        f"{', '.join(path.name for path in paths)}.",
        id_name=common_name(one.table.id_name for one in found),
    )


def _sources(path: Path, options: TableOptions) -> list[Source]:
    """The tables in a file, a workbook or a folder."""
    check_file(path)
    if not path.is_dir() and not is_table(path):
        raise ValueError(
            f"{str(path)!r} is not a table of labels. Give a file with a column of ids and one column per clustering "
            f"({', '.join(TABLE_SUFFIXES)})."
        )
    if path.is_dir() or has_sheets(path):
        labels, views = sources_in(path, options)
        return [*views.values(), *([] if labels is None else [labels])]
    return [Source(path, options)]


def _chosen(
    source: Source, table: Table, columns: Sequence[str] | None, label_column: str | None, known: Sequence[str]
) -> Found:
    """The columns of a table that are clusterings."""
    names = [name for name in table.values.columns if label_column is None or str(name) != label_column]
    written = [name for name in names if _is_written_beside(str(name))]
    if columns is not None:
        names = [name for name in names if any(fnmatchcase(str(name), pattern) for pattern in columns)]
    elif WRITTEN_LABEL in map(str, names) and len(written) == len(names) - 1:
        names = [WRITTEN_LABEL]
    elif any(str(name) in known for name in names):
        names = [name for name in names if str(name) in known]
    if not names and columns is None:
        raise ValueError(
            f"{str(source)!r} has no column of labels: its only column contains the ids ({table.reason}). Add a column "
            f"with the cluster of every sample."
            if len(table.values) or table.ids is not None
            else f"{str(source)!r} has no rows."
        )
    return Found(source, table, list(names))


def _is_written_beside(name: str) -> bool:
    return name in WRITTEN_BESIDE or name.startswith(f"{WRITTEN_BESIDE[-1]}_")


def _check_patterns(columns: Sequence[str] | None, found: Sequence[Found]) -> None:
    """Raise an error for patterns that match no column."""
    known = [str(name) for one in found for name in one.names]
    for pattern in columns or ():
        if not any(fnmatchcase(name, pattern) for name in known):
            held = {str(one.source): listed(one.table.values.columns) for one in found}
            raise ValueError(f"No file has a column {pattern!r}. The columns are {held}.")


def _check_any(found: Sequence[Found]) -> None:
    if not any(one.names for one in found):
        raise ValueError("No clusterings were given. Give at least one table of labels.")


def _named(found: Sequence[Found]) -> list[tuple[str, Found, Any]]:
    """Name, table and column of every clustering."""
    stems = Counter(_stem(one) for one in found if one.names)
    own = {id(one): _stem(one) if stems[_stem(one)] == 1 else str(one.source) for one in found}
    taken = Counter(own[id(one)] if len(one.names) == 1 else str(name) for one in found for name in one.names)
    named = []
    for one in found:
        for column in one.names:
            whole = own[id(one)]
            short = whole if len(one.names) == 1 else str(column)
            named.append((short if short == whole or taken[short] == 1 else f"{whole}:{column}", one, column))
    return named


def _stem(one: Found) -> str:
    return view_name(one.source.file) if one.source.options.sheet is None else one.source.options.sheet


def _classes(tables: Mapping[str, Table], label_column: str | None) -> dict[str, Table]:
    """Known classes in a column, by file."""
    if label_column is None:
        return {}
    found = {
        source: table._replace(labels=np.asarray(table.values[label_column]))
        for source, table in tables.items()
        if label_column in table.values.columns
    }
    if not found:
        held = {source: listed(table.values.columns) for source, table in tables.items()}
        raise ValueError(f"No file has a column {label_column!r} of classes. The columns are {held}.")
    return found


def _check_labels(column: Any, one: Found, name: Any, *, can_be_constant: bool) -> None:
    """Raise an error for a column that is not a clustering."""
    where = f"{str(one.source)!r}: column {str(name)!r}"
    advice = (
        f"It is not a clustering. To find clusters of the values in this table, use `latefusion cluster "
        f"{one.source.file.name}`. If other columns are clusterings, name them with columns=."
    )
    kind = getattr(column.dtype, "kind", "O")
    if kind in "mM":
        raise ValueError(f"{where} contains {'dates' if kind == 'M' else 'durations'}. {advice}")
    if kind == "f":
        values = column.to_numpy(dtype=np.float64, na_value=np.nan)
        odd = np.flatnonzero(~np.isnan(values) & (values != np.round(values)))
        if len(odd):
            row = row_of(column, int(odd[0]), one.source.file, one.source.options)
            raise ValueError(
                f"{where} contains {len(odd)} numbers that are not whole, the first is {values[odd[0]]:g} in {row}. "
                f"{advice}"
            )
    if can_be_constant:
        return
    assigned = column.dropna()
    n_assigned, n_clusters = len(assigned), int(assigned.nunique())
    if n_clusters == n_assigned > 2:
        raise ValueError(f"{where} has a different value in each of its {n_assigned} rows. {advice}")
    if n_clusters < 2:
        found = f"only the label {str(assigned.iloc[0])!r}" if n_clusters else "no labels"
        raise ValueError(f"{where} has {found}. A clustering needs at least two clusters: leave it out.")


def _check_unassigned(views: Views, unassigned: Any) -> None:
    """Warn about labels of unassigned samples that no sample has."""
    given = [unassigned] if isinstance(unassigned, str) or np.ndim(unassigned) == 0 else list(unassigned)
    found = {str(one) for _, array in views.items() for one in array.iloc[:, 0].dropna().unique()}
    found |= {one.removesuffix(".0") for one in found}
    absent = dict.fromkeys(str(one) for one in given if one is not None and str(one) not in found)
    for label in absent:
        warnings.warn(f"unassigned={label!r}: no clustering has this label. Check its spelling.", stacklevel=4)


def _assigned(views: Views, unassigned: Any, files: Sequence[str]) -> tuple[Views, NDArray[np.bool_]]:
    """The samples with a cluster in any view, with a mask, and which of all samples they are."""
    missing = []
    for (name, array), file in zip(views.items(), files, strict=True):
        try:
            missing.append(unassigned_samples(array.iloc[:, 0], name, unassigned))
        except ValueError as error:
            raise ValueError(f"{file!r}: {error}") from error
    mask = ~np.column_stack(missing)
    kept = np.asarray(mask.any(axis=1))
    rows = np.flatnonzero(~kept)
    if len(rows) == len(kept):
        raise ValueError(
            f"{', '.join(map(repr, dict.fromkeys(files)))}: none of the {len(kept)} samples has a cluster. Check the "
            f"labels of unassigned samples."
        )
    if len(rows):
        first = f"row {rows[0] + 1}" if views.sample_ids is None else repr(str(views.sample_ids[rows[0]]))
        warnings.warn(
            f"Left out: {len(rows)} sample{'s' * (len(rows) > 1)} without a cluster in any table, such as {first}.",
            stacklevel=4,
        )
    masked = Views(dict(views.items()), mask=None if mask.all() else mask, sample_ids=views.sample_ids)
    return masked if kept.all() else masked[kept], kept
