"""Views that lie in several files: each file is a view, or holds several, and samples are matched by id."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from latefusion.datasets.files import check_file, load_views
from latefusion.datasets.joining import Part, join_samples
from latefusion.datasets.tables import (
    TABLE_SUFFIXES,
    Table,
    common_name,
    label_table,
    numbers_of,
    take_apart,
    target_of,
)
from latefusion.types import MultiViewDataset


class Content(NamedTuple):
    """What one file gives: views by name, classes if it has any, names of columns, kind of its views, name of ids."""

    parts: Mapping[str, Part]
    labelled: Table | None
    feature_names: Mapping[str, Sequence[str]]
    kind: Literal["features", "kernels"]
    id_name: str


def load_files(
    paths: Sequence[str | os.PathLike[str]],
    *,
    id_column: str | None = None,
    label_column: str | None = None,
    label_file: str | os.PathLike[str] | None = None,
) -> MultiViewDataset:
    r"""Read a multi-view data set that lies in several files.

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
    places = [Path(path) for path in paths]
    if not places:
        raise ValueError("There are no files: name at least one.")
    if len(places) == 1 and label_file is None:
        return load_views(places[0], id_column=id_column, label_column=label_column)
    tables = {place: _read_table(place, id_column, label_column) for place in places if _is_table(place)}
    found = any(table.labels is not None for table in tables.values())
    elsewhere = label_file is not None or any(_may_have_column(place) for place in places)
    if label_column is not None and not found and not elsewhere:
        shown = {place.name: [str(column) for column in table.values.columns[:8]] for place, table in tables.items()}
        raise ValueError(f"No file has a column {label_column!r} of classes; the first columns are {shown}.")
    contents = {
        place: _table_content(place, tables[place])
        if place in tables
        else _read_other(place, id_column, None if found else label_column)
        for place in places
    }
    kinds = {str(place): content.kind for place, content in contents.items()}
    if len(set(kinds.values())) > 1:
        raise ValueError(f"Some files hold kernels and others features, {kinds}: cluster them one kind at a time.")
    names = _view_names(places, contents)
    views = join_samples({name: contents[place].parts[own] for name, (place, own) in names.items()})
    labelled = {str(place): one.labelled for place, one in contents.items() if one.labelled is not None}
    if label_file is not None:
        check_file(Path(label_file))
        labelled = {str(label_file): label_table(Path(label_file), id_column, label_column)}
    elif label_column is None and _leaves_out(labelled, views.sample_ids):
        labelled = {}
    target, target_names = target_of(labelled, views.sample_ids, len(views))
    columns = {name: contents[place].feature_names.get(own) for name, (place, own) in names.items()}
    return MultiViewDataset(
        views=views,
        target=target,
        name=" + ".join(place.stem for place in places),
        target_names=target_names,
        description=f"Read from {', '.join(place.name for place in places)}: {len(views)} samples; "
        f"{'matched by id' if views.sample_ids is not None else 'rows in the order of the files'}.",
        kind=contents[places[0]].kind,
        feature_names={name: found for name, found in columns.items() if found is not None},
        id_name=common_name(content.id_name for content in contents.values()),
    )


def _is_table(place: Path) -> bool:
    return place.suffix.lower() in TABLE_SUFFIXES and not place.is_dir()


def _may_have_column(place: Path) -> bool:
    """Whether classes may lie in a column of something else than a table."""
    return place.is_dir() or place.suffix.lower() == ".h5mu"


def _read_table(file: Path, id_column: str | None, label_column: str | None) -> Table:
    check_file(file)
    return take_apart(file, id_column, label_column)


def _table_content(file: Path, table: Table) -> Content:
    return Content(
        {file.stem: Part(numbers_of(table.values, file), table.ids, str(file))},
        None if table.labels is None else table,
        {file.stem: [str(column) for column in table.values.columns]},
        "features",
        table.id_name,
    )


def _read_other(place: Path, id_column: str | None, label_column: str | None) -> Content:
    """Folders and archives: their views are read together, and taken apart again to be joined with others."""
    column = label_column if _may_have_column(place) else None
    data = load_views(place, id_column=id_column if place.is_dir() else None, label_column=column)
    mask, ids = data.views.mask, data.views.sample_ids
    parts = {}
    for position, (name, array) in enumerate(data.views.items()):
        here = slice(None) if mask is None or ids is None else mask[:, position]
        parts[name] = Part(array[here], None if ids is None else ids[here], str(place))
    classes: Any = None
    if data.target is not None:
        classes = np.asarray(data.target_names)[data.target] if data.target_names else data.target
    labelled = None if classes is None else Table(None, ids, classes)
    return Content(parts, labelled, data.feature_names, data.kind, data.id_name)


def _view_names(places: Sequence[Path], contents: Mapping[Path, Content]) -> dict[str, tuple[Path, str]]:
    """File and name in it of every view, by the name that it gets."""
    twice = next((str(place) for place, times in Counter(places).items() if times > 1), None)
    if twice is not None:
        raise ValueError(f"{twice!r} was named twice: name every file once.")
    times = Counter(name for place in places for name in contents[place].parts)
    named: dict[str, tuple[Path, str]] = {}
    for place in places:
        for own in contents[place].parts:
            name = own if times[own] == 1 or len(contents[place].parts) == 1 else f"{place.stem}:{own}"
            if name in named:
                raise ValueError(
                    f"{str(named[name][0])!r} and {str(place)!r} both hold a view {name!r}: rename one of the files."
                )
            named[name] = (place, own)
    return named


def _leaves_out(labelled: Mapping[str, Table], sample_ids: Any) -> bool:
    """Whether there are samples whose class is in none of the tables."""
    if sample_ids is None or any(table.ids is None for table in labelled.values()):
        return False
    known = {one for table in labelled.values() for one in np.asarray(table.ids).tolist()}
    return bool(labelled) and not known.issuperset(sample_ids.tolist())
