"""Hints: known classes of some samples, and pairs of samples that belong together or apart.

Classes and pairs become groups. Samples of a group belong to one cluster, and some groups belong to different clusters.
All samples with one class are a group, and the groups of two classes are apart.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from latefusion.arrays import to_numpy
from latefusion.validation.sample_ids import Coordinates, ids_of, shown, shown_list

# The number that stands for an unknown class, as in scikit-learn.
UNKNOWN = -1

Pairs = NDArray[np.intp]


@dataclass(frozen=True)
class Hints:
    """Checked hints about the training samples.

    Attributes
    ----------
    codes : ndarray of shape (n_samples,)
        Position of the class of every sample in `classes`; -1 for an unknown class.
    classes : ndarray of shape (n_classes,)
        Names of the classes, sorted.
    must_link, cannot_link : ndarray of int of shape (n_pairs, 2)
        Rows of samples that belong to one cluster, and to different clusters.
    groups : ndarray of shape (n_samples,)
        The group of every sample, -1 for samples without hints. The first groups are the classes, in their order.
    apart : ndarray of int of shape (n_pairs, 2)
        Groups that belong to different clusters.
    """

    codes: NDArray[np.intp]
    classes: NDArray[Any]
    must_link: Pairs
    cannot_link: Pairs
    groups: NDArray[np.intp]
    apart: Pairs

    @property
    def rows(self) -> NDArray[np.intp]:
        """Samples with hints, in order."""
        return np.flatnonzero(self.groups >= 0)

    @property
    def n_pairs(self) -> int:
        """Number of pairs of samples."""
        return len(self.must_link) + len(self.cannot_link)

    def take(self, rows: NDArray[np.intp]) -> Hints | None:
        """The hints about some samples; None if there are none.

        Parameters
        ----------
        rows : ndarray of int of shape (n_used,)
            Each row at most once; -1 stands for a sample without hints.

        Returns
        -------
        Hints or None
        """
        position = np.full(len(self.codes), -1, dtype=np.intp)
        here = rows >= 0
        position[rows[here]] = np.flatnonzero(here)
        pairs = (position[one] for one in (self.must_link, self.cannot_link))
        must, cannot = (one[(one >= 0).all(axis=1)] for one in pairs)
        return _grouped(np.where(here, self.codes[rows], -1), self.classes, must, cannot)


def read_hints(y: Any, must_link: Any, cannot_link: Any, n_samples: int, ids: Any = None) -> Hints | None:
    """Check hints, and match them with the samples.

    Parameters
    ----------
    y : array-like of shape (n_samples,), series, mapping or Hints
        Known classes. -1 (also as text), None, NaN and empty text mean that the class is unknown. A series of pandas
        with sample ids as its index, and a mapping from samples to classes, may contain only some of the samples. Hints
        that were checked before are returned.
    must_link, cannot_link : sequence of pairs of samples, or None
    n_samples : int
    ids : ndarray of shape (n_samples,), default=None
        Sample ids, by which samples are named in pairs, mappings and series; None for row numbers.

    Returns
    -------
    Hints or None
        None if there are no hints. If every sample has a class, `y` contains no hints: by the convention of
        scikit-learn, a clusterer ignores the known classes of all samples, which `cross_validate` and others pass.

    Raises
    ------
    ValueError
        For samples that do not exist, a class for another number of samples, and hints that contradict each other.
    """
    if isinstance(y, Hints):
        return y
    if not has_hints(y, must_link, cannot_link):
        _check_length(y, n_samples)
        return None
    where = Coordinates(ids)
    row_of = dict(zip(range(n_samples) if ids is None else ids.tolist(), range(n_samples), strict=True))
    codes, classes = _known_classes(y, row_of, where)
    must = _pairs(must_link, "must_link", row_of, where)
    cannot = _pairs(cannot_link, "cannot_link", row_of, where)
    same = np.flatnonzero(cannot[:, 0] == cannot[:, 1])
    if len(same):
        name = where.sample(int(cannot[same[0], 0]))
        raise ValueError(f"cannot_link contains {name} with itself. Remove this pair, or correct one of its samples.")
    _check_consistent(codes, classes, must, cannot, where)
    return _grouped(codes, classes, must, cannot)


def has_hints(y: Any, must_link: Any = None, cannot_link: Any = None) -> bool:
    """Whether there may be any hints, without a check of their content.

    Parameters
    ----------
    y, must_link, cannot_link : as in `read_hints`
        Mappings and series with sample ids may contain only some of the samples, so they count as hints.

    Returns
    -------
    bool
    """
    if must_link is not None or cannot_link is not None or isinstance(y, Hints):
        return True
    if y is None or isinstance(y, Mapping) or ids_of(y) is not None:
        return y is not None
    return bool(_unknown(_as_array(y)).any())


def _as_array(values: Any) -> NDArray[Any]:
    # Without dtype=object NumPy would turn the list [1, "a"] into strings.
    array = to_numpy(values) if hasattr(values, "dtype") else np.asarray(values, dtype=object)
    array = np.asarray(array)
    return array.ravel() if array.ndim == 2 and array.shape[1] == 1 else array


def _unknown(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Which classes are unknown."""
    if values.dtype.kind in "biu":
        return np.asarray(values == UNKNOWN) if values.dtype.kind == "i" else np.zeros(values.shape, dtype=bool)
    if values.dtype.kind == "f":
        return np.asarray(np.isnan(values) | (values == UNKNOWN))
    return np.array([is_unknown(one) for one in values.ravel().tolist()], dtype=bool).reshape(values.shape)


def is_unknown(value: Any) -> bool:
    """Whether a value stands for an unknown class: -1, also as text, None, NaN and empty text."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):  # markers of pandas cannot be compared
        return True
    if isinstance(value, (str, bytes)):  # NumPy turns [-1, "a"] into words
        return value.strip() in ("", b"", "-1", b"-1")
    return value != value or (not isinstance(value, (bool, np.bool_)) and value == UNKNOWN)


def _known_classes(y: Any, row_of: Mapping[Any, int], where: Coordinates) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """Codes of the classes, -1 for unknown ones, and their names."""
    nothing = np.full(len(row_of), -1, dtype=np.intp), np.zeros(0, dtype=np.int64)
    if y is None:
        return nothing
    if isinstance(y, Mapping):
        rows, values = _rows(list(y), "y", row_of, where), _as_array(list(y.values()))
    elif ids_of(y) is not None and where.ids is not None:
        rows, values = _rows(ids_of(y).tolist(), "y", row_of, where), _as_array(y)
    else:
        rows, values = np.arange(len(row_of)), _as_array(y)
        _check_length(values, len(row_of), one_column=True)
    _check_unique(rows, values, where)
    known = np.flatnonzero(~_unknown(values))
    if not len(known) or len(known) == len(row_of):
        return nothing
    names = _names(values[known], rows[known], where)
    classes, codes = np.unique(names, return_inverse=True)
    if len(classes) == 1:
        raise ValueError(
            f"y contains only the class {shown(classes[0])} beside unknown classes (-1, None, NaN or empty text), so "
            f"it separates no samples. If -1 is a class, give the classes other numbers. To put samples into one "
            f"cluster, use must_link."
        )
    nothing[0][rows[known]] = codes
    return nothing[0], classes


def _check_length(y: Any, n_samples: int, *, one_column: bool = False) -> None:
    """Raise an error if there is not one class per sample; further columns are refused if they are to be used."""
    shape = (n_samples,) if y is None else _as_array(y).shape
    if shape[:1] != (n_samples,) or (one_column and len(shape) > 1):
        raise ValueError(
            f"y has shape {shape}, but there are {n_samples} samples. Give one class per sample, in their order, and "
            f"-1, None or NaN for unknown classes."
        )


def _check_unique(rows: NDArray[np.intp], values: NDArray[Any], where: Coordinates) -> None:
    """Raise an error for a sample that is named more than once."""
    order = np.argsort(rows, kind="stable")
    again = order[1:][np.diff(rows[order]) == 0]
    if len(again):
        named = values[rows == rows[again[0]]].tolist()
        raise ValueError(
            f"y names {where.sample(int(rows[again[0]]))} {len(named)} times, with the classes {shown_list(named)}. "
            f"Sample ids must be unique. Keep one class per sample."
        )


def _names(values: NDArray[Any], rows: NDArray[np.intp], where: Coordinates) -> NDArray[Any]:
    """Known classes as whole numbers or words."""
    found = values.tolist()
    words = [isinstance(one, (str, bytes)) for one in found]
    if all(words):
        return np.array([str(one) for one in found])
    if any(words):
        number, word = found[words.index(False)], found[words.index(True)]
        raise ValueError(f"y contains both numbers ({number!r}) and words ({word!r}). Write all classes in one way.")
    wrong = [at for at, one in enumerate(found) if not _is_whole(one)]
    if wrong:
        raise ValueError(
            f"y has the value {found[wrong[0]]!r} for {where.sample(int(rows[wrong[0]]))}, but classes must be whole "
            f"numbers or words."
        )
    return np.array([int(one) for one in found])


def _is_whole(value: Any) -> bool:
    try:
        return int(value) == value
    except (TypeError, ValueError, OverflowError):
        return False


def _rows(samples: Sequence[Any], name: str, row_of: Mapping[Any, int], where: Coordinates) -> NDArray[np.intp]:
    """Rows of samples that the user names, each an id, or a row number if samples have no ids."""
    plain = [one.item() if isinstance(one, np.generic) else one for one in samples]
    strange = [one for one in dict.fromkeys(plain) if one not in row_of]
    if strange:
        known = list(row_of)
        kind = f"row numbers from 0 to {len(known) - 1}"
        if where.ids is not None:
            kind = f"sample ids such as {shown(known[0])}"
        raise ValueError(
            f"{name} names {len(strange)} sample{'s' * (len(strange) > 1)} that {'do' if len(strange) > 1 else 'does'} "
            f"not exist: {shown_list(strange)}. Use {kind}."
        )
    return np.array([row_of[one] for one in plain], dtype=np.intp)


def _pairs(pairs: Any, name: str, row_of: Mapping[Any, int], where: Coordinates) -> Pairs:
    """Rows of pairs of samples; must-links of a sample with itself are left out."""
    listed: list[Any] = [] if pairs is None else [pairs] if isinstance(pairs, (str, bytes, Mapping)) else list(pairs)
    wrong = [one for one in listed if isinstance(one, (str, bytes)) or np.shape(one) != (2,)]
    if wrong:
        raise ValueError(
            f"{name} must be a list of pairs of samples, such as [({', '.join(map(shown, list(row_of)[:2]))})]; got "
            f"{wrong[0]!r}, which is not a pair."
        )
    found = _rows([one for pair in listed for one in pair], name, row_of, where).reshape(-1, 2)
    return found[found[:, 0] != found[:, 1]] if name == "must_link" else found


def _components(n_nodes: int, edges: NDArray[np.intp]) -> NDArray[np.intp]:
    graph = coo_array((np.ones(len(edges), dtype=bool), (edges[:, 0], edges[:, 1])), shape=(n_nodes, n_nodes))
    return np.asarray(connected_components(graph, directed=False)[1], dtype=np.intp)


def _links(codes: NDArray[np.intp], must: Pairs) -> Pairs:
    """Edges between samples that must be linked, and between samples and their class, a node after the samples."""
    labeled = np.flatnonzero(codes >= 0)
    return np.concatenate([must, np.column_stack([labeled, len(codes) + codes[labeled]])]).astype(np.intp)


def _grouped(codes: NDArray[np.intp], classes: NDArray[Any], must: Pairs, cannot: Pairs) -> Hints | None:
    present = np.unique(codes[codes >= 0])
    names = classes[present]
    renumbered = np.where(codes >= 0, np.searchsorted(present, codes), -1) if len(present) else codes
    n_samples, n_classes = len(codes), len(present)
    component = _components(n_samples + n_classes, _links(renumbered, must))
    hinted = renumbered >= 0
    hinted[np.concatenate([must.ravel(), cannot.ravel()])] = True
    if not hinted.any():
        return None
    numbers = dict.fromkeys([*component[n_samples:].tolist(), *component[:n_samples][hinted].tolist()])
    group_of = {one: position for position, one in enumerate(numbers)}
    groups = np.full(n_samples, -1, dtype=np.intp)
    groups[hinted] = [group_of[one] for one in component[:n_samples][hinted].tolist()]
    pairs = [*combinations(range(n_classes), 2), *np.sort(groups[cannot], axis=1).tolist()]
    apart = np.unique(np.array(pairs, dtype=np.intp).reshape(-1, 2), axis=0)
    return Hints(renumbered, names, must, cannot, groups, apart)


def _check_consistent(
    codes: NDArray[np.intp], classes: NDArray[Any], must: Pairs, cannot: Pairs, where: Coordinates
) -> None:
    """Raise an error for hints that contradict each other, with the chain of hints that shows it."""
    n_samples = len(codes)
    linked = _components(n_samples, must)
    class_of: dict[int, int] = {}
    for row in np.flatnonzero(codes >= 0).tolist():
        other = class_of.setdefault(int(linked[row]), row)
        if codes[other] != codes[row]:
            named = [f"{where.sample(one)} (class {shown(classes[codes[one]])})" for one in (other, row)]
            chain = _chain(must, other, row, where, classes, n_samples)
            raise ValueError(f"y and must_link contradict each other: {' and '.join(named)} are linked by {chain}.")
    edges = _links(codes, must)
    component = _components(n_samples + len(classes), edges)
    wrong = np.flatnonzero(component[cannot[:, 0]] == component[cannot[:, 1]])
    if len(wrong):
        first, second = cannot[wrong[0]].tolist()
        chain = _chain(edges, first, second, where, classes, n_samples)
        raise ValueError(
            f"cannot_link contradicts the other hints: {where.sample(first)} and {where.sample(second)} must be in "
            f"different clusters, but they are linked by {chain}."
        )


def _chain(
    edges: NDArray[np.intp], first: int, last: int, where: Coordinates, classes: NDArray[Any], n_samples: int
) -> str:
    """The shortest chain of hints between two samples, in words."""
    neighbors: dict[int, list[int]] = {}
    for one, other in edges.tolist():
        neighbors.setdefault(one, []).append(other)
        neighbors.setdefault(other, []).append(one)
    before, waiting = {first: first}, deque([first])
    while waiting and last not in before:
        node = waiting.popleft()
        for one in neighbors.get(node, ()):
            if one not in before:
                before[one] = node
                waiting.append(one)
    path = [last]
    while path[-1] != first:
        path.append(before[path[-1]])
    path.reverse()

    def name(node: int) -> str:
        return where.sample(node) if node < n_samples else f"class {shown(classes[node - n_samples])}"

    return ", ".join(f"{name(one)} – {name(other)}" for one, other in pairwise(path))
