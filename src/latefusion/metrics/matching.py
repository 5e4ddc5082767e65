"""Clusters of two clusterings of the same samples: which of them are the same, and what appeared, split or merged.

A cluster of the second clustering can be a cluster of the first one if it has more than half of the samples of that
cluster, or if more than half of its own samples come from it. Among these pairs clusters are matched one to one so that
as many samples as possible keep their cluster. Samples without a cluster in the first clustering count in the second.
"""

from __future__ import annotations

import html
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from latefusion.metrics.scores import adjusted_rand, encode_labels, matched_pairs, unused_names
from latefusion.results import ResultTable
from latefusion.types import Array

# How many samples of a cluster make it the same one: more than this share.
MAJORITY = 0.5


@dataclass(frozen=True, eq=False, repr=False)
class ClusterMatch:
    """Clusters of two clusterings, by the samples that both contain.

    Attributes
    ----------
    first, second : list
        Names of the clusters of both, sorted.
    ids : list
        The name that every cluster of the second clustering has from now on: that of a cluster of the first one, or a
        new one.
    counts : ndarray of int of shape (n_first, n_second)
        Number of samples that both clusterings contain, by their clusters.
    unknown : ndarray of int of shape (n_second,)
        Samples in every cluster of the second clustering about which the first one says nothing.
    sizes : tuple of ndarray
        Number of samples of all clusters of the first and of the second clustering, with those that only one contains.
    agreement : float
        Adjusted Rand index; NaN if no sample is in both.

    Examples
    --------
    >>> from latefusion.metrics import match_clusters
    >>> found = match_clusters(["a", "a", "a", "b", "b"], [1, 1, 0, 2, 2])
    >>> found.ids, found.splits
    (['unmatched_0', 'a', 'b'], {'a': ['a', 'unmatched_0']})
    """

    first: list[Any]
    second: list[Any]
    ids: list[Any]
    counts: NDArray[np.int64]
    unknown: NDArray[np.int64]
    sizes: tuple[NDArray[np.int64], NDArray[np.int64]]
    agreement: float

    @property
    def names(self) -> dict[Any, Any]:
        """The id of every cluster of the second clustering, by its name there."""
        return dict(zip(self.second, self.ids, strict=True))

    @property
    def appeared(self) -> list[Any]:
        """Ids of clusters of the second clustering that are none of the first."""
        return _ordered(one for one in self.ids if one not in self.first)

    @property
    def vanished(self) -> list[Any]:
        """Clusters of the first clustering that are none of the second."""
        return [one for one in self.first if one not in self.ids]

    @cached_property
    def splits(self) -> dict[Any, list[Any]]:
        """Clusters of the first clustering from which two or more clusters have more than half of their samples."""
        _, comes_from = majorities(self.counts, self.unknown)
        found = {
            name: _ordered(self.ids[column] for column in np.flatnonzero(row))
            for name, row in zip(self.first, comes_from, strict=True)
        }
        return {name: parts for name, parts in found.items() if len(parts) > 1}

    @cached_property
    def merges(self) -> dict[Any, list[Any]]:
        """Ids of clusters that have more than half of the samples of two or more clusters of the first clustering."""
        goes_to, _ = majorities(self.counts, self.unknown)
        found = {
            name: [self.first[row] for row in np.flatnonzero(column)]
            for name, column in zip(self.ids, goes_to.T, strict=True)
        }
        return {name: found[name] for name in _ordered(found) if len(found[name]) > 1}

    @property
    def clusters(self) -> ResultTable:
        """All clusters by id: what became of them, their samples in both clusterings, and those in common."""
        before = dict(zip(self.first, self.sizes[0].tolist(), strict=True))
        after = dict(zip(self.ids, self.sizes[1].tolist(), strict=True))
        positions = {name: column for column, name in enumerate(self.ids)}
        rows = [*self.first, *self.appeared]
        common = [
            int(self.counts[row, positions[name]]) if row < len(self.first) and name in positions else 0
            for row, name in enumerate(rows)
        ]
        return ResultTable(
            {
                "cluster": rows,
                "change": [self._change(name) for name in rows],
                "second": [self.second[positions[name]] if name in positions else None for name in rows],
                "samples": [before.get(name, 0) for name in rows],
                "samples_second": [after.get(name, 0) for name in rows],
                "common": common,
            }
        )

    @property
    def table(self) -> ResultTable:
        """Samples of every cluster of the first clustering in every cluster of the second, under its id."""
        order = [self.ids.index(name) for name in _ordered(self.ids)]
        columns = {str(self.ids[column]): self.counts[:, column] for column in order}
        return ResultTable({"first": self.first, **columns})

    @property
    def notes(self) -> list[str]:
        """What changed, in sentences."""
        sizes = dict(zip(self.ids, self.sizes[1].tolist(), strict=True))
        notes = [
            f"Cluster {one} split into {_listed([f'{part} ({counted(sizes[part])})' for part in parts])}."
            for one, parts in self.splits.items()
        ]
        notes += [f"Clusters {_listed(parts)} merged into {one}." for one, parts in self.merges.items()]
        if self.appeared:
            notes.append(f"Appeared: {_listed([f'{one} ({counted(sizes[one])})' for one in self.appeared])}.")
        if self.vanished:
            notes.append(f"Vanished: {_listed(self.vanished)}.")
        return notes or ["All clusters are kept."]

    @property
    def head(self) -> str:
        """Numbers of samples and clusters, and the agreement."""
        numbers = f"{len(self.first)} and {len(self.second)} clusters"
        return f"{int(self.counts.sum())} common samples, {numbers}: adjusted Rand index {self.agreement:.3f}"

    def rename(self, labels: Array) -> NDArray[Any]:
        """Labels of the second clustering under the ids that stay.

        Parameters
        ----------
        labels : array-like of shape (n_samples,)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        values, codes = encode_labels(labels)
        names = self.names
        unknown = [one for one in values.tolist() if one not in names]
        if unknown:
            raise ValueError(f"labels contains {unknown[0]!r}, which is not one of the clusters {self.second}.")
        return np.array([names[one] for one in values.tolist()])[codes]

    def to_frame(self) -> Any:
        """All clusters as a pandas data frame; ``match.table.to_frame()`` has the samples of all pairs.

        Returns
        -------
        pandas.DataFrame
        """
        return self.clusters.to_frame()

    def __repr__(self) -> str:
        return "\n".join([self.head, "", repr(self.clusters), "", repr(self.table), "", *self.notes])

    def _repr_html_(self) -> str:
        tables = f"{self.clusters._repr_html_()}{self.table._repr_html_()}"
        notes = "".join(f"<p>{html.escape(note)}</p>\n" for note in self.notes)
        return f"<p><b>{html.escape(self.head)}</b></p>\n{tables}{notes}"

    def _change(self, name: Any) -> str:
        if name not in self.ids:
            return "vanished"
        if name not in self.first:
            return "appeared"
        return "split" if name in self.splits else "merged" if name in self.merges else "kept"


def match_clusters(
    before: Array,
    after: Array,
    *,
    known: NDArray[np.bool_] | None = None,
    first: Array | None = None,
    second: Array | None = None,
    n_ids: int = 0,
) -> ClusterMatch:
    """Match the clusters of two clusterings.

    Parameters
    ----------
    before, after : array-like of shape (n_samples,)
        Labels of the same samples.
    known : ndarray of bool of shape (n_samples,), default=None
        Samples whose label in ``before`` means something; all by default. The others count in their cluster of the
        second clustering only.
    first, second : array-like, default=None
        Labels of all samples of the two clusterings, if there are more than the common ones; for sizes.
    n_ids : int, default=0
        New ids are not smaller, if ids are integers.

    Returns
    -------
    ClusterMatch

    Examples
    --------
    >>> from latefusion.metrics import match_clusters
    >>> match_clusters([0, 0, 0, 1, 1, 1], [1, 1, 1, 0, 0, 2]).names
    {0: 1, 1: 0, 2: 2}
    """
    known = np.ones(len(before), dtype=bool) if known is None else known
    rows, old = _codes(before, first, "before")
    columns, new = _codes(after, second, "after")
    counts = np.zeros((len(rows.names), len(columns.names)), dtype=np.int64)
    np.add.at(counts, (old[known], new[known]), 1)
    unknown = np.bincount(new[~known], minlength=len(columns.names))
    # In the order of their first samples, so that ties do not depend on the names of clusters.
    one, other = _first_rows(old[known], len(rows.names)), _first_rows(new, len(columns.names))
    goes_to, comes_from = majorities(counts, unknown)
    possible = np.where(goes_to | comes_from, counts, 0)[np.ix_(one, other)]
    pairs = zip(*matched_pairs(possible), strict=True)
    matched = {int(other[column]): rows.names[one[row]] for row, column in pairs if possible[row, column] > 0}
    rest = [int(column) for column in other[np.argsort(-columns.sizes[other], kind="stable")] if column not in matched]
    taken = [*rows.names, n_ids - 1] if n_ids and not isinstance(rows.names[0], str) else rows.names
    ids = matched | dict(zip(rest, unused_names(taken, len(rest)), strict=True))
    return ClusterMatch(
        rows.names,
        columns.names,
        [ids[column] for column in range(len(columns.names))],
        counts,
        unknown,
        (rows.sizes, columns.sizes),
        adjusted_rand(old[known], new[known]) if known.any() else float("nan"),
    )


def majorities(counts: NDArray[Any], unknown: NDArray[Any]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Pairs in which the second cluster has more than half of the first, and is more than half from the first.

    Parameters
    ----------
    counts : ndarray of shape (n_first, n_second)
    unknown : ndarray of shape (n_second,)
        Further samples in every cluster of the second clustering.

    Returns
    -------
    goes_to, comes_from : ndarray of bool of shape (n_first, n_second)
    """
    goes_to = counts > MAJORITY * counts.sum(axis=1, keepdims=True)
    comes_from = counts > MAJORITY * (counts.sum(axis=0) + unknown)
    return goes_to, comes_from


class _Clusters(NamedTuple):
    """Clusters of one clustering, sorted, and their sizes."""

    names: list[Any]
    sizes: NDArray[np.int64]


def _codes(common: Array, everything: Array | None, what: str) -> tuple[_Clusters, NDArray[np.intp]]:
    """All clusters, and the number of the cluster of every common sample."""
    values, codes = encode_labels(common, what)
    if everything is None:
        return _Clusters(values.tolist(), np.bincount(codes, minlength=len(values))), codes
    names, own = encode_labels(everything, what)
    whole = np.unique(np.concatenate([names, values]))
    sizes = np.bincount(np.searchsorted(whole, names)[own], minlength=len(whole))
    return _Clusters(whole.tolist(), sizes), np.searchsorted(whole, values)[codes]


def _first_rows(codes: NDArray[np.intp], count: int) -> NDArray[np.intp]:
    """Numbers of clusters in the order in which they appear; those without samples last."""
    first = np.full(count, len(codes))
    values, rows = np.unique(codes, return_index=True)
    first[values] = rows
    return np.argsort(first, kind="stable")


def counted(number: int) -> str:
    """A number of samples in words."""
    return f"{number} sample{'s' * (number != 1)}"


def _ordered(names: Iterable[Any]) -> list[Any]:
    """Names in ascending order: numbers before text."""
    return sorted(names, key=lambda one: (isinstance(one, str), one))


def _listed(items: Iterable[Any]) -> str:
    return ", ".join(str(one) for one in items)
