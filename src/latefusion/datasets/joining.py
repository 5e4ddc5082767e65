"""Views with different samples, or samples in different orders, joined by sample id."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from latefusion.types import Array, Views

# Ways in which the same ids are written differently, and what makes them equal.
SPELLINGS: dict[str, Callable[[str], str]] = {
    "upper and lower case": str.casefold,
    "zeros at the beginning": lambda one: re.sub(r"(?<!\d)0+(?=\d)", "", one),
    "'.0' at the end": lambda one: one.removesuffix(".0"),
    "points, hyphens, underscores and blanks": lambda one: re.sub(r"[-._ ]", "", one),
    "the letter X at the beginning, which R puts before digits": lambda one: re.sub(
        r"[-._ ]", "", one.removeprefix("X")
    ),
}


class Part(NamedTuple):
    """One view of one file.

    Attributes
    ----------
    array : array, CSR array or DataFrame of shape (n_rows, n_columns)
    ids : ndarray of shape (n_rows,) or None
        Sample of every row, each at most once.
    origin : str
        The file, for messages.
    columns : sequence of str
        Names of the columns, as far as they are known.
    reason : str
        Why there are ids or none, for messages.
    """

    array: Array
    ids: NDArray[Any] | None
    origin: str
    columns: Sequence[str] = ()
    reason: str = ""


def join_samples(parts: Mapping[str, Part], order: Sequence[Any] | None = None) -> Views:
    """Views of all samples that are in any part.

    Parameters
    ----------
    parts : mapping of str to Part
        By name of the view; either all with ids or none.
    order : sequence of ids, default=None
        The order of the samples; by default that of their first appearance.

    Returns
    -------
    Views
        With ids. Where a sample is absent from a view, or all its values there are missing, the mask is False and its
        row is missing (NaN, None, NaT), or empty in a sparse view. Data frames have the index 0 … n−1.

    Examples
    --------
    >>> import numpy as np
    >>> from latefusion.datasets.joining import Part, join_samples
    >>> genes = Part(np.array([[1.0], [2.0]]), np.array(["ann", "bob"]), "genes.csv")
    >>> lipids = Part(np.array([[3.0], [4.0]]), np.array(["cem", "bob"]), "lipids.csv")
    >>> views = join_samples({"genes": genes, "lipids": lipids})
    >>> views.sample_ids.tolist(), views.mask.tolist()
    (['ann', 'bob', 'cem'], [[True, False], [True, True], [False, True]])
    """
    nameless = [part for part in parts.values() if part.ids is None]
    if len(nameless) == len(parts):
        return _by_position(parts)
    if nameless:
        known = list(dict.fromkeys(part.origin for part in parts.values() if part.ids is not None))
        anonymous = list(dict.fromkeys(part.origin for part in nameless))
        why = "; ".join(dict.fromkeys(f"{part.origin}: {part.reason}" for part in nameless if part.reason))
        raise ValueError(
            f"{known} have sample ids and {anonymous} have none{f' ({why})' * bool(why)}, so their rows cannot be "
            f"matched. Add a column of ids called 'id'."
        )
    samples, rows = _matched(parts, order)
    mask = np.zeros((len(samples), len(parts)), dtype=bool)
    for view, (name, part) in enumerate(parts.items()):
        mask[rows[name], view] = _filled(part.array)
    arrays = {name: _spread(part.array, rows[name], len(samples)) for name, part in parts.items()}
    return Views(arrays, mask=None if mask.all() else mask, sample_ids=samples)


def _matched(
    parts: Mapping[str, Part], order: Sequence[Any] | None
) -> tuple[NDArray[Any], dict[str, NDArray[np.intp]]]:
    """All samples, and for every view the positions of its rows among them."""
    arrays = {name: np.asarray(part.ids) for name, part in parts.items()}
    first = next(iter(arrays.values()))
    if order is None and all(np.array_equal(first, ids) for ids in arrays.values()):
        return first, dict.fromkeys(arrays, np.arange(len(first)))  # a single table, or the same rows: nothing to match
    _check_overlap(parts)
    lists = {name: ids.tolist() for name, ids in arrays.items()}
    samples = list(dict.fromkeys(one for ids in lists.values() for one in ids) if order is None else order)
    position = {one: row for row, one in enumerate(samples)}
    for name, ids in lists.items():
        strangers = [one for one in ids if one not in position]
        if strangers:
            raise ValueError(
                f"{parts[name].origin} has {len(strangers)} samples that are not in the list of all samples, such as "
                f"{strangers[0]!r}."
            )
    rows = {name: np.array([position[one] for one in ids], dtype=np.intp) for name, ids in lists.items()}
    return np.array(samples), rows


def _by_position(parts: Mapping[str, Part]) -> Views:
    rows = {part.origin: part.array.shape[0] for part in parts.values()}
    if len(set(rows.values())) > 1:
        raise ValueError(
            f"The views have different numbers of rows, {rows}, and no sample ids, so their rows cannot be matched. "
            f"Add a column of ids called 'id' to each."
        )
    mask = np.column_stack([_filled(part.array) for part in parts.values()])
    arrays = {name: _numbered(part.array) for name, part in parts.items()}
    return Views(arrays, mask=None if mask.all() else mask)


def transposed_hint(parts: Mapping[str, Part], ids: set[Any]) -> str:
    """Advice for parts whose column names, not their ids, are among the given ids; empty if there are none."""
    found = []
    for part in parts.values():
        own = set() if part.ids is None else set(np.asarray(part.ids).tolist())
        matching = ids.intersection(part.columns)
        if len(matching) > len(ids.intersection(own)) and 2 * len(matching) >= min(len(part.columns), len(ids)):
            found.append((part, len(matching)))
    if not found:
        return ""
    part, count = found[0]
    return (
        f" Transposed? {count} of the {len(part.columns)} column names of {part.origin} are ids of samples. If its "
        f"columns are the samples, read it with transpose={[part.origin for part, _ in found]}."
    )


def _check_overlap(parts: Mapping[str, Part]) -> None:
    lists = {name: np.asarray(part.ids).tolist() for name, part in parts.items()}
    for name, part in parts.items():
        others = {one for other, ids in lists.items() if other != name for one in ids}
        if others and not others.intersection(lists[name]):
            raise ValueError(
                f"{part.origin} has no sample in common with the other views. Its ids are like {lists[name][0]!r}, "
                f"theirs like {min(others)!r}.{_why_apart(parts, name, others)}"
            )


def _why_apart(parts: Mapping[str, Part], name: str, others: set[Any]) -> str:
    """Advice for a part that shares no sample with the others."""
    for one in parts:
        elsewhere = {
            sample for other, part in parts.items() if other != one for sample in np.asarray(part.ids).tolist()
        }
        if hint := transposed_hint({one: parts[one]}, elsewhere):
            return hint
    elsewhere = {column for other, part in parts.items() if other != name for column in part.columns}
    own = parts[name]
    if 2 * len(elsewhere.intersection(own.columns)) > len(own.columns):
        return (
            f" Transposed? {len(elsewhere.intersection(own.columns))} of its {len(own.columns)} column names are also "
            f"column names of the other files. If columns are samples, read the files with transpose=True."
        )
    found = other_spelling(np.asarray(own.ids).tolist(), others)
    if found is not None:
        how, count, mine, theirs = found
        return (
            f" {count} of its {len(np.asarray(own.ids))} ids differ only in {how}, such as {mine!r} and {theirs!r}: "
            f"write them in the same way everywhere."
        )
    return " Write the ids in the same way everywhere."


def other_spelling(ids: Sequence[Any], others: Iterable[Any]) -> tuple[str, int, Any, Any] | None:
    """How ids may be other ids in another spelling.

    Parameters
    ----------
    ids, others : iterables of ids
        Without common ids.

    Returns
    -------
    tuple or None
        What differs, in how many of the ids, and the first pair; None if the ids differ in more.
    """
    for how, change in SPELLINGS.items():
        theirs = {change(str(sample)): sample for sample in others}
        same = [sample for sample in ids if change(str(sample)) in theirs]
        if same:
            return how, len(same), same[0], theirs[change(str(same[0]))]
    return None


def _filled(array: Array) -> NDArray[np.bool_]:
    """Rows with at least one value."""
    if _is_frame(array):
        return np.asarray(array.notna().any(axis=1), dtype=bool)
    if scipy.sparse.issparse(array) or array.dtype.kind != "f":
        return np.ones(array.shape[0], dtype=bool)
    return ~np.isnan(array).all(axis=1)


def _spread(array: Array, rows: NDArray[np.intp], n_samples: int) -> Array:
    """An array with its rows at the given positions among all samples."""
    array = _numbered(array)
    if len(rows) == n_samples and (rows == np.arange(n_samples)).all():
        return array
    if scipy.sparse.issparse(array):
        ones = (np.ones(len(rows), dtype=array.dtype), (rows, np.arange(len(rows))))
        return scipy.sparse.csr_array(scipy.sparse.csr_array(ones, shape=(n_samples, len(rows))) @ array)
    if _is_frame(array):
        return array.set_axis(rows, axis=0).reindex(range(n_samples))
    whole = np.full((n_samples, array.shape[1]), np.nan, dtype=array.dtype if array.dtype.kind == "f" else np.float64)
    whole[rows] = array
    return whole


def _is_frame(array: Array) -> bool:
    return hasattr(array, "iloc")


def _numbered(array: Array) -> Array:
    """A data frame with the index 0 … n−1, whatever rows of the file it contains; arrays stay as they are."""
    return array.reset_index(drop=True) if _is_frame(array) else array
