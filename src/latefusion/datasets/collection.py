"""Views in several files: each file is a view, or holds several, and samples are matched by id."""

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
from latefusion.datasets.tables import (
    Table,
    common_name,
    files_in,
    is_table,
    label_table,
    part_of,
    take_apart,
    target_of,
    view_name,
)
from latefusion.types import MultiViewDataset


class Content(NamedTuple):
    """What one file gives: views by name, classes if it has any, names of columns, kind of its views, name of ids."""

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
) -> MultiViewDataset:
    r"""Read a multi-view data set from several files.

    Parameters
    ----------
    paths : sequence of str or path-like
        Files or folders as `load_views` takes them. A table is one view, called as the file; a file with several views
        gives them all, and where names meet, those in files with several become ``file:view``.
    id_column : str, default=None
        As in `load_views`, for the tables among the files.
    label_column : str, default=None
        The column with the classes, in any of the files. By default one that is called ``label`` or the like; classes
        that were not asked for and are not known of all samples are left out.
    label_file : str or path-like, default=None
        A table with the classes, and with ids if the views have any.
    separator, decimal : str, default=None
        As in `load_views`, for all text tables among the files.
    transpose : bool or sequence of str or path-like, default=False
        Whether the columns of tables are samples and the rows features: in all tables (but that of the classes), or in
        those that are named here.

    Returns
    -------
    MultiViewDataset
        As `load_views` gives it: all samples that are in any view, matched by id.

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
    options = table_options(id_column, label_column, separator, decimal, transpose)
    return load_places([Path(path) for path in paths], options, None if label_file is None else Path(label_file))


def load_places(places: Sequence[Path], options: TableOptions, label_file: Path | None = None) -> MultiViewDataset:
    """`load_files` with its options in one object."""
    if not places:
        raise ValueError("There are no files: name at least one.")
    label_column = options.label_column
    for place in places:
        check_file(place)
    _check_transposed(places, options)
    if len(places) == 1 and label_file is None:
        return load(places[0], options)
    tables = {place: take_apart(place, options) for place in places if is_table(place)}
    found = any(table.labels is not None for table in tables.values())
    elsewhere = label_file is not None or any(_may_have_column(place) for place in places)
    if label_column is not None and not found and not elsewhere:
        shown = {place.name: [str(column) for column in table.values.columns[:8]] for place, table in tables.items()}
        raise ValueError(f"No file has a column {label_column!r} of classes; the first columns are {shown}.")
    contents = {
        place: _table_content(place, tables[place], options)
        if place in tables
        else _read_other(place, options._replace(label_column=None if found else label_column))
        for place in places
    }
    kinds = {str(place): content.kind for place, content in contents.items()}
    if len(set(kinds.values())) > 1:
        raise ValueError(f"Some files hold kernels and others features, {kinds}: cluster them one kind at a time.")
    names = _view_names(places, contents)
    parts = {name: contents[place].parts[own] for name, (place, own) in names.items()}
    views = join_samples(parts)
    labeled = {str(place): one.labeled for place, one in contents.items() if one.labeled is not None}
    if label_file is not None:
        check_file(label_file)
        labeled = {str(label_file): label_table(label_file, options)}
    elif label_column is None and _leaves_out(labeled, views.sample_ids):
        labeled = {}
    target, target_names = target_of(labeled, views.sample_ids, len(views), parts)
    columns = {name: contents[place].feature_names.get(own) for name, (place, own) in names.items()}
    return MultiViewDataset(
        views=views,
        target=target,
        name=" + ".join(map(view_name, places)),
        target_names=target_names,
        description=f"Read from {', '.join(place.name for place in places)}: {len(views)} samples; "
        f"{'matched by id' if views.sample_ids is not None else 'rows in the order of the files'}.",
        kind=contents[places[0]].kind,
        feature_names={name: found for name, found in columns.items() if found is not None},
        id_name=common_name(content.id_name for content in contents.values()),
    )


def _check_transposed(places: Sequence[Path], options: TableOptions) -> None:
    """Refuse names of transposed files that are not among the files."""
    if isinstance(options.transpose, bool):
        return
    known = {
        file.resolve() for place in places for file in (files_in(place)[1].values() if place.is_dir() else [place])
    }
    strange = [str(file) for file in options.transpose if file.resolve() not in known]
    if strange:
        raise ValueError(
            f"transpose names {strange[0]!r}, which is not one of the files {[str(one) for one in places]}."
        )


def _may_have_column(place: Path) -> bool:
    """Whether a column of something else than a table may hold the classes."""
    return place.is_dir() or place.suffix.lower() in OBS_READERS


def _table_content(file: Path, table: Table, options: TableOptions) -> Content:
    part = part_of(table, file, options)
    name = view_name(file)
    return Content(
        {name: part}, None if table.labels is None else table, {name: part.columns}, "features", table.id_name
    )


def _read_other(place: Path, options: TableOptions) -> Content:
    """Folders and archives: their views are read together, and taken apart again to be joined with others."""
    if not place.is_dir():
        options = TableOptions(label_column=options.label_column if _may_have_column(place) else None)
    data = load(place, options)
    mask, ids = data.views.mask, data.views.sample_ids
    parts = {}
    for position, (name, array) in enumerate(data.views.items()):
        here = slice(None) if mask is None or ids is None else mask[:, position]
        columns = data.feature_names.get(name, ())
        parts[name] = Part(array[here], None if ids is None else ids[here], str(place), columns)
    classes: Any = None
    if data.target is not None:
        classes = np.asarray(data.target_names)[data.target] if data.target_names else data.target
    labeled = None if classes is None else Table(None, ids, classes)
    return Content(parts, labeled, data.feature_names, data.kind, data.id_name)


def _view_names(places: Sequence[Path], contents: Mapping[Path, Content]) -> dict[str, tuple[Path, str]]:
    """File and name in it of every view, by the name that it gets."""
    twice = next((str(place) for place, times in Counter(places).items() if times > 1), None)
    if twice is not None:
        raise ValueError(f"{twice!r} was named twice: name every file once.")
    times = Counter(name for place in places for name in contents[place].parts)
    named: dict[str, tuple[Path, str]] = {}
    for place in places:
        for own in contents[place].parts:
            name = own if times[own] == 1 or len(contents[place].parts) == 1 else f"{view_name(place)}:{own}"
            if name in named:
                raise ValueError(
                    f"{str(named[name][0])!r} and {str(place)!r} both hold a view {name!r}: rename one of the files."
                )
            named[name] = (place, own)
    return named


def _leaves_out(labeled: Mapping[str, Table], sample_ids: Any) -> bool:
    """Whether there are samples whose class is in none of the tables."""
    if sample_ids is None or any(table.ids is None for table in labeled.values()):
        return False
    known = {one for table in labeled.values() for one in np.asarray(table.ids).tolist()}
    return bool(labeled) and not known.issuperset(sample_ids.tolist())
