"""Clusters for other numbers of clusters, for models that chose their number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from latefusion.selection import PathCluster

# Numbers below and above that of the model.
FEWER, MORE = 5, 2


class TreeRow(NamedTuple):
    """A cluster where it appears first.

    Attributes
    ----------
    depth : int
        Number of clusters above it in the tree.
    first : PathCluster
    size : int or None
        Number of samples for the number of the model; None if the cluster does not exist there.
    """

    depth: int
    first: PathCluster
    size: int | None


class NumberTree(NamedTuple):
    """How clusters split as their number increases.

    Attributes
    ----------
    n_clusters : int
        The number of the model, whose clusters have the ids of the report.
    rows : sequence of TreeRow
        Below every cluster those that come from it.
    note : str
        Why it could not be computed; empty otherwise.
    """

    n_clusters: int
    rows: Sequence[TreeRow] = ()
    note: str = ""


def number_tree(model: Any) -> NumberTree | None:
    """Cluster the samples with a few more and fewer clusters than the model.

    Parameters
    ----------
    model : fitted estimator

    Returns
    -------
    NumberTree or None
        None for models that did not choose their number of clusters.
    """
    if getattr(model, "number_selection_", None) is None:
        return None
    own = int(model.n_clusters_)
    try:
        path = model.n_clusters_path(range(max(2, own - FEWER), own + MORE + 1))
    except ValueError as error:  # the model comes from a file, or a view has few samples
        return NumberTree(own, note=str(error))
    sizes = {one.cluster: one.size for one in path.clusters if one.n_clusters == own}
    return NumberTree(own, [TreeRow(depth, one, sizes.get(one.cluster)) for depth, one in path.tree()])
