"""Clusterings with successive numbers of clusters, and how their clusters split."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class PathCluster(NamedTuple):
    """One cluster of one clustering of a path.

    Attributes
    ----------
    n_clusters : int
        The number of clusters of this clustering.
    cluster : int
        Id of the cluster.
    size : int
        Number of samples.
    parent : int or None
        The cluster of the clustering before that most of its samples come from; None for the first clustering.
    share : float or None
        Share of its samples that come from the parent.
    """

    n_clusters: int
    cluster: int
    size: int
    parent: int | None
    share: float | None


@dataclass(frozen=True, eq=False, repr=False)
class NumberPath:
    """Clusterings of the same samples with ascending numbers of clusters.

    Clusters have ids that stay: of the clusters that mainly come from the same parent, the one with the most samples of
    the parent has its id. The others have new ids.

    Attributes
    ----------
    numbers : tuple of int
        Numbers of clusters, ascending.
    labels : ndarray of shape (n_samples, n_numbers)
        Ids of the clusters of every sample, one column per number.
    n_clusters : int
        The number of the model. Its column of labels is ``labels_`` of the model.
    """

    numbers: tuple[int, ...]
    labels: NDArray[np.intp]
    n_clusters: int

    @cached_property
    def clusters(self) -> tuple[PathCluster, ...]:
        """All clusters, by number of clusters and id."""
        ids, sizes = np.unique(self.labels[:, 0], return_counts=True)
        first = zip(ids.tolist(), sizes.tolist(), strict=True)
        rows = [PathCluster(self.numbers[0], one, size, None, None) for one, size in first]
        for number, (before, after) in zip(self.numbers[1:], pairwise(self.labels.T), strict=True):
            step = _Step.between(before, after)
            rows += [
                PathCluster(number, one, size, parent, share)
                for one, size, parent, share in zip(step.children, step.sizes, step.parents, step.shares, strict=True)
            ]
        return tuple(rows)

    def labels_for(self, n_clusters: int) -> NDArray[np.intp]:
        """Ids of the clusters of every sample for one number of clusters.

        Parameters
        ----------
        n_clusters : int

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        if n_clusters not in self.numbers:
            raise ValueError(f"n_clusters={n_clusters} is not one of the numbers of this path, {list(self.numbers)}.")
        column: NDArray[np.intp] = self.labels[:, self.numbers.index(n_clusters)]
        return column

    def to_dict(self) -> dict[str, list[Any]]:
        """All clusters as columns of a table.

        Returns
        -------
        dict of str to list
            Columns "n_clusters", "cluster", "size", "parent" and "share"; ``pandas.DataFrame`` takes them.
        """
        return {name: [getattr(one, name) for one in self.clusters] for name in PathCluster._fields}

    def tree(self) -> list[tuple[int, PathCluster]]:
        """All ids, each where it appears first, below the cluster that most of its samples come from.

        Returns
        -------
        list of (depth, PathCluster)
        """
        first: dict[int, PathCluster] = {}
        for one in self.clusters:
            first.setdefault(one.cluster, one)

        def below(parent: int | None, depth: int) -> Iterator[tuple[int, PathCluster]]:
            for one in first.values():
                if one.parent == parent:
                    yield depth, one
                    yield from below(one.cluster, depth + 1)

        return list(below(None, 0))

    def __repr__(self) -> str:
        """The tree, with the size and the origin of every cluster, and its size where it exists last."""
        last = {one.cluster: one for one in self.clusters}
        return "\n".join(f"{'    ' * depth}{_line(one, last[one.cluster])}" for depth, one in self.tree())


def _line(first: PathCluster, last: PathCluster) -> str:
    text = f"cluster {first.cluster}: {first.size} sample{'s' * (first.size != 1)} at n_clusters={first.n_clusters}"
    if first.parent is not None:
        text += f", {first.share:.0%} from cluster {first.parent}"
    return text if last is first else f"{text}; {last.size} at {last.n_clusters}"


class _Step(NamedTuple):
    """From one clustering to the next.

    For every cluster of the second: its size, its parent, and the share of its samples that come from there. Heirs are
    the clusters that have most of the samples of their parent, by parent.
    """

    children: list[int]
    sizes: list[int]
    parents: list[int]
    shares: list[float]
    heirs: dict[int, int]

    @classmethod
    def between(cls, before: NDArray[np.intp], after: NDArray[np.intp]) -> _Step:
        ids, rows = np.unique(before, return_inverse=True)
        children, columns = np.unique(after, return_inverse=True)
        counts = np.zeros((len(ids), len(children)), dtype=np.intp)
        np.add.at(counts, (rows, columns), 1)
        parents, sizes = counts.argmax(axis=0), counts.sum(axis=0)
        kept = counts[parents, np.arange(len(children))]
        heirs: dict[int, int] = {}
        for child in np.argsort(-kept, kind="stable"):
            heirs.setdefault(int(ids[parents[child]]), int(children[child]))
        return cls(children.tolist(), sizes.tolist(), ids[parents].tolist(), (kept / sizes).tolist(), heirs)


def trace_clusters(numbers: Sequence[int], labelings: Sequence[NDArray[np.intp]], n_clusters: int) -> NumberPath:
    """Give clusters of several clusterings ids that stay.

    Parameters
    ----------
    numbers : sequence of int
        Numbers of clusters, ascending.
    labelings : sequence of ndarray of shape (n_samples,)
        One per number.
    n_clusters : int
        The number whose labels are the ids; ids of the other clusterings follow from these.

    Returns
    -------
    NumberPath
    """
    position = list(numbers).index(n_clusters)
    named = [np.asarray(labelings[position], dtype=np.intp)]
    free = int(named[0].max()) + 1
    for labels in labelings[position + 1 :]:
        heirs = _Step.between(named[-1], labels).heirs
        named.append(_renamed(labels, {child: parent for parent, child in heirs.items()}, free))
        free = max(free, int(named[-1].max()) + 1)
    for labels in reversed(labelings[:position]):
        named.insert(0, _renamed(labels, _Step.between(labels, named[0]).heirs, free))
        free = max(free, int(named[0].max()) + 1)
    return NumberPath(tuple(numbers), np.column_stack(named), n_clusters)


def _renamed(labels: NDArray[np.intp], names: dict[int, int], free: int) -> NDArray[np.intp]:
    """Labels with new names; clusters without one get the next free ones, the largest cluster first."""
    values, codes, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    others = [int(one) for one in values[np.argsort(-sizes, kind="stable")] if int(one) not in names]
    known = names | {one: free + position for position, one in enumerate(others)}
    return np.array([known[int(one)] for one in values], dtype=np.intp)[codes]
